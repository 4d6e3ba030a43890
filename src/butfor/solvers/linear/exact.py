"""One linear inequality over numbers, exactly. The level of one multiplier rises until the score is reached.

The problem is to minimise sum_j c_j(|d_j|) subject to sum_j w_j d_j >= need, 0 <= |d_j| <= room_j in the helpful
direction. With multiplier mu, feature j begins to move at mu = l1_j / |w_j|. Then it gains score at rate w_j^2 / (2
l2_j) until its room is used up (if l2_j = 0, all at once). These events are sorted by mu, which takes O(d log d).
L-infinity is the same with rate |w_j| / linf_j.
"""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray
from butfor.formulation.margins import falls_alone, tightened, widened
from butfor.model.linear import Linear
from butfor.model.questions import ModelKind, evaluate
from butfor.model.scores import UNIT_DOUBLE, ScoreSet
from butfor.model.single import first_single, last_single, outwards_in_single
from butfor.problem.form import ConstraintKind, CostTerm, Form, ValueKind, listed
from butfor.problem.problem import Problem
from butfor.solvers.combine import over_sets_of_rows, with_highest
from butfor.solvers.linear.farthest import farthest
from butfor.solvers.linear.near import looked_at_closely
from butfor.solvers.outcome import Outcome, answers_of
from butfor.solvers.solver import AbstractSolver, Budget, Support

TIE = 1e-9
"""Where rounding changes the cost by more than this, as a share of it, the estimator is asked about the cheaper point."""


class LinearExact(AbstractSolver):
    """Closed form for one linear inequality over continuous numbers. Guarantee: optimal, for every form it accepts."""

    name = "linear_exact"
    does = "linear models, continuous numbers: L1, L2, L-infinity, L1 + L2 or the number of changes, in O(d log d)"
    block = 2048
    takes_per_row = True

    def accepts(self, form: Form) -> Support:
        if form.model is not ModelKind.LINEAR:
            return Support(False, f"it takes a linear model, and the model is a {form.model}")
        if form.inequalities > 1 or form.curved:
            return Support(False, f"the target needs {form.inequalities} score inequalities at once; it takes one")
        others = form.movable - {ValueKind.CONTINUOUS}
        if others or form.binned:
            return Support(False, f"{listed(others) or 'binned numbers'} may change; it moves only continuous numbers")
        if form.forced:
            return Support(False, "a constraint forces a feature to move; it starts from the factual")
        unknown = form.constraints - {ConstraintKind.MARGIN}
        if unknown:
            return Support(False, f"it takes no constraints of the kinds {listed(unknown)}")
        if not (form.cost <= {CostTerm.L1, CostTerm.L2} or form.cost in ({CostTerm.LINF}, {CostTerm.L0})):
            return Support(False, f"the cost mixes {listed(form.cost)}; it takes L1, L2, L1 + L2, L-infinity or L0")
        if form.cost == {CostTerm.L0} and form.weighted_changes:
            return Support(False, "changes have different prices, which is a knapsack; it only counts changes")
        return Support(True, "one inequality over continuous numbers has a closed form")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return looked_at_closely(problem, _solve(problem), _solve)


def _solve(problem: Problem) -> Outcome:
    """The best answer of each row over all score sets."""
    found = over_sets_of_rows(problem, lambda score_set: _in_one_set(problem, score_set))
    return with_highest(problem, found, farthest)


def _in_one_set(problem: Problem, score_set: ScoreSet) -> Outcome:
    """The best answer of each row in one score set."""
    least, below, lowest = _cheapest(problem, widened(score_set, problem))
    _, cost, moved = _cheapest(problem, tightened(score_set, problem))
    for row in np.flatnonzero(np.isfinite(least) & (cost > least * (1 + TIE))):
        one, part = problem.take(np.array([row])), score_set.take(np.array([row]))
        if below[row] < cost[row] and one.reached(part, lowest[row]):
            cost[row], moved[row] = below[row], lowest[row]
        elif np.isinf(cost[row]) and falls_alone(problem, score_set):
            point = farthest(one, part.A[0])[0]
            if one.reached(part, point):
                cost[row], moved[row] = problem.prices.total(one.factuals, point[None])[0], point
            else:
                least[row] = np.inf
    if problem.domain.single.any():
        moved = rounded_out(problem, moved)
        cost = np.where(np.isinf(cost), np.inf, problem.prices.total(problem.factuals, moved))
    return answers_of(np.arange(len(problem)), moved, cost, least)


def _cheapest(problem: Problem, score_set: ScoreSet) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What each row pays at least in one half-space (infinite: no point is in it), the cost of its cheapest point, and it.

    The bound comes from the multiplier alone. The point is rounded to numbers that floats can write, and may cost more.
    """
    if not len(score_set.A):
        return np.zeros(len(problem)), np.zeros(len(problem)), problem.factuals.copy()
    least, moved, reached = _solve_set(problem, score_set)
    cost = problem.prices.total(problem.factuals, moved)
    if problem.prices.l0.any():
        least = cost
    return np.where(reached, least, np.inf), np.where(reached, cost, np.inf), moved


def _solve_set(problem: Problem, score_set: ScoreSet) -> tuple[FloatArray, FloatArray, np.ndarray]:
    """The cheapest point of each row in one closed half-space, what it costs at least, and which rows have one."""
    from butfor.solvers.linear.kernels import fewest_changes, rise, rise_at_once

    model, domain, prices = problem.model, problem.domain, problem.prices
    assert isinstance(model, Linear)
    wanted = score_set.b[..., 0]
    w = (score_set.A @ model.slope)[0]
    now = np.einsum(
        "is,s->i", evaluate(model, problem.factuals), score_set.A[0]
    )  # a row is rounded as if it were alone
    need = np.maximum(wanted - now, 0.0)
    x = problem.factuals
    with np.errstate(invalid="ignore"):
        room = np.where(w > 0, domain.high - x, x - domain.low)
    open_ = (domain.low <= domain.high) & ~np.isnan(x) & (w != 0)
    cap = np.where(open_, np.abs(w) * np.maximum(np.where(open_, room, 0.0), 0.0), 0.0)
    if prices.l0.any():
        gained, least = fewest_changes(need, cap), np.zeros(len(need))
    else:
        with np.errstate(divide="ignore", invalid="ignore"):
            start = np.where(w == 0, np.inf, np.zeros(len(w)) if prices.has_linf else prices.l1 / np.abs(w))
            rate = np.abs(w) / prices.linf if prices.has_linf else w**2 / (2 * prices.l2)
        rate = np.where(w == 0, 0.0, rate)
        at_once = not start[w != 0].any() and np.isfinite(rate).all()
        gained, level, least = (
            rise_at_once(need, cap, rate) if at_once else rise(need, cap, start, rate, np.argsort(start))
        )
        least = level if prices.has_linf else least
    reached = gained.sum(axis=1) >= need * (1 - 2 * len(w) * UNIT_DOUBLE)
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.where(gained > 0, gained / w, 0.0)
    moved = np.clip(x + step, np.minimum(domain.low, x), np.maximum(domain.high, x))
    full = (gained >= cap) & (cap > 0)
    moved = np.where(full, np.where(w > 0, domain.high, domain.low), np.where(gained > 0, moved, x))
    return least, moved, reached


def rounded_out(problem: Problem, moved: FloatArray) -> FloatArray:
    """Points with real numbers moved to the next float32 in columns of that type.

    They stay within the domain, whose ends need not be such numbers.
    """
    x, domain = problem.factuals, problem.domain
    low, high = np.fmin(first_single(domain.low), x), np.fmax(last_single(domain.high), x)
    out = np.clip(outwards_in_single(moved, x), low, high)
    return np.where(domain.single & domain.reals() & (moved != x), out, moved)
