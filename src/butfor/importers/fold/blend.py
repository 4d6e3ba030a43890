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


class Member(NamedTuple):
    """A model of two classes: its probabilities are functions of `row @ scores`."""

    model: Model
    row: FloatArray
    chances: tuple[MonotoneFunction, MonotoneFunction]
    weight: float


def blend(
    name: str, classes: tuple[Any, ...], members: Sequence[Member], unit: float, *, votes: bool = False
) -> Imported:
    """The weighted mean of the members' probabilities, or of their votes. `name` is what holds them."""
    if any(member.weight < 0 for member in members) or not sum(member.weight for member in members) > 0:
        raise UnsupportedModelError(
            f"{name} has the weights {[member.weight for member in members]}.",
            "They must be at least 0, and not all 0.",
            "Fit it with positive weights.",
        )
    kept = [member for member in members if member.weight > 0]
    rows = block_diag(*(member.row for member in kept))
    weights = np.array([member.weight for member in kept])
    shares, chances = weights / weights.sum(), tuple(member.chances for member in kept)
    readout = Blended(classes, rows, shares, chances)
    if votes:
        readout = Voted(classes, rows, shares, chances, total=float(weights.sum()))
    return together(name, [member.model for member in kept]), readout.rounded(unit)


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
