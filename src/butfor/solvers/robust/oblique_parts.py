"""The cutting loop of an oblique tree: rows are parted along planes, by branch and bound over half-spaces.

A part is a set of half-spaces of the decisions, and its cheapest row a problem with a linear model. If a shift s leads
that row deep into a leaf that misses the target, then in every robust row

- either the whole ball stays out of the leaf, beyond the plane that comes nearest to it (weights w of the decisions,
  `w z + max_s w A s <= 0`: one decision kept for all shifts, or a mixture of several at a corner of the leaf),
- or it does not, and one of the decisions on the way into the leaf is taken otherwise at the shift s.

No row is lost, and the row that fails lies in none of these parts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.frontier import Frontier
from butfor.model.oblique import ObliqueTree, Path
from butfor.model.scores import ScoreSet
from butfor.neighbours.ball import Ball
from butfor.neighbours.oblique.leaf_reach import TERMS_ROUNDING, LeafReach, Reached, WayIn, size_of_terms
from butfor.neighbours.shifts import shifts_of
from butfor.problem.oracle import Always
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer
from butfor.solvers.outcome import Stopped, to_beat
from butfor.solvers.robust.cutting import AbstractCutting, Cheapest
from butfor.solvers.robust.held_gates import HeldGates, all_space
from butfor.solvers.solver import Budget

FIRMER = (4 * TERMS_ROUNDING, 1e-9, 1e-8, 1e-7)
"""Shares of their terms by which decisions of an answer are taken more firmly, so that rounding decides nothing."""

MOST_STEPS_ASIDE = 50
"""How many leaves an answer may be moved away from, after its thresholds were raised."""


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of the search, and the row that failed before it (None: there was none)."""

    inside: HeldGates
    failed: FloatArray | None = None


class ObliqueParts(AbstractCutting):
    """Answers and bounds for an oblique tree, one set of scores and one ball.

    - `left`: the parts that are left, the one with the least bound first;
    - `next`: the part that comes before them, and its bound: its row is judged, or it was parted from that one.
    """

    def __init__(
        self, problem: Problem, score_set: ScoreSet, ball: Ball, model: ObliqueTree, cheapest: Cheapest
    ) -> None:
        super().__init__(problem)
        self.score_set, self.ball, self.model, self.cheapest = score_set, ball, model, cheapest
        self.ceiling = np.inf
        self.left = Frontier[_Part](lambda: to_beat(self.ceiling, 1 / 2))
        self.next: tuple[float, _Part] | None = None
        for first in self._first_parts():
            self.left.put(0.0, first)

    def begin(self, upper: float, budget: Budget) -> None:
        """Nothing: all parts are there, and answers come with them."""

    def cheapest_left(self, ceiling: float, budget: Budget) -> SetAnswer:
        """The cheapest row of the part with the least bound, or of one on the way down from there."""
        self.ceiling = ceiling
        while (self.next is not None or self.left.is_open) and not budget.spent():
            bound, part = self.next = self.next or self.left.pop()
            found = self._solved(part.inside.score_set(), ceiling, budget)
            bound = max(bound, found.bound)
            if found.point is not None and bound < self.left.ceiling():
                self.next = bound, part
                return replace(found, bound=min(bound, self.left.lowest), stopped=Stopped.DONE)
            self.left.settle(bound)
            self.next = None
        return SetAnswer(None, np.inf, self._lowest)

    @property
    def _lowest(self) -> float:
        """What all parts that are left cost at least."""
        return self.left.lowest if self.next is None else min(self.next[0], self.left.lowest)

    def learn(self, found: SetAnswer, upper: float, budget: Budget) -> bool:
        """A part whose row surely fails is parted, beyond the plane first. In any other, at most rounding decides."""
        assert found.point is not None
        assert self.next is not None
        bound, part = self.next
        met = self._deepest(found.point)
        if met is None or (part.failed is not None and np.array_equal(found.point, part.failed, equal_nan=True)):
            self._settle(part.inside, found, upper, budget)
            self.left.settle(bound)
            self.next = None
            return True
        parts = [(bound, _Part(one, found.point)) for one in self._parts(part.inside, *met) if one is not None]
        self.next = parts.pop(0) if parts else None
        for one in parts:
            self.left.put(*one)
        return True

    def is_robust(self, point: FloatArray) -> bool:
        return not self._reaches(point)

    def _first_parts(self) -> list[_Part]:
        """The leaves of the target. The row itself must lie in one of them."""
        found, everywhere = [], all_space(np.abs(self.model.gates.slope) @ self.ball.radius)
        for path in self.model.paths:
            if self.missing[path.node]:
                continue
            node: HeldGates | None = everywhere
            for row, right in zip(self._rows(path), path.right, strict=True):
                node = None if node is None else node.also(row, 0.0, strict=not right)
            if node is not None:
                found.append(_Part(node))
        return found

    @cached_property
    def missing(self) -> BoolArray:
        """Which nodes of the tree have scores that miss the target."""
        return ~self.score_set.perhaps(self.model.value, self.problem.doubt(self.score_set))

    def _rows(self, path: Path) -> FloatArray:
        """The decisions on a path as rows over all of them: not negative if the path is followed."""
        rows = np.zeros((len(path.gates), self.model.gates.scores))
        rows[np.arange(len(path.gates)), path.gates] = np.where(path.right, 1.0, -1.0)
        return rows

    def _plane(self, path: Path, way: WayIn) -> FloatArray:
        """The mixture of the decisions on a path that comes nearest. A single one is what it is in every other leaf."""
        plane = np.asarray(way.weights @ self._rows(path))
        return np.asarray(plane / np.abs(plane).max())

    def _solved(self, score_set: ScoreSet, upper: float, budget: Budget) -> SetAnswer:
        """The cheapest row of some half-spaces."""
        plain = replace(self.problem, model=self.model.gates).with_demands(ball=None)
        plain = plain.with_witnesses(confirmation=Always(True))
        return self.cheapest(plain, score_set, upper, budget)

    def _reaches(self, point: FloatArray) -> list[tuple[Path, WayIn]]:
        """The leaves that miss the target and that some neighbour perhaps reaches."""
        reach = LeafReach(self.model, point, shifts_of(self.ball, point))
        found = ((path, reach.into(path)) for path in self.model.paths if self.missing[path.node])
        return [(path, way) for path, way in found if way.reached is not Reached.NO]

    def _deepest(self, point: FloatArray) -> tuple[Path, WayIn] | None:
        """The leaf into which some neighbour surely gets deepest."""
        surely = [(path, way) for path, way in self._reaches(point) if way.reached is Reached.YES]
        return max(surely, key=lambda one: one[1].depth, default=None)

    def _parts(self, node: HeldGates, path: Path, way: WayIn) -> list[HeldGates | None]:
        """The parts of a node in which its row does not lie: beyond the plane, and then the rest (None: it is empty)."""
        rows = self._rows(path)
        plane = self._plane(path, way)
        most = self._rise(plane)
        parts = [node.also(-plane, most)]
        rest = node.also(plane, -most, strict=True)
        for row, right in zip(rows, path.right, strict=True):
            at = float(row @ self.model.gates.slope @ way.shift)
            parts.append(None if rest is None else rest.also(-row, at, strict=bool(right)))
        return parts

    def _rise(self, plane: FloatArray) -> float:
        """By how much a mixture of decisions may rise within the ball."""
        return float(self.ball.loss((plane @ self.model.gates.slope)[None])[0])

    def _settle(self, node: HeldGates, found: SetAnswer, upper: float, budget: Budget) -> None:
        """Make an answer of a row about which at most rounding decides: a little further inside, nothing does."""
        assert found.point is not None
        extent = self.problem.domain.extent
        terms = size_of_terms(self.model.gates, np.maximum(np.abs(extent.low), np.abs(extent.high)) + self.ball.radius)
        for share in (0.0, *FIRMER):
            if share and not budget.spent():
                found = self._solved(node.raised(share * terms).score_set(), min(upper, self.best.cost), budget)
            aside: HeldGates | None = node
            for _ in range(MOST_STEPS_ASIDE):
                if found.point is None or found.cost >= self.best.cost or budget.spent():
                    break
                near = self._reaches(found.point)
                if not near:
                    self.best = replace(self.best, point=found.point, cost=found.cost)
                    return
                for path, way in near:
                    plane = self._plane(path, way)
                    aside = None if aside is None else aside.also(-plane, self._rise(plane))
                if aside is None or not share:
                    break
                found = self._solved(aside.raised(share * terms).score_set(), min(upper, self.best.cost), budget)
