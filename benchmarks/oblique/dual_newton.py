"""A plain Newton method on the dual of a separable problem: at most 20 unknowns, however many columns there are.

The dual of  min sum_j l1_j|d_j| + l2_j d_j^2,  down <= d <= up,  A d >= b  is the concave, piecewise quadratic
q(lam) = lam'b + sum_j min_d (l1_j|d| + l2_j d^2 - (A'lam)_j d)  over lam >= 0: every column minimises for itself, in closed
form. Its Hessian is -A_F diag(1 / 2 l2_F) A_F' over the columns F strictly between the corners of their cost.
"""

from __future__ import annotations

import numba
import numpy as np

SOLVED, EMPTY, GAVE_UP = 0, 1, 2


@numba.njit(cache=True, nogil=True)
def _choose(s, l1, l2, down, up, d):  # type: ignore[no-untyped-def]
    """Each column's best move at the prices `s`."""
    for j in range(s.size):
        if s[j] > l1[j]:
            d[j] = min((s[j] - l1[j]) / (2 * l2[j]), up[j])
        elif s[j] < -l1[j]:
            d[j] = max((s[j] + l1[j]) / (2 * l2[j]), down[j])
        else:
            d[j] = 0.0


@numba.njit(cache=True, nogil=True)
def _slope(t, s, p, gain, l1, l2, down, up):  # type: ignore[no-untyped-def]
    """The dual's first two derivatives at `t` along a direction whose prices are `p`."""
    first, second = gain, 0.0
    for j in range(s.size):
        price = s[j] + t * p[j]
        if price > l1[j]:
            move = (price - l1[j]) / (2 * l2[j])
            if move >= up[j]:
                move = up[j]
            else:
                second -= p[j] * p[j] / (2 * l2[j])
        elif price < -l1[j]:
            move = (price + l1[j]) / (2 * l2[j])
            if move <= down[j]:
                move = down[j]
            else:
                second -= p[j] * p[j] / (2 * l2[j])
        else:
            continue
        first -= p[j] * move
    return first, second


@numba.njit(cache=True, nogil=True)
def _step(s, p, gain, most, l1, l2, down, up):  # type: ignore[no-untyped-def]
    """The step to the maximum along a direction (at most `most`): safeguarded Newton on a falling, broken line."""
    low, high, t = 0.0, most, min(1.0, most)
    small = 1e-13 * abs(_slope(0.0, s, p, gain, l1, l2, down, up)[0])
    for _ in range(100):
        first, second = _slope(t, s, p, gain, l1, l2, down, up)
        if abs(first) <= small or (t == most and first > 0):
            return t
        if first > 0:
            low = t
        else:
            high = t
        guess = t - first / second if second < 0 else np.inf
        if not low < guess < high:
            guess = 0.5 * (low + high) if high < np.inf else 8 * t
            if first > 0 and high == most and most < np.inf and second == 0:
                guess = most
        if guess == t or high - low <= 1e-16 * low:
            return t
        t = guess
    return t


@numba.njit(cache=True, nogil=True)
def _impossible(mix, prices, r, down, up):  # type: ignore[no-untyped-def]
    """Farkas: no point of the box fulfils this mix of the rows (which a mix of multipliers is)."""
    reach = 0.0
    for j in range(prices.size):
        reach += max(prices[j] * down[j], prices[j] * up[j])
    return np.dot(mix, r) - reach > 1e-9 * np.sum(mix)


@numba.njit(cache=True, nogil=True)
def _direction(H, g, lam, free):  # type: ignore[no-untyped-def]
    """Newton's direction over the free multipliers; one at zero that would fall is fixed, and the rest solved anew."""
    m = g.size
    delta = np.zeros(m)
    while True:
        chosen = np.nonzero(free)[0]
        k = chosen.size
        delta[:] = 0.0
        if k == 0:
            return delta
        small = np.empty((k, k))
        right = np.empty(k)
        for a in range(k):
            right[a] = g[chosen[a]]
            for c in range(k):
                small[a, c] = H[chosen[a], chosen[c]]
        size = np.trace(small) / k
        for a in range(k):
            small[a, a] += 1e-9 * size if size > 0 else 1.0
        found = np.linalg.solve(small, right)
        blocked = False
        for a in range(k):
            if lam[chosen[a]] == 0.0 and found[a] < 0:
                free[chosen[a]] = False
                blocked = True
        if not blocked:
            for a in range(k):
                delta[chosen[a]] = found[a]
            return delta


@numba.njit(cache=True, nogil=True)
def solve(l1, l2, down, up, A, b, tolerance=1e-10, limit=500):  # type: ignore[no-untyped-def]
    """State, move, multipliers (of the rows scaled to length one) and the number of iterations."""
    m, n = A.shape
    W = np.empty((n, m))  # the rows scaled to length one, a column of the problem in a row of memory
    r = np.empty(m)
    for i in range(m):
        length = np.sqrt(np.sum(A[i] * A[i]))
        W[:, i] = A[i] / length
        r[i] = b[i] / length
    lam, s, d = np.zeros(m), np.zeros(n), np.zeros(n)
    H = np.empty((m, m))
    for iteration in range(limit):
        _choose(s, l1, l2, down, up, d)
        g = r - np.dot(d, W)
        price = 0.0
        for j in range(n):
            price += l1[j] * abs(d[j]) + l2[j] * d[j] * d[j]
        if np.max(g) <= tolerance and -np.dot(lam, g) <= tolerance * price:
            return SOLVED, d, lam, iteration
        H[:] = 0.0
        for j in range(n):
            if abs(s[j]) > l1[j] and down[j] < d[j] < up[j]:
                scale = 1 / (2 * l2[j])
                for i in range(m):
                    weight = scale * W[j, i]
                    if weight != 0.0:
                        for k in range(i + 1):
                            H[i, k] += weight * W[j, k]
        for i in range(m):
            for k in range(i):
                H[k, i] = H[i, k]
        delta = _direction(H, g, lam, (lam > 0) | (g > 0))
        p = np.dot(W, delta)
        gain = np.dot(delta, r)
        if _impossible(lam, s, r, down, up):
            return EMPTY, d, lam, iteration
        most, hit = np.inf, -1
        for i in range(m):
            if delta[i] < 0 and -lam[i] / delta[i] < most:
                most, hit = -lam[i] / delta[i], i
        if hit < 0 and _impossible(delta, p, r, down, up):
            return EMPTY, d, delta, iteration
        t = _step(s, p, gain, most, l1, l2, down, up)
        lam = np.maximum(0.0, lam + t * delta)
        if t == most:
            lam[hit] = 0.0
        s = np.dot(W, lam)
    return GAVE_UP, d, lam, limit
