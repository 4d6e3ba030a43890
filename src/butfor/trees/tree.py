"""An oblique tree as arrays. A row goes right iff w'x + b >= 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.trees.tao import kernels


@dataclass(eq=False)
class Tree:
    """An oblique tree. Parents come before their children, and the root is node 0.

    - `weights` (nodes, features), `bias` (nodes): the decisions;
    - `left`, `right` (nodes): the children, -1 at a leaf;
    - `value` (nodes, outputs): what a node predicts; used only at leaves.
    """

    weights: FloatArray
    bias: FloatArray
    left: IntArray
    right: IntArray
    value: FloatArray

    @property
    def inner(self) -> IntArray:
        """The decision nodes."""
        return np.flatnonzero(self.left >= 0)

    @property
    def depth(self) -> IntArray:
        """The depth of each node. The root has depth 0."""
        out = np.zeros(len(self.left), dtype=np.intp)
        for node in self.inner:  # parents come first
            out[[self.left[node], self.right[node]]] = out[node] + 1
        return out

    def _decisions(self) -> tuple[NDArray[Any], ...]:
        """The decisions as sparse arrays, in the form that the kernels read."""
        return (*sparse(self.weights), self.bias, self.left, self.right)

    def leaves(self, X: FloatArray, first: IntArray | None = None) -> IntArray:
        """The leaf that each row reaches from its node in `first` (-1: no node). Default: from the root."""
        first = np.zeros(len(X), dtype=np.intp) if first is None else first
        return np.asarray(kernels.descend(X, first, *self._decisions()))

    def paths(self, X: FloatArray) -> IntArray:
        """The nodes that each row visits, one column per depth. It is -1 after the leaf."""
        return np.asarray(kernels.paths(X, int(self.depth.max()), *self._decisions()))

    def pruned(self, reached: BoolArray) -> Tree:
        """The tree without nodes that no row reaches.

        If only one child of a decision is reached, the child replaces the decision.
        """
        left, right = self.left, self.right

        def live(node: int) -> int:
            while left[node] >= 0 and not (reached[left[node]] and reached[right[node]]):
                node = int(left[node] if reached[left[node]] else right[node])
            return node

        kept: list[int] = []
        children: list[list[int]] = []
        pending = [(live(0), -1, 0)]
        while pending:
            node, parent, side = pending.pop()
            if parent >= 0:
                children[parent][side] = len(kept)
            if left[node] >= 0:
                pending += [(live(int(right[node])), len(kept), 1), (live(int(left[node])), len(kept), 0)]
            kept.append(node)
            children.append([-1, -1])
        links = np.array(children, dtype=np.intp)
        return Tree(self.weights[kept], self.bias[kept], links[:, 0].copy(), links[:, 1].copy(), self.value[kept])


def sparse(weights: FloatArray) -> tuple[NDArray[Any], ...]:
    """Rows of weights without their zeros: row starts, columns and values."""
    row, column = np.nonzero(weights)
    start = np.searchsorted(row, np.arange(len(weights) + 1))
    return start.astype(np.intp), column.astype(np.intp), weights[row, column]


def sides(X: FloatArray, weights: FloatArray, bias: float) -> BoolArray:
    """Which rows go right at one decision, by the same arithmetic as the tree's."""
    column = np.flatnonzero(weights)
    return np.asarray(kernels.sides(X, column, weights[column], bias))
