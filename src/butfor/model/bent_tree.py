"""One oblique tree over columns that are bent. Every decision is the sign of a sum of functions of single columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.additive import Additive, Shape, evaluate_additive
from butfor.model.cells import Cells
from butfor.model.oblique import ObliqueTree


@dataclass(frozen=True, eq=False)
class BentTree:
    """An oblique tree to whose decisions functions of single columns are added.

    - `tree`: the tree, with the linear part of its decisions;
    - `shapes`: what is added. Their weights are one per decision.
    """

    tree: ObliqueTree
    shapes: tuple[Shape, ...]

    @property
    def scores(self) -> int:
        """The number of raw scores."""
        return self.tree.scores

    @property
    def cells(self) -> tuple[Cells, ...]:
        """The cells that the linear part reads."""
        return self.tree.cells

    @cached_property
    def gates(self) -> Additive:
        """The decisions."""
        return Additive(self.tree.gates, self.shapes)


def evaluate_bent_tree(model: BentTree, X: FloatArray) -> FloatArray:
    """The raw scores, one row per row of `X`."""
    return np.asarray(model.tree.value[model.tree.reached(evaluate_additive(model.gates, X) >= 0)])
