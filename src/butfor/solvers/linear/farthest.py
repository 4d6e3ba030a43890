"""The admissible point with the largest score of a linear model: how far an impossible question can be met."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from butfor.arrays import FloatArray
from butfor.problem.problem import Problem
from butfor.solvers.linear.options import options_of


def farthest(problem: Problem, weights: FloatArray) -> FloatArray:
    """The point of each row with the largest sum `weights s`; NaN if no point is admissible.

    Each feature takes the option that gains most. If only some may change, those that gain most do.
    """
    options = options_of(problem, weights)
    table = options.table
    gain = np.where(np.isfinite(table.cost), options.farthest(), -np.inf)
    parts = list(pairwise(table.start.tolist()))
    pick = np.array([a + gain[:, a:b].argmax(axis=1) for a, b in parts], dtype=np.intp).reshape(-1, len(gain)).T
    stay, rows = table.start[:-1], np.arange(len(gain))[:, None]
    best = gain[rows, pick]
    with np.errstate(invalid="ignore"):
        rank = np.argsort(np.argsort(gain[:, stay] - best, axis=1, kind="stable"), axis=1)
    pick = np.where(rank < problem.most_changes, pick, stay)
    possible = np.isfinite(gain[rows, pick]).all(axis=1, keepdims=True)
    return np.where(possible, options.points(problem, pick, table.length[rows, pick]), np.nan)
