"""The next sum that leaves can make, against all of them."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from butfor.solvers.ensemble.attainable import next_sums


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("step", [0.01, 1 / 3, 2.0, 1e-9, 7e8])
def test_no_sum_lies_between_a_goal_and_the_next(seed: int, step: float) -> None:
    rng = np.random.default_rng(seed)
    start = np.concatenate([[0], np.cumsum(rng.integers(1, 4, 5))])
    score = rng.normal(size=5).repeat(np.diff(start)) * step + step * rng.integers(0, 3, start[-1])
    there = np.array([sum(leaves) for leaves in product(*(score[a:b] for a, b in pairwise(start)))])
    for goal in rng.uniform(there.min() - step, there.max() + step, 20):
        (found,) = next_sums(score[:, None], start, np.array([goal]))
        assert found >= goal
        assert not ((there >= goal) & (there < found)).any()
        assert found <= max(goal, there.min()) + 2 * step  # steps are two where no leaf is one beyond another


def test_goals_between_votes_mean_the_next_vote() -> None:
    score, start = np.array([-0.01, 0.01] * 3)[:, None], np.array([0, 2, 4, 6])
    (found,) = next_sums(score, start, np.array([0.002]))
    assert 0.0099 < found <= 0.01
    assert next_sums(score, start, np.array([0.01])) == [0.01]  # an attained goal stays


def test_scores_without_steps_leave_goals_alone() -> None:
    score, start = np.array([0.0, 0.5, 0.0, np.pi / 8])[:, None], np.array([0, 2, 4])
    assert next_sums(score, start, np.array([0.6])) == [0.6]


def test_trees_of_one_leaf_leave_goals_alone() -> None:
    assert next_sums(np.array([[1.0], [2.0]]), np.array([0, 1, 2]), np.array([2.5])) == [2.5]


def test_each_score_has_steps_of_its_own() -> None:
    score, start = np.array([[0.0, 0.0], [2.0, 0.1], [0.0, 0.0], [2.0, 0.5]]), np.array([0, 2, 4])
    first, second = next_sums(score, start, np.array([1.0, 0.25]))
    assert 1.99 < first <= 2.0
    assert 0.29 < second <= 0.3  # steps of .1: .5 is five of them
