"""Solve each part of a question within the budget.

Rows on which the estimator did not agree are solved again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from butfor.arrays import IntArray
from butfor.compiled.clock import now
from butfor.explain.beyond import moved_on
from butfor.explain.blame import BlameLimits
from butfor.explain.different import Difference, apart_from, in_order, left_to, undominated
from butfor.explain.needed import taken_back
from butfor.explain.plan import Part, plan
from butfor.explain.turns import FIRST_SHARE, OVERTIME, Job, Turn, in_turns
from butfor.log import LOG
from butfor.model.questions import is_read
from butfor.model.readout import AbstractReadout
from butfor.problem.constraints.linked import counting
from butfor.solvers.choose import choose, exact
from butfor.solvers.milp.farthest import farthest, has_farthest
from butfor.solvers.outcome import (
    CLOSEST_ROW,
    HIGHEST,
    NEEDED,
    NOBODY,
    REACHED,
    Outcome,
    Ran,
    answers_of,
    better_of,
    better_of_several,
    joined,
    merged,
    whichever_company,
)
from butfor.solvers.solver import AbstractSolver, Budget
from butfor.verdict.alone import jumps
from butfor.verdict.case import Case
from butfor.verdict.verify import PREDICTION, Verdict, closest, verify

ESTIMATOR_GUARDS = (1e1, 1e3, 1e5, 1e7, 1e9)
"""Distances inside the boundary, as multiples of the rounding of a sum, that are tried one after the other.

They are used when the estimator undoes an answer that lies on the boundary, which only happens if it rounds more than
it should. The bound is then that of the first attempt.
"""


FARTHEST_ROWS, FARTHEST_SECONDS = 10, 1.0
"""A program tells how far an impossible row could get. It is asked for so many rows, for so long each."""

MORE_LEAVES = 4
"""So many times more leaves are asked for, if too many of them are dominated by others."""


@dataclass(frozen=True)
class Search:
    """How to search.

    - `k`: how many answers per row, at most;
    - `different`: what makes an answer a different one;
    - `solver`: a solver or its name; "auto" is the first one that fits;
    - `seed`: the seed of random draws;
    - `blame`: how far to look for what makes rows impossible.
    """

    k: int = 1
    solver: str | AbstractSolver = "auto"
    seed: int = 0
    different: Difference = None
    blame: BlameLimits = field(default_factory=BlameLimits)


def solve(case: Case, search: Search, budget: Budget, advance: Callable[[int], None], guard: float = 0.0) -> Outcome:
    """Solve all rows. Those that already meet the target stay as they are.

    The others go to the solver of their part. Every row has its first answer before any row has its second.
    """
    done, jobs = list[Outcome](), list[Job]()
    readout = case.question.target.focus(case.referee.reading, case.before).readout
    for part in _parts(case, guard):
        already = case.already(part.rows, part.problem)
        if already.any():
            done.append(_stays(part.take(already)))
            advance(int(already.sum()))
        if not already.all():
            rest = part.take(~already)
            solver, credit = choose(rest.problem.form(), search.solver)
            job = Job(rest.rows, rest.problem, solver.in_coins(case.question.prices.coin), credit)
            LOG.debug("%d of %d rows go to %s", len(rest.rows), len(case.factuals), job.credit)
            one_each = rest.problem.per_row and not job.solver.takes_per_row
            jobs += job.parts(1) if one_each else [job]
    apart = np.concatenate(
        [np.empty(0, np.intp), *(job.rows for job in jobs if not left_to(job.solver, search.different))]
    )
    for rank in range(1, search.k + 1):
        if not jobs or (rank > 1 and budget.spent()):
            break
        left = budget.at_most(budget.left() / (search.k + 1 - rank))
        single = [job for job in jobs if not left_to(job.solver, search.different)]
        if rank == 1:
            found = _needed(_first_answers(jobs, case, left, search, advance), jobs, case, left)
            found = _reached(_with_farthest(found, jobs, left), jobs, readout, case)
            done.append(found)
        else:
            found = in_turns(jobs, left, 1, search.seed, search.solver == "auto", _quiet)
            found = _needed(found, jobs, case, left)
            done.append(found.take(found.found()))
        if rank < search.k:
            jobs = [following for job in single for following in others(job, found, search.different)]
    found = joined(done)
    if search.k > 1:
        together = counting(case.question.constraints)
        found = in_order(found, case.factuals, case.referee.space, search.different, apart, together)
    return _told(found, case)


def _needed(found: Outcome, jobs: Sequence[Job], case: Case, budget: Budget) -> Outcome:
    """The answers without changes that are not needed. It takes a little longer than the time that is left."""
    with budget.ended_by_interrupt():
        found = taken_back(found, jobs, case, now() + max(OVERTIME, budget.left()))
    return found


def _first_answers(
    jobs: Sequence[Job], case: Case, budget: Budget, search: Search, advance: Callable[[int], None]
) -> Outcome:
    """The first answer to each row, and others that the solvers give by themselves.

    Of leaves, so many are asked for that enough are left without those that are dominated.
    """
    auto, asked = search.solver == "auto", search.k if search.different in (None, "leaves") else 1
    found = in_turns(jobs, budget, asked, search.seed, auto, advance)
    while search.different == "leaves":
        kept = undominated(found, case.factuals, case.referee.space, search.k)
        rows = np.arange(len(case) + 1)
        lacking = np.histogram(kept.row, rows)[0] < search.k
        if budget.spent() or not (lacking & (np.histogram(found.row, rows)[0] == asked)).any():
            return kept
        asked *= MORE_LEAVES
        found = better_of_several(found, in_turns(jobs, budget, asked, search.seed, auto, _quiet))
    return found


def others(job: Job, found: Outcome, different: Difference) -> list[Job]:
    """A job for one more answer to each row of a job, which must differ from the answer that was found.

    With this further relation, the problem may need another solver.
    """
    jobs = []
    for i, row in enumerate(job.rows.tolist()):
        at = int(np.searchsorted(found.row, row))
        one = job.take(np.array([i]))
        if found.found()[at]:
            start, together = one.problem.factuals[0], one.problem.together
            relation = apart_from(different, one.problem.space, start, found.points[at], together)
            problem = one.problem if relation is None else one.problem.with_relation(relation)
            jobs += [] if relation is None else [Job(one.rows, problem, *choose(problem.form()))]
    return jobs


def _with_farthest(found: Outcome, jobs: Sequence[Job], budget: Budget) -> Outcome:
    """The outcome, with notes on the highest sums of some impossible rows whose solver gave none."""
    highest, points = found.notes.get(HIGHEST, np.full(len(found), np.nan)).copy(), found.points.copy()
    lost = ~found.found() & np.isinf(found.bound) & np.isnan(highest)
    left = FARTHEST_ROWS
    for job in jobs:
        at = np.flatnonzero(lost & np.isin(found.row, job.rows))[:left] if has_farthest(job.problem) else ()
        left -= len(at)
        for i in at:
            one = job.take(np.flatnonzero(job.rows == found.row[i])).problem
            known = None
            with budget.ended_by_interrupt():
                known = None if budget.spent() else farthest(one, budget.at_most(FARTHEST_SECONDS))
            if known is not None:
                highest[i], points[i] = known
    asked = left < FARTHEST_ROWS
    return replace(found, points=points, notes={**found.notes, HIGHEST: highest}) if asked else found


def _reached(found: Outcome, jobs: Sequence[Job], readout: AbstractReadout, case: Case) -> Outcome:
    """The outcome, with its notes on the highest sums of scores in the user's terms."""
    if HIGHEST not in found.notes:
        return found
    highest = found.notes[HIGHEST]
    told = {REACHED: np.full(len(found), np.nan), NEEDED: np.full(len(found), np.nan)}
    for job in jobs:
        at = np.flatnonzero(np.isin(found.row, job.rows) & np.isfinite(highest) & ~found.found())
        if len(at):
            (score_set,) = job.problem.score_sets
            needed = np.broadcast_to(score_set.b[..., 0], len(job.rows))[np.searchsorted(job.rows, found.row[at])]
            for name, totals in ((REACHED, highest[at]), (NEEDED, needed)):
                outputs = [readout.output_at(score_set.A[0], total) for total in totals.tolist()]
                told[name][at] = [np.nan if output is None else output for output in outputs]
    told[CLOSEST_ROW] = np.where(np.isfinite(told[REACHED]), closest(case, found), np.nan)
    return replace(found, notes={name: note for name, note in {**found.notes, **told}.items() if name != HIGHEST})


def _quiet(rows: int) -> None:
    """Tell nobody."""


def confirm(outcome: Outcome, case: Case, search: Search, budget: Budget) -> tuple[Outcome, Verdict]:
    """Ask the estimator about every answer.

    Rows whose answer it does not confirm are solved again, a little inside the boundary. Where nothing is known of the
    model, the answers themselves are moved on.
    """
    verdict = verify(case, outcome)
    if jumps(case.referee.reading.model):
        outcome, verdict = moved_on(outcome, verdict, case)
    if is_read(case.referee.reading.model):
        outcome, verdict = _guarded(outcome, verdict, case, search, budget)
    wrong = _refused(outcome, verdict)
    if search.solver == "auto" and len(wrong):
        late = budget.spent()
        longer = replace(budget, seconds=max(OVERTIME, budget.left()), start=now())
        found = _by_asking(case.take(wrong), longer).renumbered(wrong)
        outcome = merged(outcome, better_of(_without_answers(outcome, wrong), found) if late else found)
        verdict = verify(case, outcome)
    cost = np.where(verdict.passed.all(axis=1), verdict.cost, np.inf)
    order = np.lexsort((cost, outcome.row))
    written = replace(outcome, points=verdict.points).take(order)
    return replace(written, bound=outcome.bound), verdict.take(order, outcome)


def _without_answers(outcome: Outcome, rows: IntArray) -> Outcome:
    """What is proven of rows, whose answers are none. Their searches ended too early to try others."""
    first = outcome.take(np.searchsorted(outcome.row, rows))
    return replace(first, points=np.full_like(first.points, np.nan), cost=np.full(len(first), np.inf))


def _refused(outcome: Outcome, verdict: Verdict) -> IntArray:
    """The rows with an answer that the estimator does not confirm."""
    return np.unique(outcome.row[outcome.found() & verdict.failed(PREDICTION)])


def _guarded(outcome: Outcome, verdict: Verdict, case: Case, search: Search, budget: Budget) -> tuple[Outcome, Verdict]:
    """Solve the rows again whose answer is refused, further and further inside the boundary."""
    for guard in ESTIMATOR_GUARDS:
        wrong = _refused(outcome, verdict)
        if not len(wrong) or budget.spent():
            break
        again = solve(case.take(wrong), search, budget, _quiet, guard)
        outcome = merged(outcome, again.renumbered(wrong))
        verdict = verify(case, outcome)
    return outcome, verdict


def _by_asking(case: Case, budget: Budget) -> Outcome:
    """Answers that the estimator itself is asked for, where it refused all others: it reads these rows in another way."""
    done = []
    for part in _parts(case, 0.0):
        job = Job(part.rows, part.problem, *choose(part.problem.form()))
        turn = Turn(job, job.nothing(budget))
        turn.ask(budget, FIRST_SHARE * budget.left(), 1, 0)
        turn.known(budget)
        done.append(_needed(turn.outcome.renumbered(part.rows), [job], case, budget))
    return _told(joined(done), case)


def _told(found: Outcome, case: Case) -> Outcome:
    """The answers of solvers as they are told: with what follows from them, and in the user's own unit of costs."""
    return replace(found, points=case.followed(found.row, found.points)).times(case.question.prices.coin)


def compare(outcome: Outcome, case: Case, budget: Budget) -> Outcome:
    """Add bounds of exact solvers to answers that have none.

    The credit says which solver gave the bound, or that no exact solver takes the question.
    """
    bound, credit = outcome.bound.copy(), outcome.credit.copy()
    for part in _parts(case, 0.0):
        judge = exact(part.problem.form())
        for i, row in enumerate(part.rows.tolist()):
            its = np.flatnonzero(outcome.row == row)
            given = credit[its[0]]
            if given == NOBODY or (bound[its] > 0).any():
                continue
            if judge is None:
                credit[its] = replace(given, why=f"{given.why}; no exact solver takes the question")
            elif not budget.spent():
                one = part.problem.take(np.array([i]))
                with budget.ended_by_interrupt():
                    proven = whichever_company(one, judge.solve(one, budget))
                    bound[its] = proven.bound[0] * case.question.prices.coin
                    who = Ran(judge.name, proven.by[0])
                    credit[its] = replace(given, why=f"{given.why}; the bound is that of {who}")
    return replace(outcome, bound=bound, credit=credit)


def _parts(case: Case, guard: float) -> Iterator[Part]:
    question, referee, factuals = case.question, case.referee, case.factuals
    return plan(question, referee, factuals, case.before, free=case.free, guard=guard)


def _stays(part: Part) -> Outcome:
    """Rows that need no change."""
    n = len(part.rows)
    return answers_of(part.rows, part.problem.factuals, np.zeros(n), np.zeros(n)).credited(NOBODY)
