"""Where planes are highest: the rates that a concave bound wants, from the planes above it at some rates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import optimize

from butfor.arrays import FloatArray

HIGHEST_BOUND = 4.0
"""A bound above so many times the claim is as good as this one. If no row of a box reaches the goals, there is no best one."""

LEAST_RATE = 2.0**-60
"""A rate below this share of the largest one is 0."""

NEAR_THE_PLANES = 1e-12
"""Rates are the best if their bound misses what the planes allow by less than this share of the claim."""

TAKES_PART = 1e-7
"""A row belongs to the best mixture if its share is at least this."""


class HighestPoint(NamedTuple):
    """Where planes are highest.

    rates: where; hoped: how high, in claims; share: how much of each plane the best mixture of planes has
    """

    rates: FloatArray
    hoped: float
    share: FloatArray


def highest(start: FloatArray, slope: FloatArray, shares: int = 0) -> HighestPoint | None:
    """Where planes are highest over rates of at least 0; None if the linear program has no answer.

    start (planes), slope (planes, rates): what they are, in claims, where all rates are 0, and how they rise
    shares: so many of the rates, the last ones, add up to at most 1
    """
    if slope.shape[1] == 1 and not shares:
        return _highest_of_lines(start, slope[:, 0])
    unit = 1.0 / np.maximum(np.abs(slope).max(axis=0), 1e-300)
    unit[len(unit) - shares :] = 1.0
    rising = np.column_stack([-slope * unit, np.ones(len(start))])
    if shares:
        whole = np.append(np.arange(len(unit)) >= len(unit) - shares, 0.0)
        rising, start = np.vstack([rising, whole]), np.append(start, 1.0)
    ends = [(0.0, None)] * len(unit) + [(None, HIGHEST_BOUND)]
    cost = [0.0] * len(unit) + [-1.0]
    found: Any = optimize.linprog(cost, A_ub=rising, b_ub=start, bounds=ends, method="highs")
    if found.x is None:
        return None
    rates = np.maximum(found.x[:-1], 0.0) * unit
    rates = np.where(rates > rates.max() * LEAST_RATE, rates, 0.0)
    return HighestPoint(rates, float(found.x[-1]), -np.asarray(found.ineqlin.marginals)[: len(slope)])


def _highest_of_lines(start: FloatArray, slope: FloatArray) -> HighestPoint:
    """The same of one rate: where the lowest of some lines is highest, a line that rises meets one that does not."""
    up = np.flatnonzero(slope > 0)
    starts, slopes = np.append(start, HIGHEST_BOUND), np.append(slope, 0.0)
    down = np.flatnonzero(slopes <= 0)
    meet = (starts[down][None] - start[up][:, None]) / (slope[up][:, None] - slopes[down][None])
    rates = np.append(0.0, meet[meet > 0])
    lowest = (starts[:, None] + slopes[:, None] * rates).min(axis=0)
    best = int(np.argmax(lowest))
    rate, hoped = float(rates[best]), float(lowest[best])
    share, each = np.zeros(len(starts)), starts + slopes * rate
    falls = down[np.argmin(each[down])]
    if rate == 0:
        share[int(np.argmin(each))] = 1.0
    else:
        rises = up[np.argmin(each[up])]
        share[falls] = slopes[rises] / (slopes[rises] - slopes[falls])
        share[rises] = 1.0 - share[falls]
    return HighestPoint(np.array([rate]), hoped, share[:-1])
