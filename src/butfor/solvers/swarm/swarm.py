"""The swarm as a solver. It gives valid answers for any model that predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from butfor.errors import InputError
from butfor.model.questions import ModelKind
from butfor.problem.form import ConstraintKind, Form
from butfor.problem.problem import Problem
from butfor.solvers.outcome import Outcome
from butfor.solvers.solver import AbstractSolver, Budget, Support
from butfor.solvers.swarm.run import SwarmRun
from butfor.solvers.swarm.settings import SwarmSettings, constriction
from butfor.space.space import Space


@dataclass(frozen=True, repr=False)
class Swarm(SwarmSettings, AbstractSolver):
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

    name = "swarm"
    does = "any model, black boxes too: particles and a polish; valid answers, optimality not claimed"
    many = True
    exact = False
    block = 16

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
