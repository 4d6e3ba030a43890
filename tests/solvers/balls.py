"""Balls around answers of small problems by plain enumeration: of the cells and the levels that neighbours are in."""

from __future__ import annotations

import itertools

import numpy as np

from butfor.model.float_order import last_below
from butfor.model.questions import evaluate
from butfor.neighbours.ball import BallNorm
from butfor.problem.problem import Problem
from butfor.solvers.outcome import Status
from butfor.solvers.solver import AbstractSolver, Budget


def neighbours(problem: Problem, point: np.ndarray) -> np.ndarray:
    """One row in each cell that the ball around a point meets, the nearest one, with each level that it may be seen as."""
    ball = problem.demands.ball
    slips, ways = ball.slips.seen, []
    for j, value in enumerate(point):
        cuts, r = problem.model.cells[j].edges, ball.radius[j]
        if ball.step[j] > 0:
            ways.append(value + ball.step[j] * np.arange(-np.round(r / ball.step[j]), np.round(r / ball.step[j]) + 1))
        elif j in slips and not np.isnan(value):
            ways.append(np.flatnonzero(slips[j][int(value)]).astype(float))
        elif r > 0 and not np.isnan(value):
            inside = cuts[(cuts >= value - r) & (cuts <= value + r)]
            beyond = np.nextafter(inside, np.inf)
            ways.append(
                np.concatenate([[value], inside[inside < value], beyond[(beyond > value) & (beyond <= value + r)]])
            )
        else:
            ways.append(np.array([value]))
    rows = np.array(list(itertools.product(*ways)))
    return rows if ball.norm is BallNorm.LINF else rows[ball.holds(np.nan_to_num(rows - point))]


def candidates(problem: Problem) -> np.ndarray:
    """All rows at which the cheapest robust one may lie, for a box."""
    ways = []
    for j, feature in enumerate(problem.space):
        x, r = problem.factuals[0, j], problem.demands.ball.radius[j]
        if feature.levels is not None:
            values = np.arange(len(feature.levels), dtype=float)
        else:
            cuts = problem.model.cells[j].edges
            ends = np.concatenate([last_below(cuts, np.full(len(cuts), r)), last_below(cuts, np.full(len(cuts), -r))])
            step = problem.domain.step[j]
            low, high = float(problem.domain.extent.low[j]), float(problem.domain.extent.high[j])
            grid = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step if step else np.empty(0)
            values = np.concatenate([ends, np.nextafter(ends, np.inf), [low, high], grid])
            values = np.concatenate([values, problem.domain.low[:, j], problem.domain.high[:, j]])
            values = values[np.isfinite(values)]
            values = values[values == np.round(values / step) * step] if step else values
        ways.append(np.unique(np.concatenate([values, [x], [np.nan] if feature.missing else []])))
    rows = np.array(list(itertools.product(*ways)))
    return rows[[bool(problem.admits(row[None])[0]) for row in rows]]


def enumerated(problem: Problem) -> float:
    """The optimal cost by brute force; infinite if no ball fits."""
    best = np.inf
    rows = candidates(problem)
    costs = np.array([problem.prices.total(problem.factuals, row[None])[0] for row in rows])
    for at in np.argsort(costs):
        scores = evaluate(problem.model, neighbours(problem, rows[at]))
        for part in problem.score_sets:
            if costs[at] + part.offset < best and part.holds(scores).all():
                best = float(costs[at] + part.offset)
    return best


def agrees_with_enumeration(solver: AbstractSolver, problem: Problem, seed: int) -> float:
    """The optimal cost by brute force, which a solver proves as well."""
    truth, found = enumerated(problem), solver.solve(problem, Budget())
    message = f"seed {seed}: {truth} by enumeration, {found.cost} (bound {found.bound})"
    if np.isfinite(truth):
        assert abs(found.cost[0] - truth) <= 1e-6 * (1 + truth), message
        assert found.status()[0] is Status.PROVEN_OPTIMAL, message
    else:
        assert found.status()[0] is Status.PROVEN_INFEASIBLE, message
    return truth
