"""Those who know only values, asked about actions: each of these works out what follows before it asks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.problem.constraints.constraint import Changes, Searched
from butfor.problem.constraints.follows import Consequences
from butfor.problem.oracle import AbstractConfirmation, AbstractOracle, Response
from butfor.problem.referee import Referee
from butfor.problem.witnesses import Witnesses


@dataclass(frozen=True, eq=False)
class ActedConfirmation(AbstractConfirmation):
    """The estimator's word on what actions make of the first row."""

    inner: AbstractConfirmation
    consequences: Consequences
    factuals: FloatArray

    def confirms(self, point: FloatArray, most: float) -> bool:
        return self.inner.confirms(self._values(point), most)

    def confirms_twins(self, point: FloatArray, most: float) -> bool:
        return self.inner.confirms_twins(self._values(point), most)

    def of_target(self) -> AbstractConfirmation:
        target = self.inner.of_target()
        return self if target is self.inner else replace(self, inner=target)

    def take(self, rows: IntArray | slice) -> ActedConfirmation:
        return replace(self, inner=self.inner.take(rows), factuals=self.factuals[rows])

    def _values(self, point: FloatArray) -> FloatArray:
        return np.asarray(self.consequences.values(self.factuals[:1], point[None])[0])


@dataclass(frozen=True, eq=False)
class ActedOracle(AbstractOracle):
    """What is predicted for rows that are acted on. The examples are rows that others make of themselves."""

    inner: AbstractOracle
    consequences: Consequences
    factuals: FloatArray
    known: dict[int, Response] = field(default_factory=dict)

    @property
    def examples(self) -> FloatArray:  # type: ignore[override]
        return self.inner.examples

    def ask(self, points: FloatArray, rows: IntArray) -> Response:
        return self.inner.ask(self.consequences.values(self.factuals[rows], points), rows)

    def of_examples(self, row: int) -> Response:
        if row not in self.known:
            self.known[row] = self.ask(self.examples, np.full(len(self.examples), row))
        return self.known[row]

    def take(self, rows: IntArray | slice) -> ActedOracle:
        return ActedOracle(self.inner.take(rows), self.consequences, self.factuals[rows])


@dataclass(frozen=True, eq=False)
class ActedSearched(Searched):
    """A constraint on values that the referee decides about each point, whatever row it was made of."""

    constraint: Searched
    consequences: Consequences
    start: FloatArray

    def validate(self, space: object) -> None:
        """It was validated before."""

    def holds(self, changes: Changes, referee: Referee) -> BoolArray:
        points = self.consequences.values(changes.start, changes.points)
        return self.constraint.holds(Changes(changes.start, points, changes.before, changes.after), referee)

    def admits(self, points: FloatArray, referee: Referee) -> BoolArray:
        start = np.broadcast_to(self.start, points.shape)
        return self.constraint.admits(self.consequences.values(start, points), referee)


def acted_witnesses(asked: Witnesses, consequences: Consequences, factuals: FloatArray) -> Witnesses:
    """Who may be asked about actions."""

    def oracle(inner: AbstractOracle | None) -> AbstractOracle | None:
        return None if inner is None else ActedOracle(inner, consequences, factuals)

    asks = asked.confirmation
    return replace(
        asked,
        oracle=oracle(asked.oracle),
        examples=oracle(asked.examples),
        confirmation=None if asks is None else ActedConfirmation(asks, consequences, factuals),
    )
