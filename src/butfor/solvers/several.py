"""Several answers from a solver that gives one: each next one must not repeat all the changes of one before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.problem.constraints.relations import Fresh
from butfor.problem.problem import Problem
from butfor.solvers.choose import choose
from butfor.solvers.solver import AbstractSolver, Budget, Outcome, joined, renumbered
from butfor.space.space import same


def several(solver: AbstractSolver, problem: Problem, budget: Budget, k: int, seed: int) -> Outcome:
    """Up to `k` answers a row, cheapest first."""
    if k == 1 or solver.many:
        return solver.solve(problem, budget, k, seed)
    parts = []
    for row in range(len(problem)):
        rows = np.array([row])
        parts += [renumbered(part, rows) for part in _one_row(solver, problem.rows(rows), budget, k, seed)]
    return joined(parts)


def _one_row(solver: AbstractSolver, problem: Problem, budget: Budget, k: int, seed: int) -> list[Outcome]:
    found = [solver.solve(problem, budget, 1, seed)]
    while len(found) < k and found[-1].found()[0] and not budget.spent():
        point, factual = found[-1].points[0], problem.factuals[0]
        kept = same(point, factual)
        changed = tuple(name for name, stays in zip(problem.space.names, kept, strict=True) if not stays)
        if not changed:
            break
        problem = problem.with_relation(Fresh(changed))
        next_solver, _ = choose(problem.form())
        found.append(next_solver.solve(problem, budget, 1, seed))
    if len(found) > 1 and not found[-1].found()[0]:
        found.pop()
    return [replace(part, row=np.zeros(1, dtype=np.intp)) for part in found]
