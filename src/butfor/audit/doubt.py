"""About which answers the model must be asked alone when many are checked. The rule is that of handing them out."""

from __future__ import annotations

import numpy as np

from butfor.arrays import IntArray
from butfor.claim import Claim
from butfor.problem.constraints.constraint import Changes
from butfor.problem.costs import DEFAULT, price
from butfor.problem.question import Question
from butfor.verdict.alone import left_open, open_factuals


def in_doubt(claim: Claim) -> IntArray:
    """The answers that must be asked about alone, because of their row or because of their point.

    Prices do not matter for that, so it does not matter either whether the cost is known.
    """
    every, found = np.arange(len(claim)), claim.stated.found
    if claim.target is None:
        return every
    target = claim.target.settled(claim.reading.readout, claim.before)
    question = Question(target, DEFAULT, price(DEFAULT, claim.answers.space), claim.known)
    start, before = claim.stated.starts, claim.before
    doubted = open_factuals(question, claim.referee, Changes(start, start, before, before)).copy()
    if len(found):
        doubted[found] |= left_open(question, claim.referee, claim.changes(found, claim.after))
    return np.flatnonzero(doubted)
