"""What a swarm is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from butfor.errors import InputError, choice, number
from butfor.solvers.swarm.telling import TELLING, Telling

CHOICES = ("clusters", "random", "own", "last")


def constriction(phi1: float = 2.05, phi2: float = 2.05, k: float = 1.0) -> tuple[float, float, float]:
    """Weights with which a swarm settles.

    They are the inertia eta, and eta phi1 and eta phi2 for a particle's own best point and its leader's. `eta = 2 k /
    |2 - phi - sqrt(phi^2 - 4 phi)|`, where phi = phi1 + phi2 > 4 (Clerc and Kennedy, IEEE Transactions on
    Evolutionary Computation 6, 2002).

    >>> [round(weight, 4) for weight in constriction()]
    [0.7298, 1.4962, 1.4962]
    """
    phi = phi1 + phi2
    if not phi > 4:
        raise InputError(f"phi1={phi1!r} and phi2={phi2!r} were given.", "Their sum must exceed 4.")
    eta = 2 * k / abs(2 - phi - np.sqrt(phi * phi - 4 * phi))
    return float(eta), float(eta * phi1), float(eta * phi2)


@dataclass(frozen=True, repr=False)
class SwarmSettings:
    """See `Swarm`."""

    particles: int = 50
    iterations: int = 100
    calls: int | None = None
    active: int | None = None
    telling: Literal["information value", "as printed"] | Telling = "information value"
    box: float | Mapping[str, float] | None = None
    pull: float | None = None
    ball: bool = False
    choice: Literal["clusters", "random", "own", "last"] = "clusters"
    polish: bool = True
    weights: tuple[float, float, float, float] = (*constriction(), 0.05)
    draws: tuple[tuple[float, float], ...] = ((0.0, 1.0), (0.0, 1.0), (1.0, 1.0))

    def __repr__(self) -> str:
        """The settings that differ from the usual ones."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        told = [f"{name}={getattr(value, '__name__', repr(value))}" for name, value in own.items()]
        return f"Swarm({', '.join(told)})"

    def __post_init__(self) -> None:
        for word, least in (("particles", 2), ("iterations", 0), ("calls", 1), ("active", 1)):
            value = getattr(self, word)
            if value is None and word in ("calls", "active"):
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise InputError(
                    f"Swarm({word}={value!r}) was given.", f"It must be a whole number of at least {least}."
                )
        if not callable(self.telling) and self.telling not in TELLING:
            known = choice("Give a function telling(values, met, column), or one of", self.telling, TELLING, repr)
            raise InputError(f"Swarm(telling={self.telling!r}) was given.", *known)
        if self.choice not in CHOICES:
            known = choice("The choices are", self.choice, CHOICES, repr)
            raise InputError(f"Swarm(choice={self.choice!r}) was given.", *known)
        if not isinstance(self.ball, bool):
            raise InputError(f"Swarm(ball={self.ball!r}) was given.", "It must be True or False.")
        if self.pull is not None:
            _amount(self.pull, f"Swarm(pull={self.pull!r}) was given.")
        for share in self.box.values() if isinstance(self.box, Mapping) else [self.box]:
            if share is not None:
                _amount(share, f"Swarm(box={self.box!r}) was given.")
        for word, shape in (("weights", (4,)), ("draws", (3, 2))):
            object.__setattr__(self, word, _tuples(getattr(self, word), word, shape))


def _amount(value: object, message: str) -> None:
    if not 0 <= number(value, message, "It must be a number of at least 0.") < np.inf:
        raise InputError(message, "It must be a number of at least 0.")


def _tuples(given: object, word: str, shape: tuple[int, ...]) -> tuple[object, ...]:
    """Numbers in tuples of tuples, so that settings can be compared and told."""
    try:
        numbers = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.shape != shape or not np.isfinite(numbers).all():
        raise InputError(
            f"Swarm({word}={given!r}) was given.", "Four numbers are needed as weights, and three ranges as draws."
        )
    held: list[Any] = numbers.tolist()
    return tuple(tuple(one) if isinstance(one, list) else one for one in held)
