"""The compiled evaluator against the definition of a tree, written out."""

from __future__ import annotations

import numpy as np
import pytest

from butfor.model.trees import Trees, evaluate_trees
from butfor.solvers.ensemble.leaves import all_leaves
from butfor.testing.problems import Kinds, random_problem, random_row


def plain_score(model: Trees, row: np.ndarray) -> np.ndarray:
    """What `Trees` says it is: from the root down, and the values of the leaves added in order."""
    total = np.array(model.base, dtype=np.float64)
    for node in model.roots.tolist():
        while model.feature[node] >= 0:
            x, cells = row[model.feature[node]], model.cells[model.feature[node]]
            if model.member[node] >= 0:
                left = model.cell_sets[model.member[node]][cells.index(np.array([x]))[0]]
            else:
                left = model.missing_left[node] if np.isnan(x) else x <= model.cut[node]
            node = int(model.left[node] if left else model.right[node])
        total += model.value[node]
    return total


@pytest.mark.parametrize("numbers_only", [False, True])
def test_scores_are_those_of_the_definition_to_the_bit(numbers_only: bool) -> None:
    kinds = Kinds(levels=False, missing=False, bins=False) if numbers_only else Kinds()
    plain_walks = 0
    for seed in range(60):
        problem = random_problem(seed, "ensemble", kinds, trees=1 + seed % 9)
        rng = np.random.default_rng(seed)
        X = np.array([random_row(rng, problem.space) for _ in range(1 + seed % 11)])
        assert isinstance(problem.model, Trees)
        found = evaluate_trees(problem.model, X)
        assert np.array_equal(found, [plain_score(problem.model, row) for row in X]), f"seed {seed}"
        leaves = np.array([problem.model.value[problem.model.leaves_at(row)].sum(axis=0) for row in X])
        assert np.allclose(found, problem.model.base + leaves)
        plain_walks += not problem.model.cell_sets
    assert plain_walks == (60 if numbers_only else plain_walks)


def test_threads_change_nothing() -> None:
    problem = random_problem(3, "ensemble", Kinds(), trees=7)
    assert isinstance(problem.model, Trees)
    rng = np.random.default_rng(0)
    X = np.array([random_row(rng, problem.space) for _ in range(101)])
    alone = evaluate_trees(problem.model, X)
    for threads in (2, 3, 60, 1000):
        assert np.array_equal(evaluate_trees(problem.model, X, threads), alone)


def test_every_row_is_in_one_leaf_of_each_tree() -> None:
    for seed in range(200):
        problem = random_problem(seed, "ensemble", Kinds(relations=()), trees=1 + seed % 5)
        model = problem.model
        assert isinstance(model, Trees)
        cells, leaves = all_leaves(model, problem.space, 0.0)
        row = random_row(np.random.default_rng(seed), problem.space)
        at = [int(cell.index(row[[j]])[0]) for j, cell in enumerate(cells)]
        total = np.array(model.base, dtype=np.float64)
        for first, last in zip(leaves.tree, leaves.tree[1:], strict=False):
            inside = [leaf for leaf in range(first, last) if _holds(leaves, leaf, at, cells)]
            assert len(inside) == 1, f"seed {seed}"
            total += leaves.value[inside[0]]
        assert np.allclose(total, evaluate_trees(model, row[None])[0], rtol=0, atol=1e-12)


def _holds(leaves, leaf, at, cells) -> bool:
    for e in range(leaves.entry[leaf], leaves.entry[leaf + 1]):
        j = leaves.feature[e]
        if leaves.mask[e] >= 0:
            fits = leaves.masks[leaves.mask[e] + at[j]]
        elif at[j] == cells[j].count:
            fits = leaves.missing[e]
        else:
            fits = leaves.first[e] <= at[j] <= leaves.last[e]
        if not fits:
            return False
    return True
