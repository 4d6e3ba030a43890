"""A quadratic form over a box and a few half-spaces:

    minimise  d'Qd   over   down <= d <= up,   A d >= b

by Mehrotra's predictor-corrector method (SIAM J. Optimization 2, 1992). Every step factors 2Q + (a diagonal), which has
the same band as Q. The half-spaces enter through a Schur complement, as large as their number. Any multipliers
`lam >= 0` and any `d0` prove something, because the box is bounded:

    d'Qd    >=  lam'b - d0'Q d0 + sum_j min(r_j down_j, r_j up_j)   for all these d, where r = 2 Q d0 - A'lam
    lam'b   >   sum_j max((A'lam)_j down_j, (A'lam)_j up_j)         only if there is no such d
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve_banded, cholesky_banded
from scipy.sparse import csr_array

from butfor.arrays import FloatArray
from butfor.formulation.margins import tightened, widened
from butfor.model.linear import Linear
from butfor.model.questions import ModelKind, evaluate
from butfor.model.scores import ScoreSet
from butfor.problem.form import ConstraintKind, CostTerm, Form, ValueKind, listed
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer, over_score_sets, row_by_row
from butfor.solvers.linear.exact import rounded_out
from butfor.solvers.linear.near import looked_at_closely
from butfor.solvers.milp.milp import Milp
from butfor.solvers.outcome import Outcome
from butfor.solvers.reduction import AbstractReduction, Handing
from butfor.solvers.solver import Budget, Support

SETTLED_GAP = 1e-8
"""How close cost and bound must be at the end, relative to the cost."""

ROW_SPARE = 1e-8
"""By how much a half-space (of unit norm) is met more than needed, so that rounding does not decide."""

STILL = 1e-7
"""A column that moves by less than this share of its range is left where it is."""

TINY = 1e-15
"""The least distance to an end of the box, whatever rounding does."""

HUGE = 1e100
"""The steps are given up if a multiplier exceeds this."""

INTERIOR_STEPS = 100
"""The largest number of interior-point steps."""


class InteriorPoint(AbstractReduction):
    """Quadratic costs over real numbers. Guarantee: optimal (to 1e-6), with a bound proven by its own multipliers."""

    name = "interior_point"
    does = "linear models, continuous numbers, a quadratic form as cost (pixels, correlated measurements)"

    inner = (Milp(),)
    left = "score sets on which the steps do not settle"

    def takes(self, form: Form) -> Support:
        if form.model is not ModelKind.LINEAR:
            return Support(False, f"it takes a linear model, and the model is a {form.model}")
        if CostTerm.QUADRATIC not in form.cost or form.cost - {CostTerm.QUADRATIC, CostTerm.L2}:
            return Support(False, "it takes a quadratic form, with or without L2, as cost")
        if form.forced:
            return Support(False, "a constraint forces a feature to move; it starts from the factual")
        others = form.movable - {ValueKind.CONTINUOUS}
        if others or form.binned or form.curved:
            return Support(False, "it only moves continuous numbers under linear inequalities")
        unknown = form.constraints - {ConstraintKind.MARGIN}
        if unknown:
            return Support(False, f"it takes no constraints of the kinds {listed(unknown)}")
        return Support(True, "a convex quadratic program with few half-spaces")

    def parts(self, form: Form) -> tuple[Form, ...]:
        return (form,)

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        def solve(rows: Problem) -> Outcome:
            return row_by_row(rows, budget, lambda one: _solve_row(one, Handing(self.inner), budget))

        return looked_at_closely(problem, solve(problem), solve)


def _solve_row(problem: Problem, handing: Handing, budget: Budget) -> Outcome:
    """Solve the only row. A program takes over for a score set on which the steps do not settle."""

    def solve_set(score_set: ScoreSet, _: float) -> SetAnswer:
        point, bound = _solve_set(problem, score_set)
        if point is None and bound < np.inf:
            return handing.cheapest(problem, score_set, np.inf, budget)
        cost = np.inf if point is None else float(problem.prices.total(problem.factuals, point[None])[0])
        return SetAnswer(point, cost, bound)

    return over_score_sets(problem, solve_set).handed_to(handing.ran)


def _solve_set(problem: Problem, score_set: ScoreSet) -> tuple[FloatArray | None, float]:
    """The point and the bound of one score set.

    An infinite bound proves that no point reaches the set. No point with a finite bound means that the steps did not
    settle. The bound is that of the widened set. If the estimator takes no point of its edge, one of the tightened set is tried.
    """
    points, bound = _cheapest(problem, widened(score_set, problem))
    for surely in (False, True):
        if surely and bound < np.inf:
            points, _ = _cheapest(problem, tightened(score_set, problem))
        for point in points:
            if problem.reached(score_set, point):
                return point, bound
    return None, bound


def _cheapest(problem: Problem, score_set: ScoreSet) -> tuple[list[FloatArray], float]:
    """The cheapest point of a set for the only row, and a bound on what all of its points cost (infinite: it has none).

    The point comes twice: at first without its smallest moves. There is none if the steps did not settle.
    """
    model, domain, prices = problem.model, problem.domain, problem.prices
    assert isinstance(model, Linear)
    assert prices.Q is not None
    x, low, high = problem.factuals[0], domain.low[0], domain.high[0]
    slope, need = score_set.A @ model.slope, score_set.b - score_set.A @ evaluate(model, problem.factuals)[0]
    if (need <= 0).all():
        return [x], 0.0
    columns = np.flatnonzero((low < high) & (slope.any(axis=0) | prices.Q.any(axis=0)))
    unit = np.array([problem.space.features[j].range for j in columns])
    A = slope[:, columns] * unit
    length = np.linalg.norm(A, axis=1)
    if (need[length == 0] > 0).any():
        return [], np.inf
    used = length > 0
    d, bound = minimise(
        (prices.Q + np.diag(prices.l2))[np.ix_(columns, columns)] * np.outer(unit, unit),
        (low - x)[columns] / unit,
        (high - x)[columns] / unit,
        A[used] / length[used, None],
        need[used] / length[used],
    )
    if d is None:
        return [], bound
    points = []
    for still in (STILL, 0.0):
        point = x.copy()
        moved = np.abs(d) > still
        point[columns[moved]] = np.clip(x[columns] + d * unit, low[columns], high[columns])[moved]
        points.append(rounded_out(problem, point[None])[0])
    return points, bound


def minimise(
    Q: FloatArray, down: FloatArray, up: FloatArray, A: FloatArray, b: FloatArray
) -> tuple[FloatArray | None, float]:
    """Minimise d'Qd over `down <= d <= up`, `A d >= b` (rows of unit norm). Returns point and bound.

    No point with an infinite bound means that there is no such d. No point with a finite bound means that the steps did
    not settle.
    """
    known: tuple[FloatArray | None, float] = None, 0.0
    steps = _steps(Q, down, up, A, b)
    with suppress(np.linalg.LinAlgError):  # rounding may make a system singular, on some processors only
        while then := next(steps, None):
            known = then
    return known


def _steps(
    Q: FloatArray, down: FloatArray, up: FloatArray, A: FloatArray, b: FloatArray
) -> Iterator[tuple[FloatArray | None, float]]:
    """What is known before each step: a bound, and at the end the point."""
    sparse, band = csr_array(Q), _band(Q)
    d, lam, w = (down + up) / 2, np.ones(len(b)), np.ones(len(b))
    w = np.maximum(A @ d - b, 0.1)
    low, high = np.ones(len(d)), np.ones(len(d))
    double, ridge = 2 * band, 1e-12 * band[0].max()  # without it, rounding may push a singular Q below zero
    cheap = 1e-4 * band[0].mean()  # the cost of moving a column by a hundredth: gaps are compared with at least this
    best = 0.0
    for _ in range(INTERIOR_STEPS):
        under, over, missed = np.maximum(d - down, TINY), np.maximum(up - d, TINY), b + ROW_SPARE - A @ d
        pull, push = np.asarray(2 * (sparse @ d)), A.T @ lam
        curved, rest = d @ pull / 2, pull - push
        best = max(best, lam @ b - curved + np.minimum(rest * down, rest * up).sum())
        if (
            missed.max() <= ROW_SPARE / 2
            and curved - best <= SETTLED_GAP * max(curved, cheap) + 2 * ROW_SPARE * lam.sum()
        ):
            yield d, best
            return
        if lam @ b - np.maximum(push * down, push * up).sum() > 1e-9 * lam.sum():
            yield None, np.inf
            return
        yield None, best
        if not max(low.max(), high.max(), lam.max()) < HUGE:
            return
        double[0] = 2 * band[0] + low / under + high / over + ridge
        factor = (cholesky_banded(double, lower=True, check_finite=False), True)
        solved = cho_solve_banded(factor, A.T, check_finite=False)
        step = _Step(factor, solved, A, low - high - rest, missed + w, under, over, w, low, high, lam)
        gap = (under @ low + over @ high + w @ lam) / (2 * len(d) + len(b))
        ahead = step.to(-under * low, -over * high, -w * lam)
        longest = (
            _longest((under, over, w), (ahead.d, -ahead.d, ahead.w)),
            _longest((low, high, lam), (ahead.low, ahead.high, ahead.lam)),
        )
        then = (under + longest[0] * ahead.d) @ (low + longest[1] * ahead.low)
        then += (over - longest[0] * ahead.d) @ (high + longest[1] * ahead.high)
        then += (w + longest[0] * ahead.w) @ (lam + longest[1] * ahead.lam)
        goal = gap * (then / (2 * len(d) + len(b)) / gap) ** 3
        move = step.to(
            goal - under * low - ahead.d * ahead.low, goal - over * high + ahead.d * ahead.high,
            goal - w * lam - ahead.w * ahead.lam,
        )  # fmt: skip
        primal = min(1.0, 0.995 * _longest((under, over, w), (move.d, -move.d, move.w)))
        dual = min(1.0, 0.995 * _longest((low, high, lam), (move.low, move.high, move.lam)))
        d, w = d + primal * move.d, w + primal * move.w
        lam, low, high = lam + dual * move.lam, low + dual * move.low, high + dual * move.high


@dataclass(frozen=True, eq=False)
class _Move:
    """A direction in all variables."""

    d: FloatArray
    w: FloatArray
    lam: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class _Step:
    """The linear system of one step, factored."""

    factor: tuple[FloatArray, bool]
    solved: FloatArray
    A: FloatArray
    right: FloatArray
    missed: FloatArray
    under: FloatArray
    over: FloatArray
    w: FloatArray
    low: FloatArray
    high: FloatArray
    lam: FloatArray

    def to(self, to_low: FloatArray, to_high: FloatArray, to_w: FloatArray) -> _Move:
        """The direction that changes the products of slacks and multipliers by these amounts."""
        alone = cho_solve_banded(
            self.factor, self.right + to_low / self.under - to_high / self.over, check_finite=False
        )
        schur = self.A @ self.solved + np.diag(self.w / self.lam)
        lam = np.asarray(np.linalg.solve(schur, self.missed + to_w / self.lam - self.A @ alone), dtype=np.float64)
        d = alone + self.solved @ lam
        return _Move(
            d,
            (to_w - self.w * lam) / self.lam,
            lam,
            (to_low - self.low * d) / self.under,
            (to_high + self.high * d) / self.over,
        )


def _band(Q: FloatArray) -> FloatArray:
    """The lower band of a symmetric matrix, one diagonal per row."""
    i, j = np.nonzero(Q)
    width = int(np.abs(i - j).max(initial=0))
    return np.array([np.append(np.diagonal(Q, -k), np.zeros(k)) for k in range(width + 1)])


def _longest(places: tuple[FloatArray, ...], moves: tuple[FloatArray, ...]) -> float:
    """The longest step, at most 1, for which all places stay positive."""
    return 1.0 / max(1.0, *(float(np.max(-move / place)) for place, move in zip(places, moves, strict=True)))
