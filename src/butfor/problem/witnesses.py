"""Who may be asked about an answer, and how far the answers of a model are rounded."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.model.scores import UNIT_DOUBLE
from butfor.problem.oracle import AbstractConfirmation, AbstractOracle
from butfor.problem.referee import Referee


class Refusals:
    """What the estimator refused alone, and may take beside other rows. Bounds hold for that, too.

    For the values of a row, it is the least cost of such a point. All parts of a question keep it together.
    """

    def __init__(self) -> None:
        self._least: dict[bytes, float] = {}

    def note(self, row: FloatArray, cost: float) -> None:
        """Remember a point of this cost."""
        self._least[row.tobytes()] = min(cost, self._least.get(row.tobytes(), np.inf))

    def forget(self, row: FloatArray) -> None:
        """Forget all points of a row."""
        self._least.pop(row.tobytes(), None)

    def least(self, rows: FloatArray) -> FloatArray:
        """The least cost for each row; infinite if nothing was refused."""
        return np.array([self._least.get(row.tobytes(), np.inf) for row in rows], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Who may be asked about the answers to a problem, and how exact what they say is.

    - `oracle`: says what a model predicts that could not be read;
    - `confirmation`: asks the estimator where rounding decides (without one, the model's own scores decide);
    - `examples`: says what the estimator predicts, for rows of the training data and for any other;
    - `referee`: decides the constraints that are judged point by point;
    - `refusals`: remembers what the confirmation refused alone;
    - `unit`: the unit roundoff of the estimator;
    - `guard`: how many times more than derived the rounding of a sum is taken for. It is used for rows where the
      estimator decided against a point beyond its rounding.
    """

    oracle: AbstractOracle | None = None
    confirmation: AbstractConfirmation | None = None
    examples: AbstractOracle | None = None
    referee: Referee | None = None
    refusals: Refusals | None = None
    unit: float = UNIT_DOUBLE
    guard: float = 0.0

    def take(self, rows: IntArray | slice) -> Witnesses:
        """The same for some of the rows of the problem."""
        return replace(
            self,
            oracle=None if self.oracle is None else self.oracle.take(rows),
            confirmation=None if self.confirmation is None else self.confirmation.take(rows),
            examples=None if self.examples is None else self.examples.take(rows),
        )

    @property
    def of_target(self) -> Witnesses:
        """The same about the target alone, whatever the constraints."""
        asks = None if self.confirmation is None else self.confirmation.of_target()
        return replace(self, confirmation=asks, refusals=None)


NO_WITNESSES = Witnesses()
"""Nobody is asked: the model's own scores decide."""
