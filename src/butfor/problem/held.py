"""The domain in which something holds of one column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.float_order import last_number
from butfor.model.grid_points import grid_down
from butfor.problem.domain import Domain

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
    return last_number(lambda x: holds(x) == first, *ends.tolist())


def turn(domain: Domain, j: int, holds: Holds) -> float:
    """The same, but that it lies halfway between two points of a grid, so that it is never in doubt."""
    low, step = domain.low[:1, j], float(domain.step[j])
    last = switch_of(domain, j, holds) if low <= domain.high[0, j] else np.inf
    if not step or last == np.inf:
        return last
    point = grid_down(np.array([last]), step, float(domain.anchor[j]))
    return float((np.where(holds(point + step) == holds(low), point + step, point) + step / 2)[0])


def _where(domain: Domain, j: int, holds: Holds) -> tuple[float, float]:
    """Between which ends something holds of a number."""
    at, low = turn(domain, j, holds), domain.low[:1, j]
    first = bool(low <= domain.high[0, j] and holds(low)[0])
    if at == np.inf:
        return (-np.inf, np.inf) if first else (np.inf, -np.inf)
    return (-np.inf, at) if first else (float(np.nextafter(at, np.inf)), np.inf)
