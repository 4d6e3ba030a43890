"""The features of one row in a mixed-integer program.

Their cells, values, changes and prices become linear expressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.formulation.choices import FeatureChoices, choices_of
from butfor.formulation.tables import Tables
from butfor.model.cells import Cells
from butfor.model.grid_points import grid_near
from butfor.problem.problem import Problem
from butfor.programs.program import Program, Sum

MOST_STEPS = 1e8
"""The widest range of whole numbers that HiGHS gets as such. It takes what is within 1e-6 of one for whole."""


@dataclass(eq=False)
class Piece:
    """One feature as expressions. An expression is set only if something in the problem needs it.

    - `choices`, `whole`: what the feature may become, in the cells of the model and in a single one;
    - `home`: the factual's cell;
    - `cell`: `cell[k]` is 1 iff the feature is in cell k ("missing" is last);
    - `above`: `above[k]` is 1 iff the number is above edge k;
    - `value`: the number (or the level as a number), 0 if it is missing;
    - `changed`: at least 1 if the value is not the factual one;
    - `gain`: the signed change of a number;
    - `up`, `down`: the two parts of that change, in units (None: not needed);
    - `missing`: 1 iff the value is missing;
    - `room`: the largest possible size of `gain`;
    - `by_value`: whether the number itself is a variable;
    - `counted`: whether `changed` is 0 only if the number is the factual one;
    - `middle`: the number from which it is measured, if it may be missing.
    """

    choices: FeatureChoices
    whole: FeatureChoices
    home: int
    cell: list[Sum] = field(default_factory=list)
    above: list[Sum] = field(default_factory=list)
    value: Sum = field(default_factory=Sum)
    changed: Sum = field(default_factory=Sum)
    gain: Sum = field(default_factory=Sum)
    up: Sum | None = None
    down: Sum | None = None
    missing: Sum = field(default_factory=Sum)
    room: float = 0.0
    by_value: bool = False
    counted: bool = False
    middle: float = 0.0

    @cached_property
    def x(self) -> float:
        """The value as it is."""
        return float(self.choices.own[0, 0])

    @property
    def cells(self) -> Cells:
        """The cells of the model."""
        return self.choices.cells

    @cached_property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest number to which the feature may move."""
        return float(self.whole.ends[0][0, 0]), float(self.whole.ends[1][0, 0])

    @property
    def known(self) -> Sum:
        """1 iff the value is not missing."""
        return Sum(constant=1.0) - self.missing if self.by_value else _total(self.cell[:-1])


@dataclass(frozen=True, eq=False)
class Needs:
    """What a problem needs.

    - `value` (features): whether the number matters, not only its cell;
    - `changes`: whether changes are counted;
    - `parts`: whether changes up and down are told apart.
    """

    value: BoolArray
    changes: bool
    parts: bool = False


def add_feature(
    program: Program, problem: Problem, tables: Tables, cells: Cells, j: int, needs: Needs, widest: Sum | None
) -> Piece:
    """The variables, rows and price of feature `j` of the problem's only row."""
    piece = Piece(FeatureChoices(problem, j, cells), choices_of(problem, j), int(tables.home[0, j]))
    first, last = piece.range
    one_value = not problem.domain.low[0, j] < problem.domain.high[0, j] or first > last
    if cells.levels or one_value or not needs.value[j]:
        _by_cell(program, piece, tables, widest)
    else:
        _by_value(program, piece, needs, widest)
    return piece


def _by_cell(program: Program, piece: Piece, tables: Tables, widest: Sum | None) -> None:
    """A feature as one choice of a cell. Each cell has its cheapest value, so its price is known."""
    j, feature = piece.choices.j, piece.choices.problem.space.features[piece.choices.j]
    block = slice(tables.start[j], tables.start[j + 1])
    price, value = tables.price[0, block], tables.value[0, block]
    able = np.isfinite(price)
    if piece.cells.levels or not len(piece.cells.edges):
        piece.cell = [program.binary() if fine else Sum() for fine in able]
        if able.sum() == 1:
            piece.cell = [Sum(constant=1.0) if fine else Sum() for fine in able]
        else:
            program.equal(_total(piece.cell), 1.0)
    else:
        _ordered_cells(program, piece, able)
    piece.missing = piece.cell[-1]
    program.minimise(weighted(piece.cell, np.where(able, price, 0.0)))
    if widest is not None and tables.reach[0, block].any():
        program.at_least(widest - weighted(piece.cell, np.where(able, tables.reach[0, block], 0.0)))
    known = np.nan_to_num(feature.in_numbers(value) if feature.levels is None or feature.numbers is not None else value)
    piece.value = weighted(piece.cell, known)
    if not np.isnan(piece.x):
        piece.gain = weighted(piece.cell, np.nan_to_num(value)) - piece.x
        piece.room = float(np.nanmax(np.abs(value[able] - piece.x), initial=0.0))
    piece.changed = Sum(constant=1.0) - piece.cell[piece.home] if tables.stay[0, j] else Sum(constant=1.0)


def _ordered_cells(program: Program, piece: Piece, able: BoolArray) -> None:
    """The cells of a number through order variables. `above[k]` is 1 iff the number is above edge k."""
    count = piece.cells.count
    piece.cell = [Sum()] * (count + 1)
    piece.cell[-1] = program.binary() if able[-1] else Sum()
    there = Sum(constant=1.0) - piece.cell[-1]
    inside = np.flatnonzero(able[:-1])
    before = there
    for k in range(count - 1):
        if not inside.size or k < inside[0]:
            here = there
        elif k >= inside[-1]:
            here = Sum()
        elif not able[k]:
            here = before
        else:
            here = program.binary()
            program.at_least(before - here)
        piece.above.append(here)
        piece.cell[k] = before - here
        before = here
    piece.cell[count - 1] = before
    if not inside.size:
        program.equal(there, 0.0)


def _by_value(program: Program, piece: Piece, needs: Needs, widest: Sum | None) -> None:
    """A feature whose number is a variable, tied to the number's cell.

    The variable is in units of the number's range, which keeps the program well scaled.
    """
    prices, j, x, (low, high) = piece.choices.problem.prices, piece.choices.j, piece.x, piece.range
    if piece.whole.missing[0, 0]:
        piece.missing = program.binary()
    there = Sum(constant=1.0) - piece.missing
    changed: Sum | None = None
    if piece.choices.problem.domain.step[j]:
        changed = _on_a_grid(program, piece, there)
    else:
        _between_ends(program, piece, there)
    start = 0.0 if np.isnan(x) else x
    piece.by_value, piece.room = True, max(abs(high - start), abs(low - start))
    if np.isnan(x):
        piece.changed = there
        program.minimise(float(prices.missing[1, j]) * there)
        if widest is not None:
            program.at_least(widest - float(prices.linf_missing[1, j]) * there)
    else:
        piece.gain = piece.value - x
        _price_of_change(program, piece, needs, widest, changed)
    _cells_of_value(program, piece, there)


def _on_a_grid(program: Program, piece: Piece, there: Sum) -> Sum | None:
    """A number as a count of steps. If it may stay though it lies off its grid, what is 1 iff it moves is returned."""
    domain, j, x, (first, last) = piece.choices.problem.domain, piece.choices.j, piece.x, piece.range
    step, anchor, odd = float(domain.step[j]), float(domain.anchor[j]), bool(piece.whole.odd[0, 0])
    start = 0.0 if np.isnan(x) else x
    middle = float(grid_near(np.array(min(max(start, first), last)), step, anchor))
    k_low, k_high = np.round((first - middle) / step), np.round((last - middle) / step)
    if not odd and not piece.missing.terms:
        piece.value = step * _count(program, k_low, k_high) + middle
        return None
    moved = program.binary()
    count = _count(program, min(k_low, 0.0), max(k_high, 0.0))
    program.at_least(count - k_low * moved)
    program.at_least(k_high * moved - count)
    program.at_least(there - moved)
    if not odd:
        program.equal(there - moved, 0.0)
    piece.middle = x if odd else middle
    piece.value = piece.middle * there + (middle - piece.middle) * moved + step * count
    return moved if odd else None


def _between_ends(program: Program, piece: Piece, there: Sum) -> None:
    """A number that may have any value between its ends."""
    (low, high), width = piece.range, piece.choices.problem.domain.width(piece.choices.j)
    if not piece.missing.terms:
        start = 0.0 if np.isnan(piece.x) else piece.x
        piece.value = width * program.variable((low - start) / width, (high - start) / width) + start
        return
    piece.middle = middle = (low + high) / 2
    away = program.variable((low - middle) / width, (high - middle) / width)
    program.at_least(away - (low - middle) / width * there)
    program.at_least((high - middle) / width * there - away)
    piece.value = width * away + middle * there


def _count(program: Program, low: float, high: float) -> Sum:
    """A number of steps. HiGHS cannot tell very large whole numbers apart, so real ones stand for them in the bound."""
    if low == high:
        return Sum(constant=low)
    if high - low <= MOST_STEPS:
        return program.variable(low, high, integer=True)
    return (high - low) * program.variable(low / (high - low), high / (high - low))


def _price_of_change(program: Program, piece: Piece, needs: Needs, widest: Sum | None, changed: Sum | None) -> None:
    """Add the price of a known number's change.

    |gain| is written as the sum of two parts, up and down. If changes are counted, there is also a binary variable.
    """
    problem, j = piece.choices.problem, piece.choices.j
    prices, width, x, missing = problem.prices, problem.domain.width(j), piece.x, piece.missing
    low, high = piece.range
    up_room, down_room = max(0.0, high - x) / width, max(0.0, x - low) / width
    counted = needs.changes or prices.l0[j] > 0
    size = Sum()
    if counted or needs.parts or prices.l1[j] or prices.linf[j]:
        up, down = piece.up, piece.down = program.variable(0.0, up_room), program.variable(0.0, down_room)
        program.equal((1 / width) * (piece.gain + x * missing) - up + down)
        size = width * (up + down)
        if counted and changed is None:
            changed = program.binary()
        if changed is not None:
            program.at_least(up_room * changed - up)
            program.at_least(down_room * changed - down)
    piece.changed, piece.counted = (changed or Sum()) + missing, changed is not None
    if changed is not None and not problem.domain.stay[0, j]:
        program.equal(piece.changed, 1.0)
    if not missing.terms:
        program.minimise(float(prices.l1[j]) * size + float(prices.l0[j]) * (changed or Sum()))
    else:
        program.minimise(
            float(prices.l1[j]) * size
            + float(prices.l0[j]) * (changed or Sum())
            + float(prices.missing[0, j]) * missing
        )
    if prices.l2[j]:
        program.minimise_square((piece.gain + x * missing,), np.array([[prices.l2[j]]]))
    if widest is not None:
        program.at_least(widest - float(prices.linf[j]) * size - float(prices.linf_missing[0, j]) * missing)


def _cells_of_value(program: Program, piece: Piece, there: Sum) -> None:
    """Tie the cells to the value, if the number has more than one cell."""
    cells = piece.cells
    if cells.count == 1:
        piece.cell = [there, piece.missing]
        return
    lower, upper = (end[0] for end in piece.choices.hull)
    able = np.append(lower <= upper, bool(piece.missing.terms))
    kept = piece.missing
    _ordered_cells(program, piece, able)
    if kept.terms:
        program.equal(piece.cell[-1] - kept)
    fine = able[:-1]
    program.at_least(piece.value - weighted(piece.cell[:-1], np.where(fine, lower, 0.0)))
    program.at_least(weighted(piece.cell[:-1], np.where(fine, upper, 0.0)) - piece.value)
    if piece.counted and piece.home < cells.count:  # to leave the cell is a change, however small
        program.at_least(piece.changed + piece.cell[piece.home], 1.0)


def _total(parts: list[Sum]) -> Sum:
    return weighted(parts, np.ones(len(parts)))


def weighted(parts: Sequence[Sum], weights: FloatArray) -> Sum:
    """A sum of parts, each with a weight."""
    terms: dict[int, float] = {}
    constant = 0.0
    for part, weight in zip(parts, weights, strict=True):
        if not weight:
            continue
        constant += weight * part.constant
        for variable, old in part.terms.items():
            terms[variable] = terms.get(variable, 0.0) + float(weight) * old
    return Sum(terms, constant)
