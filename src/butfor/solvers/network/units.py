"""The ranges of all units of a network within a ball, and lines above and below them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.network import Layer, Network
from butfor.solvers.network.ball import CostBall
from butfor.solvers.network.directions import Directions


class Lines(NamedTuple):
    """Linear functions of the amounts of directions: `constant + weight a`."""

    constant: FloatArray
    weight: FloatArray

    def mixed(self, factor: FloatArray) -> Lines:
        """The lines with a factor each."""
        return Lines(factor * self.constant, factor[:, None] * self.weight)

    def plus(self, other: Lines) -> Lines:
        """The sums of two sets of lines."""
        return Lines(self.constant + other.constant, self.weight + other.weight)


class UnitEnds(NamedTuple):
    """What may reach the units of one layer, at least and at most."""

    low: FloatArray
    high: FloatArray


class Units(NamedTuple):
    """What is known of the units of one layer within a ball.

    - `low`, `high`: what may reach them;
    - `above`, `below`: lines above and below that.
    """

    low: FloatArray
    high: FloatArray
    above: Lines
    below: Lines

    @property
    def open(self) -> BoolArray:
        """Which of them may be on both sides of 0."""
        return (self.low < 0) & (self.high > 0)


def units_within(model: Network, ways: Directions, ball: CostBall, known: Sequence[UnitEnds] = ()) -> list[Units]:
    """The units of all layers: lines are sent forward, layer by layer, and their ends in the ball are the ranges.

    Where narrower ranges are known, these are taken.
    """
    narrower: Sequence[UnitEnds | None] = known or [None] * len(model.layers)
    above, below = Lines(ways.start, ways.most), Lines(ways.start, ways.least)
    found = [_narrow(_units(ball, above, below), narrower[0])]
    for layer, ends in zip(model.layers, narrower[1:], strict=False):
        high, low = _bent(layer, ball, found[-1])
        plus, minus = np.maximum(layer.weight, 0.0), np.minimum(layer.weight, 0.0)
        above = Lines(
            layer.intercept + plus @ high.constant + minus @ low.constant, plus @ high.weight + minus @ low.weight
        )
        below = Lines(
            layer.intercept + plus @ low.constant + minus @ high.constant, plus @ low.weight + minus @ high.weight
        )
        reached = _units(ball, above, below)
        least, most = layer.bent(found[-1].low), layer.bent(found[-1].high)
        spare = 1e-12 * (np.abs(layer.intercept) + np.abs(layer.weight) @ np.maximum(np.abs(least), np.abs(most)))
        low = np.maximum(reached.low, layer.intercept + plus @ least + minus @ most - spare)
        high = np.minimum(reached.high, layer.intercept + plus @ most + minus @ least + spare)
        found.append(_narrow(Units(low, high, above, below), ends))
    return found


def _narrow(units: Units, ends: UnitEnds | None) -> Units:
    if ends is None:
        return units
    low = np.maximum(units.low, ends.low)
    return units._replace(low=low, high=np.maximum(np.minimum(units.high, ends.high), low))


def line_above_bent(ball: CostBall, lines: Lines) -> Lines:
    """Lines above `max(0, line)` in the ball, which meet it where nothing changes.

    In the simplex of all amounts whose rates add up to at most the limit, a convex function lies below the linear
    function through its values at the vertices. Amounts that cost nothing are added: max(0, u + v) is at most
    max(0, u) + max(0, v).
    """
    rate, total = ball.simplex()
    return _through_vertices(lines, rate, total)


def _through_vertices(lines: Lines, rate: FloatArray, total: float) -> Lines:
    if not np.isfinite(total):
        rate = np.zeros_like(rate)
    start = np.maximum(lines.constant, 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        far = total / rate
        there = np.maximum(lines.constant[:, None] + far * lines.weight, 0.0)
        weight = (there - start[:, None]) / far
    usable = np.isfinite(far) & (far > 0) & (far < 1e9) & np.isfinite(weight)
    return Lines(start, np.where(usable, weight, np.maximum(lines.weight, 0.0)))


def _units(ball: CostBall, above: Lines, below: Lines) -> Units:
    return Units(-ball.highest(-below.constant, -below.weight), ball.highest(*above), above, below)


def _bent(layer: Layer, ball: CostBall, units: Units) -> tuple[Lines, Lines]:
    """Lines above and below what the units of a layer pass on: `max(z, leak z) = leak z + (1 - leak) max(z, 0)`."""
    leak = layer.leak
    simplex = line_above_bent(ball, units.above)
    on, off = units.low >= 0, units.high <= 0
    positive = Lines(
        np.where(on, units.above.constant, np.where(off, 0.0, simplex.constant)),
        np.where(on[:, None], units.above.weight, np.where(off[:, None], 0.0, simplex.weight)),
    )
    high = units.above.mixed(leak).plus(positive.mixed(1 - leak))
    slope = np.where(on | (~off & (units.below.constant > 0)), 1.0, leak)
    return high, units.below.mixed(slope)
