"""A linear program below a network within a box or a ball of shifts, and the bound that its multipliers give.

Units that may be on both sides of 0 lie between three lines (Ehlers, "Formal verification of piece-wise linear
feed-forward neural networks", 2017) and below planes, which are added where they cut off what the program has found. Only
the multipliers of the program are believed: whatever they are, they give a bound (Neumaier and Shcherbina, "Safe bounds
in linear and mixed-integer linear programming", 2004).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.compiled.clock import now
from butfor.model.linear import evaluate_linear
from butfor.model.network import Network
from butfor.neighbours.ball import Ball, BallNorm
from butfor.neighbours.networks.envelope import envelope
from butfor.programs.growing import GrowingProgram
from butfor.programs.inequalities import BOUND_ROUNDING, Inequalities

WORTH_A_PLANE = 1e-3
"""The share of what the bound lacks that a plane must cut off to be added."""

WORTH_A_ROUND = 0.05
"""The share of what the bound lacks by which planes must raise it, or no more are added."""

MOST_PLANES = 10
"""How many planes per unit are kept. Of more, those go on which the program does not lean."""

BALL_TANGENTS, LAST_TANGENTS = 40, 500
"""How many tangents of a round ball one bound may ask for: while the program is wrong about units, and once it is not."""

BEYOND_BALL = 1e-9
"""How far a point may lie outside of a round ball before a tangent cuts it off, as a share of the radius."""


class Bounded(NamedTuple):
    """A bound, and the variables where the program takes it. None if there is no such point."""

    bound: float
    values: FloatArray | None


Unit = tuple[int, int]
"""A layer, and the number of a unit in it."""


class Relaxation:
    """A linear program for the sum `row @ scores`. Its bounds are asked for one after the other, each with other ends.

    The variables are the shifts, as shares of their radius (in a ball of sums, their sizes come next), and what the units
    pass on that may be on both sides of 0.

    - `constant`, `cost`: the sum `constant + cost @ v`;
    - `low`, `high`: the ends of the variables, wherever units are held;
    - `first`: the first variable of a unit. `units`: the places of those units in the network, and `layers`, their numbers
      layer by layer;
    - `effect`: how much the sum may change per unit of what each passes on;
    - `reach`, `reached`, `leak`: what reaches each of them, `reached + reach @ v`, and its slope below 0;
    - `tangent`: which rows of the program are tangents of a round ball.
    """

    def __init__(self, model: Network, row: FloatArray, point: FloatArray, ball: Ball, moved: IntArray) -> None:
        self.ball, self.shifts = ball, len(moved)
        self.first = 2 * self.shifts if ball.norm is BallNorm.L1 else self.shifts
        self.low = np.append(-np.ones(self.shifts), np.zeros(self.first - self.shifts))
        self.high = np.ones(self.first)
        self._read(model, row, point, _wide(model.first.slope[:, moved] * ball.radius[moved], self.first))
        self.program = self._write()
        self.written = len(self.program.inequalities.least)
        self.tangent = np.zeros(self.written, dtype=np.bool_)

    def _read(self, model: Network, row: FloatArray, point: FloatArray, matrix: FloatArray) -> None:
        """Go through the layers. A unit that may be on both sides of 0 becomes a variable, the others are sums of those."""
        constant, reach = evaluate_linear(model.first, point[None])[0], []
        self.units: list[Unit] = []
        self.layers: list[IntArray] = []
        self.reached, self.leak = np.empty(0), np.empty(0)
        for at, layer in enumerate(model.layers):
            least, most = self._ends(matrix, constant, self.low, self.high)
            both = np.flatnonzero((least < 0) & (most > 0) & (layer.leak < 1))
            self.layers.append(len(self.units) + np.arange(len(both)))
            self.units += [(at, unit) for unit in both.tolist()]
            reach.append(matrix[both])
            self.reached, self.leak = np.append(self.reached, constant[both]), np.append(self.leak, layer.leak[both])
            self.low = np.append(self.low, layer.leak[both] * least[both])
            self.high = np.append(self.high, most[both])
            slope = np.where(least >= 0, 1.0, layer.leak)
            slope[both] = 0.0
            constant = layer.intercept + layer.weight @ (slope * constant)
            matrix = np.hstack([layer.weight @ (slope[:, None] * matrix), layer.weight[:, both]])
        self.constant, self.cost, width = float(row @ constant), row @ matrix, len(self.low)
        self.reach = np.vstack([_wide(one, width) for one in reach])
        effect = [np.abs(row)]
        for layer in model.layers[::-1]:
            effect.insert(0, effect[0] @ np.abs(layer.weight))
        self.effect = np.array([effect[at][unit] for at, unit in self.units])

    def _write(self) -> GrowingProgram:
        """The program with its first rows: each unit less what reaches it, the same below 0, the chord; the sizes of shifts."""
        count = len(self.units)
        passed = np.hstack([np.zeros((count, self.first)), np.eye(count)])
        least, largest = self._ends(self.reach, self.reached, self.low, self.high)
        steep = self.leak + (1 - self.leak) * largest / np.where(largest > least, largest - least, 1.0)
        slopes, none = [np.ones(count), self.leak, steep], np.full(count, np.inf)
        rows = np.vstack([passed - slope[:, None] * self.reach for slope in slopes])
        ends = np.concatenate([self.reached, self.leak * self.reached, -none])
        most = np.concatenate([none, none, steep * self.reached + (self.leak - steep) * least])
        if self.ball.norm is BallNorm.L1:
            unit, rest = np.eye(self.shifts), np.zeros((self.shifts, count))
            total = np.concatenate([np.zeros(self.shifts), np.ones(self.shifts), np.zeros(count)])
            rows = np.vstack([rows, np.block([[unit, -unit, rest], [-unit, -unit, rest]]), total])
            ends = np.append(ends, np.full(2 * self.shifts + 1, -np.inf))
            most = np.append(most, [*np.zeros(2 * self.shifts), 1.0])
        return GrowingProgram(self.cost, Inequalities(rows, ends, most, self.low, self.high))

    def misses(self, values: FloatArray) -> FloatArray:
        """How much the sum may change because the program is wrong about each of the units that are not held."""
        z = self.reached + self.reach @ values
        off = np.abs(self._passed(values) - np.maximum(z, self.leak * z))
        return np.where(self.held == 0, off * self.effect, 0.0)

    def bounded(
        self, held: Mapping[Unit, int], low: FloatArray, high: FloatArray, wanted: float, until: float
    ) -> Bounded:
        """The smallest sum for shares between two ends, where some units are held above (1) or below 0 (-1).

        Planes and tangents are added until the bound is `wanted`, is hardly raised by them, or the time ends.
        """
        if not self._hold(held, low, high):
            return Bounded(np.inf, None)
        before, bound, tangents = -np.inf, -np.inf, 0
        while True:
            least, values, price = self._solved()
            bound = max(bound, least)
            if values is None or bound >= wanted or now() > until:
                return Bounded(bound, values)
            lacks, share = wanted - bound, values[: self.shifts]
            size = float(np.linalg.norm(share))
            wrong = self.misses(values).max(initial=0.0) > WORTH_A_PLANE * lacks
            most = BALL_TANGENTS if wrong else LAST_TANGENTS
            if self.ball.norm is BallNorm.L2 and size > 1 + BEYOND_BALL and tangents < most:
                tangents += 1
                self._add(_wide(share[None] / size, len(self.cost)), np.ones(1), tangent=True)
                continue
            self._forget(price)
            if bound - before < WORTH_A_ROUND * lacks or not self._add_planes(values, WORTH_A_PLANE * lacks):
                return Bounded(bound, values)
            before = bound

    def _hold(self, held: Mapping[Unit, int], low: FloatArray, high: FloatArray) -> bool:
        """Set the ends of the variables and the sides of the units. False if no shift lies between them."""
        self.held = np.array([held.get(unit, 0) for unit in self.units], dtype=np.intp)
        lowest, highest = self.low.copy(), self.high.copy()
        lowest[: self.shifts], highest[: self.shifts] = low, high
        for those in self.layers:
            least, most = self._ends(self.reach[those], self.reached[those], lowest, highest)
            side, leak = self.held[those], self.leak[those]
            if ((side > 0) & (most < 0) | (side < 0) & (least > 0)).any():
                return False
            self.held[those] = np.where(side != 0, side, np.where(least >= 0, 1, np.where(most <= 0, -1, 0)))
            least[side > 0], most[side < 0] = np.maximum(least[side > 0], 0.0), np.minimum(most[side < 0], 0.0)
            lowest[self.first + those] = np.maximum(least, leak * least)
            highest[self.first + those] = np.maximum(most, leak * most)
        of_sides = (
            np.where(self.held > 0, self.reached, np.inf),
            np.where(self.held < 0, self.leak * self.reached, np.inf),
        )
        self.program.below(np.concatenate(of_sides))
        self.program.between(lowest, highest)
        return True

    def _solved(self) -> tuple[float, FloatArray | None, FloatArray]:
        """The bound, where the program takes it, and the multipliers of the rows."""
        values, price, impossible = self.program.solved()
        if values is not None:  # the ball itself often says more than its tangents
            weights = (price, np.where(self.tangent, 0.0, price))
            return self.constant + max(self._least(self.cost, one) for one in weights), values, price
        if impossible and max(self._least(0 * self.cost, price), self._least(0 * self.cost, -price)) > 0:
            return np.inf, None, price
        return -np.inf, (self.program.inequalities.low + self.program.inequalities.high) / 2, price

    def _least(self, cost: FloatArray, price: FloatArray) -> float:
        """What `cost @ v` is at least, by multipliers of the rows."""
        known = self.program.inequalities
        low, high = known.low, known.high
        constant, rest, size = known.weighed(cost, price)
        parts = np.minimum(rest * low, rest * high)
        of_shifts = float(parts[: self.shifts].sum())
        if self.ball.norm is BallNorm.L2:
            of_shifts = max(of_shifts, -float(np.linalg.norm(rest[: self.shifts])))
        size += abs(self.constant) + float(np.abs(rest) @ np.maximum(np.abs(low), np.abs(high)))
        return constant + of_shifts + float(parts[self.shifts :].sum()) - BOUND_ROUNDING * size

    def _add_planes(self, values: FloatArray, worth: float) -> bool:
        """Add the planes that cut off enough of what the sum loses at a point. Whether there are any."""
        free = np.flatnonzero(self.held == 0)
        planes = envelope(self.reach[free], self.reached[free], self.leak[free], self.low, self.high, values)
        above = self._passed(values)[free] - planes.offset - planes.slope @ values
        cut = above * self.effect[free] > worth
        rows = -planes.slope[cut]
        rows[np.arange(len(rows)), self.first + free[cut]] += 1.0
        self._add(rows, planes.offset[cut], tangent=False)
        return bool(cut.any())

    def _add(self, rows: FloatArray, most: FloatArray, *, tangent: bool) -> None:
        self.program.add(rows, most)
        self.tangent = np.append(self.tangent, np.full(len(rows), tangent))

    def _forget(self, price: FloatArray) -> None:
        """Let go of added rows that the program does not lean on, when there are many."""
        if len(price) - self.written > MOST_PLANES * len(self.units):
            idle = np.flatnonzero((price == 0) & (np.arange(len(price)) >= self.written))
            self.program.forget(idle)
            self.tangent = np.delete(self.tangent, idle)

    def _passed(self, values: FloatArray) -> FloatArray:
        """What the units pass on."""
        return values[self.first :]

    def _ends(
        self, matrix: FloatArray, constant: FloatArray, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The smallest and the largest value of sums of the variables, in the ball."""
        middle, width = matrix * ((low + high) / 2), np.abs(matrix) * ((high - low) / 2)
        least, most = middle - width, middle + width
        shifts, rest = slice(self.shifts), slice(self.shifts, None)
        far = self.ball.norm.dual(matrix[:, shifts])
        spare = BOUND_ROUNDING * (np.abs(constant) + np.abs(matrix) @ np.maximum(np.abs(low), np.abs(high)))
        return (
            constant + np.maximum(least[:, shifts].sum(axis=1), -far) + least[:, rest].sum(axis=1) - spare,
            constant + np.minimum(most[:, shifts].sum(axis=1), far) + most[:, rest].sum(axis=1) + spare,
        )


def _wide(rows: FloatArray, width: int) -> FloatArray:
    """Rows over the first variables as rows over all of them."""
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])))
