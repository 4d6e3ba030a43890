"""How like the data an answer must be: the forests of `bf.plausible`, read over an explainer's space, and its model with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import UnsupportedProblemError
from butfor.formulation.side_by_side import side_by_side
from butfor.importers.libraries.sklearn_isolation import read_plausibility
from butfor.importers.read import Reading
from butfor.model.black_box import BlackBox
from butfor.model.questions import Model, evaluate, form_of
from butfor.model.trees import Trees
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.constraints.relations import Plausible


@dataclass(frozen=True, eq=False)
class Likeness:
    """A forest, and the least average path length that will do."""

    reading: Reading
    least: float

    def met(self, table: Any) -> BoolArray:
        """What the user's own forest says of rows (its sums may come out differently in their last digits)."""
        return np.asarray(self.reading.source.values(table) >= self.least - 1e-9 * (1 + abs(self.least)))

    def reached(self, points: FloatArray) -> BoolArray:
        """What the forest, as it was read, says of encoded rows."""
        return np.asarray(evaluate(self.reading.model, points)[:, 0] >= self.least)


@dataclass(frozen=True, eq=False)
class Likenesses:
    """The forests that an explainer was asked about; each is read once."""

    reading: Reading
    forests: dict[int, Likeness] = field(default_factory=dict)
    sums: dict[tuple[int, ...], Trees] = field(default_factory=dict)

    def of(self, constraints: Iterable[AbstractConstraint]) -> list[Likeness]:
        """One for each constraint of that kind."""
        return [self._one(constraint) for constraint in constraints if isinstance(constraint, Plausible)]

    def _one(self, constraint: Plausible) -> Likeness:
        known = self.forests.get(id(constraint.forest))
        if known is None:
            known = Likeness(*read_plausibility(constraint.forest, self.reading.space, self.reading.sample))
            self.forests[id(constraint.forest)] = known
        return known if constraint.path_length is None else replace(known, least=float(constraint.path_length))

    def model(self, asked: Sequence[Likeness], model: Model) -> Model:
        """The explainer's model, as the target looks at it, with the path lengths of the forests as further scores.

        A black box has no scores: whoever asks it asks the forests too.
        """
        if not asked or isinstance(model, BlackBox):
            return model
        if not isinstance(model, Trees):
            raise UnsupportedProblemError(
                f"plausibility was asked of a {form_of(model)} model.",
                "It is kept exactly for trees and sums of trees.",
                "Search among real rows with bf.candidates, or without proof: bf.black_box(model.predict_proba, classes).",
            )
        others = [one.reading.model for one in asked]
        key = tuple(map(id, (model, *others)))
        if key not in self.sums:
            self.sums[key] = side_by_side(model, [other for other in others if isinstance(other, Trees)])
        return self.sums[key]
