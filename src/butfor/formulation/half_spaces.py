"""The decisions of an oblique tree as half-spaces, and the leaves of the target.

Strict inequalities are closed by a multiple of what rounding may change, and margins are included.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.clearance import steep
from butfor.model.oblique import ObliqueTree, Path
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.rounding import rounding
from butfor.model.scores import cheapest_offset
from butfor.problem.problem import Problem

CLOSING = 256
"""How many times its rounding a decision to the left must exceed 0, so that compiled loops see the difference."""


@dataclass(frozen=True, eq=False)
class Goal:
    """A leaf of the target: its path, and the price of its class."""

    path: Path
    offset: float


def goals(problem: Problem) -> tuple[Goal, ...]:
    """The leaves that lie in some score set, each with its cheapest offset."""
    model = problem.model
    assert isinstance(model, ObliqueTree)
    scores = model.value[[path.node for path in model.paths]]
    offset = cheapest_offset(problem.score_sets, scores)
    return tuple(Goal(model.paths[i], float(offset[i])) for i in np.flatnonzero(np.isfinite(offset)))


def thresholds(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """The thresholds of the gates, for going right and for going left.

    A row goes right where `score >= right`, and left where `-score >= left`:

        right = guard doubt + margin steepness,    left = right + CLOSING doubt
    """
    model = problem.model
    assert isinstance(model, ObliqueTree | ObliqueForest)
    doubt = rounding(model.gates, np.eye(model.gates.scores), problem.domain.extent, problem.witnesses.unit)
    raised = problem.witnesses.guard * doubt + problem.demands.margin * steep(model.gates.slope, problem.space)
    return raised, raised + CLOSING * doubt


def closed_by(problem: Problem) -> float:
    """How far the closing moves a decision: `max (left - right) / steepness`, in ranges of the columns.

    Bounds are too high by about as much.
    """
    right, left = thresholds(problem)
    model = problem.model
    assert isinstance(model, ObliqueTree)
    slope = steep(model.gates.slope, problem.space)
    return float(np.max((left - right)[slope > 0] / slope[slope > 0], initial=0.0))


def of_leaf(problem: Problem, goal: Goal) -> Problem:
    """The problem of reaching one leaf. It has a linear model with several inequalities."""
    model = problem.model
    assert isinstance(model, ObliqueTree)
    inside = replace(goal.path.inside(model.gates.scores), offset=goal.offset)
    return replace(problem, model=model.gates, score_sets=(inside,))
