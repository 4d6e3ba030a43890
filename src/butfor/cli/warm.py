"""Compile the loops of the solvers. This is done once, and the result is kept."""

from __future__ import annotations


def warm() -> None:
    """Compile the kernels that the demo did not need. Then the first answer for any model comes at once."""
    from butfor.model.questions import evaluate
    from butfor.solvers.ensemble.branch_bound import EnsembleBranchBound
    from butfor.solvers.linear.exact import LinearExact
    from butfor.solvers.linear.knapsack import LinearKnapsack
    from butfor.solvers.solver import AbstractSolver, Budget
    from butfor.testing.problems import Kinds, random_problem

    plain = Kinds(whole=False, levels=False, missing=False, relations=(), costs=("l1", "l0"))
    linear, ensemble = LinearExact(), EnsembleBranchBound()
    forms: tuple[tuple[AbstractSolver, str, Kinds], ...] = (
        (linear, "linear", plain),
        (LinearKnapsack(), "linear", Kinds(classes=1, costs=("l1",), relations=())),
        (ensemble, "ensemble", plain),
        (ensemble, "ensemble", Kinds()),
    )
    for solver, form, kinds in forms:
        for problem in (random_problem(seed, form, kinds, trees=3) for seed in range(10)):
            if solver.accepts(problem.form()):
                evaluate(problem.model, problem.factuals)
                solver.solve(problem, Budget())
