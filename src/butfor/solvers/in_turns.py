"""Two searches for the same answer take turns, because nobody knows beforehand which of them proves it sooner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from butfor.solvers.combine import SetAnswer
from butfor.solvers.outcome import Stopped, to_beat
from butfor.solvers.solver import Budget

LooksBelow = Callable[[float, Budget], SetAnswer]
"""Looks for an answer that costs less than so much, and when it is called again, goes on or looks anew."""

FIRST_TURN = 0.25
"""The seconds of the first turn of each search."""


def in_turns(searches: Sequence[LooksBelow], upper: float, budget: Budget) -> SetAnswer:
    """The cheapest answer, if one costs less than `upper`. Each turn is twice as long as the one before.

    So it takes at most a few times as long as the search that is quicker, also if that looks anew each time. Each begins
    with the best answer of all. One that ends without a proof has no further turn, and the last one has all the time that is
    left.
    """
    best, left, seconds = SetAnswer(None, np.inf, 0.0), list(searches), FIRST_TURN
    while True:
        for search in list(left):
            turn = budget.at_most(seconds) if len(left) > 1 else budget
            found = search(min(upper, best.cost), turn)
            bound = max(best.bound, found.bound)
            best = replace(found if found.cost < best.cost else best, bound=bound)
            if found.stopped in (Stopped.DONE, Stopped.EFFORT):
                left.remove(search)
            if bound >= to_beat(min(upper, best.cost)):
                return replace(best, bound=min(bound, best.cost), stopped=Stopped.DONE)
            if budget.spent() or not left:
                return replace(best, bound=min(bound, best.cost), stopped=budget.stopped if left else found.stopped)
        seconds *= 2
