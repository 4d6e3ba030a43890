"""Share the time of a call fairly among its rows: answers first, then proofs.

With a time limit, every row gets an equal part of a first share of the time. What one leaves over goes to those behind
it. Rows that are left without an answer get a quick one. All rows that are not proven by then are searched by a swarm, which
has about a third of the time. So an answer is no dearer than one of the swarm in that time. The rest of the time goes to the
rows that are not proven, smallest gaps first. Without a limit, the rows are done one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

import numpy as np

from butfor.arrays import BoolArray, IntArray
from butfor.compiled.clock import now
from butfor.problem.problem import Problem
from butfor.solvers.combine import at_once
from butfor.solvers.enumeration import Enumeration
from butfor.solvers.outcome import (
    Credit,
    Outcome,
    Stopped,
    better_of,
    better_of_several,
    joined,
    nothing_found,
    whichever_company,
)
from butfor.solvers.rows.examples import cheapest_example
from butfor.solvers.rows.quick import quick_answers
from butfor.solvers.solver import AbstractSolver, Budget, Rest
from butfor.solvers.swarm.swarm import Swarm

FIRST_SHARE = 1 / 3
"""The share of a limited time in which every row is tried once. As much of the rest is for asking, and for real rows."""


OVERTIME = 1.0
"""The quick answers may take so much longer than the time that is left: a row without an answer is worse than that."""

SEARCHED_AT_ONCE = 16
"""The swarm searches so many rows at once. It looks at the time only when it has opened all of them."""

SEARCHED_SHARE = 1 / 2
"""The share of what is left in which rows are searched by a swarm. Where all rows share one turn, it is all that is left."""

LONGER = 0.3
"""A swarm may take so many seconds after an exact solver was cut short, even if less is left: for a first good answer."""

LONE_SHARE = 2 / 3
"""The same where all rows share one turn: nobody waits for it, and a program that is cut short begins anew."""


@dataclass(frozen=True, eq=False)
class Job:
    """Some rows of a call (their numbers), their problem, and who solves it."""

    rows: IntArray
    problem: Problem
    solver: AbstractSolver
    credit: Credit

    def parts(self, size: int) -> list[Job]:
        """This job in jobs of at most `size` rows."""
        starts = range(0, len(self.rows), size)
        return [self.take(np.arange(start, min(start + size, len(self.rows)))) for start in starts]

    def take(self, at: IntArray) -> Job:
        """Some rows of this job."""
        return replace(self, rows=self.rows[at], problem=self.problem.take(at))

    def nothing(self, budget: Budget) -> Outcome:
        """No answers, because the budget is spent."""
        return nothing_found(self.problem, stopped=budget.stopped).credited(self.credit)

    def done(self, budget: Budget, k: int, seed: int, rest: Mapping[int, Rest] = MappingProxyType({})) -> Outcome:
        """The answers. Searches for rows (their numbers in the job) that are left go on. Ctrl-C ends the budget."""
        try:
            found = self._gone_on(budget, k, seed, rest) if rest else self.solver.solve(self.problem, budget, k, seed)
            return whichever_company(self.problem, found.credited(self.credit))
        except KeyboardInterrupt:
            budget.interrupt()
            return self.nothing(budget)

    def _gone_on(self, budget: Budget, k: int, seed: int, rest: Mapping[int, Rest]) -> Outcome:
        """The answers where searches for some rows go on, beside each other, and the others are begun."""
        rows = [np.array([row]) for row in rest]
        work = [partial(left.go_on, budget) for left in rest.values()]
        others = np.setdiff1d(np.arange(len(self.rows)), [*rest])
        if len(others):
            rows.append(others)
            work.append(partial(self.solver.solve, self.problem.take(others), budget, k, seed))
        found = at_once(work, budget, budget.threads)
        return joined([one.renumbered(at) for one, at in zip(found, rows, strict=True)])


@dataclass
class Turn:
    """A job, what is known of its rows (their numbers in the job), the seconds it took so far, and whether it was begun.

    `tried` are the rows to which the solver found no answer in a time of their own, and `rest` are the searches that ran out
    of time and can go on.
    """

    job: Job
    outcome: Outcome
    seconds: float = 0.0
    begun: bool = False
    tried: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    rest: dict[int, Rest] = field(default_factory=dict)

    def take(self, budget: Budget, seconds: float, k: int, seed: int) -> None:
        """Work on the job for so many seconds."""
        begin, self.begun = now(), True
        several = k > 1 and self.job.solver.many
        found = self.job.done(budget.at_most(seconds), k if several else 1, seed, self.rest)
        self.rest = {row: left for row, left in zip(found.row.tolist(), found.rest, strict=True) if left is not None}
        found = found.at_rest()
        self.outcome = (better_of_several if several else better_of)(self.outcome, found)
        self.tried = self.outcome.row[self.lost] if self.job.solver.row_by_row else self.tried
        self.seconds += now() - begin

    def ask(self, budget: Budget, seconds: float, k: int, seed: int) -> None:
        """Ask the estimator about all combinations of the rows that are not settled and have one answer, if they are few."""
        begin, every = now(), Enumeration()
        own, counts = np.unique(self.outcome.row, return_counts=True)
        rows = np.setdiff1d(self.outcome.row[~self.settled], own[counts > 1])
        job = replace(self.job.take(rows), solver=every)
        few = every.accepts(job.problem.form())
        if few and len(rows):
            job = replace(job, credit=every.credit(f"{self.job.solver.name} has not settled the row; {few.why}"))
            self.outcome = better_of(self.outcome, job.done(budget.at_most(seconds), 1, seed).renumbered(rows))
        self.seconds += now() - begin

    def look_up(self, budget: Budget, seconds: float, k: int, seed: int) -> None:
        """Take rows of the training data for answers that are not there, for so many seconds."""
        begin = now()
        self.known(budget.at_most(seconds))
        self.seconds += now() - begin

    def known(self, budget: Budget) -> None:
        """Take rows of the training data for answers that are not there."""
        for row in self.outcome.row[self.lost].tolist():
            if budget.spent():
                break
            at = np.array([row])
            credit = replace(self.job.credit, why=f"{self.job.credit.why}; the answer is a row of the data")
            found = cheapest_example(self.job.problem.take(at)).credited(credit)
            self.keep(found.renumbered(at))

    def keep(self, found: Outcome) -> None:
        """Add answers from elsewhere to what is known. More time may still help the proof."""
        better = better_of(self.outcome, found.take(found.found()))
        self.outcome = replace(better, stopped=self.outcome.stopped)

    def keep_own(self, found: Outcome) -> None:
        """The same with the answers to its rows, of many that count in the whole call."""
        own = found.take(np.isin(found.row, self.job.rows))
        if len(own):
            self.keep(replace(own, row=np.searchsorted(self.job.rows, own.row)))

    @property
    def doubtful(self) -> IntArray:
        """The rows (their numbers in the whole call) without an answer, or with a single one whose search was cut short."""
        own, counts = np.unique(self.outcome.row, return_counts=True)
        cut = self.lost | (~self.settled & (self.outcome.stopped != Stopped.DONE))
        rows = np.setdiff1d(np.union1d(self.tried, self.outcome.row[cut]), own[counts > 1])
        return np.asarray(self.job.rows[rows])

    @property
    def lost(self) -> BoolArray:
        """Which answers are not there, although there may be one."""
        return ~self.outcome.found() & np.isfinite(self.outcome.bound)

    @property
    def settled(self) -> BoolArray:
        """Which answers are proven."""
        return self.outcome.settled()

    @property
    def open(self) -> bool:
        """Whether more time could help."""
        return not self.begun or not bool(np.all(self.settled | (self.outcome.stopped != Stopped.TIME)))

    def ended(self, budget: Budget) -> Outcome:
        """The outcome. Rows that were never begun say what ended the budget."""
        if self.begun or not budget.stopped:
            return self.outcome
        return replace(self.outcome, stopped=np.full(len(self.outcome), budget.stopped, dtype=np.intp))

    @property
    def gap(self) -> float:
        """The largest gap of its rows, relative to 1 + cost; negative if one has no answer."""
        found, cost, bound = self.outcome.found(), self.outcome.cost, self.outcome.bound
        return -1.0 if self.lost.any() else float(np.max((cost - bound)[found] / (1 + cost[found]), initial=0.0))


Work = Callable[[Turn, Budget, float, int, int], None]
"""What a turn does within a part of a budget: so many seconds, for k answers, with a seed."""


def in_turns(
    jobs: Sequence[Job], budget: Budget, k: int, seed: int, rescue: bool, advance: Callable[[int], None]
) -> Outcome:
    """The answers to the rows of all jobs. The first job is always begun.

    With `rescue`, rows that are not proven are asked about combination by combination, if these are few. Those that were
    cut short are searched by a swarm, and those without an answer among real rows, too.
    """
    of_jobs = [[Turn(part, part.nothing(budget)) for part in job.parts(_size(job.solver, budget))] for job in jobs]
    turns = [turn for its in of_jobs for turn in its]
    proving = [turn for turn in turns if turn.job.solver.exact]
    first = LONE_SHARE if len(turns) == 1 else FIRST_SHARE
    _round(turns, Turn.take, budget, first if proving else 1.0, k, seed, advance)
    if rescue:
        doubted = [turn for turn in proving if turn.begun and not turn.settled.all()]
        _round(doubted, Turn.ask, budget, FIRST_SHARE, k, seed, advance)
        _search(jobs, of_jobs, budget, 1.0 if len(turns) == 1 else SEARCHED_SHARE, seed)
        for job, its in zip(jobs, of_jobs, strict=True):
            _quickly(job, its, budget)
        lost = [turn for turn in turns if turn.lost.any()]
        _round(lost, Turn.look_up, budget, FIRST_SHARE, k, seed, advance)
    while again := sorted((turn for turn in proving if turn.open), key=lambda turn: turn.gap):
        before = sum(turn.seconds for turn in turns)
        _round(again, Turn.take, budget, 1.0, k, seed, advance)
        if budget.spent() or not budget.limited or sum(turn.seconds for turn in turns) == before:
            break
    return joined([turn.ended(budget).renumbered(turn.job.rows) for turn in turns])


def _quickly(job: Job, turns: Sequence[Turn], budget: Budget) -> None:
    """Look for answers to all rows of a job that have none, at once and in hardly any time."""
    lost = np.concatenate([turn.job.rows[turn.outcome.row[turn.lost]] for turn in turns])
    if not len(lost) or not job.solver.exact:
        return
    until = now() + (OVERTIME if budget.spent() else max(OVERTIME, FIRST_SHARE * budget.left()))
    try:
        found = quick_answers(job.problem.take(np.searchsorted(job.rows, lost)), until)
    except KeyboardInterrupt:
        budget.interrupt()
        return
    why = f"{job.credit.why}; the answer was found by trying rows of the data, and one change after the other"
    found = found.take(found.found()).renumbered(lost).credited(replace(job.credit, why=why))
    for turn in turns:
        turn.keep_own(found)


def _search(jobs: Sequence[Job], of_jobs: Sequence[Sequence[Turn]], budget: Budget, share: float, seed: int) -> None:
    """Search with a swarm, in a share of what is left, for rows whose exact solver was cut short. The bounds stay.

    A search that is cut short may be far off, and a swarm seldom is. It takes many rows at once. If the model was read,
    it may take a little longer than the time.
    """
    swarm, work = Swarm(), list[tuple[Job, Sequence[Turn], IntArray]]()
    for job, its in zip(jobs, of_jobs, strict=True):
        rows = np.concatenate([turn.doubtful for turn in its])
        if len(rows) and job.solver.exact and swarm.accepts(job.problem.form()):
            work += [(job, its, some) for some in np.array_split(rows, math.ceil(len(rows) / SEARCHED_AT_ONCE))]
    waiting = sum(len(some) for _, _, some in work)
    own = replace(budget, seconds=max(share * budget.left(), LONGER), start=now())
    for job, its, some in work:
        if not (own if job.problem.witnesses.oracle is None else budget).spent():
            seconds = min(own.left() * len(some) / waiting, FIRST_SHARE * budget.per_row * len(some))
            found = _swarmed(job, some, own.at_most(seconds), seed)
            for turn in its:
                turn.keep_own(found)
        waiting -= len(some)


def _swarmed(job: Job, rows: IntArray, budget: Budget, seed: int) -> Outcome:
    """What a swarm finds for rows (their numbers in the whole call) of a job of an exact solver."""
    swarm = Swarm()
    credit = swarm.credit(f"{job.solver.name} found no better answer in its time; the bound is its own")
    own = replace(job.take(np.searchsorted(job.rows, rows)), solver=swarm, credit=credit)
    return own.done(budget, 1, seed).renumbered(rows)


def _size(solver: AbstractSolver, budget: Budget) -> int:
    """How many rows a job may have. Where time is limited, a row must not use up that of others."""
    return min(solver.block, budget.threads) if solver.row_by_row and budget.limited else solver.block


def _round(
    turns: Sequence[Turn], work: Work, budget: Budget, part: float, k: int, seed: int, advance: Callable[[int], None]
) -> None:
    """Give each turn an equal share, row for row, of a part of the time that is left."""
    share = budget.at_most(budget.left() * part)
    waiting = sum(len(turn.job.rows) for turn in turns)
    for turn in turns:
        rows, begun = len(turn.job.rows), turn.seconds > 0
        own = part * (budget.per_row * math.ceil(rows / budget.threads) - turn.seconds)
        seconds = min(share.left() * rows / waiting, own)
        if (seconds > 0 and not share.spent()) or (turn is turns[0] and not begun):
            work(turn, share, seconds, k, seed)
        waiting -= rows
        if not begun:
            advance(rows)
