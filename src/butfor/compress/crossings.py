"""What counterfactuals cross: from rows and their answers to binary columns, each with a count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.compress.columns import BinaryColumn, BinaryColumns, ColumnTest
from butfor.compress.gaps import distinct_values, short, smallest_gap
from butfor.model.questions import Model, cuts, is_read
from butfor.space.feature import Feature
from butfor.space.space import Space, same


@dataclass(frozen=True, eq=False)
class Moves:
    """The answers that changed one column.

    - `before`, `after` (answers): the encoded values;
    - `values`: the distinct values of the training rows.
    """

    before: FloatArray
    after: FloatArray
    values: FloatArray


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
        values[j] = distinct_values(training[:, j])
        moves = Moves(before[moved, j], after[moved, j], values[j])
        edges = cuts(model, j) if is_read(model) else np.empty(0)
        for (test, at), count in sorted(_of_column(feature, moves, edges, merge).items()):
            found.append((j, test, at, count))
    counts = np.sort([count for *_, count in found])
    survives = np.maximum(np.searchsorted(counts, counts, side="right") - 1, 0) / max(len(counts) - 1, 1)
    lasting = dict(zip(counts.tolist(), survives.tolist(), strict=True)) if len(counts) > 1 else {}
    return BinaryColumns(
        BinaryColumn(
            column=space.names[j],
            feature=j,
            test=test,
            at=at,
            count=count,
            survives=lasting.get(count, 1.0),
            ask=asks(space.features[j], test, at, values[j]),
        )
        for j, test, at, count in found
    )


def asks(feature: Feature, test: ColumnTest, at: float, values: FloatArray) -> str:
    """The question as text, without the name of the column."""
    if test is ColumnTest.MISSING:
        return "is missing"
    if test is ColumnTest.LEVEL:
        return f"= {feature.value(at)}"
    if feature.levels is not None:
        return f"> {feature.value(at)}"
    return f"> {short(at, values, feature.step, feature.anchor)}"


def _of_column(feature: Feature, moves: Moves, edges: FloatArray, merge: float) -> Crossed:
    """The questions about one column that its moves cross."""
    gone = np.isnan(moves.before) | np.isnan(moves.after)
    found: Crossed = Counter({(ColumnTest.MISSING, 0.0): int(gone.sum())} if gone.any() else {})
    there = Moves(moves.before[~gone], moves.after[~gone], moves.values)
    if not len(there.before):
        return found
    if feature.levels is not None:
        return found + (_ranks(there) if feature.ordered else _levels(there, len(feature.levels)))
    thresholds = _own_cuts(there, edges) if len(edges) else _beside(there)
    join = _by_gap(there.values) if len(edges) else _by_width(merge * _width(there.values))
    return found + Counter({(ColumnTest.ABOVE, at): count for at, count in join(np.sort(thresholds))})


def _levels(moves: Moves, levels: int) -> Crossed:
    """The levels that answers leave and enter. Of two levels, one question is enough."""
    if levels == 2:
        return Counter({(ColumnTest.LEVEL, 1.0): len(moves.before)})
    both = np.concatenate([moves.before, moves.after])
    return Counter((ColumnTest.LEVEL, float(level)) for level in both)


def _ranks(moves: Moves) -> Crossed:
    """The boundary between ranks that lies just before each answer."""
    at = np.where(moves.after > moves.before, moves.after - 1, moves.after)
    return Counter((ColumnTest.ABOVE, float(rank)) for rank in at)


def _own_cuts(moves: Moves, edges: FloatArray) -> FloatArray:
    """The model's cut that lies just before each answer. An answer that stays in its cell crosses none.

    It is the paper's threshold `after + eps sign(before - after)`: its answers end eps inside the cuts of their leaves.
    Ours end directly behind a cut, so eps is 0, unless a margin is asked for.
    """
    up = moves.after > moves.before
    cell = np.searchsorted(edges, moves.after)
    place = np.clip(np.where(up, cell - 1, cell), 0, len(edges) - 1)
    cut = edges[place]
    between = np.where(up, (cut >= moves.before) & (cut < moves.after), (cut < moves.before) & (cut >= moves.after))
    return np.asarray(cut[between])


def _beside(moves: Moves) -> FloatArray:
    """Where there are no cuts: the answer, a smallest gap back towards the row. Shorter moves cross none."""
    eps = smallest_gap(moves.values)
    far = np.abs(moves.before - moves.after) > eps
    return np.asarray((moves.after + eps * np.sign(moves.before - moves.after))[far])


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
