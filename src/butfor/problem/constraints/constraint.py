"""What a constraint is: the base classes of its three kinds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.estimator.prediction import Prediction
from butfor.importers.read import Reading
from butfor.neighbours.ball import Ball
from butfor.problem.form import ConstraintKind
from butfor.problem.referee import Referee
from butfor.problem.targets.target import AbstractTarget
from butfor.space.space import Space


@dataclass(frozen=True, eq=False)
class Changes:
    """Factuals and the points that they become, row by row.

    - `start`, `points` (n, features): both, encoded;
    - `before`, `after`: what the estimator predicts for them;
    - `acted`: what one's own actions alone would make of the factuals, if more follows from them (None: nothing does).
    """

    start: FloatArray
    points: FloatArray
    before: Prediction
    after: Prediction
    acted: FloatArray | None = None

    @property
    def actions(self) -> FloatArray:
        """What one's own actions alone would make of the factuals. They are what is priced and counted."""
        return self.points if self.acted is None else self.acted

    def __len__(self) -> int:
        return len(self.points)

    def take(self, rows: IntArray) -> Changes:
        """Some of the changes."""
        acted = None if self.acted is None else self.acted[rows]
        return Changes(self.start[rows], self.points[rows], self.before.take(rows), self.after.take(rows), acted)


class Neighbourhood(NamedTuple):
    """What was found in the ball around a row.

    - `met`: whether all of it meets the target;
    - `worst`: the neighbour that is closest to missing it, by the exact adversary (None: not known);
    - `asked`: about how many neighbours the estimator was asked.
    """

    met: bool
    worst: FloatArray | None
    asked: int


class AbstractConstraint(ABC):
    """Something that an answer must respect. It is immutable and prints as it was written.

    There are three kinds. A `Restriction` narrows what single columns may become. A `Relation` is about several columns
    at once, and the encoded row is enough to decide it. A `JudgedConstraint` needs a model to decide it.

    Nobody asks for the class of a single constraint. What others must know of it, it says itself.
    """

    in_ball: ClassVar[bool] = False
    """Whether it must hold in a whole ball around the answer: then it has `ball`, `scaled` and `around`."""
    adds_scores: ClassVar[bool] = False
    """Whether it is kept by further scores of the model. They are about the answer alone."""
    has_level: ClassVar[bool] = False
    """Whether it is about a level of confidence, which `confidence` tells."""
    survives: ClassVar[bool] = False
    """Whether it says what an answer survives, which is told as a promise."""
    alters: ClassVar[bool] = False
    """Whether it says what a row becomes. Without it, the question is another one, and so it is never blamed."""

    @abstractmethod
    def validate(self, space: Space) -> None:
        """Raise a clear error if the constraint makes no sense in this space."""

    @abstractmethod
    def holds(self, changes: Changes, referee: Referee) -> BoolArray:
        """Which changes respect it. Certificates rely on this rule."""

    def learnt(self, space: Space, data: Any) -> Self:
        """The same with all that it takes from the rows of the data (default: nothing)."""
        return self

    def check_rows(self, space: Space, rows: FloatArray) -> None:  # noqa: B027
        """Raise a clear error if it makes no sense for encoded rows that are to be explained."""

    def among(self, constraints: tuple[AbstractConstraint, ...]) -> Self:
        """The same beside others, if they change what it says (default: they do not)."""
        return self

    @property
    def following(self) -> tuple[str, ...]:
        """The columns that it computes from others. They cost nothing, and are no changes of their own."""
        return ()

    def atoms(self) -> tuple[AbstractConstraint, ...]:
        """The smallest pieces that can be blamed for a contradiction."""
        return (self,)

    def ball(self, space: Space) -> Ball | None:
        """The ball around an answer in which it must hold, in the units of each column."""
        return None

    def scaled(self, share: float) -> AbstractConstraint:
        """The same in a ball of a share of the radius."""
        return self

    def confidence(self, changes: Changes, referee: Referee) -> FloatArray | None:
        """At which level of confidence each point meets the target. None if that is not known."""
        return None

    def around(self, changes: Changes, referee: Referee, sampled: int) -> list[Neighbourhood] | None:
        """What was found in the ball around each point, where the estimator is asked about so many neighbours of each."""
        return None


C = TypeVar("C", bound=AbstractConstraint)


class CodedConstraint(AbstractConstraint):
    """A constraint that is decided by the encoded rows alone.

    Most are about the values that a row gets (`of_values`). Others are about what one does to it: where a column follows from
    others, the two differ.
    """

    of_values: ClassVar[bool] = True

    @abstractmethod
    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        """Which rows respect it, when `before` becomes `after`."""

    def holds(self, changes: Changes, referee: Referee) -> BoolArray:
        end = changes.points if self.of_values else changes.actions
        return self.holds_between(referee.space, changes.start, end)


class Relation(CodedConstraint):
    """A constraint on several columns at once. Solvers recognise it by its `kind`.

    One that has no kind of its own is decided point by point: it is enumerated or searched, and other solvers refuse it.
    """

    kind: ClassVar[ConstraintKind] = ConstraintKind.OTHER

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns whose values it uses, not only whether they changed."""
        return ()


class JudgedConstraint(AbstractConstraint):
    """A constraint that a model must decide. It is the user's model, or one that the constraint brings.

    `holds` is the rule. What is `Demanded` enters a problem for exact solvers, what is `Searched` is asked point by point.
    """

    of_point: ClassVar[bool] = False
    """Whether it depends on the point alone, and not on the factual or the target."""

    asks_models: ClassVar[bool] = False
    """Whether it asks other models, and nothing else."""

    def asked(self, referee: Referee, before: Prediction) -> list[AskedModel]:
        """The models that it asks, and what it wants of them for rows that the explained model predicts `before`."""
        return []


class AskedModel(NamedTuple):
    """A model that a constraint asks: it must meet a target, or, if there is none, say at least so much of a row."""

    reading: Reading
    target: AbstractTarget | None
    least: float = 0.0


class Searched(JudgedConstraint):
    """A judged constraint that a search asks about each point. Exact solvers refuse a problem with one."""

    @abstractmethod
    def admits(self, points: FloatArray, referee: Referee) -> BoolArray:
        """Which encoded points a search may regard as keeping it. The verdict asks `holds` again."""


def among_each_other(constraints: Iterable[C]) -> tuple[C, ...]:
    """Constraints that know of each other."""
    listed = tuple(constraints)
    return tuple(constraint.among(listed) for constraint in listed)


def all_hold(constraints: tuple[AbstractConstraint, ...], changes: Changes, referee: Referee) -> BoolArray:
    """Which changes respect every constraint, each judged by its own rule."""
    fine = np.ones(len(changes), dtype=np.bool_)
    for constraint in constraints:
        if len(changes):
            fine = fine & constraint.holds(changes, referee)
    return fine
