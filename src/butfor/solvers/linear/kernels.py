"""Compiled loops of the exact linear solver."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.compiled.kernel import kernel, part

FAINT = 1e-4
"""What is left of a sum of rates is added up anew if it is less than this share of what it was."""


def rise(
    need: FloatArray, cap: FloatArray, start: FloatArray, rate: FloatArray, order: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What each feature gains at the lowest level where the gains sum to `need`, that level, and what it proves.

    If no level is enough, each feature gains all of its cap. A gain g of feature j is worth start g + g^2 / (2 rate). At each
    level, right or not, `level (need - sum of gains) + sum of worths` is a lower bound of the worths of all gains that
    sum to `need` (weak duality). So the third result needs no trust in the first.

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
    gains, levels, proven = _rise(need, cap, start, rate, order, ends, last)
    return gains, levels, proven


@kernel
def _rise(need, cap, start, rate, order, ends, last):  # type: ignore[no-untyped-def]
    """As `rise`. Sorting is left to numpy, because it takes numba a second to compile.

    - `ends` (rows, features): the level at which the feature has gained its cap; infinite if it gains it at once;
    - `last` (rows, features): the order that sorts `ends`.
    """
    n, d = cap.shape
    out, levels, proven = np.zeros((n, d)), np.zeros(n), np.zeros(n)
    begun, ended = np.zeros(d, dtype=np.bool_), np.zeros(d, dtype=np.bool_)
    for row in range(n):
        want = need[row]
        if want <= 0:
            continue
        begun[:], ended[:] = False, False
        count = 0
        for j in range(d):
            if cap[row, j] > 0 and 0 < rate[j] < np.inf:
                count += 1
        level, current, speed, summed, a, b = 0.0, 0.0, 0.0, 0.0, 0, 0
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
            if finish < begin:
                j = last[row, b]
                ended[j] = True
                b += 1
                speed -= rate[j]
                # a small rate does not survive that a large one is taken away: then they are added up anew
                if speed < FAINT * summed:
                    current, speed = 0.0, 0.0
                    for j in range(d):
                        if ended[j] or (begun[j] and rate[j] == np.inf):
                            current += cap[row, j]
                        elif begun[j]:
                            current += rate[j] * (level - start[j])
                            speed += rate[j]
                    summed = speed
                if b == count and a == d:
                    break
                continue
            j = order[a]
            a += 1
            begun[j] = True
            if rate[j] < np.inf:
                speed += rate[j]
                summed = max(summed, speed)
            elif current + cap[row, j] >= want:
                out[row, j] = want - current
                break
            else:
                current += cap[row, j]
                out[row, j] = cap[row, j]
        for j in range(d):
            if cap[row, j] > 0 and 0 < rate[j] < np.inf and level > start[j]:
                out[row, j] = min(cap[row, j], rate[j] * (level - start[j]))
        levels[row], proven[row] = level, _proven(out[row], want, start, rate, level)
        _settle(out[row], cap[row], want, start, rate, level)
    return out, levels, proven


@kernel
def rise_at_once(need, cap, rate):  # type: ignore[no-untyped-def]
    """As `rise`, if every feature begins at level 0 with a finite rate. There are no events to sort.

    The sum of the gains is concave in the level, so a few Newton steps from below reach the level (Michelot, "A finite
    algorithm for finding the projection of a point onto the canonical simplex", 1986).
    """
    n, d = cap.shape
    out, levels, proven = np.zeros((n, d)), np.zeros(n), np.zeros(n)
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
        levels[row], proven[row] = level, _proven(out[row], want, start, rate, level)
        _settle(out[row], cap[row], want, start, rate, level)
    return out, levels, proven


@part
def _proven(gains, want, start, rate, level):  # type: ignore[no-untyped-def]
    """What a level proves, by the gains that are best at it."""
    worth, total = 0.0, 0.0
    for j in range(len(gains)):
        gain = gains[j]
        if gain > 0:
            total += gain
            worth += gain * (start[j] + gain / (2 * rate[j]))
    return worth + level * (want - total)


@part
def _settle(out, cap, want, start, rate, level):  # type: ignore[no-untyped-def]
    """Make the gains sum to `want` to the last digit.

    What rounding of the level left over, or took too much, is made good by the features that the level moves most.
    """
    d = len(out)
    settled = np.zeros(d, dtype=np.bool_)
    for full in range(2):  # a feature that went as far as it can stays there, unless the sum is clearly too large
        for _ in range(d):
            total = 0.0
            for i in range(d):
                total += out[i]
            if total == want or (full and total - want <= 4 * d * 2.3e-16 * want):
                return
            chosen = -1
            for j in range(d):
                if settled[j] or cap[j] <= 0 or start[j] > level or (chosen >= 0 and rate[j] <= rate[chosen]):
                    continue
                if out[j] > 0 if full else (out[j] < cap[j] and (total < want or out[j] > 0)):
                    chosen = j
            if chosen < 0:
                break
            settled[chosen] = True
            rest = 0.0
            for i in range(d):
                if i != chosen:
                    rest += out[i]
            out[chosen] = min(cap[chosen], max(0.0, want - rest))


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
