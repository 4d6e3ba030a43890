"""The admissible row with the largest sum of scores, through HiGHS: how far an impossible question can be met."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.questions import ModelKind
from butfor.model.scores import everything
from butfor.problem.problem import Problem
from butfor.solvers.combine import short_of, wants_one_sum
from butfor.solvers.milp.milp import Milp
from butfor.solvers.milp.written import write
from butfor.solvers.outcome import tolerated
from butfor.solvers.solver import Budget

SMALL_KINDS = (ModelKind.LINEAR, ModelKind.TREE, ModelKind.OBLIQUE, ModelKind.NETWORK)
"""The models whose programs are small. To write that of a large forest takes longer than to solve any other."""


def has_farthest(problem: Problem) -> bool:
    """Whether a small program can tell how far the sum of scores gets that is wanted."""
    form = problem.form()
    return form.model in SMALL_KINDS and wants_one_sum(problem) and bool(Milp().accepts(form))


def farthest(problem: Problem, budget: Budget) -> tuple[float, FloatArray] | None:
    """What the wanted sum of scores is at most for the only row, and the row that comes closest.

    None if the time does not suffice, if nothing is admissible, or if rounding decides.
    """
    (wanted,) = problem.score_sets
    written = write(problem, everything(wanted.A.shape[1]))
    found = written.uphill(wanted).solve(budget.left(), [], exact=True, derived=budget.until)
    if found.status != "optimal" or found.x is None:
        return None
    least = found.claim.proven()
    highest = short_of(problem, np.array([tolerated(least) - least])).item()
    return None if np.isnan(highest) else (highest, written.point(problem, found.x))
