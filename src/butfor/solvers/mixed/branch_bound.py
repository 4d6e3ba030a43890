"""The cheapest row over a sum of trees and a linear model."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from butfor.model.questions import ModelKind
from butfor.model.scores import ScoreSet
from butfor.problem.form import ConstraintKind, CostTerm, Form, listed
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer, over_score_sets, row_by_row
from butfor.solvers.ensemble.limits import COUNTED, RELATIONS
from butfor.solvers.in_turns import in_turns
from butfor.solvers.linear.knapsack import LinearKnapsack
from butfor.solvers.milp.milp import Milp
from butfor.solvers.mixed.relaxed import relax
from butfor.solvers.mixed.search import MixedSearch
from butfor.solvers.outcome import Outcome
from butfor.solvers.reduction import AbstractReduction, Handing
from butfor.solvers.solver import Budget, Support


class MixedBranchBound(AbstractReduction):
    """Branch and bound over boxes of cells. Guarantee: optimal (to 1e-6), or a proven bound when the time ends.

    Bounds by messages close the gap quickly, or hardly at all: of few trees over many numbers. There a program of the whole
    model is small. So both take turns.
    """

    name = "mixed_branch_bound"
    does = "sums of trees and a linear model (votes and means of both): bounds by messages and rates, box by box"
    row_by_row = True
    inner = (LinearKnapsack(), Milp())
    left = "the linear model inside cells"

    def takes(self, form: Form) -> Support:
        if form.model is not ModelKind.MIXED:
            return Support(False, f"it takes a sum of trees and a linear model, and the model is a {form.model}")
        if form.cost & {CostTerm.LINF, CostTerm.QUADRATIC, CostTerm.TRADEOFF, CostTerm.CALLABLE}:
            return Support(False, "the cost must be a sum over features, of known functions")
        coupled = form.constraints - COUNTED - RELATIONS
        if coupled:
            return Support(False, f"the constraints ({listed(coupled)}) couple the values of features")
        if form.curved:
            return Support(False, "the target is curved")
        return Support(True, "every tree takes one leaf, and every number of the linear model counts as it is")

    def parts(self, form: Form) -> tuple[Form, ...]:
        return (replace(form, model=ModelKind.LINEAR, constraints=form.constraints - {ConstraintKind.IMPLIES}),)

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return row_by_row(problem, budget, lambda one: _solve_row(one, Handing(self.inner), budget))


def _solve_row(problem: Problem, handing: Handing, budget: Budget) -> Outcome:
    row, is_written = relax(problem), bool(Milp().accepts(problem.form()))

    def solved(score_set: ScoreSet, upper: float) -> SetAnswer:
        accepts = partial(problem.reached, score_set)
        boxes = MixedSearch(problem, row, score_set, accepts, handing)

        def program(upper: float, turn: Budget) -> SetAnswer:
            return handing.cheapest(problem, score_set, upper, turn, Milp())

        return in_turns([boxes.below, program] if is_written else [boxes.below], upper, budget)

    return over_score_sets(problem, solved).handed_to(handing.ran)
