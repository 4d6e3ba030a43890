"""What is demanded of an answer beyond the target, the domain and the relations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.estimator.prediction import Prediction
from butfor.neighbours.ball import Ball
from butfor.problem.constraints.constraint import Searched
from butfor.problem.form import ConstraintKind
from butfor.problem.targets.target import AbstractTarget


@dataclass(frozen=True, eq=False)
class Pool:
    """The rows from which the answer must be chosen.

    - `points`: these rows, encoded;
    - `after`: what the estimator predicts for them;
    - `before`: what it predicts for the rows of the problem;
    - `target`: what is wanted.
    """

    points: FloatArray
    after: Prediction
    before: Prediction
    target: AbstractTarget

    def take(self, rows: IntArray | slice) -> Pool:
        """The pool for some of the rows of the problem."""
        at = np.arange(self.before.height)[rows]
        return replace(self, before=self.before.take(at))

    def met(self, row: int) -> BoolArray:
        """Which rows of the pool meet the target, as answers to a row of the problem."""
        start = self.before.take(np.full(len(self.points), row))
        return self.target.met(start, self.after)

    @cached_property
    def offsets(self) -> FloatArray:
        """What each row of the pool adds to the cost."""
        return self.target.offsets(self.after, len(self.points))


@dataclass(frozen=True, eq=False)
class Demands:
    """What an answer must respect beside its scores, the domain and the relations. Most problems demand nothing.

    - `margin`: how far from every deciding boundary the answer must stay, in ranges;
    - `ball`: the ball around the answer in which the target must be met everywhere, if there is one;
    - `pool`: the rows from which the answer must be chosen, if there are any;
    - `judged`: constraints that only the referee can decide, point by point (without a referee there are none).
    """

    margin: float = 0.0
    ball: Ball | None = None
    pool: Pool | None = None
    judged: tuple[Searched, ...] = ()

    def take(self, rows: IntArray | slice) -> Demands:
        """The same for some of the rows of the problem."""
        return self if self.pool is None else replace(self, pool=self.pool.take(rows))

    @property
    def kinds(self) -> frozenset[ConstraintKind]:
        """The kinds of all that is demanded, as the form of a problem lists them. None are nothing."""
        return frozenset(self._kinds())

    def _kinds(self) -> Iterator[ConstraintKind]:
        if self.margin:
            yield ConstraintKind.MARGIN
        if self.ball is not None:
            yield ConstraintKind.ROBUST
        if self.pool is not None:
            yield ConstraintKind.CANDIDATES
        if self.judged:
            yield ConstraintKind.JUDGED


NO_DEMANDS = Demands()
"""No demands."""
