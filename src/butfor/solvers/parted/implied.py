"""The cheapest row under implications: where one change happens, another one must, too.

An answer breaks one if its cause happens and its consequence does not. The rows that keep it are those of two parts: "the
cause does not happen", and "it happens, and so does the consequence". Each is about single columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from butfor.arrays import FloatArray
from butfor.model.questions import ModelKind
from butfor.problem.constraints.implications import Implication
from butfor.problem.domain import Domain
from butfor.problem.form import ConstraintKind, Form
from butfor.problem.held import held
from butfor.problem.problem import Problem
from butfor.solvers.parted.parting import AbstractParting
from butfor.solvers.solver import Support

BY_CELLS = frozenset({ModelKind.OBLIQUE, ModelKind.OBLIQUE_FOREST, ModelKind.OBLIQUE_MIXED})
"""Programs of these are slow. Sums of trees, and of trees and a linear model, keep implications in their own search. Others
have rows of a program."""


class ImpliedParts(AbstractParting[Implication]):
    """Branching on whether the cause happens. Guarantee: optimal (to 1e-6), or a proven bound when the time ends."""

    name = "implied_parts"
    does = "oblique trees under implications: what is left is parted, and each part is solved"
    left = "the problem without the implications"
    relation = Implication

    def takes(self, form: Form) -> Support:
        if ConstraintKind.IMPLIES not in form.constraints:
            return Support(False, "it is only for implications")
        if form.model not in BY_CELLS:
            return Support(False, f"it takes oblique trees, and the model is a {form.model}")
        return Support(True, "where an answer breaks an implication, what is left is parted")

    def ways(self, problem: Problem, relation: Implication, point: FloatArray) -> Iterator[Domain]:
        (cause, caused), (consequence, follows) = relation.parts(problem.space, problem.factuals[0])
        yield held(problem.domain, cause, lambda values: ~caused(values))
        yield held(held(problem.domain, cause, caused), consequence, follows)
