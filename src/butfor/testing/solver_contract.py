"""What every solver must do, as a pytest class.

Subclass it, and name the solver, the form of model and what the problems contain:

class TestMine(SolverContract):
    solver = MySolver()
    form = "linear"
    kinds = Kinds(continuous=False)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np

from butfor.errors import UnsupportedProblemError
from butfor.formulation.half_spaces import goals, of_leaf
from butfor.model.oblique import ObliqueTree
from butfor.model.questions import ModelKind, evaluate
from butfor.problem.constraints.relations import AtMost
from butfor.problem.problem import Problem
from butfor.solvers.brute_force import BruteForce
from butfor.solvers.outcome import TOLERANCE, Outcome
from butfor.solvers.solver import AbstractSolver, Budget
from butfor.testing.problems import Kinds, random_problem


def brute_force_cost(problem: Problem) -> float | None:
    """The optimal cost by brute force; None if that refuses the problem."""
    judge = BruteForce()
    return float(judge.solve(problem, Budget()).cost[0]) if judge.accepts(problem.form()) else None


BOUND_SLACK = 1e-9
"""How far a bound may lie above the truth, relative to 1 + cost, for the rounding of both. It is far below the tolerance."""


class SolverContract:
    """The contract of a solver. It agrees with a judge on random problems, and behaves as solvers do."""

    solver: AbstractSolver
    form: str
    kinds: Kinds = Kinds()
    seeds: range = range(600)
    exact = True

    def judge(self, problem: Problem) -> float | None:
        """The optimal cost (infinity: impossible); None if the judge refuses the problem."""
        return brute_force_cost(problem)

    def lowest(self, problem: Problem) -> float:
        """The optimal cost for an estimator whose sums are rounded in favour of the answer. No proof goes beyond it."""
        leaves = [of_leaf(problem, goal) for goal in goals(problem)] if isinstance(problem.model, ObliqueTree) else None
        costs = [self.judge(_generous(part)) for part in ([problem] if leaves is None else leaves)]
        return min((cost for cost in costs if cost is not None), default=np.inf)

    def problem(self, seed: int) -> Problem:
        """The random problem of a seed."""
        return random_problem(seed, self.form, self.kinds)

    def problems(self, seeds: range) -> Iterator[tuple[int, Problem]]:
        """The random problems of the seeds that the solver accepts."""
        for seed in seeds:
            try:
                problem = self.problem(seed)
            except UnsupportedProblemError:
                continue
            if self.solver.accepts(problem.form()):
                yield seed, problem

    def test_agrees_with_the_judge(self) -> None:
        judged = 0
        for seed, problem in self.problems(self.seeds):
            truth = self.judge(problem)
            if truth is None:
                continue
            judged += 1
            found = self.solver.solve(problem, Budget())
            cost, bound = float(found.cost[0]), float(found.bound[0])
            message = f"seed {seed}: judge {truth}, solver {cost} (bound {bound})"
            slack = 2 * TOLERANCE * (1 + abs(truth)) if np.isfinite(truth) else 0.0
            assert bound <= truth + (BOUND_SLACK * (1 + abs(truth)) if np.isfinite(truth) else 0.0), message
            assert cost >= truth - slack, message
            if self.exact:
                assert cost <= truth + slack, message
                if not found.settled()[0]:
                    lowest = self.lowest(problem)
                    assert lowest <= bound + 2 * TOLERANCE * (1 + abs(bound)), f"{message}, with luck {lowest}"
        assert judged > len(self.seeds) // 4, f"only {judged} of {len(self.seeds)} problems could be judged"

    def test_points_are_valid(self) -> None:
        for seed, problem in self.problems(self.seeds[:150]):
            found = self.solver.solve(problem, Budget())
            if not found.found()[0]:
                continue
            point = found.points[:1]
            scores = evaluate(problem.model, point)
            assert any(part.holds(scores)[0] for part in problem.score_sets), f"seed {seed}: {point} misses the target"
            assert problem.admits(point)[0], f"seed {seed}: {point} breaks a constraint"

    def test_same_answer_twice_and_problem_untouched(self) -> None:
        for seed, problem in self.problems(self.seeds[:40]):
            before = _arrays(problem)
            first, second = self.solver.solve(problem, Budget(), seed=1), self.solver.solve(problem, Budget(), seed=1)
            assert _equal(first, second), f"seed {seed}"
            assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(before, _arrays(problem), strict=True))

    def test_rows_together_as_alone(self) -> None:
        for seed, problem in self.problems(self.seeds[:40]):
            alone = self.solver.solve(problem, Budget())
            thrice = self.solver.solve(problem.take(np.zeros(3, dtype=np.intp)), Budget())
            assert np.array_equal(thrice.row, [0, 1, 2]), f"seed {seed}"
            assert np.array_equal(thrice.cost, np.repeat(alone.cost, 3)), f"seed {seed}"

    def test_one_more_constraint_is_never_cheaper(self) -> None:
        for seed, problem in self.problems(self.seeds[:80]):
            tighter = problem.with_relation(AtMost(1))
            if self.solver.accepts(tighter.form()):
                free, bound = self.solver.solve(problem, Budget()).cost[0], self.solver.solve(tighter, Budget()).cost[0]
                slack = (
                    (10 if problem.demands.margin else 1) * TOLERANCE * (1 + abs(bound))
                )  # of a margin, a share may be lost
                assert bound == np.inf or bound >= free - slack, f"seed {seed}"

    def test_refusal_has_a_reason(self) -> None:
        for _, problem in self.problems(self.seeds[:5]):
            refused = self.solver.accepts(replace(problem.form(), model=ModelKind.BLACK_BOX, constraints=frozenset()))
            assert not refused
            assert len(refused.why) > 10

    def test_spent_budget_is_an_outcome(self) -> None:
        for _, problem in self.problems(self.seeds[:5]):
            many = problem.take(np.zeros(3, dtype=np.intp))
            found = self.solver.solve(many, Budget(seconds=1e-9))
            assert len(found.row) == 3
            assert (found.bound <= found.cost).all()


def _generous(problem: Problem) -> Problem:
    return replace(problem, score_sets=tuple(part.widened(problem.doubt(part)) for part in problem.score_sets))


def _arrays(problem: Problem) -> list[np.ndarray]:
    domain = problem.domain
    plain = [getattr(domain, field.name) for field in fields(domain) if field.name != "levels"]
    return [problem.factuals.copy(), *(np.array(a) for a in plain), *(m.copy() for m in domain.levels.values())]


def _equal(a: Outcome, b: Outcome) -> bool:
    return bool(np.array_equal(a.cost, b.cost) and np.array_equal(a.points, b.points, equal_nan=True))
