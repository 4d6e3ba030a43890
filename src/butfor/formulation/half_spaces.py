"""The decisions of an oblique tree as half-spaces for solvers: strict ones closed, margins worked in; the target's leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.formulation.margins import raises
from butfor.model.oblique import Oblique, Path
from butfor.model.scores import ScoreSet
from butfor.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class Goal:
    """A leaf of the target: the path to it, and the price of the class that it is read as."""

    path: Path
    offset: float


def goals(problem: Problem) -> tuple[Goal, ...]:
    """The leaves that some score set takes, each at its cheapest offset."""
    model = problem.model
    assert isinstance(model, Oblique)
    scores = model.value[[path.node for path in model.paths]]
    offset = np.min(
        [np.where(part.holds(scores), part.offset, np.inf) for part in problem.sets], axis=0, initial=np.inf
    )
    return tuple(Goal(model.paths[i], float(offset[i])) for i in np.flatnonzero(np.isfinite(offset)))


def thresholds(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """What each gate's score must reach to go right, and its negative to go left."""
    model = problem.model
    assert isinstance(model, Oblique)
    zero = np.zeros(model.gates.scores)
    side = ScoreSet(np.empty((len(zero), 0)), zero, np.zeros(len(zero), dtype=np.bool_))
    right, left = (
        raises(model.gates, problem, replace(side, strict=np.full(len(zero), strict))) for strict in (False, True)
    )
    return right, left


def of_leaf(problem: Problem, goal: Goal) -> Problem:
    """The problem of reaching one leaf: that of a linear model with several inequalities."""
    model = problem.model
    assert isinstance(model, Oblique)
    inside = replace(goal.path.inside(model.gates.scores), offset=goal.offset)
    return replace(problem, model=model.gates, sets=(inside,))
