"""The swarm as a solver. It gives valid answers for any model that predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from butfor.errors import InputError
from butfor.model.questions import ModelKind
from butfor.problem.constraints.computed import ComputedColumn
from butfor.problem.form import ConstraintKind, CostTerm, Form, ValueKind
from butfor.problem.problem import Problem
from butfor.solvers.merged.columns import split
from butfor.solvers.outcome import Outcome, Stopped, merged
from butfor.solvers.solver import AbstractSolver, Budget, Support
from butfor.solvers.swarm.run import SwarmRun
from butfor.solvers.swarm.settings import SwarmSettings, constriction
from butfor.space.space import Space


@dataclass(frozen=True, repr=False)
class Swarm(SwarmSettings, AbstractSolver):
    """A particle swarm, for black boxes and for everything that no exact solver takes.

    Guarantee: the answers are valid. The cheapest one costs no more than the cheapest real row that the search began
    with, unless `choice` is "random".

    - `particles`, `iterations`: how many particles there are, and how often they move;
    - `calls`: how often the model may be called for a block of rows, with all their particles at once (default: no
      limit);
    - `active`: how many features may move: those that tell most about which rows of the data meet the target. A row
      that stays without an answer is searched again with twice as many;
    - `telling`: how much a column tells: the usual "information value" of credit scoring (default), the one of Shekhar
      et al. "as printed", or a function of the column's encoded values, of which rows meet the target, and of the column;
    - `box`: a number z, scaled to [0, 1] by its range, stays between z (1 - box) and z (1 + box); a dict for single
      columns;
    - `pull`: compare points by `pull` times what they lack to the target, plus the cost (default: valid points come
      first). What a point lacks is told in the terms of the target: probabilities (of two classes, 1/2 - P), or the
      unit of the values. This is the objective (3)-(4) of Shekhar et al., and the penalty (18) of Kovalev and Utkin;
    - `ball`: start evenly in the ball around the row through the cheapest real row, and pull particles back into it
      (Kovalev and Utkin, section 7). The ball is round, so the cost must be `bf.L2`, and levels must stay;
    - `choice`: which of several answers are returned: the cheapest of each cluster of the particles' best points
      ("clusters"), the cheapest of those points ("own"), the cheapest of the last positions ("last"), or a random one
      of each cluster of the last positions ("random": the rule of Shekhar et al.);
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
        if ConstraintKind.MARGIN in form.constraints and (
            ConstraintKind.COMPUTED in form.constraints or form.model is ModelKind.COMPUTED
        ):
            return Support(False, "a margin cannot be judged where columns are computed from others")
        if self.ball and (form.cost != {CostTerm.L2} or form.movable & {ValueKind.LEVELS, ValueKind.MISSING}):
            return Support(False, "a swarm in a ball moves numbers alone, by bf.L2")
        if form.model is ModelKind.BLACK_BOX:
            return Support(True, f"only predictions are needed ({form.unread.partition('. ')[0]})")
        return Support(True, "the model is called at many points; nothing is proven")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        """The answers. Columns that belong together are moved as one, and those that follow from others not at all."""
        if problem.relations_of(ComputedColumn):
            return split(problem.freeing.layout, self.solve(problem.freed, budget, k, seed))
        if problem.form().merged is not None:
            return split(problem.merging.layout, self.solve(problem.merged, budget, k, seed))
        run = SwarmRun(self, problem, budget, k, seed)
        run.until_stopped()
        found = run.outcome()
        lost = np.unique(found.row[~found.found() & (found.bound < np.inf) & run.narrow[found.row]])
        wider = self._wider(len(problem.space), run.appraiser.asked)
        if wider is None or run.stopped is not Stopped.DONE or not len(lost):
            return found
        again = wider.solve(problem.take(lost), budget, k, seed).renumbered(lost)
        again.notes["calls"] += run.appraiser.asked
        return merged(found, again)

    def _wider(self, columns: int, asked: int) -> Swarm | None:
        """A swarm that may move twice as many columns with the calls that are left; None if there is none."""
        calls = None if self.calls is None else self.calls - asked
        if self.active is None or self.active >= columns or calls == 0:
            return None
        return replace(self, active=min(2 * self.active, columns), calls=calls)
