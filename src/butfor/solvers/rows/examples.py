"""The cheapest row of the training data that is an answer: for rows that a solver left without one."""

from __future__ import annotations

from itertools import islice

import numpy as np

from butfor.problem.problem import Problem
from butfor.solvers.outcome import Outcome, nothing_found, one_answer

MOST_ASKED = 50
"""About how many training rows the estimator is asked alone, one after the other."""


def cheapest_example(problem: Problem) -> Outcome:
    """The cheapest training row that the estimator takes for an answer to the only row. Nothing is proven.

    It knows answers where only the estimator's own rounding decides, such as the largest prediction of all.
    """
    nothing = nothing_found(problem)
    examples, confirmation = problem.witnesses.examples, problem.witnesses.confirmation
    if examples is None or confirmation is None or problem.demands.ball is not None or problem.demands.margin:
        return nothing
    points, response = examples.examples, examples.of_examples(0)
    many = problem.take(np.zeros(len(points), dtype=np.intp))
    able = response.met & many.admits(points)
    cost = np.where(able, many.prices.total(many.factuals, points) + response.offset, np.inf)
    ordered = np.argsort(cost, kind="stable").tolist()
    for at in islice((at for at in ordered if np.isfinite(cost[at])), MOST_ASKED):
        if confirmation.confirms(points[at], np.inf):
            return one_answer(points[at], float(cost[at]), 0.0)
    return nothing
