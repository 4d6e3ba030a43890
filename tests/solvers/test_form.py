"""The form of a problem: what solvers are matched against holds nothing that no solver looks at."""

from __future__ import annotations

import sys
from dataclasses import fields, replace
from itertools import product
from typing import Any

from butfor.model.questions import ModelKind
from butfor.problem.form import ConstraintKind, Form
from butfor.solvers.choose import SOLVERS, choose, supports
from butfor.testing.problems import Kinds, random_problem
from tests.solvers.further import with_combinations


def watched(form: Form) -> tuple[Form, set[str]]:
    """The same form, and the names of the fields that were looked at, in it or in copies. To copy it is not to look at it."""
    seen: set[str] = set()

    class Watched(Form):
        def __getattribute__(self, name: str) -> Any:
            if sys._getframe(1).f_globals["__name__"] != "dataclasses":
                seen.add(name)
            return super().__getattribute__(name)

    return Watched(**vars(form)), seen


def test_each_field_is_read_by_some_solver() -> None:
    read: set[str] = set()
    for kind in ("linear", "tree", "ensemble", "oblique tree"):
        for seed, kinds in product(range(60), (set(), {ConstraintKind.ROBUST}, {ConstraintKind.COMPUTED})):
            problem = random_problem(seed, kind, Kinds())
            form = (with_combinations(problem, seed) if seed % 2 and len(problem.space) > 1 else problem).form()
            spy, seen = watched(replace(form, constraints=form.constraints | kinds, acted=seed % 3 == 0))
            for solver in SOLVERS:
                solver.accepts(spy)
            read |= seen
    unread = replace(
        random_problem(0, "tree").form(), model=ModelKind.BLACK_BOX, constraints=frozenset(), unread="PCA."
    )
    spy, seen = watched(unread)
    supports_of = [solver.accepts(spy) for solver in SOLVERS]
    assert any(supports_of)
    assert {field.name for field in fields(Form)} <= read | seen


def test_every_refusal_and_every_choice_says_why() -> None:
    for seed in range(40):
        form = random_problem(seed, "ensemble", Kinds(), trees=3).form()
        assert all(support.why for _, support in supports(form))
        solver, credit = choose(form)
        assert credit.solver == solver.name
        assert credit.why
