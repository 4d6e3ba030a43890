"""Compiled loops: rows walk down an oblique tree, and L1-regularised logistic regression."""

from __future__ import annotations

import numba
import numpy as np

NEWTON, DESCENT, HALVINGS = 50, 50, 30
"""The largest numbers of Newton steps, of passes of coordinate descent per step, and of halvings of a step."""


@numba.njit(cache=True, nogil=True)
def goes_right(X, row, start, end, index, coef, bias):  # type: ignore[no-untyped-def]
    """Whether w'x + b >= 0. The terms are added in the order of the columns, and the bias last."""
    total = 0.0
    for k in range(start, end):
        total += coef[k] * X[row, index[k]]
    return total + bias >= 0.0


@numba.njit(cache=True, nogil=True)
def descend(X, first, indptr, index, coef, bias, left, right):  # type: ignore[no-untyped-def]
    """The leaf that each row reaches from its node in `first`. -1 stays -1."""
    out = first.copy()
    for row in range(len(out)):
        node = out[row]
        if node < 0:
            continue
        while left[node] >= 0:
            ahead = goes_right(X, row, indptr[node], indptr[node + 1], index, coef, bias[node])
            node = right[node] if ahead else left[node]
        out[row] = node
    return out


@numba.njit(cache=True, nogil=True)
def sides(X, index, coef, bias):  # type: ignore[no-untyped-def]
    """Which rows go right at one decision."""
    out = np.empty(len(X), np.bool_)
    for row in range(len(X)):
        out[row] = goes_right(X, row, 0, len(index), index, coef, bias)
    return out


@numba.njit(cache=True, nogil=True)
def paths(X, depth, indptr, index, coef, bias, left, right):  # type: ignore[no-untyped-def]
    """The nodes that each row visits, from the root on. It is -1 after the leaf."""
    out = np.full((len(X), depth + 1), -1, np.intp)
    for row in range(len(X)):
        node, level = 0, 0
        out[row, 0] = 0
        while left[node] >= 0:
            ahead = goes_right(X, row, indptr[node], indptr[node + 1], index, coef, bias[node])
            node = right[node] if ahead else left[node]
            level += 1
            out[row, level] = node
    return out


@numba.njit(cache=True, nogil=True)
def _cost(f, y, c, w, alpha):  # type: ignore[no-untyped-def]
    """Weighted logistic loss plus the penalty."""
    total = 0.0
    for i in range(len(f)):
        z = -y[i] * f[i]
        total += c[i] * (max(z, 0.0) + np.log1p(np.exp(-abs(z))))
    return total + alpha * np.abs(w).sum()


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _dot(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@numba.njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _dot3(a, b, c):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i] * c[i]
    return total


@numba.njit(cache=True, nogil=True)
def _violation(slope, w, alpha):  # type: ignore[no-untyped-def]
    """How far a slope of the loss is from being balanced by the penalty."""
    if w > 0:
        return abs(slope + alpha)
    if w < 0:
        return abs(slope - alpha)
    return max(abs(slope) - alpha, 0.0)


@numba.njit(cache=True, nogil=True)
def logistic(X, y, c, alpha, w, b, tol):  # type: ignore[no-untyped-def]
    """The weights and bias that minimise sum c log(1 + exp(-y (Xw + b))) + alpha |w|_1.

    It takes proximal Newton steps from `w` and `b`. Each step is a coordinate descent over the coordinates that can
    move. It ends when no slope is off by more than `tol` times the largest slope at zero. `X` is stored by columns;
    `y` is -1 or 1.
    """
    rows, features = X.shape
    w = w.copy()
    f = np.full(rows, b)
    for j in range(features):
        if w[j] != 0:
            f += w[j] * X[:, j]
    g, h, u = np.empty(rows), np.empty(rows), np.empty(rows)
    for i in range(rows):
        g[i] = -0.5 * c[i] * y[i]
    limit = abs(g.sum())
    for j in range(features):
        limit = max(limit, abs(_dot(g, X[:, j])))
    limit *= tol
    slope, curve, step = np.zeros(features), np.zeros(features), np.zeros(features)
    cost = _cost(f, y, c, w, alpha)
    for _ in range(NEWTON):
        for i in range(rows):
            p = 1.0 / (1.0 + np.exp(-f[i]))
            g[i] = c[i] * (p - (0.5 if y[i] > 0 else -0.5) - 0.5)
            h[i] = c[i] * max(p * (1.0 - p), 1e-6)
        base, total = g.sum(), h.sum()
        worst, count = abs(base), 0
        active = np.empty(features, np.intp)
        for j in range(features):
            slope[j] = _dot(g, X[:, j])
            worst = max(worst, _violation(slope[j], w[j], alpha))
            if w[j] != 0 or abs(slope[j]) > alpha:
                active[count] = j
                count += 1
        if worst <= limit:
            break
        for k in range(count):
            j = active[k]
            curve[j] = _dot3(h, X[:, j], X[:, j]) + 1e-12
            step[j] = 0.0
        u[:] = 0.0
        shift = 0.0
        for _ in range(DESCENT):
            rest = 0.0
            move = -(base + _dot(h, u)) / total
            shift += move
            u += move
            rest = max(rest, abs(move) * total)
            for k in range(count):
                j = active[k]
                x = X[:, j]
                old = w[j] + step[j]
                z = old - (slope[j] + _dot3(h, u, x)) / curve[j]
                edge = alpha / curve[j]
                new = z - edge if z > edge else (z + edge if z < -edge else 0.0)
                move = new - old
                if move != 0:
                    step[j] += move
                    for i in range(rows):
                        u[i] += move * x[i]
                    rest = max(rest, abs(move) * curve[j])
            if rest <= max(0.1 * worst, limit) * 0.3:
                break
        promised = _dot(g, u)
        for k in range(count):
            j = active[k]
            promised += alpha * (abs(w[j] + step[j]) - abs(w[j]))
        size, better = 1.0, False
        for _ in range(HALVINGS):
            trial = w.copy()
            for k in range(count):
                trial[active[k]] += size * step[active[k]]
            again = _cost(f + size * u, y, c, trial, alpha)
            if again <= cost + 0.01 * size * promised:
                better = True
                break
            size *= 0.5
        if not better:
            break
        w, b, cost = trial, b + size * shift, again
        f += size * u
    return w, b
