"""Valid answers made cheaper: changes are taken back, pulled back to the boundary, and exchanged for others.

Each round is one question to the model for all answers together; the prices of candidates are known before, so that only
those which would be cheaper are asked about.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.model.cells import BoolArray, IntArray
from butfor.solvers.appraiser import Appraiser
from butfor.solvers.hypercube import Hypercube, moved
from butfor.solvers.swarm_kernels import GROUP, NUMBER
from butfor.space.frames import FloatArray

LADDER = 0.5 ** np.array([1, 2, 3, 4, 6, 8, 10, 13, 16, 20])
"""Shares of a change that are taken back at once."""

PUSHES = np.array([1.0, 0.7, 0.4, 0.15])
"""Shares of what another change may cost, at most, that it is tried with."""

RELEASED = np.array([1.0, 0.5, 0.125])
"""Shares of a change that are exchanged for another."""

SWAPS = 400
"""Exchanges of one answer that are tried at once."""

BATCH = 4_000_000
"""Coordinates of candidates that are held at once."""

ROUNDS = 24
PATIENCE = 2
"""After so many rounds without a gain an answer is left alone."""

SLACK = 1e-9
"""What a cost must fall by, relative to 1 + cost, to count."""


@dataclass(eq=False)
class Answers:
    """Valid points, each of one row; improving them replaces them in place, so that an interrupted polish keeps its gains."""

    cube: Hypercube
    row: IntArray
    points: FloatArray
    cost: FloatArray

    def __post_init__(self) -> None:
        self.before = self.cost.copy()
        self.positions = self.cube.encode(self.points, self.row)

    def with_more(self, row: IntArray, points: FloatArray, cost: FloatArray) -> Answers:
        """These and the valid ones (of finite cost) of some points."""
        at = np.flatnonzero(np.isfinite(cost))
        rows, costs = np.concatenate([self.row, row[at]]), np.concatenate([self.cost, cost[at]])
        return Answers(self.cube, rows, np.concatenate([self.points, points[at]]), costs)

    def changed(self) -> BoolArray:
        """Which features of each answer differ from the factual."""
        return moved(self.cube.problem.factuals[self.row], self.points)

    def improve(self, appraiser: Appraiser, positions: FloatArray, owner: IntArray) -> tuple[BoolArray, FloatArray]:
        """Replace each answer by the cheapest valid of its candidates, if cheaper; which were, and what candidates cost."""
        points, promising = self.promising(appraiser, positions, owner)
        cost = np.full(len(points), np.inf)
        better, cost[promising] = self.take(appraiser, points[promising], owner[promising])
        return better, cost

    def promising(self, appraiser: Appraiser, positions: FloatArray, owner: IntArray) -> tuple[FloatArray, BoolArray]:
        """The points of candidates, and which of them would be cheaper."""
        rows = self.row[owner]
        points = self.cube.decode(positions, rows)
        return points, appraiser.pricing(points, rows) < self._bar()[owner]

    def take(self, appraiser: Appraiser, points: FloatArray, owner: IntArray) -> tuple[BoolArray, FloatArray]:
        """Judge cheaper candidates and take the best of each answer; which took one, and what candidates cost."""
        better = np.zeros(len(self.row), dtype=np.bool_)
        if not len(points):
            return better, np.empty(0)
        cost = appraiser(points, self.row[owner]).cost
        order = np.lexsort((cost, owner))
        best = order[np.flatnonzero(np.diff(owner[order], prepend=-1))]
        best = best[cost[best] < self._bar()[owner[best]]]
        better[owner[best]] = True
        self.points[owner[best]], self.cost[owner[best]] = points[best], cost[best]
        self.positions[owner[best]] = self.cube.encode(points[best], self.row[owner[best]])
        return better, cost

    def _bar(self) -> FloatArray:
        """What a candidate must cost less than."""
        return np.asarray(self.cost - SLACK * (1 + np.abs(self.cost)))


def polish(answers: Answers, appraiser: Appraiser, alone: bool, seed: int) -> None:
    """Improve all answers until no round helps; a row that wants several keeps all but the cheapest from being exchanged."""
    _straighten(answers, appraiser)
    everyone = np.arange(len(answers.row))
    for _ in range(ROUNDS):
        if not _retreat(answers, appraiser, np.ones(1), everyone).any():
            break
    leading = (_ranks(answers) == 0) | alone
    idle = np.zeros(len(everyone), dtype=np.intp)
    for number in range(ROUNDS):
        busy = np.flatnonzero(idle < PATIENCE)
        if not len(busy):
            break
        better = _retreat(answers, appraiser, LADDER, busy)
        swapped = _exchange(answers, appraiser, busy[leading[busy]], np.random.default_rng((seed, number)))
        if swapped.any():
            _retreat(answers, appraiser, np.ones(1), np.flatnonzero(swapped))
        idle = np.where(better | swapped, 0, idle + 1)


def _ranks(answers: Answers) -> IntArray:
    """The place of each answer among those of its row, the cheapest first."""
    order = np.lexsort((answers.cost, answers.row))
    ranks = np.empty(len(order), dtype=np.intp)
    ranks[order] = np.arange(len(order)) - np.searchsorted(answers.row[order], answers.row[order])
    return ranks


def _straighten(answers: Answers, appraiser: Appraiser) -> None:
    """Along the straight line back to the factual, as far as the target is met."""
    cube = answers.cube
    straight = (cube.kind != GROUP)[cube.owner]
    share = np.concatenate([np.arange(1, 16) / 16, LADDER[4:]])
    owner = np.repeat(np.arange(len(answers.row)), len(share))
    now, home = answers.positions[owner], cube.home[answers.row[owner]]
    back = np.tile(share, len(answers.row))[:, None]
    answers.improve(appraiser, np.where(straight, now + back * (home - now), now), owner)


def _retreat(answers: Answers, appraiser: Appraiser, shares: FloatArray, which: IntArray) -> BoolArray:
    """One change each taken back by each share; then the most saving ones together, two, three, and so on."""
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
    """Positions with a share of the change of one feature each taken back, or of all (-1)."""
    its = (cube.owner == feature[:, None]) | (feature[:, None] < 0)
    return np.where(its, now + share[:, None] * (home - now), now)


def _together(
    cube: Hypercube, before: FloatArray, candidates: FloatArray, owner: IntArray, feature: IntArray, cost: FloatArray
) -> tuple[FloatArray, IntArray]:
    """For each answer the valid single savings, the best of each feature, summed up in the order of what they save."""
    order = np.lexsort((cost, feature, owner))
    order = order[np.isfinite(cost[order])]
    pair = owner[order] * len(cube.kind) + feature[order]
    order = order[np.flatnonzero(np.diff(pair, prepend=-1))]
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


def _exchange(answers: Answers, appraiser: Appraiser, which: IntArray, rng: np.random.Generator) -> BoolArray:
    """A change, or a share of it, taken back and another feature pushed, at most as far as that saves; some of all pairs."""
    cube = answers.cube
    pushes, drawn = Pushes.of(cube), ((np.arange(SWAPS) + rng.random(SWAPS)) / SWAPS, rng.random(SWAPS))
    points, owner = [answers.points[:0]], [which[:0]]
    many = max(1, BATCH // (SWAPS * cube.size))
    for start in range(0, len(which), many):
        positions, whose = _exchanges(answers, appraiser, which[start : start + many], pushes, drawn)
        candidates, promising = answers.promising(appraiser, positions, whose)
        points.append(candidates[promising])
        owner.append(whose[promising])
    return answers.take(appraiser, np.concatenate(points), np.concatenate(owner))[0]


def _exchanges(
    answers: Answers, appraiser: Appraiser, which: IntArray, pushes: Pushes, draws: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, IntArray]:
    """Positions of exchanges of these answers for one other push each, and for two; and whose they are."""
    cube, (drawn, again) = answers.cube, draws
    at, feature = np.nonzero(answers.changed()[which])
    sensible = (cube.kind[feature, None] != GROUP) | (RELEASED == 1.0)
    pair, share = np.nonzero(sensible)
    at = np.concatenate([at[pair], np.arange(len(which))])  # the last are those of which everything is taken back
    feature = np.concatenate([feature[pair], np.full(len(which), -1)])
    shares = np.concatenate([RELEASED[share], np.ones(len(which))])
    order = np.argsort(at, kind="stable")
    at, feature, shares = at[order], feature[order], shares[order]
    rows = answers.row[which[at]]
    bases = _taken_back(cube, answers.positions[which[at]], cube.home[rows], feature, shares)
    spare = np.maximum(answers.cost[which[at]] - appraiser.pricing(cube.decode(bases, rows), rows), 0.0)

    first, able = np.searchsorted(at, np.arange(len(which))), pushes.able(cube, answers.row[which])
    count = able.sum(axis=1)
    pairs = np.bincount(at, minlength=len(which)) * count
    chosen = np.where((pairs > len(drawn))[:, None], np.floor(drawn * pairs[:, None]), np.arange(len(drawn)))
    a, column = np.nonzero(chosen < pairs[:, None])
    number = chosen[a, column].astype(np.intp)
    base = first[a] + number // count[a]
    listed = np.argsort(~able, axis=1, kind="stable")
    push, second = listed[a, number % count[a]], listed[a, (again[column] * count[a]).astype(np.intp)]
    other = feature[base] != pushes.feature[push]
    a, base, push, second = a[other], base[other], push[other], second[other]
    n, reach = answers.row[which[a]], cube.reach(spare)[base]
    once = pushes.pushed(cube, n, bases[base], reach, push)
    rest = reach * np.maximum(1 - np.abs(pushes.share[push]), 0.05)[:, None]
    twice = pushes.pushed(cube, n, once, rest, second)
    return np.concatenate([once, twice]), np.concatenate([which[a], which[a]])


@dataclass(frozen=True, eq=False)
class Pushes:
    """All ways to push one feature: a number up or down by a share of what it may, a rank or category to a value."""

    feature: IntArray
    coordinate: IntArray
    share: FloatArray
    code: IntArray

    @classmethod
    def of(cls, cube: Hypercube) -> Pushes:
        """Those of a hypercube."""
        rows: list[tuple[int, int, float, int]] = []
        for j, kind in enumerate(cube.kind.tolist()):
            i, codes = int(cube.first[j]), range(int(cube.place[j + 1] - cube.place[j]))
            if kind == NUMBER:
                rows += [(j, i, sign * push, -1) for push in PUSHES.tolist() for sign in (1.0, -1.0)]
            else:
                rows += [(j, i + code * (kind == GROUP), 0.0, code) for code in codes]
        feature, coordinate, share, code = np.array(rows, dtype=np.float64).T
        return cls(feature.astype(np.intp), coordinate.astype(np.intp), share, code.astype(np.intp))

    def able(self, cube: Hypercube, rows: IntArray) -> BoolArray:
        """Those that each of the rows may make."""
        slot = np.where(self.code < 0, cube.allowed.shape[1], cube.place[self.feature] + self.code)
        allowed = np.pad(cube.allowed, ((0, 0), (0, 1)), constant_values=True)
        return np.asarray(cube.free[rows][:, self.feature] & allowed[rows][:, slot])

    def pushed(
        self, cube: Hypercube, rows: IntArray, positions: FloatArray, reach: FloatArray, push: IntArray
    ) -> FloatArray:
        """Positions with one push each; numbers no farther than `reach`."""
        out, at = positions.copy(), np.arange(len(positions))
        feature, i, code = self.feature[push], self.coordinate[push], self.code[push]
        kind, lower, upper = cube.kind[feature], cube.lower[rows, i], cube.upper[rows, i]
        group = np.flatnonzero(kind == GROUP)
        out[group] = np.where(cube.owner == feature[group, None], 0.0, out[group])
        far = self.share[push] * np.minimum(reach[at, i], upper - lower)
        number = np.clip(out[at, i] + far, lower, upper)
        rank = (code - cube.start[rows, feature]) / cube.width[feature]
        out[at, i] = np.where(kind == GROUP, 1.0, np.where(kind == NUMBER, number, rank))
        return out
