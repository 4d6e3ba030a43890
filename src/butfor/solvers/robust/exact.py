"""The cheapest row all of whose neighbours in a ball meet the target.

For linear models the thresholds rise by the dual norm, and a level counts as the worst that it may be seen as. One tree keeps
out of leaves. For all others, what fails is learned in a loop (`AbstractCutting`): sums of trees have `TreeReplies` (in round
balls `RoundZones`), networks `NetworkShifts`, oblique trees `ObliqueParts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

import numpy as np
from scipy.linalg import block_diag

from butfor.arrays import FloatArray, IntArray
from butfor.model.linear import Linear
from butfor.model.network import Network, units_of_sums
from butfor.model.oblique import ObliqueTree
from butfor.model.questions import ModelKind
from butfor.model.scores import ScoreSet
from butfor.model.side_by_side import lines_side_by_side
from butfor.model.trees import Trees
from butfor.neighbours.ball import Ball, BallNorm
from butfor.neighbours.slips import Slips
from butfor.neighbours.trees.counterpart import on_grid
from butfor.neighbours.trees.search import Worst
from butfor.neighbours.worst import worst_neighbours
from butfor.problem.form import ConstraintKind, Form
from butfor.problem.oracle import AbstractConfirmation
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer, over_score_sets, row_by_row
from butfor.solvers.outcome import Outcome, Stopped, objects
from butfor.solvers.reduction import AbstractReduction, Handing
from butfor.solvers.robust.cutting import AbstractCutting
from butfor.solvers.robust.network_in_ball import NetworkInBall
from butfor.solvers.robust.network_shifts import NetworkShifts
from butfor.solvers.robust.oblique_parts import ObliqueParts
from butfor.solvers.robust.round.round_zones import RoundZones, honours
from butfor.solvers.robust.tree_replies import TreeReplies
from butfor.solvers.robust.trees_in_ball import TreesInBall
from butfor.solvers.solver import AbstractSolver, Budget, Rest, Support

ROBUST_KINDS = {
    ModelKind.LINEAR: ModelKind.LINEAR, ModelKind.TREE: ModelKind.ENSEMBLE, ModelKind.ENSEMBLE: ModelKind.ENSEMBLE,
    ModelKind.NETWORK: ModelKind.NETWORK, ModelKind.OBLIQUE: ModelKind.LINEAR,
}  # fmt: skip
"""The kinds of models that it takes, and what they become: copies side by side, or the decisions of an oblique tree."""


class RobustExact(AbstractReduction):
    """Robust counterparts and cutting sets. Guarantee: optimal (to 1e-6), or a proven bound when the time ends."""

    name = "robust_exact"
    row_by_row = True
    takes_per_row = True
    does = "answers that stay valid in a whole ball: linear models, trees, oblique trees, sums of trees, networks"
    left = "the problem without the ball"

    def __init__(self, inner: tuple[AbstractSolver, ...]) -> None:
        self.inner = inner
        """The solvers of the problems without a ball that are solved on the way."""

    def takes(self, form: Form) -> Support:
        if ConstraintKind.ROBUST not in form.constraints:
            return Support(False, "it is only for answers that must stay valid in a ball (bf.robust)")
        if form.model not in ROBUST_KINDS:
            return Support(
                False, f"it takes linear models, trees, sums of trees and networks, and the model is a {form.model}"
            )
        if form.curved or ConstraintKind.MARGIN in form.constraints:
            return Support(False, "a curved target or a margin has no robust counterpart here")
        if form.slips and form.model is ModelKind.OBLIQUE:
            return Support(False, "levels may not slip around an oblique tree")
        if form.round_ball and ROBUST_KINDS[form.model] is ModelKind.ENSEMBLE and not (known := honours(form)):
            return known
        return Support(True, "the robust counterpart gives answers, and a cutting set proves them")

    def parts(self, form: Form) -> tuple[Form, ...]:
        plain = replace(form, constraints=form.constraints - {ConstraintKind.ROBUST}, round_ball=False, slips=False)
        return tuple(replace(plain, model=kind) for kind in {form.model, ROBUST_KINDS[form.model]})

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return row_by_row(problem, budget, lambda one: _RowInBall(self, one, Handing(self.inner)).go_on(budget))

    def solve_set(self, row: _RowInBall, score_set: ScoreSet, upper: float, budget: Budget) -> SetAnswer:
        """The cheapest row whose ball lies in one score set, if one costs less than `upper`."""
        problem, handing, model = row.problem, row.handing, row.problem.model
        if isinstance(model, Linear):
            return over_cases(_by_missing(problem), upper, budget, partial(self._linear, handing, score_set))
        if isinstance(model, ObliqueTree):
            return over_cases(_by_missing(problem), upper, budget, partial(self._oblique, handing, score_set))
        cases = _by_grid(problem) if isinstance(model, Trees) else [problem]
        return over_cases(cases, upper, budget, partial(self._searched, row, score_set))

    def _searched(
        self, row: _RowInBall, score_set: ScoreSet, problem: Problem, upper: float, budget: Budget
    ) -> SetAnswer:
        """The same by a search, which goes on where it was cut short, or for one tree at once."""
        ball, model = problem.demands.ball, problem.model
        assert ball is not None
        case = score_set, ball.anchor.tobytes()
        if isinstance(model, Trees) and len(model.roots) == 1 and ball.norm is BallNorm.LINF:
            return _trees(row.handing, problem, score_set, ball, model).clear_of_leaves(upper, budget)
        search = row.cut_short.pop(case, None) or _search(row.handing, problem, score_set, ball)
        try:
            found = search.solve(upper, budget)
        except KeyboardInterrupt:  # what is known by then is kept
            budget.interrupt()
            best = search.best
            found = replace(best, bound=min(search.bound, best.cost), stopped=Stopped.INTERRUPTED)
        if found.stopped is Stopped.TIME:
            row.cut_short[case] = search
        return found

    def _linear(self, handing: Handing, score_set: ScoreSet, case: Problem, upper: float, budget: Budget) -> SetAnswer:
        """Raise the thresholds by what the scores may fall, and let each level count as the worst that it may be seen as."""
        problem, ball = _without_ball(case)
        assert isinstance(problem.model, Linear)
        risen = replace(score_set, b=score_set.b + ball.loss(score_set.A @ problem.model.slope))
        one, raised = seen_at_worst(asked_at_worst(problem, score_set, ball), risen, ball.slips)
        found = handing.cheapest(one, raised, upper, budget)
        if found.point is not None and not one.reached(raised, found.point):  # rounding decides against a neighbour
            return SetAnswer(None, np.inf, found.bound, Stopped.EFFORT)
        return found

    def _oblique(self, handing: Handing, score_set: ScoreSet, case: Problem, upper: float, budget: Budget) -> SetAnswer:
        """Keep out of the leaves that miss the target."""
        problem, ball = _without_ball(case)
        assert isinstance(problem.model, ObliqueTree)
        return ObliqueParts(problem, score_set, ball, problem.model, handing.cheapest).solve(upper, budget)


@dataclass(eq=False)
class _RowInBall(Rest):
    """The searches for one row, in one set of scores after the other. Those that were cut short can go on."""

    solver: RobustExact
    problem: Problem
    handing: Handing
    cut_short: dict[tuple[ScoreSet, bytes], AbstractCutting] = field(default_factory=dict)

    def go_on(self, budget: Budget) -> Outcome:
        found = over_score_sets(
            self.problem, lambda score_set, upper: self.solver.solve_set(self, score_set, upper, budget)
        ).handed_to(self.handing.ran)
        return replace(found, rest=objects([self])) if self.cut_short else found


def over_cases(
    cases: Iterable[Problem], upper: float, budget: Budget, solve: Callable[[Problem, float, Budget], SetAnswer]
) -> SetAnswer:
    """The cheapest answer over some cases of a problem."""
    best = SetAnswer(None, np.inf, np.inf)
    for number, case in enumerate(cases):
        if number and budget.spent():  # a search that has begun can go on, so the first one always begins
            return replace(best, bound=0.0, stopped=budget.stopped)
        found = solve(case, min(upper, best.cost), budget)
        bound, stopped = min(best.bound, found.bound), best.stopped or found.stopped
        best = replace(found if found.cost < best.cost else best, bound=bound, stopped=stopped)
    return best


def _by_missing(problem: Problem) -> Iterator[Problem]:
    """The problem by which numbers are missing in the answer. Those are not shifted."""
    domain, ball = problem.domain, problem.demands.ball
    assert ball is not None
    lacking = np.flatnonzero((ball.radius > 0) & (np.isnan(problem.factuals[0]) | domain.missing[0])).tolist()
    for ways in product([False, True], repeat=len(lacking)):
        gone = [j for j, lost in zip(lacking, ways, strict=True) if lost]
        narrower = domain.all_missing(gone).without_missing([j for j in lacking if j not in gone])
        moved = np.where(np.isin(np.arange(len(ball.radius)), gone), 0.0, ball.radius)
        yield replace(problem, domain=narrower).with_demands(ball=replace(ball, radius=moved))


def _by_grid(problem: Problem) -> Iterator[Problem]:
    """The problem by which numbers beside their grid the answer keeps. Their neighbours are whole steps from them."""
    own, domain, ball = problem.factuals[0], problem.domain, problem.demands.ball
    assert ball is not None
    beside = np.flatnonzero(ball.grids.missed_by(own) & domain.stay[0])
    for ways in product([True, False], repeat=len(beside)):
        kept, left = beside[np.array(ways, dtype=np.bool_)], beside[~np.array(ways, dtype=np.bool_)]
        case = domain.narrowed(kept, own[kept], own[kept]).without_missing(kept).leaving(left)
        around = replace(ball, anchor=np.where(np.isin(np.arange(len(own)), kept), own, ball.anchor))
        yield replace(problem, domain=case).with_demands(ball=around) if len(beside) else problem


def _without_ball(problem: Problem) -> tuple[Problem, Ball]:
    ball = problem.demands.ball
    assert ball is not None
    return problem.with_demands(ball=None), ball


def _search(handing: Handing, problem: Problem, score_set: ScoreSet, ball: Ball) -> AbstractCutting:
    model = problem.model
    if isinstance(model, Network):
        inside = score_set.in_units(units_of_sums(model, score_set.A))
        return NetworkShifts(NetworkInBall(handing, problem, inside, ball, model))
    assert isinstance(model, Trees)
    kind = TreeReplies if ball.norm is BallNorm.LINF else RoundZones
    return kind(_trees(handing, problem, score_set, ball, model))


def _trees(handing: Handing, problem: Problem, score_set: ScoreSet, ball: Ball, model: Trees) -> TreesInBall:
    return TreesInBall(handing.cheapest, problem, score_set, ball, on_grid(model, ball))


def asked_at_worst(problem: Problem, score_set: ScoreSet, ball: Ball) -> Problem:
    """The problem in which, where rounding decides, the worst neighbours of a row are asked about, too."""
    asks = problem.witnesses.confirmation
    neighbours = partial(worst_neighbours, problem.model, score_set.A, ball=ball)
    return problem if asks is None else problem.with_witnesses(confirmation=AtWorst(asks, neighbours))


def seen_at_worst(problem: Problem, score_set: ScoreSet, slips: Slips) -> tuple[Problem, ScoreSet]:
    """The problem of a linear model in which each level counts as the worst that it may be seen as.

    What is worst depends on the inequality, so each has its own copy of the model.
    """
    model, A = problem.model, score_set.A
    assert isinstance(model, Linear)
    if not slips or not len(A):
        return problem, score_set
    copies = []
    for row in A:
        steps = list(model.steps)
        for j in slips.seen:
            steps[j] = steps[j][:, slips.least(j, row @ steps[j])]
        copies.append(replace(model, steps=tuple(steps)))
    return replace(problem, model=lines_side_by_side(copies)), replace(score_set, A=block_diag(*A))


@dataclass(frozen=True, eq=False)
class AtWorst(AbstractConfirmation):
    """Asks about a row and its worst neighbours, where rounding decides. The rest of the ball is for the verdict."""

    asks: AbstractConfirmation
    neighbours: Callable[[FloatArray], list[Worst]]

    def confirms(self, point: FloatArray, most: float) -> bool:
        target = self.asks.of_target()
        worst = (found.point for found in self.neighbours(point))
        return all(target.confirms(one, most) for one in (point, *worst))

    def take(self, rows: IntArray | slice) -> AtWorst:
        return replace(self, asks=self.asks.take(rows))
