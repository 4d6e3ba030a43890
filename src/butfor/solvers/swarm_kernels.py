"""Compiled: one step of all particles, and from their coordinates to admissible points. Both are pure."""

from __future__ import annotations

import numba
import numpy as np

NUMBER, RANK, GROUP = 0, 1, 2
"""How a feature stands in the hypercube: one coordinate in ranges, one in ranks, or one a level."""

FREE, STAY, MISSING, SINGLE = 1, 2, 4, 8
"""What a feature of a row may do: move, stay, go missing; and whether its numbers are of single precision."""


@numba.njit(cache=True, nogil=True)
def move(X, V, own, lead, mean, lower, upper, weights, r1, r2, r3):  # type: ignore[no-untyped-def]
    """Positions and velocities after one step.

    V <- c0 V + c1 r1 (own - X) + c2 r2 (lead - X) + c3 r3 (X - mean), X <- X + V; a particle that meets a wall stays there,
    at rest. `own` are the particles' best positions, `lead` (n, groups, D) those that they follow, particle q the one of
    group q mod groups, and `mean` that of the best-performing ones, from which X diverges.
    """
    rows, particles, size = X.shape
    groups = lead.shape[1]
    c0, c1, c2, c3 = weights
    X2, V2 = np.empty_like(X), np.empty_like(V)
    for n in range(rows):
        for q in range(particles):
            g = q % groups
            apart = c3 * r3[q]
            for i in range(size):
                x = X[n, q, i]
                v = c0 * V[n, q, i] + c1 * r1[q, i] * (own[n, q, i] - x) + c2 * r2[q, i] * (lead[n, g, i] - x)
                v += apart * (x - mean[n, i])
                x += v
                if x < lower[n, i]:
                    x, v = lower[n, i], 0.0
                elif x > upper[n, i]:
                    x, v = upper[n, i], 0.0
                X2[n, q, i], V2[n, q, i] = x, v
    return X2, V2


@numba.njit(cache=True, nogil=True)
def take_over(which, new, old):  # type: ignore[no-untyped-def]
    """Replace rows of one table by those of another, in place."""
    for q in range(len(which)):
        if which[q]:
            for i in range(old.shape[1]):
                old[q, i] = new[q, i]


@numba.njit(cache=True, nogil=True)
def decode(X, row, first, kind, vanish, place, plan, flag, allowed, most, start, width, least, greatest, special):  # type: ignore[no-untyped-def]
    """The admissible vertex nearest to each position; where more than `most` features moved, the farthest of them do.

    All features are taken for plain numbers between `least` and `greatest` first, then those that are none, `special`, are
    looked at one by one: `plan[n, j]` holds the factual value, start, low, high, width, step and anchor of such a feature,
    `flag[n, j]` what it may do.
    """
    features = len(kind)
    out = np.empty((len(X), features))
    for q in range(len(X)):
        n = row[q]
        for j in range(features):
            out[q, j] = min(max(start[n, j] + X[q, first[j]] * width[j], least[n, j]), greatest[n, j])
        for j in special:
            x0 = plan[n, j, 0]
            value = x0
            if flag[n, j] & FREE:
                i = first[j]
                if kind[j] == NUMBER:
                    nowhere = plan[n, j, 2] > plan[n, j, 3] and not flag[n, j] & STAY
                    if vanish[j] >= 0 and flag[n, j] & MISSING and (nowhere or X[q, vanish[j]] >= 0.5):
                        value = np.nan
                    else:
                        value = _number(X[q, i], plan, flag, n, j)
                elif kind[j] == RANK:
                    value = _rank(plan[n, j, 1] + X[q, i] * plan[n, j, 4], x0, allowed, n, place[j], place[j + 1])
                else:
                    value = _level(X, q, i, x0, allowed, n, place[j], place[j + 1], vanish[j] - i)
            out[q, j] = value
        if most < features:
            _keep_most(out[q], kind, plan[n], flag[n], most)
    return out


@numba.njit(cache=True, nogil=True)
def _number(u, plan, flag, n, j):  # type: ignore[no-untyped-def]
    x0, low, high, step = plan[n, j, 0], plan[n, j, 2], plan[n, j, 3], plan[n, j, 5]
    aim = plan[n, j, 1] + u * plan[n, j, 4]
    if low > high:
        return x0
    value = aim
    if step > 0.0:
        value = plan[n, j, 6] + np.rint((aim - plan[n, j, 6]) / step) * step
    elif flag[n, j] & SINGLE:
        value = np.float64(np.float32(aim))
    if value < low:
        value = low
    elif value > high:
        value = high
    if flag[n, j] & STAY and abs(aim - x0) <= abs(aim - value):
        return x0
    return value


@numba.njit(cache=True, nogil=True)
def _rank(aim, x0, allowed, n, begin, end):  # type: ignore[no-untyped-def]
    best = x0 if allowed[n, begin + int(x0)] else -1.0
    for k in range(end - begin):
        if allowed[n, begin + k] and (best < 0.0 or abs(aim - k) < abs(aim - best)):
            best = float(k)
    return best


@numba.njit(cache=True, nogil=True)
def _level(X, q, i, x0, allowed, n, begin, end, lost):  # type: ignore[no-untyped-def]
    """The allowed level of the largest coordinate, the nearest vertex of a group. `lost` is "missing", if not negative."""
    best = lost if x0 != x0 else int(x0)
    if not allowed[n, begin + best]:
        best = -1
    for k in range(end - begin):
        if allowed[n, begin + k] and (best < 0 or X[q, i + k] > X[q, i + best]):
            best = k
    return np.nan if best == lost else float(best)


@numba.njit(cache=True, nogil=True)
def _keep_most(point, kind, plan, flag, most):  # type: ignore[no-untyped-def]
    """Take the smallest moves back until at most so many are left; those that must be made stay."""
    moved = 0
    far = np.zeros(len(point))
    for j in range(len(point)):
        value, x0 = point[j], plan[j, 0]
        if value != x0 and (value == value or x0 == x0):
            moved += 1
            far[j] = 1.0 if kind[j] == GROUP or value != value or x0 != x0 else abs(value - x0) / plan[j, 4]
            if not flag[j] & STAY:
                far[j] = np.inf
    while moved > most:
        nearest = -1
        for j in range(len(point)):
            if 0.0 < far[j] < np.inf and (nearest < 0 or far[j] < far[nearest]):
                nearest = j
        if nearest < 0:
            break
        point[nearest], far[nearest] = plan[nearest, 0], 0.0
        moved -= 1


@numba.njit(cache=True, nogil=True)
def add_prices(points, row, factuals, l0, l1, l2, missing, place, side, table):  # type: ignore[no-untyped-def]
    """The prices of points, a sum over features: `Prices.total` where nothing but rates and tables is in it.

    The prices between the levels of feature j stand in `table` from `place[j]` on, `side[j]` a row ("missing" last); a number
    has side 0.
    """
    out = np.zeros(len(points))
    for q in range(len(points)):
        total = 0.0
        for j in range(points.shape[1]):
            before, after = factuals[row[q], j], points[q, j]
            if before == after:
                continue
            if side[j]:
                last = side[j] - 1
                a = last if before != before else int(before)
                b = last if after != after else int(after)
                total += table[place[j] + a * side[j] + b]
            elif before == before and after == after:
                gap = abs(after - before)
                total += l0[j] + l1[j] * gap + l2[j] * gap * gap
            elif before == before or after == after:
                total += missing[j]
        out[q] = total
    return out
