"""Which terms the prices of a problem have."""

from __future__ import annotations

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.problem.form import CostTerm
from butfor.problem.prices import Prices


def terms_of(prices: Prices, lost: BoolArray) -> frozenset[CostTerm]:
    """The terms that the prices have, if these features may become missing (features)."""
    found = {
        CostTerm.L0: prices.l0.any(),
        CostTerm.L1: prices.l1.any(),
        CostTerm.L2: prices.l2.any(),
        CostTerm.LINF: prices.has_linf,
        CostTerm.CALLABLE: bool(prices.calls),
        CostTerm.QUADRATIC: prices.Q is not None,
        CostTerm.FORBIDDEN: any(not np.isfinite(_lines(table)).all() for table in prices.tables.values()),
        CostTerm.TRADEOFF: any(_opposed(prices.tables[j], reach) for j, reach in prices.linf_tables.items())
        or (prices.has_linf and any(_torn(prices, j) for j in np.flatnonzero(lost).tolist() if j not in prices.tables)),
    }
    return frozenset(term for term, has in found.items() if has)


def _lines(table: FloatArray) -> FloatArray:
    """The different lines of a table: one, if it stands for all."""
    return table[:1] if table.strides[0] == 0 else table


def _torn(prices: Prices, j: int) -> bool:
    """Whether a number may move farther than "missing" reaches and yet cost less, or cost more and not reach as far.

    Price and reach of a move rise together. So they order "missing" alike if it costs what the move costs that reaches as far.
    """
    rate, reach = prices.linf[j], prices.linf_missing[0, j]
    if not (rate and reach) or j in prices.calls:
        return bool(rate or reach)
    far = reach / rate
    same = prices.l0[j] + prices.l1[j] * far + prices.l2[j] * far**2
    return not bool(np.isclose(prices.missing[0, j], same, rtol=1e-9, atol=0.0))


def _opposed(table: FloatArray, reach: FloatArray) -> bool:
    """Whether some row of the two tables orders two levels differently: by the first and then the second, this one falls."""
    some = reach.any(axis=1)
    order = np.lexsort((reach[some], table[some]), axis=-1)
    sorted_reach = np.take_along_axis(reach[some], order, axis=-1)
    return bool((sorted_reach[:, 1:] < sorted_reach[:, :-1]).any())
