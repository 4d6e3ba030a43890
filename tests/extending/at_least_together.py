"""A private relation: "at least two of these three change". It needs this file, and nothing in the package."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError
from butfor.problem.constraints.constraint import Relation
from butfor.space.space import Space, same


@dataclass(frozen=True)
class AtLeastTogether(Relation):
    """At least `count` of these columns change."""

    names: tuple[str, ...]
    count: int

    def __repr__(self) -> str:
        return f"at_least_together({', '.join(map(repr, self.names))}, count={self.count})"

    def validate(self, space: Space) -> None:
        for name in self.names:
            space.index(name)
        if not 0 <= self.count <= len(self.names):
            raise InputError(f"{self!r} was given.", f"The count must be between 0 and {len(self.names)}.")

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        at = [space.index(name) for name in self.names]
        return np.asarray((~same(before[:, at], after[:, at])).sum(axis=1) >= self.count)
