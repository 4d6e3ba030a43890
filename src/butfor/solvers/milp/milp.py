"""Everything linear together, through HiGHS: whole numbers, categories, counted changes, relations, inequalities.

Linear models enter as they are, trees by the tight order formulation (see docs/decisions), networks by big-M. Convex terms (L2, a
quadratic form, a softmax probability) are handled by outer approximation: tangents are added until bound and answer
meet (Duran and Grossmann, Mathematical Programming 36, 1986).
"""

from __future__ import annotations

from butfor.model.questions import NO_DISTANCE, SLOPED, ModelKind
from butfor.model.scores import ScoreSet
from butfor.problem.form import BLENDED, ConstraintKind, CostTerm, Form, listed
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer, over_score_sets, row_by_row
from butfor.solvers.milp.place_search import solve_written
from butfor.solvers.milp.relations import kinds_with_rows
from butfor.solvers.milp.windows import nearest_first
from butfor.solvers.milp.written import write
from butfor.solvers.outcome import Outcome
from butfor.solvers.solver import AbstractSolver, Budget, Support

UNWRITTEN = (ModelKind.BLACK_BOX, ModelKind.ADDITIVE, ModelKind.BENT_TREE, ModelKind.COMPUTED)
"""The kinds of models for which no program is written."""


class Milp(AbstractSolver):
    """Mixed-integer programming. Guarantee: optimal (to 1e-6), or a proven bound when the time ends."""

    name = "milp"
    row_by_row = True
    by_programs = True
    does = "linear models and trees with whole numbers, categories, counted changes, relations: through HiGHS"

    def accepts(self, form: Form) -> Support:
        if form.model in UNWRITTEN:
            return Support(False, f"it takes linear models, trees and networks, and the model is a {form.model}")
        if form.blended:
            return Support(False, BLENDED)
        if form.model in NO_DISTANCE and ConstraintKind.MARGIN in form.constraints:
            return Support(False, f"the distance to the boundaries of a {form.model} is not known")
        if ConstraintKind.CANDIDATES in form.constraints:
            return Support(False, "a list of candidate rows is searched, not optimised over")
        if ConstraintKind.ROBUST in form.constraints:
            return Support(False, "a ball around the answer is for the solver robust_exact")
        if ConstraintKind.APART in form.constraints:
            return Support(False, "a distance to earlier answers is for the solver far_apart")
        if ConstraintKind.JUDGED in form.constraints:
            return Support(False, "a constraint is left that only a model can judge")
        unknown = form.constraints - kinds_with_rows() - {ConstraintKind.MARGIN}
        if unknown:
            return Support(False, f"it knows no rows for constraints of the kinds {listed(unknown)}")
        if CostTerm.CALLABLE in form.cost and (
            form.model in SLOPED
            or form.constraints & {ConstraintKind.LINEAR, ConstraintKind.IMPLIES}
            or CostTerm.QUADRATIC in form.cost
        ):
            return Support(False, "a callable price of a number has no linear form unless the number is cut into cells")
        return Support(True, "everything in it is linear or convex")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return row_by_row(problem, budget, lambda one: _solve_row(one, budget))


def _solve_row(problem: Problem, budget: Budget) -> Outcome:
    def solve(one: Problem) -> Outcome:
        def cheapest(score_set: ScoreSet, _: float) -> SetAnswer:
            return solve_written(one, score_set, write(one, score_set), budget).proven(budget)

        return over_score_sets(one, cheapest)

    return nearest_first(problem, solve, budget)
