"""Compiled loops of the exact linear solver."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.compiled.kernel import kernel, part


def rise(need: FloatArray, cap: FloatArray, start: FloatArray, rate: FloatArray, order: IntArray) -> FloatArray:
    """The score that each feature gains, at the lowest level where the gains sum to `need`.

    If no level is enough, each feature gains all of its cap.

    - `need` (rows): the score that is needed;
    - `cap` (rows, features): the most that each feature can gain;
    - `start` (features): the level at which the feature begins to gain;
    - `rate` (features): its gain per level above `start`; infinite: all of its cap at once;
    - `order` (features): the order that sorts `start`.
    """
    gradual = (rate > 0) & np.isfinite(rate)
    ends = np.full(cap.shape, np.inf)
    np.divide(cap, rate, out=ends, where=gradual & (cap > 0))
    ends += np.where(gradual, start, 0.0)
    last = np.argsort(ends, axis=1, kind="stable") if gradual.any() else np.zeros(cap.shape, dtype=np.intp)
    out: FloatArray = _rise(need, cap, start, rate, order, ends, last)
    return out


@kernel
def _rise(need, cap, start, rate, order, ends, last):  # type: ignore[no-untyped-def]
    """As `rise`. Sorting is left to numpy, because it takes numba a second to compile.

    - `ends` (rows, features): the level at which the feature has gained its cap; infinite if it gains it at once;
    - `last` (rows, features): the order that sorts `ends`.
    """
    n, d = cap.shape
    out = np.zeros((n, d))
    for row in range(n):
        want = need[row]
        if want <= 0:
            continue
        count = 0
        for j in range(d):
            if cap[row, j] > 0 and 0 < rate[j] < np.inf:
                count += 1
        level, current, speed, a, b = 0.0, 0.0, 0.0, 0, 0
        partial = -1
        while True:
            while a < d and cap[row, order[a]] <= 0:
                a += 1
            begin = start[order[a]] if a < d else np.inf
            finish = ends[row, last[row, b]] if b < count else np.inf
            event = min(begin, finish)
            if event == np.inf or (speed > 0 and current + speed * (event - level) >= want):
                if speed > 0:
                    level += max(0.0, want - current) / speed
                break
            current += speed * (event - level)
            level = event
            if finish <= begin:
                speed = max(0.0, speed - rate[last[row, b]])
                b += 1
                if b == count and a == d:
                    break
                continue
            j = order[a]
            a += 1
            if rate[j] < np.inf:
                speed += rate[j]
            elif current + cap[row, j] >= want:
                partial = j
                out[row, j] = want - current
                break
            else:
                current += cap[row, j]
                out[row, j] = cap[row, j]
        for j in range(d):
            if cap[row, j] > 0 and 0 < rate[j] < np.inf and level > start[j]:
                out[row, j] = min(cap[row, j], rate[j] * (level - start[j]))
        _settle(out[row], cap[row], want, start, level, partial)
    return out


@kernel
def rise_at_once(need, cap, rate):  # type: ignore[no-untyped-def]
    """As `rise`, if every feature begins at level 0 with a finite rate. There are no events to sort.

    The sum of the gains is concave in the level, so a few Newton steps from below reach the level (Michelot, "A finite
    algorithm for finding the projection of a point onto the canonical simplex", 1986).
    """
    n, d = cap.shape
    out = np.zeros((n, d))
    start = np.zeros(d)
    for row in range(n):
        want, level = need[row], 0.0
        if want <= 0:
            continue
        while True:
            used, speed = 0.0, 0.0
            for j in range(d):
                if rate[j] * level < cap[row, j]:
                    speed += rate[j]
                else:
                    used += cap[row, j]
            if speed == 0:
                break
            up = (want - used) / speed
            if up <= level:
                break
            level = up
        for j in range(d):
            out[row, j] = min(cap[row, j], rate[j] * level)
        _settle(out[row], cap[row], want, start, level, -1)
    return out


@part
def _settle(out, cap, want, start, level, partial):  # type: ignore[no-untyped-def]
    """Make the gains sum to `want` to the last digit.

    The feature that moved last takes the rest that rounding left over.
    """
    d = len(out)
    for j in range(d):
        if j == partial or (partial < 0 and start[j] <= level and out[j] < cap[j]):
            rest = 0.0
            for i in range(d):
                if i != j:
                    rest += out[i]
            out[j] = min(cap[j], max(0.0, want - rest))
            return


def fewest_changes(need: FloatArray, cap: FloatArray) -> FloatArray:
    """The gains of the fewest features that together reach `need`.

    The features with the largest caps come first; the last one gains only as much as is needed.
    """
    out: FloatArray = _fewest_changes(need, cap, np.argsort(-cap, axis=1, kind="stable"))
    return out


@kernel
def _fewest_changes(need, cap, order):  # type: ignore[no-untyped-def]
    """As `fewest_changes`; `order` (rows, features) sorts the caps, the largest first."""
    n, d = cap.shape
    out = np.zeros((n, d))
    for row in range(n):
        left = need[row]
        for j in order[row]:
            if left <= 0 or cap[row, j] <= 0:
                break
            out[row, j] = min(cap[row, j], left)
            left -= cap[row, j]
    return out
