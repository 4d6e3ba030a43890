"""What left and right at each gate cost at least, whatever couples columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.oblique import ObliqueTree
from butfor.problem.prices import Prices
from butfor.problem.problem import Problem
from butfor.solvers.oblique.columns import Sheet, separable, sheet_of

SINGULAR_GAIN = 1e-12
"""A gate that gains less than this is bounded by 0: its gain is rounding."""


def side_bounds(problem: Problem) -> FloatArray:
    """The least that left (0) and right (1) at each gate cost row 0.

    The terms of a cost are bounded one by one. What couples columns is left out. The bound is 0 where nothing is known.
    """
    model, prices = problem.model, problem.prices
    assert isinstance(model, ObliqueTree)
    zero = np.zeros(len(problem.space))
    alone = replace(prices, l0=zero, linf=zero, linf_missing=np.stack([zero, zero]), linf_tables={}, calls={}, Q=None)
    loose = replace(problem, prices=alone, relations=())
    if not separable(loose):
        return np.zeros((model.gates.scores, 2))
    sheet = sheet_of(loose, ())
    if sheet.odd.any() or sheet.impossible.any():
        return np.zeros((model.gates.scores, 2))
    return sheet.sides() + _widest(sheet, prices) + _curved(sheet, prices)


def _needs(sheet: Sheet) -> FloatArray:
    """What each (unit) gate lacks for going left and right."""
    gates, now = sheet.gates, sheet.rows.now[0]
    return np.asarray(np.maximum(np.column_stack([gates.left + now, gates.right - now]), 0.0))


def _widest(sheet: Sheet, prices: Prices) -> FloatArray:
    """The L-infinity part: every number goes equally far, in units of its price."""
    B, at = sheet.gates.B, sheet.numbers
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(B[:, : len(at)] != 0, np.abs(B[:, : len(at)]) / (prices.linf[at] * sheet.unit), 0.0).sum(
            axis=1
        )
    free = (reach == 0) | B[:, len(at) :].any(axis=1)
    return np.asarray(np.where(free, 0.0, _needs(sheet).T / np.where(free, 1.0, reach)).T)


def _curved(sheet: Sheet, prices: Prices) -> FloatArray:
    """The quadratic part, without the box: need^2 / (b' Q^-1 b)."""
    B, at = sheet.gates.B, sheet.numbers
    if prices.Q is None:
        return np.zeros((len(B), 2))
    Q = prices.Q[np.ix_(at, at)] * np.outer(sheet.unit, sheet.unit)
    others = np.setdiff1d(np.flatnonzero(prices.Q.any(axis=0)), at)
    try:
        if len(others):  # they move along for free
            rest = prices.Q[np.ix_(others, others)]
            cross = prices.Q[np.ix_(at, others)] * sheet.unit[:, None]
            Q = Q - cross @ np.linalg.solve(rest, cross.T)
        gain = np.einsum("gj,jg->g", B[:, : len(at)], np.linalg.solve(Q, B[:, : len(at)].T))
    except np.linalg.LinAlgError:
        return np.zeros((len(B), 2))
    free = (gain <= SINGULAR_GAIN) | B[:, len(at) :].any(axis=1)
    return np.asarray(np.where(free, 0.0, _needs(sheet).T ** 2 / np.where(free, 1.0, gain)).T)
