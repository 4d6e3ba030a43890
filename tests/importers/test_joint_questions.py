"""Questions about several columns, asked one column at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest

from butfor.importers.fold.joint_questions import Axis, ColumnQuestion, JointQuestion, Row, one_by_one
from tests.shorter import first

Rng = np.random.Generator
CELLS = (3, 4, 2, 5)


def question(rng: Rng, i: int) -> ColumnQuestion | JointQuestion:
    """About one column, or about two or three of which some are told in groups."""
    if i % 3 == 0:
        column = int(rng.integers(4))
        return ColumnQuestion(column, rng.random(CELLS[column]) < 0.5)
    chosen = rng.choice(4, int(rng.integers(2, 4)), replace=False)
    axes = [Axis(int(c), np.arange(CELLS[c]), ordered=False) for c in chosen[1:]]
    axes.append(Axis(int(chosen[0]), np.arange(CELLS[chosen[0]]) // 2, ordered=True))
    return JointQuestion(tuple(axes), rng.random([int(axis.group.max()) + 1 for axis in axes]) < 0.5)


def tree(rng: Rng, depth: int) -> list[Row]:
    """A whole tree, level by level, with few different values."""
    inner = 2**depth - 1
    nodes: list[Row] = [(question(rng, i), (2 * i + 1, 2 * i + 2), []) for i in range(inner)]
    return nodes + [(None, (-1, -1), [float(rng.integers(3))]) for _ in range(inner + 1)]


def value(rows: Sequence[Row], cell: Sequence[int]) -> list[float]:
    """The value of the leaf that is reached by a row whose columns are in these cells."""
    at = 0
    while (asked := rows[at][0]) is not None:
        if isinstance(asked, ColumnQuestion):
            right = not asked.left[cell[asked.column]]
        else:
            right = bool(asked.right[tuple(axis.group[cell[axis.column]] for axis in asked.axes)])
        at = rows[at][1][right]
    return rows[at][2]


@pytest.mark.parametrize("seed", first(5, range(20)))
def test_every_row_reaches_the_same_value(seed) -> None:
    rng = np.random.default_rng(seed)
    rows = tree(rng, seed % 4)
    grown = one_by_one(rows, CELLS)
    assert not any(isinstance(asked, JointQuestion) for asked, _, _ in grown)
    for cell in product(*map(range, CELLS)):
        assert value(grown, cell) == value(rows, cell)


def test_a_number_is_asked_for_up_to_a_border() -> None:
    axes = (Axis(0, np.arange(3), ordered=False), Axis(3, np.array([0, 0, 1, 2, 2]), ordered=True))
    right = np.array([[0, 1, 0], [1, 0, 1], [0, 0, 1]], dtype=np.bool_)
    rows: list[Row] = [(JointQuestion(axes, right), (1, 2), []), (None, (-1, -1), [0.0]), (None, (-1, -1), [1.0])]
    numbers = [asked.left for asked, _, _ in one_by_one(rows, CELLS) if asked is not None and asked.column == 3]
    assert len(numbers) > 1
    for left in numbers:
        assert (np.diff(left.astype(int)) <= 0).all(), "first those below a border, then those above"


def test_equal_leaves_are_one() -> None:
    axes = tuple(Axis(c, np.arange(CELLS[c]), ordered=False) for c in (0, 1))
    rows: list[Row] = [
        (JointQuestion(axes, np.eye(3, 4, dtype=np.bool_)), (1, 2), []),
        (None, (-1, -1), [2.0]),
        (None, (-1, -1), [2.0]),
    ]
    assert one_by_one(rows, CELLS) == [(None, (-1, -1), [2.0])]
