"""A network and a ball: who of the neighbours misses the target, and the problem of rows that meet it under some shifts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import block_diag

from butfor.arrays import FloatArray, IntArray
from butfor.formulation.margins import tightened, widened
from butfor.model.network import Network, shifted_network
from butfor.model.questions import evaluate
from butfor.model.scores import ScoreSet
from butfor.neighbours.ball import Ball
from butfor.neighbours.networks.joint import networks_side_by_side
from butfor.neighbours.trees.search import Worst
from butfor.neighbours.worst import worst_of_network
from butfor.problem.oracle import Always
from butfor.problem.problem import Problem
from butfor.solvers.reduction import Handing

FIRMLY_INSIDE = 1e-7
"""The share of its size by which a threshold is raised for answers, so that the adversary has no doubt about them."""

SAME_SHIFT = 1e-9
"""Shifts that are this close, as a share of the radius, are not collected twice."""

AS_IT_IS = -1.0
"""Stands in a shift for a level that does not slip."""

NEIGHBOURS_ASKED = 200
"""Where rounding decides, the estimator is asked about all neighbours if they are no more than this."""


@dataclass(frozen=True, eq=False)
class NetworkInBall:
    """A network whose scores must lie in one set, everywhere in a ball around the only row's answer.

    The set is in units of its sums (see `units_of_sums`), so that its thresholds can be raised by shares of 1.
    What is to be solved without the ball is handed on.
    """

    handing: Handing
    problem: Problem
    score_set: ScoreSet
    ball: Ball
    model: Network

    @cached_property
    def wide(self) -> ScoreSet:
        """The scores that the estimator may accept, however it rounds."""
        return replace(widened(self.score_set, self.problem), above=0.0, below=0.0)

    @cached_property
    def sure(self) -> ScoreSet:
        """The scores that the estimator accepts, however it rounds."""
        return tightened(self.score_set, self.problem)

    @cached_property
    def raised(self) -> FloatArray:
        """By how much thresholds are raised for answers."""
        return FIRMLY_INSIDE * (1 + np.abs(self.sure.b))

    @cached_property
    def inside(self) -> ScoreSet:
        """The scores that answers are looked for with."""
        return replace(self.sure, b=self.sure.b + self.raised)

    @cached_property
    def _of_neighbours(self) -> Problem:
        return self.problem.of_neighbours()

    # ----------------------------------------------------------------------------------------------------------- judges

    def is_robust(self, point: FloatArray, until: float) -> bool:
        """Whether no neighbour of a point misses the target. Where rounding decides, the estimator is asked."""
        found = self.failures(point, self.sure.b, until)
        if not found or not self._is_met(found):
            return not found
        if self.ball.count <= NEIGHBOURS_ASKED:
            return self._is_met(Worst(-np.inf, near) for near in self.ball.around(point[None])[0])
        worst = self._worst(point, self.wide.b, until)
        reached = all(found.score >= least for found, least in zip(worst, self.wide.b, strict=True))
        return reached and self._is_met(worst)

    def _is_met(self, neighbours: Iterable[Worst]) -> bool:
        return all(self._of_neighbours.meets(self.score_set, found.point) for found in neighbours)

    def failures(self, point: FloatArray, thresholds: FloatArray, until: float) -> list[Worst]:
        """Neighbours of a point whose scores miss a threshold."""
        worst = self._worst(point, thresholds, until)
        return [found for found, least in zip(worst, thresholds, strict=True) if found.score < least]

    def _worst(self, point: FloatArray, thresholds: FloatArray, until: float) -> list[Worst]:
        """For each threshold a neighbour of a point that misses it or, if none does, the worst one.

        Where the time ends before a ball is judged, its worst neighbour so far counts as one that misses.
        """
        return [
            worst_of_network(self.model, row, point, self.ball, float(least), until)
            for row, least in zip(self.score_set.A, thresholds, strict=True)
        ]

    # ----------------------------------------------------------------------------------------------------------- shifts

    @property
    def nothing(self) -> FloatArray:
        """The shift that changes nothing.

        A shift has a number for each feature. Where levels may slip, this is the one that all are seen as that may be, or
        `AS_IT_IS`.
        """
        shift = np.zeros(len(self.ball.radius))
        shift[[*self.ball.slips.seen]] = AS_IT_IS
        return shift

    def to_failures(self, point: FloatArray, failures: list[Worst]) -> list[FloatArray]:
        """The shifts from a point to its failures."""
        radius, levels = self.ball.radius, [*self.ball.slips.seen]
        shifts = [np.clip(np.nan_to_num(found.point - point), -radius, radius) for found in failures]
        for shift, found in zip(shifts, failures, strict=True):
            shift[levels] = np.nan_to_num(found.point[levels], nan=AS_IT_IS)
        return shifts

    def shifted(self, point: FloatArray, shift: FloatArray) -> FloatArray:
        """A point under a shift."""
        out, seen = point + self._of_numbers(shift), self._seen(shift)
        for j in (j for j in seen if not np.isnan(point[j])):
            out[j] = seen[j][int(point[j])]
        return out

    def _of_numbers(self, shift: FloatArray) -> FloatArray:
        return np.where(np.isin(np.arange(len(shift)), [*self.ball.slips.seen]), 0.0, shift)

    def _seen(self, shift: FloatArray) -> dict[int, IntArray]:
        """For each feature whose levels slip under a shift, what each cell is seen as."""
        slips = self.ball.slips
        return {j: slips.towards(j, int(shift[j])) for j in slips.seen if shift[j] != AS_IT_IS}

    def _copy(self, shift: FloatArray) -> Network:
        """The network that gives each row the scores that it has under a shift."""
        model = shifted_network(self.model, self._of_numbers(shift))
        steps = list(model.first.steps)
        for j, seen in self._seen(shift).items():
            steps[j] = steps[j][:, seen]
        return replace(model, first=replace(model.first, steps=tuple(steps)))

    def joined(self, known: Sequence[FloatArray], shifts: Sequence[FloatArray]) -> list[FloatArray]:
        """Known shifts, and others that are not among them."""
        every, near = list(known), SAME_SHIFT * self.ball.radius
        for shift in shifts:
            if not any((np.abs(shift - other) <= near).all() for other in every):
                every.append(shift)
        return every

    def tight(self, shifts: Sequence[FloatArray], point: FloatArray, more: float) -> list[FloatArray]:
        """The shifts under which a point misses the target, or has little more than that."""
        spare = (
            self.scores(np.array([self.shifted(point, shift) for shift in shifts]))
            - self.sure.b
            - more * (1 + np.abs(self.sure.b))
        ).min(axis=1)
        return [shift for shift, left in zip(shifts, spare.tolist(), strict=True) if left < 0]

    def scores(self, points: FloatArray) -> FloatArray:
        """The left sides of the inequalities."""
        return np.asarray(evaluate(self.model, points) @ self.score_set.A.T)

    def under(self, shifts: Sequence[FloatArray], score_set: ScoreSet) -> tuple[Problem, ScoreSet]:
        """The problem in which one score set must be met under some shifts: a copy of the network for each."""
        copies = networks_side_by_side([self._copy(shift) for shift in shifts])
        count = len(shifts)
        every = replace(
            score_set,
            A=block_diag(*[score_set.A] * count),
            b=np.tile(score_set.b, count),
            strict=np.tile(score_set.strict, count),
            offset=0.0,
        )
        one = replace(self.problem, model=copies, score_sets=(every,)).with_demands(ball=None)
        return one.with_witnesses(confirmation=Always(True)), every
