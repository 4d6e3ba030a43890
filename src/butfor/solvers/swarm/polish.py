"""Make valid answers cheaper. Changes are taken back, pulled back to the boundary, or exchanged for others.

Each step is one call of the model for all answers together. The prices of candidates are known before the call, so the
model only sees candidates that would be cheaper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.solvers.swarm.appraiser import Appraiser
from butfor.solvers.swarm.climb import Climb
from butfor.solvers.swarm.diverse import best_of_each
from butfor.solvers.swarm.hypercube import Hypercube, moved
from butfor.solvers.swarm.layout import GROUP

LADDER = 0.5 ** np.array([1, 2, 3, 4, 6, 8, 10, 13, 16, 20])
"""Shares of a change that are tried when it is taken back."""

FREED, FEW = np.array([0.3, 0.15, 0.15, 0.3, 0.6, 1.0]), 2
"""For each attempt of a repair round, the chance that a change is taken back before the repair.

The cheapest answer of a row makes all of these attempts, the other answers only the first `FEW`.
"""

STEPS_OF_A_CLIMB = 12
"""The largest number of steps in one repair."""

REPAIR_ROUNDS, IDLE_ROUNDS = 14, 2
"""The largest number of repair rounds for an answer, and the number of rounds without a gain after which it ends."""

SLACK = 1e-9
"""By how much a cost must fall to count as cheaper, relative to 1 + cost."""


@dataclass(eq=False)
class Answers:
    """Valid points, each an answer to one row.

    They are improved in place, so that an interrupted polish keeps its gains.
    """

    cube: Hypercube
    row: IntArray
    points: FloatArray
    cost: FloatArray

    def __post_init__(self) -> None:
        self.before = self.cost.copy()
        self.positions = self.cube.encode(self.points, self.row)

    def with_more(self, row: IntArray, points: FloatArray, cost: FloatArray) -> Answers:
        """These answers, and those of the given points that have a finite cost."""
        at = np.flatnonzero(np.isfinite(cost))
        rows, costs = np.concatenate([self.row, row[at]]), np.concatenate([self.cost, cost[at]])
        more = Answers(self.cube, rows, np.concatenate([self.points, points[at]]), costs)
        more.before[: len(self.row)] = self.before
        return more

    def different(self) -> Answers:
        """Those that no answer to their row is on the way to that costs no more. Of equal ones it is the first."""
        kept = np.ones(len(self.row), dtype=np.bool_)
        for i in reversed(range(len(kept))):
            rivals = np.flatnonzero(kept & (self.cost <= self.cost[i]) & (np.arange(len(kept)) != i))
            kept[i] = not self.on_the_way(int(self.row[i]), self.points[[i]], rivals)[0]
        at = np.flatnonzero(kept)
        some = Answers(self.cube, self.row[at], self.points[at], self.cost[at])
        some.before = self.before[at]
        return some

    def on_the_way(self, row: int, points: FloatArray, of: IntArray) -> BoolArray:
        """Whether one of some answers is on the way from a row to each of the points, or is that point."""
        start, found = self.cube.problem.factuals[row], np.zeros(len(points), dtype=np.bool_)
        for one in self.points[of[self.row[of] == row]]:
            found |= self.cube.problem.space.no_farther(start, one, points)
        return found

    def changed(self) -> BoolArray:
        """Which features of each answer differ from the factual (answers, features)."""
        return moved(self.cube.problem.factuals[self.row], self.points)

    def improve(self, appraiser: Appraiser, positions: FloatArray, owner: IntArray) -> tuple[BoolArray, FloatArray]:
        """Replace each answer by its cheapest valid candidate, if that is cheaper.

        Returns which answers were replaced, and what the candidates cost.
        """
        rows = self.row[owner]
        points = self.cube.decode(positions, rows)
        cost = np.full(len(points), np.inf)
        promising = np.flatnonzero(appraiser.pricing(points, rows) < self._bar()[owner])
        if len(promising):
            cost[promising] = appraiser(points[promising], rows[promising]).cost
        return self.take(points, cost, owner), cost

    def take(self, points: FloatArray, cost: FloatArray, owner: IntArray) -> BoolArray:
        """Take the cheapest of each answer's appraised candidates, if it is cheaper.

        Returns which answers took one.
        """
        best = best_of_each(owner, cost)
        best = best[cost[best] < self._bar()[owner[best]]]
        whose = owner[best]
        self.points[whose], self.cost[whose] = points[best], cost[best]
        self.positions[whose] = self.cube.encode(points[best], self.row[whose])
        better = np.zeros(len(self.row), dtype=np.bool_)
        better[whose] = True
        return better

    def _bar(self) -> FloatArray:
        """For each answer, the limit below which the cost of a candidate must lie."""
        return np.asarray(self.cost - SLACK * (1 + np.abs(self.cost)))


def polish(answers: Answers, appraiser: Appraiser, seed: int, which: IntArray) -> None:
    """Improve these answers until no round helps.

    Only the cheapest answer of a row may change features that it did not change before.
    """
    _straighten(answers, appraiser, which)
    take_back(answers, appraiser, which)
    idle = np.full(len(answers.row), IDLE_ROUNDS)
    idle[which] = 0
    for number in range(REPAIR_ROUNDS):
        busy = np.flatnonzero(idle < IDLE_ROUNDS)
        if not len(busy):
            break
        better = _repair(answers, appraiser, busy, np.random.default_rng((seed, number)))
        _retreat(answers, appraiser, np.ones(1), np.flatnonzero(better))
        better |= _retreat(answers, appraiser, LADDER, busy)
        idle = np.where(better, 0, idle + 1)
    _while_it_helps(answers, appraiser, LADDER, which)


def take_back(answers: Answers, appraiser: Appraiser, which: IntArray) -> None:
    """Take back whole changes of these answers that are not needed."""
    _while_it_helps(answers, appraiser, np.ones(1), which)


def pull_back(answers: Answers, appraiser: Appraiser, which: IntArray) -> None:
    """Take back changes of these answers, or parts of them. Each only moves nearer, to where no other answer leads on."""
    _while_it_helps(answers, appraiser, np.append(1.0, LADDER), which)


def _while_it_helps(answers: Answers, appraiser: Appraiser, shares: FloatArray, which: IntArray) -> None:
    """Retreat again and again, as long as it helps."""
    for _ in range(REPAIR_ROUNDS):
        which = np.flatnonzero(_retreat(answers, appraiser, shares, which))
        if not len(which):
            return


def _ranks(answers: Answers) -> IntArray:
    """The place of each answer among those of its row (0: the cheapest)."""
    order = np.lexsort((answers.cost, answers.row))
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.arange(len(order)) - np.searchsorted(answers.row[order], answers.row[order])
    return ranks


def _straighten(answers: Answers, appraiser: Appraiser, which: IntArray) -> None:
    """Move these answers straight back towards the factual, as far as the target stays met."""
    cube = answers.cube
    straight = (cube.kind != GROUP)[cube.owner]
    share = np.concatenate([np.arange(1, 16) / 16, LADDER[4:]])
    owner = np.repeat(which, len(share))
    now, home = answers.positions[owner], cube.home[answers.row[owner]]
    back = np.tile(share, len(which))[:, None]
    answers.improve(appraiser, np.where(straight, now + back * (home - now), now), owner)


def _retreat(answers: Answers, appraiser: Appraiser, shares: FloatArray, which: IntArray) -> BoolArray:
    """Take back single changes by each of the shares, and then several together.

    Together means the two that save most, the three that save most, and so on. Returns which answers became cheaper.
    """
    cube = answers.cube
    before = answers.positions.copy()
    at, feature = np.nonzero(answers.changed()[which])
    owner = which[at]
    owner, feature, share = np.repeat(owner, len(shares)), np.repeat(feature, len(shares)), np.tile(shares, len(owner))
    sensible = (cube.kind[feature] != GROUP) | (share == 1.0)
    owner, feature, share = owner[sensible], feature[sensible], share[sensible]
    if not len(owner):
        return np.zeros(len(answers.row), dtype=np.bool_)
    candidates = _taken_back(cube, before[owner], cube.home[answers.row[owner]], feature, share)
    better, cost = answers.improve(appraiser, candidates, owner)
    together, whose = _together(cube, before, candidates, owner, feature, cost)
    if len(whose):
        better |= answers.improve(appraiser, together, whose)[0]
    return better


def _taken_back(cube: Hypercube, now: FloatArray, home: FloatArray, feature: IntArray, share: FloatArray) -> FloatArray:
    """Positions in which a share of a feature's change is taken back. Feature -1 means all features."""
    its = (cube.owner == feature[:, None]) | (feature[:, None] < 0)
    return np.where(its, now + share[:, None] * (home - now), now)


def _together(
    cube: Hypercube, before: FloatArray, candidates: FloatArray, owner: IntArray, feature: IntArray, cost: FloatArray
) -> tuple[FloatArray, IntArray]:
    """Combinations of each answer's valid single savings: the best two, the best three, and so on.

    Each feature contributes its best saving.
    """
    order = best_of_each(owner * len(cube.kind) + feature, cost)
    order = order[np.isfinite(cost[order])]
    order = order[np.lexsort((cost[order], owner[order]))]
    made, whose = [], []
    starts = np.flatnonzero(np.diff(owner[order], prepend=-1))
    for first, last in zip(starts, np.append(starts, len(order))[1:], strict=True):
        position = candidates[order[first]]
        for c in order[first + 1 : last]:
            position = np.where(cube.owner == feature[c], candidates[c], position)
            made.append(position)
            whose.append(int(owner[c]))
    return np.array(made).reshape(-1, before.shape[1]), np.array(whose, dtype=np.intp)


def _repair(answers: Answers, appraiser: Appraiser, which: IntArray, rng: np.random.Generator) -> BoolArray:
    """Take back some changes of each answer, and climb back to the target.

    Returns which answers became cheaper.
    """
    cube, cheapest = answers.cube, _ranks(answers) == 0
    at, attempt = np.nonzero(cheapest[which, None] | (np.arange(len(FREED)) < FEW))
    owner = which[at]
    row = answers.row[owner]
    freed, left = rng.random((2, len(FREED), len(cube.kind)))
    left[::2] = 0.0  # every other attempt takes back only a part of a change, unless it is a category
    left[:, cube.kind == GROUP] = 0.0
    share = np.where(freed < FREED[:, None], left, 1.0)[attempt][:, cube.owner]
    now, home = answers.positions[owner], cube.home[row]
    start = np.where(share == 1.0, now, home + share * (now - home))
    within = cheapest[:, None] | answers.changed()
    toll = answers.cost - appraiser.pricing(answers.points, answers.row)
    climb = Climb(cube, appraiser, row, start, answers.cost[owner], toll[owner], within[owner])
    climb.run(STEPS_OF_A_CLIMB, rng)
    return answers.take(climb.points, climb.cost, owner)
