"""What each feature may become, and what it gains for the one inequality of a linear model.

An option is a single value, or a run of values that begins at one and leads away from the factual. A run is there only
if the score gains along it. Then its cost is convex along it, because prices rise with the distance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.choices import choices_of
from butfor.model.linear import Linear
from butfor.model.scores import UNIT_DOUBLE
from butfor.problem.domain import finer_than_floats, grid_point
from butfor.problem.problem import Problem

MOST_PARTS, MOST_TIMES = 8, 1000
"""Into how many parts the smallest cost is cut so that all costs are multiples, and how many times it the largest is."""


class Options(NamedTuple):
    """The options of n rows, those of each used feature side by side. The first of them is to stay.

    - `start` (features + 1): where the options of each feature begin;
    - `gain`, `cost` (n, options): what the first value gains and costs; an infinite cost if the option is not there;
    - `slope` (n, options), `curve` (options): a run costs `slope u + curve u^2` more at the distance u from its begin;
    - `rate` (options): what it gains per distance;
    - `length` (n, options): the longest distance; 0 for a single value;
    - `step` (options): the distance is a multiple of it (0: any).
    """

    start: IntArray
    gain: FloatArray
    cost: FloatArray
    slope: FloatArray
    curve: FloatArray
    rate: FloatArray
    length: FloatArray
    step: FloatArray

    def stacked(self) -> FloatArray:
        """The seven numbers of each option (n, options, 7): gain, cost, slope, curve, rate, length, step."""
        out = np.empty((*self.gain.shape, 7))
        for i, part in enumerate((*self[1:4], self.curve, self.rate, self.length, self.step)):
            out[..., i] = part
        return out

    def gains(self, pick: IntArray, far: FloatArray) -> tuple[FloatArray, BoolArray]:
        """What each feature of a choice gains (n, features), and whether its other options gain clearly more or less (n).

        A continuous run that could go on gains hardly more.
        """
        row = np.arange(len(pick))[:, None]
        gain = self.gain[row, pick] + self.rate[pick] * far
        wide = np.repeat(gain, np.diff(self.start), axis=1)
        near = 64 * UNIT_DOUBLE * (1 + np.abs(wide) + np.abs(self.gain))
        first, last = self.gain, self.gain + self.rate * self.length
        open_ = np.isfinite(self.cost) & (np.arange(len(self.rate)) != np.repeat(pick, np.diff(self.start), axis=1))
        other = open_ & (first <= wide + near) & (last >= wide - near)
        same = ~open_ & np.isfinite(self.cost) & (self.length > 0) & (self.step == 0) & (wide < last - near)
        coarse = (self.length == 0) | (self.step == 0) | (self.rate * self.step > near)
        return gain, np.asarray(~(other | same).any(axis=1) & (coarse | ~np.isfinite(self.cost)).all(axis=1))

    def quantum(self) -> float:
        """A number of which all costs are multiples; 0 if there is none of a useful size.

        Then bounds are rounded up to it. Changed categories often cost the same each.
        """
        finite = self.cost[np.isfinite(self.cost) & (self.cost > 0)]
        rises = self.slope.any() or self.curve.any()
        if rises or not len(finite) or finite.max() > MOST_TIMES * finite.min():
            return 0.0
        for parts in range(1, MOST_PARTS + 1):
            times = finite / finite.min() * parts
            if (np.abs(times - np.round(times)) <= 8 * UNIT_DOUBLE * times).all():
                return float(finite.min() / parts)
        return 0.0


class Values(NamedTuple):
    """The values that options stand for.

    - `features`: the used features;
    - `begin`, `end` (n, options): the first and the last value of each option;
    - `way` (options): 1 for runs upwards, -1 for runs downwards.
    """

    features: IntArray
    begin: FloatArray
    end: FloatArray
    way: FloatArray


class _Block(NamedTuple):
    """The options of one feature: first values, last values, gains and costs (n, k each), and the way of the runs (k)."""

    begin: FloatArray
    end: FloatArray
    gain: FloatArray
    cost: FloatArray
    way: FloatArray


def options_of(problem: Problem, weights: FloatArray) -> tuple[Options, Values]:
    """The options of all rows for the score `weights s`. A feature is used if some row may or must change it."""
    model, domain, prices = problem.model, problem.domain, problem.prices
    assert isinstance(model, Linear)
    features = np.flatnonzero(domain.movable() | (~domain.stay).any(axis=0))
    slope = weights @ model.slope
    blocks = [_block(problem, int(j), float(slope[j]), weights @ model.steps[j]) for j in features]
    counts = [len(block.way) for block in blocks]
    each = np.repeat(features, counts)
    if not blocks:
        blocks = [_Block(*(np.empty((len(problem), 0)),) * 4, np.empty(0))]
    begin, end, gain, cost = (np.concatenate([block[i] for block in blocks], axis=1) for i in range(4))
    way = np.concatenate([block.way for block in blocks])
    step = _steps(problem)[each]
    with np.errstate(invalid="ignore"):
        length = np.nan_to_num(np.abs(end - begin)) * (way != 0)
        first = np.nan_to_num(np.abs(begin - problem.factuals[:, each]))
        length = np.where(step > 0, np.round(length / np.where(step > 0, step, 1.0)) * step, length)
    dear = (prices.l1[each] + 2 * prices.l2[each] * first) * (way != 0)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    options = Options(start, gain, cost, dear, prices.l2[each] * (way != 0), np.abs(slope[each]), length, step)
    return options, Values(features, begin, end, way)


def points_of(problem: Problem, options: Options, values: Values, pick: IntArray, far: FloatArray) -> FloatArray:
    """The rows that choices stand for. What stays is the factual to the bit, and an end is that end."""
    points = problem.factuals.copy()
    row = np.arange(len(points))[:, None]
    step, anchor = _steps(problem)[values.features], problem.domain.anchor[values.features]
    value = values.begin[row, pick] + values.way[pick] * far
    with np.errstate(invalid="ignore", divide="ignore"):
        near = grid_point(np.round((value - anchor) / step), step, anchor)
    value = np.where((far > 0) & (step > 0), near, value)
    points[:, values.features] = np.where((far > 0) & (far >= options.length[row, pick]), values.end[row, pick], value)
    return points


def _steps(problem: Problem) -> FloatArray:
    """The step of each number; 0 if its grid cannot be told from all numbers."""
    domain = problem.domain
    columns = zip(domain.extent.low, domain.extent.high, domain.step, domain.anchor, strict=True)
    fine = [bool(step) and finer_than_floats(low, high, step, anchor) for low, high, step, anchor in columns]
    return np.where(fine, 0.0, domain.step)


def _block(problem: Problem, j: int, slope: float, steps: FloatArray) -> _Block:
    """The options of feature `j`: to stay, to be missing, and its levels or the runs of its cells."""
    assert isinstance(problem.model, Linear)
    domain, cells, x = problem.domain, problem.model.cells[j], problem.factuals[:, [j]]
    n = len(x)
    if cells.levels:
        begin, open_ = choices_of(problem, j).levels
        way = np.zeros(begin.shape[1])
        end = begin
    else:
        begin, end, way = _runs(problem, j, slope)
        open_ = ~np.isnan(begin)
        lost = np.full((n, 1), np.nan)
        begin, end, way = np.hstack([begin, lost]), np.hstack([end, lost]), np.append(way, 0.0)
        open_ = np.hstack([open_, np.isnan(x) | domain.missing[:, [j]]])
    open_ = open_ & ~((begin == x) | (np.isnan(begin) & np.isnan(x)))
    begin, end = np.hstack([x, begin]), np.hstack([x, end])
    open_ = np.hstack([domain.stay[:, [j]], open_])
    cost = np.where(open_, problem.prices.separable(j, x, begin), np.inf)
    return _Block(begin, end, _gains(problem.model, j, slope, steps, x, begin), cost, np.append(0.0, way))


def _gains(model: Linear, j: int, slope: float, steps: FloatArray, before: FloatArray, after: FloatArray) -> FloatArray:
    """What each value `after` (n, k) of feature `j` adds to the score, compared with `before` (n, 1)."""
    cells, centre = model.cells[j], model.centre[j]
    gap = np.where(np.isnan(after), centre, after) - np.where(np.isnan(before), centre, before)
    index = cells.index(after.ravel()).reshape(after.shape)
    return np.asarray(slope * gap + steps[index] - steps[index[:, :1]])


def _runs(problem: Problem, j: int, slope: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The admissible values of number `j` in each cell: first and last value (n, k), and the way of each run (k).

    There is one run below the factual and one above it. NaN: there is none. If the score does not gain along a run,
    only its first value is left. A missing number costs the same wherever it goes, so it goes to the best end.
    """
    domain, x = problem.domain, problem.factuals[:, [j]]
    assert isinstance(problem.model, Linear)
    cells = problem.model.cells[j]
    lower, upper = (np.broadcast_to(ends, (len(x), cells.count)) for ends in (cells.lower(), cells.upper()))
    inside = {-1.0: (lower, np.fmin(upper, np.nextafter(x, -np.inf))), 1.0: (np.fmax(lower, x), upper)}
    begins, ends, ways, lost = [], [], [], np.isnan(x)
    for way, ends_of_cells in inside.items():
        gains = way * slope > 0
        end = begin = domain.closest(j, np.full(x.shape, -way * np.inf), *ends_of_cells)
        if gains:
            end = domain.closest(j, np.full(x.shape, way * np.inf), *ends_of_cells)
        if lost.any():
            known = end if gains else np.full(end.shape, np.nan)
            if not slope and way > 0:
                known = domain.closest(j, np.full(x.shape, domain.typical[j]), *ends_of_cells)
            begin, end = np.where(lost, known, begin), np.where(lost, known, end)
        begins.append(begin)
        ends.append(end)
        ways.append(np.full(cells.count, way if gains else 0.0))
    return np.hstack(begins), np.hstack(ends), np.concatenate(ways)
