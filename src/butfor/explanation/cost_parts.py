"""What each change of an answer contributes to its cost."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray
from butfor.explanation.question_record import QuestionRecord
from butfor.explanation.shapley import coalitions
from butfor.problem.prices import Prices
from butfor.problem.pricing import price_beside
from butfor.problem.spec import following_in, from_spec
from butfor.space.space import Space, same


def prices_of(question: QuestionRecord, space: Space) -> Prices | None:
    """The prices of a question; None if it does not hold its cost as data (a price that is a function)."""
    try:
        return price_beside(from_spec(question.spec["cost"]), space, following_in(question.spec))
    except LookupError:
        return None


def cost_parts(prices: Prices, start: FloatArray, points: FloatArray, seed: int = 0) -> FloatArray:
    """The part of each column (rows, columns) in the cost of the changes of each row.

    A cost that adds up over the columns falls into its terms. Of another one (`bf.LInf`, `bf.Quadratic`), the parts are
    Shapley values.
    """
    parts = np.zeros(start.shape)
    moved = ~same(start, points)
    if not prices.has_linf and prices.Q is None:
        for j in np.flatnonzero(moved.any(axis=0)).tolist():
            rows = np.flatnonzero(moved[:, j])
            parts[rows, j] = prices.separable(j, start[rows, j], points[rows, j])
        return parts
    for i in range(len(start)):
        changed = np.flatnonzero(moved[i])
        sets = coalitions(len(changed), seed)
        between = np.repeat(start[i : i + 1], len(sets.members), axis=0)
        between[:, changed] = np.where(sets.members, points[i, changed], start[i, changed])
        parts[i, changed] = sets.weights @ prices.total(np.broadcast_to(start[i], between.shape), between)
    return parts
