"""What robustness costs: the cheapest answer at each of several radii."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from butfor.arrays import FloatArray
from butfor.explanation.answer_list import DrawnAnswers
from butfor.explanation.explanation import Explanation
from butfor.solvers.outcome import Status, statuses_of
from butfor.space import frames


@dataclass(frozen=True, eq=False, repr=False)
class Front(DrawnAnswers):
    """The cheapest answers that stay valid in balls of several radii.

    - `radii`, `costs`, `bounds`: what is known at each radius. A cost is infinite where no answer was found;
    - `answers`: the answer at each radius. It may be one that was found for another radius.
    """

    way: ClassVar[str] = "front"

    radii: FloatArray
    costs: FloatArray
    bounds: FloatArray
    answers: tuple[Explanation, ...]

    @property
    def statuses(self) -> list[Status]:
        """What is known about each cost."""
        return statuses_of(self.costs, self.bounds)

    def to_frame(self) -> Any:
        """One row per radius: radius, cost, bound, status, changes. For arrays it is a dict of columns."""
        columns: dict[str, list[Any]] = {
            "radius": self.radii.tolist(),
            "cost": self.costs.tolist(),
            "bound": self.bounds.tolist(),
            "status": [status.name for status in self.statuses],
            "changes": [len(answer.changes) if answer.found else None for answer in self],
        }
        return frames.framed(self[0].factual, columns)
