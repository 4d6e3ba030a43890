"""Valid answers made cheaper: changes are taken back, pulled back to the boundary, and exchanged for others.

Each round is one question to the model for all answers together; the prices of candidates are known before, so that only
those which would be cheaper are asked about.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.model.cells import BoolArray, IntArray
from butfor.solvers.hypercube import Hypercube, moved
from butfor.solvers.judge import Judge
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

ROUNDS = 24
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

    def improve(self, judge: Judge, positions: FloatArray, owner: IntArray) -> tuple[BoolArray, FloatArray]:
        """Replace each answer by the cheapest valid of its candidates, if cheaper; which were, and what candidates cost."""
        rows = self.row[owner]
        points = self.cube.decode(positions, rows)
        problem = self.cube.problem
        bar = self.cost[owner] - SLACK * (1 + np.abs(self.cost[owner]))
        promising = np.flatnonzero(problem.prices.total(problem.factuals[rows], points) < bar)
        cost = np.full(len(points), np.inf)
        better = np.zeros(len(self.row), dtype=np.bool_)
        if len(promising):
            cost[promising] = judge(points[promising], rows[promising]).cost
            order = np.lexsort((cost, owner))
            best = order[np.flatnonzero(np.diff(owner[order], prepend=-1))]
            best = best[cost[best] < bar[best]]
            better[owner[best]] = True
            self.points[owner[best]], self.cost[owner[best]] = points[best], cost[best]
            self.positions[owner[best]] = self.cube.encode(points[best], rows[best])
        return better, cost


def polish(answers: Answers, judge: Judge, alone: bool, seed: int) -> None:
    """Improve all answers until no round helps; if a row has several, only its cheapest becomes another by exchanges."""
    _straighten(answers, judge)
    for _ in range(ROUNDS):
        if not _retreat(answers, judge, np.ones(1)).any():
            break
    order = np.lexsort((answers.cost, answers.row))
    leading = np.arange(len(order)) if alone else order[np.flatnonzero(np.diff(answers.row[order], prepend=-1))]
    for _ in range(ROUNDS):
        back = _retreat(answers, judge, LADDER)
        swapped = _exchange(answers, judge, seed, leading)
        if swapped.any():
            swapped |= _retreat(answers, judge, np.ones(1))
        if not (back | swapped).any():
            break


def _straighten(answers: Answers, judge: Judge) -> None:
    """Along the straight line back to the factual, as far as the target is met."""
    cube = answers.cube
    straight = (cube.kind != GROUP)[cube.owner]
    share = np.concatenate([np.arange(1, 16) / 16, LADDER[4:]])
    owner = np.repeat(np.arange(len(answers.row)), len(share))
    now, home = answers.positions[owner], cube.home[answers.row[owner]]
    back = np.tile(share, len(answers.row))[:, None]
    answers.improve(judge, np.where(straight, now + back * (home - now), now), owner)


def _retreat(answers: Answers, judge: Judge, shares: FloatArray) -> BoolArray:
    """One change each taken back by each share; then the most saving ones together, two, three, and so on."""
    cube = answers.cube
    before = answers.positions.copy()
    owner, feature = np.nonzero(answers.changed())
    owner, feature, share = np.repeat(owner, len(shares)), np.repeat(feature, len(shares)), np.tile(shares, len(owner))
    sensible = (cube.kind[feature] != GROUP) | (share == 1.0)
    owner, feature, share = owner[sensible], feature[sensible], share[sensible]
    if not len(owner):
        return np.zeros(len(answers.row), dtype=np.bool_)
    candidates = _taken_back(cube, before[owner], cube.home[answers.row[owner]], feature, share)
    better, cost = answers.improve(judge, candidates, owner)
    together, whose = _together(cube, before, candidates, owner, feature, cost)
    if len(whose):
        better |= answers.improve(judge, together, whose)[0]
    return better


def _taken_back(cube: Hypercube, now: FloatArray, home: FloatArray, feature: IntArray, share: FloatArray) -> FloatArray:
    """Positions with a share of the change of one feature each taken back."""
    its = cube.owner == feature[:, None]
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


def _exchange(answers: Answers, judge: Judge, seed: int, which: IntArray) -> BoolArray:
    """A change, or a share of it, taken back and another feature pushed, at most as far as that saves."""
    cube, problem = answers.cube, answers.cube.problem
    made, whose = [], []
    changed = answers.changed()
    for a in which.tolist():
        n, features = int(answers.row[a]), np.flatnonzero(changed[a])
        now, home = answers.positions[a], cube.home[n]
        feature, share = np.repeat(features, len(RELEASED)), np.tile(RELEASED, len(features))
        sensible = (cube.kind[feature] == NUMBER) | (share == 1.0)
        feature, share = feature[sensible], share[sensible]
        bases = np.concatenate([_taken_back(cube, now[None], home[None], feature, share), home[None]])
        points = cube.decode(bases, np.full(len(bases), n))
        saved = answers.cost[a] - problem.prices.total(np.repeat(problem.factuals[[n]], len(bases), 0), points)
        pushed = _pushed(cube, n, bases, np.append(feature, -1), np.maximum(saved, 0.0))
        if len(pushed) > SWAPS:
            pushed = pushed[np.random.default_rng(seed).choice(len(pushed), SWAPS, replace=False)]
        made.append(pushed)
        whose += [a] * len(pushed)
    if not whose:
        return np.zeros(len(answers.row), dtype=np.bool_)
    return answers.improve(judge, np.concatenate(made), np.array(whose, dtype=np.intp))[0]


def _pushed(cube: Hypercube, n: int, bases: FloatArray, released: IntArray, spare: FloatArray) -> FloatArray:
    """Every base with one more feature moved, another than the released one: numbers by shares of what is spare, any level."""
    reach = cube.reach(spare)
    lower, upper = cube.lower[n], cube.upper[n]
    made = []
    for j in np.flatnonzero(cube.free[n]):
        i, use = int(cube.first[j]), np.flatnonzero(released != j)
        if cube.kind[j] == GROUP:
            values = np.eye(int(cube.first[j + 1]) - i)[cube.allowed[n, cube.place[j] : cube.place[j + 1]]]
            at = slice(i, int(cube.first[j + 1]))
        elif cube.kind[j] == NUMBER:
            at = slice(i, i + 1)
            for sign in (-1.0, 1.0):
                far = np.minimum(reach[use, i], upper[i] - lower[i])
                for push in PUSHES:
                    step = bases[use].copy()
                    step[:, i] = np.clip(step[:, i] + sign * push * far, lower[i], upper[i])
                    made.append(step)
            continue
        else:
            codes = np.flatnonzero(cube.allowed[n, cube.place[j] : cube.place[j + 1]])
            values, at = ((codes - cube.start[n, j]) / cube.width[j])[:, None], slice(i, i + 1)
        for value in values:
            step = bases[use].copy()
            step[:, at] = value
            made.append(step)
    return np.concatenate(made) if made else bases[:0]
