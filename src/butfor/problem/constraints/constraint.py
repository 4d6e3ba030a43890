"""What a constraint is."""

from __future__ import annotations

from abc import ABC, abstractmethod

from butfor.arrays import BoolArray, FloatArray
from butfor.space.space import Space


class AbstractConstraint(ABC):
    """Something the answer must respect. Immutable; prints as it was written."""

    @abstractmethod
    def check(self, space: Space) -> None:
        """Raise a clear error if it cannot be meant in this space."""

    @abstractmethod
    def met(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        """Which rows respect it."""

    def atoms(self) -> tuple[AbstractConstraint, ...]:
        """The smallest pieces that can be blamed for a contradiction."""
        return (self,)
