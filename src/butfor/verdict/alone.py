"""Which rows the estimator is asked about alone, as they are handed out (docs/decisions/025-asked-alone.md).

The last digits of a prediction may depend on the rows that are predicted with it: a library adds a single row up in
another order than a block of rows. So a row is an answer if the estimator says so of that row alone. Asking alone is
dear, and is done where it can matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from butfor.arrays import BoolArray
from butfor.estimator.prediction import PartlyAlone, Prediction
from butfor.model.oblique import ObliqueTree
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.questions import Model, evaluate, is_read
from butfor.model.scores import UNIT_SINGLE
from butfor.problem.constraints.constraint import Changes
from butfor.problem.problem import state
from butfor.problem.question import Question
from butfor.problem.referee import Referee
from butfor.problem.targets.score import Score
from butfor.space.space import same

CLOSE_SHARE = UNIT_SINGLE**0.5
"""A score is close to its threshold within this share of their sizes: half of the digits of single precision."""


INNER = 0.75
"""Solvers put answers onto the inner edge of what rounding may do, up to their own last digits. These are not in doubt."""


ALREADY_ALONE = np.zeros(1, dtype=np.bool_)
"""Of a single change, nothing must be asked again."""


def partly_alone(prediction: Prediction, rows: BoolArray) -> Prediction:
    """The prediction, for which some rows are asked about alone."""
    return PartlyAlone(prediction, np.flatnonzero(rows)) if rows.any() else prediction


def left_open(question: Question, referee: Referee, changes: Changes) -> BoolArray:
    """Which changes the estimator must be asked about alone.

    Of a model that was read, the rounding of its sums is known: a lookup in a tree has none, and nothing is asked. Any
    other model is asked about every change. Its unchanged rows are asked about if their score is close to the threshold.
    """
    if len(changes) == 1:
        return ALREADY_ALONE
    if jumps(referee.reading.model):
        scores = question.target.scores(changes.before, changes.after)
        return np.asarray((~same(changes.start, changes.points)).any(axis=1) | _close(scores, unknown=True))
    return _in_doubt(question, referee, changes)


def open_factuals(question: Question, referee: Referee, changes: Changes) -> BoolArray:
    """Which rows must be asked about alone before anything is changed. One that has no score seldom needs it."""
    if len(changes) == 1:
        return ALREADY_ALONE
    if jumps(referee.reading.model):
        return _close(question.target.scores(changes.before, changes.after), unknown=False)
    return _in_doubt(question, referee, changes)


def jumps(model: Model) -> bool:
    """Whether a prediction may change much where rounding decides, for all that is known of the model."""
    return not is_read(model) or isinstance(model, ObliqueTree | ObliqueForest)


def _in_doubt(question: Question, referee: Referee, changes: Changes) -> BoolArray:
    """For which points the rounding of the model's sums leaves open which scores the estimator sees."""
    reading = question.target.focus(referee.reading, changes.before)
    scores = evaluate(reading.model, changes.points)
    given = (reading.space, reading.model, changes.start, (), question.prices, question.constraints)
    whole = state(*given).with_witnesses(unit=reading.unit)
    found = np.zeros(len(changes), dtype=np.bool_)
    for rows, score_sets in question.target.groups(reading.readout, changes.before):
        problem = whole.take(rows)
        for score_set in score_sets:
            doubt = problem.doubt(score_set)
            inner = replace(doubt, rows=INNER * doubt.rows, scores=INNER * doubt.scores)
            found[rows] |= score_set.perhaps(scores[rows], doubt) & ~score_set.surely(scores[rows], inner)
    return found


def _close(scores: Sequence[Score | None], *, unknown: bool) -> BoolArray:
    """Which scores are close to their threshold; `unknown` where there is no score, or no threshold."""
    return np.array([unknown if one is None else _within(one, unknown) for one in scores], dtype=np.bool_)


def _within(score: Score, unknown: bool) -> bool:
    if score.beyond is None or score.after is None or score.threshold is None:
        return unknown
    return bool(abs(score.beyond) <= CLOSE_SHARE * max(abs(score.before), abs(score.after), abs(score.threshold)))
