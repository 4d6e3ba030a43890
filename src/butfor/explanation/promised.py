"""The box of rows that was promised around an answer."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray
from butfor.explanation.question_record import QuestionRecord
from butfor.neighbours.ball import BallNorm
from butfor.problem.spec import class_of, from_spec
from butfor.space.space import Space


def promised_ends(question: QuestionRecord, space: Space, point: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """The lowest and the highest value of each column in the box around a point; None if no box was asked for.

    A round ball is no box, so nothing is told of it.
    """
    rules = [rule for rule in question.spec.get("constraints", ()) if class_of(rule).in_ball]
    for ball in (from_spec(rule).ball(space) for rule in rules):
        if ball is not None and ball.norm is BallNorm.LINF:
            return np.asarray(ball.low(point)), np.asarray(ball.high(point))
    return None
