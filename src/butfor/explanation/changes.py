"""The facts of an answer, one row per column: what every view lays out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.space.feature import Feature
from butfor.space.space import Space


@dataclass(frozen=True)
class Change:
    """One column before and after, in the user's values.

    These are known only of numbers:

    - `ends`: the ends of the column's range;
    - `position`: where both values lie on the range (0 to 1, or outside);
    - `share`: the signed change as a share of the range.
    """

    name: str
    kind: str
    before: Any
    after: Any
    changed: bool
    share: float = 0.0
    position: tuple[float, float] | None = None
    ends: tuple[float, float] | None = None

    @property
    def change(self) -> float | None:
        """The signed difference of two numbers; None for anything else."""
        return self.after - self.before if is_number(self.before) and is_number(self.after) else None

    @property
    def text(self) -> tuple[str, str]:
        """Both values as short texts. Different values never have the same text."""
        return readable(self.before, self.after, self.ends)


def change_rows(space: Space, factual: FloatArray, point: FloatArray | None) -> tuple[Change, ...]:
    """One row for each column of the space."""
    after = factual if point is None else point
    return tuple(_row(feature, float(factual[j]), float(after[j])) for j, feature in enumerate(space.features))


def _row(feature: Feature, before: float, after: float) -> Change:
    changed = not (before == after or (np.isnan(before) and np.isnan(after)))
    facts = (feature.name, feature.kind, feature.value(before), feature.value(after), changed)
    if feature.levels is not None or np.isnan(before) or np.isnan(after):
        return Change(*facts)
    position = ((before - feature.low) / feature.range, (after - feature.low) / feature.range)
    return Change(*facts, (after - before) / feature.range, position, (feature.low, feature.high))


def in_words(changes: Iterable[Change]) -> str:
    """Changes in one line.

    >>> in_words([Change("income", "whole number", 4000, 5000, True), Change("job", "category", "clerk", "pilot", True)])
    'income 4000 → 5000; job clerk → pilot'
    """
    return "; ".join(f"{change.name} {change.text[0]} → {change.text[1]}" for change in changes)


def is_number(value: Any) -> bool:
    """Whether a value is a number (and not a truth value)."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def readable(before: Any, after: Any, ends: tuple[float, float] | None = None) -> tuple[str, str]:
    """Two values as short texts, which differ if the values do.

    The second number is rounded away from the first, but not past the ends of the range. So whoever types the short
    number in goes at least as far as the answer does.

    >>> readable(4000.0, 5000.000244)
    ('4000', '5000.01')
    """
    if before == after or not (is_number(before) and is_number(after)):
        return word(before), word(after)
    if isinstance(before, int) and isinstance(after, int):
        return str(before), str(after)
    exact = Decimal(repr(float(after)))
    rounding = ROUND_CEILING if after > before else ROUND_FLOOR
    close = Decimal("1e-4") * abs(exact - Decimal(before))
    low, high = ends if ends and ends[0] <= after <= ends[1] else (-np.inf, np.inf)
    for digits in range(6, 18):
        short = exact.quantize(Decimal((0, (1,), max(exact.adjusted() - digits + 1, -300))), rounding)
        if abs(short - exact) <= close and low <= float(short) <= high:
            break
    first, second = word(float(before)), _plain(short)
    return (repr(float(before)) if first == second else first), second


def word(value: Any) -> str:
    """One value as a short text. A number has six digits, and no exponent if its size is ordinary.

    >>> word(1234567.8), word(0.1 + 0.2), word(None)
    ('1234568', '0.3', 'missing')
    """
    if value is None:
        return "missing"
    if not isinstance(value, float) or not np.isfinite(value):
        return str(value)
    return _plain(Decimal(f"{value:.6g}" if abs(value) < 1e6 else f"{value:.0f}"))


def _plain(number: Decimal) -> str:
    """A number without trailing zeros, and without an exponent unless it is very large or very small."""
    if number and abs(number.adjusted()) >= 12:
        return repr(float(number)).removesuffix(".0")
    text = f"{number + 0:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
