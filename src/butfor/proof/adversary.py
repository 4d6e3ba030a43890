"""Replies of an adversary in proofs of robust answers: how cuts of trees, or numbers, are moved so that a cheaper row fails."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.formulation.margins import widened
from butfor.model.scores import ScoreSet
from butfor.model.trees import Trees
from butfor.neighbours.trees.counterpart import on_grid
from butfor.neighbours.trees.reply import reply
from butfor.neighbours.worst import worst_neighbours
from butfor.problem.problem import Problem

WELL_INSIDE = 1 - 2.0**-40
"""Neighbours are looked for within this share of a radius of real numbers. At its very end, rounding decides where they are."""

Reply = list[list[Any]]
"""In the words of a proof: some columns, each with where the ends of its cuts are moved to, or how far its number is shifted."""


class AbstractAdversary(ABC):
    """Finds neighbours of a row that miss what is wanted, and answers all rows in the same way (decision 19).

    - `problem`: the row, with the ball;
    - `score_sets`: one of them is to hold the whole ball;
    - `columns`: as the checker reads them;
    - `until`: when its time ends, on the clock of `butfor.compiled.clock`.
    """

    def __init__(self, problem: Problem, score_sets: tuple[ScoreSet, ...], columns: list[Any], until: float) -> None:
        ball = problem.demands.ball
        assert ball is not None
        self.model, self.ball, self.columns, self.sets, self.until = problem.model, ball, columns, score_sets, until
        self.inner = replace(ball, radius=np.where(ball.step > 0, ball.radius, ball.radius * WELL_INSIDE))
        self.wide = [widened(one, problem) for one in score_sets]

    @abstractmethod
    def told(self, row: FloatArray, point: FloatArray, near: FloatArray) -> Reply:
        """A reply for a sum `row @ scores` that leads from a point to a neighbour, in the words of the proof."""

    def further(self, known: list[Reply], point: FloatArray, columns: list[Any], cells: Sequence[Any]) -> list[Reply]:
        """Replies to a row in some cells that are not known yet. None is there if the row keeps what is wanted.

        Where it keeps that, or all is known, a row well inside of the cells is asked about: at ends, rounding decides.
        """
        inside = point.copy()
        for j in np.flatnonzero((self.ball.radius > 0) & (self.ball.step == 0) & ~np.isnan(point)).tolist():
            if columns[j].levels is None and type(cells[j]) is int:
                low, high = map(float, columns[j].range_of(cells[j]))
                near = min(self.ball.radius[j] * (1 - WELL_INSIDE), (high - low) / 4)
                inside[j] = np.clip(point[j], low + near, high - near)
        found = [one for one in self.replies(point) if one not in known]
        return found or [one for one in self.replies(inside) if one not in known]

    def replies(self, point: FloatArray, *, always: bool = False) -> list[Reply]:
        """A reply for each sum that falls too low near a row (`always`: for each sum)."""
        found = list[Reply]()
        for own, wide in zip(self.sets, self.wide, strict=True):
            worst = worst_neighbours(self.model, own.A, point, self.inner, until=self.until)  # or what is found by then
            for row, one, least in zip(own.A, worst, wide.b.tolist(), strict=True):
                if always or one.score < least:
                    found.append(self.told(row, point, one.point))
        return found


class Shifter(AbstractAdversary):
    """Shifts all rows by the same numbers, before a network."""

    def told(self, row: FloatArray, point: FloatArray, near: FloatArray) -> Reply:
        """The shift of each number."""
        shift = np.nan_to_num(near - point)
        shift = shift / max(1.0, float(self.inner.sizes(shift[None])[0]))
        grid = self.ball.step > 0
        shift[grid] = np.round(shift[grid] / self.ball.step[grid]) * self.ball.step[grid]
        return [[j, [shift[j].hex()]] for j in np.flatnonzero(shift).tolist()]


class CutMover(AbstractAdversary):
    """Moves the cuts of trees: the same neighbour of each row."""

    def __init__(self, problem: Problem, *about: Any) -> None:
        super().__init__(problem, *about)
        assert isinstance(problem.model, Trees)
        self.model = self.trees = on_grid(problem.model, self.ball)

    def told(self, row: FloatArray, point: FloatArray, near: FloatArray) -> Reply:
        """Where the cuts of each column are moved to."""
        moved, told = reply(self.trees, row, self.ball, point, near), Reply()
        for j in np.flatnonzero(self.ball.radius > 0).tolist():
            column, at = self.columns[j], np.flatnonzero((self.trees.feature == j) & (self.trees.member < 0))
            if column.levels is None and column.turns and len(at):
                cut, first = np.unique(self.trees.cut[at], return_index=True)
                told.append([j, _ends(column, cut, moved.cut[at[first]], float(self.ball.radius[j]))])
        return told


def _ends(column: Any, cut: FloatArray, place: FloatArray, radius: float) -> list[Any]:
    """Where cuts of a column, as the checker reads them, are moved to: as those of our model that are nearest to them."""
    turns = np.array([float(turn) for turn in column.turns])
    if column.step:
        step, anchor = float(column.step), float(column.anchor)
        points = np.array([float((turn - column.anchor) // column.step) for turn in column.turns])
        shift = np.round((place - cut) / step)[_nearest(cut, anchor + step * (points + 0.5))]
        kept, most = _sorted_together(points, points + shift), round(radius / step)
        moved = np.clip(kept, points - most, points + most)
        return [float(column.anchor + column.step * int(point)).hex() for point in moved.tolist()]
    near = _nearest(cut, turns)
    shift = (place - cut)[near]
    exact, r = [Fraction(turn) for turn in column.turns], Fraction(radius)
    low, high = (np.array([_within(turn + way * r, way) for turn in exact]) for way in (-1, 1))
    found = np.clip(np.maximum.accumulate(turns + shift), low, high)
    return list(map(float.hex, np.maximum.accumulate(found).tolist()))


def _nearest(cut: FloatArray, turns: FloatArray) -> IntArray:
    """Which cut is nearest to each of some numbers."""
    at = np.clip(np.searchsorted(cut, turns), 1, max(1, len(cut) - 1))
    right = np.minimum(at, len(cut) - 1)
    return np.where(np.abs(cut[at - 1] - turns) <= np.abs(cut[right] - turns), at - 1, right)


def _sorted_together(points: FloatArray, moved: FloatArray) -> FloatArray:
    """Places in the order of their points, and one place for equal points."""
    moved = np.maximum.accumulate(moved)
    return moved[np.searchsorted(points, points)]


def _within(end: Fraction, way: int) -> float:
    """The float nearest to an end that is not beyond it."""
    near = float(end)
    return near if way * (Fraction(near) - end) <= 0 else float(np.nextafter(near, -way * np.inf))
