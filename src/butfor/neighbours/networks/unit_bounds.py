"""Lower bounds on a sum of units over a round ball of shifts, for many nodes of a search at once, by ascent of their duals.

The sum is `constant + offset + q z(s)` with `z(s) = a + W s`, if each unit is replaced by a line of slope q. Where a unit
is convex in the sum, every q between its slopes on both sides of 0 gives a line below it. Where it is concave, the line is
its chord. Where it is held on one side of 0, a multiplier moves q. So every q between two ends gives a bound, which is
concave in q (Wang et al., "Beta-CROWN", NeurIPS 2021). Its slope is `z` at the worst shift.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.linear import evaluate_linear
from butfor.model.network import Network
from butfor.neighbours.ball import Ball, BallNorm
from butfor.programs.inequalities import BOUND_ROUNDING

ASCENT_STEPS, SHORTER_AFTER, SHORTER = 40, 3, 0.6
"""How many steps a bound is raised by, and by which share they become shorter after so many without a better bound."""


class UnitNodes(NamedTuple):
    """Some nodes of a search.

    - `held` (nodes, units): 1 if a unit is held above 0, -1 below, 0 if it is not held;
    - `q` (nodes, units): the slopes from which the ascent starts, and later the best ones.
    """

    held: IntArray
    q: FloatArray

    def take(self, at: IntArray) -> UnitNodes:
        """Some of the nodes."""
        return UnitNodes(self.held[at], self.q[at])

    def joined(self, other: UnitNodes) -> UnitNodes:
        """These nodes and others."""
        return UnitNodes(np.vstack([self.held, other.held]), np.vstack([self.q, other.q]))


class UnitLines(NamedTuple):
    """The ends of the slopes of the units of some nodes, and what their lines add at 0."""

    least: FloatArray
    most: FloatArray
    offset: FloatArray


@dataclass(eq=False)
class UnitBounds:
    """The bounds of the sum `row @ scores` of a network with one hidden layer, for the shifts of a round ball around a point.

    - `weight` (units): how the sum rises with what each passes on;
    - `a`, `W`: what reaches the units, for a shift as shares of the radius;
    - `low`, `high` (units): the ends of that.
    """

    model: Network
    row: FloatArray
    point: FloatArray
    ball: Ball
    moved: IntArray
    weight: FloatArray = field(init=False)
    constant: float = field(init=False)
    leak: FloatArray = field(init=False)
    a: FloatArray = field(init=False)
    W: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        (layer,) = self.model.layers
        self.weight, self.constant, self.leak = self.row @ layer.weight, float(self.row @ layer.intercept), layer.leak
        self.a = evaluate_linear(self.model.first, self.point[None])[0]
        self.W = self.model.first.slope[:, self.moved] * self.ball.radius[self.moved]
        reach = -self._lowest(self.W)[0]
        spare = BOUND_ROUNDING * (np.abs(self.a) + np.abs(self.W).sum(axis=1))
        self.low, self.high = self.a - reach - spare, self.a + reach + spare

    def root(self) -> UnitNodes:
        """The node in which no unit is held."""
        q = self.weight * np.where(self.a > 0, 1.0, self.leak)
        return UnitNodes(np.zeros((1, len(q)), dtype=np.intp), q[None])

    def raised(self, nodes: UnitNodes, wanted: float) -> tuple[FloatArray, UnitNodes, FloatArray]:
        """The bounds of some nodes, raised until they are `wanted`. The best slopes, and the shifts that are worst there."""
        lines = self._lines(nodes.held)
        q = np.clip(nodes.q, lines.least, lines.most)
        best, shares = q, np.zeros((len(q), len(self.moved)))
        bound, share, waited = np.full(len(q), -np.inf), np.ones(len(q)), np.zeros(len(q), dtype=np.intp)
        for _ in range(ASCENT_STEPS):
            total, shift = self._bound(q, lines)
            better = total > bound
            waited = np.where(better, 0, waited + 1)
            best, shares = np.where(better[:, None], q, best), np.where(better[:, None], shift, shares)
            bound = np.maximum(bound, total)
            if (bound >= wanted).all():
                break
            late = waited >= SHORTER_AFTER
            share, waited = np.where(late, share * SHORTER, share), np.where(late, 0, waited)
            rise = self.a + shift @ self.W.T
            stuck = ((rise > 0) & (q >= lines.most)) | ((rise < 0) & (q <= lines.least))
            rise = np.where(stuck, 0.0, rise)
            length = (rise * rise).sum(axis=1)
            step = share * np.maximum(wanted - total, 0.0) / np.where(length > 0, length, 1.0)
            q = np.where(late[:, None], best, np.clip(q + step[:, None] * rise, lines.least, lines.most))
        return bound, UnitNodes(nodes.held, best), shares * self.ball.radius[self.moved]

    def split(self, nodes: UnitNodes, shifts: FloatArray) -> tuple[IntArray, FloatArray]:
        """For each node the unit about whose chord it is most wrong at a shift, and by how much."""
        z = self.a + (shifts / self.ball.radius[self.moved]) @ self.W.T
        lines = self._lines(nodes.held)
        concave = self._concave(nodes.held)
        slope = np.where(concave, lines.most, 0.0)  # of others, it may be infinite
        chord = slope * z + lines.offset - self.weight * np.maximum(z, self.leak * z)
        wrong = np.where(concave, -chord, 0.0)
        at = wrong.argmax(axis=1)
        return at, wrong[np.arange(len(at)), at]

    def children(self, nodes: UnitNodes, at: IntArray) -> UnitNodes:
        """Both parts of each node, with one unit held above 0 and below it."""
        above, below = nodes.held.copy(), nodes.held.copy()
        above[np.arange(len(at)), at], below[np.arange(len(at)), at] = 1, -1
        return UnitNodes(above, nodes.q).joined(UnitNodes(below, nodes.q))

    def _concave(self, held: IntArray) -> BoolArray:
        """Which units may be on both sides of 0, and lower the sum where they bend."""
        return np.asarray((held == 0) & (self.low < 0) & (self.high > 0) & (self.weight < 0) & (self.leak < 1))

    def _lines(self, held: IntArray) -> UnitLines:
        on, off = self.weight * np.ones(held.shape), self.weight * self.leak * np.ones(held.shape)
        wide = self.high - self.low
        steep = self.leak + (1 - self.leak) * self.high / np.where(wide > 0, wide, 1.0)
        chord = self._concave(held)
        both = (held == 0) & (self.low < 0) & (self.high > 0) & ~chord
        least, most = np.where(self.low >= 0, on, off), np.where(self.low >= 0, on, off)
        least, most = np.where(both, off, least), np.where(both, on, most)
        least, most = np.where(chord, self.weight * steep, least), np.where(chord, self.weight * steep, most)
        least = np.where(held > 0, -np.inf, np.where(held < 0, off, least))
        most = np.where(held > 0, on, np.where(held < 0, np.inf, most))
        return UnitLines(least, most, np.where(chord, self.weight * (self.leak - steep) * self.low, 0.0))

    def _bound(self, q: FloatArray, lines: UnitLines) -> tuple[FloatArray, FloatArray]:
        loss, shift = self._lowest(q @ self.W)
        parts = q * self.a
        size = np.abs(parts).sum(axis=1) + np.abs(lines.offset).sum(axis=1) + np.abs(q) @ np.abs(self.W).sum(axis=1)
        total = self.constant + lines.offset.sum(axis=1) + parts.sum(axis=1) + loss
        return total - BOUND_ROUNDING * (abs(self.constant) + size), shift

    def _lowest(self, slope: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The smallest value of linear functions of the shares of the radius, and where each is taken."""
        size = np.abs(slope)
        if self.ball.norm is BallNorm.L2:
            length = np.linalg.norm(slope, axis=1)
            return -length, -slope / np.where(length > 0, length, 1.0)[:, None]
        widest = size.argmax(axis=1)[:, None] == np.arange(slope.shape[1])
        return -size.max(axis=1, initial=0.0), np.where(widest, -np.sign(slope), 0.0)
