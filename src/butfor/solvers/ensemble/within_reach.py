"""Whether any admissible row reaches a target, for a sum of trees over numbers.

Nothing has a price here. So the adversary of robust answers is asked for the largest score in a box.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.formulation.margins import widened
from butfor.model.adversary.search import Adversary, adversary_over
from butfor.model.regions import Regions, regions
from butfor.model.trees import Trees
from butfor.problem.domain import Domain, grid_down, grid_up, on_grid
from butfor.problem.problem import Problem

PARTS_LOOKED_AT = 20
"""After so many parts of the box, of a few hundred boxes each, the question is left to others."""


@dataclass(eq=False)
class WithinReach:
    """Asks about one row, again and again. `known` are the adversaries so far: of a sum of scores, on a grid."""

    known: dict[bytes, Adversary] = field(default_factory=dict)

    def tells(self, problem: Problem) -> bool | None:
        """Whether some admissible row meets the target; None if this is not told here."""
        box = box_of(problem)
        other = (problem.relations, problem.judged, problem.robust, problem.margin, problem.pool)
        if box is None or any(other) or not isinstance(problem.model, Trees):
            return None
        for score_set in problem.score_sets:
            wide = widened(score_set, problem)
            if wide.curve is not None or len(wide.A) != 1:
                return None
            b = float(wide.b[..., 0].flat[0])
            found = self.adversary(problem, wide.A[0]).worst(
                *box, below=float(np.nextafter(-b, np.inf)), most=PARTS_LOOKED_AT
            )
            if np.isfinite(found.score):
                return True if problem.reached(score_set, found.point) else None
            if np.isnan(found.score):
                return None
        return False

    def adversary(self, problem: Problem, row: FloatArray) -> Adversary:
        """It makes the opposite of a sum of scores small."""
        point, anchor = problem.factuals[0], problem.domain.anchor
        step = np.where(problem.domain.movable(), problem.domain.step, 0.0)
        key = b"".join(one.tobytes() for one in (row, point, step, anchor))
        if key not in self.known:
            assert isinstance(problem.model, Trees)
            self.known[key] = _on_grid(regions(problem.model, -row, point), point, step, anchor)
        return self.known[key]


def _on_grid(leaves: Regions, point: FloatArray, step: FloatArray, anchor: FloatArray) -> Adversary:
    """The adversary of leaves without those that hold no point of the grid."""
    begin, end = np.nextafter(leaves.low, np.inf), leaves.high.copy()
    for j in np.flatnonzero(step > 0).tolist():
        begin[:, j] = grid_up(begin[:, j], float(step[j]), float(anchor[j]))
        end[:, j] = grid_down(end[:, j], float(step[j]), float(anchor[j]))
    holds = (begin <= end).all(axis=1)
    tree = np.repeat(np.arange(len(leaves.first)), np.diff(np.append(leaves.first, len(leaves.value))))[holds]
    first = np.searchsorted(tree, np.arange(len(leaves.first)))
    kept = Regions(leaves.base, first, leaves.value[holds], leaves.low[holds], leaves.high[holds])
    return adversary_over(kept, begin[holds], end[holds], point, step)


def box_of(problem: Problem) -> tuple[FloatArray, FloatArray] | None:
    """The values of the only row as a box; None if they are none: levels change, or missing values, or rows leave a gap."""
    domain, point, moves = problem.domain, problem.factuals[0], problem.domain.movable()
    if moves[list(domain.levels)].any() or (moves & (domain.missing[0] | np.isnan(point))).any():
        return None
    low, high = np.where(moves, domain.low[0], point), np.where(moves, domain.high[0], point)
    for j in np.flatnonzero(moves & (domain.step > 0)).tolist():
        low[j] = grid_up(low[j], float(domain.step[j]), float(domain.anchor[j]))
        high[j] = grid_down(high[j], float(domain.step[j]), float(domain.anchor[j]))
    outside = moves & ((point < low) | (point > high) | ~_fits(domain, point))
    if (outside & domain.stay[0]).any() or not domain.stay[0, ~moves].all():
        return None
    return low, high


def _fits(domain: Domain, point: FloatArray) -> BoolArray:
    """Which numbers of a row lie on their grid."""
    return np.array(
        [
            step == 0 or bool(on_grid(point[[j]], step, anchor)[0])
            for j, (step, anchor) in enumerate(zip(domain.step.tolist(), domain.anchor.tolist(), strict=True))
        ]
    )
