"""Whether any admissible row reaches a target, for a sum of trees.

Nothing has a price here. So the adversary of robust answers is asked for the largest score in a box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.formulation.margins import widened
from butfor.model.scores import ScoreSet
from butfor.model.trees import Trees
from butfor.problem.constraints.restrictions import Restriction
from butfor.problem.problem import Problem
from butfor.solvers.ensemble.admissible_box import AdmissibleBox, Climber, Ends, admissible_box, climber
from butfor.solvers.outcome import Outcome, nothing_found, one_answer

PARTS_LOOKED_AT = 100
"""After so many parts of the box, of a few hundred boxes each, the question is left to others."""


@dataclass(frozen=True, eq=False)
class _Boxed:
    """A problem of one row, as a box in which sums of scores must reach a goal each.

    - `goals`: a score set, the weights of its sum, and the goal;
    - `left`: what each restriction by itself leaves of the box; None if that is no box.
    """

    problem: Problem
    model: Trees
    box: AdmissibleBox
    goals: tuple[tuple[ScoreSet, FloatArray, float], ...]
    left: dict[str, Ends | None] = field(default_factory=dict)

    def under(self, restrictions: Sequence[Restriction]) -> Ends | None:
        """The part of the box that is left by several restrictions: each narrows single columns, whatever the others do."""
        ends = self.box.ends
        for one in restrictions:
            if (name := repr(one)) not in self.left:
                self.left[name] = self._left_by(one)
            if (left := self.left[name]) is None:
                return None
            ends = np.maximum(ends[0], left[0]), np.minimum(ends[1], left[1])
        return ends

    def _left_by(self, restriction: Restriction) -> Ends | None:
        problem = self.problem
        part = admissible_box(replace(problem, domain=restriction.narrowed(problem.domain, problem.space)))
        return None if part is None else part.ends_in(self.box)


@dataclass(eq=False)
class WithinReach:
    """Asks about one row, again and again.

    - `boxed`: what was asked so far, as boxes; None for what is no box;
    - `known`: the climbers so far, for each sum of scores.
    """

    boxed: dict[Problem, _Boxed | None] = field(default_factory=dict)
    known: dict[bytes, list[Climber]] = field(default_factory=dict)

    def is_box(self, problem: Problem, under: Sequence[Restriction]) -> bool:
        """Whether restrictions leave a box of a problem."""
        boxed = self._boxed(problem)
        return boxed is not None and boxed.under(under) is not None

    def _boxed(self, problem: Problem) -> _Boxed | None:
        if problem not in self.boxed:
            self.boxed[problem] = _boxed(problem)
        return self.boxed[problem]

    def tells(self, problem: Problem, under: Sequence[Restriction] = ()) -> Outcome | None:
        """Any admissible row that meets the target, or that there is none; None if this is not told here.

        With restrictions, the row must be one `under` them, too. So a problem need not be stated anew for each set of them.
        """
        boxed = self._boxed(problem)
        ends = None if boxed is None else boxed.under(under)
        if boxed is None or ends is None:
            return None
        for score_set, weights, goal in () if np.any(ends[0] > ends[1]) else boxed.goals:
            its, (low, high) = self._climber(boxed, weights, ends)
            found = its.highest(low, high, at_least=goal, most=PARTS_LOOKED_AT)
            if np.isfinite(found.score):
                return one_answer(found.row, 0.0, 0.0) if problem.reached(score_set, found.row) else None
            if np.isnan(found.score):
                return None
        return nothing_found(problem, np.inf)

    def _climber(self, boxed: _Boxed, weights: FloatArray, ends: Ends) -> tuple[Climber, Ends]:
        """A climber for a sum of scores, and the ends of a part of the box among its leaves."""
        known = self.known.setdefault(weights.tobytes(), [])
        for one in known:
            if one.box is boxed.box:
                return one, ends
            if ends is boxed.box.ends and (wider := boxed.box.ends_in(one.box)) is not None:
                return one, wider
        known.append(climber(boxed.box, boxed.model, weights))
        return known[-1], ends


def _boxed(problem: Problem) -> _Boxed | None:
    """A problem as a box; None if it is none."""
    alone = not problem.relations and not problem.demands.kinds and not problem.prices.calls and problem.acting is None
    box = admissible_box(problem) if alone else None
    if box is None or not isinstance(problem.model, Trees):
        return None
    wide = [widened(score_set, problem) for score_set in problem.score_sets]
    if any(one.curve is not None or len(one.A) != 1 for one in wide):
        return None
    goals = [
        (given, one.A[0], float(one.b[..., 0].flat[0])) for given, one in zip(problem.score_sets, wide, strict=True)
    ]
    return _Boxed(problem, problem.model, box, tuple(goals))
