"""Whether any admissible row reaches a target, for a sum of trees.

Nothing has a price here. So the adversary of robust answers is asked for the largest score in a box.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from butfor.arrays import FloatArray
from butfor.formulation.margins import widened
from butfor.model.trees import Trees
from butfor.problem.problem import Problem
from butfor.solvers.ensemble.admissible_box import AdmissibleBox, Climber, admissible_box, climber
from butfor.solvers.outcome import Outcome, nothing_found, one_answer

PARTS_LOOKED_AT = 100
"""After so many parts of the box, of a few hundred boxes each, the question is left to others."""


@dataclass(eq=False)
class WithinReach:
    """Asks about one row, again and again. `known` are the climbers so far, for each sum of scores."""

    known: dict[bytes, list[Climber]] = field(default_factory=dict)

    def tells(self, problem: Problem) -> Outcome | None:
        """Any admissible row that meets the target, or that there is none; None if this is not told here."""
        box = None if problem.relations or problem.demands.kinds else admissible_box(problem)
        if box is None or not isinstance(problem.model, Trees):
            return None
        for score_set in problem.score_sets:
            wide = widened(score_set, problem)
            if wide.curve is not None or len(wide.A) != 1:
                return None
            its, ends = self._climber(box, problem.model, wide.A[0])
            found = its.highest(*ends, at_least=float(wide.b[..., 0].flat[0]), most=PARTS_LOOKED_AT)
            if np.isfinite(found.score):
                return one_answer(found.row, 0.0, 0.0) if problem.reached(score_set, found.row) else None
            if np.isnan(found.score):
                return None
        return nothing_found(problem, np.inf)

    def _climber(
        self, box: AdmissibleBox, model: Trees, row: FloatArray
    ) -> tuple[Climber, tuple[FloatArray, FloatArray]]:
        """A climber for the sum `row @ scores`, and the ends of a box among its leaves."""
        known = self.known.setdefault(row.tobytes(), [])
        for one in known:
            if (ends := box.ends_in(one.box)) is not None:
                return one, ends
        known.append(climber(box, model, row))
        return known[-1], (box.low, box.high)
