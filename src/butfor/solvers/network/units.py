"""The ranges of all units of a network within a ball, and lines above and below them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.network import Layer, Network
from butfor.solvers.network.ball import BALL_OUTWARDS, CostBall
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
    """The units of all layers: lines are sent forward, layer by layer. The ranges are those of `ends_within`, or narrower."""
    ends = ends_within(model, ways, ball, known)
    above, below = Lines(ways.start, ways.most), Lines(ways.start, ways.least)
    found = [Units(*ends[0], above, below)]
    for layer, narrower in zip(model.layers, ends[1:], strict=False):
        high, low = _bent(layer, ball, found[-1])
        plus, minus = np.maximum(layer.weight, 0.0), np.minimum(layer.weight, 0.0)
        above = Lines(
            layer.intercept + plus @ high.constant + minus @ low.constant, plus @ high.weight + minus @ low.weight
        )
        below = Lines(
            layer.intercept + plus @ low.constant + minus @ high.constant, plus @ low.weight + minus @ high.weight
        )
        found.append(Units(*_both(_ends_of(ball, above, below), narrower), above, below))
    return found


def ends_within(model: Network, ways: Directions, ball: CostBall, known: Sequence[UnitEnds] = ()) -> list[UnitEnds]:
    """The ranges of the units of all layers: by lines that are sent back, and by the ranges of the layer before.

    Where narrower ranges are known, these are taken.
    """
    narrower: Sequence[UnitEnds | None] = known or [None] * len(model.layers)
    first = _ends_of(ball, Lines(ways.start, ways.most), Lines(ways.start, ways.least))
    found = [_both(first, narrower[0])]
    for layer, ends in zip(model.layers, narrower[1:], strict=False):
        most, least = layer.bent(found[-1].high), layer.bent(found[-1].low)
        plus, minus = np.maximum(layer.weight, 0.0), np.minimum(layer.weight, 0.0)
        spare = 1e-12 * (np.abs(layer.intercept) + np.abs(layer.weight) @ np.maximum(np.abs(least), np.abs(most)))
        spread = UnitEnds(
            layer.intercept + plus @ least + minus @ most - spare, layer.intercept + plus @ most + minus @ least + spare
        )
        sent_back = UnitEnds(
            -highest_sent_back(model, ways, ball, found, -layer.weight, -layer.intercept),
            highest_sent_back(model, ways, ball, found, layer.weight, layer.intercept),
        )
        found.append(_both(_both(sent_back, spread), ends))
    return found


def highest_sent_back(
    model: Network,
    ways: Directions,
    ball: CostBall,
    found: Sequence[UnitEnds],
    weight: FloatArray,
    constant: FloatArray,
) -> FloatArray:
    """Upper bounds of `constant + weight bent(z)` in the ball, where z reaches the last of the layers that were found.

    A unit that may be on both sides of 0 passes on at most what the line through its ends says, and at least `z` or
    `leak z`. So the sums become sums of the layer before, and at last of the amounts of directions (Zhang et al., CROWN,
    NeurIPS 2018). Unlike lines that are sent forward, what units share cancels out.
    """
    sizes, size = _sizes(model, ways, ball, found), np.abs(constant)
    for k in reversed(range(len(found))):
        low, high, leak = found[k].low, found[k].high, model.layers[k].leak
        with np.errstate(divide="ignore", invalid="ignore"):
            steep = np.where(low >= 0, 1.0, np.where(high <= 0, leak, (high - leak * low) / (high - low)))
            rise = np.where((low < 0) & (high > 0), (1.0 - steep) * high, 0.0)
        flat = np.where((low >= 0) | ((high > 0) & (high > -low)), 1.0, leak)
        size = size + np.abs(weight) @ (np.abs(rise) + sizes[k])
        plus, minus = np.maximum(weight, 0.0), np.minimum(weight, 0.0)
        constant, weight = constant + plus @ rise, plus * steep + minus * flat
        if k:
            before = model.layers[k - 1]
            constant, weight = constant + weight @ before.intercept, weight @ before.weight
    plus, minus = np.maximum(weight, 0.0), np.minimum(weight, 0.0)
    highest = ball.highest(constant + weight @ ways.start, plus @ ways.most + minus @ ways.least)
    return np.asarray(highest + BALL_OUTWARDS * size)


def _sizes(model: Network, ways: Directions, ball: CostBall, found: Sequence[UnitEnds]) -> list[FloatArray]:
    """How large the terms are that are added up in each unit: what rounding may lose is a share of that."""
    moved = np.maximum(np.abs(ways.most), np.abs(ways.least))
    sizes = [np.abs(ways.start) + moved @ ball.room]
    for layer, units in zip(model.layers, found[:-1], strict=False):
        passed = np.maximum(np.abs(units.low), np.abs(units.high))
        sizes.append(np.abs(layer.intercept) + np.abs(layer.weight) @ passed)
    return sizes


def _both(ends: UnitEnds, others: UnitEnds | None) -> UnitEnds:
    """The ranges that are in both."""
    if others is None:
        return ends
    low = np.fmax(ends.low, others.low)
    return UnitEnds(low, np.maximum(np.fmin(ends.high, others.high), low))


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


def _ends_of(ball: CostBall, above: Lines, below: Lines) -> UnitEnds:
    """How far lines reach in the ball."""
    return UnitEnds(-ball.highest(-below.constant, -below.weight), ball.highest(*above))


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
