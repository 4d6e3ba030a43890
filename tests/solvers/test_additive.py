"""Lines that enclose pieces of shapes, and answers over continuous numbers against a fine grid of them."""

from __future__ import annotations

import numpy as np
import pytest

from butfor.arrays import FloatArray
from butfor.formulation.margins import widened
from butfor.model.questions import evaluate
from butfor.problem.problem import Problem
from butfor.solvers.additive.knapsack import AdditiveKnapsack
from butfor.solvers.additive.lines import BentColumn
from butfor.solvers.additive.piece_programs import PiecePrograms
from butfor.solvers.outcome import Outcome, Status, tolerated
from butfor.solvers.solver import AbstractSolver, Budget
from butfor.testing.problems import Kinds, random_problem
from tests.shorter import first

SEVERAL = Kinds(classes=3, features=2, costs=("l1", "l2", "mix", "l0"), relations=("at most",))
ANY = Kinds(classes=1, features=2, costs=("l1", "l2", "mix", "l0"), relations=("at most",))
FINE = 400
ONE, MORE = AdditiveKnapsack(), PiecePrograms()


def problems(seeds: range, kinds: Kinds = ANY, form: str = "additive", solver: AbstractSolver = ONE) -> list[Problem]:
    found = (random_problem(seed, form, kinds) for seed in seeds)
    return [problem for problem in found if solver.accepts(problem.form())]


@pytest.mark.parametrize("seed", first(40, range(400)))
def test_lines_enclose_what_every_number_gains(seed) -> None:
    """Also after pieces were cut, here and there."""
    rng = np.random.default_rng(seed)
    for problem in problems(range(seed, seed + 1)):
        weights = problem.score_sets[0].A[0]
        for j in np.flatnonzero(problem.domain.movable).tolist():
            column = BentColumn(problem, weights, j)
            for _ in range(3):
                lines = column.lines()
                runs = lines.runs
                for k in np.flatnonzero(runs.able[0]):
                    u = np.linspace(0.0, abs(runs.end[0, k] - runs.begin[0, k]), 30) if runs.way[k] else np.zeros(1)
                    rows = np.repeat(problem.factuals, len(u), axis=0)
                    ends = sorted((runs.begin[0, k], runs.end[0, k]))
                    rows[:, j] = np.clip(runs.begin[0, k] + runs.way[k] * u, *ends)
                    gain = (evaluate(problem.model, rows) - evaluate(problem.model, problem.factuals)) @ weights
                    chord, slack = lines.begin[k] + lines.rate[k] * u, 1e-12 * (1 + np.abs(gain).max())
                    assert (gain <= chord + lines.above[k] + slack).all()
                    assert (gain >= chord - lines.below[k] - slack).all()
                x = float(rng.uniform(problem.space.features[j].low, problem.space.features[j].high or 1.0))
                column.refine(x, lines)


def grid(problem: Problem, j: int) -> FloatArray:
    """Many values of a feature, its own among them."""
    feature, x = problem.space.features[j], problem.factuals[0, j]
    if not problem.domain.movable[j]:
        return np.array([x])
    if feature.levels is not None:
        return np.unique(np.append(np.arange(float(len(feature.levels))), x))
    fine = np.linspace(
        feature.low, feature.high, FINE if not feature.step else round((feature.high - feature.low) / feature.step) + 1
    )
    return np.append(np.unique(np.append(fine, x)), [np.nan] if feature.missing else [])


@pytest.mark.parametrize("seed", first(60, range(600)))
def test_no_point_of_a_fine_grid_is_cheaper(seed) -> None:
    for problem in problems(range(1000 + seed, 1001 + seed)):
        check_against_a_grid(problem, AdditiveKnapsack().solve(problem, Budget()))


@pytest.mark.shorter(30)
@pytest.mark.parametrize("form", ["additive", "bent tree"])
@pytest.mark.parametrize("seed", first(40, range(400)))
def test_no_point_of_a_fine_grid_is_cheaper_for_several_inequalities(seed, form) -> None:
    for problem in problems(range(seed, seed + 1), SEVERAL, form, MORE):
        check_against_a_grid(problem, MORE.solve(problem, Budget()))


def check_against_a_grid(problem: Problem, found: Outcome) -> None:
    points = np.stack(np.meshgrid(*(grid(problem, j) for j in range(len(problem.space))), indexing="ij"), axis=-1)
    points = points.reshape(-1, len(problem.space))
    many = problem.take(np.zeros(len(points), dtype=np.intp))
    scores, cost = evaluate(problem.model, points), problem.prices.total(many.factuals, points)
    admitted = many.admits(points)
    inside = np.min([np.where(part.holds(scores), part.offset, np.inf) for part in problem.score_sets], axis=0)
    least = float((cost + inside)[admitted].min(initial=np.inf))
    assert found.bound[0] <= least + tolerated(least) if np.isfinite(least) else True
    if (
        np.isinf(least) and found.status()[0] is Status.NOT_FOUND
    ):  # a row on the edge, which is none of the set, is in doubt
        assert any(widened(part, problem).holds(scores)[admitted].any() for part in problem.score_sets)
        return
    assert found.status()[0] in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)
    if np.isfinite(least):
        assert found.cost[0] <= least + tolerated(least)
    if found.found()[0]:
        assert any(part.holds(evaluate(problem.model, found.points))[0] for part in problem.score_sets)
        assert problem.admits(found.points)[0]
