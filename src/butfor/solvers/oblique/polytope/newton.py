"""Compiled: a semismooth Newton step on the dual: curvature, direction and length."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray
from butfor.compiled.kernel import inlined, kernel
from butfor.solvers.oblique.polytope.columns import BRACKET_LEFT, PIVOT_DAMPING, SLOPE_LEFT
from butfor.solvers.oblique.polytope.dual import respond
from butfor.solvers.oblique.polytope.one_column import curve_of, is_free, number_at

LINE_SEARCHES = 60
"""Looks along one direction at most."""


class PullLine(NamedTuple):
    """The pulls `pull + t push` along a direction of the multipliers.

    `gain` is what the half-spaces pay for a unit of t; `at` and `x` are where pulls and answers are written.
    """

    pull: FloatArray
    push: FloatArray
    gain: float
    at: FloatArray
    x: FloatArray


@kernel
def curvature(B, columns, box, term, x, H):  # type: ignore[no-untyped-def]
    """The lower half of H: B_j B_j' summed over the columns that respond.

    Each counts by how much it responds to a unit of pull.
    """
    m = len(B)
    numbers = len(columns.up)
    for i in range(m):
        for k in range(i + 1):
            H[i, k] = 0.0
    for j in range(numbers):
        number = number_at(columns, box, j)
        if is_free(number, x[j]):
            weight = 1.0 / curve_of(number, term.rho)
            for i in range(m):
                scaled = weight * B[i, j]
                if scaled != 0.0:
                    for k in range(i + 1):
                        H[i, k] += scaled * B[k, j]
    for g in range(len(columns.group) - 1):
        begin, end = numbers + columns.group[g], numbers + columns.group[g + 1]
        count = 0
        for v in range(begin, end):
            count += x[v] > 0.0
        if count < 2:  # an option that is taken whole does not respond
            continue
        for i in range(m):
            for k in range(i + 1):
                both, one, other = 0.0, 0.0, 0.0
                for v in range(begin, end):
                    if x[v] > 0.0:
                        both += B[i, v] * B[k, v]
                        one += B[i, v]
                        other += B[k, v]
                H[i, k] += (both - one * other / count) / term.rho


@kernel
def direction(H, gradient, lam, free, step):  # type: ignore[no-untyped-def]
    """Newton's direction over the free multipliers.

    A multiplier at zero that would fall is held, and the others are asked again.
    """
    m = len(lam)
    L, y = np.zeros((m, m)), np.zeros(m)
    while True:
        size, count = 0.0, 0
        for i in range(m):
            if free[i]:
                size += H[i, i]
                count += 1
            step[i] = 0.0
        if not count:
            return
        _factor(H, gradient, free, PIVOT_DAMPING * size / count if size > 0.0 else 1.0, L, y)
        for i in range(m - 1, -1, -1):
            if free[i]:
                total = y[i]
                for p in range(i + 1, m):
                    total -= L[p, i] * step[p]
                step[i] = total / L[i, i]
        held = False
        for i in range(m):
            if free[i] and lam[i] == 0.0 and step[i] < 0.0:
                free[i], y[i], held = False, 0.0, True
        if not held:
            return


# `inline`: a private step that is used once is compiled with its caller, which takes less time.
@inlined
def _factor(H, gradient, free, damping, L, y):  # type: ignore[no-untyped-def]
    """Cholesky's L of H, its pivots damped, and y with L y = gradient.

    Only free multipliers are looked at.
    """
    for i in range(len(y)):
        for k in range(i + 1):
            L[i, k] = 0.0
        if not free[i]:
            continue
        for k in range(i + 1):
            if free[k]:
                total = H[i, k]
                for p in range(k):
                    total -= L[i, p] * L[k, p]
                if i == k:
                    L[i, i] = np.sqrt(max(total, 0.0) + damping)
                else:
                    L[i, k] = total / L[k, k]
        total = gradient[i]
        for p in range(i):
            total -= L[i, p] * y[p]
        y[i] = total / L[i, i]


@kernel
def _slopes(t, columns, box, term, line):  # type: ignore[no-untyped-def]
    """The first two derivatives of the dual along the line."""
    numbers = len(columns.up)
    for j in range(len(line.at)):
        line.at[j] = line.pull[j] + t * line.push[j]
    respond(columns, box, term, line.at, line.x)
    first, second = line.gain, 0.0
    for j in range(numbers):
        first -= line.push[j] * line.x[j]
        number = number_at(columns, box, j)
        if is_free(number, line.x[j]):
            second -= line.push[j] * line.push[j] / curve_of(number, term.rho)
    for g in range(len(columns.group) - 1):
        count, one, both = 0, 0.0, 0.0
        for v in range(numbers + columns.group[g], numbers + columns.group[g + 1]):
            first -= line.push[v] * line.x[v]
            if line.x[v] > 0.0:
                count += 1
                one += line.push[v]
                both += line.push[v] * line.push[v]
        if count > 1:
            second -= (both - one * one / count) / term.rho
    return first, second


@kernel
def step_length(most, columns, box, term, line):  # type: ignore[no-untyped-def]
    """The way to the dual's maximum along a line, `most` at most.

    Safeguarded Newton on the first derivative, which falls and is broken.
    """
    front, back, t = 0.0, most, min(1.0, most)
    start, _ = _slopes(0.0, columns, box, term, line)
    for _ in range(LINE_SEARCHES):
        first, second = _slopes(t, columns, box, term, line)
        if abs(first) <= SLOPE_LEFT * abs(start) or (t == most and first > 0.0):
            return t
        if first > 0.0:
            front = t
        else:
            back = t
        guess = t - first / second if second < 0.0 else np.inf
        if not front < guess < back:
            guess = 8.0 * t if back == np.inf else (back if first > 0.0 and back == most else 0.5 * (front + back))
        if guess == t or (back < np.inf and back - front <= BRACKET_LEFT * front):
            return t
        t = guess
    return t
