"""Oblique trees, added up: bagging and boosting of trees whose decisions are linear, perhaps beside a linear model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.model.cells import Cells
from butfor.model.linear import Linear, evaluate_linear
from butfor.model.oblique import ObliqueTree
from butfor.model.scores import low_bit


@dataclass(frozen=True, eq=False)
class ObliqueForest:
    """Scores that are the sums, over all trees, of the value of the leaf that a row reaches.

    - `trees`: the trees. They share their `gates`, which have a score for each decision of each tree;
    - `folded`: whether some value is the product of two numbers, so that the estimator's sums are rounded;
    - `line` (scores, gates): what the scores of the gates add themselves, as a linear model beside the trees does.
    """

    trees: tuple[ObliqueTree, ...]
    folded: bool = False
    line: FloatArray | None = None

    @property
    def gates(self) -> Linear:
        """The decisions of all trees."""
        return self.trees[0].gates

    @property
    def scores(self) -> int:
        """The number of raw scores."""
        return self.trees[0].scores

    @property
    def cells(self) -> tuple[Cells, ...]:
        """The cells that the gates read."""
        return self.gates.cells

    @cached_property
    def decisive(self) -> IntArray:
        """The gates that some tree asks."""
        asked = np.unique(np.concatenate([tree.gate for tree in self.trees]))
        return asked[asked >= 0]

    @cached_property
    def reach(self) -> FloatArray:
        """For each score, the sum over the trees of the largest size of a leaf's value."""
        return np.asarray(sum(np.abs(tree.value[tree.gate < 0]).max(axis=0) for tree in self.trees))

    @cached_property
    def grain(self) -> float:
        """The largest power of two of which all values of leaves are whole multiples."""
        return min(low_bit(tree.value[tree.gate < 0]) for tree in self.trees)


def evaluate_oblique_forest(model: ObliqueForest, X: FloatArray) -> FloatArray:
    """The raw scores, one row per row of `X`."""
    gates = evaluate_linear(model.gates, X)
    leaves = np.asarray(sum(tree.value[tree.reached(gates >= 0)] for tree in model.trees))
    return leaves if model.line is None else leaves + gates @ model.line.T
