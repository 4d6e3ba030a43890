"""What the choices of a number gain for one inequality of an additive model, from below and from above.

A run from one number to another is a piece of each shape on which it is convex or concave. Its chord is a bound on one
side. Between its ends, it is away from the chord by at most twice of what it is in the middle, on the other side: the gap is
concave, and 0 at both ends. So lines enclose each piece, and halving a run makes them four times as close.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.formulation.choices import FeatureChoices, Runs
from butfor.model.additive import Additive, Shape
from butfor.model.cells import Cells, number_cells
from butfor.problem.problem import Problem
from butfor.space.space import same

BEGIN, MIDDLE, FINISH = range(3)

FIRST_PIECES = 8
"""Into how many pieces the range of a bent number is cut at first."""

SHARE = 16.0
"""How much narrower the run around a chosen number becomes."""


@dataclass(frozen=True, eq=False)
class Enclosed:
    """The choices of one feature of the only row, and what they gain: `begin + rate u` at the distance u, and more or less.

    - `runs`: the choices;
    - `begin`, `rate` (choices): the chord;
    - `above`, `below` (choices): how far the gain may be above and below the chord;
    - `blurred` (choices): whether half of that or more is rounding, which narrower runs do not take away;
    - `size`: the size of the numbers that were subtracted.
    """

    runs: Runs
    begin: FloatArray
    rate: FloatArray
    above: FloatArray
    below: FloatArray
    blurred: BoolArray
    size: float

    @property
    def single(self) -> BoolArray:
        """Which choices are single values, or of values that all gain the same (choices)."""
        flat = (self.rate == 0) & (self.above == 0) & (self.below == 0)
        return np.asarray(flat | same(self.runs.begin, self.runs.end)[0])


class BentColumn:
    """One feature of the only row of a problem: its pieces, which become narrower where a choice needs it."""

    def __init__(self, problem: Problem, weights: FloatArray, j: int) -> None:
        model = problem.model
        assert isinstance(model, Additive)
        self.problem, self.weights, self.line, self.j = problem, weights, model.line, j
        self.shapes = [shape for shape in model.shapes if shape.feature == j and (weights @ shape.weight) != 0]
        self.cells = self.line.cells[j]
        if self.shapes and not self.cells.levels:
            low, high = float(problem.domain.extent.low[j]), float(problem.domain.extent.high[j])
            even = np.linspace(low, high, FIRST_PIECES + 1) if np.isfinite(high - low) else np.empty(0)
            edges = [self.cells.edges, even, *(shape.edges() for shape in self.shapes)]
            self.cells = number_cells(np.concatenate(edges))

    def refine(self, x: float, lines: Enclosed) -> bool:
        """Cut the piece in which a number lies, close to it. Whether that makes it narrower."""
        inside = (np.fmin(lines.runs.begin, lines.runs.end) <= x) & (x <= np.fmax(lines.runs.begin, lines.runs.end))
        if not self.shapes or np.isnan(x) or lines.blurred[inside[0]].all():
            return False
        edges, step = self.cells.edges, float(self.problem.domain.step[self.j])
        at = int(self.cells.index(np.array([x]))[0])
        first, last = (float(end[0, at]) for end in FeatureChoices(self.problem, self.j, self.cells).hull)
        width = max((last - first) / SHARE, step / 2)
        fresh = np.array([x - width, x + width])
        fresh = fresh[(fresh >= first) & (fresh < last)]
        if not len(fresh) or not width > 4 * np.spacing(max(abs(first), abs(last))):
            return False
        self.cells = number_cells(np.concatenate([edges, fresh]))
        return True

    def lines(self) -> Enclosed:
        """The choices and their gains."""
        runs = self._defined(FeatureChoices(self.problem, self.j, self.cells).runs())
        begin, end = runs.begin[0], runs.end[0]
        x = np.stack([begin, (begin + end) / 2, end])
        linear = self._linear(x)
        above, below, off, values = np.zeros(len(begin)), np.zeros(len(begin)), 0.0, linear
        size = float(np.abs(linear).max(initial=0.0))
        moves = begin != end
        for shape in self.shapes:
            weight = float(self.weights @ shape.weight)
            value = weight * shape.at(x)
            sag = 2 * (value[MIDDLE] - (value[BEGIN] + value[FINISH]) / 2)
            more, less = np.maximum(sag, 0.0), np.maximum(-sag, 0.0)
            if shape.bends is None:
                more = less = np.abs(value[FINISH] - value[BEGIN])
            above, below, off = above + more, below + less, off + abs(weight) * 2 * self._off(shape)
            values, size = values + value, max(size, float(np.abs(value).max(initial=0.0)))
        with np.errstate(invalid="ignore", divide="ignore"):
            rate = np.where(moves, (values[FINISH] - values[BEGIN]) / np.abs(end - begin), 0.0)
        blurred = np.maximum(above, below) <= off
        above, below = (np.where(moves, side + off, 0.0) for side in (above, below))
        return Enclosed(runs, values[BEGIN] - values[BEGIN, 0], np.nan_to_num(rate), above, below, blurred, size)

    def _off(self, shape: Shape) -> float:
        extent = self.problem.domain.extent
        return shape.off(float(extent.low[self.j]), float(extent.high[self.j]), self.problem.witnesses.unit)

    def _linear(self, x: FloatArray) -> FloatArray:
        """What the linear part adds for some values of the feature."""
        slope = float(self.weights @ self.line.slope[:, self.j])
        steps = self.weights @ self.line.steps[self.j]
        gap = np.where(np.isnan(x), 0.0, x - self.line.centre[self.j])
        return np.asarray(slope * gap + steps[self.cells_of_line.index(x.ravel())].reshape(x.shape))

    @property
    def cells_of_line(self) -> Cells:
        """The cells that the linear part reads."""
        return self.line.cells[self.j]

    def _defined(self, runs: Runs) -> Runs:
        """The runs without numbers for which a shape is not defined. The estimator takes no such row."""
        able = runs.able.copy()
        for shape in self.shapes:
            able &= ~((np.fmin(runs.begin, runs.end) < shape.low) | (np.fmax(runs.begin, runs.end) > shape.high))
        return runs._replace(able=able)
