"""The leaves of axis-aligned trees in a mixed-integer program, and the lines that they add."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.linear import Linear
from butfor.model.linear_leaves import LinearLeaves
from butfor.model.trees import Interval, Leaf, Trees, as_mask
from butfor.programs.program import Program, Sum
from butfor.solvers.milp.features import Piece, weighted

ROUNDED_LINE = 1e-9
"""By which share of its size a line may lie beyond its ends in a leaf, as they are computed."""


def tree_scores(model: Trees, program: Program, leaves: Sequence[Leaf], pieces: list[Piece]) -> list[Sum]:
    """The scores of some of the leaves of each tree, one of which is chosen."""
    return _values(model, leaves, _chosen(model, program, leaves, pieces))


def linear_leaf_scores(model: LinearLeaves, program: Program, lines: list[Sum], pieces: list[Piece]) -> list[Sum]:
    """The scores of trees of which one leaf each is chosen, with its lines. `lines` are the lines as expressions.

    A chosen line is a variable that is 0 if its leaf is not chosen. Large constants say so, from the ends of the line
    in the leaf.
    """
    by_cell = [_ends_by_cell(model.lines, piece, j) for j, piece in enumerate(pieces)]
    ends = {leaf: _ends_in(model, by_cell, leaf) for leaf in model.trees.leaves}
    leaves = [leaf for leaf, (low, high) in ends.items() if (low <= high).all()]
    chosen = _chosen(model.trees, program, leaves, pieces)
    scores = _values(model.trees, leaves, chosen)
    for leaf, here in zip(leaves, chosen, strict=True):
        low, high = ends[leaf]
        for score, k in enumerate(model.line[leaf.node].tolist()):
            if k >= 0:
                line = _switched(program, lines[k], here, float(low[score]), float(high[score]))
                scores[score] = scores[score] + line
    return scores


def _switched(program: Program, line: Sum, chosen: Sum, low: float, high: float) -> Sum:
    """The line if it is chosen, and else 0. It is between two ends if it is chosen."""
    least, most, spare = program.least(line), -program.least(-1.0 * line), ROUNDED_LINE * (1 + abs(low) + abs(high))
    low, high = max(low - spare, least), min(high + spare, most)
    added = program.variable(min(low, 0.0), max(high, 0.0))
    program.at_least(added - low * chosen)
    program.at_least(high * chosen - added)
    program.at_least(line - added + least * chosen, least)
    program.at_least(added - line - most * chosen, -most)
    return added


class _EndsByCell(NamedTuple):
    """The smallest and the largest that a feature adds to each line in each of its cells (lines, cells)."""

    low: FloatArray
    high: FloatArray


def _ends_by_cell(lines: Linear, piece: Piece, j: int) -> _EndsByCell:
    """Infinite ends, the wrong way round, say that the feature is never in a cell."""
    step = lines.steps[j]
    if piece.cells.levels:
        able = piece.choices.levels.able[0]
        return _EndsByCell(np.where(able, step, np.inf), np.where(able, step, -np.inf))
    first, last = (end[0] for end in piece.choices.hull)
    known = first <= last
    both = [lines.slope[:, [j]] * (np.where(known, end, 0.0) - lines.centre[j]) for end in (first, last)]
    able = np.append(known, piece.choices.missing[0, 0])
    low, high = (np.pad(of(*both), ((0, 0), (0, 1))) + step for of in (np.minimum, np.maximum))
    return _EndsByCell(np.where(able, low, np.inf), np.where(able, high, -np.inf))


def _ends_in(model: LinearLeaves, ends: Sequence[_EndsByCell], leaf: Leaf) -> tuple[FloatArray, FloatArray]:
    """The smallest and the largest value of the line that a leaf adds to each score, or of any line if it adds none.

    Infinite ends, the wrong way round, say that the leaf is never reached.
    """
    of = model.line[leaf.node]
    low, high = model.lines.intercept[of], model.lines.intercept[of]
    for j, each in enumerate(ends):
        inside = as_mask(leaf.path[j], model.cells[j]) if j in leaf.path else slice(None)
        low = low + each.low[of][:, inside].min(axis=1)
        high = high + each.high[of][:, inside].max(axis=1)
    return low, high


def _values(model: Trees, leaves: Sequence[Leaf], chosen: list[Sum]) -> list[Sum]:
    """The scores of the trees, from what is 1 iff a leaf is chosen."""
    values = model.value[[leaf.node for leaf in leaves]]
    return [weighted(chosen, column) + float(base) for base, column in zip(model.base, values.T, strict=True)]


def _chosen(model: Trees, program: Program, leaves: Sequence[Leaf], pieces: list[Piece]) -> list[Sum]:
    """What is 1 iff a leaf is chosen, for some of the leaves of each tree. It is bound to the cells of the features."""
    chosen = [program.variable(0.0, 1.0) for _ in leaves]
    for tree in range(len(model.roots)):
        mine = [(leaf, variable) for leaf, variable in zip(leaves, chosen, strict=True) if leaf.tree == tree]
        program.equal(total_of(variable for _, variable in mine), 1.0)
        for j in {j for leaf, _ in mine for j in leaf.path}:
            _bind(program, pieces[j], [(leaf, variable) for leaf, variable in mine if j in leaf.path], j)
    return chosen


def _bind(program: Program, piece: Piece, users: list[tuple[Leaf, Sum]], j: int) -> None:
    """Bind those leaves of one tree that depend on feature `j` to its cells."""
    spans = [(leaf.path[j], variable) for leaf, variable in users]
    if all(isinstance(region, Interval) for region, _ in spans):
        _bind_spans(program, piece, [(region, variable) for region, variable in spans if isinstance(region, Interval)])
        return
    for k, cell in enumerate(piece.cell):
        barred = total_of(
            variable for region, variable in spans if not isinstance(region, Interval) and not region.mask[k]
        )
        if barred.terms and (cell.terms or cell.constant):
            program.at_least(Sum(constant=1.0) - cell - barred)


def _bind_spans(program: Program, piece: Piece, spans: list[tuple[Interval, Sum]]) -> None:
    count = piece.cells.count
    lost = [variable for region, variable in spans if not region.missing]
    if lost and (piece.missing.terms or piece.missing.constant):
        program.at_least(Sum(constant=1.0) - piece.missing - total_of(lost))
    empty = [variable for region, variable in spans if region.first > region.last]
    if empty:
        program.at_least(piece.missing - total_of(empty))
    real = [(region, variable) for region, variable in spans if region.first <= region.last]
    above = piece.above or _known_above(piece)
    for k in sorted({r.first - 1 for r, _ in real if r.first > 0} | {r.last for r, _ in real if r.last < count - 1}):
        for lenient in (False, True):
            right = [v for r, v in real if r.first > k and (lenient or not r.missing)]
            if right:
                program.at_least(above[k] + (piece.missing if lenient else Sum()) - total_of(right))
        left = [v for r, v in real if r.last <= k]
        if left:
            program.at_least(Sum(constant=1.0) - above[k] - total_of(left))


def _known_above(piece: Piece) -> list[Sum]:
    """The order expressions of a number without order variables: sums of its cells."""
    return [total_of(piece.cell[k + 1 : piece.cells.count]) for k in range(piece.cells.count - 1)]


def total_of(parts: Iterable[Sum]) -> Sum:
    """The sum of some expressions."""
    total = Sum()
    for part in parts:
        total = total + part
    return total
