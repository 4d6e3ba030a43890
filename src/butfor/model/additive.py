"""Additive models: sums of functions of single columns, linear ones and shapes, such as logarithms, splines and squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.cells import Cells
from butfor.model.linear import Linear, evaluate_linear
from butfor.model.monotone import STEP_ROUNDINGS
from butfor.model.own_function import called

STEEP_SHARE = 2.0**-20
"""By which share of its size a number is moved to see how steep a shape is there."""

SECANT_SHARE = 1e-3
"""How far apart, as a share of the range, two numbers are whose values show how steep a shape is between them."""

PROBES = np.concatenate([-np.geomspace(1e-3, 1e6, 16), [0.0], np.geomspace(1e-3, 1e6, 16)])
"""Numbers at which a shape is looked at to tell it from others."""


@dataclass(frozen=True, eq=False)
class Shape:
    """A function of one number, as the estimator computes it, and what its value counts in each score.

    - `feature`: the number;
    - `call`: the function. What a missing number has is its value, too;
    - `weight` (scores);
    - `low`, `high`: between which numbers it is defined;
    - `bends`: sorted numbers. Between two of them, the shape is convex all along, or concave all along. If it is None,
      nothing is known but that the shape never falls;
    - `known`: how large and how steep it was found to be between two numbers.
    """

    feature: int
    call: Callable[[FloatArray], FloatArray]
    weight: FloatArray
    low: float
    high: float
    bends: FloatArray | None
    known: dict[tuple[float, float], tuple[float, float]] = field(default_factory=dict)

    def at(self, x: FloatArray) -> FloatArray:
        """The function, elementwise. Where it is not defined, it has the value of the nearest end."""
        value = called(self.call, np.clip(np.ravel(x), self.low, self.high))
        return np.nan_to_num(value, posinf=0.0, neginf=0.0).reshape(np.shape(x))

    def edges(self) -> FloatArray:
        """Where pieces of it end. It may jump at a bend, so a bend is a piece of its own."""
        bends = np.empty(0) if self.bends is None else self.bends[np.isfinite(self.bends)]
        ends = np.array([self.low, self.high])
        ends[:1] = np.nextafter(ends[:1], -np.inf)
        return np.unique(np.concatenate([np.nextafter(bends, -np.inf), bends, ends[np.isfinite(ends)]]))

    def arrays(self) -> tuple[FloatArray, ...]:
        """What defines the shape, for the fingerprint of its model: where its pieces end, and what it is here and there."""
        with np.errstate(over="ignore"):
            seen = self.at(PROBES).astype(np.float32)
        return (np.array([float(self.feature)]), self.weight, self.edges(), seen.astype(np.float64))

    def size(self, low: float, high: float) -> float:
        """How large it is at most between two numbers, with the constants in it."""
        return self._looked_at(low, high)[0]

    def off(self, low: float, high: float, unit: float) -> float:
        """By how much two computations of it may differ between two numbers.

        Its value is rounded, what is added to it on the way, and the number itself.
        """
        return STEP_ROUNDINGS * unit * sum(self._looked_at(low, high))

    def _looked_at(self, low: float, high: float) -> tuple[float, float]:
        """How large and how steep it is at most: at the ends of pieces. 0 and 1 often show a constant that is added.

        Near the end of where it is defined, as of a logarithm at 0, it may be of any size.
        """
        if (low, high) not in self.known:
            ends = self.edges()
            plain = [x for x in (0.0, 1.0) if self.low < x < self.high]
            x = np.concatenate([[low, (low + high) / 2, high], plain, ends[(ends > low) & (ends < high)]])
            x = np.clip(x, self.low, self.high)
            moved = np.clip(x + STEEP_SHARE * np.abs(x), self.low, self.high)
            here, there = self.at(np.concatenate([x, moved])).reshape(2, -1)
            self.known[low, high] = float(np.abs(here).max()), float(np.abs(there - here).max()) / STEEP_SHARE
        return self.known[low, high]


@dataclass(frozen=True, eq=False)
class Additive:
    """Scores `line(x) + sum of weight * shape(x_j)` over the shapes."""

    line: Linear
    shapes: tuple[Shape, ...]

    @property
    def scores(self) -> int:
        """The number of raw scores."""
        return self.line.scores

    @property
    def cells(self) -> tuple[Cells, ...]:
        """The cells that the linear part reads."""
        return self.line.cells


def evaluate_additive(model: Additive, X: FloatArray) -> FloatArray:
    """The raw scores, one row per row of `X`."""
    out = evaluate_linear(model.line, X)
    for shape in model.shapes:
        out = out + np.outer(shape.at(X[:, shape.feature]), shape.weight)
    return out


def slope_at(model: Additive, point: FloatArray, width: FloatArray) -> FloatArray:
    """How steep the scores are in each number near a point (scores, features), whose ranges have some widths."""
    out = model.line.slope.copy()
    for shape in model.shapes:
        half = SECANT_SHARE * width[shape.feature] / 2
        x = np.clip(point[shape.feature] + np.array([-half, half]), shape.low, shape.high)
        if x[0] < x[1]:
            out[:, shape.feature] += shape.weight * np.diff(shape.at(x)) / np.diff(x)
    return out
