"""Relations about the values that rows get, asked about one's actions on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.problem.constraints.constraint import AbstractConstraint, Relation
from butfor.problem.constraints.follows import Consequences
from butfor.problem.constraints.restrictions import narrowed_by, restrictions_in
from butfor.problem.domain import Domain, open_domain
from butfor.space.space import Space, same


def possible_values(space: Space, factuals: FloatArray, constraints: Iterable[AbstractConstraint]) -> Domain:
    """The domain of the values that some rows may get, whatever one has to do for that."""
    about = [one for one in restrictions_in(constraints) if one.of_values or one.widens]
    return narrowed_by(open_domain(space, factuals), about, space)


@dataclass(frozen=True, eq=False)
class OfValues(Relation):
    """A relation between the values that a row gets, asked about actions."""

    relation: Relation
    consequences: Consequences

    @property
    def numbers(self) -> tuple[str, ...]:
        return self.relation.numbers

    def validate(self, space: Space) -> None:
        self.relation.validate(space)

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        return self.relation.holds_between(space, before, self.consequences.values(before, after))


@dataclass(frozen=True, eq=False)
class ValuesKept(Relation):
    """Columns that follow from others end where they may. It is asked about actions."""

    consequences: Consequences
    constraints: tuple[AbstractConstraint, ...]

    @property
    def numbers(self) -> tuple[str, ...]:
        """What one does to a column can make up for what follows from others: only together they may be undone."""
        columns = (*self.consequences.effects, *self.consequences.causes)
        return tuple(dict.fromkeys(self.consequences.space.names[j] for j in columns))

    def validate(self, space: Space) -> None:
        """It makes sense wherever its consequences do."""

    def values(self, before: FloatArray) -> Domain:
        """The values that may be."""
        return possible_values(self.consequences.space, before, self.constraints)

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        at = list(self.consequences.effects)
        ends, values = self.values(before), self.consequences.values(before, after)[:, at]
        within = (values >= ends.low[:, at]) & (values <= ends.high[:, at])
        kept = np.where(same(values, before[:, at]), ends.stay[:, at], within)
        return np.asarray((kept | np.isnan(values)).all(axis=1))
