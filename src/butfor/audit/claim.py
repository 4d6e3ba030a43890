"""An answer together with the model that is to confirm it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from butfor.arrays import FloatArray
from butfor.errors import InputError
from butfor.estimator.prediction import Prediction
from butfor.explain.explainer import Explainer
from butfor.explanation.explanation import Explanation
from butfor.importers.read import Reading, read_onto
from butfor.problem.constraints.constraint import AbstractConstraint, Changes
from butfor.problem.constraints.restrictions import admissible
from butfor.problem.costs import price
from butfor.problem.referee import Referee
from butfor.problem.spec import from_spec
from butfor.problem.targets.names import as_target
from butfor.problem.targets.target import AbstractTarget
from butfor.space import frames


@dataclass(frozen=True, eq=False)
class Claim:
    """An answer together with the model that is to confirm it.

    Parts of the question that the answer does not hold as data are None.
    """

    answer: Explanation
    reading: Reading
    explainer: Explainer
    target: AbstractTarget | None
    cost: Any
    constraints: tuple[AbstractConstraint | None, ...]

    @property
    def whole(self) -> bool:
        """Whether the answer holds the whole question as data. Then it can be solved again."""
        return self.target is not None and self.cost is not None and None not in self.constraints

    def known(self) -> tuple[AbstractConstraint, ...]:
        """The constraints that the answer holds as data."""
        return tuple(found for found in self.constraints if found is not None)

    @property
    def coin(self) -> float:
        """The smallest price that matters, computed again if the cost is known."""
        return self.answer.certificate.coin if self.cost is None else price(self.cost, self.answer.space).coin

    def predicted(self, row: Any) -> Prediction:
        """What the model predicts for a row of the answer."""
        return Prediction(self.reading.source, frames.select(row, self.answer.space.names))

    def codes(self) -> tuple[FloatArray, FloatArray]:
        """The factual and the point, encoded."""
        point = self.answer.point_codes
        assert point is not None
        return self.answer.factual_codes[None], point[None]

    def broken(self) -> list[str]:
        """The constraints that the point breaks, of those that the answer holds as data."""
        predicted = self.predicted(self.answer.factual), self.predicted(self.answer.point)
        changes, referee = Changes(*self.codes(), *predicted), Referee(self.reading, self.target)
        return [repr(one) for one in self.known() if not one.holds(changes, referee)[0]]

    def inside(self) -> bool:
        """Whether all values of the point lie within their ranges."""
        start, point = self.codes()
        return bool(admissible(self.answer.space, start, self.known()).admits(point)[0])


def claim_of(answer: Explanation, model: Any, objects: Mapping[str, Any], rows: Any = None) -> Claim:
    """The answer together with the model, which is read for `rows` (default: that of the answer).

    Raises an error if they do not fit together.
    """
    rows = answer.factual if rows is None else rows
    reading = read_onto(model, answer.space, frames.select(rows, answer.space.names))
    spec = answer.question.spec
    target = meant(spec.get("target"))
    constraints = tuple(
        meant(one, objects) for one in spec.get("constraints", [None] * len(answer.question.constraints))
    )
    if target is not None:
        as_target(target, reading.source)
    for constraint in constraints:
        if constraint is not None:
            constraint.validate(answer.space)
    return Claim(answer, reading, Explainer.from_reading(reading), target, meant(spec.get("cost")), constraints)


def meant(spec: Any, objects: Mapping[str, Any] | None = None) -> Any:
    """A part of the question.

    It is None if the answer only describes it and it is not one of the `objects` that were given.
    """
    try:
        return None if spec is None else from_spec(spec, objects or {})
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"the question cannot be read: {error!r} in {spec!r}.") from None
    except LookupError:
        return None
