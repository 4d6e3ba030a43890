"""Compiled: one number by itself: its price, its answer to a pull, its grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from butfor.compiled.kernel import kernel
from butfor.solvers.oblique.polytope.columns import BEYOND_END, ON_POINT


class Number(NamedTuple):
    """One number column, without arrays: its entries in `Columns` and `Box`."""

    up: float
    down: float
    square: float
    step: float
    low: float
    high: float
    first: float


@kernel
def number_at(columns, box, j):  # type: ignore[no-untyped-def]
    """Number j of the columns.

    Without arrays there are no references to be counted in the innermost loops.
    """
    up, down, square, step = columns.up[j], columns.down[j], columns.square[j], columns.step[j]
    return Number(up, down, square, step, box.low[j], box.high[j], box.first[j])


@kernel
def price_of_move(number, d):  # type: ignore[no-untyped-def]
    """The price of moving by d."""
    return (number.up * d if d > 0.0 else -number.down * d) + number.square * d * d


@kernel
def cheapest_move(number, pull, curve):  # type: ignore[no-untyped-def]
    """The move that costs least once the pull has paid for it.

    `curve` is the second derivative of the price; without any, the number goes as far as it may.
    """
    if pull > number.up:
        d = (pull - number.up) / curve if curve > 0.0 else number.high
    elif pull < -number.down:
        d = (pull + number.down) / curve if curve > 0.0 else number.low
    else:
        d = 0.0
    return min(max(d, number.low), number.high)


@kernel
def curve_of(number, rho):  # type: ignore[no-untyped-def]
    """The second derivative of the price and of the proximal term.

    Only prices without curvature get a proximal term.
    """
    return 2.0 * number.square + (rho if number.square == 0.0 else 0.0)


@kernel
def is_free(number, x):  # type: ignore[no-untyped-def]
    """Whether the answer x moves with the pull.

    Neither an end nor the kink of the price at 0 holds it.
    """
    return number.low < x < number.high and x != 0.0


@kernel
def point_below(number, value, slack):  # type: ignore[no-untyped-def]
    """The last grid point that is at most `slack` steps above the value."""
    return number.first + np.floor((value - number.first) / number.step + slack) * number.step


@kernel
def point_above(number, value, slack):  # type: ignore[no-untyped-def]
    """The first grid point that is at most `slack` steps below the value."""
    return number.first + np.ceil((value - number.first) / number.step - slack) * number.step


@kernel
def _back_inside(number, point):  # type: ignore[no-untyped-def]
    """The grid point, or its neighbour where it lies beyond an end."""
    if point > number.high + BEYOND_END:
        point -= number.step
    if point < number.low - BEYOND_END:
        point += number.step
    return point


@kernel
def nearest_point(number, value):  # type: ignore[no-untyped-def]
    """The grid point nearest to a value inside; of two, the upper one."""
    return _back_inside(number, point_below(number, value, 0.5))


@kernel
def next_value(number, value, upward):  # type: ignore[no-untyped-def]
    """The value inside the interval; on a grid, the next point up or down."""
    value = min(max(value, number.low), number.high)
    if number.step > 0.0:
        point = point_above(number, value, ON_POINT) if upward else point_below(number, value, ON_POINT)
        value = _back_inside(number, point)
    return value


@kernel
def least_on_grid(number, d, pull):  # type: ignore[no-untyped-def]
    """The least price less pull over the grid.

    Over the interval it is least at d. The price is convex, so on the grid it is at one of the two points next to d.
    """
    below = point_below(number, d, ON_POINT)
    above = below if below >= d else below + number.step
    least = np.inf
    if below >= number.low - BEYOND_END:
        least = price_of_move(number, below) - pull * below
    if above <= number.high + BEYOND_END:
        least = min(least, price_of_move(number, above) - pull * above)
    return least


@kernel
def is_open(number):  # type: ignore[no-untyped-def]
    """Whether the number is on a grid and has more than one point left."""
    return number.step > 0.0 and number.high - number.low > 0.5 * number.step
