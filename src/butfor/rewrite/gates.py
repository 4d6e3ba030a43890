"""The decisions of an oblique tree as half-spaces for solvers: strict ones closed, margins worked in; the target's leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from butfor.model.oblique import Oblique, Path
from butfor.model.scores import ScoreSet
from butfor.problem.problem import Problem
from butfor.rewrite.margins import tightened
from butfor.space.frames import FloatArray


@dataclass(frozen=True, eq=False)
class Goal:
    """A leaf of the target: the path to it, and the price of the class that it is read as."""

    path: Path
    offset: float


def goals(problem: Problem) -> tuple[Goal, ...]:
    """The leaves that some score set takes, each at its cheapest offset."""
    model = problem.model
    assert isinstance(model, Oblique)
    found = []
    for path in model.paths:
        scores = model.value[[path.node]]
        offsets = [part.offset for part in problem.sets if part.holds(scores)[0]]
        if offsets:
            found.append(Goal(path, min(offsets)))
    return tuple(found)


def thresholds(problem: Problem) -> tuple[FloatArray, FloatArray]:
    """What each gate's score must reach to go right, and its negative to go left."""
    model = problem.model
    assert isinstance(model, Oblique)
    gates = replace(problem, model=model.gates)
    n = model.gates.scores
    right, left = (
        tightened(ScoreSet(sign * np.eye(n), np.zeros(n), np.full(n, strict)), gates).b
        for sign, strict in ((1.0, False), (-1.0, True))
    )
    return right, left


def of_leaf(problem: Problem, goal: Goal) -> Problem:
    """The problem of reaching one leaf: that of a linear model with several inequalities."""
    model = problem.model
    assert isinstance(model, Oblique)
    inside = replace(goal.path.inside(model.gates.scores), offset=goal.offset)
    return replace(problem, model=model.gates, sets=(inside,))
