"""A smallest set of constraints to blame, for rows that have no answer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import numpy as np

from butfor.explain.plan import plan
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.solvers.choose import choose
from butfor.solvers.conflict import smallest_conflict, widened
from butfor.solvers.outcome import Outcome, Status
from butfor.solvers.solver import Budget
from butfor.verdict.verify import Verifier

CONFLICT_ROWS = 10
"""A smallest conflict is looked for in at most this many impossible rows per call."""

CONFLICT_SECONDS = 1.0
"""How long this search may take, for all these rows together."""


def conflicts(outcome: Outcome, verifier: Verifier) -> dict[int, tuple[str, ...]]:
    """The constraints that make answers impossible, for the first `CONFLICT_ROWS` of them.

    The keys are positions in the outcome.
    """
    if verifier.question.candidates:
        return {}
    budget = Budget(CONFLICT_SECONDS)
    impossible = np.flatnonzero(~outcome.found() & (outcome.bound == np.inf))
    found = {}
    for i in islice(impossible.tolist(), CONFLICT_ROWS):
        if not budget.spent():
            found[i] = _conflict(verifier.take(outcome.row[[i]]), budget)
    return found


def _conflict(verifier: Verifier, budget: Budget) -> tuple[str, ...]:
    """A smallest set of constraints that makes one row impossible."""
    question, referee = verifier.question, verifier.referee
    atoms = [atom for constraint in question.constraints for atom in constraint.atoms()]
    wide = widened(referee.space)

    def impossible(chosen: Sequence[AbstractConstraint], widen: bool) -> bool:
        space = wide if widen else referee.space
        part = next(plan(question.under(chosen), referee, verifier.factuals, verifier.before, space=space))
        solver, _ = choose(part.problem.form())
        # even a solver that proves nothing else sees at once whether no value is left
        given = budget if solver.exact else Budget(0.0)
        return solver.solve(part.problem, given).status()[0] is Status.PROVEN_INFEASIBLE

    return smallest_conflict(atoms, impossible, budget)
