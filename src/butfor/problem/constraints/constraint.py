"""What a constraint is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.estimator.prediction import Prediction
from butfor.problem.form import ConstraintKind
from butfor.problem.referee import Referee
from butfor.space.space import Space

if TYPE_CHECKING:
    from butfor.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class Changes:
    """Factuals and the points that they become, row by row: encoded, and as the estimator sees them."""

    start: FloatArray
    points: FloatArray
    before: Prediction
    after: Prediction

    def __len__(self) -> int:
        return len(self.points)

    def take(self, rows: IntArray) -> Changes:
        """Some of the changes."""
        return Changes(self.start[rows], self.points[rows], self.before.take(rows), self.after.take(rows))


class AbstractConstraint(ABC):
    """Something that an answer must respect. Immutable; prints as it was written.

    There are three kinds. A `Restriction` narrows what single columns may become. A `Relation` is about several columns at
    once, and the encoded row decides about it. A `JudgedConstraint` needs a model to decide.
    """

    @abstractmethod
    def validate(self, space: Space) -> None:
        """Raise a clear error if it cannot be meant in this space."""

    @abstractmethod
    def holds(self, changes: Changes, referee: Referee) -> BoolArray:
        """Which changes respect it: the rule that a certificate stands on."""

    def atoms(self) -> tuple[AbstractConstraint, ...]:
        """The smallest pieces that can be blamed for a contradiction."""
        return (self,)


class CodedConstraint(AbstractConstraint):
    """A constraint about which the encoded rows decide."""

    @abstractmethod
    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        """Which rows respect it."""

    def holds(self, changes: Changes, referee: Referee) -> BoolArray:
        return self.holds_between(referee.space, changes.start, changes.points)


class Relation(CodedConstraint):
    """A constraint on several columns at once; solvers know it by its kind."""

    kind: ClassVar[ConstraintKind]

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns whose number it reads, and not only whether they changed."""
        return ()


class JudgedConstraint(AbstractConstraint):
    """A constraint about which a model must decide: the user's own, or another one that came with it.

    `holds` is the rule. An exact solver needs it as part of the problem: `enter` works it in, or leaves the problem as it is.
    A constraint that was not worked in stays in `Problem.judged`: then exact solvers refuse, and searches ask `admits`.
    """

    of_point: ClassVar[bool] = False
    """Whether it asks about the point alone, whatever the factual and the target are."""

    @abstractmethod
    def admits(self, points: FloatArray, referee: Referee) -> BoolArray:
        """Which encoded points a search may take for keeping it; the verdict asks `holds` again."""

    def enter(self, problem: Problem, referee: Referee) -> Problem:
        """The problem with it worked in: exactly, or not at all."""
        return problem.with_judged(self)


def all_hold(constraints: tuple[AbstractConstraint, ...], changes: Changes, referee: Referee) -> BoolArray:
    """Which changes respect every constraint, each judged by its own rule."""
    fine = np.ones(len(changes), dtype=np.bool_)
    for constraint in constraints:
        if len(changes):
            fine = fine & constraint.holds(changes, referee)
    return fine
