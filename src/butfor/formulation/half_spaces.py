"""The decisions of an oblique tree as half-spaces for solvers: strict ones closed, margins worked in; the target's leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.formulation.margins import raises
from butfor.model.oblique import ObliqueTree, Path
from butfor.model.scores import ScoreSet, cheapest_offset
from butfor.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class Goal:
    """A leaf of the target: the path to it, and the price of the class that it is read as."""

    path: Path
    offset: float


def goals(problem: Problem) -> tuple[Goal, ...]:
    """The leaves that some score set takes, each at its cheapest offset."""
    model = problem.model
    assert isinstance(model, ObliqueTree)
    scores = model.value[[path.node for path in model.paths]]
    offset = cheapest_offset(problem.score_sets, scores)
    return tuple(Goal(model.paths[i], float(offset[i])) for i in np.flatnonzero(np.isfinite(offset)))


def thresholds(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """What each gate's score must reach to go right, and its negative to go left."""
    model = problem.model
    assert isinstance(model, ObliqueTree)
    zero = np.zeros(model.gates.scores)
    side = ScoreSet(np.empty((len(zero), 0)), zero, np.zeros(len(zero), dtype=np.bool_))
    right, left = (
        raises(model.gates, problem, replace(side, strict=np.full(len(zero), strict))) for strict in (False, True)
    )
    return right, left


def of_leaf(problem: Problem, goal: Goal) -> Problem:
    """The problem of reaching one leaf: that of a linear model with several inequalities."""
    model = problem.model
    assert isinstance(model, ObliqueTree)
    inside = replace(goal.path.inside(model.gates.scores), offset=goal.offset)
    return replace(problem, model=model.gates, score_sets=(inside,))
