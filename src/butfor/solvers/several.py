"""Several answers from a solver that gives one. A later answer must not repeat all changes of an earlier one."""

from __future__ import annotations

import numpy as np

from butfor.problem.constraints.relations import Fresh
from butfor.problem.problem import Problem
from butfor.solvers.choose import choose
from butfor.solvers.outcome import Credit, Outcome, joined
from butfor.solvers.solver import AbstractSolver, Budget
from butfor.space.space import same


def several(solver: AbstractSolver, credit: Credit, problem: Problem, budget: Budget, k: int, seed: int) -> Outcome:
    """Up to `k` answers per row, cheapest first. Each is credited to the solver that gave it."""
    if k == 1 or solver.many:
        return solver.solve(problem, budget, k, seed).credited(credit)
    parts = []
    for row in range(len(problem)):
        rows = np.array([row])
        found = _one_row(solver, credit, problem.take(rows), budget, k, seed)
        parts += [part.renumbered(rows) for part in found]
    return joined(parts)


def _one_row(
    solver: AbstractSolver, credit: Credit, problem: Problem, budget: Budget, k: int, seed: int
) -> list[Outcome]:
    """One outcome per answer. With one more relation, the problem may need another solver."""
    found = [solver.solve(problem, budget, 1, seed).credited(credit)]
    while len(found) < k and found[-1].found()[0] and not budget.spent():
        stays = same(found[-1].points[0], problem.factuals[0])
        changed = tuple(name for name, still in zip(problem.space.names, stays, strict=True) if not still)
        if not changed:
            break
        problem = problem.with_relation(Fresh(changed))
        solver, credit = choose(problem.form())
        found.append(solver.solve(problem, budget, 1, seed).credited(credit))
    if len(found) > 1 and not found[-1].found()[0]:
        found.pop()
    return found
