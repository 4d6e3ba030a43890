"""What is known of an answer, recomputed from the user's own estimator; never a solver's word."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from butfor.solvers.solver import Status


@dataclass(frozen=True)
class Certificate:
    """The proof that comes with an answer.

    `status` says what is known, `bound` is a proven lower bound on the cost (infinity: no answer exists), `why` the
    reason in words. `checks` lists what was recomputed from the estimator, and how it came out.
    """

    status: Status
    cost: float
    bound: float
    why: str
    solver: str
    checks: tuple[tuple[str, bool], ...] = ()
    conflict: tuple[str, ...] = ()
    seconds: float = 0.0
    seed: int = 0
    fingerprint: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """The share of the cost that is not proven necessary: (cost - bound) / cost."""
        if not np.isfinite(self.cost) or self.cost == 0:
            return 0.0 if self.status in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE) else np.inf
        return max(0.0, (self.cost - self.bound) / self.cost)

    def __str__(self) -> str:
        return f"{self.status.name}: {self.why}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, infinities as null."""
        return {
            "status": self.status.name,
            "cost": _finite(self.cost),
            "bound": _finite(self.bound),
            "gap": _finite(self.gap),
            "why": self.why,
            "solver": self.solver,
            "checks": [{"check": name, "passed": passed} for name, passed in self.checks],
            "conflict": list(self.conflict),
            "seconds": self.seconds,
            "seed": self.seed,
            "fingerprint": self.fingerprint,
            "versions": self.versions,
        }


def from_dict(data: dict[str, Any]) -> Certificate:
    """The certificate that `to_dict` wrote."""
    status = Status[data["status"]]
    missing_bound = np.inf if status is Status.PROVEN_INFEASIBLE else 0.0
    return Certificate(
        status=status,
        cost=np.inf if data["cost"] is None else data["cost"],
        bound=missing_bound if data["bound"] is None else data["bound"],
        why=data["why"],
        solver=data["solver"],
        checks=tuple((item["check"], item["passed"]) for item in data["checks"]),
        conflict=tuple(data["conflict"]),
        seconds=data["seconds"],
        seed=data["seed"],
        fingerprint=data["fingerprint"],
        versions=dict(data["versions"]),
    )


def _finite(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None
