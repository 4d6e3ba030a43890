"""The domain in which something holds of one column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.float_order import last_between
from butfor.problem.domain import Domain, grid_down

Holds = Callable[[FloatArray], BoolArray]
"""At which values of a column something holds. As a number grows, it begins to hold or ends to, only once."""


def held(domain: Domain, j: int, holds: Holds) -> Domain:
    """The domain in which something holds of column `j` of the only row."""
    known = domain if holds(np.array([np.nan]))[0] else domain.without_missing(j)
    if j in domain.levels:
        return known.at_levels(j, holds(np.arange(domain.levels[j].shape[1], dtype=np.float64)))
    stay = known.stay.copy()
    stay[:, j] &= holds(domain.factuals[:, j])  # the own number need not lie on the grid
    return replace(known.narrowed(j, *_where(known, j, holds)), stay=stay)


def switch_of(domain: Domain, j: int, holds: Holds) -> float:
    """The last value of a number of the only row before something begins or ends to hold; infinite if it never does."""
    ends = np.array([domain.low[0, j], domain.high[0, j]])
    largest = np.finfo(np.float64).max
    ends = np.clip(ends, -largest, largest)
    first, last = holds(ends).tolist()
    if first == last:
        return np.inf
    return float(last_between(lambda x: holds(x) == first, ends[:1], ends[1:])[0])


def _where(domain: Domain, j: int, holds: Holds) -> tuple[float, float]:
    """Between which ends something holds of a number. Those of a grid lie between its points, which is never in doubt."""
    ends = np.array([domain.low[0, j], domain.high[0, j]])
    if ends[0] > ends[1]:
        return np.inf, -np.inf
    below, above = holds(ends).tolist()
    if below == above:
        return (-np.inf, np.inf) if below else (np.inf, -np.inf)
    last = last_between(lambda x: holds(x) == below, ends[:1], ends[1:])
    after = np.nextafter(last, np.inf)
    if step := float(domain.step[j]):
        point = grid_down(last, step, float(domain.anchor[j]))
        point = np.where(holds(point + step) == below, point + step, point)
        last = after = point + step / 2
    return (-np.inf, float(last[0])) if below else (float(after[0]), np.inf)
