"""The choices of each feature with what they gain for the one inequality of a linear model.

A run is one only if the score gains along it. Then its cost is convex along it, because prices rise with the distance. Of
other runs only the first value is left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.choices import ChoiceTable, FeatureChoices, Runs, choice_table
from butfor.model.linear import Linear
from butfor.model.scores import UNIT_DOUBLE
from butfor.problem.problem import Problem

MOST_PARTS, MOST_TIMES = 8, 1000
"""Into how many parts the smallest cost is cut so that all costs are multiples, and how many times it the largest is."""


class Options(NamedTuple):
    """The choices of n rows, and what they gain.

    - `table`: the choices of each used feature, side by side;
    - `gain` (n, choices): what the begin of each gains;
    - `rate` (choices): what a run gains per distance.
    """

    table: ChoiceTable
    gain: FloatArray
    rate: FloatArray

    def stacked(self) -> FloatArray:
        """The seven numbers of each choice (n, choices, 7): gain, cost, slope, curve, rate, length, step."""
        table, out = self.table, np.empty((*self.gain.shape, 7))
        for i, part in enumerate(
            (self.gain, table.cost, table.slope, table.curve, self.rate, table.length, table.step)
        ):
            out[..., i] = part
        return out

    def farthest(self) -> FloatArray:
        """What each choice gains at most (n, choices)."""
        return self.gain + self.rate * self.table.length

    def points(self, problem: Problem, pick: IntArray, far: FloatArray) -> FloatArray:
        """The rows that choices at distances stand for."""
        points = problem.factuals.copy()
        points[:, self.table.features] = self.table.values(pick, far)
        return points

    def gains(self, pick: IntArray, far: FloatArray) -> tuple[FloatArray, BoolArray]:
        """What each feature of a choice gains (n, features), and whether its other choices gain clearly more or less (n).

        A continuous run that could go on gains hardly more.
        """
        start, cost, length, step = self.table.start, self.table.cost, self.table.length, self.table.step
        row = np.arange(len(pick))[:, None]
        gain = self.gain[row, pick] + self.rate[pick] * far
        wide = np.repeat(gain, np.diff(start), axis=1)
        near = 64 * UNIT_DOUBLE * (1 + np.abs(wide) + np.abs(self.gain))
        first, last = self.gain, self.farthest()
        open_ = np.isfinite(cost) & (np.arange(len(self.rate)) != np.repeat(pick, np.diff(start), axis=1))
        other = open_ & (first <= wide + near) & (last >= wide - near)
        same = ~open_ & np.isfinite(cost) & (length > 0) & (step == 0) & (wide < last - near)
        coarse = (length == 0) | (step == 0) | (self.rate * step > near)
        return gain, np.asarray(~(other | same).any(axis=1) & (coarse | ~np.isfinite(cost)).all(axis=1))

    def quantum(self) -> float:
        """A number of which all costs are multiples; 0 if there is none of a useful size.

        Then bounds are rounded up to it. Changed categories often cost the same each.
        """
        cost = self.table.cost
        finite = cost[np.isfinite(cost) & (cost > 0)]
        rises = self.table.slope.any() or self.table.curve.any()
        if rises or not len(finite) or finite.max() > MOST_TIMES * finite.min():
            return 0.0
        for parts in range(1, MOST_PARTS + 1):
            times = finite / finite.min() * parts
            if (np.abs(times - np.round(times)) <= 8 * UNIT_DOUBLE * times).all():
                return float(finite.min() / parts)
        return 0.0


def options_of(problem: Problem, weights: FloatArray) -> Options:
    """The choices of all rows for the score `weights s`. A feature is used if some row may or must change it."""
    model, domain = problem.model, problem.domain
    assert isinstance(model, Linear)
    features = np.flatnonzero(domain.movable | (~domain.stay).any(axis=0))
    slope = weights @ model.slope
    every = [FeatureChoices(problem, j, model.cells[j]) for j in features.tolist()]
    runs = [_towards(choices, float(slope[choices.j])) for choices in every]
    gains = [_gains(model, weights, choices, some.begin) for choices, some in zip(every, runs, strict=True)]
    table = choice_table(problem, features, runs)
    rate = np.repeat(np.abs(slope[features]), np.diff(table.start))
    return Options(table, np.hstack([np.empty((len(problem), 0)), *gains]), rate)


def _towards(choices: FeatureChoices, slope: float) -> Runs:
    """The runs of a feature along which the score gains, with this slope, and only the first values of the others.

    A missing number costs the same wherever it goes, so it goes to the best end.
    """
    runs = choices.runs()
    begin, end, _, way = runs
    gains, lost = way * slope > 0, np.isnan(choices.own) & (way != 0)
    if not gains.all():
        end = np.where(gains, end, begin)
    if lost.any():
        best = runs.end if slope > 0 else begin
        if not slope:
            typical = np.full(choices.own.shape, choices.problem.domain.typical[choices.j])
            best = begin.copy()
            best[:, way > 0] = choices.closest(typical)
        begin, end = np.where(lost, best, begin), np.where(lost, best, end)
    return Runs(begin, end, runs.able, np.where(gains, way, 0.0))


def _gains(model: Linear, weights: FloatArray, choices: FeatureChoices, after: FloatArray) -> FloatArray:
    """What each value `after` (n, k) of a feature adds to the score, compared with the value as it is."""
    cells, centre, before = choices.cells, model.centre[choices.j], choices.own
    slope, steps = float((weights @ model.slope)[choices.j]), weights @ model.steps[choices.j]
    gap = np.where(np.isnan(after), centre, after) - np.where(np.isnan(before), centre, before)
    index = cells.index(after.ravel()).reshape(after.shape)
    return np.asarray(slope * gap + steps[index] - steps[index[:, :1]])
