"""What is known about an answer beside its cost and bound, and was computed with the user's own estimator or proven."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from butfor.space import levels


@dataclass(frozen=True)
class Farthest:
    """How far rows get if none gets far enough: probabilities or values.

    - `reached`: no admissible row gets beyond it;
    - `needed`: what the target needs;
    - `closest`: what the closest row has that was found (None: none was).
    """

    reached: float
    needed: float
    closest: float | None = None

    @property
    def way(self) -> float:
        """1 if the target needs more, -1 if it needs less."""
        return 1.0 if self.needed >= self.reached else -1.0

    def __str__(self) -> str:
        beyond = "above" if self.way > 0 else "below"
        return f"no admissible row gets {beyond} {self.reached:.4g}, and {self.needed:.4g} is needed"


@dataclass(frozen=True)
class Radius:
    """How large a ball around an answer may be if it is impossible with the one that was asked for.

    `possible`, `impossible`: shares of the radius at which there is an answer, and at which there is none.
    """

    possible: float
    impossible: float


@dataclass(frozen=True)
class Around:
    """What was asked of the estimator in the ball around an answer.

    - `predicted`: how many neighbours;
    - `score`: the estimator's own at the worst neighbour, if an exact search found that;
    - `worst`: the values of the worst neighbour that are not the answer's own.
    """

    predicted: int
    score: float | None = None
    worst: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Evidence:
    """What else a certificate knows. What was not asked, or is not known, is None.

    - `farthest`: how far rows get if no admissible change meets the target;
    - `radius`: at which shares of its radius a ball has an answer, if it has none at the whole;
    - `around`: what was asked of the estimator in the ball around the answer;
    - `confidence`: the level at which the answer holds for the true coefficients, computed from the estimator's own;
    - `left_open`: a difference of costs that the rounding of the model leaves open. Such an answer is called optimal.
    """

    farthest: Farthest | None = None
    radius: Radius | None = None
    around: Around | None = None
    confidence: float | None = None
    left_open: float | None = None

    @property
    def has_closest_row(self) -> bool:
        """Whether a row was found that comes close to an impossible target."""
        return self.farthest is not None and self.farthest.closest is not None

    def to_dict(self) -> dict[str, Any]:
        """What is known, as plain data."""
        known: dict[str, Any] = {name: one for name, one in vars(self).items() if one is not None}
        found = {name: asdict(one) if name in _PARTS else one for name, one in known.items()}
        if self.around is not None:
            found["around"]["worst"] = {name: levels.written(value) for name, value in self.around.worst.items()}
        return found


NO_EVIDENCE = Evidence()


def from_dict(data: dict[str, Any]) -> Evidence:
    """The evidence that `to_dict` wrote."""
    parts = {name: kind(**data[name]) for name, kind in _PARTS.items() if name in data}
    if "around" in parts:
        worst = {name: levels.read(value) for name, value in parts["around"].worst.items()}
        parts["around"] = replace(parts["around"], worst=worst)
    return Evidence(**parts, confidence=data.get("confidence"), left_open=data.get("left_open"))


_PARTS: dict[str, Any] = {"farthest": Farthest, "radius": Radius, "around": Around}
