"""A lower bound on the cost, if it is known how far a model's inputs must move before it predicts something else."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray
from butfor.formulation.oracles import EstimatorOracle
from butfor.model.barrier import AbstractBarrier
from butfor.model.black_box import BlackBox
from butfor.model.linear import Linear
from butfor.model.questions import evaluate
from butfor.problem.problem import Problem

LOWERED_BY = 1e-9
"""The share by which a bound is lowered, for its own rounding."""


def stated_bound(problem: Problem) -> FloatArray:
    """For each row, the least that any answer can cost; 0 if nothing is known."""
    model, oracle = problem.model, problem.witnesses.oracle
    out = np.zeros(len(problem))
    if isinstance(model, BlackBox) and model.barrier is not None and isinstance(oracle, EstimatorOracle):
        for i in range(len(problem)):
            out[i] = _of_row(problem, model.barrier, oracle, i)
    return out


def _of_row(problem: Problem, barrier: AbstractBarrier, oracle: EstimatorOracle, i: int) -> float:
    x = problem.factuals[i]
    if np.isnan(x).any():
        return 0.0
    supposed = barrier.around(evaluate(barrier.inputs, x[None])[0])
    said = oracle.of_supposed(i, supposed)
    if said is None:
        return 0.0
    met, offset = said
    linear, quadratic = _least_rates(problem, barrier.inputs, i)
    with np.errstate(invalid="ignore"):
        price = np.maximum(supposed.distance * linear, supposed.distance**2 * quadratic)
    price = np.where(supposed.distance > 0, price, 0.0)
    return float(np.where(met, price * (1 - LOWERED_BY) + offset, np.inf).min())


def _least_rates(problem: Problem, inputs: Linear, i: int) -> tuple[float, float]:
    """What moving the inputs of row `i` by a distance r costs at least: `linear r`, and also `quadratic r^2`.

    The distances of several features add up to at least r, and their squares to r^2.
    """
    rates = [
        (_level_rates if j in problem.domain.levels else _number_rates)(problem, inputs, i, int(j))
        for j in np.flatnonzero(problem.domain.movable())
    ]
    return min((rate[0] for rate in rates), default=np.inf), min((rate[1] for rate in rates), default=np.inf)


def _number_rates(problem: Problem, inputs: Linear, i: int, j: int) -> tuple[float, float]:
    domain, prices = problem.domain, problem.prices
    if domain.missing[i, j] or inputs.cells[j].count > 1:
        return 0.0, 0.0
    x, slope = problem.factuals[i, j], float(np.linalg.norm(inputs.slope[:, j]))
    width = max(float(domain.high[i, j]) - x, x - float(domain.low[i, j]))
    if slope == 0 or domain.low[i, j] > domain.high[i, j] or width <= 0:
        return np.inf, np.inf
    fixed, linear, square = (float(part[j]) for part in (prices.l0, prices.l1, prices.l2))
    return (linear + fixed / width) / slope, (square + linear / width + fixed / width**2) / slope**2


def _level_rates(problem: Problem, inputs: Linear, i: int, j: int) -> tuple[float, float]:
    domain, now = problem.domain, int(problem.factuals[i, j])
    if domain.missing[i, j]:
        return 0.0, 0.0
    steps = inputs.steps[j][:, :-1]
    moved = np.linalg.norm(steps - steps[:, [now]], axis=0)
    able = domain.levels[j][i] & (moved > 0)
    price = problem.prices.tables[j][now, :-1][able]
    return float((price / moved[able]).min(initial=np.inf)), float((price / moved[able] ** 2).min(initial=np.inf))
