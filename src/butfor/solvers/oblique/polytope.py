"""Compiled: the cheapest points of polytopes with few half-spaces, the price a sum over columns.

minimise sum_j c_j(x_j) subject to B x >= need, each column in a set of its own: an interval, a grid, or one option of a group.
The dual q(lambda) = lambda' need + sum_j min_{x_j} (c_j(x_j) - (B' lambda)_j x_j) has one multiplier a half-space and is
a proven bound at every lambda >= 0. It is raised by projected semismooth Newton steps, prices that are not strictly convex
being made so by a proximal term that is moved along (Rockafellar, Mathematics of Operations Research 1, 1976); what then
is no grid point or a mixture of options is branched on.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from butfor.arrays import FloatArray, IntArray

RAISE = 1e-9
"""Half-spaces (of unit norm) are met with this to spare wherever real columns leave room for it."""

EXACT = 3e-10
"""How far the Newton steps may leave a half-space unmet: less than `RAISE`."""

TIE = 1e-13
"""The share by which a sum of whole columns may miss its half-space: rounding."""

CLOSE = 1e-7
"""A relaxation is solved when point and bound are this close, relative to 1 + cost."""

SPARE = 4e-7
"""The share of the best cost that a branch must promise to save: less is not looked for."""

WHOLE = 1e-7
"""How near a column must be to a grid point, or an option to 1, to be taken for it."""

LARGE = 1e9
"""Multipliers of this size (prices are at most 1, half-spaces of unit norm) run away: rounding decides the leaf."""

STEPS, SEARCHES, CENTRES = 100, 60, 40
"""At most so many Newton steps a centre, looks along a step, centres a relaxation."""


class Columns(NamedTuple):
    """What all rows share. FloatArray come first: rates up and down, curvature, grid (0: real), in units of their range.

    Then options: those of group g are `group[g]:group[g + 1]`, counted from the first option.
    """

    up: FloatArray
    down: FloatArray
    square: FloatArray
    step: FloatArray
    group: IntArray


@numba.njit(cache=True, nogil=True)
def pull_of(B, lam, pull):  # type: ignore[no-untyped-def]
    """B' lam: what the multipliers pay for each column."""
    pull[:] = 0.0
    for i in range(len(lam)):
        if lam[i] != 0.0:
            for j in range(len(pull)):
                pull[j] += lam[i] * B[i, j]


@numba.njit(cache=True, nogil=True)
def respond(columns, low, high, price, alive, rho, centre, pull, x):  # type: ignore[no-untyped-def]
    """Each column's cheapest answer `x` to the multipliers, proximal term included."""
    numbers = len(columns.up)
    for j in range(numbers):
        up, down, square = columns.up[j], columns.down[j], columns.square[j]
        r = rho if square == 0.0 else 0.0
        g, curve = pull[j] + r * centre[j], 2.0 * square + r
        if g > up:
            d = (g - up) / curve
        elif g < -down:
            d = (g + down) / curve
        else:
            d = 0.0
        x[j] = min(max(d, low[j]), high[j])
    for k in range(len(columns.group) - 1):
        begin, end = numbers + columns.group[k], numbers + columns.group[k + 1]
        level, count = _water_level(begin, end, numbers, price, alive, rho, centre, pull, x)
        for v in range(begin, end):
            x[v] = max(x[v] - level, 0.0) if count and alive[v - numbers] else 0.0


@numba.njit(cache=True, nogil=True)
def _water_level(begin, end, numbers, price, alive, rho, centre, pull, x):  # type: ignore[no-untyped-def]
    """Projection on the simplex of the options alive (Michelot): points into `x`; what to take off, and from how many."""
    count, total = 0, 0.0
    for v in range(begin, end):
        if alive[v - numbers]:
            x[v] = centre[v] + (pull[v] - price[v - numbers]) / rho
            total += x[v]
            count += 1
    level = (total - 1.0) / max(count, 1)
    while True:
        left, total = 0, 0.0
        for v in range(begin, end):
            if alive[v - numbers] and x[v] > level:
                left += 1
                total += x[v]
        if left >= count or left == 0:  # it may only shrink: with ties, rounding would let it go to and fro
            return level, count
        count, level = left, (total - 1.0) / left


@numba.njit(cache=True, nogil=True)
def floors(columns, low, high, first, price, alive, pull):  # type: ignore[no-untyped-def]
    """sum_j min (c_j(x_j) - pull_j x_j): over intervals and mixtures, and (larger) over grid points and single options."""
    numbers = len(columns.up)
    relaxed, exact = 0.0, 0.0
    for j in range(numbers):
        up, down, square, g = columns.up[j], columns.down[j], columns.square[j], pull[j]
        if g > up:
            d = (g - up) / (2.0 * square) if square > 0.0 else high[j]
        elif g < -down:
            d = (g + down) / (2.0 * square) if square > 0.0 else low[j]
        else:
            d = 0.0
        d = min(max(d, low[j]), high[j])
        at = _charge(columns, j, d) - g * d
        relaxed += at
        if columns.step[j] > 0.0:
            k = np.floor((d - first[j]) / columns.step[j] + 1e-9)
            below = first[j] + k * columns.step[j]
            above = below if below >= d else below + columns.step[j]
            at = np.inf
            if below >= low[j] - 1e-12:
                at = _charge(columns, j, below) - g * below
            if above <= high[j] + 1e-12:
                at = min(at, _charge(columns, j, above) - g * above)
        exact += at
    for k in range(len(columns.group) - 1):
        best = np.inf
        for v in range(columns.group[k], columns.group[k + 1]):
            if alive[v]:
                best = min(best, price[v] - pull[numbers + v])
        relaxed += best
        exact += best
    return relaxed, exact


@numba.njit(cache=True, nogil=True)
def _charge(columns, j, d):  # type: ignore[no-untyped-def]
    """The price of moving number j by d."""
    return (columns.up[j] * d if d > 0.0 else -columns.down[j] * d) + columns.square[j] * d * d


@numba.njit(cache=True, nogil=True)
def charge(columns, price, x):  # type: ignore[no-untyped-def]
    """The price of a point (of a mixture of options: the mixture of their prices)."""
    numbers = len(columns.up)
    total = 0.0
    for j in range(numbers):
        total += _charge(columns, j, x[j])
    for v in range(len(price)):
        if x[numbers + v] > 0.0:
            total += price[v] * x[numbers + v]
    return total


@numba.njit(cache=True, nogil=True)
def _curvature(B, columns, low, high, alive, rho, x, H):  # type: ignore[no-untyped-def]
    """H = sum over the columns that respond of B_j B_j' times how much they do."""
    m = len(B)
    numbers = len(columns.up)
    H[:] = 0.0
    for j in range(numbers):
        if low[j] < x[j] < high[j] and x[j] != 0.0:
            weight = 1.0 / (2.0 * columns.square[j] + (rho if columns.square[j] == 0.0 else 0.0))
            for i in range(m):
                scaled = weight * B[i, j]
                if scaled != 0.0:
                    for k in range(i + 1):
                        H[i, k] += scaled * B[k, j]
    for g in range(len(columns.group) - 1):
        count = 0
        for v in range(numbers + columns.group[g], numbers + columns.group[g + 1]):
            count += x[v] > 0.0
        if count < 2:
            continue
        for i in range(m):
            for k in range(i + 1):
                both, one, other = 0.0, 0.0, 0.0
                for v in range(numbers + columns.group[g], numbers + columns.group[g + 1]):
                    if x[v] > 0.0:
                        both += B[i, v] * B[k, v]
                        one += B[i, v]
                        other += B[k, v]
                H[i, k] += (both - one * other / count) / rho
    return H


@numba.njit(cache=True, nogil=True)
def _direction(H, gradient, lam, free, step):  # type: ignore[no-untyped-def]
    """Newton's direction over the free multipliers; one at zero that would fall is held, and the others are asked again."""
    m = len(lam)
    L, y = np.zeros((m, m)), np.zeros(m)
    while True:
        size, count = 0.0, 0
        for i in range(m):
            if free[i]:
                size += H[i, i]
                count += 1
        step[:] = 0.0
        if not count:
            return
        damping = 1e-9 * size / count if size > 0.0 else 1.0
        L[:] = 0.0
        for i in range(m):
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


@numba.njit(cache=True, nogil=True)
def _slope(t, columns, low, high, price, alive, rho, centre, pull, push, gain, at, x):  # type: ignore[no-untyped-def]
    """The first two derivatives of the dual at `pull + t push`."""
    numbers = len(columns.up)
    for j in range(len(at)):
        at[j] = pull[j] + t * push[j]
    respond(columns, low, high, price, alive, rho, centre, at, x)
    first, second = gain, 0.0
    for j in range(numbers):
        first -= push[j] * x[j]
        if low[j] < x[j] < high[j] and x[j] != 0.0:
            second -= push[j] * push[j] / (2.0 * columns.square[j] + (rho if columns.square[j] == 0.0 else 0.0))
    for g in range(len(columns.group) - 1):
        count, one, both = 0, 0.0, 0.0
        for v in range(numbers + columns.group[g], numbers + columns.group[g + 1]):
            first -= push[v] * x[v]
            if x[v] > 0.0:
                count += 1
                one += push[v]
                both += push[v] * push[v]
        if count > 1:
            second -= (both - one * one / count) / rho
    return first, second


@numba.njit(cache=True, nogil=True)
def _step_length(most, columns, low, high, price, alive, rho, centre, pull, push, gain, at, x):  # type: ignore[no-untyped-def]
    """The way to the dual's maximum along a direction, `most` at most: safeguarded Newton on a falling, broken line."""
    front, back, t = 0.0, most, min(1.0, most)
    start, _ = _slope(0.0, columns, low, high, price, alive, rho, centre, pull, push, gain, at, x)
    for _ in range(SEARCHES):
        first, second = _slope(t, columns, low, high, price, alive, rho, centre, pull, push, gain, at, x)
        if abs(first) <= 1e-13 * abs(start) or (t == most and first > 0.0):
            return t
        if first > 0.0:
            front = t
        else:
            back = t
        guess = t - first / second if second < 0.0 else np.inf
        if not front < guess < back:
            guess = 8.0 * t if back == np.inf else (back if first > 0.0 and back == most else 0.5 * (front + back))
        if guess == t or (back < np.inf and back - front <= 1e-16 * front):
            return t
        t = guess
    return t


@numba.njit(cache=True, nogil=True)
def _impossible(columns, low, high, alive, mix, push, need):  # type: ignore[no-untyped-def]
    """Whether no point of the box meets this mix of the half-spaces (Farkas)."""
    numbers = len(columns.up)
    lack, size = 0.0, 0.0
    for i in range(len(mix)):
        lack += mix[i] * need[i]
        size += mix[i] * (1.0 + abs(need[i]))
    for j in range(numbers):
        lack -= push[j] * (high[j] if push[j] > 0.0 else low[j])
    for k in range(len(columns.group) - 1):
        top = -np.inf
        for v in range(columns.group[k], columns.group[k + 1]):
            if alive[v]:
                top = max(top, push[numbers + v])
        lack -= top
    return lack > 1e-10 * size


@numba.njit(cache=True, nogil=True)
def relax(B, need, lift, columns, low, high, first, price, alive, proximal, lam, x, cut):  # type: ignore[no-untyped-def]
    """Raise the bound from `lam` on; returns it, and whether `x` now is the cheapest point of the relaxation.

    The point keeps `lift` more than `need`; the bound is of `need` itself, grids and options taken as they are: infinite,
    if nothing meets it. Stops as soon as the bound reaches `cut`.
    """
    m, n = B.shape
    pull, push, at, trial, centre = np.empty(n), np.empty(n), np.empty(n), np.empty(n), x.copy()
    gradient, step, H, free = np.empty(m), np.empty(m), np.empty((m, m)), np.empty(m, dtype=np.bool_)
    rho = 0.1 if proximal else 0.0
    best = -np.inf
    pull_of(B, lam, pull)
    for _ in range(CENTRES):
        settled = False
        for _ in range(STEPS):
            respond(columns, low, high, price, alive, rho, centre, pull, x)
            relaxed, exact = floors(columns, low, high, first, price, alive, pull)
            total, worst = 0.0, 0.0
            for i in range(m):
                total += lam[i] * need[i]
                gradient[i] = need[i] + lift
                for j in range(n):
                    gradient[i] -= B[i, j] * x[j]
                worst = max(worst, abs(gradient[i]) if lam[i] > 0.0 else gradient[i])
                free[i] = lam[i] > 0.0 or gradient[i] > 0.0
            best = max(best, exact + total)
            if best >= cut:
                return best, False
            if worst <= EXACT:
                settled = True
                break
            if not lam.max() < LARGE:
                lam[:] = 0.0
                return best, False
            if _impossible(columns, low, high, alive, lam, pull, need):
                return np.inf, False
            _curvature(B, columns, low, high, alive, rho, x, H)
            _direction(H, gradient, lam, free, step)
            pull_of(B, step, push)
            gain, most, hit = 0.0, np.inf, -1
            for i in range(m):
                gain += step[i] * (need[i] + lift)
                if step[i] < 0.0 and -lam[i] / step[i] < most:
                    most, hit = -lam[i] / step[i], i
            if hit < 0 and _impossible(columns, low, high, alive, step, push, need):
                return np.inf, False
            t = _step_length(most, columns, low, high, price, alive, rho, centre, pull, push, gain, at, trial)
            for i in range(m):
                lam[i] = max(lam[i] + t * step[i], 0.0)
            if hit >= 0 and t == most:
                lam[hit] = 0.0
            pull_of(B, lam, pull)
        if not settled:
            return best, False
        if not proximal:
            return best, True
        cost = charge(columns, price, x)
        if cost - relaxed - total <= CLOSE * (1.0 + cost) + 2.0 * lift * lam.sum():
            return best, True
        _put(centre, x)
        rho = max(0.2 * rho, 1e-5)
    return best, False


@numba.njit(cache=True, nogil=True)
def out_of_reach(B, need, columns, low, high, alive):  # type: ignore[no-untyped-def]
    """Whether some half-space lies beyond the reach of all columns together."""
    numbers = len(columns.up)
    for i in range(len(B)):
        reach, size = 0.0, 1.0
        for j in range(numbers):
            part = B[i, j] * (high[j] if B[i, j] > 0.0 else low[j])
            reach += part
            size += abs(part)
        for k in range(len(columns.group) - 1):
            top = -np.inf
            for v in range(columns.group[k], columns.group[k + 1]):
                if alive[v]:
                    top = max(top, B[i, numbers + v])
            reach += top
            size += abs(top)
        if reach < need[i] - TIE * size:
            return True
    return False


@numba.njit(cache=True, nogil=True)
def _narrow(B, need, columns, low, high, first, price, alive, lam, pull, limit):  # type: ignore[no-untyped-def]
    """Take away the grid points and options that would lift the bound at these multipliers to `limit`, one by one."""
    numbers = len(columns.up)
    total = 0.0
    for i in range(len(lam)):
        total += lam[i] * need[i]
    pull_of(B, lam, pull)
    slack = limit - floors(columns, low, high, first, price, alive, pull)[1] - total
    slack += 1e-9 * (1.0 + abs(limit))
    if not slack < np.inf:
        return
    for j in range(numbers):
        step = columns.step[j]
        if step == 0.0 or low[j] == high[j]:
            continue
        up, down, square, g = columns.up[j], columns.down[j], columns.square[j], pull[j]
        least = np.inf
        d = (g - up) / (2.0 * square) if square > 0.0 else high[j]
        d = d if g > up else ((g + down) / (2.0 * square) if square > 0.0 else low[j]) if g < -down else 0.0
        k = np.floor((min(max(d, low[j]), high[j]) - first[j]) / step + 1e-9)
        for turn in range(2):
            at = first[j] + (k + turn) * step
            if low[j] - 1e-12 <= at <= high[j] + 1e-12:
                least = min(least, _charge(columns, j, at) - g * at)
        last, front = _last(up, down, square, g, least + slack), -_last(down, up, square, -g, least + slack)
        if last < high[j]:
            high[j] = max(first[j] + step * np.floor((last - first[j]) / step + 1e-6), low[j])
        if front > low[j]:
            low[j] = min(first[j] + step * np.ceil((front - first[j]) / step - 1e-6), high[j])
    for k in range(len(columns.group) - 1):
        least = np.inf
        for v in range(columns.group[k], columns.group[k + 1]):
            if alive[v]:
                least = min(least, price[v] - pull[numbers + v])
        for v in range(columns.group[k], columns.group[k + 1]):
            if alive[v] and price[v] - pull[numbers + v] > least + slack:
                alive[v] = False


@numba.njit(cache=True, nogil=True)
def _last(up, down, square, g, most):  # type: ignore[no-untyped-def]
    """The largest d whose price minus g d is at most `most` (some d's is)."""
    if most >= 0.0:
        slope = up - g
        if square > 0.0:
            return (np.sqrt(slope * slope + 4.0 * square * most) - slope) / (2.0 * square)
        return most / slope if slope > 0.0 else np.inf
    slope = down + g  # only below 0
    if square > 0.0:
        return (slope + np.sqrt(max(slope * slope + 4.0 * square * most, 0.0))) / (2.0 * square)
    return -most / slope if slope < 0.0 else np.inf


@numba.njit(cache=True, nogil=True)
def _keeps(B, need, x):  # type: ignore[no-untyped-def]
    """Whether a point lies in the polytope, rounding aside."""
    for i in range(len(B)):
        total, size = 0.0, 1.0
        for j in range(len(x)):
            part = B[i, j] * x[j]
            total += part
            size += abs(part)
        if total < need[i] - TIE * size:
            return False
    return True


@numba.njit(cache=True, nogil=True)
def _rounded(columns, low, high, first, alive, x, out):  # type: ignore[no-untyped-def]
    """The grid points and options nearest to `x`; how far the farthest is, and its column (a group: its largest option)."""
    numbers = len(columns.up)
    farthest, which = 0.0, -1
    for j in range(numbers):
        out[j] = x[j]
        if columns.step[j] > 0.0:
            k = np.floor((x[j] - first[j]) / columns.step[j] + 0.5)
            at = first[j] + k * columns.step[j]
            if at < low[j] - 1e-12:
                at += columns.step[j]
            elif at > high[j] + 1e-12:
                at -= columns.step[j]
            out[j] = at
            away = abs(at - x[j]) / columns.step[j]
            if away > farthest and high[j] - low[j] > 0.5 * columns.step[j]:
                farthest, which = away, j
    for g in range(len(columns.group) - 1):
        top, best, count = -1, -1.0, 0
        for v in range(numbers + columns.group[g], numbers + columns.group[g + 1]):
            out[v] = 0.0
            count += alive[v - numbers]
            if alive[v - numbers] and x[v] > best:
                top, best = v, x[v]
        if top >= 0:
            out[top] = 1.0
            if count > 1 and 1.0 - best > farthest:
                farthest, which = 1.0 - best, top
    return farthest, which


@numba.njit(cache=True, nogil=True)
def _undecided(columns, low, high, alive, x):  # type: ignore[no-untyped-def]
    """A whole number or group with more than one choice left (its largest option), or -1."""
    numbers = len(columns.up)
    for g in range(len(columns.group) - 1):
        count, top, best = 0, -1, -1.0
        for v in range(columns.group[g], columns.group[g + 1]):
            count += alive[v]
            if alive[v] and x[numbers + v] > best:
                top, best = v, x[numbers + v]
        if count > 1:
            return numbers + top
    for j in range(numbers):
        if columns.step[j] > 0.0 and high[j] - low[j] > 0.5 * columns.step[j]:
            return j
    return -1


@numba.njit(cache=True, nogil=True)
def _mend(B, need, columns, low, high, first, price, x, total):  # type: ignore[no-untyped-def]
    """From the whole columns in `x` to a point of the polytope, greedily: returns its cost, infinity if that led nowhere.

    First the change that unmakes the most violation for its price, until there is none; then each column in turn takes the
    cheapest value that the others leave it.
    """
    m, n = B.shape
    numbers = len(columns.up)
    for i in range(m):
        total[i] = 0.0
        for j in range(n):
            total[i] += B[i, j] * x[j]
    for _ in range(2 * m + 8):
        short = 0.0
        for i in range(m):
            short += max(need[i] - total[i], 0.0)
        if short <= 0.0:
            break
        best, at, to = 0.0, -1, 0.0
        for j in range(numbers):
            for i in range(m):
                if need[i] <= total[i] or B[i, j] == 0.0:
                    continue
                value = _on_grid(columns, low, high, first, j, x[j] + (need[i] - total[i]) / B[i, j], B[i, j] > 0.0)
                if value != x[j]:
                    left = 0.0
                    for k in range(m):
                        left += max(need[k] - total[k] - B[k, j] * (value - x[j]), 0.0)
                    worth = (short - left) / (max(_charge(columns, j, value) - _charge(columns, j, x[j]), 0.0) + 1e-6)
                    if worth > best:
                        best, at, to = worth, j, value
        for g in range(len(columns.group) - 1):
            own = _chosen(columns, g, x)
            for v in range(columns.group[g], columns.group[g + 1]):
                if v == own or not np.isfinite(price[v]):
                    continue
                left = 0.0
                for k in range(m):
                    left += max(need[k] - total[k] - B[k, numbers + v] + B[k, numbers + own], 0.0)
                worth = (short - left) / (max(price[v] - price[own], 0.0) + 1e-6)
                if worth > best:
                    best, at, to = worth, numbers + v, 1.0
        if at < 0:
            return np.inf
        _move(B, columns, x, total, at, to)
    for _ in range(3):
        better = False
        for j in range(numbers):
            floor, ceiling = low[j], high[j]
            for i in range(m):
                if B[i, j] != 0.0:
                    value = x[j] + (need[i] - total[i]) / B[i, j]
                    if B[i, j] > 0.0:
                        floor = max(floor, value)
                    else:
                        ceiling = min(ceiling, value)
            value = min(max(0.0, floor), ceiling)
            value = _on_grid(columns, low, high, first, j, value, value > 0.0)
            if floor <= value <= ceiling and _charge(columns, j, value) < _charge(columns, j, x[j]) - 1e-12:
                _move(B, columns, x, total, j, value)
                better = True
        for g in range(len(columns.group) - 1):
            own = _chosen(columns, g, x)
            best, at = price[own], -1
            for v in range(columns.group[g], columns.group[g + 1]):
                if price[v] < best - 1e-12:
                    fine = True
                    for i in range(m):
                        fine = fine and total[i] + B[i, numbers + v] - B[i, numbers + own] >= need[i]
                    if fine:
                        best, at = price[v], numbers + v
            if at >= 0:
                _move(B, columns, x, total, at, 1.0)
                better = True
        if not better:
            break
    return charge(columns, price, x) if _keeps(B, need, x) else np.inf


@numba.njit(cache=True, nogil=True)
def _on_grid(columns, low, high, first, j, value, upward):  # type: ignore[no-untyped-def]
    """The value within the box, on the grid where there is one (the next point up or down)."""
    value = min(max(value, low[j]), high[j])
    if columns.step[j] > 0.0:
        k = (value - first[j]) / columns.step[j]
        value = first[j] + columns.step[j] * (np.ceil(k - 1e-9) if upward else np.floor(k + 1e-9))
        if value > high[j] + 1e-12:
            value -= columns.step[j]
        if value < low[j] - 1e-12:
            value += columns.step[j]
    return value


@numba.njit(cache=True, nogil=True)
def _chosen(columns, g, x):  # type: ignore[no-untyped-def]
    """The option that a group has taken."""
    numbers = len(columns.up)
    for v in range(columns.group[g], columns.group[g + 1]):
        if x[numbers + v] == 1.0:
            return v
    return columns.group[g]


@numba.njit(cache=True, nogil=True)
def _move(B, columns, x, total, at, to):  # type: ignore[no-untyped-def]
    """Set a number, or take an option instead of its group's."""
    numbers = len(columns.up)
    for i in range(len(B)):
        total[i] += B[i, at] * (to - x[at])
    x[at] = to
    if at >= numbers:
        for g in range(len(columns.group) - 1):
            if columns.group[g] <= at - numbers < columns.group[g + 1]:
                for v in range(numbers + columns.group[g], numbers + columns.group[g + 1]):
                    if v != at and x[v] == 1.0:
                        for i in range(len(B)):
                            total[i] -= B[i, v]
                        x[v] = 0.0


@numba.njit(cache=True, nogil=True)
def cheapest(B, need, columns, low, high, first, price, lam, cut, most, point):  # type: ignore[no-untyped-def]
    """Branch and bound over one polytope: the bound, and the cost of the `point` found (infinite if none is below `cut`).

    `lam` starts the multipliers and keeps those of the root; `most` nodes are looked at. Of the open ones the likelier
    child of the last one is taken next, and where that line ends, the one with the lowest bound.
    """
    m, n = B.shape
    numbers = len(columns.up)
    real, proximal, whole = False, len(price) > 0, len(price) > 0
    for j in range(numbers):
        real = real or (columns.step[j] == 0.0 and low[j] < high[j])
        whole = whole or columns.step[j] > 0.0
        proximal = proximal or columns.square[j] == 0.0
    room = 32 if whole else 1
    boxes, lives = np.empty((room, 2, numbers)), np.empty((room, len(price)), dtype=np.bool_)
    lams, xs, floor = np.empty((room, m)), np.empty((room, n)), np.empty(room)
    floor[0] = -np.inf
    _put(lams[0], lam)
    for j in range(numbers):
        boxes[0, 0, j], boxes[0, 1, j], xs[0, j] = low[j], high[j], min(max(0.0, low[j]), high[j])
    for v in range(len(price)):
        lives[0, v], xs[0, numbers + v] = price[v] < np.inf, 0.0
    open_, nodes, best, lowest, plunging = 1, 0, np.inf, np.inf, True
    x, rounded, pull, mult, total = np.empty(n), np.empty(n), np.empty(n), np.empty(m), np.empty(m)
    lo, hi, alive = np.empty(numbers), np.empty(numbers), np.empty(len(price), dtype=np.bool_)
    lift = RAISE if real else 0.0
    while open_:
        at = open_ - 1 if plunging else np.argmin(floor[:open_])
        _put(lo, boxes[at, 0])
        _put(hi, boxes[at, 1])
        _put(alive, lives[at])
        _put(mult, lams[at])
        _put(x, xs[at])
        bound = floor[at]
        open_ -= 1
        if at < open_:
            _put(boxes[at, 0], boxes[open_, 0])
            _put(boxes[at, 1], boxes[open_, 1])
            _put(lives[at], lives[open_])
            _put(lams[at], lams[open_])
            _put(xs[at], xs[open_])
            floor[at] = floor[open_]
        plunging = False
        nodes += 1
        limit = min(cut, best * (1.0 - SPARE))
        if bound >= limit:
            lowest = min(lowest, bound)
            continue
        if out_of_reach(B, need, columns, lo, hi, alive):
            continue
        raised, solved = relax(B, need, lift, columns, lo, hi, first, price, alive, proximal, mult, x, limit)
        bound = max(bound, raised)
        if nodes == 1:
            _put(lam, mult)
        if bound >= limit:
            lowest = min(lowest, bound)
            continue
        away, which = _rounded(columns, lo, hi, first, alive, x, rounded)
        if (not real or (solved and away <= WHOLE)) and _keeps(B, need, rounded):
            cost = charge(columns, price, rounded)
            if cost < limit:
                best = cost
                _put(point, rounded)
            if solved and away <= WHOLE:
                lowest = min(lowest, bound)
                continue
        if whole:
            cost = _mend(B, need + lift, columns, low, high, first, price, rounded, total)
            if cost < min(cut, best):
                best = cost
                _put(point, rounded)
                limit = min(cut, best * (1.0 - SPARE))
            _narrow(B, need, columns, lo, hi, first, price, alive, mult, pull, limit)
        if away <= WHOLE:
            which = _undecided(columns, lo, hi, alive, x)
        if (
            which < 0
        ):  # nothing is left to decide: a single point (which is judged), or real columns that did not settle
            if real:
                lowest = min(lowest, bound)
            continue
        if nodes >= most:
            lowest = min(lowest, bound)
            continue
        if open_ + 2 > len(floor):
            boxes, lives, lams = _doubled(boxes), _doubled(lives), _doubled(lams)
            xs, floor = _doubled(xs), _doubled(floor)
        for turn in range(2):  # the likelier child comes last, to be taken first
            at = open_ + turn
            _put(boxes[at, 0], lo)
            _put(boxes[at, 1], hi)
            _put(lives[at], alive)
            _put(lams[at], mult)
            _put(xs[at], x)
            floor[at] = bound
            if which < numbers:
                step = columns.step[which]
                k = np.floor((x[which] - first[which]) / step + 1e-9)
                split = first[which] + k * step
                if split >= hi[which] - 0.5 * step:
                    split -= step
                near_below = x[which] - split <= 0.5 * step
                if (turn == 1) == near_below:
                    boxes[at, 1, which] = split
                else:
                    boxes[at, 0, which] = split + step
                xs[at, which] = min(max(x[which], boxes[at, 0, which]), boxes[at, 1, which])
            else:
                for g in range(len(columns.group) - 1):
                    begin, end = columns.group[g], columns.group[g + 1]
                    if begin <= which - numbers < end:
                        for v in range(begin, end):
                            if (v == which - numbers) != (turn == 1):
                                lives[at, v] = False
        open_ += 2
        plunging = True
    return lowest if best == np.inf else min(lowest, best), best


@numba.njit(cache=True, nogil=True)
def _put(into, values):  # type: ignore[no-untyped-def]
    """Copy a vector (slices compile ten times as long, for the errors that they may raise)."""
    for i in range(len(into)):
        into[i] = values[i]


@numba.njit(cache=True, nogil=True)
def _doubled(array):  # type: ignore[no-untyped-def]
    """The same with room for twice as many."""
    return np.concatenate((array, array))
