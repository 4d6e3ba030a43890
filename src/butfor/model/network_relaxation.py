"""A linear program below a network within a box or a ball of shifts, and the bound that its multipliers give.

Units that may be on both sides of 0 lie between three lines (Ehlers, "Formal verification of piece-wise linear
feed-forward neural networks", 2017). Only the multipliers of the program are believed: whatever they are, they give a
bound (Neumaier and Shcherbina, "Safe bounds in linear and mixed-integer linear programming", 2004).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.model.ball import Ball, BallNorm
from butfor.model.linear import evaluate_linear
from butfor.model.network import Layer, Network

PRECISE_PROGRAM = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
"""How far a linear program may miss a row."""

SIDES_OVERLAP = 1e-8
"""By how much the two sides of a unit overlap, relative to 1 + its size. So nothing is lost between them."""

BOUND_ROUNDING = 1e-12
"""The share of the size of its terms by which a bound is lowered, for the rounding of its sum."""

Unit = tuple[int, int]
"""A layer, and the number of a unit in it."""


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A linear program over the shifts, and over what some units pass on.

    - `constant`, `cost`: the sum `constant + cost @ v`;
    - `rows`, `ends`: `rows @ v <= ends`;
    - `low`, `high`: the ends of the variables;
    - `units`: those whose sides are not known, and about which the program may be wrong;
    - `reach`, `reach_constant`, `leak`: what reaches each of them, and its slope below 0;
    - `passed`, `passed_constant`: what it passes on, as the program sees it.
    """

    constant: float
    cost: FloatArray
    rows: FloatArray
    ends: FloatArray
    low: FloatArray
    high: FloatArray
    units: list[Unit]
    reach: FloatArray
    reach_constant: FloatArray
    leak: FloatArray
    passed: FloatArray
    passed_constant: FloatArray

    def misses(self, values: FloatArray) -> FloatArray:
        """By how much the program is wrong about each of the units."""
        z = self.reach_constant + self.reach @ values
        return np.asarray(np.abs(self.passed_constant + self.passed @ values - np.maximum(z, self.leak * z)))

    def solved(self, tangents: FloatArray, ball: Ball, moved: IntArray) -> tuple[float, FloatArray | None]:
        """A bound, and where it is taken. None if there is no such point."""
        if not len(self.rows):
            return self._without_rows(ball, moved)
        from scipy import optimize

        shifts, radius = len(moved), ball.radius[moved]
        rows = np.vstack([self.rows, np.pad(tangents, ((0, 0), (0, len(self.cost) - shifts)))])
        ends = np.concatenate([self.ends, np.ones(len(tangents))])
        cost, low, high = self.cost, self.low, self.high
        if ball.norm is BallNorm.L1:  # one more variable per shift: its size
            unit, none = np.eye(shifts), np.zeros((shifts, len(cost) - shifts))
            sizes = np.block([[unit, none, -unit], [-unit, none, -unit]])
            total = np.concatenate([np.zeros(len(cost)), 1 / radius])
            rows = np.vstack([np.pad(rows, ((0, 0), (0, shifts))), sizes, total])
            ends = np.concatenate([ends, np.zeros(2 * shifts), [1.0]])
            cost, low = np.pad(cost, (0, shifts)), np.pad(low, (0, shifts))
            high = np.concatenate([high, radius])
        minimise: Any = optimize.linprog
        found = minimise(cost, rows, ends, bounds=np.column_stack([low, high]), options=PRECISE_PROGRAM)
        if found.status == 2:
            return np.inf, None
        if found.x is None:
            return -np.inf, (self.low + self.high) / 2
        price = np.maximum(-found.ineqlin.marginals, 0.0)
        reduced = cost + price @ rows
        least = np.minimum(reduced * low, reduced * high)
        of_shifts = float(least[:shifts].sum())
        if ball.norm is BallNorm.L2:
            of_shifts = max(of_shifts, -float(np.linalg.norm(reduced[:shifts] * radius)))
        size = np.abs(reduced) @ np.maximum(np.abs(low), np.abs(high)) + np.abs(price) @ np.abs(ends)
        total_bound = self.constant + of_shifts + float(least[shifts:].sum()) - float(price @ ends)
        return total_bound - BOUND_ROUNDING * float(abs(self.constant) + size), found.x[: len(self.cost)]

    def _without_rows(self, ball: Ball, moved: IntArray) -> tuple[float, FloatArray]:
        """As `solved`, if every unit is on one side of 0: the sum is linear in the ball."""
        slope = np.zeros(len(ball.radius))
        slope[moved] = self.cost
        shift = ball.worst_shift(slope)[moved]
        if ball.norm is BallNorm.LINF:  # a node may hold a part of the box
            shift = np.where(self.cost > 0, self.low, self.high)
        size = abs(self.constant) + np.abs(self.cost) @ ball.radius[moved]
        return float(self.constant + self.cost @ shift - BOUND_ROUNDING * size), shift


@dataclass(eq=False)
class _Writing:
    """A program that is being written, layer by layer. Variables are added at the end; shorter rows mean 0 for them."""

    low: FloatArray
    high: FloatArray
    rows: list[FloatArray] = field(default_factory=list)
    ends: list[FloatArray] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    reach: list[FloatArray] = field(default_factory=list)
    reached: list[FloatArray] = field(default_factory=list)
    leaks: list[FloatArray] = field(default_factory=list)
    passed: list[FloatArray] = field(default_factory=list)
    passed_constant: list[FloatArray] = field(default_factory=list)

    def sides(self, z: FloatArray, constant: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The smallest and the largest value of sums of the variables."""
        middle, width = constant + z @ ((self.low + self.high) / 2), np.abs(z) @ ((self.high - self.low) / 2)
        spare = BOUND_ROUNDING * (np.abs(constant) + np.abs(z) @ np.maximum(np.abs(self.low), np.abs(self.high)))
        return middle - width - spare, middle + width + spare

    def below(self, rows: FloatArray, ends: FloatArray) -> None:
        """Add `rows @ v <= ends`."""
        self.rows.append(rows)
        self.ends.append(ends)

    def may_err(self, units: list[Unit], z: FloatArray, constant: FloatArray, leak: FloatArray) -> None:
        """Note units about which the program may be wrong."""
        self.units += units
        self.reach.append(z)
        self.reached.append(constant)
        self.leaks.append(leak)

    def passes(self, rows: FloatArray, constant: FloatArray) -> None:
        """Note what the units that were noted last pass on."""
        self.passed.append(rows)
        self.passed_constant.append(constant)

    def whole(self, rows: list[FloatArray]) -> FloatArray:
        """Rows of different lengths, in one array."""
        width = len(self.low)
        padded = [np.pad(one, ((0, 0), (0, width - one.shape[1]))) for one in rows]
        return np.vstack([np.zeros((0, width)), *padded])


def relax(
    model: Network,
    row: FloatArray,
    point: FloatArray,
    moved: IntArray,
    ends: tuple[FloatArray, FloatArray],
    held: Mapping[Unit, int],
) -> Relaxation | None:
    """The program of the sum `row @ scores`, for shifts of the features `moved` between two ends.

    Some units are `held` above (1) or below 0 (-1). None if nothing that may reach one of them lies on its side.
    """
    out = _Writing(*ends)
    constant, matrix = evaluate_linear(model.first, point[None])[0], np.asarray(model.first.slope[:, moved])
    for at, layer in enumerate(model.layers):
        least, most = out.sides(matrix, constant)
        side = np.where(least >= 0, 1, np.where(most <= 0, -1, 0))
        for unit, wanted in ((unit, wanted) for (where, unit), wanted in held.items() if where == at):
            if side[unit] == -wanted and least[unit] < most[unit]:
                return None
            if side[unit] == 0:
                overlap = SIDES_OVERLAP * (1 + np.abs(constant[[unit]]))
                out.below(-wanted * matrix[[unit]], wanted * constant[[unit]] + overlap)
            side[unit] = wanted
        slope = np.where(side > 0, 1.0, np.where(side < 0, layer.leak, 0.0))
        offset = np.zeros(len(slope))
        both, last = side == 0, at == len(model.layers) - 1
        falling = both & last & ((row @ layer.weight if last else 0.0) < 0)
        steep = layer.leak + (1 - layer.leak) * np.where(both, most / np.where(both, most - least, 1.0), 0.0)
        slope, offset = np.where(falling, steep, slope), np.where(falling, (layer.leak - steep) * least, offset)
        _note(out, at, np.flatnonzero(falling), layer, matrix, constant)
        out.passes(slope[falling, None] * matrix[falling], slope[falling] * constant[falling] + offset[falling])
        chosen = np.flatnonzero(both & ~falling)
        z, c, leak = matrix[chosen], constant[chosen], layer.leak[chosen]
        mine = np.hstack([np.zeros((len(chosen), z.shape[1])), np.eye(len(chosen))])
        z_wide = np.hstack([z, np.zeros((len(chosen), len(chosen)))])
        out.below(z_wide - mine, -c)
        out.below((leak[:, None] * z_wide - mine)[leak > 0], (-leak * c)[leak > 0])
        if not last:
            out.below(mine - steep[chosen, None] * z_wide, steep[chosen] * c - (steep[chosen] - leak) * least[chosen])
            _note(out, at, chosen, layer, matrix, constant)
            out.passes(mine, np.zeros(len(chosen)))
        out.low = np.concatenate([out.low, leak * least[chosen]])
        out.high = np.concatenate([out.high, most[chosen]])
        constant = layer.intercept + layer.weight @ (slope * constant + offset)
        matrix = np.hstack([layer.weight @ (slope[:, None] * matrix), layer.weight[:, chosen]])
    return Relaxation(
        float(row @ constant), row @ matrix, out.whole(out.rows), np.concatenate(out.ends), out.low, out.high,
        out.units, out.whole(out.reach), np.concatenate(out.reached), np.concatenate(out.leaks),
        out.whole(out.passed), np.concatenate(out.passed_constant),
    )  # fmt: skip


def _note(out: _Writing, at: int, units: IntArray, layer: Layer, matrix: FloatArray, constant: FloatArray) -> None:
    out.may_err([(at, unit) for unit in units.tolist()], matrix[units], constant[units], layer.leak[units])
