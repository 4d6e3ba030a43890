"""The facts of an answer, one row a column: what every view lays out."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np

from butfor.space.feature import Feature
from butfor.space.frames import FloatArray
from butfor.space.space import Space


@dataclass(frozen=True)
class Change:
    """One column before and after, in the user's values; `share` is the change as a part of the column's range."""

    name: str
    kind: str
    before: Any
    after: Any
    changed: bool
    share: float
    position: tuple[float, float] | None

    @property
    def text(self) -> tuple[str, str]:
        """Both values for reading: numbers short, but never the same text for different values."""
        return readable(self.before, self.after)


def change_rows(space: Space, factual: FloatArray, point: FloatArray | None) -> tuple[Change, ...]:
    """One row for each column of the space."""
    after = factual if point is None else point
    return tuple(_row(feature, float(factual[j]), float(after[j])) for j, feature in enumerate(space.features))


def _row(feature: Feature, before: float, after: float) -> Change:
    changed = not (before == after or (np.isnan(before) and np.isnan(after)))
    share, position = 0.0, None
    if feature.levels is None and not (np.isnan(before) or np.isnan(after)):
        share = (after - before) / feature.range
        position = ((before - feature.low) / feature.range, (after - feature.low) / feature.range)
    return Change(
        feature.name, feature.kind, feature.value(before), feature.value(after), changed, share if changed else 0.0, position
    )


def readable(before: Any, after: Any) -> tuple[str, str]:
    """Two values as short texts that differ if the values do; a number is rounded away from the one before.

    So whoever types the short number in goes at least as far as the answer does.

    >>> readable(4000.0, 5000.000244)
    ('4000', '5000.1')
    """
    if before == after or not all(isinstance(v, int | float) and not isinstance(v, bool) for v in (before, after)):
        return _word(before), _word(after)
    if isinstance(before, int) and isinstance(after, int):
        return str(before), str(after)
    exact = Decimal(after)
    rounding = ROUND_CEILING if after > before else ROUND_FLOOR
    for digits in range(3, 18):
        short = exact.quantize(Decimal((0, (1,), max(exact.adjusted() - digits + 1, -300))), rounding)
        if abs(short - exact) <= Decimal(1e-3) * abs(exact - Decimal(before)):
            break
    return _word(float(before)), f"{short:f}" if abs(exact.adjusted()) < 12 else f"{float(short):g}"


def _word(value: Any) -> str:
    if value is None:
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
