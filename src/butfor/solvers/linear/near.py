"""Answers of sums over columns whose bound is lower only because of rounding: a closer look, and what remains open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.additive import Additive, slope_at
from butfor.model.linear import Linear
from butfor.model.scores import UNIT_DOUBLE, ScoreSet
from butfor.problem.problem import Problem
from butfor.solvers.outcome import LEFT_OPEN, Outcome, Stopped, better_of, tolerated


def looked_at_closely(problem: Problem, outcome: Outcome, solve_row: Callable[[Problem], Outcome]) -> Outcome:
    """The outcome, with rows whose answer and bound are kept apart by rounding solved again near their answers.

    Whatever is cheaper than an answer lies where the numbers move no farther than its cost allows. There the sums are
    smaller than anywhere in the domain, and so is what rounding may do to them. If the model computes in float32, a gap
    is noted that is no wider than its rounding.
    """
    for row in np.flatnonzero(_apart(outcome) & (outcome.stopped == Stopped.DONE)):
        near = problem.take(np.array([row])).within(float(outcome.cost[row]))
        near.forget_refusals()  # what was in doubt from afar need not be from near: the closer look notes it again
        again = solve_row(near)
        again = replace(again, bound=np.minimum(again.bound, outcome.cost[row]))
        outcome = better_of(outcome, again.renumbered(np.array([row])))
        if _apart(outcome)[row] and (problem.witnesses.unit > UNIT_DOUBLE or _line(problem).blur.any()):
            open_ = outcome.notes.get(LEFT_OPEN, np.full(len(outcome), np.nan)).copy()
            gap = outcome.cost[row] - outcome.bound[row]
            crossing = _crossing(near, outcome.points[row])
            open_[row] = min(gap, crossing) if gap <= crossing + tolerated(outcome.cost[row]) else np.nan
            outcome = replace(outcome, notes={**outcome.notes, LEFT_OPEN: open_})
    return outcome


def _apart(outcome: Outcome) -> BoolArray:
    """Which answers are dearer than their bound."""
    cost = np.where(outcome.found(), outcome.cost, 0.0)
    return np.asarray(outcome.bound < cost - tolerated(cost))


def _line(problem: Problem) -> Linear:
    """The linear part of the model."""
    model = problem.model
    assert isinstance(model, Linear | Additive)
    return model.line if isinstance(model, Additive) else model


def _slope(problem: Problem, point: FloatArray) -> FloatArray:
    """How steep the scores are in each number near a point (scores, features)."""
    if isinstance(problem.model, Additive):
        return slope_at(problem.model, point, np.array([feature.range for feature in problem.space]))
    return _line(problem).slope


def _crossing(near: Problem, point: FloatArray) -> float:
    """What it costs at most to go from where the estimator may say yes to where it must, as the answer's numbers move on.

    It is 0 if no real number moves: the next answer may then be far away, for other reasons than rounding.
    """
    start, domain, slope = near.factuals[0], near.domain, _slope(near, point)
    real = domain.reals() & (point != start) & ~np.isnan(point - start)
    moving = np.flatnonzero(real & (slope != 0).any(axis=0))
    if not len(moving):
        return 0.0
    way = np.where(real, np.sign(point - start), 0.0)
    last_digits = np.where(near.domain.single, np.spacing(np.abs(point).astype(np.float32)), 0.0)
    further = np.repeat((point + way * last_digits)[None], len(moving), axis=0)
    further[np.arange(len(moving)), moving] += (way * _widest(near, slope))[moving]
    starts = np.repeat(start[None], len(moving), axis=0)
    return float((near.prices.total(starts, further) - near.prices.total(start[None], point[None])).max())


def _widest(near: Problem, slope: FloatArray) -> FloatArray:
    """How far each number moves, alone, through what is in doubt."""
    with np.errstate(divide="ignore", invalid="ignore"):
        moves = [_doubtful(near, part) / np.abs(part.A @ slope)[0] for part in near.score_sets if len(part.A) == 1]
    return np.asarray(np.max(np.where(np.isfinite(moves), moves, 0.0), axis=0, initial=0.0))


def _doubtful(near: Problem, part: ScoreSet) -> float:
    """The width of what is in doubt about a score, on both sides of the threshold together.

    Lines around shapes are drawn through computed values. So these are in doubt once more.
    """
    width = float(np.max(part.below) + np.max(part.above) + 2 * near.doubt(part).rows[0])
    extent = near.domain.extent
    for shape in near.model.shapes if isinstance(near.model, Additive) else ():
        low, high = (float(end[shape.feature]) for end in (extent.low, extent.high))
        width += 4 * abs(float(part.A[0] @ shape.weight)) * shape.off(low, high, near.witnesses.unit)
    return width
