"""The cheapest rows of a linear model all of whose neighbours in a ball meet the target: its robust counterpart.

A linear score falls within the ball by the dual norm of its slopes, whatever the row. So the thresholds rise by that, each level
counts as the worst that it may be seen as, and all rows are solved at once (Ben-Tal, El Ghaoui and Nemirovski, Robust
Optimization, 2009, chapter 1).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.formulation.margins import tightened
from butfor.model.linear import Linear
from butfor.model.questions import ModelKind, evaluate
from butfor.model.scores import ScoreSet
from butfor.neighbours.ball import Ball
from butfor.problem.form import ConstraintKind, Form, ValueKind
from butfor.problem.problem import Problem
from butfor.solvers.combine import over_sets_of_rows
from butfor.solvers.outcome import Outcome, Stopped
from butfor.solvers.reduction import AbstractReduction, Handing
from butfor.solvers.robust.exact import asked_at_worst, seen_at_worst
from butfor.solvers.solver import AbstractSolver, Budget, Support


class RobustLinear(AbstractReduction):
    """Raised thresholds. Guarantee: that of the solver that it hands them to, which is optimal."""

    name = "robust_linear"
    does = "answers of linear models that stay valid in a whole ball: many rows at once"
    block = 2048
    takes_per_row = True
    left = "the problem without the ball"

    def __init__(self, inner: tuple[AbstractSolver, ...]) -> None:
        self.inner = inner
        """The solvers of the problems without a ball."""

    def takes(self, form: Form) -> Support:
        if ConstraintKind.ROBUST not in form.constraints:
            return Support(False, "it is only for answers that must stay valid in a ball (bf.robust)")
        if form.model is not ModelKind.LINEAR:
            return Support(False, f"it takes a linear model, and the model is a {form.model}")
        if ValueKind.MISSING in form.movable:
            return Support(False, "numbers may be missing, and are not perturbed then")
        if ConstraintKind.MARGIN in form.constraints:
            return Support(False, "a margin has no robust counterpart here")
        return Support(True, "the thresholds rise by the dual norm of the slopes")

    def parts(self, form: Form) -> tuple[Form, ...]:
        return (replace(form, constraints=form.constraints - {ConstraintKind.ROBUST}, slips=False),)

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return over_sets_of_rows(problem, lambda score_set: self._in_one_set(problem, score_set, budget))

    def _in_one_set(self, problem: Problem, score_set: ScoreSet, budget: Budget) -> Outcome:
        """The cheapest rows whose balls lie in one of the sets."""
        ball, model = problem.demands.ball, problem.model
        assert ball is not None
        assert isinstance(model, Linear)
        risen = replace(_raised(score_set, model.slope, ball, problem.factuals), offset=0.0)
        one, raised = seen_at_worst(asked_at_worst(problem, score_set, ball), risen, ball.slips)
        one = replace(one, score_sets=(raised,)).with_demands(ball=None)
        found = Handing(self.inner).solve(one, budget)
        unsure = found.found() & ~tightened(raised, one).holds(evaluate(one.model, found.points))
        for row in np.flatnonzero(unsure).tolist():
            alone = np.array([row])
            if not one.take(alone).reached(raised.take(alone), found.points[row]):
                # rounding decides against a neighbour
                found.cost[row], found.points[row], found.stopped[row] = np.inf, np.nan, Stopped.EFFORT
        return found


def _raised(score_set: ScoreSet, slope: FloatArray, ball: Ball, rows: FloatArray) -> ScoreSet:
    """The set with thresholds that rise by what the scores may fall. What is missing in a row is not perturbed."""
    slopes, missing = score_set.A @ slope, np.isnan(rows) & (ball.radius > 0)
    if not missing.any():
        return replace(score_set, b=score_set.b + ball.loss(slopes))
    fall = [replace(ball, radius=np.where(lost, 0.0, ball.radius)).loss(slopes) for lost in missing]
    return replace(score_set, b=score_set.b + np.array(fall))
