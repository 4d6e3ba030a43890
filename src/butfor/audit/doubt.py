"""About which answers the model must be asked alone.

The last digits of a prediction may depend on the rows that are predicted with it. That matters where rounding decides.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.audit.claim import Claim
from butfor.estimator.prediction import Prediction
from butfor.model.oblique import ObliqueTree
from butfor.model.questions import evaluate, is_read
from butfor.problem.costs import DEFAULT, price
from butfor.problem.problem import state

INNER_SHARE = 0.75
"""Solvers put answers onto the inner edge of what rounding may do. So those beyond this share of it are not in doubt."""


def in_doubt(claim: Claim) -> IntArray:
    """The answers that must be asked about alone, because of their row or because of their point.

    Of a model that was read, the rounding of its sums is known. Of any other, nothing is.
    """
    every, found = np.arange(len(claim)), claim.stated.found
    model = claim.reading.model
    if claim.target is None or not is_read(model) or isinstance(model, ObliqueTree):
        return every
    doubted = _open(claim, every, claim.stated.starts, claim.before)
    if len(found):
        doubted[found] |= _open(claim, found, claim.answers.point_codes[found], claim.before.take(found))
    return np.flatnonzero(doubted)


def _open(claim: Claim, at: IntArray, points: FloatArray, before: Prediction) -> BoolArray:
    """For which points of some answers the rounding of the model's sums leaves open what the model predicts."""
    assert claim.target is not None
    target = claim.target.settled(claim.reading.readout, before)
    reading, prices = target.focus(claim.reading, before), price(DEFAULT, claim.answers.space)
    scores = evaluate(reading.model, points)
    whole = state(reading.space, reading.model, claim.stated.starts[at], (), prices, claim.known)
    whole, open_ = replace(whole, unit=reading.unit), np.zeros(len(at), dtype=np.bool_)
    for rows, score_sets in target.groups(reading.readout, before):
        problem = whole.take(rows)
        for score_set in score_sets:
            doubt = problem.doubt(score_set)
            inner = replace(doubt, rows=INNER_SHARE * doubt.rows, scores=INNER_SHARE * doubt.scores)
            open_[rows] |= score_set.perhaps(scores[rows], doubt) & ~score_set.surely(scores[rows], inner)
    return open_
