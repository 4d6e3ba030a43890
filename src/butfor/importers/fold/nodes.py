"""The fold of trees over the columns that reach an estimator onto raw features."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import UnsupportedModelError
from butfor.experimental import experimental
from butfor.importers.fold.column import Column, NeedsLevels, Values, last_where
from butfor.model.cells import Cells, level_cells, number_cells, representatives
from butfor.model.nodes import Nodes
from butfor.model.scores import UNIT_HALF
from butfor.model.trees import Trees

BEYOND_ALL = 1e200
"""No number of a column is so large. Only missing values pass a cut beyond all numbers, and steps from it stay finite."""


@dataclass(frozen=True, eq=False)
class _Questions:
    """The different questions of the nodes, without repetition. See `Nodes` for the arrays."""

    column: IntArray
    threshold: FloatArray
    missing_left: BoolArray
    group: IntArray
    zero_missing: BoolArray
    single: bool
    groups: BoolArray

    def take(self, at: IntArray) -> _Questions:
        return replace(
            self,
            column=self.column[at],
            threshold=self.threshold[at],
            missing_left=self.missing_left[at],
            group=self.group[at],
            zero_missing=self.zero_missing[at],
        )

    def left(self, x: Values, zero: BoolArray) -> BoolArray:
        """Which of the values `x` of its column go left, one row per question. `zero` says which count as zeros."""
        with np.errstate(over="ignore"):
            x = np.asarray(x).astype(np.float32 if self.single else np.float64)
        gone = np.isnan(x)
        out = np.where(gone, False, x <= self.threshold[:, None])
        if len(self.groups):
            other = self.groups.shape[1] - 1
            number = np.where(gone | (x <= -1) | (x >= other), other, x).astype(np.intp)
            out = np.where(self.group[:, None] >= 0, self.groups[np.maximum(self.group, 0)][:, number], out)
        lost = gone | (self.zero_missing[:, None] & zero)
        return np.asarray(np.where(lost, self.missing_left[:, None], out))


@experimental
def trees_over(columns: list[Column], nodes: Nodes, base: FloatArray, *, folded: bool = False) -> Trees:
    """The trees over raw features.

    The values are `folded` if the estimator does not have them as they are, but multiplies or divides by something.

    A question about a number becomes a cut. A question about levels, bins or a missing zero becomes a set of cells.
    """
    if any(column.blur == UNIT_HALF for column in columns):
        raise UnsupportedModelError(
            "trees read columns that were scaled in float16.",
            "Rounding to so few digits decides about their cuts, unless an answer makes the table float32.",
            "Leave the scaler out, or give float32: X.astype('float32').",
        )
    asks = np.flatnonzero(nodes.feature >= 0)
    questions, question = _different(nodes, asks)
    count = len(questions.column)
    raw = np.array([column.feature for column in columns], dtype=np.intp)[questions.column]
    cut, goes_missing, by_cell = np.zeros(count), np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
    edges: dict[int, list[FloatArray]] = {}
    for c in np.unique(questions.column):
        column, at = columns[c], np.flatnonzero(questions.column == c)
        some = questions.take(at)
        lost = column.missing_value()
        goes_missing[at] = some.left(np.array([lost]), np.array([lost == 0]))[:, 0]
        edges.setdefault(column.feature, []).append(column.jumps)
        if column.table is not None or column.edges is not None:
            by_cell[at] = True
            continue
        _demand_finite(column)
        if (some.group >= 0).any():
            raise NeedsLevels({column.feature: ()}, ordered=False)
        cut[at] = _last_left(column, some)
        by_cell[at] = some.zero_missing | (column.domain is not None)
        edges[column.feature].append(cut[at])
        if some.zero_missing.any():
            edges[column.feature].append(_around_zero(column))
    cells = _cells(columns, raw, by_cell, edges)
    member, sets = _members(columns, questions, raw, by_cell, goes_missing, cells)

    def spread(values: Values, leaf: float) -> Values:
        out = np.full(len(nodes.feature), leaf, dtype=values.dtype)
        out[asks] = values[question]
        return out

    return Trees(
        roots=nodes.roots,
        feature=spread(raw, -1),
        cut=spread(cut, 0.0),
        member=spread(member, -1),
        missing_left=spread(goes_missing, False),
        left=nodes.left,
        right=nodes.right,
        value=nodes.value,
        cell_sets=sets,
        base=base,
        cells=cells,
        folded=folded,
    )


def _different(nodes: Nodes, asks: IntArray) -> tuple[_Questions, IntArray]:
    """The different questions, and the number of the question of each node in `asks`."""
    group = np.full(len(asks), -1) if nodes.group is None else nodes.group[asks]
    zero = np.zeros(len(asks)) if nodes.zero_missing is None else nodes.zero_missing[asks]
    listed = np.column_stack([nodes.feature[asks], nodes.threshold[asks], nodes.missing_left[asks], group, zero])
    first, question = _unique_rows(listed)
    rows = listed[first]
    return _Questions(
        column=rows[:, 0].astype(np.intp),
        threshold=rows[:, 1],
        missing_left=rows[:, 2].astype(np.bool_),
        group=rows[:, 3].astype(np.intp),
        zero_missing=rows[:, 4].astype(np.bool_),
        single=nodes.single,
        groups=nodes.groups,
    ), question


def _unique_rows(table: Values) -> tuple[IntArray, IntArray]:
    """Find the different rows of `table`.

    Returns one row number for each different row, and for each row the position of its equal among these.
    """
    if not len(table):
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    order = np.lexsort(table.T)
    fresh = np.append(True, (table[order[1:]] != table[order[:-1]]).any(axis=1))
    which = np.empty(len(table), dtype=np.intp)
    which[order] = np.cumsum(fresh) - 1
    return order[fresh], which


def _last_left(column: Column, questions: _Questions) -> FloatArray:
    """For each threshold, the last raw number whose value in the column does not exceed it."""
    threshold, single = questions.threshold, questions.single
    last = last_where(column, lambda x: (x.astype(np.float32) if single else x) <= threshold, len(threshold))
    return np.clip(last, -BEYOND_ALL, BEYOND_ALL)


def _demand_finite(column: Column) -> None:
    """Refuse a column that is infinite where its domain ends: what an estimator makes of infinity is not known."""
    ends = [end for end in column.domain or () if np.isfinite(end)]
    if ends and np.isinf(column.at(np.array(ends))).any():
        raise UnsupportedModelError(
            f"{column.bent_by} is not defined for all numbers of the range, and infinite where that ends.",
            "Trees must follow steps that are finite, or not numbers.",
            "Clip the column beforehand, or let the swarm search.",
        )


def _around_zero(column: Column) -> FloatArray:
    where = column.sparse or column
    below = last_where(where, lambda x: x < 0, 1)
    return np.concatenate([below, last_where(where, lambda x: x <= 0, 1)])


def _cells(
    columns: list[Column], raw: IntArray, by_cell: BoolArray, edges: dict[int, list[FloatArray]]
) -> tuple[Cells, ...]:
    """The cells of all raw features, including features that no node reads."""
    levels = {column.feature: len(column.table) - 1 for column in columns if column.table is not None}
    return tuple(
        level_cells(levels[j]) if j in levels else number_cells(np.concatenate([np.empty(0), *edges.get(j, [])]))
        for j in range(1 + max(column.feature for column in columns))
    )


def _members(
    columns: list[Column],
    questions: _Questions,
    raw: IntArray,
    by_cell: BoolArray,
    goes_missing: BoolArray,
    cells: tuple[Cells, ...],
) -> tuple[IntArray, tuple[BoolArray, ...]]:
    """For each question about cells, the set of cells that it sends left. Equal sets are listed once."""
    member = np.full(len(raw), -1, dtype=np.intp)
    sets: list[BoolArray] = []
    for j in np.unique(raw[by_cell]):
        numbers, masks = [], []
        for c in np.unique(questions.column[by_cell & (raw == j)]):
            column = columns[c]
            at = np.flatnonzero(by_cell & (questions.column == c))
            raw_values = None if column.table is not None else representatives(cells[j])
            inputs = column.level_values() if raw_values is None else column.at(raw_values)
            masks.append(
                np.column_stack([questions.take(at).left(inputs, column.left_out(raw_values)), goes_missing[at]])
            )
            numbers.append(at)
        mask = np.concatenate(masks)
        first, which = _unique_rows(mask)
        member[np.concatenate(numbers)] = len(sets) + which
        sets += list(mask[first])
    return member, tuple(sets)
