"""Several models side by side, whose probabilities are averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.importers.registry import Imported
from butfor.model.blended import Blended, Voted
from butfor.model.monotone import MonotoneFunction
from butfor.model.questions import Model
from butfor.model.side_by_side import Part, side_by_side

Chances = tuple[MonotoneFunction, MonotoneFunction]
"""The probabilities of two classes, as functions of one sum."""


class Member(NamedTuple):
    """A model of two classes: its probabilities are the mean of functions of the sums `rows @ scores`.

    - `shares`: how much each function counts in it, in all 1.
    """

    model: Model
    rows: FloatArray
    chances: tuple[Chances, ...]
    shares: FloatArray
    unit: float

    @classmethod
    def of_one(cls, model: Model, row: FloatArray, chances: Chances, unit: float) -> Member:
        """One whose probabilities are functions of one sum."""
        return cls(model, row[None], (chances,), np.ones(1), unit)


def check_weights(name: str, weights: FloatArray) -> None:
    """Refuse weights with which nothing can be averaged. `name` is what has them."""
    if (weights < 0).any() or not weights.sum() > 0:
        raise UnsupportedModelError(
            f"{name} has the weights {weights.tolist()}.",
            "They must be at least 0, and not all 0.",
            "Fit it with positive weights.",
        )


def blend(
    name: str, classes: tuple[Any, ...], members: Sequence[Member], weights: FloatArray, *, votes: bool = False
) -> Imported:
    """The weighted mean of the members' probabilities, or of their votes. `name` is what holds them."""
    check_weights(name, weights)
    kept = [(member, weight) for member, weight in zip(members, weights / weights.sum(), strict=True) if weight > 0]
    rows = block_diag(*(member.rows for member, _ in kept))
    shares = np.concatenate([weight * member.shares for member, weight in kept])
    chances = tuple(one for member, _ in kept for one in member.chances)
    readout = Blended(classes, rows, shares, chances)
    if votes:
        readout = Voted(classes, rows, shares, chances, total=float(weights.sum()))
    unit = max(member.unit for member in members)
    return together(name, [member.model for member, _ in kept]), readout.rounded(unit)


def together(name: str, models: Sequence[Model]) -> Model:
    """The models as one, with all of their scores."""
    parts = [model for model in models if isinstance(model, Part)]
    if len(parts) < len(models):
        kinds = sorted({type(model).__name__ for model in models})
        raise UnsupportedModelError(
            f"{name} averages models of different kinds ({', '.join(kinds)}).",
            "All must be trees, axis-aligned or oblique, or linear models.",
            "Let the swarm search: it needs only predictions.",
        )
    return side_by_side(parts[0], parts[1:])
