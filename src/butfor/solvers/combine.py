"""Combine the answers to parts of a problem.

The parts are rows, or the score sets of one row. For score sets there is a proof rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.questions import evaluate
from butfor.model.scores import ScoreSet
from butfor.problem.problem import Problem
from butfor.programs.cost_claim import CostClaim
from butfor.solvers.outcome import (
    HIGHEST,
    Outcome,
    Stopped,
    joined,
    nothing_found,
    one_answer,
    refuted,
    together,
)
from butfor.solvers.solver import Budget

SLOW = 0.015
"""Work of so many seconds is mostly compiled, and threads share it. Of Python itself, which all else is, one runs at a time."""

ROWS_TOGETHER = 256
"""How many rows a fast solver takes together before the budget is looked at."""


def in_parts(
    problem: Problem, budget: Budget, rows: int, solve_part: Callable[[Problem], Outcome], threads: int = 1
) -> Outcome:
    """Solve so many rows at a time, each part as its own problem.

    No further part is begun once the budget is spent, but the first one always is: its first answers take no time.
    Ctrl-C ends the budget, and parts that are being solved end by that.
    """
    parts = [np.arange(begin, min(begin + rows, len(problem))) for begin in range(0, len(problem), rows)]

    def solved(number: int) -> Outcome:
        part = problem.take(parts[number])
        late = number > 0 and budget.spent()
        found = nothing_found(part, stopped=budget.stopped) if late else solve_part(part)
        return found.renumbered(parts[number])

    return joined(at_once([partial(solved, number) for number in range(len(parts))], budget, threads))


def at_once(work: Sequence[Callable[[], Outcome]], budget: Budget, threads: int) -> list[Outcome]:
    """What several pieces of work find, so many at a time. Until one of them is slow, each waits for the one before.

    Ctrl-C ends the budget, and what is at work ends by that.
    """
    workers = min(threads, len(work))
    if workers <= 1:
        return [one() for one in work]
    with ThreadPoolExecutor(workers) as pool:
        waiting, slow = list[Future[Outcome]](), False
        try:
            for one in work:
                waiting.append(pool.submit(one))
                slow = slow or bool(wait(waiting[-1:], SLOW).not_done)
            return [future.result() for future in waiting]
        except KeyboardInterrupt:
            budget.interrupt()
            waiting += [pool.submit(one) for one in work[len(waiting) :]]
            return [future.result() for future in waiting]


def row_by_row(problem: Problem, budget: Budget, solve_row: Callable[[Problem], Outcome]) -> Outcome:
    """Solve each row as its own problem, on as many threads as the budget has."""
    return in_parts(problem, budget, 1, solve_row, budget.threads)


@dataclass(frozen=True, eq=False)
class SetAnswer:
    """What is known about the cheapest point of one score set. Its offset is not included.

    - `point`, `cost`: the best point that was found, if any, and its cost;
    - `bound`: a lower bound on the cost of all points of the set (infinite: it has no point that is cheaper than what
      was known before);
    - `stopped`: why no more is known;
    - `claim`: what HiGHS says beyond the bound, until it is `proven`;
    - `highest`: if the set is one inequality and has no point, the largest left side of any admissible point (NaN:
      unknown);
    - `closest`: an admissible point whose left side comes close to that, if one is known.
    """

    point: FloatArray | None
    cost: float
    bound: float
    stopped: Stopped = Stopped.DONE
    highest: float = np.nan
    closest: FloatArray | None = None
    claim: CostClaim | None = None

    def proven(self, budget: Budget) -> SetAnswer:
        """The same, with a bound of our own in place of what HiGHS says. Ctrl-C ends the budget.

        If the bound is above the cost of an answer, which is there, nothing of it is believed.
        """
        if self.claim is None:
            return self
        try:
            bound, stopped = max(self.bound, self.claim.proven()), self.stopped
            if not stopped and not self.claim.holds:
                stopped = Stopped.TIME if self.claim.late else Stopped.EFFORT
            if refuted(np.array(bound), np.array(self.cost)):
                bound, stopped = self.bound, Stopped.EFFORT
        except KeyboardInterrupt:
            budget.interrupt()
            bound, stopped = self.bound, Stopped.INTERRUPTED
        return replace(self, bound=bound, stopped=stopped, claim=None)


def over_score_sets(
    problem: Problem, solve_set: Callable[[ScoreSet, float], SetAnswer], upper: float = np.inf
) -> Outcome:
    """The proof rule for the score sets of the only row: the best answer, and a bound.

    An answer lies in some score set. It costs what its changes cost, plus the offset of that set. So the cheapest
    answer over all sets is the answer, and the smallest `bound + offset` bounds every answer. A bound is never larger
    than the cost of a known answer, and never below 0, because no cost is negative.

    `solve_set(score_set, limit)` need not find points that cost `limit` or more (the best cost so far minus the set's
    offset). A set without a cheaper point may say so, and need not find its optimum. The first limit is `upper`.
    """
    best, highest, closest = nothing_found(problem, np.inf), np.nan, None
    for score_set in problem.score_sets:
        answer = solve_set(score_set, min(upper, float(best.cost[0])) - score_set.offset)
        assert answer.claim is None, "what HiGHS claims must be proven before it is told"
        none = np.full(len(problem.space), np.nan)
        point, cost = (none, np.inf) if answer.point is None else (answer.point, answer.cost)
        _add_set(best, one_answer(point, cost, answer.bound, answer.stopped), score_set.offset)
        highest, closest = (answer.highest, answer.closest) if len(problem.score_sets) == 1 else (np.nan, None)
    best = _proven(best)
    if not np.isfinite(highest):
        return best
    points = best.points if closest is None else closest[None]
    return replace(best, points=points, notes={HIGHEST: np.array([highest])})


def over_sets_of_rows(problem: Problem, solve_set: Callable[[ScoreSet], Outcome]) -> Outcome:
    """The proof rule for many rows: `solve_set(score_set)` has an answer to each, and its offset is not included."""
    best = nothing_found(problem, np.inf)
    for score_set in problem.score_sets:
        _add_set(best, solve_set(score_set), score_set.offset)
    return _proven(best)


def _add_set(best: Outcome, found: Outcome, offset: float) -> None:
    """Put the answers in one more score set among the best so far. No answer costs less than the smallest bound."""
    better = found.cost + offset < best.cost
    best.points[better], best.cost[better] = found.points[better], found.cost[better] + offset
    np.minimum(best.bound, found.bound + offset, out=best.bound)
    np.copyto(best.stopped, found.stopped, where=best.stopped == Stopped.DONE)
    for i in np.flatnonzero(found.by.astype(np.bool_)):
        best.by[i] = together(best.by[i] + found.by[i])


def _proven(best: Outcome) -> Outcome:
    """The best answers over all sets. A bound is not above the cost of an answer that is there, nor below 0."""
    return replace(best, bound=np.maximum(0.0, np.minimum(best.bound, best.cost)))


def with_highest(problem: Problem, outcome: Outcome, farthest: Callable[[Problem, FloatArray], FloatArray]) -> Outcome:
    """The outcome, with the farthest point and its sum of scores for each row that has no answer.

    `farthest(problem, weights)` is the admissible point of each row with the largest sum `weights s` (NaN: there is none).
    Where rounding decides, that sum tells nothing.
    """
    lost = np.flatnonzero(~outcome.found() & np.isinf(outcome.bound))
    if not len(lost) or not wants_one_sum(problem):
        return outcome
    part = problem.take(lost)
    (wanted,) = part.score_sets
    points, highest = outcome.points.copy(), np.full(len(outcome), np.nan)
    points[lost] = farthest(part, wanted.A[0])
    total = evaluate(problem.model, points[lost]) @ wanted.A[0]
    highest[lost] = np.where(np.isnan(points[lost]).all(axis=1), np.nan, short_of(part, total))
    return replace(outcome, points=points, notes={**outcome.notes, HIGHEST: highest})


def wants_one_sum(problem: Problem) -> bool:
    """Whether all that is wanted is that one sum of scores is large enough. Then it can be told how far it gets."""
    only = problem.score_sets[0] if len(problem.score_sets) == 1 else None
    return only is not None and len(only.A) == 1 and only.curve is None and not problem.demands.margin


def short_of(problem: Problem, total: FloatArray) -> FloatArray:
    """The one sum of scores that is wanted, as large as the estimator may round it; NaN where that may be enough."""
    (wanted,) = problem.score_sets
    most = total + wanted.below + problem.doubt(wanted).rows
    return np.where(most < wanted.b[..., 0], most, np.nan)
