"""Search in given rows: the cheapest one that meets the target and every constraint. Exact, for any model."""

from __future__ import annotations

import numpy as np

from butfor.problem.form import Form
from butfor.problem.problem import Problem
from butfor.solvers.solver import AbstractSolver, Budget, Outcome, Support


class RowSearch(AbstractSolver):
    """The cheapest of the candidate rows. Guarantee: optimal among them."""

    name = "row_search"
    does = "any model: the cheapest of the rows given with bf.candidates"
    many = True
    block = 64

    def accepts(self, form: Form) -> Support:
        if "candidates" not in form.relations:
            return Support(False, "no rows to search were given with bf.candidates(rows)")
        if "margin" in form.relations and form.model == "black box":
            return Support(False, f"a margin cannot be judged for a {form.model}")
        return Support(True, "the answer is one of the given rows")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        from butfor.formulation.clearance import keeps

        pool = problem.pool
        assert pool is not None
        able = pool.met.copy()
        able[able] = keeps(problem.model, problem.space, pool.points[able], problem.sets, problem.margin)
        choices, extra = pool.points[able], pool.offsets[able]
        row, points, cost = [], [], []
        for i in range(len(problem)):
            one = problem.rows(np.array([i]))
            tiled = problem.rows(np.full(len(choices), i, dtype=np.intp))
            total = one.prices.total(tiled.factuals, choices) + extra if len(choices) else np.empty(0)
            total = np.where(tiled.admits(choices), total, np.inf) if len(choices) else total
            best = np.argsort(total, kind="stable")[:k]
            best = best[np.isfinite(total[best])]
            row += [i] * max(1, len(best))
            points.append(choices[best] if len(best) else np.full((1, len(problem.space)), np.nan))
            cost.append(total[best] if len(best) else np.array([np.inf]))
        costs = np.concatenate(cost)
        return Outcome(np.array(row), np.concatenate(points), costs, costs.copy(), np.zeros(len(costs), dtype=np.bool_))
