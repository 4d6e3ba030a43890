"""The cheapest actions where columns follow from others, against all actions that there are."""

from __future__ import annotations

import numpy as np
import pytest

from butfor.formulation.oracles import model_oracle
from butfor.model.questions import evaluate
from butfor.problem.constraints.follows import Consequences, Follows
from butfor.problem.constraints.implications import Event
from butfor.problem.constraints.relations import AtMost
from butfor.problem.constraints.restrictions import Fixed
from butfor.problem.problem import Problem, state
from butfor.solvers.acted.actions import ActedColumns
from butfor.solvers.choose import OF_ANY_ANSWER
from butfor.solvers.enumeration import Enumeration
from butfor.solvers.solver import Budget
from butfor.testing.problems import Kinds, random_problem
from butfor.testing.solver_contract import SolverContract


class TestActedColumns(SolverContract):
    """Numbers that follow from others. The judge works out what follows from every action, and asks the model about that."""

    solver = ActedColumns(OF_ANY_ANSWER)
    form = "linear"
    kinds = Kinds(continuous=False, bins=False, relations=(), costs=("l1", "l0", "l2", "linf", "mix"))
    seeds = range(100)
    trees = 1

    def problem(self, seed):
        plain, rng = random_problem(seed, self.form, self.kinds, trees=self.trees), np.random.default_rng(seed)
        limits = [AtMost(int(rng.integers(1, 3)))] if rng.random() < 0.3 else []
        rules = [*consequences(rng, plain.space), *limits]
        asked = state(plain.space, plain.model, plain.factuals, plain.score_sets, plain.prices, rules)
        asked = asked.with_witnesses(examples=model_oracle(asked))
        return asked.about_actions(Consequences.listed(plain.space, rules))

    def judge(self, problem: Problem) -> float | None:
        return float(Enumeration().solve(problem, Budget()).cost[0])

    def test_points_are_valid(self) -> None:
        for seed, problem in self.problems(self.seeds[:50]):
            found = self.solver.solve(problem, Budget())
            if found.found()[0]:
                point = problem.acting.consequences.values(problem.factuals, found.points)
                scores = evaluate(problem.acting.model, point)
                assert any(part.holds(scores)[0] for part in problem.acting.score_sets), f"seed {seed}: {point}"
                assert problem.admits(found.points)[0], f"seed {seed}: {point} breaks a constraint"

    def test_refusal_has_a_reason(self) -> None:
        refused = self.solver.accepts(random_problem(0, self.form, self.kinds).form())
        assert not refused
        assert "bf.follows" in refused.why

    def lowest(self, problem: Problem) -> float:
        """Where rounding decides, one tests with an estimator."""
        return -np.inf


class TestActedColumnsOnTrees(TestActedColumns):
    form = "tree"


class TestActedColumnsOnSumsOfTrees(TestActedColumns):
    form = "tree"
    trees = 3


@pytest.mark.long
class TestActedColumnsOnObliqueTrees(TestActedColumns):
    form = "oblique tree"


@pytest.mark.long
class TestActedColumnsOnNetworks(TestActedColumns):
    form = "network"
    seeds = range(50)


def consequences(rng, space):
    """Some numbers that follow from others, or from a change of levels."""
    numbers = [feature.name for feature in space if feature.levels is None]
    rules = []
    for k, name in enumerate(numbers):
        causes = [feature for feature in space if feature.name not in numbers[k:]]
        for cause in causes:
            if rng.random() < 0.6:
                event = Event("becomes", cause.name, level=cause.levels[-1]) if cause.levels else None
                event = Event("rises", cause.name) if event is None and rng.random() < 0.3 else event
                rules.append(Follows(name, float(rng.choice([-1.0, 0.5, 1.0])), event or cause.name))
        if rng.random() < 0.4:
            rules.append(Fixed((name,)))
    return rules
