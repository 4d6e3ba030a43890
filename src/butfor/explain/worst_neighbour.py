"""What a certificate tells of the ball around an answer: the worst row in it, and how many were predicted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.estimator.prediction import Prediction
from butfor.solvers.outcome import Outcome
from butfor.verdict.alone import partly_alone
from butfor.verdict.case import Case
from butfor.verdict.evidence import Around
from butfor.verdict.verify import Verdict


def worst_neighbours(outcome: Outcome, verdict: Verdict, case: Case) -> dict[int, Around]:
    """What is known of answers around which a ball was asked for.

    The estimator says how the worst neighbour scores. Of its values, those are told that are not the answer's own.
    """
    told = {i: Around(found.asked) for i, found in verdict.around.items()}
    at = np.array([i for i in told if (found := verdict.around[i]).met and found.worst is not None], dtype=np.intp)
    if not len(at):
        return told
    worst = np.array([verdict.around[i].worst for i in at.tolist()])
    together = Prediction(case.referee.reading.source, case.referee.written(worst))
    after = partly_alone(together, np.full(len(at), len(at) > 1))
    scores = case.question.target.scores(case.before.take(outcome.row[at]), after)
    moved = (worst != outcome.points[at]) & ~np.isnan(worst)
    for i, row, score, columns in zip(at.tolist(), worst.tolist(), scores, moved, strict=True):
        seen = [(case.referee.space.features[j], row[j]) for j in np.flatnonzero(columns).tolist()]
        values = {feature.name: code if feature.levels is None else feature.value(code) for feature, code in seen}
        told[i] = replace(told[i], score=None if score is None else score.after, worst=values)
    return told
