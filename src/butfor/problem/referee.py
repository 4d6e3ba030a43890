"""The referee: it helps constraints that the encoded row alone cannot decide."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from butfor.arrays import FloatArray
from butfor.importers.read import Reading
from butfor.problem.targets.target import AbstractTarget
from butfor.problem.training import TrainingRows
from butfor.space import frames
from butfor.space.space import Space

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Referee:
    """What a constraint needs when the encoded row is not enough to decide it.

    - `reading`: the model and its columns;
    - `target`: what is wanted of the model (None: not known);
    - `read`: what was read for constraints, kept for all questions;
    - `current`: what was read of estimators, as they are in this question.
    """

    reading: Reading
    target: AbstractTarget | None = None
    read: dict[Hashable, Any] = field(default_factory=dict)
    current: dict[int, Any] = field(default_factory=dict)

    @property
    def training(self) -> TrainingRows:
        """Rows of the training data."""
        return self.once("training", lambda: TrainingRows(self.reading))

    @property
    def space(self) -> Space:
        """The columns."""
        return self.reading.space

    def written(self, points: FloatArray) -> Any:
        """Encoded points as a table of the user's kind."""
        sample = frames.take(self.reading.sample, np.zeros(len(points), dtype=np.intp))
        return self.space.decode(points, sample, np.full(points.shape, np.inf))

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """The object for a key. It is made when it is first needed."""
        if key not in self.read:
            self.read[key] = make()
        made: T = self.read[key]
        return made

    def reading_of(self, estimator: Any, read: Callable[[], T]) -> T:
        """What `read` knows of an estimator. It is read again if it was fitted again since the last question."""
        from butfor.estimator.state import state_of

        if id(estimator) not in self.current:
            state, known = state_of(estimator), self.read.get(id(estimator))
            if known is None or state is None or known[1] != state:
                known = estimator, state, read()
            self.current[id(estimator)] = self.read[id(estimator)] = known
        made: T = self.current[id(estimator)][2]
        return made
