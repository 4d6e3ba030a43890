"""A problem with an oblique tree as columns for the kernels.

Numbers are a column each, levels a column for each option.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.choices import choices_of
from butfor.formulation.half_spaces import Goal, thresholds
from butfor.model.grid_points import grid_near
from butfor.model.linear import Linear
from butfor.model.oblique import ObliqueTree
from butfor.model.questions import evaluate
from butfor.problem.form import ConstraintKind, CostTerm
from butfor.problem.problem import Problem
from butfor.solvers.oblique.inputs import Gates, LeafPaths, Rows
from butfor.solvers.oblique.polytope.columns import Columns

NODE_COLUMNS = 4_000_000
"""Nodes times columns that the branch and bound of a leaf may hold: some hundred megabytes."""

NODES_PER_SECOND = 20_000
"""Nodes looked at where the time is limited."""

MOST_ODD = 4
"""Numbers off their grid in a row at most: each choice of those that stay there is a search of its own."""

SEPARABLE = frozenset({CostTerm.L1, CostTerm.L2, CostTerm.FORBIDDEN})
"""The terms of a cost that is a sum over columns, each convex in a number."""


def separable(problem: Problem) -> bool:
    """Whether the kernels take a problem.

    They take prices and admissible values that are given column by column, and no value that goes missing.
    """
    form, domain, movable = problem.form(), problem.domain, problem.domain.movable
    vanishing = (np.isnan(problem.factuals) | domain.missing)[:, movable].any()
    coupled = form.cost - SEPARABLE or form.constraints - {ConstraintKind.MARGIN}
    return not (coupled or vanishing or _binned(problem) or domain.single[movable].any())


def _binned(problem: Problem) -> bool:
    """Whether some number that may change is read by its cell."""
    movable = problem.domain.movable
    assert isinstance(problem.model, ObliqueTree)
    return any(movable[j] and len(cells.edges) > 0 for j, cells in enumerate(problem.model.cells))


@dataclass(frozen=True, eq=False)
class Sheet:
    """The columns of n rows.

    `numbers` and `levels` are the features that stand behind them. Moves of numbers are in units of `unit`, prices in
    units of `scale`. An `odd` number is off its grid and may stay there, or move to it. An `impossible` row has a
    feature that may neither stay nor move.
    """

    problem: Problem
    numbers: IntArray
    levels: IntArray
    unit: FloatArray
    scale: float
    gates: Gates
    leaves: LeafPaths
    columns: Columns
    rows: Rows
    odd: BoolArray
    impossible: BoolArray

    def take(self, rows: IntArray) -> Sheet:
        """The same for some of the rows."""
        return replace(
            self, problem=self.problem.take(rows), rows=self.rows.take(rows), odd=self.odd[rows],
            impossible=self.impossible[rows],
        )  # fmt: skip

    def solve(self, k: int, seconds: float = np.inf) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
        """Costs, moves, bounds and whether each row is settled.

        Where numbers are odd, each choice of those that stay there is a search.
        """
        costs, moves, bounds, settled = self._solve(k, seconds)
        for row in np.flatnonzero(self.odd.any(axis=1)):
            at = np.flatnonzero(self.odd[row])
            if k > 1 or len(at) > MOST_ODD:
                costs[row], bounds[row], settled[row] = np.inf, 0.0, False
                continue
            for chosen in product((False, True), repeat=len(at)):
                stays = at[np.array(chosen)]
                if not len(stays):
                    continue  # that was the first search
                cost, move, bound, fine = self._left_off_grid(int(row), stays)._solve(k, seconds)
                if cost[0, 0] < costs[row, 0]:
                    costs[row], moves[row] = cost[0], move[0]
                bounds[row], settled[row] = min(bounds[row], bound[0]), settled[row] and fine[0]
        return costs, moves, bounds, settled

    def _left_off_grid(self, row: int, stays: IntArray) -> Sheet:
        """One row, some of its odd numbers kept where they are."""
        one = self.take(np.array([row]))
        low, high, first = (ends.copy() for ends in (one.rows.low, one.rows.high, one.rows.first))
        low[0, stays] = high[0, stays] = first[0, stays] = 0.0
        return replace(one, rows=one.rows._replace(low=low, high=high, first=first))

    def _solve(self, k: int, seconds: float) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
        from butfor.solvers.oblique.kernels import nearest_leaves

        nodes = int(min(NODE_COLUMNS / max(1, self.gates.B.shape[1]), NODES_PER_SECOND * seconds))
        costs, moves, bounds, settled = nearest_leaves(self.gates, self.leaves, self.columns, self.rows, k, nodes)
        return costs * self.scale, moves, bounds * self.scale, settled

    def sides(self) -> FloatArray:
        """The least that left (0) and right (1) at each gate cost row 0."""
        from butfor.solvers.oblique.kernels import side_bounds

        ahead = np.empty((len(self.gates.B), 2))
        side_bounds(self.gates, self.columns, self.rows, 0, ahead)
        return ahead * self.scale

    def points(self, row: IntArray, moves: FloatArray) -> FloatArray:
        """Encoded rows.

        What has not moved is the factual to the bit. What lies on an end or a grid point is that end or point.
        """
        domain, at = self.problem.domain, self.numbers
        out = self.problem.factuals[row].copy()
        if len(at):
            x, d = out[:, at], moves[:, : len(at)]
            value = x + d * self.unit
            step = domain.step[at]
            near = grid_near(value, step, domain.anchor[at])
            value = np.where(step > 0, np.clip(near, domain.low[row][:, at], domain.high[row][:, at]), value)
            value = np.where((d >= self.rows.high[row]) & (step == 0), domain.high[row][:, at], value)
            value = np.where((d <= self.rows.low[row]) & (step == 0), domain.low[row][:, at], value)
            out[:, at] = np.where(d == 0, x, value)
        group = self.columns.group
        for k, j in enumerate(self.levels):
            options = moves[:, len(at) + group[k] : len(at) + group[k + 1]]
            out[:, j] = options.argmax(axis=1)
        return out


def sheet_of(problem: Problem, wanted: tuple[Goal, ...]) -> Sheet:
    """The columns of a separable problem."""
    model, space, domain, prices = problem.model, problem.space, problem.domain, problem.prices
    assert isinstance(model, ObliqueTree)
    numbers, levels = _in_use(problem)
    unit = np.array([space.features[j].range for j in numbers])
    reach = _reach(problem, numbers, unit)
    counts = [len(space.features[j].levels or ()) for j in levels]
    price = np.concatenate([np.zeros((len(problem), 0)), *(_prices_of_levels(problem, int(j)) for j in levels)], axis=1)
    rate, square = prices.l1[numbers] * unit, prices.l2[numbers] * unit**2
    finite = price[np.isfinite(price)]
    scale = max(rate.max(initial=0.0), square.max(initial=0.0), finite.max(initial=0.0)) or 1.0
    gates, norm = _gates(problem, model.gates, numbers, levels, unit)
    group = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    barred = [~np.isfinite(price[:, group[k] : group[k + 1]]).any(axis=1) for k in range(len(levels))]
    rows = Rows(
        now=evaluate(model.gates, problem.factuals) / norm, low=reach.low, high=reach.high, first=reach.first,
        price=price / scale, home=problem.factuals[:, levels].astype(np.intp),
    )  # fmt: skip
    return Sheet(
        problem=problem,
        numbers=numbers,
        levels=levels,
        unit=unit,
        scale=float(scale),
        gates=gates,
        leaves=_leaves(wanted, scale),
        columns=Columns(rate / scale, rate / scale, square / scale, domain.step[numbers] / unit, group),
        rows=rows,
        odd=reach.odd,
        impossible=np.logical_or.reduce([reach.impossible, *barred]),
    )


def _in_use(problem: Problem) -> tuple[IntArray, IntArray]:
    """Numbers and levels that may change and matter to a gate, or must change."""
    model, domain = problem.model, problem.domain
    assert isinstance(model, ObliqueTree)
    asked = np.any(model.gates.slope != 0, axis=0)
    asked[list(model.gates.stepped)] = True
    used = (domain.movable & asked) | (~domain.stay).any(axis=0)
    leveled = np.array([feature.levels is not None for feature in problem.space.features])
    return np.flatnonzero(used & ~leveled), np.flatnonzero(used & leveled)


class Reach(NamedTuple):
    """How far each number may move; its grid begins at `first`."""

    low: FloatArray
    high: FloatArray
    first: FloatArray
    odd: BoolArray
    impossible: BoolArray


def _reach(problem: Problem, numbers: IntArray, unit: FloatArray) -> Reach:
    """The reach of each number in each row."""
    nothing = np.empty((len(problem), 0))
    every = [choices_of(problem, j) for j in numbers.tolist()]
    low, high = (np.hstack([nothing, *(choices.ends[i] for choices in every)]) for i in range(2))
    odd = np.hstack([nothing.astype(np.bool_), *(choices.odd for choices in every)])
    x, fixed = problem.factuals[:, numbers], low > high
    impossible = np.asarray(fixed & ~problem.domain.stay[:, numbers]).any(axis=1)
    d_low, d_high = ((np.where(fixed, x, end) - x) / unit for end in (low, high))
    return Reach(d_low, d_high, d_low, np.asarray(odd & ~fixed), np.asarray(impossible))


def _prices_of_levels(problem: Problem, j: int) -> FloatArray:
    """What each level of a feature costs each row; infinite if it is not allowed."""
    choices = choices_of(problem, j)
    return choices.price(choices.levels)[:, :-1]


def _gates(
    problem: Problem, gates: Linear, numbers: IntArray, levels: IntArray, unit: FloatArray
) -> tuple[Gates, FloatArray]:
    """The gates over the columns, scaled to unit norm, and their norms before."""
    B = np.concatenate([gates.slope[:, numbers] * unit, *(gates.steps[j][:, :-1] for j in levels)], axis=1)
    norm = np.linalg.norm(B, axis=1)
    norm = np.where(norm > 0, norm, 1.0)
    right, left = thresholds(problem)
    return Gates(np.ascontiguousarray(B / norm[:, None]), right / norm, left / norm), norm


def _leaves(wanted: tuple[Goal, ...], scale: float) -> LeafPaths:
    """The paths to the leaves, one after the other."""
    start = np.concatenate([[0], np.cumsum([len(goal.path.gates) for goal in wanted])]).astype(np.intp)
    gate = np.array([gate for goal in wanted for gate in goal.path.gates], dtype=np.intp)
    side = np.array([1.0 if right else -1.0 for goal in wanted for right in goal.path.right])
    return LeafPaths(start, gate, side, np.array([goal.offset for goal in wanted]) / scale)
