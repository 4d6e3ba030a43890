"""Which answers keep to a constraint, those constraints included that the model or a forest must judge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import UnsupportedProblemError
from butfor.formulation.clearance import keeps
from butfor.formulation.plausibility import Likenesses
from butfor.importers.read import Reading
from butfor.model.black_box import BlackBox
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.constraints.relations import Margin, Plausible
from butfor.problem.constraints.restrictions import admissible
from butfor.problem.targets.target import AbstractTarget, Prediction


@dataclass(frozen=True, eq=False)
class Moves:
    """Factuals and what became of them, row by row: encoded, and as the estimator sees them."""

    start: FloatArray
    points: FloatArray
    before: Prediction
    after: Prediction


def all_kept(
    constraints: Iterable[AbstractConstraint],
    moves: Moves,
    reading: Reading,
    likenesses: Likenesses,
    target: AbstractTarget | None,
) -> BoolArray:
    """Which moves keep to every constraint, each judged by itself, and to the values that the columns take."""
    listed = tuple(constraints)
    fine = admissible(reading.space, moves.start, listed).admits(moves.points)
    for constraint in listed:
        if len(fine):
            fine = fine & kept(constraint, moves, reading, likenesses, target)
    return np.asarray(fine, dtype=np.bool_)


def kept(
    constraint: AbstractConstraint,
    moves: Moves,
    reading: Reading,
    likenesses: Likenesses,
    target: AbstractTarget | None,
) -> BoolArray:
    """Which moves keep to it. A margin is one from the boundaries of a target: without a target, none keeps it."""
    if isinstance(constraint, Margin):
        return _clear(constraint.eps, moves, reading, target)
    if isinstance(constraint, Plausible):
        (likeness,) = likenesses.of([constraint])
        return likeness.met(moves.after.table)
    return constraint.met(reading.space, moves.start, moves.points)


def _clear(eps: float, moves: Moves, reading: Reading, target: AbstractTarget | None) -> BoolArray:
    """Which moves end that far inside every boundary that decides."""
    if isinstance(reading.model, BlackBox):
        raise UnsupportedProblemError(
            "a margin was asked of a black box.",
            "Boundaries are known of models that butfor reads.",
            f"Leave it out. The model was not read because {reading.model.why}",
        )
    fine = np.zeros(len(moves.points), dtype=np.bool_)
    if target is not None:
        model = target.focus(reading, moves.before).model
        for group, sets in target.groups(reading.readout, moves.before):
            fine[group] = keeps(model, reading.space, moves.points[group], sets, eps)
    return fine
