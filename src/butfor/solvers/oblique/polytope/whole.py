"""Compiled: the grid points and options next to a point, and what is undecided."""

from __future__ import annotations

from butfor.compiled.kernel import kernel
from butfor.solvers.oblique.polytope.columns import HALF_SPACE_ROUNDING
from butfor.solvers.oblique.polytope.one_column import is_open, nearest_point, number_at


@kernel
def keeps(spaces, x):  # type: ignore[no-untyped-def]
    """Whether a point lies in the half-spaces, rounding aside."""
    B, need = spaces.B, spaces.need
    for i in range(len(B)):
        total, size = 0.0, 1.0
        for j in range(len(x)):
            part = B[i, j] * x[j]
            total += part
            size += abs(part)
        if total < need[i] - HALF_SPACE_ROUNDING * size:
            return False
    return True


@kernel
def nearest_whole(columns, box, x, out):  # type: ignore[no-untyped-def]
    """The grid points and options nearest to `x`, into `out`; real numbers stay.

    Returns how far the farthest is, in steps, and its column: of a group, the largest option.
    """
    numbers = len(columns.up)
    farthest, which = 0.0, -1
    for j in range(numbers):
        out[j] = x[j]
        number = number_at(columns, box, j)
        if number.step > 0.0:
            out[j] = nearest_point(number, x[j])
            away = abs(out[j] - x[j]) / number.step
            if away > farthest and is_open(number):
                farthest, which = away, j
    for g in range(len(columns.group) - 1):
        top, count = _largest_option(columns, box, g, x)
        for v in range(numbers + columns.group[g], numbers + columns.group[g + 1]):
            out[v] = 0.0
        if top >= 0:
            out[top] = 1.0
            if count > 1 and 1.0 - x[top] > farthest:
                farthest, which = 1.0 - x[top], top
    return farthest, which


@kernel
def undecided(columns, box, x):  # type: ignore[no-untyped-def]
    """A column with another choice left, of a group its largest option, or -1."""
    for g in range(len(columns.group) - 1):
        top, count = _largest_option(columns, box, g, x)
        if count > 1:
            return top
    for j in range(len(columns.up)):
        if is_open(number_at(columns, box, j)):
            return j
    return -1


@kernel
def _largest_option(columns, box, g, x):  # type: ignore[no-untyped-def]
    """The column of the largest option alive, and how many of the group are.

    The column is -1 if none is.
    """
    numbers = len(columns.up)
    top, best, count = -1, -1.0, 0
    for v in range(columns.group[g], columns.group[g + 1]):
        count += box.alive[v]
        if box.alive[v] and x[numbers + v] > best:
            top, best = numbers + v, x[numbers + v]
    return top, count
