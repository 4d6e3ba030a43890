"""Compiled loops: move particles by one step, and turn coordinates into admissible points."""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import kernel, part
from butfor.model.grid_points import COUNTABLE
from butfor.solvers.swarm.layout import (
    ANCHOR,
    FACTUAL,
    FREE,
    GROUP,
    HIGH,
    LOW,
    MISSING,
    NUMBER,
    RANK,
    SINGLE,
    START,
    STAY,
    STEP,
    WIDTH,
)

ROWS_DECODED_TOGETHER = 64
"""How many positions are decoded together."""


@kernel
def move(X, V, own, lead, mean, lower, upper, weights, r1, r2, r3):  # type: ignore[no-untyped-def]
    """Positions and velocities after one step.

    V <- c0 V + c1 r1 (own - X) + c2 r2 (lead - X) + c3 r3 (X - mean), X <- X + V. A particle that meets a wall stops
    there.

    - `X`, `V` (n, particles, D): positions and velocities;
    - `own` (n, particles, D): the best position of each particle;
    - `lead` (n, groups, D): the positions that particles follow; particle q follows that of group q mod groups;
    - `mean` (n, D): the mean of the best particles' positions, from which X diverges;
    - `lower`, `upper` (n, D): the walls;
    - `weights`: c0, c1, c2, c3;
    - `r1`, `r2` (particles, D), `r3` (particles): random numbers.
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


@kernel
def take_over(which, new, old):  # type: ignore[no-untyped-def]
    """Copy the rows `which` of the table `new` into the table `old`, in place."""
    for q in range(len(which)):
        if which[q]:
            for i in range(old.shape[1]):
                old[q, i] = new[q, i]


@kernel
def decode(X, row, layout, plan, most):  # type: ignore[no-untyped-def]
    """The admissible point nearest to each position. At most `most` features change: those that moved farthest.

    First all features are decoded as plain numbers between `least` and `greatest`. Then the features that are not plain
    numbers (`special`) are decoded one by one.

    - `X` (positions, D): the positions;
    - `row` (positions): the row that each one is a change of.
    """
    kind, first = layout.kind, layout.first
    start, width, least, greatest = plan.start, plan.width, plan.least, plan.greatest
    features = len(kind)
    out = np.empty((len(X), features))
    for begin in range(0, len(X), ROWS_DECODED_TOGETHER):  # feature by feature, for as many rows as fit into the cache
        end = min(begin + ROWS_DECODED_TOGETHER, len(X))
        for q in range(begin, end):
            n = row[q]
            for j in range(features):
                out[q, j] = min(max(start[n, j] + X[q, first[j]] * width[j], least[n, j]), greatest[n, j])
        for j in plan.special:
            if kind[j] == NUMBER:
                _numbers(out, X, row, begin, end, j, layout, plan.table, plan.flag)
            elif kind[j] == RANK:
                _ranks(out, X, row, begin, end, j, layout, plan.table, plan.flag)
            else:
                _levels(out, X, row, begin, end, j, layout, plan.table, plan.flag)
    if most < features:
        for q in range(len(X)):
            _keep_most(out[q], kind, plan.table[row[q]], plan.flag[row[q]], most)
    return out


@part
def _numbers(out, X, row, begin, end, j, layout, table, flag):  # type: ignore[no-untyped-def]
    """Decode a number: the nearest one on the grid and within the bounds.

    It is the factual value if that is nearer, or missing if the position says so.
    """
    i, vanish = layout.first[j], layout.vanish[j]
    for q in range(begin, end):
        n = row[q]
        x0, low, high, step, anchor = (
            table[n, j, FACTUAL],
            table[n, j, LOW],
            table[n, j, HIGH],
            table[n, j, STEP],
            table[n, j, ANCHOR],
        )
        may = flag[n, j]
        nowhere = low > high
        if not may & FREE:
            out[q, j] = x0
            continue
        if vanish >= 0 and may & MISSING and ((nowhere and not may & STAY) or X[q, vanish] >= 0.5):
            out[q, j] = np.nan
            continue
        aim = table[n, j, START] + X[q, i] * table[n, j, WIDTH]
        value = aim
        if step > 0.0:
            k = np.rint((aim - anchor) / step)
            counted = layout.digits[j, 0] + layout.digits[j, 1] * k
            value = counted / layout.digits[j, 2] if abs(counted) < COUNTABLE else anchor + k * step
        elif may & SINGLE:
            value = np.float64(np.float32(aim))
        value = min(max(value, low), high)
        home = nowhere | (((may & STAY) != 0) & (abs(aim - x0) <= abs(aim - value)))
        out[q, j] = x0 if home else value


@part
def _ranks(out, X, row, begin, end, j, layout, table, flag):  # type: ignore[no-untyped-def]
    """Decode a rank: the nearest allowed one."""
    i, allowed, place, stop = layout.first[j], layout.allowed, layout.place[j], layout.place[j + 1]
    for q in range(begin, end):
        n = row[q]
        x0 = table[n, j, FACTUAL]
        best = x0
        if flag[n, j] & FREE:
            aim = table[n, j, START] + X[q, i] * table[n, j, WIDTH]
            if not allowed[n, place + int(x0)]:
                best = -1.0
            for k in range(stop - place):
                if allowed[n, place + k] and (best < 0.0 or abs(aim - k) < abs(aim - best)):
                    best = float(k)
        out[q, j] = best


@part
def _levels(out, X, row, begin, end, j, layout, table, flag):  # type: ignore[no-untyped-def]
    """Decode a category: the allowed level with the largest coordinate.

    The last coordinate is "missing", if the feature may be missing.
    """
    i, allowed, place, stop = layout.first[j], layout.allowed, layout.place[j], layout.place[j + 1]
    lost = layout.vanish[j] - i
    for q in range(begin, end):
        n = row[q]
        x0 = table[n, j, FACTUAL]
        best = lost if x0 != x0 else int(x0)
        if flag[n, j] & FREE:
            most = X[q, i + best] if allowed[n, place + best] else -np.inf
            for k in range(stop - place):  # without branches, because the processor cannot predict which level wins
                x = X[q, i + k] if allowed[n, place + k] else -np.inf
                best += (k - best) * (x > most)
                most = max(x, most)
        out[q, j] = np.nan if best == lost else float(best)


@part
def _keep_most(point, kind, table, flag, most):  # type: ignore[no-untyped-def]
    """Take back the smallest moves until at most `most` are left. Moves that are forced stay."""
    moved = 0
    far = np.zeros(len(point))
    for j in range(len(point)):
        value, x0 = point[j], table[j, FACTUAL]
        if value != x0 and (value == value or x0 == x0):
            moved += 1
            far[j] = 1.0 if kind[j] == GROUP or value != value or x0 != x0 else abs(value - x0) / table[j, WIDTH]
            if not flag[j] & STAY:
                far[j] = np.inf
    while moved > most:
        nearest = -1
        for j in range(len(point)):
            if 0.0 < far[j] < np.inf and (nearest < 0 or far[j] < far[nearest]):
                nearest = j
        if nearest < 0:
            break
        point[nearest], far[nearest] = table[nearest, FACTUAL], 0.0
        moved -= 1


@kernel
def add_prices(points, row, factuals, prices):  # type: ignore[no-untyped-def]
    """The prices of points as sums over features. It equals `Prices.total` for costs of rates and tables only.

    - `points` (points, features), `row` (points): the points, and the rows that they are changes of;
    """
    l0, l1, l2, missing = prices.l0, prices.l1, prices.l2, prices.missing
    place, side, table = prices.place, prices.side, prices.table
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
                total += missing[1 if before != before else 0, j]
        out[q] = total
    return out


@kernel
def uniform_pair(seed, rows, columns):  # type: ignore[no-untyped-def]
    """Two tables of random numbers in [0, 1), with 24 bits each.

    They are made by SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    """
    first = np.empty((rows, columns), dtype=np.float32)
    second = np.empty((rows, columns), dtype=np.float32)
    unit = np.float32(2.0**-24)
    state = np.uint64(seed)
    for q in range(rows):
        for i in range(columns):
            state += np.uint64(0x9E3779B97F4A7C15)
            z = state
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z = z ^ (z >> np.uint64(31))
            first[q, i] = np.int32(z >> np.uint64(40)) * unit
            second[q, i] = np.int32(z & np.uint64(0xFFFFFF)) * unit
    return first, second
