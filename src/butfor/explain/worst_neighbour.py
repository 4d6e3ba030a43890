"""What a certificate tells of the ball around an answer: the worst row in it, and how many were predicted."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray
from butfor.estimator.prediction import Prediction
from butfor.solvers.outcome import Outcome
from butfor.verdict.alone import partly_alone
from butfor.verdict.case import Case
from butfor.verdict.certificate import PREDICTED_NEIGHBOURS, WORST_NEIGHBOUR, of_worst
from butfor.verdict.verify import Verdict


def worst_neighbours_told(outcome: Outcome, verdict: Verdict, case: Case) -> dict[str, FloatArray]:
    """Notes on answers around which a ball was asked for.

    The estimator says how the worst neighbour scores. Of its values, those are told that are not the answer's own.
    """
    if not verdict.around:
        return {}
    count = len(outcome)
    notes = {PREDICTED_NEIGHBOURS: np.full(count, np.nan), WORST_NEIGHBOUR: np.full(count, np.nan)}
    for i, found in verdict.around.items():
        notes[PREDICTED_NEIGHBOURS][i] = found.asked
    at = np.array([i for i, found in verdict.around.items() if found.met and found.worst is not None], dtype=np.intp)
    if not len(at):
        return notes
    worst = np.array([verdict.around[i].worst for i in at.tolist()])
    together = Prediction(case.referee.reading.source, case.referee.written(worst))
    after = partly_alone(together, np.full(len(at), len(at) > 1))
    scores = case.question.target.scores(case.before.take(outcome.row[at]), after)
    notes[WORST_NEIGHBOUR][at] = [np.nan if one is None or one.after is None else one.after for one in scores]
    moved = (worst != outcome.points[at]) & ~np.isnan(worst)
    for j in np.flatnonzero(moved.any(axis=0)).tolist():
        value = notes.setdefault(of_worst(case.referee.space.names[j]), np.full(count, np.nan))
        value[at] = np.where(moved[:, j], worst[:, j], np.nan)
    return notes
