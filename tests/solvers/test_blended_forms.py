"""A target on a mean of functions of several sums is taken by those alone who know such targets."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from butfor.model.questions import ModelKind
from butfor.problem.form import ConstraintKind, CostTerm, Form, ValueKind
from butfor.solvers.choose import SOLVERS

KNOWING = {
    "computed_columns",
    "merged_columns",
    "blend_branching",
    "far_apart",
    "enumeration",
    "row_search",
    "swarm",
    "brute_force",
}


def test_nobody_else_takes_a_blended_form() -> None:
    taking: set[str] = set()
    constraints = [frozenset(), *(frozenset({kind}) for kind in ConstraintKind)]
    for model, term, kept, values, combinations in product(ModelKind, CostTerm, constraints, ValueKind, (10.0, 1e30)):
        form = Form(
            model=model, inequalities=1, curved=True, movable=frozenset({values}), forced=False, binned=False,
            cost=frozenset({term}), constraints=kept, weighted_changes=False, blended=True, combinations=combinations,
        )  # fmt: skip
        if ConstraintKind.LINKED in kept:
            form = replace(form, merged=replace(form, constraints=frozenset()))
        if ConstraintKind.COMPUTED in kept:
            form = replace(form, placed=replace(form, constraints=frozenset()))
        taking |= {solver.name for solver in SOLVERS if solver.accepts(form)}
    assert taking == KNOWING
