"""The question, checked: the target, the prices and the constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from butfor.errors import UnknownColumnError, UnsupportedProblemError
from butfor.estimator.prediction import Prediction
from butfor.importers.read import Reading
from butfor.model.readout import AbstractReadout
from butfor.problem.constraints.candidates import Candidates
from butfor.problem.constraints.constraint import AbstractConstraint, JudgedConstraint, among_each_other
from butfor.problem.constraints.follows import Consequences
from butfor.problem.costs import DEFAULT, AbstractCost
from butfor.problem.prices import Prices
from butfor.problem.pricing import price_beside
from butfor.problem.targets.names import as_target
from butfor.problem.targets.target import AbstractTarget
from butfor.problem.written.constraints import Constraints, as_constraints
from butfor.problem.written.costs import read_cost
from butfor.space.space import NamesUnread, Space

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Question:
    """What all rows of one call share.

    It does not say how to search for answers (solver, seed, how many).
    """

    target: AbstractTarget
    cost: AbstractCost
    prices: Prices
    constraints: tuple[AbstractConstraint, ...]

    @property
    def judged(self) -> tuple[JudgedConstraint, ...]:
        """The constraints that a model must decide."""
        return tuple(found for found in self.constraints if isinstance(found, JudgedConstraint))

    @property
    def candidates(self) -> tuple[Candidates, ...]:
        """The lists of rows from which the answer must be chosen."""
        return tuple(found for found in self.constraints if isinstance(found, Candidates))

    @property
    def following(self) -> tuple[str, ...]:
        """The columns that are computed from others."""
        return tuple(name for constraint in self.constraints for name in constraint.following)

    def consequences(self, space: Space) -> Consequences:
        """What follows from changes by itself."""
        return Consequences.listed(space, self.constraints)

    def settled(self, readout: AbstractReadout, before: Prediction) -> Question:
        """The same question, with everything filled into the target that depends on the model."""
        return replace(self, target=self.target.settled(readout, before))

    @property
    def in_coins(self) -> Question:
        """The same question with all costs in coins, as solvers are asked it."""
        coin = self.prices.coin
        return replace(self, prices=self.prices.in_coins, target=self.target.priced(1 / coin))

    def under(self, constraints: Iterable[AbstractConstraint]) -> Question:
        """The same question under other constraints."""
        return replace(self, constraints=among_each_other(constraints))

    def also_under(self, *constraints: AbstractConstraint) -> Question:
        """The same question under further constraints."""
        all_of_them = (*self.constraints, *constraints)
        _refuse_together(all_of_them)
        return self.under(all_of_them)


class QuestionSpace(Space):
    """The space of a question that is read: to look a column up is to name it."""

    def index(self, name: str) -> int:
        """The position of a column. One that nothing reads must be held to the rules first."""
        found = self.position(name)
        if self.features[found].unread:
            raise NamesUnread(self.names[found])
        return found


def held_to_rules(reading: Reading, use: Callable[[Space], T]) -> tuple[Reading, T]:
    """What `use` makes of the columns, and the reading that holds the columns which it named to the rules of all others."""
    while True:
        try:
            return reading, use(QuestionSpace(reading.space.features))
        except NamesUnread as named:
            reading = reading.held(named.name)


def ask(
    reading: Reading, target: Any, cost: AbstractCost | str | None, constraints: Constraints
) -> tuple[Reading, Question]:
    """The question as the user wrote it, checked against the columns and the estimator. What it needs of the data, it learns.

    Beside it, the reading over which it is asked: columns that nothing reads are held to the rules once it names them.
    """
    return held_to_rules(reading, lambda space: _ask(reading, space, target, cost, constraints))


def _ask(
    reading: Reading, space: Space, target: Any, cost: AbstractCost | str | None, constraints: Constraints
) -> Question:
    listed = as_constraints(constraints, space)
    for constraint in listed:
        _validate(constraint, space)
    _refuse_together(listed)
    Consequences.listed(space, listed)
    chosen = DEFAULT if cost is None else read_cost(cost) if isinstance(cost, str) else cost
    learnt = among_each_other(constraint.learnt(space, reading.data) for constraint in among_each_other(listed))
    prices = price_beside(chosen, space, (name for constraint in learnt for name in constraint.following))
    return Question(as_target(target, reading.source), chosen, prices, learnt)


def _validate(constraint: AbstractConstraint, space: Space) -> None:
    """Refuse a constraint that makes no sense in this space. About an unknown column, the error names the constraint."""
    try:
        constraint.validate(space)
    except UnknownColumnError as error:
        raise error.within(f"{constraint!r}") from None


def _refuse_together(constraints: Sequence[AbstractConstraint]) -> None:
    """Refuse constraints of which no solver knows what they mean together."""
    _refuse_scores_beside_a_ball(constraints)
    _refuse_beside_consequences(constraints)


def _refuse_beside_consequences(constraints: Iterable[AbstractConstraint]) -> None:
    """Refuse what is about rows, and not about what one does, beside consequences: a ball, given rows, computed columns."""
    consequences = [found for found in constraints if found.alters]
    others = [found for found in constraints if found.in_ball or found.following or isinstance(found, Candidates)]
    if consequences and others:
        raise UnsupportedProblemError(
            f"{others[0]!r} was given with {consequences[0]!r}.",
            "Where columns follow from others (bf.follows), an answer says what one does. "
            "It cannot be one of given rows, have a ball around it, or hold computed columns.",
            "Leave one of them out.",
        )


def _refuse_scores_beside_a_ball(constraints: Iterable[AbstractConstraint]) -> None:
    """Refuse a ball around an answer beside constraints that add scores: they hold for the answer alone."""
    others = [found for found in constraints if found.adds_scores]
    balls = [found for found in constraints if found.in_ball]
    if others and balls:
        raise UnsupportedProblemError(
            f"{balls[0]!r} was given with {others[0]!r}.",
            "A ball around the answer is kept for the explained model alone.",
            "Leave one of them out.",
        )
