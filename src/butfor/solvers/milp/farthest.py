"""The admissible row with the largest sum of scores, through HiGHS: how far an impossible question can be met."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.scores import everything
from butfor.problem.problem import Problem
from butfor.solvers.milp.milp import Milp, write
from butfor.solvers.outcome import TOLERANCE
from butfor.solvers.solver import Budget


def has_farthest(problem: Problem) -> bool:
    """Whether one sum of scores is all that is wanted, and a program holds the rest."""
    only = problem.score_sets[0] if len(problem.score_sets) == 1 else None
    plain = only is not None and len(only.A) == 1 and only.curve is None and not problem.margin
    return plain and bool(Milp().accepts(problem.form()))


def farthest(problem: Problem, budget: Budget) -> tuple[float, FloatArray] | None:
    """What the wanted sum of scores is at most for the only row, and the row that comes closest.

    None if the time does not suffice, if nothing is admissible, or if rounding decides.
    """
    (wanted,) = problem.score_sets
    written = write(problem, everything(wanted.A.shape[1]))
    found = written.uphill(wanted).solve(budget.left(), [], exact=True)
    if found.status != "optimal" or found.x is None:
        return None
    rounded = float(np.max(wanted.below)) + float(problem.doubt(wanted).rows[0])
    highest = -found.bound + TOLERANCE * (1 + abs(found.bound)) + rounded
    return (highest, written.point(problem, found.x)) if highest < float(wanted.b[..., 0].min()) else None
