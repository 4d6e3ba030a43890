"""The reduction of an ensemble to one row: what must hold of any."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

from butfor.model.cells import representatives
from butfor.model.questions import evaluate
from butfor.model.trees import Trees
from butfor.solvers.ensemble.leaves import LeafTable, all_leaves
from butfor.solvers.ensemble.reduce import as_leaves, carried, reduce
from butfor.solvers.ensemble.reduced_ensemble import Reduced
from butfor.testing.problems import Kinds, random_space, random_trees

INF = np.inf


@dataclass(frozen=True)
class Drawn:
    """A random ensemble, and what is random of a row's problem."""

    model: Trees
    leaves: LeafTable
    able: np.ndarray
    price: np.ndarray
    kind: np.ndarray

    @property
    def reduced(self) -> Reduced:
        return reduce(self.leaves, self.able, self.price, self.kind)


def drawn(seed: int, kept: bool = True) -> Drawn:
    """Each cell is within reach with a chance of two thirds, but one of every feature is."""
    rng = np.random.default_rng(seed)
    space = random_space(rng, Kinds())
    model = random_trees(rng, space, int(rng.integers(1, 3)), trees=2 + seed % 6)
    leaves = all_leaves(model, space, 0.0)[1]
    cells = int(leaves.start[-1])
    able = rng.random(cells) < 0.67
    for first, end in pairwise(leaves.start):
        able[rng.integers(first, end)] = True
    price = np.where(able, rng.integers(0, 6, cells).astype(np.float64), INF)
    kind = np.where(rng.random(cells) < 0.15, rng.integers(1, 4, cells), 0)
    return Drawn(model, leaves, able, price, kind * kept)


def allowed(found: Reduced) -> np.ndarray:
    """Whether each entry takes each cell, written out: a row for each entry."""
    out = np.zeros((len(found.entries.pair), found.cells.start[-1]), dtype=np.bool_)
    asked = found.entries.blocks
    for e in range(len(out)):
        for b in asked.items[asked.begin[e] : asked.end[e]]:
            out[e, found.blocks.items[found.blocks.begin[b] : found.blocks.end[b]]] = True
    return out


def same(a: Any, b: Any) -> bool:
    """Whether two arrays, or two named tuples of arrays, are equal."""
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    return all(same(mine, other) for mine, other in zip(a, b, strict=True))


def feature_of_entries(found: Reduced) -> np.ndarray:
    return found.pairs.feature[found.entries.pair]


def reduced_scores(found: Reduced, value: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The scores of rows of merged cells, each tree taking its one leaf that fits."""
    takes = allowed(found)
    total = np.tile(value[found.trees.constant_leaves].sum(axis=0), (len(x), 1))
    feature = feature_of_entries(found)
    fits = np.ones((len(x), len(found.trees.original_leaf)), dtype=np.bool_)
    for e, (leaf, j) in enumerate(zip(found.entries.leaf, feature, strict=True)):
        fits[:, leaf] &= takes[e, x[:, j]]
    for first, end in pairwise(found.trees.start):
        assert (fits[:, first:end].sum(axis=1) == 1).all(), "a row has one leaf in each tree"
        total += value[found.trees.original_leaf[first:end]][fits[:, first:end].argmax(axis=1)]
    return total


def points_in(model: Trees, start: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """A point in each row of original cells."""
    points = np.empty(cells.shape)
    for j, own in enumerate(model.cells):
        inside = np.arange(float(own.levels)) if own.levels else representatives(own)
        points[:, j] = np.append(inside, np.nan)[cells[:, j] - start[j]]
    return points


def test_scores_at_all_combinations_of_merged_cells_are_those_of_the_ensemble() -> None:
    # Any of the original cells that a merged one stands for must do, so one is drawn for each combination.
    merged = 0
    for seed in range(200):
        problem = drawn(seed)
        found = problem.reduced
        start = found.cells.start
        x = np.array(list(product(*(range(a, b) for a, b in pairwise(start)))), dtype=np.intp)
        rng = np.random.default_rng(seed)
        cells = np.empty_like(x)
        for c in range(start[-1]):
            members = np.flatnonzero(found.cells.merged_into == c)
            assert problem.able[members].all(), f"seed {seed}"
            merged += len(members) > 1
            at = x == c
            cells[at] = rng.choice(members, int(at.sum()))
        truth = evaluate(problem.model, points_in(problem.model, problem.leaves.start, cells)) - problem.model.base
        assert np.allclose(reduced_scores(found, problem.leaves.value, x), truth, rtol=0, atol=1e-12), f"seed {seed}"
    assert merged > 200, "hardly any cells were merged"


def test_every_affordable_cell_is_in_one_merged_cell_and_the_cheapest_stands_for_it() -> None:
    for seed in range(200):
        problem = drawn(seed)
        cells = problem.reduced.cells
        assert np.array_equal(cells.merged_into >= 0, problem.able), f"seed {seed}"
        for c in range(cells.start[-1]):
            members = np.flatnonzero(cells.merged_into == c)
            assert cells.original[c] in members, f"seed {seed}"
            assert problem.price[cells.original[c]] == problem.price[members].min(), f"seed {seed}"
            assert len(set(problem.kind[members])) == 1, f"seed {seed}"


def test_some_entry_distinguishes_cells_that_are_not_merged() -> None:
    several = 0
    for seed in range(200):
        found = drawn(seed, kept=False).reduced
        takes, feature, start = allowed(found), feature_of_entries(found), found.cells.start
        for j in range(len(start) - 1):
            seen = takes[feature == j, start[j] : start[j + 1]]
            assert len(np.unique(seen, axis=1).T) == start[j + 1] - start[j], f"seed {seed}, feature {j}"
            several += start[j + 1] - start[j] > 1
    assert several > 100


def test_every_entry_leaves_some_cell_out() -> None:
    for seed in range(200):
        found = drawn(seed).reduced
        takes, start = allowed(found), found.cells.start
        for e, j in enumerate(feature_of_entries(found)):
            assert 0 < takes[e].sum() < start[j + 1] - start[j], f"seed {seed}, entry {e}"


def test_reducing_again_without_leaving_out_a_cell_changes_nothing() -> None:
    for seed in range(200):
        problem = drawn(seed, kept=False)
        once = problem.reduced
        leaves = as_leaves(once)
        missing = np.zeros(leaves.start[-1], dtype=np.bool_)
        missing[leaves.start[1:] - 1] = True
        price = np.where(missing, INF, 0.0)
        twice = reduce(leaves, ~missing, price, np.zeros(len(missing), dtype=np.intp))
        assert same(twice.pairs, once.pairs), f"seed {seed}"
        assert same(twice.blocks, once.blocks), f"seed {seed}"
        assert same(twice.entries, once.entries), f"seed {seed}"
        assert twice.trees.start.tolist() == once.trees.start.tolist(), f"seed {seed}"
        assert twice.trees.original_leaf.tolist() == list(range(len(once.trees.original_leaf))), f"seed {seed}"
        assert twice.cells.start.tolist() == once.cells.start.tolist(), f"seed {seed}"
        assert twice.cells.original.tolist() == np.flatnonzero(~missing).tolist(), f"seed {seed}"


def test_each_message_ends_up_in_a_block_with_its_cell() -> None:
    compared = 0
    for seed in range(200):
        old = drawn(seed).reduced
        leaves = as_leaves(old)
        rng = np.random.default_rng(seed)
        old_cell = np.full(leaves.start[-1], -1)
        for j, (first, end) in enumerate(pairwise(old.cells.start)):
            old_cell[first + j : end + j] = np.arange(first, end)
        able = (old_cell >= 0) & (rng.random(len(old_cell)) < 0.7)
        able[leaves.start[:-1]] = True
        new = reduce(leaves, able, np.where(able, 0.0, INF), np.zeros(len(able), dtype=np.intp))
        message = np.arange(len(old.blocks.begin)) + 0.5
        found = carried(message, old, new)
        assert len(found) == len(new.blocks.begin), f"seed {seed}"
        for q in range(len(new.pairs.feature)):
            tree = new.trees.original[new.pairs.tree[q]]
            (before,) = np.flatnonzero((old.pairs.feature == new.pairs.feature[q]) & (old.pairs.tree == tree))
            for b in range(new.pairs.block_start[q], new.pairs.block_start[q + 1]):
                first_cell = new.blocks.items[new.blocks.begin[b]]
                cell = old_cell[new.cells.original[first_cell]]
                (holding,) = [
                    a
                    for a in range(old.pairs.block_start[before], old.pairs.block_start[before + 1])
                    if cell in old.blocks.items[old.blocks.begin[a] : old.blocks.end[a]]
                ]
                assert found[b] == message[holding], f"seed {seed}, block {b}"
                compared += 1
    assert compared > 1000
