"""How a row may change, direction by direction: a number up, a number down, another level.

A change is a sum of directions, each by some amount. Its cost is at least the sum of their costs, and what reaches a
unit of the first layer lies between two linear functions of the amounts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.formulation.choices import FeatureChoices, choices_of
from butfor.formulation.tables import Tables
from butfor.model.linear import Linear, evaluate_linear
from butfor.problem.problem import Problem

UP, DOWN = -1, -2
"""The directions of a number. Other directions are the numbers of cells."""


@dataclass(frozen=True, eq=False)
class Directions:
    """The directions of one row, column by column.

    - `column`, `cell` (directions): where each belongs, and the cell that it leads to (or `UP`, `DOWN`);
    - `room` (directions): the largest amount, in widths of the number's domain; 1 for a cell;
    - `fixed`, `rate`, `square`, `reach` (directions): an amount t > 0 costs `fixed + rate t + square t^2`, and reaches
      `reach t` of an L-infinity cost;
    - `start` (units): what reaches each unit of the first layer from the row as it is;
    - `most`, `least` (units, directions): what an amount of 1 adds to it at most, and at least.
    """

    column: IntArray
    cell: IntArray
    room: FloatArray
    fixed: FloatArray
    rate: FloatArray
    square: FloatArray
    reach: FloatArray
    start: FloatArray
    most: FloatArray
    least: FloatArray

    def take(self, at: IntArray) -> Directions:
        """Some of the directions."""
        parts = {name: getattr(self, name)[at] for name in OF_EACH}
        return replace(self, **parts, most=self.most[:, at], least=self.least[:, at])


OF_EACH = ("column", "cell", "room", "fixed", "rate", "square", "reach")
"""What has one entry per direction."""


def directions(problem: Problem, first: Linear, tables: Tables) -> Directions:
    """The directions of the only row of a problem. Those that reach no unit are left out."""
    found = _DirectionList(first.scores)
    for j in range(len(problem.space)):
        if is_plain(problem, first, j):
            _of_number(choices_of(problem, j), first, found)
        else:
            _of_cells(FeatureChoices(problem, j, first.cells[j]), first, tables, found)
    every = found.directions(evaluate_linear(first, problem.factuals)[0])
    return every.take(np.flatnonzero((every.room > 0) & (every.most.any(axis=0) | every.least.any(axis=0))))


def is_plain(problem: Problem, first: Linear, j: int) -> bool:
    """Whether feature `j` is a known number that is read by its value only, and may move."""
    cells, domain = first.cells[j], problem.domain
    known = not np.isnan(problem.factuals[0, j])
    moves = bool(domain.low[0, j] < domain.high[0, j])
    return not cells.levels and cells.count == 1 and known and moves and bool(first.slope[:, j].any())


class _DirectionList:
    """Directions while they are collected."""

    def __init__(self, units: int) -> None:
        self.numbers: list[tuple[float, ...]] = []
        self.most: list[FloatArray] = [np.empty((0, units))]
        self.least: list[FloatArray] = [np.empty((0, units))]

    def add(
        self, j: int, cell: int, room: float, costs: tuple[float, ...], most: FloatArray, least: FloatArray
    ) -> None:
        self.numbers.append((j, cell, room, *costs))
        self.most.append(most[None])
        self.least.append(least[None])

    def directions(self, start: FloatArray) -> Directions:
        table = np.array(self.numbers, dtype=np.float64).reshape(len(self.numbers), len(OF_EACH))
        column, cell = table[:, 0].astype(np.intp), table[:, 1].astype(np.intp)
        most, least = (np.ascontiguousarray(np.concatenate(parts).T) for parts in (self.most, self.least))
        room, fixed, rate, square, reach = table[:, 2:].T
        return Directions(column, cell, room, fixed, rate, square, reach, start, most, least)


def _of_number(choices: FeatureChoices, first: Linear, found: _DirectionList) -> None:
    j, prices, x = choices.j, choices.problem.prices, float(choices.own[0, 0])
    (low,), (high,) = (end[0].tolist() for end in choices.ends)
    unit = choices.problem.domain.width(j)
    costs = (
        float(prices.l0[j]), float(prices.l1[j]) * unit, float(prices.l2[j]) * unit**2, float(prices.linf[j]) * unit,
    )  # fmt: skip
    slope = first.slope[:, j] * unit
    found.add(j, UP, (high - x) / unit, costs, slope, slope)
    found.add(j, DOWN, (x - low) / unit, costs, -slope, -slope)
    if choices.missing[0, 0]:
        lost = _reaching(first, j, np.array([np.nan])) - _reaching(first, j, np.array([x]))
        costs = float(prices.missing[0, j]), 0.0, 0.0, float(prices.linf_missing[0, j])
        found.add(j, first.cells[j].count, 1.0, costs, lost[:, 0], lost[:, 0])


def _of_cells(choices: FeatureChoices, first: Linear, tables: Tables, found: _DirectionList) -> None:
    """One direction per cell. What a cell adds is known up to the place of the number in it."""
    j = choices.j
    block = slice(tables.start[j], tables.start[j + 1])
    price, value = tables.price[0, block], tables.value[0, block]
    reach = tables.reach[0, block] if tables.reach.size else np.zeros(len(price))
    able = np.flatnonzero(np.isfinite(price))
    if not len(able):
        return
    here = _reaching(first, j, choices.own[:, 0])[:, 0]
    cheapest = price[able].min()
    for cell in able.tolist():
        ends = np.array([value[cell], value[cell]])
        if not first.cells[j].levels and not np.isnan(value[cell]) and first.slope[:, j].any():
            ends = np.array([end[0, cell] for end in choices.hull])
        sides = _reaching(first, j, ends, cell) - here[:, None]
        costs = 0.0, float(price[cell] - cheapest), 0.0, float(reach[cell])
        found.add(j, cell, 1.0, costs, sides.max(axis=1), sides.min(axis=1))


def _reaching(first: Linear, j: int, values: FloatArray, cell: int | None = None) -> FloatArray:
    """What values of a feature, in their own cell or in a given one, add to each unit (units, values)."""
    cells = first.cells[j].index(values) if cell is None else np.full(len(values), cell)
    return np.asarray(
        first.slope[:, [j]] * np.where(np.isnan(values), 0.0, values - first.centre[j]) + first.steps[j][:, cells]
    )
