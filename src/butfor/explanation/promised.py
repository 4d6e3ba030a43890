"""The box of rows that `bf.robust` promised around an answer."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray
from butfor.explanation.question_record import QuestionRecord
from butfor.neighbours.ball import BallNorm
from butfor.problem.constraints.robust import Robust
from butfor.problem.spec import from_spec
from butfor.space.space import Space


def promised_ends(question: QuestionRecord, space: Space, point: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """The lowest and the highest value of each column in the box around a point; None if no box was asked for.

    A round ball is no box, so nothing is told of it.
    """
    rules = [rule for rule in question.spec.get("constraints", ()) if rule.get("kind") == Robust.__name__]
    for ball in (from_spec(rule).ball(space) for rule in rules):
        if ball.norm is BallNorm.LINF:
            return np.asarray(ball.low(point)), np.asarray(ball.high(point))
    return None
