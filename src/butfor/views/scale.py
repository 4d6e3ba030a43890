"""Where the values of a column are drawn: evenly, or spread out where most of a skewed column's values lie."""

from __future__ import annotations

from dataclasses import dataclass
from math import asinh, floor, log10

from butfor.space.feature import Feature

SKEWED = 20.0
"""A column is skewed if its range is wider than so many spreads. That of a normal column is about 10."""

APART = 0.17
"""The least distance between the labels of two ticks, as a share of the width."""


@dataclass(frozen=True)
class Scale:
    """A column's range, drawn from 0 to 1.

    `spread` is 0 if values are drawn evenly. Otherwise a value x is drawn at asinh((x - middle) / spread): evenly near
    the typical value, and by its logarithm far from it.
    """

    low: float
    high: float
    middle: float = 0.0
    spread: float = 0.0

    def place(self, value: float) -> float:
        """Where a value is drawn: from 0 (low) to 1 (high), or outside."""
        first, last = self._bent(self.low), self._bent(self.high)
        return (self._bent(value) - first) / ((last - first) or 1.0)

    def ticks(self) -> list[float]:
        """The ends; if values are not drawn evenly, round numbers between them, too.

        >>> Scale(0.0, 99_999.0, spread=1000.0).ticks()
        [0.0, 2000.0, 10000.0, 99999.0]
        """
        found = [self.low, self.high]
        for value in self._round_numbers() if self.spread else []:
            if all(abs(self.place(value) - self.place(other)) >= APART for other in found):
                found.append(value)
        return sorted(found)

    def _bent(self, value: float) -> float:
        return asinh((value - self.middle) / self.spread) if self.spread else value

    def _round_numbers(self) -> list[float]:
        """Round numbers inside the range, the roundest first."""
        largest = floor(log10(max(abs(self.low), abs(self.high))))
        sizes = [digit * 10.0**power for digit in (1, 5, 2) for power in range(largest, largest - 6, -1)]
        return [value for value in (0.0, *sizes, *(-size for size in sizes)) if self.low < value < self.high]


def scale_of(feature: Feature) -> Scale:
    """The scale of a column of numbers. Its data decide whether it is even.

    The spread of the data is the median absolute deviation; half the standard deviation if most values are the same.
    """
    spread = feature.mad or feature.std / 2
    skewed = 0 < spread * SKEWED < feature.high - feature.low
    return Scale(feature.low, feature.high, feature.typical, spread if skewed else 0.0)
