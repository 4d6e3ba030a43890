"""Whether any row reaches a target, against enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import butfor as bf
from butfor.problem.constraints.restrictions import Restriction, narrowed_by
from butfor.problem.problem import Problem
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


def restrictions(problem: Problem, rng: np.random.Generator) -> list[Restriction]:
    """Two of each column, which may contradict each other."""
    found = list[Restriction]()
    for feature, x in zip(problem.space, problem.factuals[0], strict=True):
        if feature.levels is None:
            low, high = np.sort(rng.choice([feature.low, feature.high, x, x + 1, x - 1, x + 0.5], 2))
            kinds = [
                bf.between(feature.name, low, high),
                bf.step(feature.name, feature.step or 0.5),
                bf.within(feature.name, 0.5),
            ]
            kinds += [bf.only_up(feature.name), bf.only_down(feature.name)]
        else:
            some = rng.choice(np.array(feature.levels, dtype=object), 2).tolist()
            kinds = [bf.allowed(feature.name, some), bf.moves(feature.name, {feature.levels[0]: some})]
        found += [kind for i in rng.choice(len(kinds), 2, replace=False) for kind in kinds[i].atoms()]
        found += bf.fixed(feature.name).atoms()
    return found


@pytest.mark.parametrize("seeds", first(1, [range(100), range(100, 300)]))
def test_restrictions_narrow_a_box_as_they_narrow_the_domain(seeds: range) -> None:
    every, told, open_ = BruteForce(), [], 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = random_problem(seed, "ensemble", Kinds(relations=(), missing=False), trees=3).take(np.array([0]))
        reach, given = WithinReach(), restrictions(problem, rng)
        for _ in range(6):
            some = [one for one in given if rng.random() < 0.4]
            one = replace(problem, domain=narrowed_by(problem.domain, some, problem.space))
            answer = reached(reach.tells(problem, some))
            open_ += answer is None
            if answer is not None and every.accepts(one.form()):
                assert answer == bool(every.solve(one, Budget()).found()[0]), (seed, some)
                told.append(answer)
    assert told.count(True) > 0.3 * len(seeds)
    assert told.count(False) > 0.3 * len(seeds)
    assert open_ < 3 * len(seeds)


@pytest.mark.parametrize("seeds", first(1, [range(50), range(50, 150)]))
@pytest.mark.parametrize("steps", [(1.0, 1.0, 0.5), (0.3,)])
def test_one_climber_serves_many_questions_about_a_row(seeds: range, steps: tuple[float, ...]) -> None:
    """Of steps that floats miss, a number of the row may only mean a point."""
    every, climbers, told = BruteForce(), 0, []
    kinds = Kinds(continuous=False, relations=(), features=4, steps=steps)
    for seed in seeds:
        problem = random_problem(seed, "ensemble", kinds, trees=3)
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
