"""Narrower ranges of the units of a network, by a linear program for each end.

A program with whole numbers branches on units that may be on both sides of 0, and its relaxation is the looser the wider
their ranges are (Tjeng, Xiao and Tedrake, "Evaluating robustness of neural networks with mixed integer programming",
ICLR 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from butfor.model.scores import ScoreSet
from butfor.problem.problem import Problem
from butfor.solvers.milp.written import write
from butfor.solvers.network.exact import known_units
from butfor.solvers.network.rows import NEGLIGIBLE, add_known
from butfor.solvers.network.units import UnitEnds
from butfor.solvers.solver import Budget


def narrowed(
    problem: Problem, score_set: ScoreSet, limit: float, budget: Budget, ends: Sequence[UnitEnds] = ()
) -> list[UnitEnds]:
    """The ranges of the units, layer by layer, at all points of one score set that cost no more than `limit`.

    They may be known to some `ends` already.
    """
    known = known_units(problem, limit, ends=ends)
    written = write(problem, score_set, partial(add_known, known), parts=True)
    out = [UnitEnds(units.low.copy(), units.high.copy()) for units in known.units]
    low, high = written.program.extremes(list(known.reached.values()), budget.until)
    for (layer, unit), least, most in zip(known.reached, low, high, strict=True):
        own = out[layer]
        spare = NEGLIGIBLE * (1 + max(-own.low[unit], own.high[unit]))
        own.low[unit] = max(own.low[unit], least - spare)
        own.high[unit] = max(min(own.high[unit], most + spare), own.low[unit])
    return out


def side_by_side(ends: Sequence[Sequence[UnitEnds]]) -> list[UnitEnds]:
    """The ranges of several networks as those of the one network that has all of their units."""
    return [
        UnitEnds(np.concatenate([one.low for one in layer]), np.concatenate([one.high for one in layer]))
        for layer in zip(*ends, strict=True)
    ]
