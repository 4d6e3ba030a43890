"""The least of a quadratic form and of piecewise linear prices over a box of changes: where tangents of the form are best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray

FORM_ROUNDS, FORM_SWEEPS = 200, 4
"""So often one change after the other is moved to its best place, and so many sweeps before all that are free move together."""


class Slopes(NamedTuple):
    """What a unit of each change costs, up and down, between which ends it lies."""

    up: FloatArray
    down: FloatArray
    low: FloatArray
    high: FloatArray


def least_changes(q: FloatArray, slopes: Slopes, start: FloatArray) -> FloatArray:
    """The changes d at which d' Q d + up d (down d, below 0) is least.

    One after the other is moved to its best place. Those that end neither at 0 nor at an end are then moved together, to where
    all derivatives are 0.
    """
    d, bend = np.clip(start, slopes.low, slopes.high), np.diag(q)
    for _ in range(FORM_ROUNDS):
        before = d.copy()
        for _ in range(FORM_SWEEPS):
            for j in range(len(d)):
                d[j] = _best(float(q[j] @ d - bend[j] * d[j]), float(bend[j]), slopes, j)
        free = np.flatnonzero((d != 0) & (d > slopes.low) & (d < slopes.high))
        if len(free):
            rate = np.where(d > 0, slopes.up, slopes.down)[free]
            others = q[free] @ np.where(np.isin(np.arange(len(d)), free), 0.0, d)
            moved = np.linalg.lstsq(q[np.ix_(free, free)], -rate / 2 - others, rcond=None)[0]
            inside = (moved >= slopes.low[free]) & (moved <= slopes.high[free]) & (np.sign(moved) == np.sign(d[free]))
            if inside.all():
                d[free] = moved
        if np.abs(d - before).max(initial=0.0) <= 1e-13 * np.abs(d).max(initial=0.0):
            break
    return d


def _best(others: float, bend: float, slopes: Slopes, j: int) -> float:
    """Where one change is best: bend d^2 + 2 others d + its price is convex, so from 0 on downhill."""
    low, high = float(slopes.low[j]), float(slopes.high[j])
    at = min(max(0.0, low), high)
    for rate, end in ((float(slopes.up[j]), high), (float(slopes.down[j]), low)):
        rise = 2 * others + 2 * bend * at + rate
        if (end - at) * rise < 0:
            best = -(rate + 2 * others) / (2 * bend) if bend > 0 else end
            return min(max(best, min(at, end)), max(at, end))
    return at
