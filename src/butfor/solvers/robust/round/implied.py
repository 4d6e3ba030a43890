"""Implications in parcels: where one change happens, another one must, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.problem.constraints.relations import Implication
from butfor.solvers.robust.round.parcels import A_NUMBER, LOST, Choices, Parcel

Happens = Callable[[FloatArray], BoolArray]
"""At which values of a feature something happens."""


@dataclass(frozen=True, eq=False)
class Implied:
    """One implication."""

    choices: Choices
    relation: Implication

    @cached_property
    def cause(self) -> tuple[int, Happens]:
        """The feature of the cause, and where it happens."""
        space, row = self.choices.problem.space, self.choices.row
        return space.index(self.relation.cause.name), partial(self.relation.caused_at, space, row)

    @cached_property
    def consequence(self) -> tuple[int, Happens]:
        """The feature of the consequence, and where it holds."""
        space, row = self.choices.problem.space, self.choices.row
        return space.index(self.relation.consequence.name), partial(self.relation.follows_at, space, row)

    def is_possible(self, parcel: Parcel) -> bool:
        """Whether some row of a parcel may keep it."""
        caused, follows = (self._happens(parcel, *event) for event in (self.cause, self.consequence))
        return bool(follows.any() or not caused.all())

    def parted(self, parcel: Parcel, row: FloatArray) -> list[Parcel]:
        """A parcel in two, if some of its rows must break it, or if a row of it does. The cause is decided first."""
        caused, follows = (self._happens(parcel, *event) for event in (self.cause, self.consequence))
        broken = self.cause[1](row[[self.cause[0]]])[0] and not self.consequence[1](row[[self.consequence[0]]])[0]
        if caused.any() and not follows.all() and (broken or caused.all() or not follows.any()):
            j, happens = self.consequence if caused.all() else self.cause
            return self.choices.parted(parcel, j, happens)
        return []

    def _happens(self, parcel: Parcel, j: int, happens: Happens) -> BoolArray:
        """What happens at the ends of a range and in each mode. It tells whether it always does, or ever."""
        possible = parcel.modes.get(j)
        if j in self.choices.problem.domain.levels:
            assert possible is not None
            return happens(
                np.array([self.choices.value(j, mode, np.nan) for mode in np.flatnonzero(possible).tolist()])
            )
        numbers = [parcel.low[j], parcel.high[j]] if possible is None or possible[A_NUMBER] else []
        lost = [np.nan] if possible is not None and possible[LOST] else []
        return happens(np.array(numbers + lost))
