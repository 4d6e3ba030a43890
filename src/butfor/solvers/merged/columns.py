"""Columns that belong together become one column, and any exact solver takes what is left: merge, solve, split."""

from __future__ import annotations

from dataclasses import dataclass, replace

from butfor.model.merging import Layout
from butfor.problem.form import ConstraintKind, Form
from butfor.problem.problem import Problem
from butfor.solvers.outcome import Outcome, objects
from butfor.solvers.reduction import AbstractReduction, Handing
from butfor.solvers.solver import AbstractSolver, Budget, Rest, Support


class MergedColumns(AbstractReduction):
    """Each group of linked columns as one column. Guarantee: that of the solver that takes the merged problem."""

    name = "merged_columns"
    does = "columns that belong together: they become one column, and the problem that is left is solved exactly"
    row_by_row = True
    block = 16
    left = "the problem with merged columns"

    def __init__(self, inner: tuple[AbstractSolver, ...]) -> None:
        self.inner = inner

    def takes(self, form: Form) -> Support:
        if ConstraintKind.LINKED not in form.constraints:
            return Support(False, "it is only for columns that belong together (bf.linked, bf.combinations)")
        if ConstraintKind.APART in form.constraints:
            return Support(False, "answers at a distance from earlier ones are parted before columns are merged")
        if form.unmerged:
            return Support(False, form.unmerged)
        return Support(True, "columns that belong together are one column, and what is left is solved exactly")

    def parts(self, form: Form) -> tuple[Form, ...]:
        assert form.merged is not None
        return (replace(form.merged, forced=form.forced or form.merged.forced),)

    def accepts(self, form: Form) -> Support:
        found = super().accepts(form)
        if not found and form.merged is not None and ConstraintKind.OTHER in form.merged.constraints - form.constraints:
            return Support(
                False, "a relation is about parts of linked columns, and there are too many combinations to try"
            )
        return found

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        handing, merged = Handing(self.inner), problem.merged
        solver = handing.taker(*self.parts(problem.form()))
        return split(problem.merging.layout, handing.kept(solver, solver.solve(merged, budget)))

    def solve_below(self, problem: Problem, upper: float, budget: Budget) -> Outcome:
        handing, merged = Handing(self.inner), problem.merged
        solver = handing.taker(*self.parts(problem.form()))
        return split(problem.merging.layout, handing.kept(solver, solver.solve_below(merged, upper, budget)))


def split(layout: Layout, found: Outcome) -> Outcome:
    """What was found for a merged problem, in the columns of the whole one."""
    rest = [left and _Split(layout, left) for left in found.rest]
    return replace(found, points=layout.split(found.points), rest=objects(rest))


@dataclass(frozen=True, eq=False)
class _Split(Rest):
    """A search of a merged problem that was cut short."""

    layout: Layout
    rest: Rest

    def go_on(self, budget: Budget) -> Outcome:
        return split(self.layout, self.rest.go_on(budget))
