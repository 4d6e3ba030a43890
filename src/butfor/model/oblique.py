"""One oblique tree. Every decision is the sign of a linear score of the row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.cells import Cells
from butfor.model.linear import Linear, evaluate_linear
from butfor.model.scores import ScoreSet


@dataclass(frozen=True, eq=False)
class Path:
    """A leaf, and the decisions that lead to it.

    - `node`: the leaf;
    - `gates`: the gates on the way;
    - `right`: whether the way goes right at each of them.
    """

    node: int
    gates: IntArray
    right: IntArray

    def inside(self, count: int) -> ScoreSet:
        """The set of scores of all `count` gates that lead to this leaf."""
        A = np.zeros((len(self.gates), count))
        A[np.arange(len(self.gates)), self.gates] = np.where(self.right, 1.0, -1.0)
        return ScoreSet(A, np.zeros(len(self.gates)), ~self.right.astype(np.bool_))


@dataclass(frozen=True, eq=False)
class ObliqueTree:
    """A tree whose decisions are linear. The raw scores of a row are the `value` of its leaf.

    - `gates`: a linear model with one score per decision;
    - `gate` (nodes): a row goes right at node i iff score `gate[i]` is at least 0; -1 for a leaf;
    - `left`, `right` (nodes): the children; node 0 is the root, and parents come before their children;
    - `value` (nodes, scores): the raw scores in a leaf.
    """

    gates: Linear
    gate: IntArray
    left: IntArray
    right: IntArray
    value: FloatArray

    @property
    def scores(self) -> int:
        """The number of raw scores."""
        return int(self.value.shape[1])

    @property
    def cells(self) -> tuple[Cells, ...]:
        """The cells that the gates read."""
        return self.gates.cells

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """All leaves, from left to right."""
        found: list[Path] = []
        pending: list[tuple[int, list[int], list[int]]] = [(0, [], [])]
        while pending:
            node, gates, sides = pending.pop()
            at = int(self.gate[node])
            if at < 0:
                found.append(Path(node, np.array(gates, dtype=np.intp), np.array(sides, dtype=np.intp)))
                continue
            for child, side in ((self.right[node], 1), (self.left[node], 0)):
                pending.append((int(child), [*gates, at], [*sides, side]))
        return tuple(found)

    def leaf(self, X: FloatArray) -> IntArray:
        """The leaf that each row reaches."""
        return self.reached(evaluate_linear(self.gates, X) >= 0)

    def reached(self, ahead: BoolArray) -> IntArray:
        """The leaf that each row reaches. `ahead` (rows, gates) says whether it would go right at each gate."""
        node = np.zeros(len(ahead), dtype=np.intp)
        going = np.flatnonzero(self.gate[node] >= 0)
        while len(going):
            at = node[going]
            node[going] = np.where(ahead[going, self.gate[at]], self.right[at], self.left[at])
            going = going[self.gate[node[going]] >= 0]
        return node


def evaluate_oblique(model: ObliqueTree, X: FloatArray) -> FloatArray:
    """The raw scores, one row per row of `X`."""
    return np.asarray(model.value[model.leaf(X)])
