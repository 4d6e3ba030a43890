"""Compiled: choices that would lift the bound too far are taken away (reduced costs)."""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import inlined, kernel
from butfor.solvers.oblique.polytope.columns import KEPT_POINT, NARROWING_ROUNDING
from butfor.solvers.oblique.polytope.dual import cheapest_option, floors, pull_of
from butfor.solvers.oblique.polytope.one_column import (
    cheapest_move,
    least_on_grid,
    number_at,
    point_above,
    point_below,
)


@kernel
def narrow(spaces, columns, box, lam, pull, limit):  # type: ignore[no-untyped-def]
    """Take away the grid points and options that would lift the bound to `limit`.

    Each is judged by itself, at the multipliers `lam`.
    """
    total = 0.0
    for i in range(len(lam)):
        total += lam[i] * spaces.need[i]
    pull_of(spaces.B, lam, pull)
    slack = limit - floors(columns, box, pull)[1] - total
    slack += NARROWING_ROUNDING * (1.0 + abs(limit))
    if not slack < np.inf:
        return
    for j in range(len(columns.up)):
        number = number_at(columns, box, j)
        if number.step > 0.0 and number.low != number.high:
            box.low[j], box.high[j] = _narrowed(number, pull[j], slack)
    for k in range(len(columns.group) - 1):
        least = cheapest_option(columns, box, k, pull)
        for v in range(columns.group[k], columns.group[k + 1]):
            if box.alive[v] and box.price[v] - pull[len(columns.up) + v] > least + slack:
                box.alive[v] = False


# `inline`: a private step that is used once is compiled with its caller, which takes less time.
@inlined
def _narrowed(number, pull, slack):  # type: ignore[no-untyped-def]
    """The ends of the grid points within `slack` of the least price less pull."""
    up, down, square, low, high = number.up, number.down, number.square, number.low, number.high
    most = least_on_grid(number, cheapest_move(number, pull, 2.0 * square), pull) + slack
    last, front = _last(up, down, square, pull, most), -_last(down, up, square, -pull, most)
    if last < high:
        high = max(point_below(number, last, KEPT_POINT), low)
    if front > low:
        low = min(point_above(number, front, KEPT_POINT), high)
    return low, high


@kernel
def _last(up, down, square, pull, most):  # type: ignore[no-untyped-def]
    """The largest d whose price less pull is at most `most`; there is one."""
    if most >= 0.0:
        slope = up - pull
        if square > 0.0:
            return (np.sqrt(slope * slope + 4.0 * square * most) - slope) / (2.0 * square)
        return most / slope if slope > 0.0 else np.inf
    slope = down + pull  # only below 0
    if square > 0.0:
        return (slope + np.sqrt(max(slope * slope + 4.0 * square * most, 0.0))) / (2.0 * square)
    return -most / slope if slope < 0.0 else np.inf
