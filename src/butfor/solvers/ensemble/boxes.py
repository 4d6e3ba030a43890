"""The search over boxes of cells: cheapest box first.

A box is bounded by the sum of each tree's best leaf that its rows can reach. This is strong where few features may
change: a leaf that needs more changes than are left is out of reach. So it proves quickly that there is no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.frontier import Frontier
from butfor.solvers.ensemble.box_kernels import least_prices, parted, reach, tighten
from butfor.solvers.ensemble.reduce import as_leaves
from butfor.solvers.ensemble.reduced_ensemble import Reduced
from butfor.solvers.ensemble.work_arrays import Task


class BoxWork(NamedTuple):
    """Arrays for one box after the other.

    low, high (features): the first and the last living cell
    room (limits): what the rows may count further
    need (limits): what a leaf counts more than the cheapest row
    best (trees, scores): the best leaf within reach
    inside (trees): the leaf that takes the cheapest row; -1 if none does
    most, here (scores): the sums of both
    vote (cells + 1): what trees would gain beyond the cut before the cell or, if not ordered, in the cell
    """

    low: IntArray
    high: IntArray
    room: FloatArray
    need: FloatArray
    best: IntArray
    inside: IntArray
    most: FloatArray
    here: FloatArray
    vote: FloatArray


class BoxSearch:
    """A search that can be stopped at any time.

    No row below the ceiling costs less than `lower`. Once it is `done`, there is none, and the scores of any row sum to
    `highest` at most if the ceiling was infinite. Of the rows that were looked at, if any, the last of `closest` lacks
    least of the goal.
    """

    def __init__(
        self, reduced: Reduced, task: Task, ceiling: Callable[[], float], offer: Callable[[IntArray], bool]
    ) -> None:
        """`offer(x)` says whether a row that reaches the goal is an answer, and takes it."""
        self.task, self.ceiling, self.offer = task, ceiling, offer
        self.leaves = as_leaves(reduced)
        self.start, self.ordered = reduced.cells.start, reduced.cells.ordered
        self.least = least_prices(self.start, task.price)
        features, trees, scores, limits = len(self.ordered), len(self.leaves.tree) - 1, len(task.goal), len(task.limit)
        self.x, self.spared = np.zeros(features, dtype=np.intp), np.zeros((limits, features))
        self.far = np.zeros(len(task.price), dtype=np.bool_)
        self.work = BoxWork(
            low=np.zeros(features, dtype=np.intp),
            high=np.zeros(features, dtype=np.intp),
            room=np.zeros(limits),
            need=np.zeros(limits),
            best=np.zeros((trees, scores), dtype=np.intp),
            inside=np.zeros(trees, dtype=np.intp),
            most=np.zeros(scores),
            here=np.zeros(scores),
            vote=np.zeros(len(task.price) + 1),
        )
        self.lower, self.done, self.highest = 0.0, False, np.full(scores, -np.inf)
        self.closest: list[IntArray] = []
        self.lack = np.inf

    def steps(self, size: int) -> Iterator[None]:
        """The search, with a pause after so many boxes. Of equally cheap boxes the newest comes first."""
        alive = np.ones(len(self.task.price), dtype=np.bool_)
        left = Frontier[bytes](self.ceiling, newest_first=True)

        def put(alive: BoolArray) -> None:
            cost = self._tighten(alive)
            if cost < np.inf:
                left.put(cost, np.packbits(alive).tobytes())

        put(alive)
        looked_at = 0
        while left.is_open:
            self.lower, bits = left.pop()
            looked_at += 1
            alive = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), count=len(alive)).view(np.bool_)
            for part in self._parts(alive):
                put(part)
            if looked_at % size == 0:
                yield
        self.done = True

    def _parts(self, alive: BoolArray) -> tuple[BoolArray, ...]:
        """The two parts of a box; none if no row of it is a better answer than its cheapest row."""
        if self._tighten(alive) == np.inf:
            return ()
        if not self._may_reach(alive):
            self.highest = np.maximum(self.highest, self.work.most)
            return ()
        lack = float(np.maximum(self.task.goal - self.work.here, 0.0).sum())
        if lack < self.lack:
            self.lack = lack
            self.closest.append(self.x.copy())
        if self._is_reached():
            if self.offer(self.x.copy()):
                return ()
            self.highest = np.maximum(self.highest, self.work.here)
        feature = parted(self.leaves, self.ordered, self.start, self._aim(), alive, self.x, self.work, self.far)
        if feature < 0:
            return ()
        far, own = self.far.copy(), slice(self.start[feature], self.start[feature + 1])
        alive[own] &= ~far[own]
        return alive, far  # the far one holds what the trees want

    def _may_reach(self, alive: BoolArray) -> bool:
        """Whether a row of the box may reach the goal."""
        return bool(
            reach(
                self.leaves, self.ordered, self.start, self.task, self.least, alive, self.x, self.spared,
                self.ceiling(), self.work,
            )
        )  # fmt: skip

    def _is_reached(self) -> bool:
        """Whether the cheapest row of the box reaches the goal."""
        return bool((self.work.here >= self.task.goal).all())

    def _aim(self) -> Task:
        """The task by which a box is parted, where most is lacking."""
        return self.task

    def _tighten(self, alive: BoolArray) -> float:
        """The cost of a box's cheapest row, `x`. Cells that no better row has are dropped."""
        task = self.task
        return float(tighten(self.start, task.price, task.side, task.limit, alive, self.ceiling(), self.x, self.spared))
