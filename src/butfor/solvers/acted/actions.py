"""The cheapest actions where values of other columns follow from them.

It is settled which events happen. In each case, the model is read as one of actions, and what is left goes to the first solver
that takes it. The cheapest answer of all cases is the answer, and the lowest of their bounds bounds it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.model.following import NotComposedError
from butfor.problem.form import ConstraintKind, Form
from butfor.problem.problem import Problem
from butfor.solvers.combine import row_by_row
from butfor.solvers.outcome import Outcome, Stopped, nothing_found
from butfor.solvers.reduction import AbstractReduction, Handing, first
from butfor.solvers.solver import AbstractSolver, Budget, Support


class ActedColumns(AbstractReduction):
    """Every case as a problem of its own. Guarantee: that of the solvers that take the cases."""

    name = "acted_columns"
    does = "consequences: it is settled which events happen, and each case is solved with the model of one's actions"
    row_by_row = True
    takes_per_row = True
    left = "a case of what follows"

    def __init__(self, inner: tuple[AbstractSolver, ...]) -> None:
        self.inner = inner

    def takes(self, form: Form) -> Support:
        if not form.acted:
            return Support(False, "it is only for consequences (bf.follows)")
        if ConstraintKind.APART in form.constraints:
            return Support(
                False, "answers at a distance from earlier ones are parted before it is settled what follows"
            )
        if form.uncased:
            return Support(False, form.uncased)
        return Support(True, "what follows is worked out inside of the model, and what is left is solved exactly")

    def parts(self, form: Form) -> tuple[Form, ...]:
        return form.cases

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return row_by_row(problem, budget, lambda one: self._solve_row(one, budget))

    def _solve_row(self, problem: Problem, budget: Budget) -> Outcome:
        """The cheapest answer of all cases. A case that no solver takes leaves the bound at 0."""
        handing, best, bound, stopped = Handing(self.inner), nothing_found(problem, np.inf), np.inf, Stopped.DONE
        try:
            cases = list(problem.cases)
        except NotComposedError:
            return nothing_found(problem)
        for case in cases:
            if first(self.inner, case.form()) is None or (budget.spent() and best.found()[0]):
                bound, stopped = 0.0, max(stopped, budget.stopped)
                continue
            found = handing.solve(case, budget, float(best.cost[0]))
            bound, stopped = min(bound, float(found.bound[0])), max(stopped, Stopped(int(found.stopped[0])))
            if found.cost[0] < best.cost[0]:
                best = found
        return replace(
            best,
            bound=np.array([min(bound, float(best.cost[0]))]),
            stopped=np.array([stopped], dtype=np.intp),
            notes={},
        ).handed_to(handing.ran)
