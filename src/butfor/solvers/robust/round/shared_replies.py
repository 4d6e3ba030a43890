"""What robust rows cost at least, by replies that share out a round ball among the features.

A box inside the ball is less than the ball. So a row that is robust in the ball stays valid under all replies in the box,
and what that costs at least is proven by sums of trees, without zones. Each reply has a box of its own.
"""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray
from butfor.neighbours.ball import Ball, BallNorm
from butfor.neighbours.trees.reply import reply
from butfor.solvers.robust.cutting import OutOfTimeError
from butfor.solvers.robust.trees_in_ball import TreesInBall
from butfor.solvers.solver import Budget

NOT_SHARED = 1e-9
"""The share of the ball that is not given to any feature, so that no rounding takes more than all."""

OF_WORST, OF_MEAN, OF_ALL = 0.5, 0.3, 0.2
"""How what is left of a ball is shared out: as the worst neighbour does, as those before did on average, and evenly."""


def bound_by_shares(trees: TreesInBall, upper: float, budget: Budget) -> float:
    """What any robust row costs at least, or `upper`, if none costs less than that. The longer it lasts, the higher it is."""
    ball, copies, bound = trees.ball, [trees.model], 0.0
    even = (ball.radius > 0) / max(1, int(np.count_nonzero(ball.radius)))
    mean = even
    while not budget.spent():
        found = trees.under(copies, [], upper, budget)
        bound = max(bound, min(found.bound, upper))
        if found.point is None or found.stopped:
            break
        try:
            missed = trees.missed(found.point, trees.wide.b, budget.until)
        except OutOfTimeError:
            break
        for one in missed:
            if one.below:
                shift = np.nan_to_num(one.neighbour - found.point)
                taken = shares(ball, shift)
                worst = taken / max(float(taken.sum()), NOT_SHARED)
                mean = mean + (worst - mean) / len(copies)
                box = inner_box(ball, shift, OF_WORST * worst + OF_MEAN * mean + OF_ALL * even)
                copies.append(reply(trees.model, one.row, box, found.point, one.neighbour))
        if not any(one.below for one in missed):
            break
    return bound


def shares(ball: Ball, shift: FloatArray) -> FloatArray:
    """Which share of a round ball each feature of a shift takes."""
    share = np.divide(np.abs(shift), ball.radius, out=np.zeros(len(shift)), where=ball.radius > 0)
    return share if ball.norm is BallNorm.L1 else share * share


def inner_box(ball: Ball, shift: FloatArray, wish: FloatArray) -> Ball:
    """A box inside a round ball that has a shift in it. What the shift leaves of the ball is shared out by a wish."""
    taken = shares(ball, shift)
    more = np.maximum(wish - taken, 0.0)
    share = taken + more * max(0.0, 1 - NOT_SHARED - float(taken.sum())) / max(float(more.sum()), NOT_SHARED)
    radius = ball.radius * (share if ball.norm is BallNorm.L1 else np.sqrt(share))
    steps = np.divide(radius, ball.step, out=np.zeros(len(radius)), where=ball.step > 0)
    radius = np.maximum(np.where(ball.step > 0, np.floor(steps) * ball.step, radius), np.abs(shift))
    return Ball(BallNorm.LINF, radius, ball.step, ball.anchor, ball.slips)
