"""What counterfactuals cross: from rows and their answers to binary columns, each with a count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.compress.columns import BinaryColumn, BinaryColumns, ColumnTest
from butfor.compress.gaps import middles, positional, short, smallest_gap
from butfor.model.questions import Model, cuts, evaluate, is_read
from butfor.space.feature import Feature
from butfor.space.space import Space, same

BEHIND = 1e-6
"""An answer this share behind a cut lies directly behind it: the next number in single precision does."""


@dataclass(frozen=True, eq=False)
class Moves:
    """The answers that changed one column.

    - `before`, `after` (answers): the encoded values;
    - `values`: the distinct values of the training rows, in order.
    """

    before: FloatArray
    after: FloatArray
    values: FloatArray

    @property
    def up(self) -> BoolArray:
        """Which of them rise."""
        return np.asarray(self.after > self.before)

    def only(self, some: BoolArray) -> Moves:
        """Some of them."""
        return Moves(self.before[some], self.after[some], self.values)

    def ends(self, step: float) -> FloatArray:
        """The threshold directly before each answer, in a column with this step (0: any number)."""
        lower = self.after - step if step else np.nextafter(self.after, -np.inf)
        return np.where(self.up, lower, self.after)


Crossed = Counter[tuple[ColumnTest, float]]
"""How many answers cross each question about one column."""


def crossed(
    space: Space, model: Model, training: FloatArray, before: FloatArray, after: FloatArray, merge: float
) -> BinaryColumns:
    """The binary columns that answers cross.

    - `training`, `before`, `after`: encoded rows; `before` and `after` belong together;
    - `merge`: thresholds that are not cuts are joined if they differ by at most this share of the column's width.
    """
    found: list[tuple[int, ColumnTest, float, int]] = []
    values: dict[int, FloatArray] = {}
    for j, feature in enumerate(space.features):
        moved = ~same(before[:, j], after[:, j])
        if not moved.any():
            continue
        values[j] = np.unique(training[~np.isnan(training[:, j]), j])
        moves = Moves(before[moved, j], after[moved, j], values[j])
        own = _Own(model, j, after[moved])
        for (test, at), count in sorted(_of_column(feature, moves, own, merge).items()):
            found.append((j, test, at, count))
        values[j] = np.union1d(
            values[j], middles([at for k, test, at, _ in found if k == j and test is ColumnTest.ABOVE])
        )
    counts = np.sort([count for *_, count in found])
    survives = np.maximum(np.searchsorted(counts, counts, side="right") - 1, 0) / max(len(counts) - 1, 1)
    lasting = dict(zip(counts.tolist(), survives.tolist(), strict=True)) if len(counts) > 1 else {}
    shown = [written(space.features[j], test, at, values[j]) for j, test, at, _ in found]
    return BinaryColumns(
        BinaryColumn(
            column=space.names[j],
            feature=j,
            test=test,
            at=at,
            count=count,
            survives=lasting.get(count, 1.0),
            ask=asks(space.features[j], test, at),
        )
        for (j, test, _, count), at in zip(found, shown, strict=True)
    )


def written(feature: Feature, test: ColumnTest, at: float, values: FloatArray) -> float:
    """The threshold that is asked about: one that can be written shortly, and divides some values as the one found does."""
    number = test is ColumnTest.ABOVE and feature.levels is None
    return short(at, values, feature.step, feature.anchor) if number else at


def asks(feature: Feature, test: ColumnTest, at: float) -> str:
    """The question as text, without the name of the column."""
    if test is ColumnTest.MISSING:
        return "is missing"
    if test is ColumnTest.LEVEL:
        return f"= {feature.value(at)}"
    return f"> {positional(at) if feature.levels is None else feature.value(at)}"


@dataclass(frozen=True, eq=False)
class _Own:
    """The cuts of the model in one column.

    - `points` (answers, columns): the answers that moved it, with all of their columns.
    """

    model: Model
    column: int
    points: FloatArray

    @property
    def edges(self) -> FloatArray:
        """The cuts in order; none of a black box."""
        return cuts(self.model, self.column) if is_read(self.model) else np.empty(0)

    def alike(self, back: FloatArray) -> BoolArray:
        """For which answers the model says the same if this column moves back."""
        moved = self.points.copy()
        moved[:, self.column] = back
        return np.asarray((evaluate(self.model, moved) == evaluate(self.model, self.points)).all(axis=1))

    def only(self, some: BoolArray) -> _Own:
        """The same cuts, for some of the answers."""
        return _Own(self.model, self.column, self.points[some])


def _of_column(feature: Feature, moves: Moves, own: _Own, merge: float) -> Crossed:
    """The questions about one column that its moves cross."""
    gone = np.isnan(moves.before) | np.isnan(moves.after)
    found: Crossed = Counter({(ColumnTest.MISSING, 0.0): int(gone.sum())} if gone.any() else {})
    there = moves.only(~gone)
    if not len(there.before):
        return found
    if feature.levels is not None:
        return found + (_ranks(there) if feature.ordered else _levels(there, len(feature.levels)))
    crossed_cuts, smooth = _own_cuts(there, own.only(~gone), feature.step)
    ends = _far(there.only(smooth)).ends(feature.step)
    for thresholds, join in ((crossed_cuts, _by_gap(there.values)), (ends, _by_width(merge * _width(there.values)))):
        found += Counter({(ColumnTest.ABOVE, at): count for at, count in join(np.sort(thresholds))})
    return found


def _levels(moves: Moves, levels: int) -> Crossed:
    """The levels that answers leave and enter. Of two levels, one question is enough."""
    if levels == 2:
        return Counter({(ColumnTest.LEVEL, 1.0): len(moves.before)})
    both = np.concatenate([moves.before, moves.after])
    return Counter((ColumnTest.LEVEL, float(level)) for level in both)


def _ranks(moves: Moves) -> Crossed:
    """The boundary between ranks that lies just before each answer."""
    return Counter((ColumnTest.ABOVE, float(rank)) for rank in moves.ends(1.0))


def _own_cuts(moves: Moves, own: _Own, step: float) -> tuple[FloatArray, BoolArray]:
    """The model's cuts that lie just before answers, and which answers have none because the model moves smoothly there.

    It is the paper's threshold `after + eps sign(before - after)`: its answers end eps inside the cuts of their leaves.
    Ours end directly behind a cut, so eps is 0, unless a margin is asked for.
    A model may have cuts in a column and move along it, too. An answer crosses a cut if it lies directly behind it, or if
    the model says the same there. One that stays in its cell, where the model says the same, crosses nothing.
    """
    edges, up = own.edges, moves.up
    if not len(edges):
        return edges, np.ones(len(moves.after), dtype=np.bool_)
    cut = edges[np.clip(np.searchsorted(edges, moves.after) - up, 0, len(edges) - 1)]
    between = np.where(up, (cut >= moves.before) & (cut < moves.after), (cut < moves.before) & (cut >= moves.after))
    behind = np.where(up, np.nextafter(cut, np.inf), cut)
    near = between & (np.abs(moves.after - cut) <= np.maximum(step, BEHIND * np.abs(cut)))
    flat = near | own.alike(np.where(between, behind, moves.before))
    return np.asarray(cut[between & flat]), ~flat


def _far(moves: Moves) -> Moves:
    """The moves by more than the smallest gap between training values: shorter ones cross nothing, as in the paper."""
    return moves.only(np.abs(moves.before - moves.after) > smallest_gap(moves.values))


def _width(values: FloatArray) -> float:
    return float(values[-1] - values[0]) if len(values) else 0.0


Join = Callable[[FloatArray], Iterator[tuple[float, int]]]


def _by_gap(values: FloatArray) -> Join:
    """Join thresholds between the same two training values: they ask the same. The most frequent one stands for all."""

    def join(thresholds: FloatArray) -> Iterator[tuple[float, int]]:
        for group in _groups(thresholds, np.searchsorted(values, thresholds, side="right")):
            (at, _), *_ = Counter(group.tolist()).most_common(1)
            yield float(at), len(group)

    return join


def _by_width(width: float) -> Join:
    """Join thresholds that are at most `width` apart, from the lowest on. Their mean stands for all."""

    def join(thresholds: FloatArray) -> Iterator[tuple[float, int]]:
        begin = 0
        while begin < len(thresholds):
            end = int(np.searchsorted(thresholds, thresholds[begin] + width, side="right"))
            end = max(end, begin + 1)
            yield float(thresholds[begin:end].mean()), end - begin
            begin = end

    return join


def _groups(values: FloatArray, keys: IntArray) -> Iterator[FloatArray]:
    """The values with equal keys together; the keys rise."""
    return iter(np.split(values, np.flatnonzero(np.diff(keys)) + 1)) if len(values) else iter(())
