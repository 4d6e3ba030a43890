"""Search given rows for the cheapest that meets the target and every constraint. Exact, for any model."""

from __future__ import annotations

from itertools import islice

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.clearance import stays_clear
from butfor.model.questions import ModelKind
from butfor.problem.form import ConstraintKind, Form
from butfor.problem.problem import Problem
from butfor.solvers.combine import row_by_row
from butfor.solvers.outcome import Outcome, answers_of, nothing_found
from butfor.solvers.solver import AbstractSolver, Budget, Support
from butfor.solvers.swarm.diverse import distinct


class RowSearch(AbstractSolver):
    """The cheapest of the candidate rows. Guarantee: optimal among them."""

    name = "row_search"
    does = "any model: the cheapest of the rows given with bf.candidates"
    many = True
    none_found = "none of the candidate rows meets the target and the constraints"
    block = 64

    def accepts(self, form: Form) -> Support:
        if ConstraintKind.CANDIDATES not in form.constraints:
            return Support(False, "no rows to search were given with bf.candidates(rows)")
        if ConstraintKind.MARGIN in form.constraints and form.model is ModelKind.BLACK_BOX:
            return Support(False, f"a margin cannot be judged for a {form.model}")
        return Support(True, "the answer is one of the given rows")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return row_by_row(problem, budget, lambda one: _cheapest(one, k))


def _confirmed(problem: Problem, point: FloatArray) -> bool:
    """Whether the constraints hold that depend on the factual, and that a model must judge."""
    return problem.witnesses.confirmation is None or problem.witnesses.confirmation.confirms(point, np.inf)


def _cheapest(problem: Problem, k: int) -> Outcome:
    """The cheapest rows of the pool that answer the only row of a problem."""
    pool = problem.demands.pool
    assert pool is not None
    able = pool.met(0)
    able[able] = stays_clear(
        problem.model, problem.space, pool.points[able], problem.score_sets, problem.demands.margin
    )
    points, offsets = pool.points[able], pool.offsets[able]
    many = problem.take(np.zeros(len(points), dtype=np.intp))
    cost = np.where(many.admits(points), many.prices.total(many.factuals, points) + offsets, np.inf)
    in_order = distinct(points, cost).tolist()
    best = np.array(list(islice((at for at in in_order if _confirmed(problem, points[at])), k)), dtype=np.intp)
    if not len(best):
        return nothing_found(problem, np.inf)
    return answers_of(np.zeros(len(best), dtype=np.intp), points[best], cost[best], cost[best])
