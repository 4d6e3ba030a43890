"""Questions about several columns at once, asked one column at a time.

A tree may ask whether a pair of levels is common, or any other question whose answer is a table over the cells of
several columns. The same is asked by a few questions about one column each, with copies of what follows below them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from butfor.arrays import BoolArray, IntArray
from butfor.errors import UnsupportedModelError

NODES_OF_A_TREE = 20_000
"""How many nodes a tree may become. With more, no proof could be hoped for."""


@dataclass(frozen=True, eq=False)
class ColumnQuestion:
    """A question about one column: a row goes left iff its cell is in `left`."""

    column: int
    left: BoolArray


@dataclass(frozen=True, eq=False)
class Axis:
    """One column of a joint question. It tells only the `group` of each cell. A number's groups are `ordered`."""

    column: int
    group: IntArray
    ordered: bool


@dataclass(frozen=True, eq=False)
class JointQuestion:
    """A question about several columns: a row goes right iff `right` holds at the groups of its cells, axis by axis."""

    axes: tuple[Axis, ...]
    right: BoolArray
    told: dict[bytes, bool | ColumnQuestion] = field(default_factory=dict, repr=False)

    def within(self, known: dict[int, BoolArray]) -> bool | ColumnQuestion:
        """Whether all rows go right whose cells are `known` to be these. If that is not settled, what to ask next.

        What was told once is kept, because one question comes up in many places.
        """
        key = b"".join(known[axis.column].tobytes() for axis in self.axes)
        if key not in self.told:
            self.told[key] = self._within(known)
        return self.told[key]

    def _within(self, known: dict[int, BoolArray]) -> bool | ColumnQuestion:
        groups = [np.flatnonzero(np.bincount(axis.group[known[axis.column]])) for axis in self.axes]
        open_yet = self.right[np.ix_(*groups)]
        if open_yet.all() or not open_yet.any():
            return bool(open_yet.all())
        kinds = [_kinds(open_yet.swapaxes(0, i), axis.ordered) for i, axis in enumerate(self.axes)]
        i = min(range(len(kinds)), key=lambda i: (kinds[i].max() == 0, kinds[i].max()))
        first, asked = groups[i][kinds[i] <= (kinds[i].max() - 1) // 2], self.axes[i]
        lefts = np.zeros(self.right.shape[i], dtype=np.bool_)
        lefts[np.arange(first.max() + 1) if asked.ordered else first] = True
        return ColumnQuestion(asked.column, lefts[asked.group])


def _kinds(slices: BoolArray, ordered: bool) -> IntArray:
    """Numbers of the slices of a table, such that equal slices have equal numbers (only neighbours, if `ordered`)."""
    flat = slices.reshape(len(slices), -1)
    if ordered:
        return np.cumsum(np.append(False, (flat[1:] != flat[:-1]).any(axis=1)))
    words = [row.tobytes() for row in flat]
    number = {word: kind for kind, word in enumerate(sorted(set(words)))}
    return np.array([number[word] for word in words])


Row = tuple[ColumnQuestion | JointQuestion | None, tuple[int, int], list[float]]
"""A node of a tree: its question and its children, or the values of a leaf."""

PlainRow = tuple[ColumnQuestion | None, tuple[int, int], list[float]]
"""A node whose question is about one column."""


def one_by_one(rows: Sequence[Row], cells: Sequence[int]) -> list[PlainRow]:
    """The same tree with questions about one column each. `cells` says how many each column has. The root is first."""
    if not any(isinstance(question, JointQuestion) for question, _, _ in rows):
        return list(rows)  # type: ignore[arg-type]
    grown: list[PlainRow] = []

    def grow(node: int, known: dict[int, BoolArray]) -> None:
        question, children, value = rows[node]
        if question is None:
            grown.append((None, (-1, -1), value))
            return
        answer = _settled(question, known) if isinstance(question, ColumnQuestion) else question.within(known)
        if isinstance(answer, bool):
            grow(children[answer], known)
            return
        _check(len(grown))
        at, column = len(grown), answer.column
        grown.append((answer, (at + 1, -1), []))
        grow(node, {**known, column: known[column] & answer.left})
        right = len(grown)
        grow(node, {**known, column: known[column] & ~answer.left})
        grown[at] = (answer, (at + 1, right), [])
        if grown[at + 1][0] is None and len(grown) == at + 3 and grown[at + 1][2] == grown[at + 2][2]:
            grown[at:] = [grown[at + 1]]  # two equal leaves are one

    grow(0, {column: np.ones(count, dtype=np.bool_) for column, count in enumerate(cells)})
    return grown


def _settled(question: ColumnQuestion, known: dict[int, BoolArray]) -> bool | ColumnQuestion:
    """Whether all rows go right whose cell is `known` to be one of these. If that is not settled, the question."""
    if not (known[question.column] & question.left).any():
        return True
    return question if (known[question.column] & ~question.left).any() else False


def _check(rows: int) -> None:
    if rows > NODES_OF_A_TREE:
        raise UnsupportedModelError(
            f"a tree asks about combinations of columns, and has more than {NODES_OF_A_TREE} nodes without them.",
            "An exact solver needs questions about one column each.",
            "Train CatBoost with max_ctr_complexity=1, or with one_hot_max_size above the number of categories. "
            "Until then, the swarm searches.",
        )
