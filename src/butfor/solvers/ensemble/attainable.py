"""Which sums of leaves there are at all.

The leaves of a full forest are pure, so its scores are whole numbers of votes, and a goal between two of them means the next.
"""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray, IntArray

OFF = 1e-7
"""Leaves of all trees together may be off their steps by this share of a step, rounding included."""


def next_sums(score: FloatArray, start: IntArray, goal: FloatArray) -> FloatArray:
    """The least sums of one leaf a tree from each goal on, less a share of a step; the goals where scores have no steps.

    If the scores of tree t are l_t + g k with whole k, then every sum is sum_t l_t + g k, too.

    score (leaves, scores); start (trees + 1): the first leaf of each tree; goal (scores)
    """
    low = np.minimum.reduceat(score, start[:-1], axis=0)
    beyond = score - np.repeat(low, np.diff(start), axis=0)
    step = np.where(beyond > 0, beyond, np.inf).min(axis=0)
    least = low.sum(axis=0)
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.maximum.reduceat(np.abs(beyond - step * np.rint(beyond / step)), start[:-1], axis=0).sum(axis=0)
        rounding = len(low) * np.finfo(np.float64).eps * (np.abs(low).sum(axis=0) + beyond.max(axis=0) * len(low))
        stepped = np.isfinite(step) & (off + rounding <= OFF * step)
        there = least + step * (np.ceil((goal - least) / step - 2 * OFF) - 2 * OFF)
    return np.where(stepped, np.maximum(goal, there), goal)
