"""An independent judge for linear models with continuous numbers: finite parts enumerated, the rest by scipy.

Every combination of levels, grid points, missing values and of which continuous numbers move at all is tried; for the moving
numbers, L1 and L-infinity are a linear program (scipy.optimize.linprog) and L2 a convex program (SLSQP, then polished).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from scipy.optimize import linprog, minimize

from butfor.model.clearance import steep
from butfor.model.linear import Linear
from butfor.model.questions import evaluate
from butfor.problem.constraints.relations import AtMost, LinearRelation
from butfor.problem.problem import Problem
from butfor.solvers.brute_force import candidates

CLOSED = 1e-9  # by how much a strict inequality is met
TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def cheapest(problem: Problem, raised: float = 0.0) -> float:
    """The optimal cost of a one-row problem with a linear model; infinity if it is infeasible.

    All thresholds are `raised`.
    """
    assert isinstance(problem.model, Linear)
    parts = (replace(part, b=part.b + raised) for part in problem.score_sets)
    return min((_set_cost(problem, part) for part in parts), default=np.inf)


def _set_cost(problem: Problem, part) -> float:
    steepness = problem.demands.margin * steep(part.A @ problem.model.slope, problem.space)
    part = replace(part, b=part.b + steepness + np.where(part.strict, CLOSED, 0.0))
    options = [_options(problem, j) for j in range(len(problem.space))]
    best = np.inf
    for choice in product(*options):
        best = min(best, _choice_cost(problem, part, choice, best))
    return best + part.offset if np.isfinite(best) else np.inf


def _options(problem: Problem, j: int) -> list:
    domain, feature, x = problem.domain, problem.space.features[j], problem.factuals[0, j]
    if feature.levels is not None or domain.step[j]:
        return list(candidates(problem, j))
    found: list = [x] if domain.stay[0, j] else []
    if domain.missing[0, j]:
        found.append(np.nan)
    low, high = domain.low[0, j], domain.high[0, j]
    if low > high:
        return found
    # every cell of a binned number is a choice of its own
    return [*found, *(("move", k) for k in range(problem.model.cells[j].count))]


def _choice_cost(problem: Problem, part, choice, best: float) -> float:
    moving = [j for j, value in enumerate(choice) if isinstance(value, tuple)]
    point = np.array([0.0 if isinstance(value, tuple) else value for value in choice])
    start = problem.factuals[0]
    low, high = problem.domain.low[0].copy(), problem.domain.high[0].copy()
    for j in moving:
        cells, k = problem.model.cells[j], choice[j][1]
        low[j] = max(low[j], np.nextafter(cells.lower()[k], np.inf))
        high[j] = min(high[j], cells.upper()[k])
        if low[j] > high[j]:
            return np.inf
        point[j] = high[j] if np.isfinite(high[j]) else low[j]
    fixed = [j for j in range(len(point)) if j not in moving]
    changed = sum(not (point[j] == start[j] or (np.isnan(point[j]) and np.isnan(start[j]))) for j in fixed) + len(
        moving
    )
    if any(changed > c.count for c in problem.relations_of(AtMost)):
        return np.inf
    # scores as a function of the moving numbers: base + slope @ x
    base = evaluate(problem.model, point[None])[0] - problem.model.slope[:, moving] @ point[moving]
    A = part.A @ problem.model.slope[:, moving]
    b = part.b - part.A @ base
    rows, rhs = [A], [b]
    for relation in problem.relations_of(LinearRelation):
        w = dict(relation.weights)
        known = 0.0
        for name, weight in relation.weights:
            j = problem.space.index(name)
            if j not in moving:
                feature = problem.space.features[j]
                value = (
                    feature.numbers[int(point[j])] if feature.levels is not None and point[j] == point[j] else point[j]
                )
                known += weight * value
        if np.isnan(known):
            return np.inf
        sign = 1.0 if relation.sense == ">=" else -1.0
        rows.append(sign * np.array([[w.get(problem.space.names[j], 0.0) for j in moving]]))
        rhs.append(np.array([sign * (relation.bound - known)]))
    A, b = np.vstack(rows), np.concatenate(rhs)
    prices = problem.prices
    constant = sum(float(prices.separable(j, start[None, [j]], point[None, [j]])[0, 0]) for j in fixed)
    reach = max([float(prices.reach(j, start[None, [j]], point[None, [j]])[0, 0]) for j in fixed], default=0.0)
    lost = [j for j in moving if np.isnan(start[j])]
    known = [j for j in moving if not np.isnan(start[j])]
    constant += sum(float(prices.missing[1, j]) for j in lost) + sum(float(prices.l0[j]) for j in known)
    if not np.isfinite(constant) or constant >= best:
        return np.inf
    reach = max([reach, *(float(prices.linf_missing[1, j]) for j in lost)])
    if not moving:
        return constant + reach * prices.has_linf if np.all(b <= 1e-12) else np.inf
    l1 = np.array([prices.l1[j] if j in known else 0.0 for j in moving])
    l2 = np.array([prices.l2[j] if j in known else 0.0 for j in moving])
    linf = np.array([prices.linf[j] if j in known else 0.0 for j in moving])
    x0 = np.nan_to_num(start[moving])
    if l2.any():
        size = max(l1.max(), l2.max())  # SLSQP gives up early where prices are large
        return constant + size * _quadratic(A, b, l1 / size, l2 / size, x0, low[moving], high[moving])
    return constant + _linear(A, b, l1, linf, reach, x0, low[moving], high[moving], prices.has_linf)


def _linear(A, b, l1, linf, reach, x0, low, high, has_linf) -> float:
    """min l1 |x - x0| + t, t >= linf |x - x0|, t >= reach, over x = x0 + p - n."""
    m = len(x0)
    cost = np.concatenate([l1, l1, [1.0 if has_linf else 0.0]])
    rows = [np.hstack([-A, A, np.zeros((len(A), 1))]), np.hstack([np.eye(m), -np.eye(m), np.zeros((m, 1))])]
    rhs = [-(b - A @ x0), high - x0]
    rows.append(np.hstack([-np.eye(m), np.eye(m), np.zeros((m, 1))]))
    rhs.append(x0 - low)
    rows.append(np.hstack([np.diag(linf), np.diag(linf), -np.ones((m, 1))]))
    rhs.append(np.zeros(m))
    found = linprog(
        cost,
        np.vstack(rows),
        np.concatenate(rhs),
        bounds=[(0, None)] * (2 * m) + [(reach if has_linf else 0, None)],
        options=TIGHT,
    )
    return float(found.fun) if found.status == 0 else np.inf


def _quadratic(A, b, l1, l2, x0, low, high) -> float:
    """min l1 |x - x0| + l2 (x - x0)^2 by SLSQP over the two parts of the change, from a feasible vertex."""
    m = len(x0)
    feasible = linprog(np.zeros(m), -A, -b, bounds=list(zip(low, high, strict=True)), options=TIGHT)
    if feasible.status != 0:
        return np.inf
    gap = feasible.x - x0
    z = np.concatenate([np.maximum(gap, 0), np.maximum(-gap, 0)])
    split = np.hstack([np.eye(m), -np.eye(m)])

    def value(z: np.ndarray) -> float:
        d = split @ z
        return float(l1 @ (z[:m] + z[m:]) + l2 @ d**2)

    def slope(z: np.ndarray) -> np.ndarray:
        d = split @ z
        return np.concatenate([l1, l1]) + split.T @ (2 * l2 * d)

    rows = [A @ split, split, -split]
    rhs = [b - A @ x0, low - x0, x0 - high]
    M, r = np.vstack(rows), np.concatenate(rhs)
    found = minimize(
        value, z, jac=slope, bounds=[(0, None)] * (2 * m), method="SLSQP", options={"ftol": 1e-14, "maxiter": 500},
        constraints={"type": "ineq", "fun": lambda z: M @ z - r, "jac": lambda z: M},
    )  # fmt: skip
    return min(value(z), float(found.fun)) if (M @ found.x - r).min() > -1e-10 else value(z)


def supported(problem: Problem) -> bool:
    """Whether this judge can take the problem."""
    l2_and_reach = bool(problem.prices.l2.any() and problem.prices.has_linf)
    allowed = (AtMost, LinearRelation)
    return not l2_and_reach and all(isinstance(relation, allowed) for relation in problem.relations)
