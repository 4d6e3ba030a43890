"""Answers that the estimator refuses alone are moved a little further, in the direction in which they were found.

A search asks about many points together, and ends as close to the boundary as their last digits tell.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.problem.constraints.admissible import admissible
from butfor.solvers.outcome import Outcome
from butfor.verdict.case import Case
from butfor.verdict.verify import HOLDING, PREDICTION, Verdict, verify

FURTHER_SHARES = (1e-15, 1e-13, 1e-11, 1e-9, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""How much further they are moved, as shares of their changes: from the last digit of a number to a thousandth."""


def moved_on(outcome: Outcome, verdict: Verdict, case: Case) -> tuple[Outcome, Verdict]:
    """The answers, of which refused ones are moved on until the estimator takes them, if they change numbers."""
    left = np.flatnonzero(outcome.found() & verdict.failed(PREDICTION))
    points, cost, some_taken = outcome.points.copy(), outcome.cost.copy(), False
    for share in FURTHER_SHARES:
        further = _further(case, outcome.row[left], outcome.points[left], share)
        left, further = (some[(further != outcome.points[left]).any(axis=1)] for some in (left, further))
        if not len(left):
            break
        tried = verify(case, replace(outcome.take(left), points=further))
        taken = tried.passed[:, HOLDING].all(axis=1)
        points[left[taken]], cost[left[taken]] = further[taken], tried.cost[taken]
        left, some_taken = left[~taken], some_taken or bool(taken.any())
    moved = replace(outcome, points=points, cost=cost)
    return (moved, verify(case, moved)) if some_taken else (outcome, verdict)


def _further(case: Case, rows: IntArray, points: FloatArray, share: float) -> FloatArray:
    """Points whose real numbers are moved on by a share of their changes, as far as the constraints let them."""
    space, start = case.referee.space, case.factuals[rows]
    domain = admissible(space, start, case.question.constraints)
    real = np.array([feature.is_real for feature in space])
    acted = case.consequences.actions(start, points)
    with np.errstate(invalid="ignore"):
        moved = np.clip(acted + share * (acted - start), domain.low, domain.high)
    return case.followed(rows, np.where(real & (acted != start) & np.isfinite(moved), moved, acted))
