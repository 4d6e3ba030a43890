"""The report: what each quantile keeps, how far it compresses, what it loses, and which one is suggested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from butfor.compress.columns import BinaryColumn, BinaryColumns, ColumnTest
from butfor.compress.rates import SHARE_ROUNDING, compression_rate, inconsistency_rate
from butfor.compress.search import Crossings
from butfor.compress.settings import share
from butfor.errors import InputError
from butfor.experimental import experimental
from butfor.space import frames
from butfor.space.space import Space
from butfor.views.text import plain, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUANTILES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
"""The quantiles that are reported unless others are named."""


@dataclass(frozen=True)
class QuantileLine:
    """One quantile.

    - `thresholds`, `features`: how many binary columns are kept, and of how many raw columns;
    - `compression`: the compression rate, eta;
    - `inconsistency`: the inconsistency rate, delta. No classifier of the binary columns exceeds 1 - delta on these
      rows.
    """

    quantile: float
    thresholds: int
    features: int
    compression: float
    inconsistency: float

    @property
    def bound(self) -> float:
        """The highest accuracy that any classifier of the binary columns can have on these rows."""
        return 1.0 - self.inconsistency


@experimental
@dataclass(frozen=True, eq=False)
class CompressionReport:
    """What each quantile keeps and loses. It prints as a table.

    - `lines`: one per quantile;
    - `accuracy`: that of the model on the same rows;
    - `suggested`, `reason`: a quantile, and why.
    """

    lines: tuple[QuantileLine, ...]
    accuracy: float
    suggested: float
    reason: str
    found: str
    columns: BinaryColumns
    space: Space
    sample: Any

    def to_frame(self) -> Any:
        """The lines as a table of the same kind as the rows (for arrays, a dict of columns)."""
        columns: dict[str, list[Any]] = {
            "quantile": [line.quantile for line in self.lines],
            "thresholds": [line.thresholds for line in self.lines],
            "features": [line.features for line in self.lines],
            "compression": [line.compression for line in self.lines],
            "inconsistency": [line.inconsistency for line in self.lines],
            "bound": [line.bound for line in self.lines],
        }
        return frames.framed(self.sample, columns)

    def heat_map(self, ax: Axes | None = None) -> Axes:
        """Draw each threshold on the range of its column, in the colour of the highest quantile that keeps it."""
        from butfor.views.thresholds import heat_map

        marks: dict[str, list[tuple[float, float]]] = {name: [] for name in self.space.names}
        for one in self.columns:
            marks[one.column].append((place_of(one, self.space), one.survives))
        return heat_map({name: its for name, its in marks.items() if its}, ax)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw compression, inconsistency and the number of thresholds against the quantile."""
        from butfor.views.thresholds import curves

        series = {
            "compression (eta)": [line.compression for line in self.lines],
            "inconsistency (delta)": [line.inconsistency for line in self.lines],
        }
        return curves(
            [line.quantile for line in self.lines], series, [line.thresholds for line in self.lines], self.suggested, ax
        )

    def __repr__(self) -> str:
        lines = [
            (
                f"{line.quantile:g}", str(line.thresholds), str(line.features), f"{line.compression:.3f}",
                f"{line.inconsistency:.3f}", f"{line.bound:.3f}",
            )
            for line in self.lines
        ]  # fmt: skip
        names = ("quantile", "thresholds", "columns", "compression", "inconsistency", "accuracy at most")
        return f"{self.found}\n{plain(table(names, lines))}\nsuggested: quantile {self.suggested:g}: {self.reason}"


def place_of(column: BinaryColumn, space: Space) -> float:
    """Where a threshold lies in the range of its column, from 0 to 1. Levels are spread evenly; missing is at the end."""
    feature = space.features[column.feature]
    if column.test is ColumnTest.MISSING:
        return 1.0
    if feature.levels is not None:
        return (column.at + 0.5) / len(feature.levels)
    return float(np.clip((column.at - feature.low) / feature.range, 0.0, 1.0))


def report_on(
    crossings: Crossings, rows: Any, labels: NDArray[Any], quantiles: Sequence[float] | None
) -> CompressionReport:
    """The report on some rows with their labels."""
    asked = tuple(share("a quantile", one) for one in (QUANTILES if quantiles is None else quantiles))
    if not asked:
        raise InputError("no quantile was given.", "At least one is needed.")
    answers = crossings.columns.answers(rows, crossings.space.features)
    lines = []
    for quantile in sorted(set(asked)):
        kept = crossings.columns.kept(quantile)
        part = answers[:, [one in kept for one in crossings.columns]]
        lines.append(
            QuantileLine(
                quantile, len(kept), len(kept.features), compression_rate(part), inconsistency_rate(part, labels)
            )
        )
    accuracy = float(np.mean(crossings.predicted(rows) == labels))
    suggested, reason = suggest(lines, accuracy)
    return CompressionReport(
        lines=tuple(lines),
        accuracy=accuracy,
        suggested=suggested,
        reason=reason,
        found=str(crossings),
        columns=crossings.columns,
        space=crossings.space,
        sample=frames.take(rows, [0]),
    )


def suggest(lines: Sequence[QuantileLine], accuracy: float) -> tuple[float, str]:
    """The highest quantile with which a classifier could still be as accurate as the model, and the reason."""
    able = [line for line in lines if line.bound >= accuracy - SHARE_ROUNDING]
    if not able:
        best = max(lines, key=lambda line: (line.bound, line.quantile))
        return best.quantile, (
            f"no quantile allows the model's accuracy of {accuracy:.3f}; this one comes nearest, with {best.bound:.3f}"
        )
    last = max(able, key=lambda line: line.quantile)
    return last.quantile, (
        f"the highest at which the {last.thresholds} thresholds left allow an accuracy of {last.bound:.3f}, "
        f"no less than the model's {accuracy:.3f}"
    )
