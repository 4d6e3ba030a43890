"""The question of one row, over all leaves of an ensemble."""

from __future__ import annotations

from dataclasses import dataclass

from butfor.arrays import FloatArray
from butfor.solvers.ensemble.leaves import LeafTable
from butfor.solvers.ensemble.limits import CellLimits


@dataclass(frozen=True, eq=False)
class Instance:
    """The question of one row: the cheapest cells whose leaves reach the goal.

    The cells of all features are numbered side by side.

    leaves: the leaves of the ensemble
    score (leaves, scores): what each leaf adds to each score
    goal (scores): what the scores must at least sum to
    firm (scores): sums from which on there is no doubt that the row is an answer
    price (cells): what each cell costs; infinite if the row cannot have it
    limits: what each cell counts towards limits
    """

    leaves: LeafTable
    score: FloatArray
    goal: FloatArray
    firm: FloatArray
    price: FloatArray
    limits: CellLimits
