"""Who may be asked about an answer, and how far the answers of a model are rounded."""

from __future__ import annotations

from dataclasses import dataclass, replace

from butfor.arrays import IntArray
from butfor.model.scores import UNIT_DOUBLE
from butfor.problem.oracle import AbstractConfirmation, AbstractOracle
from butfor.problem.referee import Referee


@dataclass(frozen=True, eq=False)
class Witnesses:
    """Who may be asked about the answers to a problem, and how exact what they say is.

    - `oracle`: says what a model predicts that could not be read;
    - `confirmation`: asks the estimator where rounding decides (without one, the model's own scores decide);
    - `examples`: says what the estimator predicts, for rows of the training data and for any other;
    - `referee`: decides the constraints that are judged point by point;
    - `unit`: the unit roundoff of the estimator;
    - `guard`: how many times more than derived the rounding of a sum is taken for. It is used for rows where the
      estimator decided against a point beyond its rounding.
    """

    oracle: AbstractOracle | None = None
    confirmation: AbstractConfirmation | None = None
    examples: AbstractOracle | None = None
    referee: Referee | None = None
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
        return replace(self, confirmation=None if self.confirmation is None else self.confirmation.of_target())


NO_WITNESSES = Witnesses()
"""Nobody is asked: the model's own scores decide."""
