"""Grids of numbers, `anchor + step k`, in exact arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm, trunc

SIMPLE = 10**6
"""The largest denominator of a fraction that is meant by its float, such as 1/3 by 0.3333333333333333."""

WRITTEN_DIGITS = 15
"""A float with more digits than these was computed, not written."""

ROUNDED = Fraction(1, 2**50)
"""By how much a computed float may differ from what is meant, as a share of it: 3 * 0.1 means 0.3."""

SHARED = Fraction(1, 10**9)
"""Two grids share a point if they come this close, as a share of their common measure."""

WIDEST_STEP = Fraction(10) ** 300
"""A step above this one leaves a single point that a column can take."""


@dataclass(frozen=True)
class Lattice:
    """The numbers `anchor + step k` for whole k."""

    step: Fraction
    anchor: Fraction

    @classmethod
    def of(cls, step: float, anchor: float) -> Lattice:
        """The grid that is meant by two floats: 0.1 is a tenth.

        Its anchor is less than a step from 0. It is 0 if the given one is a multiple of the step but for its rounding.
        """
        exact, start = meant(step), meant(anchor)
        start -= exact * trunc(start / exact)
        rounding = Fraction(abs(anchor)) / 2**51
        return cls(exact, Fraction(0) if min(abs(start), exact - abs(start)) <= rounding else start)

    def meet(self, other: Lattice) -> Lattice | None:
        """The points that both grids have; None if there is none. Its anchor is the one nearest to 0."""
        size = lcm(self.step.denominator, other.step.denominator)
        mine, its = int(self.step * size), int(other.step * size)
        common = gcd(mine, its)
        apart = (other.anchor - self.anchor) * size / common
        if abs(apart - round(apart)) > SHARED:
            return None
        period = its // common
        steps = round(apart) * pow(mine // common, -1, period) % period
        step, anchor = self.step * period, self.anchor + self.step * steps
        return Lattice(step, anchor - step * round(anchor / step))

    def in_floats(self) -> tuple[float, float]:
        """The step and the anchor, as floats."""
        return float(min(self.step, WIDEST_STEP)), float(max(-WIDEST_STEP / 3, min(self.anchor, WIDEST_STEP / 3)))


def meant(number: float) -> Fraction:
    """The number that the digits of a float say. If they fill it, the simple fraction whose float it is."""
    said = Fraction(repr(float(number)))
    digits = repr(float(number)).split("e")[0].replace(".", "").strip("-0")
    simple = said.limit_denominator(SIMPLE)
    computed = len(digits) > WRITTEN_DIGITS and abs(simple - said) <= abs(said) * ROUNDED
    return simple if computed else said
