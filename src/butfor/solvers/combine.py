"""How answers to parts make the answer to the whole: rows one by one, and the proof rule over score sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.scores import ScoreSet
from butfor.problem.problem import Problem
from butfor.solvers.outcome import Outcome, Stopped, joined, nothing_found, one_answer
from butfor.solvers.solver import Budget

SCORE_GUARDS = (0.0, 1e-10, 1e-9, 1e-8, 1e-7)
"""Shares of the size of a score by which its threshold is raised, one after the other, until rounding no longer matters."""


def row_by_row(problem: Problem, budget: Budget, solve_row: Callable[[Problem], Outcome]) -> Outcome:
    """Each row as a problem of its own; once the budget is spent, the others are not begun."""
    parts = []
    for row in range(len(problem)):
        one = problem.take(np.array([row]))
        found = nothing_found(one, stopped=budget.stopped) if budget.spent() else solve_row(one)
        parts.append(found.renumbered(np.array([row])))
    return joined(parts)


@dataclass(frozen=True, eq=False)
class SetAnswer:
    """What is known of the cheapest point of one score set, its offset left out.

    - `point`: the best one found, if any, at this `cost`;
    - `bound`: what no point of the set costs less than (infinite: it has none that is cheaper than what was known);
    - `stopped`: why no more is known.
    """

    point: FloatArray | None
    cost: float
    bound: float
    stopped: Stopped = Stopped.DONE


def over_score_sets(problem: Problem, solve_set: Callable[[ScoreSet, float], SetAnswer]) -> Outcome:
    """The proof rule: the best over all score sets of the only row, and the bound that their bounds make.

    An answer lies in some score set, and costs what its changes cost plus the offset of that set. So the cheapest answer of all
    sets is the answer, and the smallest `bound + offset` is a bound on every answer. No bound exceeds the cost of an answer
    that is known, or falls below 0, where no cost is. `solve_set` is told the least cost that is not worth finding any more
    (the best so far less the set's offset): a set that has nothing cheaper may say so and need not find its optimum.
    """
    best, lowest, stopped = nothing_found(problem, np.inf), np.inf, Stopped.DONE
    for score_set in problem.score_sets:
        answer = solve_set(score_set, float(best.cost[0]) - score_set.offset)
        lowest = min(lowest, answer.bound + score_set.offset)
        stopped = stopped or answer.stopped
        cost = answer.cost + score_set.offset
        if answer.point is not None and cost < best.cost[0]:
            best = one_answer(answer.point, cost, 0.0)
    bound = max(0.0, min(lowest, float(best.cost[0])))
    return Outcome(best.row, best.points, best.cost, np.array([bound]), np.array([stopped], dtype=np.intp))
