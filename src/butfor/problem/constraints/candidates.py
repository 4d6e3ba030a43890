"""The constraint that the answer is one of given rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError
from butfor.problem.constraints.constraint import CodedConstraint
from butfor.space import frames
from butfor.space.space import Space, same


@dataclass(frozen=True, eq=False)
class Candidates(CodedConstraint):
    """See `candidates`. In a problem, its rows become a `Pool`."""

    table: Any

    def __repr__(self) -> str:
        return f"candidates({len(self.table)} rows)"

    def validate(self, space: Space) -> None:
        if not frames.height(frames.as_table(self.table)):
            raise InputError("bf.candidates was given no rows.", "At least one is needed.")
        self.rows(space)

    def rows(self, space: Space) -> FloatArray:
        """The rows, encoded."""
        return space.encode(self.table)

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        rows = self.rows(space)
        return np.array([same(rows, row).all(axis=1).any() for row in after], dtype=np.bool_)
