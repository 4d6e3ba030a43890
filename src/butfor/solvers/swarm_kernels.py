"""Compiled: one step of all particles, and from their coordinates to admissible points. Both are pure."""

from __future__ import annotations

import numba
import numpy as np

NUMBER, RANK, GROUP = 0, 1, 2
"""How a feature stands in the hypercube: one coordinate in ranges, one in ranks, or one a level."""


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
def decode(  # type: ignore[no-untyped-def]
    X,
    row,
    first,
    kind,
    vanish,
    place,
    factual,
    start,
    low,
    high,
    free,
    stay,
    missing,
    allowed,
    width,
    step,
    anchor,
    single,
    most,
):
    """The admissible vertex nearest to each position; where more than `most` features moved, the farthest of them do."""
    particles, features = len(X), len(kind)
    out = np.empty((particles, features))
    far = np.empty(features)
    for q in range(particles):
        n, moved = row[q], 0
        for j in range(features):
            x0 = factual[n, j]
            value = x0
            if free[n, j]:
                i = first[j]
                if kind[j] == NUMBER:
                    gone = vanish[j] >= 0 and missing[n, j] and X[q, vanish[j]] >= 0.5
                    value = _number(
                        X[q, i],
                        gone,
                        x0,
                        start[n, j],
                        low[n, j],
                        high[n, j],
                        stay[n, j],
                        width[j],
                        step[j],
                        anchor[j],
                        single[j],
                    )
                elif kind[j] == RANK:
                    value = _rank(start[n, j] + X[q, i] * width[j], x0, allowed[n, place[j] : place[j + 1]])
                else:
                    value = _level(X[q, i : first[j + 1]], x0, allowed[n, place[j] : place[j + 1]])
            out[q, j] = value
            far[j] = 0.0
            if value != x0 and (value == value or x0 == x0):
                moved += 1
                far[j] = 1.0 if kind[j] == GROUP or value != value or x0 != x0 else abs(value - x0) / width[j]
                if not stay[n, j]:
                    far[j] = np.inf
        while moved > most:
            nearest = -1
            for j in range(features):
                if 0.0 < far[j] < np.inf and (nearest < 0 or far[j] < far[nearest]):
                    nearest = j
            if nearest < 0:
                break
            out[q, nearest], far[nearest] = factual[n, nearest], 0.0
            moved -= 1
    return out


@numba.njit(cache=True, nogil=True, inline="always")
def _number(u, gone, x0, start, low, high, stay, width, step, anchor, single):  # type: ignore[no-untyped-def]
    if gone or low > high:
        return np.nan if gone else x0
    aim = start + u * width
    value = aim
    if step > 0.0:
        value = anchor + np.round((aim - anchor) / step) * step
    elif single:
        value = np.float64(np.float32(aim))
    value = min(max(value, low), high)
    if stay and x0 == x0 and abs(aim - x0) <= abs(aim - value):
        return x0
    return value


@numba.njit(cache=True, nogil=True, inline="always")
def _rank(aim, x0, allowed):  # type: ignore[no-untyped-def]
    best = x0 if allowed[int(x0)] else -1.0
    for k in range(len(allowed)):
        if allowed[k] and (best < 0.0 or abs(aim - k) < abs(aim - best)):
            best = float(k)
    return best


@numba.njit(cache=True, nogil=True, inline="always")
def _level(z, x0, allowed):  # type: ignore[no-untyped-def]
    """The allowed level of the largest coordinate: the vertex of a group that is nearest. The last one is "missing"."""
    last = len(allowed) - 1
    best = last if x0 != x0 else int(x0)
    if not allowed[best]:
        best = -1
    for k in range(len(allowed)):
        if allowed[k] and (best < 0 or z[k] > z[best]):
            best = k
    return np.nan if best == last else float(best)
