"""The reduction of an ensemble to one row: small ensembles worked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from butfor.model.cells import level_cells
from butfor.model.trees import Trees, with_cells
from butfor.solvers.ensemble.leaves import LeafTable, all_leaves
from butfor.solvers.ensemble.reduce import as_leaves, carried, reduce
from butfor.solvers.ensemble.reduced_ensemble import Reduced
from butfor.space.feature import Feature
from butfor.space.space import Space

INF = np.inf


def trees_of(*roots: Any, levels: tuple[int, ...]) -> Trees:
    """Trees written as nested tuples: (feature, cut, left, right), or the value of a leaf.

    In place of a cut there may be the set of cells that go left.
    `levels` says how many levels each feature has, and 0 for a number.
    """
    nodes: list[list[Any]] = []  # feature, cut, member, left, right, value
    sets: list[np.ndarray] = []

    def grow(root: Any) -> int:
        node = len(nodes)
        nodes.append([-1, 0.0, -1, -1, -1, 0.0])
        if not isinstance(root, tuple):
            nodes[node][5] = root
            return node
        feature, asked, left, right = root
        nodes[node][0] = feature
        if isinstance(asked, set):
            nodes[node][2] = len(sets)
            sets.append(np.isin(np.arange(levels[feature] + 1), list(asked)))
        else:
            nodes[node][1] = asked
        nodes[node][3], nodes[node][4] = grow(left), grow(right)
        return node

    starts = [grow(root) for root in roots]
    feature, cut, member, left, right, value = zip(*nodes, strict=True)
    made = Trees(
        np.array(starts), np.array(feature), np.array(cut, dtype=np.float64), np.array(member),
        np.zeros(len(nodes), dtype=np.bool_), np.array(left), np.array(right), np.array(value)[:, None], tuple(sets),
        np.zeros(1), (),
    )  # fmt: skip
    return with_cells(made, tuple(level_cells(n) if n else None for n in levels))


def leaves_of(model: Trees) -> LeafTable:
    space = Space(tuple(Feature(f"f{j}", low=0.0, high=100.0) for j in range(len(model.cells))))
    return all_leaves(model, space, 0.0)[1]


def reduced(leaves: LeafTable, price: list[float], keep_separate: tuple[int, ...] = ()) -> Reduced:
    """The cells of infinite price are out of reach."""
    prices = np.array(price, dtype=np.float64)
    kind = np.where(np.isin(np.arange(len(prices)), keep_separate), 1 + np.arange(len(prices)), 0)
    return reduce(leaves, np.isfinite(prices), prices, kind)


def plain(part: Any) -> Any:
    """Named tuples of arrays as dictionaries of lists."""
    if hasattr(part, "_asdict"):
        return {name: plain(value) for name, value in part._asdict().items()}
    return part.tolist()


# ------------------------------------------------------------------------------------------ worked by hand

# Features 0 (age, with the cuts 40 and 60) and 1 (income, with the cuts 2 and 5), and one tree:
#
#                        income <= 5
#                       /           \
#                age <= 60         age <= 40
#                /       \          /     \
#         income <= 2    C (2)   D (3)   E (4)
#           /     \
#        A (0)   B (1)
#
# Cells of age: 0 (up to 40), 1 (to 60), 2 (beyond), 3 (missing).
# Cells of income: 4 (up to 2), 5 (to 5), 6 (beyond), 7 (missing).
# The docs page 008-ensembles.md draws the same tree.
AGE_AND_INCOME = leaves_of(trees_of((1, 5.0, (0, 60.0, (1, 2.0, 0.0, 1.0), 2.0), (0, 40.0, 3.0, 4.0)), levels=(0, 0)))


def test_a_tree_with_an_unaffordable_cell() -> None:
    # Income cell 6 is unaffordable, and nothing may be missing.
    # D and E ask for cell 6 and go. With them goes the cut at 40: age cells 0 and 1 become new cell 0.
    # Cell 1 stands for it, because it is cheaper.
    # New cells: age 0 = {0, 1}, 1 = {2}; income 2 = {4}, 3 = {5}.
    # The root asks for income first, but pairs are numbered by feature. So pair 0 is age, with blocks 0 = {0} and 1 = {1}.
    # Pair 1 is income, with blocks 2 = {2} and 3 = {3}.
    # A: income in block 2 (entry 0), age in block 0 (entry 1). B: income in block 3 (2), age in block 0 (3).
    # C: age in block 1 (4). It takes every affordable income, which is no entry.
    found = reduced(AGE_AND_INCOME, [3.0, 1.0, 4.0, INF, 0.0, 2.0, INF, INF])
    assert plain(found) == {
        "cells": {
            "start": [0, 2, 4],
            "original": [1, 2, 4, 5],
            "merged_into": [0, 0, 1, -1, 2, 3, -1, -1],
            "ordered": [True, True],
        },
        "trees": {"start": [0, 3], "original": [0], "original_leaf": [0, 1, 2], "constant_leaves": []},
        "pairs": {
            "feature": [0, 1],
            "tree": [0, 0],
            "block_start": [0, 2, 4],
            "entries": {"start": [0, 3, 5], "items": [1, 3, 4, 0, 2]},
            "of_feature": {"start": [0, 1, 2], "items": [0, 1]},
        },
        "blocks": {"begin": [0, 1, 2, 3], "end": [1, 2, 3, 4], "items": [0, 1, 2, 3]},
        "entries": {
            "start": [0, 2, 4, 5],
            "leaf": [0, 0, 1, 1, 2],
            "pair": [1, 0, 1, 0, 0],
            "blocks": {"begin": [2, 0, 3, 0, 1], "end": [3, 1, 4, 1, 2], "items": [0, 1, 2, 3]},
        },
    }


def test_a_cell_kept_separate_changes_cells_but_not_what_a_tree_distinguishes() -> None:
    # As above, with age cell 0 kept separate: new cells age 0 = {0}, 1 = {1}, 2 = {2}; income 3 = {4}, 4 = {5}.
    # The tree still does not distinguish 0 and 1: block 0 is {0, 1}, and block 1 is {2}.
    found = reduced(AGE_AND_INCOME, [3.0, 1.0, 4.0, INF, 0.0, 2.0, INF, INF], keep_separate=(0,))
    assert plain(found.cells) == {
        "start": [0, 3, 5],
        "original": [0, 1, 2, 4, 5],
        "merged_into": [0, 1, 2, -1, 3, 4, -1, -1],
        "ordered": [True, True],
    }
    assert plain(found.blocks) == {"begin": [0, 2, 3, 4], "end": [2, 3, 4, 5], "items": [0, 1, 2, 3, 4]}
    assert plain(found.entries.blocks) == {"begin": [2, 0, 3, 0, 1], "end": [3, 1, 4, 1, 2], "items": [0, 1, 2, 3]}


def test_each_tree_sees_only_its_own_cuts() -> None:
    # Two trees, with cells age 0 (up to 40), 1 (to 60), 2 (beyond), and income 4 (up to 5), 5 (beyond):
    #
    #        age <= 40               age <= 60
    #        /       \               /       \
    #   income <= 5   2         income <= 5   5
    #     /   \                   /   \
    #    0     1                 3     4
    #
    # All are affordable, and no two are merged: new cells age 0, 1, 2, and income 3 = {4}, 4 = {5}.
    # Pair 0 is the first tree with age: blocks {0}, {1, 2}. Pair 1 is the second with age: blocks {0, 1}, {2}.
    # Pairs 2 and 3 are the trees with income: blocks {3}, {4}.
    leaves = leaves_of(
        trees_of((0, 40.0, (1, 5.0, 0.0, 1.0), 2.0), (0, 60.0, (1, 5.0, 3.0, 4.0), 5.0), levels=(0, 0)),
    )
    found = reduced(leaves, [0.0, 1.0, 2.0, INF, 0.0, 1.0, INF])
    assert plain(found.cells)["merged_into"] == [0, 1, 2, -1, 3, 4, -1]
    assert plain(found.pairs) == {
        "feature": [0, 0, 1, 1],
        "tree": [0, 1, 0, 1],
        "block_start": [0, 2, 4, 6, 8],
        "entries": {"start": [0, 3, 6, 8, 10], "items": [0, 2, 4, 5, 7, 9, 1, 3, 6, 8]},
        "of_feature": {"start": [0, 2, 4], "items": [0, 1, 2, 3]},
    }
    assert plain(found.blocks) == {
        "begin": [0, 1, 0, 2, 3, 4, 3, 4],
        "end": [1, 3, 2, 3, 4, 5, 4, 5],
        "items": [0, 1, 2, 3, 4],
    }


def test_a_tree_becomes_constant_and_the_cells_of_another_merge() -> None:
    # Features 0 (age, cuts 40, 50 and 60) and 1 (income, cut 5), and two trees, whose leaves are numbered together:
    #
    #     income <= 5                  age <= 60
    #      /      \                    /       \
    #     0     age <= 40       income <= 5     6
    #            /    \           /    \
    #           1      2         3   age <= 50
    #                                 /    \
    #                                4      5
    #
    # Cells of age: 0 (up to 40), 1 (to 50), 2 (to 60), 3 (beyond), 4 (missing). Of income: 5 (up to 5), 6, 7 (missing).
    # Income cell 6 is unaffordable. The first tree has only leaf 0 left, which takes every cell left: it is constant.
    # The second has leaves 3 (age in 0 to 2) and 6 (age in 3), which both take every income left.
    # The cuts at 40 and 50 go: new cells age 0 = {0, 1, 2}, for which 0 stands, 1 = {3}; income 2 = {5}.
    # One pair, the second tree with age: blocks 0 = {0}, 1 = {1}. Leaf 3 asks for block 0, leaf 6 for block 1.
    leaves = leaves_of(
        trees_of(
            (1, 5.0, 0.0, (0, 40.0, 1.0, 2.0)),
            (0, 60.0, (1, 5.0, 3.0, (0, 50.0, 4.0, 5.0)), 6.0),
            levels=(0, 0),
        )
    )
    found = reduced(leaves, [2.0, 2.0, 5.0, 1.0, INF, 0.0, INF, INF])
    assert plain(found) == {
        "cells": {
            "start": [0, 2, 3],
            "original": [0, 3, 5],
            "merged_into": [0, 0, 0, 1, -1, 2, -1, -1],
            "ordered": [True, True],
        },
        "trees": {"start": [0, 2], "original": [1], "original_leaf": [3, 6], "constant_leaves": [0]},
        "pairs": {
            "feature": [0],
            "tree": [0],
            "block_start": [0, 2],
            "entries": {"start": [0, 2], "items": [0, 1]},
            "of_feature": {"start": [0, 1, 1], "items": [0]},
        },
        "blocks": {"begin": [0, 1], "end": [1, 2], "items": [0, 1, 2]},
        "entries": {
            "start": [0, 1, 2],
            "leaf": [0, 1],
            "pair": [0, 0],
            "blocks": {"begin": [0, 1], "end": [1, 2], "items": [0, 1]},
        },
    }


def test_sets_of_categories_with_missing_and_a_cell_kept_separate() -> None:
    # Features 0 (colour: red, green, blue, yellow) and 1 (size, cut 10), and one tree:
    #
    #      colour in {red, blue, missing}
    #             /            \
    #        size <= 10         2
    #         /     \
    #        0       1
    #
    # Cells of colour: 0 to 3, 4 (missing). Cells of size: 5, 6, 7 (missing, the only one out of reach).
    # Blue, cell 2, is kept separate.
    # New cells, in the order of their first cells: colour 0 = {red, missing}, 1 = {green, yellow}, 2 = {blue};
    # size 3 = {5}, 4 = {6}. Missing is cheaper than red and stands for it. Colour is not ordered.
    # Pair 0, colour: blocks 0 = {0, 2} and 1 = {1}, the cells of which are listed behind the numbers 0 to 4.
    # Pair 1, size: blocks 2 = {3}, 3 = {4}.
    # Leaf 0: colour in block 0 (entry 0), size in block 2 (entry 1). Leaf 1: colour in 0 (2), size in 3 (3).
    # Leaf 2: colour in block 1 (entry 4).
    # The blocks that entries 0, 2 and 4 ask for are listed behind the numbers 0 to 3.
    leaves = leaves_of(trees_of((0, {0, 2, 4}, (1, 10.0, 0.0, 1.0), 2.0), levels=(4, 0)))
    found = reduced(leaves, [2.0, 1.0, 0.0, 3.0, 1.0, 0.0, 4.0, INF], keep_separate=(2,))
    assert plain(found) == {
        "cells": {
            "start": [0, 3, 5],
            "original": [4, 1, 2, 5, 6],
            "merged_into": [0, 1, 2, 1, 0, 3, 4, -1],
            "ordered": [False, True],
        },
        "trees": {"start": [0, 3], "original": [0], "original_leaf": [0, 1, 2], "constant_leaves": []},
        "pairs": {
            "feature": [0, 1],
            "tree": [0, 0],
            "block_start": [0, 2, 4],
            "entries": {"start": [0, 3, 5], "items": [0, 2, 4, 1, 3]},
            "of_feature": {"start": [0, 1, 2], "items": [0, 1]},
        },
        "blocks": {"begin": [5, 7, 3, 4], "end": [7, 8, 4, 5], "items": [0, 1, 2, 3, 4, 0, 2, 1]},
        "entries": {
            "start": [0, 2, 4, 5],
            "leaf": [0, 0, 1, 1, 2],
            "pair": [0, 1, 0, 1, 0],
            "blocks": {"begin": [4, 2, 5, 3, 6], "end": [5, 3, 6, 4, 7], "items": [0, 1, 2, 3, 0, 0, 1]},
        },
    }


def test_a_number_that_may_be_missing_is_not_ordered() -> None:
    # The tree of `AGE_AND_INCOME` sends missing values right: a missing age goes with ages beyond 60, to C.
    # Age may be missing now, so that its cells are listed: new cells age 0 = {0, 1}, 1 = {2, missing}.
    found = reduced(AGE_AND_INCOME, [3.0, 1.0, 4.0, 9.0, 0.0, 2.0, INF, INF])
    assert found.cells.ordered.tolist() == [False, True]
    assert found.cells.merged_into.tolist() == [0, 0, 1, 1, 2, 3, -1, -1]
    assert found.cells.original.tolist() == [1, 2, 4, 5]


def gapped(able: list[bool]) -> Reduced:
    """A tree of one leaf, which takes only the first of three cells; the last is "missing".

    Margins may leave such a tree.
    """
    one = leaves_of(trees_of((0, 5.0, 0.0, 1.0), levels=(0,)))
    single = one._replace(
        tree=np.array([0, 1]), value=one.value[:1], entry=np.array([0, 1]), feature=one.feature[:1],
        first=one.first[:1], last=one.last[:1], missing=one.missing[:1], mask=one.mask[:1],
    )  # fmt: skip
    return reduce(single, np.array(able), np.zeros(3), np.zeros(3, dtype=np.intp))


def test_a_single_leaf_that_leaves_a_cell_out_still_decides() -> None:
    found = gapped([True, True, False])
    assert found.trees.constant_leaves.tolist() == []
    assert found.trees.original_leaf.tolist() == [0]
    assert plain(found.blocks) == {"begin": [0, 1], "end": [1, 2], "items": [0, 1]}
    assert plain(found.entries.blocks) == {"begin": [0], "end": [1], "items": [0, 1]}


def test_a_single_leaf_that_takes_every_cell_is_constant() -> None:
    found = gapped([True, False, False])
    assert found.trees.constant_leaves.tolist() == [0]
    assert len(found.trees.original) == len(found.pairs.feature) == 0


def test_a_tree_that_no_cell_leads_into_has_no_leaf() -> None:
    assert gapped([False, True, False]).trees.constant_leaves.tolist() == [-1]


def test_what_is_looked_up_with_is_unsigned() -> None:
    found = reduced(AGE_AND_INCOME, [3.0, 1.0, 4.0, INF, 0.0, 2.0, INF, INF])
    looked_up = [
        found.pairs.entries.items, found.pairs.of_feature.items, found.blocks.items, found.entries.leaf,
        found.entries.blocks.items,
    ]  # fmt: skip
    assert {array.dtype for array in looked_up} == {np.dtype(np.uint32)}


# ----------------------------------------------------------------------------------------- reduced further

FIRST = reduced(AGE_AND_INCOME, [3.0, 1.0, 4.0, INF, 0.0, 2.0, INF, INF])
"""What `test_a_tree_with_an_unaffordable_cell` works out."""


def test_a_reduced_ensemble_as_leaves() -> None:
    # Each feature gets a "missing" cell: age 0, 1, 2; income 3, 4, 5. The entries are those of the first reduction.
    leaves = as_leaves(FIRST)
    assert leaves.start.tolist() == [0, 3, 6]
    assert leaves.tree.tolist() == [0, 3]
    assert leaves.entry.tolist() == [0, 2, 4, 5]
    assert leaves.feature.tolist() == [1, 0, 1, 0, 0]
    assert leaves.first.tolist() == [0, 0, 1, 0, 1]
    assert leaves.last.tolist() == [0, 0, 1, 0, 1]
    assert leaves.mask.tolist() == [-1] * 5
    assert not leaves.missing.any()


def test_sets_as_leaves_are_masks() -> None:
    # The ensemble of `test_sets_of_categories_with_missing_and_a_cell_kept_separate`.
    # Colour has cells 0, 1, 2 and "missing", the new one.
    # Leaves 0 and 1 ask for cells 0 and 2, leaf 2 for cell 1.
    leaves = leaves_of(trees_of((0, {0, 2, 4}, (1, 10.0, 0.0, 1.0), 2.0), levels=(4, 0)))
    further = as_leaves(reduced(leaves, [2.0, 1.0, 0.0, 3.0, 1.0, 0.0, 4.0, INF], keep_separate=(2,)))
    assert further.start.tolist() == [0, 4, 7]
    assert further.mask.tolist() == [0, -1, 4, -1, 8]
    assert further.masks.reshape(3, 4).astype(int).tolist() == [[1, 0, 1, 0], [1, 0, 1, 0], [0, 1, 0, 0]]
    assert further.first.tolist() == [0, 0, 0, 1, 0]
    assert further.last.tolist() == [-1, 0, -1, 1, -1]


def test_an_ensemble_is_reduced_further() -> None:
    # Ages beyond 60, cell 1 of six, are out of reach as well: C goes, and A and B take every age that is left.
    # New cells: age 0 = {0}; income 1 = {3}, 2 = {4}. One pair, income, with blocks 0 = {1}, 1 = {2}.
    found = reduced(as_leaves(FIRST), [1.0, INF, INF, 0.0, 2.0, INF])
    assert plain(found) == {
        "cells": {
            "start": [0, 1, 3],
            "original": [0, 3, 4],
            "merged_into": [0, -1, -1, 1, 2, -1],
            "ordered": [True, True],
        },
        "trees": {"start": [0, 2], "original": [0], "original_leaf": [0, 1], "constant_leaves": []},
        "pairs": {
            "feature": [1],
            "tree": [0],
            "block_start": [0, 2],
            "entries": {"start": [0, 2], "items": [0, 1]},
            "of_feature": {"start": [0, 0, 1], "items": [0]},
        },
        "blocks": {"begin": [1, 2], "end": [2, 3], "items": [0, 1, 2]},
        "entries": {
            "start": [0, 1, 2],
            "leaf": [0, 1],
            "pair": [0, 0],
            "blocks": {"begin": [0, 1], "end": [1, 2], "items": [0, 1]},
        },
    }


@pytest.mark.parametrize(
    ("price", "expected"),
    [
        ([1.0, INF, INF, 0.0, 2.0, INF], [30.0, 40.0]),  # ages beyond 60 go: pair income is left, blocks 2 and 3
        ([1.0, 4.0, INF, 0.0, INF, INF], [10.0, 20.0]),  # incomes from 2 to 5 go, and B with them: age, blocks 0 and 1
    ],
)
def test_messages_are_carried_into_the_blocks_that_are_left(price: list[float], expected: list[float]) -> None:
    further = reduced(as_leaves(FIRST), price)
    assert carried(np.array([10.0, 20.0, 30.0, 40.0]), FIRST, further).tolist() == expected


def test_places_of_masks_are_told_in_eight_bytes_where_four_do_not_hold_them() -> None:
    one, many = np.zeros(1, dtype=np.intp), np.broadcast_to(np.False_, 2**31)
    for masks, type_ in ((many, np.intp), (many[1:], np.int32)):
        table = LeafTable.of(one, one, np.zeros((1, 1)), one, one, one, one, one > 0, one + len(masks) - 1, masks)
        assert table.mask.dtype == type_
        assert table.mask[0] == len(masks) - 1
