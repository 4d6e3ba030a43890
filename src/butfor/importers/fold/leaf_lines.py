"""The fold of trees with lines in their leaves onto raw features."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import FloatArray, IntArray
from butfor.importers.fold.column import Column
from butfor.importers.fold.linear import linear_over
from butfor.importers.fold.nodes import trees_over
from butfor.model.linear_leaves import LinearLeaves
from butfor.model.nodes import LeafLines, Nodes, in_score, numbered
from butfor.model.side_by_side import with_lines
from butfor.model.trees import Trees


def linear_leaves_over(
    columns: list[Column], asked: list[Column], nodes: Nodes, lines: LeafLines, base: FloatArray
) -> Trees | LinearLeaves:
    """Trees whose leaves add lines over `columns`, and whose nodes read `asked`. Tree t adds to score t modulo scores.

    Above the leaf of a line it is asked whether a column is missing. If so, the value of the node counts.
    """
    count = np.diff(lines.start)
    leaf = np.repeat(np.arange(len(count)), count)
    lost = np.array([not column.refuses_missing and np.isnan(column.missing_value()) for column in columns])
    ask = lost[lines.column]
    wide, at = _asking(nodes, leaf[ask], lines.column[ask])
    score = (np.searchsorted(nodes.roots, np.arange(len(count)), side="right") - 1) % len(base)
    wide.value[at] = in_score(np.where(count > 0, 0.0, lines.constant), score, len(base))
    trees = trees_over(asked, wide, base, folded=True)
    own = np.flatnonzero(count)
    if not len(own):
        return trees
    weights = np.zeros((len(own), len(columns)))
    np.add.at(weights, (np.searchsorted(own, leaf), lines.column), lines.weight)
    line = np.full(wide.value.shape, -1, dtype=np.intp)
    line[at[own], score[own]] = np.arange(len(own))
    return with_lines(trees, linear_over(columns, weights, lines.constant[own]), line)


def _asking(nodes: Nodes, leaf: IntArray, column: IntArray) -> tuple[Nodes, IntArray]:
    """The nodes with questions above some leaves whether a column is missing, and the new number of each old node.

    Beside each question there is a leaf with the value of the old one.
    """
    questions = np.bincount(leaf, minlength=len(nodes.feature))
    first = numbered((1 + 2 * questions).tolist())
    at = first + 2 * questions
    here = first[leaf] + 2 * (np.arange(len(leaf)) - (np.cumsum(questions) - questions)[leaf])

    def spread(values: NDArray[Any], otherwise: Any, asked: Any) -> NDArray[Any]:
        out = np.full((len(first) + 2 * len(leaf), *values.shape[1:]), otherwise, dtype=values.dtype)
        out[at], out[here] = values, asked
        return out

    value = spread(nodes.value, 0.0, 0.0)
    value[here + 1] = nodes.value[leaf]
    return replace(
        nodes,
        roots=first[nodes.roots],
        feature=spread(nodes.feature, -1, column),
        threshold=spread(nodes.threshold, 0.0, np.inf),
        missing_left=spread(nodes.missing_left, False, False),
        left=spread(np.where(nodes.left >= 0, first[nodes.left], -1), -1, here + 2),
        right=spread(np.where(nodes.right >= 0, first[nodes.right], -1), -1, here + 1),
        value=value,
        group=None if nodes.group is None else spread(nodes.group, -1, -1),
        zero_missing=None if nodes.zero_missing is None else spread(nodes.zero_missing, False, False),
    ), at
