"""Random problems that ask for more: a ball around the answer, a mean of probabilities, a list of rows, implications.

Some have earlier answers, or columns that belong together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest

from butfor.model.blend import Blend
from butfor.model.monotone import Logistic, MonotoneFunction
from butfor.model.questions import Model, evaluate
from butfor.model.scores import ScoreSet, cheapest_offset
from butfor.neighbours.ball import Ball, BallNorm
from butfor.problem.constraints.implications import Event, Implication, Part
from butfor.problem.constraints.linked import Combinations
from butfor.problem.constraints.relations import Apart, LinearRelation
from butfor.problem.constraints.restrictions import Allowed, Between
from butfor.problem.constraints.robust import read_in_bins
from butfor.problem.demands import Pool
from butfor.problem.problem import Problem
from butfor.solvers.brute_force import BruteForce
from butfor.solvers.milp.milp import Milp
from butfor.solvers.outcome import Outcome, Status
from butfor.solvers.reduction import AbstractReduction
from butfor.solvers.solver import AbstractSolver, Budget
from butfor.space.space import Space
from butfor.testing.problems import random_row

DISTANCES = (0.1, 0.34, 1.0)


def random_ball(rng: np.random.Generator, problem: Problem, norm: BallNorm) -> Ball:
    """Steps of whole numbers, shares of others. Levels and what is read in bins stay."""
    step = np.array([f.step if f.levels is None else 0.0 for f in problem.space])
    radius = np.where(step > 0, step * rng.integers(0, 3, len(step)), rng.choice([0.0, 0.25, 0.3, 0.5, 1.0], len(step)))
    radius[[f.levels is not None for f in problem.space]] = 0.0
    radius[list(read_in_bins(problem.model))] = 0.0
    if norm is not BallNorm.LINF:
        radius[step > 0] = 0.0
    return Ball(norm, radius, np.where(radius > 0, step, 0.0), np.zeros(len(step)))


def with_ball(problem: Problem, seed: int, norm: BallNorm = BallNorm.LINF) -> Problem:
    """The problem of answers that stay valid in a ball, without a margin."""
    return problem.with_demands(margin=0.0, ball=random_ball(np.random.default_rng(seed), problem, norm))


def of_mean(problem: Problem, seed: int) -> Problem:
    """The problem in which a mean of probabilities must be larger than for two of three rows."""
    rng = np.random.default_rng(seed)
    count = problem.model.scores
    functions = (MonotoneFunction((Logistic(),)),) * count
    curve = Blend(np.eye(count), rng.dirichlet(np.ones(count)), functions, 0.0)
    rows = np.array([random_row(rng, problem.space) for _ in range(20)])
    wanted = replace(curve, least=float(np.quantile(-curve.excesses(evaluate(problem.model, rows)), 2 / 3)))
    return replace(
        problem, score_sets=(ScoreSet(np.zeros((0, count)), np.zeros(0), np.zeros(0, np.bool_), curve=wanted),)
    )


def with_earlier(problem: Problem, seed: int) -> Problem:
    """The problem of one more answer, after one or two."""
    for _ in range(1 + seed % 2):
        found = BruteForce().solve(problem, Budget())
        if found.found()[0]:
            problem = problem.with_relation(Apart(tuple(found.points[0].tolist()), DISTANCES[seed % 3]))
    return problem


@dataclass(frozen=True, eq=False)
class ScoredPool(Pool):
    """Rows that are judged by the scores of a model."""

    model: Model
    score_sets: tuple[ScoreSet, ...]

    def take(self, rows: object) -> ScoredPool:
        return self

    def met(self, row: int) -> np.ndarray:
        return np.isfinite(self.offsets)

    @cached_property
    def offsets(self) -> np.ndarray:
        return cheapest_offset(self.score_sets, evaluate(self.model, self.points))


def among_rows(problem: Problem, seed: int) -> Problem:
    """The problem of an answer among 30 rows."""
    rng = np.random.default_rng(seed)
    points = np.array([random_row(rng, problem.space) for _ in range(30)])
    pool = ScoredPool(points, None, None, None, problem.model, problem.score_sets)
    return problem.with_demands(pool=pool)


def random_combinations(rng: np.random.Generator, space: Space, names: tuple[str, ...]) -> Combinations:
    """Some combinations of the values of some columns. A third of them are missing somewhere, if that may be."""
    rows = {
        tuple(
            feature.value(code)
            for feature, code in zip(space, random_row(rng, space), strict=True)
            if feature.name in names
        )
        for _ in range(int(rng.integers(1, 9)))
    }
    return Combinations(names, tuple(sorted(rows, key=repr)))


def with_combinations(problem: Problem, seed: int) -> Problem:
    """The problem in which two or three columns belong together, or two groups of them that may share a column."""
    rng, names = np.random.default_rng(seed), problem.space.names
    for _ in range(1 + (seed % 3 == 0)):
        count = min(len(names), int(rng.integers(2, 4)))
        chosen = sorted(rng.choice(len(names), count, replace=False).tolist())
        problem = problem.with_relation(random_combinations(rng, problem.space, tuple(names[j] for j in chosen)))
    return problem


def by_combination(problem: Problem, best: Callable[[Problem], float | None]) -> float | None:
    """The optimal cost over the combinations of each relation, or its own: each is tried with all of its values kept.

    `best` knows the optimal cost of a problem without columns that belong together.
    """
    relation = next((one for one in problem.relations if isinstance(one, Combinations)), None)
    if relation is None:
        return best(problem)
    at = [problem.space.index(name) for name in relation.names]
    rest = replace(problem, relations=tuple(one for one in problem.relations if one is not relation))
    own = problem.factuals[0, at]
    costs = []
    for values in [own, *relation.codes(problem.space)]:
        domain = problem.domain
        for j, value in zip(at, values.tolist(), strict=True):
            if np.isnan(value):
                domain = domain.all_missing(j)
            elif problem.space.features[j].levels is not None:
                domain = domain.at_levels(j, np.arange(len(problem.space.features[j].levels)) == value).without_missing(
                    j
                )
            else:
                domain = domain.narrowed(j, value, value).without_missing(j)
        costs.append(by_combination(replace(rest, domain=domain), best))
    known = [cost for cost in costs if cost is not None]
    return min(known) if len(known) == len(costs) else None


def with_implications(problem: Problem, seed: int) -> Problem:
    """The problem under one to four implications of all kinds of parts."""
    rng = np.random.default_rng([seed, 7])
    for _ in range(int(rng.integers(1, 5))):
        relation = Implication(_random_part(rng, problem, False), _random_part(rng, problem, True))
        relation.validate(problem.space)
        problem = problem.with_relation(relation)
    return problem


def _random_part(rng: np.random.Generator, problem: Problem, wanted: bool) -> Part:
    """A change of a random column, or where it ends. What is wanted must say by how much a number changes."""
    feature = problem.space.features[rng.integers(len(problem.space))]
    up = bool(rng.random() < 0.5)
    change = Event("rises" if up else "falls", feature.name, by=float(rng.choice([0.5, 1.0, 1.5, 2.0])))
    if feature.levels is None:
        end = feature.low + float(rng.choice([0.25, 1.0, 1.5, 2.0]))
        choices: list[Part] = [change, Between(feature.name, end, np.inf), Between(feature.name, -np.inf, end)]
        if not wanted or feature.step:
            choices.append(replace(change, by=0.0))
    else:
        some = rng.permutation(len(feature.levels))[: rng.integers(1, len(feature.levels))]
        choices = [
            Event("becomes", feature.name, level=feature.levels[some[0]]),
            Allowed(feature.name, tuple(feature.levels[k] for k in some)),
        ]
        if feature.ordered:
            choices += [replace(change, by=0.0), Between(feature.name, feature.levels[0], feature.levels[some[0]])]
    return choices[rng.integers(len(choices))]


def value_near_an_end(rng: np.random.Generator, problem: Problem, j: int) -> float:
    """A value that column `j` may take, often beside the end of something."""
    feature, own = problem.space.features[j], float(problem.factuals[0, j])
    if rng.random() < 0.2:
        return own
    if feature.levels is not None:
        return float(rng.integers(len(feature.levels)))
    if feature.step:
        return feature.low + feature.step * float(rng.integers(0, 1 + (feature.high - feature.low) // feature.step))
    edge = rng.choice([np.nan_to_num(own), feature.low]) + rng.choice([0.25, 0.5, 1.0, 1.5, 2.0, -1.0, -0.5, 0.0])
    if problem.domain.step[j]:
        return float(edge)
    return float(rng.choice([edge, np.nextafter(edge, np.inf), np.nextafter(edge, -np.inf), edge + 0.1]))


def admissible_points(problem: Problem, seed: int, count: int) -> np.ndarray:
    """Points that the domain of a problem admits, of so many that are drawn."""
    rng = np.random.default_rng(seed)
    points = np.array([[value_near_an_end(rng, problem, j) for j in range(len(problem.space))] for _ in range(count)])
    return points[[bool(problem.domain.admits(point[None])[0]) for point in points]]


def with_linear_relations(problem: Problem, seed: int) -> Problem:
    """The problem under one to three linear relations between numbers, levels that are numbers included."""
    rng, numbers = np.random.default_rng([seed, 8]), [f.name for f in problem.space if f.levels is None or f.numbers]
    for _ in range(int(rng.integers(1, 4)) if len(numbers) > 1 else 0):
        names = rng.permutation(numbers)[: rng.integers(2, 1 + len(numbers))].tolist()
        weights = tuple((name, float(rng.choice([1.0, -1.0, 0.5, -2.0, 0.1]))) for name in names)
        sense = ("<=", ">=", "==")[int(rng.choice([0, 0, 1, 1, 2]))]
        relation = LinearRelation(weights, sense, float(rng.choice([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0])))
        relation.validate(problem.space)
        problem = problem.with_relation(relation)
    return problem


Related = Callable[[Problem, int], Problem]
"""Gives a problem relations that a seed draws."""


def with_both(problem: Problem, seed: int) -> Problem:
    return with_implications(with_linear_relations(problem, seed), seed)


RELATED: tuple[Related, ...] = (with_implications, with_linear_relations, with_both)


def agrees_with_the_program(solver: AbstractSolver, problem: Problem, seed: int) -> Outcome:
    """What a solver proves of a problem, which a program proves as well. A program that proves less has a bound, at least."""
    found, judged = (one.solve(problem, Budget()) for one in (solver, Milp()))
    proven = (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)
    assert found.status()[0] in proven, seed
    if judged.status()[0] in proven:
        assert found.cost[0] == pytest.approx(judged.cost[0], rel=2e-6, abs=2e-6), seed
    else:
        assert judged.bound[0] <= found.cost[0] + 2e-6 * (1 + abs(found.cost[0])), seed
        assert found.cost[0] <= judged.cost[0], seed
    assert not found.found()[0] or problem.admits(found.points)[0], seed
    return found


def relaxed(solver: AbstractReduction, free: Problem) -> float:
    """The optimal cost of a problem without the relations that a solver keeps."""
    return float(next(one for one in solver.inner if one.accepts(free.form())).solve(free, Budget()).cost[0])
