"""The worst neighbours of a row: for each inequality on the scores, where in a ball it holds least."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.linear import Linear
from butfor.model.network import Network
from butfor.model.oblique import ObliqueTree
from butfor.model.questions import Model, evaluate
from butfor.model.trees import Trees
from butfor.neighbours.ball import Ball, BallNorm
from butfor.neighbours.networks.search import NetworkAdversary
from butfor.neighbours.oblique.leaf_reach import LeafReach, Reached
from butfor.neighbours.places import Grids
from butfor.neighbours.shifts import Shifts, shifts_of
from butfor.neighbours.trees.regions import regions
from butfor.neighbours.trees.search import Worst, worst_row


@singledispatch
def worst_neighbours(
    model: Model,
    A: FloatArray,
    point: FloatArray,
    ball: Ball,
    below: Sequence[float] | None = None,
    until: float = np.inf,
) -> list[Worst]:
    """For each sum `A s` of the scores, the neighbour of a point in the ball where it is smallest.

    With `below`, any neighbour where it lies below that will do. What is told after `until`, on the clock of
    `butfor.compiled.clock`, must not be used: the search was cut short.
    """
    raise TypeError(type(model).__name__)


@worst_neighbours.register
def _(
    model: Linear,
    A: FloatArray,
    point: FloatArray,
    ball: Ball,
    below: Sequence[float] | None = None,
    until: float = np.inf,
) -> list[Worst]:
    slopes, seen = A @ model.slope, np.empty((len(A), len(point)))  # there are no sums if any scores are wanted
    for k, row in enumerate(A):
        seen[k] = _seen_at_worst(model, row, point, ball)
    totals = np.diag(evaluate(model, seen) @ A.T) - ball.loss(np.where(np.isnan(point), 0.0, slopes))
    return [
        Worst(float(total), at + ball.worst_shift(slope)) for slope, at, total in zip(slopes, seen, totals, strict=True)
    ]


def _seen_at_worst(model: Linear, row: FloatArray, point: FloatArray, ball: Ball) -> FloatArray:
    """A row with those levels that it may be seen with for which the sum `row @ scores` is smallest."""
    seen = point.copy()
    for j in (j for j in ball.slips.seen if not np.isnan(point[j])):
        seen[j] = ball.slips.least(j, row @ model.steps[j])[int(point[j])]
    return seen


@worst_neighbours.register
def _(
    model: Trees,
    A: FloatArray,
    point: FloatArray,
    ball: Ball,
    below: Sequence[float] | None = None,
    until: float = np.inf,
) -> list[Worst]:
    """Levels that may slip are searched like numbers: each is its place among those that it may be seen as."""
    around, places = None if ball.norm is BallNorm.LINF else ball, _places(point, ball)
    grids, at, low, high = ball.grids.through(point), point.copy(), ball.low(point), ball.high(point)
    if places:
        slipping = np.isin(np.arange(len(point)), [*places])
        grids = Grids(np.where(slipping, 1.0, grids.step), np.where(slipping, 0.0, grids.anchor))
        for j, seen in places.items():
            at[j], low[j], high[j] = 0.0, 0.0, len(seen) - 1.0
    found = []
    for row, least in zip(A, [None] * len(A) if below is None else below, strict=True):
        worst = worst_row(regions(model, row, point, places), at, low, high, grids, around, least, until)
        for j, seen in places.items():
            worst.point[j] = seen[int(worst.point[j])]
        found.append(worst)
    return found


def _places(point: FloatArray, ball: Ball) -> dict[int, FloatArray]:
    """For each feature whose level may slip, what that of a point may be seen as, its own first."""
    every = {j: ball.slips.seen_as(j, float(point[j])) for j in ball.slips.seen}
    return {j: seen for j, seen in every.items() if len(seen) > 1}


@worst_neighbours.register
def _(
    model: Network,
    A: FloatArray,
    point: FloatArray,
    ball: Ball,
    below: Sequence[float] | None = None,
    until: float = np.inf,
) -> list[Worst]:
    return [
        worst_of_network(model, row, point, ball, -np.inf if least is None else least, until)
        for row, least in zip(A, [None] * len(A) if below is None else below, strict=True)
    ]


def worst_of_network(
    model: Network, row: FloatArray, point: FloatArray, ball: Ball, below: float, until: float
) -> Worst:
    """The neighbour of a point with the smallest sum `row @ scores`, or one below a number.

    Each combination of levels that the point may be seen with is searched by itself.
    """
    worst = Worst(np.inf, point)
    for seen in {seen.tobytes(): seen for seen in ball.slips.every(point[None, None])[0]}.values():
        found = NetworkAdversary(model, row, seen, ball, below, until).worst()
        worst = min(worst, found, key=lambda one: one.score)
        if worst.score < below:
            break
    return worst


@worst_neighbours.register
def _(
    model: ObliqueTree,
    A: FloatArray,
    point: FloatArray,
    ball: Ball,
    below: Sequence[float] | None = None,
    until: float = np.inf,
) -> list[Worst]:
    return [
        worst_leaf(model, row, point, shifts_of(ball, point), np.inf if least is None else least)
        for row, least in zip(A, [None] * len(A) if below is None else below, strict=True)
    ]


def worst_leaf(model: ObliqueTree, row: FloatArray, point: FloatArray, shifts: Shifts, below: float) -> Worst:
    """The leaf with the smallest sum below a number that some shift may lead to. If there is none, the score is infinite.

    A leaf about which rounding decides counts as reached.
    """
    reach, values = LeafReach(model, point, shifts), model.value[[path.node for path in model.paths]] @ row
    for at in np.argsort(values, kind="stable").tolist():
        if values[at] >= below:
            break
        found = reach.into(model.paths[at])
        if found.reached is not Reached.NO:
            return Worst(float(values[at]), point + shifts.brought_in(found.shift))
    return Worst(np.inf, point)
