"""What a PMML file makes of one number, or of one level, piece by piece: lines between knots, bins, and tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from butfor.arrays import FloatArray

Outliers = Literal["asIs", "asMissingValues", "asExtremeValues"]
"""What becomes of numbers beyond the knots: the outer lines go on, they are missing, or they are the outer knots."""


@dataclass(frozen=True)
class KnottedLines:
    """Lines from knot to knot: `orig` (knots) in ascending order, and what becomes of them, `norm` (knots)."""

    orig: tuple[float, ...]
    norm: tuple[float, ...]
    outliers: Outliers = "asIs"

    def __call__(self, x: FloatArray) -> FloatArray:
        orig, norm = np.array(self.orig), np.array(self.norm)
        if self.outliers == "asExtremeValues":
            x = np.clip(x, orig[0], orig[-1])
        wide, rise = (np.append(np.diff(ends), ends[-1] - ends[-2]) for ends in (orig, norm))
        k = np.clip(np.searchsorted(orig, x, side="right") - 1, 0, len(orig) - 1)
        out = norm[k] + (x - orig[k]) / wide[k] * rise[k]
        after = norm[np.minimum(k + 1, len(orig) - 1)]
        inside = (x >= orig[0]) & (x < orig[-1])  # where rounding may not lead beyond the next knot
        out = np.where(inside, np.clip(out, np.minimum(norm[k], after), np.maximum(norm[k], after)), out)
        return np.where((x < orig[0]) | (x > orig[-1]), np.nan, out) if self.gaps else out

    @property
    def knots(self) -> FloatArray:
        """Between two of them, it is a line."""
        return np.array(self.orig)

    @property
    def gaps(self) -> bool:
        """Whether some number becomes missing."""
        return self.outliers == "asMissingValues"

    @property
    def rises(self) -> bool:
        """Whether it never falls, and is defined everywhere."""
        return not self.gaps and bool((np.diff(self.norm) >= 0).all())


@dataclass(frozen=True)
class InsideEnds:
    """Numbers between two ends. Others become missing."""

    low: float
    high: float
    gaps = True
    rises = False

    def __call__(self, x: FloatArray) -> FloatArray:
        return np.asarray(np.where((x < self.low) | (x > self.high), np.nan, x))

    @property
    def knots(self) -> FloatArray:
        """Between two of them, it is a line, or missing."""
        ends = np.array([self.low, self.high])
        return np.asarray(ends[np.isfinite(ends)])


@dataclass(frozen=True)
class Bin:
    """The numbers from `first` to `last`, and what becomes of them."""

    first: float
    last: float
    value: float


@dataclass(frozen=True)
class Discretized:
    """Bins of numbers: the first that holds a number counts. `other`: what all others become; `missing`: what is missing."""

    bins: tuple[Bin, ...]
    other: float = np.nan
    missing: float = np.nan

    def __call__(self, x: FloatArray) -> FloatArray:
        out = np.where(np.isnan(x), self.missing, self.other)
        for one in reversed(self.bins):
            out = np.where((x >= one.first) & (x <= one.last), one.value, out)
        return out

    @cached_property
    def ends(self) -> FloatArray:
        """The last numbers before it may jump."""
        found = [end for one in self.bins for end in (np.nextafter(one.first, -np.inf), one.last)]
        return np.unique(np.array(found)[np.isfinite(found)])

    @property
    def gaps(self) -> bool:
        """Whether some number becomes missing."""
        seen = [self.ends, np.nextafter(self.ends, np.inf), np.zeros(1)]
        return bool(np.isnan(self(np.concatenate(seen))).any())


@dataclass(frozen=True)
class LevelTable:
    """What becomes of each level, by its position, and of a missing one."""

    values: tuple[float, ...]
    missing: float = np.nan

    def __call__(self, x: FloatArray) -> FloatArray:
        table = np.array([*self.values, self.missing])
        return np.asarray(table[np.where(np.isnan(x), len(self.values), x).astype(np.intp)])

    @property
    def gaps(self) -> bool:
        """Whether some level becomes missing."""
        return bool(np.isnan(self.values).any())
