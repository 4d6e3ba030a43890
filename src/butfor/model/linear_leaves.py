"""Trees with a line in each leaf, added up: piecewise linear boosting."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.model.cells import Cells
from butfor.model.linear import Linear, evaluate_linear
from butfor.model.trees import Trees, evaluate_trees


@dataclass(frozen=True, eq=False)
class LinearLeaves:
    """Scores `trees(x) + sum_t lines(x)[line of the leaf of x in tree t]`, for each score.

    - `trees`: what the leaves add besides their lines;
    - `lines`: a linear model with one score for each line, over the same cells;
    - `line` (nodes, scores): the line that a leaf adds to each score; -1 if there is none.
    """

    trees: Trees
    lines: Linear
    line: IntArray

    @property
    def scores(self) -> int:
        """The number of raw scores."""
        return self.trees.scores

    @property
    def cells(self) -> tuple[Cells, ...]:
        """The cells of both parts."""
        return self.trees.cells

    @cached_property
    def finders(self) -> tuple[Trees, ...]:
        """For each tree a model whose only score is the number of the leaf."""
        roots = [*self.trees.roots.tolist(), len(self.trees.feature)]
        return tuple(_finder(self.trees, slice(*ends)) for ends in pairwise(roots))

    def added(self, X: FloatArray, each: FloatArray) -> FloatArray:
        """What the leaves that each row reaches add to each score, if their lines have the values `each` (rows, lines)."""
        each, rows = np.column_stack([each, np.zeros(len(X))]), np.arange(len(X))[:, None]
        out = np.zeros((len(X), self.scores))
        for finder in self.finders:
            leaf = evaluate_trees(finder, X)[:, 0].astype(np.intp)
            out += each[rows, self.line[leaf]]
        return out

    def most(self, each: FloatArray) -> FloatArray:
        """For each score, the sum over the trees of the largest of some sizes, one for each line."""
        sizes = np.append(each, 0.0)[self.line]
        return np.asarray(np.maximum.reduceat(sizes, self.trees.roots, axis=0).sum(axis=0))


def _finder(trees: Trees, nodes: slice) -> Trees:
    first = nodes.start
    return replace(
        trees,
        roots=np.zeros(1, dtype=np.intp),
        feature=trees.feature[nodes],
        cut=trees.cut[nodes],
        member=trees.member[nodes],
        missing_left=trees.missing_left[nodes],
        left=trees.left[nodes] - first,
        right=trees.right[nodes] - first,
        value=np.arange(first, nodes.stop, dtype=np.float64)[:, None],
        base=np.zeros(1),
    )


def evaluate_linear_leaves(model: LinearLeaves, X: FloatArray) -> FloatArray:
    """The raw scores, one row per row of `X`."""
    return np.asarray(evaluate_trees(model.trees, X) + model.added(X, evaluate_linear(model.lines, X)))
