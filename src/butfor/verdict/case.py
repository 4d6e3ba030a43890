"""A question with its rows: what is planned, solved, verified and told again and again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.estimator.prediction import Prediction
from butfor.model.scores import UNIT_SINGLE
from butfor.problem.constraints.constraint import Changes
from butfor.problem.constraints.follows import Consequences
from butfor.problem.problem import Problem
from butfor.problem.question import Question
from butfor.problem.referee import Referee
from butfor.space.space import same
from butfor.verdict.alone import open_factuals, partly_alone


@dataclass(frozen=True, eq=False)
class Case:
    """A question with its rows, and who may be asked about them.

    `free` (rows, features): what each row may change, beside the constraints (None: everything).
    """

    question: Question
    referee: Referee
    factuals: FloatArray
    before: Prediction
    free: BoolArray | None = None

    def __len__(self) -> int:
        return len(self.factuals)

    def take(self, rows: IntArray) -> Case:
        """The same for some of the rows."""
        free = None if self.free is None else self.free[rows]
        return replace(self, factuals=self.factuals[rows], before=self.before.take(rows), free=free)

    def freeing(self, columns: BoolArray) -> Case:
        """The only row once for each line of `columns` (n, features), which says what it may change there, and what follows."""
        follows = np.isin(self.referee.space.names, self.question.following)
        return replace(self.take(np.zeros(len(columns), dtype=np.intp)), free=columns | follows)

    def begun(self) -> Case:
        """The same, with what the estimator predicts for each row now, asked alone where that can matter."""
        now = Changes(self.factuals, self.factuals, self.before, self.before)
        return replace(self, before=partly_alone(self.before, open_factuals(self.question, self.referee, now)))

    def met_together(self, rows: IntArray, points: FloatArray) -> BoolArray:
        """Which points meet the target as changes of rows, if the estimator is asked about all of them together."""
        changes = self.changes(rows, points)
        return self.question.target.met(changes.before, changes.after)

    @property
    def unmet(self) -> IntArray:
        """The rows that do not meet the target yet."""
        return np.flatnonzero(~self.question.target.met(self.before, self.before))

    def already(self, rows: IntArray, problem: Problem) -> BoolArray:
        """Which rows already meet the target, at no cost and without breaking a constraint."""
        target, some = self.question.target, self.before.take(rows)
        met = target.met(some, some)
        if not met.any() or target.offsets(some, len(rows)).any() or self.question.judged or problem.demands.pool:
            return np.zeros(len(rows), dtype=np.bool_)
        return met & problem.admits(problem.factuals)

    def changes(self, rows: IntArray, points: FloatArray) -> Changes:
        """Points as changes of rows, as they are written in the user's own kind of table.

        The estimator predicts that table, and the changes are read from it again.
        """
        reading, start, before = self.referee.reading, self.factuals[rows], self.before.take(rows)
        table = reading.space.decode(points, before.table, start)
        written = reading.space.read_again(table, points, start)
        acted = self.consequences.actions(start, written) if self.consequences else None
        return Changes(start, written, before, Prediction(reading.source, table), acted)

    @cached_property
    def consequences(self) -> Consequences:
        """What follows from changes by itself."""
        return self.question.consequences(self.referee.space)

    def followed(self, rows: IntArray, acted: FloatArray) -> FloatArray:
        """What rows become if they are acted on so."""
        return self.consequences.values(self.factuals[rows], acted) if self.consequences else acted

    def alike(self, claimed: FloatArray, written: FloatArray) -> BoolArray:
        """Where a written value is the claimed one. A number in a column of float32 may be rounded to that."""
        single = np.array([feature.single and feature.levels is None for feature in self.referee.space])
        return same(claimed, written) | (single & (np.abs(written - claimed) <= UNIT_SINGLE * np.abs(claimed)))
