"""Compiled: whole columns that miss the half-spaces are mended, greedily."""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import inlined, kernel
from butfor.solvers.oblique.polytope.columns import LEAST_CHARGE, SAVED, HalfSpaces
from butfor.solvers.oblique.polytope.dual import price_of_point
from butfor.solvers.oblique.polytope.one_column import next_value, number_at, price_of_move
from butfor.solvers.oblique.polytope.whole import keeps

REPAIRS_PER_HALF_SPACE, FURTHER_REPAIRS, SAVING_ROUNDS = 2, 8, 3
"""At most so many repairs, and rounds over all columns that look for a cheaper value."""


@kernel
def mend(spaces, lift, columns, box, x):  # type: ignore[no-untyped-def]
    """Mend the whole columns in `x`; returns their cost, infinity if that failed.

    First the change that unmakes the most violation for its price is made, until there is none. Then each column in
    turn takes the cheapest value that the others leave it. The point keeps `lift` more than `need`.
    """
    B = spaces.B
    m = len(B)
    need, total = np.empty(m), np.zeros(m)
    for i in range(m):
        need[i] = spaces.need[i] + lift
        for j in range(len(x)):
            total[i] += B[i, j] * x[j]
    lifted = HalfSpaces(B, need)
    for _ in range(REPAIRS_PER_HALF_SPACE * m + FURTHER_REPAIRS):
        short = 0.0
        for i in range(m):
            short += max(need[i] - total[i], 0.0)
        if short <= 0.0:
            break
        worth, at, to = _best_number(lifted, columns, box, x, total, short)
        worth_of_option, option = _best_option(lifted, columns, box, x, total, short)
        if worth_of_option > worth:
            worth, at, to = worth_of_option, option, 1.0
        if worth <= 0.0:
            return np.inf
        _move(B, columns, x, total, at, to)
    for _ in range(SAVING_ROUNDS):
        moved = _save_on_numbers(lifted, columns, box, x, total)
        switched = _save_on_options(lifted, columns, box, x, total)
        if not (moved or switched):
            break
    return price_of_point(columns, box, x) if keeps(lifted, x) else np.inf


# `inline`: a private step that is used once is compiled with its caller, which takes less time.
@inlined
def _best_number(spaces, columns, box, x, total, short):  # type: ignore[no-untyped-def]
    """The move of a number that unmakes the most violation for its price.

    Returns its worth (0: there is none), the column and the value.
    """
    B, need = spaces.B, spaces.need
    best, at, to = 0.0, len(x), 0.0
    for j in range(len(columns.up)):
        number = number_at(columns, box, j)
        for i in range(len(B)):
            if need[i] <= total[i] or B[i, j] == 0.0:
                continue
            value = next_value(number, x[j] + (need[i] - total[i]) / B[i, j], B[i, j] > 0.0)
            if value == x[j]:
                continue
            left = 0.0
            for k in range(len(B)):
                left += max(need[k] - total[k] - B[k, j] * (value - x[j]), 0.0)
            dearer = price_of_move(number, value) - price_of_move(number, x[j])
            worth = (short - left) / (max(dearer, 0.0) + LEAST_CHARGE)
            if worth > best:
                best, at, to = worth, j, value
    return best, at, to


@inlined
def _best_option(spaces, columns, box, x, total, short):  # type: ignore[no-untyped-def]
    """The option that unmakes the most violation for its price.

    Returns its worth (0: there is none) and the column.
    """
    B, need = spaces.B, spaces.need
    numbers = len(columns.up)
    best, at = 0.0, len(x)
    for g in range(len(columns.group) - 1):
        own = _chosen(columns, g, x)
        for v in range(columns.group[g], columns.group[g + 1]):
            if v == own or not np.isfinite(box.price[v]):
                continue
            left = 0.0
            for k in range(len(B)):
                left += max(need[k] - total[k] - B[k, numbers + v] + B[k, numbers + own], 0.0)
            worth = (short - left) / (max(box.price[v] - box.price[own], 0.0) + LEAST_CHARGE)
            if worth > best:
                best, at = worth, numbers + v
    return best, at


@inlined
def _save_on_numbers(spaces, columns, box, x, total):  # type: ignore[no-untyped-def]
    """Move each number to the cheapest value that the others leave it.

    Returns whether one was moved.
    """
    B, need = spaces.B, spaces.need
    better = False
    for j in range(len(columns.up)):
        number = number_at(columns, box, j)
        floor, ceiling = number.low, number.high
        for i in range(len(B)):
            if B[i, j] != 0.0:
                value = x[j] + (need[i] - total[i]) / B[i, j]
                if B[i, j] > 0.0:
                    floor = max(floor, value)
                else:
                    ceiling = min(ceiling, value)
        value = min(max(0.0, floor), ceiling)
        value = next_value(number, value, value > 0.0)
        cheaper = price_of_move(number, value) < price_of_move(number, x[j]) - SAVED
        if floor <= value <= ceiling and cheaper:
            _move(B, columns, x, total, j, value)
            better = True
    return better


@inlined
def _save_on_options(spaces, columns, box, x, total):  # type: ignore[no-untyped-def]
    """Take the cheapest option of each group that the others leave it.

    Returns whether one was switched.
    """
    B, need = spaces.B, spaces.need
    numbers = len(columns.up)
    better = False
    for g in range(len(columns.group) - 1):
        own = _chosen(columns, g, x)
        best, to = box.price[own], own
        for v in range(columns.group[g], columns.group[g + 1]):
            if box.price[v] < best - SAVED:
                fine = True
                for i in range(len(B)):
                    fine = fine and total[i] + B[i, numbers + v] - B[i, numbers + own] >= need[i]
                if fine:
                    best, to = box.price[v], v
        if to != own:
            _move(B, columns, x, total, numbers + to, 1.0)
            better = True
    return better


@kernel
def _chosen(columns, g, x):  # type: ignore[no-untyped-def]
    """The option that a group has taken."""
    numbers = len(columns.up)
    for v in range(columns.group[g], columns.group[g + 1]):
        if x[numbers + v] == 1.0:
            return v
    return columns.group[g]


@kernel
def _move(B, columns, x, total, at, to):  # type: ignore[no-untyped-def]
    """Set a number, or take an option instead of its group's."""
    numbers = len(columns.up)
    for i in range(len(B)):
        total[i] += B[i, at] * (to - x[at])
    x[at] = to
    if at < numbers:
        return
    for g in range(len(columns.group) - 1):
        begin, end = numbers + columns.group[g], numbers + columns.group[g + 1]
        if begin <= at < end:
            for v in range(begin, end):
                if v != at and x[v] == 1.0:
                    for i in range(len(B)):
                        total[i] -= B[i, v]
                    x[v] = 0.0
