"""The compiled adversary against the plain definition: the smallest score of the cells inside a box or a ball."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from butfor.model.grid_points import grid_near, shifted
from butfor.model.questions import evaluate
from butfor.model.trees import Trees
from butfor.neighbours.ball import Ball, BallNorm
from butfor.neighbours.places import Grids
from butfor.neighbours.trees import kernels
from butfor.neighbours.trees import search as module
from butfor.neighbours.trees.regions import regions
from butfor.neighbours.trees.search import worst_row
from butfor.testing.problems import Kinds, random_problem, random_row
from tests.shorter import first

KINDS = Kinds(features=3, bins=False)  # bins may end between the points of a grid


def near(model: Trees, point: np.ndarray, low: np.ndarray, high: np.ndarray, grids: Grids) -> np.ndarray:
    """One row in each cell that a box meets, the one that is nearest to the point."""
    ways = []
    for j, x in enumerate(point):
        if np.isnan(x) or low[j] == high[j]:
            ways.append(np.array([x if np.isnan(x) else low[j]]))
        elif grids.step[j]:
            points = shifted(np.array([x]), np.arange(-45.0, 46.0), grids.step[j], grids.anchor[j])
            ways.append(points[(points >= low[j]) & (points <= high[j])])
        else:
            cuts = model.cells[j].edges
            ends = np.concatenate([[x, low[j], high[j]], cuts, np.nextafter(cuts, np.inf)])
            ways.append(np.unique(ends[(ends >= low[j]) & (ends <= high[j])]))
    return np.array(list(itertools.product(*ways))).reshape(-1, len(point))


@pytest.mark.shorter(4)
@pytest.mark.parametrize("seeds", first(1, [range(30), range(30, 250)]))
@pytest.mark.parametrize("norm", [None, "l1", "l2"])
@pytest.mark.parametrize("room", [(32, 8), (3, 3)])
@pytest.mark.parametrize("few", [200, 1])
def test_the_smallest_score_of_a_box_and_of_a_slab_beside_the_point(norm, room, few, seeds, monkeypatch) -> None:
    monkeypatch.setattr(module, "FEW_BOXES", few)
    monkeypatch.setattr(module, "OPEN_BOXES", room[0])
    monkeypatch.setattr(module, "LISTED_LEAVES", room[1])
    merges, merged = [], kernels.merged
    monkeypatch.setattr(kernels, "merged", lambda *given: merges.append(1) or merged(*given))
    splits = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        problem = random_problem(seed, "ensemble", KINDS, trees=1 + seed % 9)
        numbers = np.array([feature.levels is None for feature in problem.space])
        point = random_row(rng, problem.space)
        moves = numbers & ~np.isnan(point)
        step = np.where(moves & (rng.random(len(point)) < 0.3), 1.0 if norm else rng.choice([1.0, 0.1, 0.3]), 0.0)
        grids = Grids(step, np.zeros(len(point)))
        if seed % 2:  # on the grid; else each grid begins at the point
            point = np.where(step > 0, grid_near(point, step, grids.anchor), point)
        grids, model = grids.through(point), problem.model
        low, high = (point + sign * np.where(moves, rng.random(len(point)) * 3, 0.0) for sign in (-1, 1))
        if seed % 3 == 0 and moves.any():  # beside the point in one feature
            j = int(rng.choice(np.flatnonzero(moves)))
            low[j] = grids.numbers(grids.place(point) + 1, point)[j] if step[j] else np.nextafter(point[j], np.inf)
            high[j] = max(low[j], high[j])
        round_ball = None if norm is None else Ball(BallNorm(norm), np.where(moves, 2.0, 0.0), step, grids.anchor)
        rows = near(model, point, low, high, grids)
        if round_ball is not None:
            rows = rows[round_ball.holds(np.nan_to_num(rows - point))]
        weights = rng.normal(size=model.scores)
        scores = evaluate(model, rows) @ weights if len(rows) else np.array([np.inf])
        leaves = regions(model, weights, point)
        found = worst_row(leaves, point, low, high, grids, round_ball)
        assert found.score == pytest.approx(scores.min(), abs=1e-9), f"seed {seed}"
        if len(rows):
            assert evaluate(model, found.point[None])[0] @ weights == pytest.approx(found.score, abs=1e-9)
            assert ((found.point >= low) & (found.point <= high))[moves].all()
            assert worst_row(leaves, point, low, high, grids, round_ball, below=scores.min() - 1e-9).score == np.inf
            some = worst_row(leaves, point, low, high, grids, round_ball, below=scores.min() + 1e-9)
            assert some.score == pytest.approx(scores.min(), abs=1e-8)
            splits += scores.min() < scores[0]
    assert splits > 0.24 * len(seeds)
    assert few == 200 or len(merges) > 0.24 * len(seeds)
