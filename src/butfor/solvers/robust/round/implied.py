"""Implications in parcels: where one change happens, another one must, too."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.problem.constraints.implications import At, Implication
from butfor.solvers.robust.round.parcels import A_NUMBER, LOST, Choices, Parcel


@dataclass(frozen=True, eq=False)
class Implied:
    """One implication."""

    choices: Choices
    relation: Implication

    @cached_property
    def parts(self) -> list[tuple[int, At]]:
        """The features of the cause and of the consequence, and where each holds."""
        return self.relation.parts(self.choices.problem.space, self.choices.row)

    def is_possible(self, parcel: Parcel) -> bool:
        """Whether some row of a parcel may keep it."""
        caused, follows = (self._happens(parcel, *part) for part in self.parts)
        return bool(follows.any() or not caused.all())

    def parted(self, parcel: Parcel, row: FloatArray) -> list[Parcel]:
        """A parcel in two, if some of its rows must break it, or if a row of it does. The cause is decided first."""
        caused, follows = (self._happens(parcel, *part) for part in self.parts)
        (cause, causes), (consequence, keeps) = self.parts
        broken = causes(row[[cause]])[0] and not keeps(row[[consequence]])[0]
        if caused.any() and not follows.all() and (broken or caused.all() or not follows.any()):
            return self.choices.parted(parcel, *self.parts[bool(caused.all())])
        return []

    def _happens(self, parcel: Parcel, j: int, happens: At) -> BoolArray:
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
