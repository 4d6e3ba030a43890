"""A problem with an oblique tree as the columns that the kernels work on: numbers in units of their range, options of levels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.half_spaces import Goal, thresholds
from butfor.model.linear import Linear
from butfor.model.oblique import ObliqueTree
from butfor.model.questions import evaluate
from butfor.problem.domain import grid_down, grid_up, on_grid
from butfor.problem.form import ConstraintKind, CostTerm
from butfor.problem.prices import Prices
from butfor.problem.problem import Problem

ROOM = 4_000_000
"""Nodes times columns that the branch and bound of a leaf may hold: some hundred megabytes."""

NODES_A_SECOND = 20_000
"""Nodes looked at where the time is limited."""

MOST_ODD = 4
"""Numbers off their grid in a row at most, for each choice of those that stay there to be a search."""

SEPARABLE = frozenset({CostTerm.L1, CostTerm.L2, CostTerm.FORBIDDEN})
"""The terms of a cost that is a sum over columns, each convex in a number."""


def separable(problem: Problem) -> bool:
    """Whether the kernels take a problem: prices and admissible values column by column, and no value goes missing."""
    form, domain, movable = problem.form(), problem.domain, problem.domain.movable()
    vanishing = (np.isnan(problem.factuals) | domain.missing)[:, movable].any()
    coupled = form.cost - SEPARABLE or form.constraints - {ConstraintKind.MARGIN}
    return not (coupled or vanishing or _binned(problem) or domain.single[movable].any())


def _binned(problem: Problem) -> bool:
    """Whether some number that may change is read by its cell."""
    movable = problem.domain.movable()
    assert isinstance(problem.model, ObliqueTree)
    return any(movable[j] and len(cells.edges) > 0 for j, cells in enumerate(problem.model.cells))


@dataclass(frozen=True, eq=False)
class Sheet:
    """The columns of n rows. `numbers` and `levels` are the features that stand behind them.

    `odd` numbers are off their grid and may stay there, or move to it; `impossible` rows have a feature that may neither
    stay nor move.
    """

    problem: Problem
    numbers: IntArray
    levels: IntArray
    unit: FloatArray
    scale: float
    gates: tuple[FloatArray, FloatArray, FloatArray]
    leaves: tuple[IntArray, IntArray, FloatArray, FloatArray]
    rates: tuple[FloatArray, FloatArray, FloatArray, FloatArray, IntArray]
    now: FloatArray
    low: FloatArray
    high: FloatArray
    first: FloatArray
    price: FloatArray
    home: IntArray
    odd: BoolArray
    impossible: BoolArray

    def take(self, rows: IntArray) -> Sheet:
        """The same for some of the rows."""
        return replace(
            self, problem=self.problem.take(rows), now=self.now[rows], low=self.low[rows], high=self.high[rows],
            first=self.first[rows], price=self.price[rows], home=self.home[rows], odd=self.odd[rows],
            impossible=self.impossible[rows],
        )  # fmt: skip

    def solve(self, k: int, seconds: float = np.inf) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
        """Costs, moves, bounds and whether each row is settled; with an odd number, a search for each choice to leave it."""
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
                low, high, first = self.low[[row]], self.high[[row]], self.first[[row]]
                low[0, stays] = high[0, stays] = first[0, stays] = 0.0
                one = replace(self.take(np.array([row])), low=low, high=high, first=first)
                cost, move, bound, fine = one._solve(k, seconds)
                if cost[0, 0] < costs[row, 0]:
                    costs[row], moves[row] = cost[0], move[0]
                bounds[row], settled[row] = min(bounds[row], bound[0]), settled[row] and fine[0]
        return costs, moves, bounds, settled

    def _solve(self, k: int, seconds: float) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
        from butfor.solvers.oblique.kernels import Gates, LeafPaths, nearest_leaves
        from butfor.solvers.oblique.polytope import Columns

        costs, moves, bounds, settled = nearest_leaves(
            Gates(*self.gates), LeafPaths(*self.leaves), Columns(*self.rates), self.now, self.low, self.high, self.first,
            self.price, self.home, k, int(min(ROOM / max(1, self.gates[0].shape[1]), NODES_A_SECOND * seconds)),
        )  # fmt: skip
        return costs * self.scale, moves, bounds * self.scale, settled

    def sides(self) -> FloatArray:
        """What going left (0) and right (1) at each gate costs the first row at least."""
        from butfor.solvers.oblique.kernels import Gates, side_bounds
        from butfor.solvers.oblique.polytope import Columns

        ahead = np.empty((len(self.now[0]), 2))
        side_bounds(
            Gates(*self.gates), Columns(*self.rates), self.now[0], self.low[0], self.high[0], self.first[0], self.price[0],
            self.home[0], ahead,
        )  # fmt: skip
        return ahead * self.scale

    def points(self, row: IntArray, moves: FloatArray) -> FloatArray:
        """Encoded rows: what has not moved is the factual to the bit, what lies on an end or a grid point is that."""
        domain, at = self.problem.domain, self.numbers
        out = self.problem.factuals[row].copy()
        if len(at):
            x, d = out[:, at], moves[:, : len(at)]
            value = x + d * self.unit
            step, anchor = domain.step[at], domain.anchor[at]
            with np.errstate(invalid="ignore", divide="ignore"):
                value = np.where(step > 0, anchor + step * np.round((value - anchor) / step), value)
            value = np.where((d >= self.high[row]) & (step == 0), domain.high[row][:, at], value)
            value = np.where((d <= self.low[row]) & (step == 0), domain.low[row][:, at], value)
            out[:, at] = np.where(d == 0, x, value)
        group = self.rates[4]
        for k, j in enumerate(self.levels):
            options = moves[:, len(at) + group[k] : len(at) + group[k + 1]]
            out[:, j] = options.argmax(axis=1)
        return out


def sheet(problem: Problem, wanted: tuple[Goal, ...]) -> Sheet:
    """The columns of a separable problem."""
    model, space, domain, prices = problem.model, problem.space, problem.domain, problem.prices
    assert isinstance(model, ObliqueTree)
    numbers, levels = _in_use(problem)
    unit = np.array([space.features[j].range for j in numbers])
    low, high, first, odd, impossible = _boxes(problem, numbers, unit)
    counts = [len(space.features[j].levels or ()) for j in levels]
    price = np.concatenate([np.zeros((len(problem), 0)), *(_prices(problem, int(j)) for j in levels)], axis=1)
    rates = [prices.l1[numbers] * unit, prices.l1[numbers] * unit, prices.l2[numbers] * unit**2]
    finite = price[np.isfinite(price)]
    scale = max(*(rate.max(initial=0.0) for rate in rates), finite.max(initial=0.0)) or 1.0
    B, right, left, norm = _gates(problem, model.gates, numbers, levels, unit)
    group = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    for k in range(len(levels)):
        impossible |= ~np.isfinite(price[:, group[k] : group[k + 1]]).any(axis=1)
    return Sheet(
        problem=problem,
        numbers=numbers,
        levels=levels,
        unit=unit,
        scale=float(scale),
        gates=(B, right / norm, left / norm),
        leaves=_leaves(wanted, scale),
        rates=(*(rate / scale for rate in rates), domain.step[numbers] / unit, group),
        now=evaluate(model.gates, problem.factuals) / norm,
        low=low,
        high=high,
        first=first,
        price=price / scale,
        home=problem.factuals[:, levels].astype(np.intp),
        odd=odd,
        impossible=impossible,
    )


def _in_use(problem: Problem) -> tuple[IntArray, IntArray]:
    """Numbers and levels that may change and matter to some gate, or that must change."""
    model, domain = problem.model, problem.domain
    assert isinstance(model, ObliqueTree)
    asked = np.any(model.gates.slope != 0, axis=0)
    asked[list(model.gates.stepped)] = True
    used = (domain.movable() & asked) | (~domain.stay).any(axis=0)
    leveled = np.array([feature.levels is not None for feature in problem.space.features])
    return np.flatnonzero(used & ~leveled), np.flatnonzero(used & leveled)


def _boxes(
    problem: Problem, numbers: IntArray, unit: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray, BoolArray]:
    """How far each number may move down and up, where its grid begins; odd numbers and impossible rows."""
    domain = problem.domain
    x, low, high = problem.factuals[:, numbers], domain.low[:, numbers].copy(), domain.high[:, numbers].copy()
    stay, step, anchor = domain.stay[:, numbers], domain.step[numbers], domain.anchor[numbers]
    off_grid = np.zeros(x.shape, dtype=np.bool_)
    for one in set(zip(step[step > 0].tolist(), anchor[step > 0].tolist(), strict=True)):
        at = np.flatnonzero((step == one[0]) & (anchor == one[1]))
        low[:, at], high[:, at] = grid_up(low[:, at], *one), grid_down(high[:, at], *one)
        off_grid[:, at] = ~on_grid(x[:, at], *one)
    fixed = low > high
    odd = off_grid & stay & ~fixed
    impossible = (fixed & ~stay).any(axis=1)
    low, high = np.where(fixed, x, low), np.where(fixed, x, high)
    d_low, d_high = (low - x) / unit, (high - x) / unit
    return d_low, d_high, d_low, np.asarray(odd), np.asarray(impossible)


def _prices(problem: Problem, j: int) -> FloatArray:
    """What each level of feature j costs each row; infinite where it may not be."""
    domain = problem.domain
    x = problem.factuals[:, j].astype(np.intp)
    allowed = domain.levels[j].copy()
    allowed[np.arange(len(x)), x] = domain.stay[:, j]
    return np.where(allowed, problem.prices.tables[j][x, :-1], np.inf)


def _gates(
    problem: Problem, gates: Linear, numbers: IntArray, levels: IntArray, unit: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """The gates over the columns, each of unit norm, their thresholds and the norms."""
    B = np.concatenate([gates.slope[:, numbers] * unit, *(gates.steps[j][:, :-1] for j in levels)], axis=1)
    norm = np.linalg.norm(B, axis=1)
    norm = np.where(norm > 0, norm, 1.0)
    right, left = thresholds(problem)
    return np.ascontiguousarray(B / norm[:, None]), right, left, norm


def _leaves(wanted: tuple[Goal, ...], scale: float) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """The paths one after the other."""
    start = np.concatenate([[0], np.cumsum([len(goal.path.gates) for goal in wanted])]).astype(np.intp)
    gate = np.array([gate for goal in wanted for gate in goal.path.gates], dtype=np.intp)
    side = np.array([1.0 if right else -1.0 for goal in wanted for right in goal.path.right])
    return start, gate, side, np.array([goal.offset for goal in wanted]) / scale


def side_bounds(problem: Problem) -> FloatArray:
    """For each gate, what going left (0) and right (1) costs the only row at least, whatever else is asked of it.

    The terms of a cost are bounded one by one, and what couples columns is left out; 0 where nothing is known.
    """
    model, prices = problem.model, problem.prices
    assert isinstance(model, ObliqueTree)
    zero = np.zeros(len(problem.space))
    alone = replace(prices, l0=zero, linf=zero, linf_missing=zero, linf_tables={}, calls={}, Q=None)
    loose = replace(problem, prices=alone, relations=())
    if not separable(loose):
        return np.zeros((model.gates.scores, 2))
    columns = sheet(loose, ())
    if columns.odd.any() or columns.impossible.any():
        return np.zeros((model.gates.scores, 2))
    return columns.sides() + _widest(columns, prices) + _curved(columns, prices)


def _needs(columns: Sheet) -> FloatArray:
    """What each (unit) gate lacks for going left and right."""
    _, right, left = columns.gates
    return np.asarray(np.maximum(np.column_stack([left + columns.now[0], right - columns.now[0]]), 0.0))


def _widest(columns: Sheet, prices: Prices) -> FloatArray:
    """The L-infinity part: every number goes equally far, in units of its price."""
    B, at = columns.gates[0], columns.numbers
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(B[:, : len(at)] != 0, np.abs(B[:, : len(at)]) / (prices.linf[at] * columns.unit), 0.0).sum(
            axis=1
        )
    free = (reach == 0) | B[:, len(at) :].any(axis=1)
    return np.asarray(np.where(free, 0.0, _needs(columns).T / np.where(free, 1.0, reach)).T)


def _curved(columns: Sheet, prices: Prices) -> FloatArray:
    """The quadratic part, without the box: need^2 / (b' Q^-1 b)."""
    B, at = columns.gates[0], columns.numbers
    if prices.Q is None:
        return np.zeros((len(B), 2))
    Q = prices.Q[np.ix_(at, at)] * np.outer(columns.unit, columns.unit)
    others = np.setdiff1d(np.flatnonzero(prices.Q.any(axis=0)), at)
    try:
        if len(others):  # they move along for free
            rest = prices.Q[np.ix_(others, others)]
            cross = prices.Q[np.ix_(at, others)] * columns.unit[:, None]
            Q = Q - cross @ np.linalg.solve(rest, cross.T)
        gain = np.einsum("gj,jg->g", B[:, : len(at)], np.linalg.solve(Q, B[:, : len(at)].T))
    except np.linalg.LinAlgError:
        return np.zeros((len(B), 2))
    free = (gain <= 1e-12) | B[:, len(at) :].any(axis=1)
    return np.asarray(np.where(free, 0.0, _needs(columns).T ** 2 / np.where(free, 1.0, gain)).T)
