"""The swarm as a solver, with its settings. It gives valid answers for any model that predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np

from butfor.errors import InputError, number
from butfor.model.questions import ModelKind
from butfor.problem.form import ConstraintKind, Form
from butfor.problem.problem import Problem
from butfor.solvers.outcome import Outcome
from butfor.solvers.solver import AbstractSolver, Budget, Support
from butfor.solvers.swarm.run import SwarmRun
from butfor.solvers.swarm.telling import Telling, information_value
from butfor.space.space import Space


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
class Swarm(AbstractSolver):
    """A particle swarm, for black boxes and for everything that no exact solver takes.

    Guarantee: the answers are valid, and none is more expensive than the real row from which it started.

    - `particles`, `iterations`: how many particles there are, and how often they move;
    - `calls`: how often the model may be called for a block of rows, with all their particles at once (default: no
      limit);
    - `active`: how many features may move: those that tell most about which rows of the data meet the target;
    - `telling`: how much a column tells: a function of its encoded values, of which rows meet the target, and of the
      column (default: the usual information value);
    - `box`: a number z, scaled to [0, 1] by its range, stays between z (1 - box) and z (1 + box); a dict for single
      columns;
    - `pull`: compare points by `pull` times the distance to the target plus the cost (default: valid points come
      first);
    - `choice`: which of several answers are returned: the cheapest of each cluster of the particles' best points
      ("clusters"), the cheapest of those points ("own"), or the cheapest of the last positions ("last");
    - `polish`: whether answers are made cheaper afterwards;
    - `weights`: c0, c1, c2, c3 in `V <- c0 V + c1 r1 (P - X) + c2 r2 (Pg - X) + c3 r3 Vhat`;
    - `draws`: the ranges of r1, r2, r3.

    >>> Swarm(particles=200, active=10).particles
    200
    """

    particles: int = 50
    iterations: int = 100
    calls: int | None = None
    active: int | None = None
    telling: Telling = information_value
    box: float | Mapping[str, float] | None = None
    pull: float | None = None
    choice: Literal["clusters", "own", "last"] = "clusters"
    polish: bool = True
    weights: tuple[float, float, float, float] = (*constriction(), 0.05)
    draws: tuple[tuple[float, float], ...] = ((0.0, 1.0), (0.0, 1.0), (1.0, 1.0))

    name = "swarm"
    does = "any model, black boxes too: particles and a polish; valid answers, optimality not claimed"
    many = True
    takes_blends = True
    exact = False
    block = 16

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
        if not callable(self.telling):
            raise InputError(
                f"Swarm(telling={self.telling!r}) was given.", "It must be a function telling(values, met, column)."
            )
        if self.choice not in ("clusters", "own", "last"):
            raise InputError(f"Swarm(choice={self.choice!r}) was given.", "It must be 'clusters', 'own' or 'last'.")
        if self.pull is not None:
            _amount(self.pull, f"Swarm(pull={self.pull!r}) was given.")
        for share in self.box.values() if isinstance(self.box, Mapping) else [self.box]:
            if share is not None:
                _amount(share, f"Swarm(box={self.box!r}) was given.")
        if np.shape(self.weights) != (4,) or np.shape(self.draws) != (3, 2):
            raise InputError(
                "weights or draws of a wrong shape were given.", "Give four weights, and three ranges as draws."
            )

    @classmethod
    def printed(cls) -> Swarm:
        """A swarm with the update as printed in the paper. It does not settle.

        r1 is drawn from [0, c1], r2 from [0, c2], r3 from [c1, c2].
        """
        _, c1, c2 = constriction()
        return cls(draws=((0.0, c1), (0.0, c2), (c1, c2)))

    def in_coins(self, coin: float) -> Swarm:
        return self if self.pull is None else replace(self, pull=self.pull / coin)

    def validate(self, space: Space) -> None:
        if self.active is not None and self.active > len(space):
            raise InputError(
                f"Swarm(active={self.active}) was given.",
                f"There are {len(space)} columns.",
                "Leave it out, and all may move.",
            )
        for name in self.box if isinstance(self.box, Mapping) else ():
            if space[name].levels is not None:
                raise InputError(
                    f"Swarm(box=...) names {name!r}, which is not a number.", "", "Use bf.allowed or bf.moves."
                )

    def accepts(self, form: Form) -> Support:
        if ConstraintKind.ROBUST in form.constraints:
            return Support(False, "points are tried one by one, and never a whole ball around them")
        if ConstraintKind.CANDIDATES in form.constraints:
            return Support(False, "a list of candidate rows is searched by row_search")
        if ConstraintKind.MARGIN in form.constraints and form.model in (ModelKind.BLACK_BOX, ModelKind.ENSEMBLE):
            return Support(False, f"a margin cannot be judged at many points of a {form.model}")
        if form.model is ModelKind.BLACK_BOX:
            return Support(True, f"only predictions are needed ({form.unread.partition('. ')[0]})")
        return Support(True, "the model is called at many points; nothing is proven")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        run = SwarmRun(self, problem, budget, k, seed)
        run.until_stopped()
        return run.outcome()


def _amount(value: object, message: str) -> None:
    if not 0 <= number(value, message, "It must be a number of at least 0.") < np.inf:
        raise InputError(message, "It must be a number of at least 0.")
