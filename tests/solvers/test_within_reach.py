"""Whether any row reaches a target, against enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from butfor.solvers.brute_force import BruteForce
from butfor.solvers.ensemble import within_reach as module
from butfor.solvers.ensemble.within_reach import WithinReach
from butfor.solvers.outcome import Outcome
from butfor.solvers.solver import Budget
from butfor.testing.problems import Kinds, random_problem
from tests.shorter import first

NUMBERS = Kinds(levels=False, missing=False, relations=(), costs=("l1",))


def reached(told: Outcome | None) -> bool | None:
    """Whether a row that meets the target was told."""
    return None if told is None else bool(told.found()[0])


@pytest.mark.parametrize("seeds", first(1, [range(150), range(150, 400)]))
@pytest.mark.parametrize("kinds", [NUMBERS, Kinds(relations=())])
def test_it_tells_what_enumeration_finds(kinds, seeds: range) -> None:
    told, every = [], BruteForce()
    for seed in seeds:
        problem = random_problem(seed, "ensemble", kinds, trees=1 + seed % 5)
        for row in range(len(problem)):
            one = problem.take(np.array([row]))
            answer = reached(WithinReach().tells(one))
            if answer is not None and every.accepts(one.form()):
                assert answer == bool(every.solve(one, Budget()).found()[0]), (seed, row)
                told.append(answer)
    assert told.count(True) > 0.125 * len(seeds)
    assert told.count(False) > 0.05 * len(seeds)


def test_a_long_search_is_left_to_others(monkeypatch) -> None:
    problem = next(
        one
        for one in (random_problem(seed, "ensemble", NUMBERS).take(np.array([0])) for seed in range(100))
        if WithinReach().tells(one) is not None
    )
    monkeypatch.setattr(module, "PARTS_LOOKED_AT", 0)
    assert WithinReach().tells(problem) is None


@pytest.mark.parametrize("seeds", first(1, [range(50), range(50, 150)]))
def test_one_climber_serves_many_questions_about_a_row(seeds: range) -> None:
    every, climbers, told = BruteForce(), 0, []
    for seed in seeds:
        problem = random_problem(seed, "ensemble", Kinds(continuous=False, relations=(), features=4), trees=3)
        domain, reach = problem.domain, WithinReach()
        for free in reversed(range(2 ** len(problem.space))):
            kept = np.array([not free >> j & 1 for j in range(len(problem.space))])
            one = replace(problem, domain=domain.without_moves(kept))
            answer = reached(reach.tells(one))
            if answer is not None:
                told.append(answer)
                assert answer == bool(every.solve(one, Budget()).found()[0]), (seed, free)
        climbers += sum(map(len, reach.known.values()))
    assert told.count(True) > 0.66 * len(seeds)
    assert told.count(False) > 0.66 * len(seeds)
    assert climbers < len(told) / 2
