"""Answers to one question, together with the model that is to confirm them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import InputError
from butfor.estimator.prediction import Prediction
from butfor.explain.asking import Asking
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.explanation.one_answer import as_batch
from butfor.importers.read import Reading, read_onto
from butfor.problem.constraints.admissible import inside
from butfor.problem.constraints.constraint import AbstractConstraint, Changes
from butfor.problem.constraints.follows import Consequences
from butfor.problem.costs import price
from butfor.problem.referee import Referee
from butfor.problem.spec import ByDescription, from_spec
from butfor.problem.targets.names import as_target
from butfor.problem.targets.target import AbstractTarget
from butfor.space import frames
from butfor.verdict.certificate import Certificate


@dataclass(frozen=True, eq=False)
class Stated:
    """Answers to one question in columns, with tables of their rows.

    - `factuals`: the row of each answer;
    - `found`, `points`: which answers have a point, and the table of these points;
    - `near`, `closest`: which have a closest row in place of a point, and the table of these rows.
    """

    answers: Explanations
    factuals: Any
    found: IntArray
    points: Any
    near: IntArray
    closest: Any

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def certificates(self) -> Sequence[Certificate]:
        """The certificate of each answer."""
        return self.answers.certificates

    @property
    def starts(self) -> FloatArray:
        """The encoded row of each answer."""
        return self.answers.factual_codes[self.answers.table_rows]

    def take(self, at: IntArray) -> Stated:
        """Some of the answers, in their order."""

        def some(own: IntArray, table: Any) -> tuple[IntArray, Any]:
            places = np.flatnonzero(np.isin(own, at))
            return np.searchsorted(at, own[places]), frames.take(table, places) if len(places) else None

        factuals = frames.take(self.factuals, at)
        return Stated(self.answers[at], factuals, *some(self.found, self.points), *some(self.near, self.closest))


def stated(answers: Explanation | Explanations) -> Stated:
    """What answers to one question say."""
    if isinstance(answers, Explanation):
        found, near = (np.flatnonzero([codes is not None]) for codes in (answers.point_codes, answers.closest_codes))
        return Stated(as_batch(answers), answers.factual, found, answers.point, near, answers.closest)
    answers = replace(answers, certificates=list(answers.certificates))  # they are read often, and each is made anew
    codes = answers.point_codes

    def written(at: IntArray) -> Any:
        rows = answers.table_rows[at]
        return answers.space.decode(codes[at], frames.take(answers.table, rows), answers.factual_codes[rows])

    found = np.flatnonzero(answers.found)
    near = np.flatnonzero([one.evidence.has_closest_row for one in answers.certificates])
    factuals = frames.take(answers.table, answers.table_rows)
    return Stated(
        answers, factuals, found, written(found) if len(found) else None, near, written(near) if len(near) else None
    )


@dataclass(frozen=True, eq=False)
class Claim:
    """Answers to one question together with the model that is to confirm them.

    Parts of the question that the answers do not hold as data are None.
    """

    stated: Stated
    asking: Asking
    target: AbstractTarget | None
    cost: Any
    constraints: tuple[AbstractConstraint | None, ...]

    def __len__(self) -> int:
        return len(self.stated)

    def take(self, at: IntArray) -> Claim:
        """Some of the answers. The model predicts their rows by themselves."""
        return replace(self, stated=self.stated.take(at))

    @property
    def answers(self) -> Explanations:
        """The answers."""
        return self.stated.answers

    @property
    def reading(self) -> Reading:
        """The model as it was read."""
        return self.asking.reading

    @property
    def whole(self) -> bool:
        """Whether the answers hold the whole question as data. Then it can be solved again."""
        return self.target is not None and self.cost is not None and None not in self.constraints

    @cached_property
    def known(self) -> tuple[AbstractConstraint, ...]:
        """The constraints that the answers hold as data."""
        return tuple(found for found in self.constraints if found is not None)

    @cached_property
    def coin(self) -> float:
        """The smallest price that matters, computed again if the cost is known."""
        if self.cost is None:
            return self.stated.certificates[0].coin
        return price(self.cost, self.answers.space).coin

    @cached_property
    def referee(self) -> Referee:
        """Who helps constraints."""
        return self.asking.referee(self.target)

    @cached_property
    def before(self) -> Prediction:
        """What the model predicts for the row of each answer."""
        return self._predicted(self.stated.factuals)

    @cached_property
    def after(self) -> Prediction:
        """What it predicts for each point that was found."""
        return self._predicted(self.stated.points)

    @cached_property
    def at_closest(self) -> Prediction:
        """What it predicts for each closest row."""
        return self._predicted(self.stated.closest)

    def _predicted(self, table: Any) -> Prediction:
        return Prediction(self.reading.source, self.answers.space.select(table))

    def changes(self, at: IntArray, after: Prediction) -> Changes:
        """The changes from the rows of some answers to their points, or to the closest rows in their place."""
        start, points = self.stated.starts[at], self.answers.point_codes[at]
        return Changes(start, points, self.before.take(at), after, self.consequences.actions(start, points))

    @property
    def consequences(self) -> Consequences:
        """What follows from changes by itself."""
        return Consequences.listed(self.answers.space, self.known)

    def broken(self, changes: Changes) -> list[list[str]]:
        """The constraints that each change breaks, of those that the answers hold as data."""
        rules = [(repr(one), one.holds(changes, self.referee)) for one in self.known]
        return [[words for words, holds in rules if not holds[i]] for i in range(len(changes))]

    def inside(self, changes: Changes) -> BoolArray:
        """Which changes end within the ranges of all columns."""
        return inside(self.answers.space, changes, self.known)


def claim_of(answers: Stated, model: Any, objects: Iterable[Any] = ()) -> Claim:
    """The answers together with the model, which is read once, for their rows.

    `objects`: what the question only describes, in its order. Raises an error if they do not fit together.
    """
    given = ByDescription(objects)
    space, spec = answers.answers.space, answers.answers.question.spec
    reading = read_onto(model, space, space.select(answers.factuals))
    target = meant(spec.get("target"))
    listed = spec.get("constraints", [None] * len(answers.answers.question.constraints))
    constraints = tuple(meant(one, given) for one in listed)
    if target is not None:
        as_target(target, reading.source)
        target = target.unsettled()
    for constraint in constraints:
        if constraint is not None:
            constraint.validate(space)
    return Claim(answers, Asking(reading), target, meant(spec.get("cost")), constraints)


def meant(spec: Any, objects: Mapping[str, Any] | None = None) -> Any:
    """A part of the question.

    It is None if the answer only describes it and it is not one of the `objects` that were given.
    """
    try:
        return None if spec is None else from_spec(spec, objects or {})
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"the question cannot be read: {error!r} in {spec!r}.", "It must stand there as to_json() wrote it."
        ) from None
    except LookupError:
        return None
