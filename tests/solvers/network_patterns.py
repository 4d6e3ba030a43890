"""A judge of networks: every pattern of units above and below 0 is tried, with a linear program each.

It knows L1 and L-infinity costs, counted changes, price tables and linear relations, on up to a few hundred
combinations of levels and whole numbers, and real numbers between them.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import linprog

from butfor.model.network import Network
from butfor.model.questions import evaluate
from butfor.model.scores import ScoreSet
from butfor.problem.constraints.relations import AtMost, LinearRelation
from butfor.problem.problem import Problem
from butfor.solvers.brute_force import candidates

MOST = 60
"""The largest number of combinations of finite columns that are tried."""


def supported(problem: Problem) -> bool:
    """Whether the judge takes a problem."""
    prices, real = problem.prices, reals(problem)
    if not isinstance(problem.model, Network) or prices.Q is not None or prices.calls or prices.l2[real].any():
        return False
    if (
        any(not isinstance(relation, AtMost | LinearRelation) for relation in problem.relations)
        or problem.demands.margin
    ):
        return False
    if any(score_set.curve is not None for score_set in problem.score_sets):
        return False
    return float(np.prod([len(values) for values in _finite(problem)])) <= MOST


def reals(problem: Problem) -> list[int]:
    """The columns that may take any number of an interval."""
    domain = problem.domain
    return [
        j for j, feature in enumerate(problem.space.features)
        if feature.levels is None and not domain.step[j] and domain.low[0, j] < domain.high[0, j]
    ]  # fmt: skip


def _finite(problem: Problem) -> list[list[tuple[float, int | None]]]:
    """For each column its values; a real number has its old value, "missing", and one entry per cell (the second)."""
    out, real = [], reals(problem)
    for j in range(len(problem.space)):
        if j not in real:
            out.append([(float(value), None) for value in candidates(problem, j)])
            continue
        found: list[tuple[float, int | None]] = []
        if problem.domain.stay[0, j]:
            found.append((float(problem.factuals[0, j]), None))
        if problem.domain.missing[0, j]:
            found.append((np.nan, None))
        out.append(found + [(np.nan, cell) for cell in range(problem.model.first.cells[j].count)])
    return out


def cheapest(problem: Problem, raised: float = 0.0) -> float:
    """The optimal cost, with thresholds raised by a number; infinity if there is no answer."""
    best = np.inf
    for chosen in product(*_finite(problem)):
        for score_set in problem.score_sets:
            cost = _with_values(problem, chosen, score_set, raised, best - score_set.offset)
            best = min(best, cost + score_set.offset)
    return best


def _with_values(problem: Problem, chosen, score_set: ScoreSet, raised: float, limit: float) -> float:  # type: ignore[no-untyped-def]
    x, model, prices = problem.factuals[0], problem.model, problem.prices
    point = np.array([value for value, _ in chosen])
    free = [j for j, (_, cell) in enumerate(chosen) if cell is not None]
    cells = {j: cell for j, (_, cell) in enumerate(chosen) if cell is not None}
    changed = [
        j for j in range(len(x)) if j in cells or not (point[j] == x[j] or (np.isnan(point[j]) and np.isnan(x[j])))
    ]
    if any(isinstance(one, AtMost) and len(changed) > one.count for one in problem.relations):
        return np.inf
    base, reach = 0.0, 0.0
    for j in range(len(x)):
        if j in cells:
            base += float(prices.missing[1, j]) if np.isnan(x[j]) else float(prices.l0[j])
            reach = max(reach, float(prices.linf_missing[1, j]) if np.isnan(x[j]) else 0.0)
            continue
        before, after = x[None, [j]], point[None, [j]]
        base += float(prices.separable(j, before, after)[0, 0])
        reach = max(reach, float(prices.reach(j, before, after)[0, 0]) if prices.has_linf else 0.0)
    if base >= limit:
        return np.inf
    if not free:
        inside = score_set.holds(evaluate(model, point[None]), raised)[0]
        return base + reach if inside and problem.admits(point[None])[0] else np.inf
    first = model.first
    fixed = first.intercept.copy()
    for j in range(len(x)):
        if j in cells:
            fixed += first.steps[j][:, cells[j]] - first.slope[:, j] * first.centre[j]
        else:
            fixed += first.steps[j][:, int(first.cells[j].index(point[[j]])[0])]
            fixed += 0.0 if np.isnan(point[j]) else first.slope[:, j] * (point[j] - first.centre[j])
    count = len(free)  # the variables: the numbers, their changes, the largest of these
    low, high = np.empty(count), np.empty(count)
    for at, j in enumerate(free):
        lower, upper = first.cells[j].lower()[cells[j]], first.cells[j].upper()[cells[j]]
        low[at] = max(problem.domain.low[0, j], np.nextafter(lower, np.inf) if np.isfinite(lower) else lower)
        high[at] = min(problem.domain.high[0, j], upper)
    if (low > high).any():
        return np.inf
    rows, limits = [], []
    for at, j in enumerate(free):
        for sign in (1.0, -1.0):
            if np.isnan(x[j]):
                continue
            row = np.zeros(2 * count + 1)
            row[at], row[count + at] = sign, -1.0
            rows.append(row)
            limits.append(sign * x[j])
            row = np.zeros(2 * count + 1)
            row[count + at], row[-1] = prices.linf[j], -1.0
            rows.append(row)
            limits.append(0.0)
    for relation in problem.relations:
        if isinstance(relation, LinearRelation):
            row, rest = np.zeros(2 * count + 1), 0.0
            for name, weight in relation.weights:
                j = problem.space.index(name)
                if j in cells:
                    row[free.index(j)] += weight
                else:
                    value = (
                        float(problem.space.features[j].in_numbers(point[[j]])[0])
                        if problem.space.features[j].levels is not None
                        else point[j]
                    )
                    if np.isnan(value):
                        return np.inf
                    rest += weight * value
            for sense, sign in ((">=", -1.0), ("<=", 1.0)):
                if relation.sense in (sense, "=="):
                    rows.append(sign * row)
                    limits.append(sign * (relation.bound - rest) + 1e-9)
    cost = np.concatenate([np.zeros(count), [0.0 if np.isnan(x[j]) else prices.l1[j] for j in free], [1.0]])
    ends = [*zip(low, high, strict=True), *[(0.0, None)] * count, (reach, None)]
    slope = np.zeros((len(fixed), 2 * count + 1))
    slope[:, :count] = first.slope[:, free]
    return _over_patterns(
        problem.model, fixed, slope, rows, limits, cost, ends, score_set.A, score_set.b + raised, base
    )


def _over_patterns(model, z, slope, rows, limits, cost, ends, A, b, base) -> float:  # type: ignore[no-untyped-def]
    """Layer by layer: each unit above or below 0, and a linear program at the end."""
    best = np.inf
    stack = [(0, z, slope, list(rows), list(limits))]
    while stack:
        depth, z, slope, rows, limits = stack.pop()
        if depth == len(model.layers):
            rows, limits = [*rows, *(-A @ slope)], [*limits, *(A @ z - b + 1e-9)]
            found = _solve(cost, rows, limits, ends)
            best = min(best, found + base)
            continue
        layer = model.layers[depth]
        sides = [(0, 1) if leak < 1 else (1,) for leak in layer.leak]
        for pattern in product(*sides):
            bend = np.where(pattern, 1.0, layer.leak)
            more, least = [], []
            for unit, on in enumerate(pattern):
                if layer.leak[unit] < 1:
                    sign = -1.0 if on else 1.0
                    more.append(sign * slope[unit])
                    least.append(-sign * z[unit])
            if any(not row.any() and end < -1e-9 for row, end in zip(more, least, strict=True)):
                continue
            if len(ends) > 1 and _solve(0 * cost, [*rows, *more], [*limits, *least], ends) == np.inf:
                continue
            stack.append(
                (
                    depth + 1,
                    layer.intercept + layer.weight @ (bend * z),
                    layer.weight @ (bend[:, None] * slope),
                    [*rows, *more],
                    [*limits, *least],
                )
            )
    return best


def _solve(cost, rows, limits, ends) -> float:  # type: ignore[no-untyped-def]
    found = linprog(cost, A_ub=np.array(rows) if rows else None, b_ub=np.array(limits) if rows else None, bounds=ends)
    return float(found.fun) if found.status == 0 else np.inf
