"""Columns that belong together: every kind of model against all combinations, tried one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import butfor as bf
from butfor.model.linear import Linear
from butfor.model.questions import evaluate
from butfor.problem.constraints.implications import Implication
from butfor.problem.constraints.linked import Combinations, positions
from butfor.problem.domain import open_domain
from butfor.problem.problem import Problem
from butfor.solvers.choose import OF_ANY_ANSWER
from butfor.solvers.enumeration import Enumeration
from butfor.solvers.merged.columns import MergedColumns
from butfor.solvers.milp.milp import Milp
from butfor.solvers.outcome import Status
from butfor.solvers.solver import Budget
from butfor.space.space import Space
from butfor.testing.problems import Kinds, random_problem, random_row
from butfor.testing.solver_contract import SolverContract, brute_force_cost
from tests.shorter import first
from tests.solvers.further import RELATED, by_combination, of_mean, with_ball, with_combinations


class Merged(SolverContract):
    """The judge tries each combination, with the values of its columns kept, and knows nothing of merged columns."""

    solver = MergedColumns(OF_ANY_ANSWER)
    kinds = Kinds(continuous=False, features=4, relations=("at most", "linear", "implies"))
    trees = 1

    def problem(self, seed):
        found = random_problem(seed, self.form, self.kinds, trees=1 + seed % self.trees)
        return with_combinations(found, seed) if len(found.space) > 1 else found

    def judge(self, problem: Problem) -> float | None:
        return by_combination(problem, brute_force_cost)


class TestMergedTrees(Merged):
    form = "tree"
    kinds = Kinds(features=4, relations=("at most",))
    seeds = range(400)


class TestMergedSumsOfTrees(Merged):
    form = "ensemble"
    kinds = Kinds(features=4, relations=("at most",))
    trees = 4
    seeds = range(400)


class TestMergedSumsOfTreesWithRelations(Merged):
    form = "ensemble"
    trees = 3
    seeds = range(10_000, 10_200)


class Related(Merged):
    """Implications and sums of all kinds, also between columns that belong together and others."""

    kinds = Kinds(continuous=False, features=4, costs=("l1", "l0", "mix"), relations=("at most",))
    trees = 3

    def problem(self, seed):
        return RELATED[seed % 3](super().problem(seed), seed)


class TestRelatedMergedTrees(Related):
    form = "trees"
    seeds = range(20_000, 20_300)


class TestRelatedMergedLinearModels(Related):
    form = "linear"
    seeds = range(20_000, 20_200)


class TestRelatedMergedObliqueTrees(Related):
    form = "oblique tree"
    seeds = range(20_000, 20_100)


class TestRelatedMergedBothKinds(Related):
    form = "mixed"
    seeds = range(20_000, 20_200)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("form", ["trees", "linear", "mixed"])
@pytest.mark.parametrize("seeds", first(1, [range(3), range(3, 200)]))
def test_real_numbers_keep_relations_with_columns_that_belong_together(form: str, seeds: range) -> None:
    """The judge is the program of the whole model for each combination, which keeps the values of its columns."""
    asked = proven = binding = 0
    for seed in seeds:
        free = random_problem(seed, form, Kinds(features=5, costs=("l1", "l0"), relations=()), 1 + seed % 3)
        if len(free.space) < 3:
            continue
        asked, free = asked + 1, with_combinations(free, seed)
        problem = RELATED[seed % 3](free, seed)
        found = MergedColumns(OF_ANY_ANSWER).solve(problem, Budget())
        judged = by_combination(problem, _proven_cost)
        assert judged is None or found.cost[0] == pytest.approx(judged, rel=2e-6, abs=2e-6), seed
        assert not found.found()[0] or problem.admits(found.points)[0], seed
        proven += judged is not None and found.status()[0] in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)
        binding += bool(found.cost[0] > MergedColumns(OF_ANY_ANSWER).solve(free, Budget()).cost[0] + 1e-6)
    assert proven > 0.9 * asked > 0.5 * len(seeds)
    assert binding > 0.2 * asked


def _proven_cost(problem: Problem) -> float | None:
    """The optimal cost that the program proves; None if it proves none."""
    found = Milp().solve(problem, Budget())
    return float(found.cost[0]) if found.status()[0] in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE) else None


class TestMergedLinearModels(Merged):
    form = "linear"
    seeds = range(300)


class TestMergedObliqueTrees(Merged):
    form = "oblique tree"
    seeds = range(200)


class TestMergedObliqueForests(Merged):
    form = "oblique forest"
    trees = 2
    seeds = range(100)


@pytest.mark.long
class TestMergedNetworks(Merged):
    form = "network"
    seeds = range(100)


class TestMergedBothKinds(Merged):
    form = "mixed"
    trees = 2
    seeds = range(100)


class Balls(Merged):
    """Answers that stay valid in a ball, in which the columns that belong together keep their values."""

    kinds = Kinds(continuous=False, features=4, relations=("at most",), costs=("l1", "l0", "l2", "mix"))
    trees = 3

    def problem(self, seed):
        found = with_ball(super().problem(seed), seed)
        linked = {name for names in found.together for name in names}
        radius = np.where([name in linked for name in found.space.names], 0.0, found.demands.ball.radius)
        ball = replace(found.demands.ball, radius=radius, step=np.where(radius > 0, found.demands.ball.step, 0.0))
        return found.with_demands(ball=ball)

    def judge(self, problem: Problem) -> float | None:
        alone = [replace(problem, score_sets=(replace(part, offset=0.0),)) for part in problem.score_sets]
        costs = [by_combination(one, lambda rest: float(Enumeration().solve(rest, Budget()).cost[0])) for one in alone]
        return min((cost + part.offset for cost, part in zip(costs, problem.score_sets, strict=True)), default=np.inf)


class TestMergedBallsOfTrees(Balls):
    form = "ensemble"
    seeds = range(120)


class TestMergedBallsOfLinearModels(Balls):
    form = "linear"
    seeds = range(120)


class Means(Merged):
    kinds = Kinds(continuous=False, features=4, relations=("at most", "linear"), costs=("l1", "l0", "l2", "mix"))
    trees = 3

    def problem(self, seed):
        found = of_mean(random_problem(seed, self.form, self.kinds, trees=1 + seed % self.trees), seed)
        return with_combinations(found, seed) if len(found.space) > 1 else found


class TestMergedMeansOfTrees(Means):
    form = "ensemble"
    seeds = range(100)


class TestMergedMeansOfLinearModels(Means):
    form = "linear"
    seeds = range(100)


@pytest.mark.long
def test_rows_with_combinations_of_their_own_are_solved_together() -> None:
    """Each row has another combination that is in no table, and none may take that of another row."""
    solver, own = MergedColumns(OF_ANY_ANSWER), 0
    for seed in range(60):
        problem = random_problem(seed, "ensemble", Kinds(features=4, relations=()), trees=3)
        if len(problem.space) < 2:
            continue
        problem = with_combinations(problem, seed)
        rng = np.random.default_rng(seed)
        factuals = np.array([random_row(rng, problem.space) for _ in range(4)])
        several = replace(problem, factuals=factuals, domain=open_domain(problem.space, factuals))
        found = solver.solve(several, Budget())
        assert np.allclose(found.cost, [solver.solve(several.take(np.array([i])), Budget()).cost[0] for i in range(4)])
        fine = found.found()
        assert several.take(np.flatnonzero(fine)).admits(found.points[fine]).all()
        for relation in problem.relations_of(Combinations):
            at = [problem.space.index(name) for name in relation.names]
            own += int((positions(relation.codes(problem.space), factuals[:, at]) < 0).sum())
    assert own > 50


@pytest.mark.parametrize("form", ["tree", "ensemble", "linear", "oblique tree", "oblique forest", "network", "mixed"])
@pytest.mark.shorter(1)
def test_a_merged_problem_says_of_each_point_what_the_whole_one_says(form) -> None:
    """Its scores, its cost, and whether it is admissible."""
    moved = open_to = 0
    for seed in range(100):
        problem = random_problem(seed, form, Kinds(features=4), trees=1 + seed % 3)
        if len(problem.space) < 2:
            continue
        rng = np.random.default_rng(seed)
        problem = with_combinations(off_centre(rng, problem), seed)
        problem = RELATED[seed % 3](problem.with_relation(about_ends(rng, problem.space)), seed)
        many = problem.take(np.zeros(200, dtype=np.intp))
        whole = np.array([random_row(rng, problem.space) for _ in range(200)])
        whole = np.where(rng.random(whole.shape) < 0.5, problem.factuals, whole)
        points = many.merging.merge(whole)
        for at, bundle in enumerate(many.merging.layout.groups, many.merging.first):
            points[:, at] = rng.integers(len(bundle), size=200)
        whole = many.merging.layout.split(points)
        assert np.array_equal(many.merging.merge(whole), points, equal_nan=True)
        assert np.allclose(evaluate(many.merged.model, points), evaluate(many.model, whole), atol=1e-9)
        cost = many.prices.total(many.factuals, whole)
        assert np.allclose(many.merged.prices.total(many.merged.factuals, points), cost)
        admitted = many.admits(whole)
        assert np.array_equal(many.merged.admits(points), admitted), f"seed {seed}"
        open_to += int(admitted.sum())
        moved += int((cost[admitted] > 0).sum())
    assert moved > 300
    assert open_to < 10_000


def off_centre(rng: np.random.Generator, problem: Problem) -> Problem:
    """The problem of a linear model whose numbers are measured from somewhere."""
    if not isinstance(problem.model, Linear):
        return problem
    centre = np.where([feature.levels is None for feature in problem.space], rng.normal(size=len(problem.space)), 0.0)
    return replace(problem, model=replace(problem.model, centre=centre))


def about_ends(rng: np.random.Generator, space: Space) -> Implication:
    """An implication about where two columns end."""
    made = []
    for j in rng.permutation(len(space))[:2].tolist():
        feature = space.features[j]
        if feature.levels is not None:
            made.append(bf.allowed(feature.name, feature.levels[1:]))
        else:
            made.append(bf.between(feature.name, (feature.low + feature.high) / 2))
    return bf.implies(*made)


@pytest.mark.parametrize(("kind", "seed"), [(TestMergedLinearModels, 268), (TestMergedBallsOfLinearModels, 103)])
def test_sums_of_whole_numbers_stay_exact(kind, seed) -> None:
    """They tie with the threshold, and no rounding decides about them, also where they are put into steps."""
    found = kind.solver.solve(kind().problem(seed), Budget())
    assert found.status()[0] in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)
