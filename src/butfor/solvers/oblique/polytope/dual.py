"""Compiled: the dual: the answers of the columns to multipliers, and their bound.

q(lam) = lam' need + sum_j min_{x_j} (c_j(x_j) - (B' lam)_j x_j) has one multiplier per half-space. It is a proven bound
at every lam >= 0. Prices that are not strictly convex are made so by a proximal term.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray
from butfor.compiled.kernel import inlined, kernel
from butfor.solvers.oblique.polytope.one_column import cheapest_move, curve_of, least_on_grid, number_at, price_of_move


class ProximalTerm(NamedTuple):
    """rho / 2 (x - centre)^2 on every column whose price has no curvature."""

    rho: float
    centre: FloatArray


@kernel
def pull_of(B, lam, pull):  # type: ignore[no-untyped-def]
    """B' lam: what the multipliers pay for each column."""
    for j in range(len(pull)):
        pull[j] = 0.0
    for i in range(len(lam)):
        if lam[i] != 0.0:
            for j in range(len(pull)):
                pull[j] += lam[i] * B[i, j]


# `inline`: called at every look along a line, where a call counts references as long as it works.
@inlined
def respond(columns, box, term, pull, x):  # type: ignore[no-untyped-def]
    """Each column's cheapest answer `x` to the pull, proximal term included."""
    numbers = len(columns.up)
    for j in range(numbers):
        number = number_at(columns, box, j)
        rho = term.rho if number.square == 0.0 else 0.0
        x[j] = cheapest_move(number, pull[j] + rho * term.centre[j], curve_of(number, rho))
    for k in range(len(columns.group) - 1):
        begin, end = numbers + columns.group[k], numbers + columns.group[k + 1]
        level, count = _water_level(begin, end, numbers, box, term, pull, x)
        for v in range(begin, end):
            x[v] = max(x[v] - level, 0.0) if count and box.alive[v - numbers] else 0.0


@inlined
def _water_level(begin, end, numbers, box, term, pull, x):  # type: ignore[no-untyped-def]
    """Projection of the options alive on the simplex (Michelot).

    Writes the point to be projected into `x`. Returns what to take off, and from how many options.
    """
    count, total = 0, 0.0
    for v in range(begin, end):
        if box.alive[v - numbers]:
            x[v] = term.centre[v] + (pull[v] - box.price[v - numbers]) / term.rho
            total += x[v]
            count += 1
    level = (total - 1.0) / max(count, 1)
    while True:
        left, total = 0, 0.0
        for v in range(begin, end):
            if box.alive[v - numbers] and x[v] > level:
                left += 1
                total += x[v]
        if left >= count or left == 0:  # it may only shrink: with ties, rounding would let it go to and fro
            return level, count
        count, level = left, (total - 1.0) / left


@kernel
def floors(columns, box, pull):  # type: ignore[no-untyped-def]
    """The least of price less pull, relaxed and exact, each a sum over columns.

    Relaxed: over intervals and mixtures of options. Exact, which is larger: over grid points and single options.
    """
    numbers = len(columns.up)
    relaxed, exact = 0.0, 0.0
    for j in range(numbers):
        number = number_at(columns, box, j)
        d = cheapest_move(number, pull[j], 2.0 * number.square)
        least = price_of_move(number, d) - pull[j] * d
        relaxed += least
        exact += least_on_grid(number, d, pull[j]) if number.step > 0.0 else least
    for k in range(len(columns.group) - 1):
        least = cheapest_option(columns, box, k, pull)
        relaxed += least
        exact += least
    return relaxed, exact


@kernel
def cheapest_option(columns, box, k, pull):  # type: ignore[no-untyped-def]
    """The least price less pull over the options alive of group k."""
    least = np.inf
    for v in range(columns.group[k], columns.group[k + 1]):
        if box.alive[v]:
            least = min(least, box.price[v] - pull[len(columns.up) + v])
    return least


@kernel
def price_of_point(columns, box, x):  # type: ignore[no-untyped-def]
    """The price of a point; a mixture of options costs the mixture of prices."""
    numbers = len(columns.up)
    total = 0.0
    for j in range(numbers):
        total += price_of_move(number_at(columns, box, j), x[j])
    for v in range(len(box.price)):
        if x[numbers + v] > 0.0:
            total += box.price[v] * x[numbers + v]
    return total
