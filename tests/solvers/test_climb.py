"""Steps towards the target: many small changes at once, which no exchange of one change for another reaches."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from butfor.model.black_box import BlackBox
from butfor.problem.constraints.admissible import admissible
from butfor.problem.costs import L1, price
from butfor.problem.oracle import AbstractOracle, Response
from butfor.problem.problem import Problem
from butfor.solvers.solver import Budget
from butfor.solvers.swarm.appraiser import Appraiser
from butfor.solvers.swarm.climb import Climb
from butfor.solvers.swarm.hypercube import hypercube
from butfor.solvers.swarm.kernels import uniform_pair
from butfor.solvers.swarm.polish import Answers, polish
from butfor.space.feature import Feature
from butfor.space.space import Space

SPACE = Space((*(Feature(f"n{j}", low=0.0, high=1.0) for j in range(5)), Feature("job", levels=("a", "b", "c"))))


class Steps(AbstractOracle):
    """Each number counts once it is past 0.1; three of them will do, or the category c alone, which is dear."""

    examples = np.empty((0, 6))

    def ask(self, points, rows) -> Response:
        score = (points[:, :5] >= 0.1).sum(axis=1) + 3.0 * (points[:, 5] == 2)
        return Response(score >= 3, np.maximum(3 - score, 0.0), np.zeros(len(points)))

    def of_examples(self, row):
        return self.ask(self.examples, np.empty(0, dtype=np.intp))

    def take(self, rows) -> AbstractOracle:
        return self


@pytest.fixture
def made():
    factuals = np.zeros((1, 6))
    problem = Problem(SPACE, BlackBox("a test"), factuals, (), price(L1(), SPACE), admissible(SPACE, factuals, ()))
    problem = problem.with_witnesses(oracle=Steps())
    return hypercube(problem), Appraiser(problem, Steps(), Budget())


def climbed(made, within, bar=1.0, steps=12):
    cube, appraiser = made
    climb = Climb(
        cube, appraiser, np.zeros(1, np.intp), cube.home.copy(), np.array([bar]), np.zeros(1), np.array([within])
    )
    climb.run(steps, np.random.default_rng(0))
    return climb


def test_three_numbers_for_a_category(made) -> None:
    climb = climbed(made, [True] * 6)
    assert 0.3 <= climb.cost[0] < 0.9
    assert (climb.points[0, :5] > 0).sum() == 3
    assert climb.points[0, 5] == 0


def test_only_what_may_move_does_and_only_for_less(made) -> None:
    kept = climbed(made, [False, True, True, True, False, False])
    assert np.flatnonzero(kept.points[0]).tolist() == [1, 2, 3]
    assert np.isinf(climbed(made, [True, True, False, False, False, False]).cost[0]), "two numbers are not enough"
    assert np.isinf(climbed(made, [True] * 6, bar=0.3).cost[0]), "0.3 is the least"
    assert np.isinf(climbed(made, [True] * 6, steps=2).cost[0])


def test_a_polish_gives_a_category_up_for_three_numbers(made) -> None:
    cube, appraiser = made
    answers = Answers(cube, np.zeros(1, np.intp), np.array([[0.0, 0, 0, 0, 0, 2]]), np.array([1.0]))
    polish(answers, appraiser, seed=0, which=np.arange(len(answers.row)))
    assert answers.cost[0] == pytest.approx(0.3, abs=1e-5)
    assert answers.before.tolist() == [1.0]


def test_the_second_of_a_row_stays_within_its_columns(made) -> None:
    cube, appraiser = made
    points = np.array([[0.3, 0.3, 0.3, 0, 0, 0], [0.0, 0, 0.5, 0.5, 0.5, 0]])
    answers = Answers(cube, np.zeros(2, np.intp), points, np.array([0.9, 1.5]))
    polish(answers, appraiser, seed=0, which=np.arange(len(answers.row)))
    assert np.flatnonzero(answers.points[1]).tolist() == [2, 3, 4]
    assert np.allclose(answers.cost, 0.3, atol=1e-5), "both are pulled back as far as it goes"


def test_random_factors_are_uniform_and_independent() -> None:
    first, second = uniform_pair(5, 1000, 50)
    for table in (first, second):
        assert table.min() >= 0.0
        assert table.max() < 1.0
        assert abs(table.mean() - 0.5) < 0.005
        assert np.allclose(np.histogram(table, 20, (0, 1))[0] / table.size, 0.05, atol=0.004)
        assert abs(np.corrcoef(table[:-1].ravel(), table[1:].ravel())[0, 1]) < 0.02
    assert abs(np.corrcoef(first.ravel(), second.ravel())[0, 1]) < 0.02
    tables = [uniform_pair(seed, 4, 4)[0] for seed in (5, 6, 2**63 - 1)]
    assert all(not np.array_equal(one, other) for one, other in pairwise(tables))
    assert np.array_equal(uniform_pair(5, 4, 4)[0], tables[0])
