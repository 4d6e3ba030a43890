"""Costs below which no row is answered as wanted: the network cannot say it anywhere in the ball of that cost.

The smaller a ball, the more units are on one side of 0 in it, and the closer the lines are to the network. So a ball that is
half as large as the cost of the best answer is often shown to be empty, where nothing is known of the whole one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from butfor.formulation.margins import widened
from butfor.formulation.tables import tabulate
from butfor.model.network import Network
from butfor.model.scores import ScoreSet
from butfor.problem.problem import Problem
from butfor.solvers.network.ball import CostBall, ball
from butfor.solvers.network.directions import Directions, directions
from butfor.solvers.network.units import UnitEnds, ends_within, highest_sent_back
from butfor.solvers.solver import Budget

BALLS = 6
"""How many balls are tried below the cost of an answer: the cost is known to a 64th of it then."""

LARGEST_BALL = 2.0**20
"""The cost, in coins, of the largest ball that is tried where no answer is known."""


def empty_within(
    problem: Problem, score_set: ScoreSet, limit: float, budget: Budget, ends: Sequence[UnitEnds] = ()
) -> float:
    """A cost below which no row is wanted, at most the `limit`; 0 if none was found in the time.

    It is infinite if there is no limit, and the network says what is wanted nowhere.
    `ends` are narrower ranges of the units at all answers that are looked for.
    """
    model, wanted = problem.model, widened(score_set, problem)
    assert isinstance(model, Network)
    ways = directions(problem, model.first, tabulate(problem, model.cells))

    def is_empty(cost: float) -> bool:
        inside = ball(ways, cost, problem.most_changes)
        return not _may_be_wanted(model, ways, inside, wanted, ends)

    low, high = 0.0, limit
    if limit <= 0:
        return low
    if np.isinf(high):
        if is_empty(high):
            return high
        high = 1.0
        while high < LARGEST_BALL and not budget.spent() and is_empty(high):
            low, high = high, 2 * high
    for _ in range(BALLS):
        if budget.spent():
            break
        middle = (low + high) / 2
        low, high = (middle, high) if is_empty(middle) else (low, middle)
    return low


def _may_be_wanted(
    model: Network, ways: Directions, inside: CostBall, wanted: ScoreSet, ends: Sequence[UnitEnds]
) -> bool:
    """Whether lines let each inequality be kept somewhere in the ball. What curves ask for is left out."""
    found, last = ends_within(model, ways, inside, ends), model.layers[-1]
    goal = wanted.b[0] if wanted.per_row else wanted.b
    highest = highest_sent_back(model, ways, inside, found, wanted.A @ last.weight, wanted.A @ last.intercept - goal)
    return not np.any(highest < 0)
