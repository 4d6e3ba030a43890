"""What is read of a problem where another one is made of it, whose columns are merged, or are actions."""

from __future__ import annotations

from typing import Protocol

from butfor.arrays import FloatArray
from butfor.model.questions import Model
from butfor.model.scores import ScoreSet
from butfor.problem.constraints.constraint import Relation
from butfor.problem.demands import Demands
from butfor.problem.domain import Domain
from butfor.problem.prices import Prices
from butfor.problem.witnesses import Witnesses
from butfor.space.space import Space


class Whole(Protocol):
    """A problem, of which this is known."""

    @property
    def space(self) -> Space: ...
    @property
    def model(self) -> Model: ...
    @property
    def factuals(self) -> FloatArray: ...
    @property
    def score_sets(self) -> tuple[ScoreSet, ...]: ...
    @property
    def prices(self) -> Prices: ...
    @property
    def domain(self) -> Domain: ...
    @property
    def relations(self) -> tuple[Relation, ...]: ...
    @property
    def demands(self) -> Demands: ...
    @property
    def witnesses(self) -> Witnesses: ...
