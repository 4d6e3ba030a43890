"""Check answers with the estimator and the constraints themselves. No solver is believed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.estimator.prediction import Prediction
from butfor.problem.constraints.admissible import inside
from butfor.problem.constraints.constraint import Changes, Neighbourhood, all_hold
from butfor.problem.neighbours import FEW_NEIGHBOURS, MANY_NEIGHBOURS
from butfor.problem.question import Question
from butfor.problem.referee import Referee
from butfor.problem.targets.score import Score
from butfor.solvers.outcome import Outcome, tolerated
from butfor.space.space import same
from butfor.verdict.alone import left_open, partly_alone
from butfor.verdict.case import Case

PREDICTION, CONSTRAINTS, COST, AS_WRITTEN = 0, 1, 2, 3
"""The checks of an answer, as columns of `Verdict.passed`."""

HOLDING = [PREDICTION, CONSTRAINTS, AS_WRITTEN]
"""The checks of points that nobody has priced."""

CHECKS = {
    PREDICTION: "the model predicts {target}",
    CONSTRAINTS: "all constraints hold",
    COST: "the cost is as claimed",
    AS_WRITTEN: "the row holds these values",
}


@dataclass(frozen=True, eq=False)
class Verdict:
    """What was found about each answer.

    - `passed` (answers, checks): whether each of `CHECKS` passed;
    - `cost` (answers): the cost, computed again;
    - `points` (answers, features): the answers as they are written;
    - `after`: what the estimator predicts for each point;
    - `predicted`: all that the estimator predicts for the points that were found;
    - `around`: what was found in the ball around some answers, if one was asked for.
    """

    passed: BoolArray
    cost: FloatArray
    points: FloatArray
    after: list[Any]
    predicted: Prediction | None = None
    around: Mapping[int, Neighbourhood] = field(default_factory=dict)

    def failed(self, check: int) -> BoolArray:
        """Which answers failed the check with this number."""
        return np.asarray(~self.passed[:, check])

    def take(self, order: IntArray, outcome: Outcome) -> Verdict:
        """What was found about the answers of an outcome in another order."""
        place, found = np.argsort(order), outcome.found()
        asked = (np.cumsum(found) - 1)[order[found[order]]]
        return Verdict(
            self.passed[order],
            self.cost[order],
            self.points[order],
            [self.after[i] for i in order.tolist()],
            None if self.predicted is None else self.predicted.take(asked),
            {int(place[i]): one for i, one in self.around.items()},
        )


def verify(case: Case, outcome: Outcome, *, handed_out: bool = True) -> Verdict:
    """Check each answer as it is handed out: alone. Points that only stand for others are predicted together."""
    at = np.flatnonzero(outcome.found())
    passed = np.ones((len(outcome), len(CHECKS)), dtype=np.bool_)
    cost, points, after = outcome.cost.copy(), outcome.points.copy(), [None] * len(outcome)
    if not len(at):
        return Verdict(passed, cost, points, after)
    target, prices = case.question.target, case.question.prices
    changes = case.changes(outcome.row[at], outcome.points[at])
    if handed_out:
        alone = left_open(case.question, case.referee, replace(changes, points=outcome.points[at]))
        start, point = (partly_alone(asked, alone) for asked in (changes.before, changes.after))
        changes = replace(changes, before=start, after=point)
    passed[at, PREDICTION] = target.met(changes.before, changes.after)
    others = case.question.under(rule for rule in case.question.constraints if not rule.in_ball)
    passed[at, CONSTRAINTS] = respected(others, changes, case.referee)
    around = dict[int, Neighbourhood]()
    for rule in case.question.constraints:
        found = rule.around(changes, case.referee, max(FEW_NEIGHBOURS, MANY_NEIGHBOURS // len(at)))
        if found is None:
            continue
        passed[at, CONSTRAINTS] &= [one.met for one in found]
        around |= zip(at.tolist(), found, strict=True)
    if case.free is not None:
        kept = same(changes.start, changes.actions) | case.free[outcome.row[at]]
        passed[at, CONSTRAINTS] &= kept.all(axis=1)
    cost[at] = prices.total(changes.start, changes.actions) + target.offsets(changes.after, len(at))
    passed[at, COST] = np.abs(outcome.cost[at] - cost[at]) <= tolerated(cost[at], prices.coin)
    alike = case.alike(outcome.points[at], changes.points).all(axis=1)
    passed[at, AS_WRITTEN], points[at[alike]] = alike, changes.points[alike]
    for i, output in zip(at, target.outputs(changes.after), strict=True):
        after[i] = output
    return Verdict(passed, cost, points, after, changes.after, around)


def scores(case: Case, outcome: Outcome, verdict: Verdict) -> list[Score | None]:
    """How each answer scores. A row whose answer failed a check scores like one without an answer."""
    target, solved = case.question.target, np.flatnonzero(outcome.found())
    passed = verdict.passed[solved].all(axis=1)
    made: list[Score | None] = [None] * len(outcome)
    none = np.setdiff1d(np.arange(len(outcome)), solved[passed])
    groups: list[tuple[IntArray, Prediction | None]] = [(none, None)] if len(none) else []
    if verdict.predicted is not None and passed.any():
        groups.append((solved[passed], verdict.predicted.take(np.flatnonzero(passed))))
    for at, after in groups:
        for i, score in zip(at.tolist(), target.scores(case.before.take(outcome.row[at]), after), strict=True):
            made[i] = score
    return made


def closest(case: Case, outcome: Outcome) -> FloatArray:
    """What the target is about, at the closest rows that were found in place of answers (NaN: not known).

    The estimator predicts these rows as they are written. They must respect all constraints, and miss the target.
    """
    told = np.full(len(outcome), np.nan)
    at = np.flatnonzero(~outcome.found() & ~np.isnan(outcome.points).all(axis=1))
    if len(at):
        changes = case.changes(outcome.row[at], outcome.points[at])
        alone = left_open(case.question, case.referee, replace(changes, points=outcome.points[at]))
        changes = replace(changes, after=partly_alone(changes.after, alone))
        kept = respected(case.question, changes, case.referee)
        kept &= ~case.question.target.met(changes.before, changes.after)
        kept &= case.alike(outcome.points[at], changes.points).all(axis=1)
        scores = case.question.target.scores(changes.before, changes.after)
        told[at] = [
            score.after if fine and score and score.after is not None else np.nan
            for fine, score in zip(kept.tolist(), scores, strict=True)
        ]
    return told


def respected(question: Question, changes: Changes, referee: Referee) -> BoolArray:
    """Which changes keep every constraint and all columns' possible values.

    Each constraint is judged by its own rule.
    """
    within = inside(referee.space, changes, question.constraints)
    return within & all_hold(question.constraints, changes, referee)
