"""A last look at answers that were found: what is not needed is taken back.

A search that is cut short leaves changes behind that could simply be undone. Each single change is tried without, and so
are changes of columns that a relation ties to each other, because undoing one of these alone may break it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.compiled.clock import now
from butfor.explain.turns import Job
from butfor.model.linear import Linear, linear_terms
from butfor.model.questions import evaluate, is_read
from butfor.problem.problem import Problem
from butfor.solvers.outcome import Outcome, answers_of, refuted, tolerated
from butfor.space.space import same
from butfor.verdict.case import Case
from butfor.verdict.verify import HOLDING, verify

NO_HIGHER = 1e-12
"""A cost is no higher if it rises by no more than this share, which rounding may do."""

TRIED_TOGETHER = 20_000
"""The estimator is asked about so many rows at once, before the clock is looked at."""

ASKED_AT_LEAST = 1_000
"""The estimator is asked about so many rows whatever the time is: a machine may be busy just then."""


@dataclass(frozen=True, eq=False)
class _Without:
    """Answers without some of their changes: whose they are (their place in the outcome), and what the rest costs."""

    owner: IntArray
    points: FloatArray
    price: FloatArray

    def take(self, at: IntArray | BoolArray) -> _Without:
        """Some of them."""
        return _Without(self.owner[at], self.points[at], self.price[at])


def taken_back(found: Outcome, jobs: Sequence[Job], case: Case, until: float) -> Outcome:
    """The answers without changes that are not needed, again and again, as long as there is time. Costs are in coins.

    A row without a change must still be an answer, and cost no more. The first round is done whatever the time is, and so are
    the others as long as they ask about few rows.
    """
    if case.question.candidates or not jobs:
        return found
    busy, asked = found.found(), 0
    while busy.any():
        tries = _joined([_tries(found, busy, job) for job in jobs])
        asked += len(tries.owner)
        limit = until if asked > ASKED_AT_LEAST else np.inf
        better = _best(found, tries, case, limit)
        if not len(better.owner):
            break
        points, cost = found.points.copy(), found.cost.copy()
        points[better.owner], cost[better.owner] = better.points, better.price
        found = replace(found, points=points, cost=cost, bound=np.where(refuted(found.bound, cost), 0.0, found.bound))
        busy = np.isin(np.arange(len(found)), better.owner)
        if now() > limit:
            break
    return found


def _tries(found: Outcome, busy: BoolArray, job: Job) -> _Without:
    """The answers to the rows of a job, each without some changes. What is left keeps the problem, and costs no more.

    What costs less than a proven bound is no answer. So hardly anything is tried of an optimum in which every change has
    a price.
    """
    at = np.flatnonzero(busy & np.isin(found.row, job.rows))
    places = np.searchsorted(job.rows, found.row[at])
    many, points, bound = job.problem.take(places), found.points[at], found.bound[at]
    start = many.factuals
    changed = ~same(start, points)
    groups = _groups(job, np.asarray(changed.any(axis=0)))
    if not groups:
        return _Without(at[:0], points[:0], found.cost[:0])
    least = np.full(len(at), -np.inf)
    if not any(score_set.offset for score_set in many.score_sets):
        least = bound - tolerated(bound)
    whole = many.prices.total(start, points)
    most = whole * (1 + NO_HIGHER)
    left = whole[:, None] - many.prices.spared(start, points, groups)
    rounded = NO_HIGHER * most[:, None]
    able = (left <= most[:, None] + rounded) & (left >= least[:, None] - rounded)
    able &= np.stack([changed[:, group].all(axis=1) for group in groups], axis=1)
    able &= _perhaps_without(many, points, groups)
    its, which = np.nonzero(able)
    without = points[its]
    for number in np.unique(which):
        undone = np.ix_(np.flatnonzero(which == number), np.array(groups[number], dtype=np.intp))
        without[undone] = start[its][undone]
    tried = many.take(its)
    price = tried.prices.total(tried.factuals, without)
    fine = np.flatnonzero(tried.admits(without) & (price <= most[its]) & (price >= least[its]))
    fine = fine[_perhaps_reached(tried.take(fine), without[fine])]
    return _Without(at[its], without, price).take(fine)


def _perhaps_without(problem: Problem, points: FloatArray, groups: Sequence[Sequence[int]]) -> BoolArray:
    """Which answers of a problem may stay answers if the columns of a group go back (rows, groups).

    The terms of a linear model tell, and nothing is evaluated. For other models it is always true.
    """
    if not isinstance(problem.model, Linear):
        return np.ones((len(points), len(groups)), dtype=np.bool_)
    model, start, scores = problem.model, problem.factuals, evaluate(problem.model, points)
    doubts = [problem.doubt(score_set) for score_set in problem.score_sets]
    # the last digits of a difference of sums are not those of the sum that is left
    doubts = [replace(doubt, rows=2 * doubt.rows, scores=2 * doubt.scores) for doubt in doubts]
    able = []
    for group in groups:
        gained = sum(linear_terms(model, j, points[:, j]) - linear_terms(model, j, start[:, j]) for j in group)
        left = scores - np.transpose(gained)
        each = [one.perhaps(left, doubt) for one, doubt in zip(problem.score_sets, doubts, strict=True)]
        able.append(np.any(each, axis=0))
    return np.stack(able, axis=1)


def _perhaps_reached(problem: Problem, points: FloatArray) -> BoolArray:
    """Which points may be answers, for all that is known of the model. The estimator need not be asked about the others."""
    if not len(points) or problem.acting is not None or not is_read(problem.model) or isinstance(problem.model, Linear):
        return np.ones(len(points), dtype=np.bool_)
    scores = evaluate(problem.model, points)
    able = [score_set.perhaps(scores, problem.doubt(score_set)) for score_set in problem.score_sets]
    return np.asarray(np.any(able, axis=0))


def _groups(job: Job, changed: BoolArray) -> list[list[int]]:
    """The columns that are tried without their change: single ones, and those that a relation ties to each other."""
    space = job.problem.space
    groups = [[j] for j in np.flatnonzero(changed).tolist()]
    for relation in job.problem.relations:
        tied = [j for j in map(space.index, relation.numbers) if changed[j]]
        groups += [list(pair) for pair in combinations(sorted(set(tied)), 2)]
    return groups


def _best(found: Outcome, tries: _Without, case: Case, until: float) -> _Without:
    """The cheapest of each answer's tries that the estimator takes: first all together, then those chosen as handed out."""
    met = np.zeros(len(tries.owner), dtype=np.bool_)
    for begin in range(0, len(met), TRIED_TOGETHER):
        some = slice(begin, begin + TRIED_TOGETHER)
        whose = found.row[tries.owner[some]]
        if begin and now() > until:
            break
        met[some] = case.met_together(whose, case.followed(whose, tries.points[some]))
    tries = tries.take(met)
    tries, chosen = tries.take(np.lexsort((tries.price, tries.owner))), list[_Without]()
    while len(tries.owner):
        _, first = np.unique(tries.owner, return_index=True)
        best = tries.take(first)
        whose = found.row[best.owner]
        claimed = answers_of(whose, case.followed(whose, best.points), best.price, np.zeros(len(first)))
        verdict = verify(case, claimed)
        price = verdict.cost / case.question.prices.coin
        fine = verdict.passed[:, HOLDING].all(axis=1) & (price <= found.cost[best.owner] * (1 + NO_HIGHER))
        chosen.append(replace(best, price=price).take(fine))
        rest = np.setdiff1d(np.arange(len(tries.owner)), first)
        tries = tries.take(rest[~np.isin(tries.owner[rest], best.owner[fine])])
        if now() > until:
            break
    return _joined(chosen) if chosen else tries


def _joined(parts: Sequence[_Without]) -> _Without:
    """Several as one."""
    return _Without(*(np.concatenate([getattr(one, name) for one in parts]) for name in ("owner", "points", "price")))
