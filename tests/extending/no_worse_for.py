"""A private judged constraint: "the second model must not get worse". It needs this file, and nothing in the package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.problem.constraints.constraint import Changes, Searched
from butfor.problem.referee import Referee
from butfor.space.space import Space


@dataclass(frozen=True, eq=False)
class NoWorseFor(Searched):
    """What a second model predicts, a number, is at least `least`."""

    model: Any
    least: float

    of_point = True

    def __repr__(self) -> str:
        return f"no_worse_for({type(self.model).__name__}, {self.least:g})"

    def validate(self, space: Space) -> None:
        """Any second model will do."""

    def holds(self, changes: Changes, referee: Referee) -> BoolArray:
        return np.asarray(self.model.predict(changes.after.table) >= self.least)

    def admits(self, points: FloatArray, referee: Referee) -> BoolArray:
        return np.asarray(self.model.predict(referee.written(points)) >= self.least)
