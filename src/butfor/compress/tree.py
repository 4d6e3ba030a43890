"""A tree of binary columns, as arrays, and as a tree of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from butfor.arrays import FloatArray, IntArray

Shape = int | tuple[int, Any, Any]
"""A leaf: the number of its class. Or a split: the number of a binary column, the shape for no, the shape for yes."""


@dataclass(frozen=True, eq=False)
class BinaryTree:
    """A tree that asks one binary column per node. A node comes before all nodes below it.

    - `column` (nodes): the binary column; -1 for a leaf;
    - `no`, `yes` (nodes): the nodes that rows with 0 and with 1 go to;
    - `label` (nodes): the number of the class that a leaf predicts;
    - `counts` (nodes, classes): the training rows of each class that reach the node.
    """

    column: IntArray
    no: IntArray
    yes: IntArray
    label: IntArray
    counts: IntArray

    @property
    def leaves(self) -> IntArray:
        """The numbers of the leaves, from left (no) to right (yes)."""
        return np.array([node for node, _ in self.walk() if self.column[node] < 0], dtype=np.intp)

    @property
    def depth(self) -> int:
        """The number of questions on the longest path."""
        return max(len(path) for _, path in self.walk())

    def walk(self) -> Iterator[tuple[int, tuple[tuple[int, bool], ...]]]:
        """Every node, with the columns and answers that lead to it. What is below no comes before what is below yes."""
        pending: list[tuple[int, tuple[tuple[int, bool], ...]]] = [(0, ())]
        while pending:
            node, path = pending.pop()
            yield node, path
            if self.column[node] >= 0:
                column = int(self.column[node])
                pending.append((int(self.yes[node]), (*path, (column, True))))
                pending.append((int(self.no[node]), (*path, (column, False))))

    def reached(self, answers: NDArray[np.uint8]) -> IntArray:
        """The leaf of each row of binary columns."""
        at = np.zeros(len(answers), dtype=np.intp)
        while (inner := self.column[at] >= 0).any():
            rows = np.flatnonzero(inner)
            node = at[rows]
            at[rows] = np.where(answers[rows, self.column[node]] != 0, self.yes[node], self.no[node])
        return at

    def shares(self) -> FloatArray:
        """The share of each class among the training rows of each node; that of the prediction, if no row came."""
        total = self.counts.sum(axis=1, keepdims=True)
        sure = np.eye(self.counts.shape[1])[self.label]
        return np.asarray(np.where(total > 0, self.counts / np.maximum(total, 1), sure))


def planted(shape: Shape, answers: NDArray[np.uint8], codes: IntArray, classes: int) -> BinaryTree:
    """The tree of a shape, with the training rows counted in each node."""
    column, no, yes, label = list[int](), list[int](), list[int](), list[int]()
    counts = list[IntArray]()

    def grow(part: Shape, rows: IntArray) -> int:
        node = len(column)
        found = np.bincount(codes[rows], minlength=classes)
        for values, first in ((column, -1), (no, -1), (yes, -1), (label, int(found.argmax()))):
            values.append(first)
        counts.append(found)
        if isinstance(part, int):
            label[node] = part
            return node
        j, without, within = part
        truth = answers[rows, j] != 0
        column[node] = j
        no[node] = grow(without, rows[~truth])
        yes[node] = grow(within, rows[truth])
        return node

    grow(shape, np.arange(len(codes)))
    nodes = (np.array(one, dtype=np.intp) for one in (column, no, yes, label, counts))
    return BinaryTree(*nodes)


def shape_of(tree: Any) -> Shape:
    """The shape of a fitted tree of scikit-learn over binary columns."""
    nodes = tree.tree_

    def below(node: int) -> Shape:
        if nodes.children_left[node] < 0:
            return int(nodes.value[node, 0].argmax())
        return (
            int(nodes.feature[node]),
            below(int(nodes.children_left[node])),
            below(int(nodes.children_right[node])),
        )

    return below(0)


def as_scikit_learn(tree: BinaryTree, columns: int, labels: NDArray[Any]) -> DecisionTreeClassifier:
    """The same tree as a `DecisionTreeClassifier` of the binary columns, for `export_text`, `plot_tree` and the like."""
    classes = len(labels)
    made = DecisionTreeClassifier(max_depth=max(tree.depth, 1))
    made.fit(np.eye(max(columns, classes), columns)[np.arange(max(columns, classes))], _each_once(labels, columns))
    state = made.tree_.__getstate__()
    share = tree.shares()
    nodes = np.zeros(len(tree.column), dtype=state["nodes"].dtype)
    nodes["left_child"], nodes["right_child"] = tree.no, tree.yes
    nodes["feature"] = np.where(tree.column < 0, -2, tree.column)
    nodes["threshold"] = np.where(tree.column < 0, -2.0, 0.5)
    nodes["impurity"] = 1.0 - (share**2).sum(axis=1)
    nodes["n_node_samples"] = tree.counts.sum(axis=1)
    nodes["weighted_n_node_samples"] = tree.counts.sum(axis=1)
    values = np.where((tree.column < 0)[:, None] & ~_wins(share, tree.label), np.eye(classes)[tree.label], share)
    state |= {"max_depth": tree.depth, "node_count": len(nodes), "nodes": nodes, "values": values[:, None, :].copy()}
    blank = made.tree_.__class__(columns, np.array([classes], dtype=np.intp), 1)
    blank.__setstate__(state)
    made.tree_ = blank
    return made


def _wins(share: FloatArray, label: IntArray) -> NDArray[np.bool_]:
    """Whether the label of each node is the first of its most frequent classes, as scikit-learn predicts."""
    return np.asarray(share.argmax(axis=1) == label)[:, None]


def _each_once(labels: NDArray[Any], columns: int) -> NDArray[Any]:
    return np.resize(labels, max(columns, len(labels)))
