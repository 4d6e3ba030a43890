"""What robustness costs: the cheapest answer at each of several radii."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from butfor.arrays import FloatArray
from butfor.explanation.explanation import Explanation
from butfor.explanation.render import rendered
from butfor.solvers.outcome import Status, statuses_of
from butfor.space import frames


@dataclass(frozen=True, eq=False, repr=False)
class Front:
    """The cheapest answers that stay valid in balls of several radii.

    - `radii`, `costs`, `bounds`: what is known at each radius. A cost is infinite where no answer was found;
    - `answers`: the answer at each radius. It may be one that was found for another radius.
    """

    radii: FloatArray
    costs: FloatArray
    bounds: FloatArray
    answers: Sequence[Explanation]

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
            "changes": [len(answer.changes) if answer.found else None for answer in self.answers],
        }
        row = self.answers[0].factual
        return columns if frames.is_array(row) else frames.like(row, columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw cost over radius, with bounds below where they differ, with matplotlib. Returns the axes."""
        return rendered(self, "front", ax)

    def __repr__(self) -> str:
        lines = ["radius  cost"]
        for radius, cost, bound, status in zip(self.radii, self.costs, self.bounds, self.statuses, strict=True):
            words = (
                f"{cost:.6g}" if status.found else "impossible" if status is Status.PROVEN_INFEASIBLE else "not found"
            )
            gap = f" (at least {bound:.6g})" if status in (Status.WITHIN_GAP, Status.VALID, Status.NOT_FOUND) else ""
            lines.append(f"{radius:<6g}  {words}{gap}")
        return "\n".join(lines)
