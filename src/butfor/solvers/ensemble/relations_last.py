"""Sums of trees under linear relations and implications: first without them, which is often enough.

The cheapest row without them may keep them anyway, or there is no row at all. Otherwise a program has the last word, and
the bound from before holds for it, too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.problem.constraints.relations import Implication, LinearRelation
from butfor.problem.form import ConstraintKind, Form
from butfor.problem.problem import Problem
from butfor.solvers.combine import row_by_row
from butfor.solvers.ensemble.branch_bound import EnsembleBranchBound
from butfor.solvers.milp.milp import Milp
from butfor.solvers.outcome import Outcome, Status
from butfor.solvers.reduction import AbstractReduction, Handing
from butfor.solvers.solver import Budget, Support

BETWEEN_COLUMNS = frozenset({ConstraintKind.LINEAR, ConstraintKind.IMPLIES})
"""The relations that are left out at first."""


class RelationsLast(AbstractReduction):
    """The search for sums of trees, and a program where its answer breaks a relation. Guarantee: that of both."""

    name = "relations_last"
    does = (
        "sums of trees under relations between columns: first without these, then a program where the answer breaks one"
    )
    row_by_row = True
    by_programs = True
    inner = (EnsembleBranchBound(), Milp())
    left = "the problem with the relations, or without"

    def takes(self, form: Form) -> Support:
        if not form.constraints & BETWEEN_COLUMNS:
            return Support(False, "it is only for linear relations and implications")
        without = EnsembleBranchBound().accepts(_without(form))
        return Support(True, "the relations are first left out") if without else without

    def parts(self, form: Form) -> tuple[Form, ...]:
        return (_without(form), form)

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return row_by_row(problem, budget, lambda one: _solve_row(one, Handing(self.inner), budget))


def _without(form: Form) -> Form:
    return replace(form, constraints=form.constraints - BETWEEN_COLUMNS)


def _solve_row(problem: Problem, handing: Handing, budget: Budget) -> Outcome:
    found = handing.solve(problem.without_relations_of(LinearRelation, Implication), budget)
    if found.status()[0] is Status.PROVEN_INFEASIBLE or (found.found()[0] and problem.admits(found.points)[0]):
        return found
    strict = handing.solve(problem, budget)
    return replace(strict, bound=np.maximum(strict.bound, found.bound)).handed_to(handing.ran)
