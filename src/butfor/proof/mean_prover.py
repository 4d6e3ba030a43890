"""Proofs about the mean of several probabilities, each a function of a sum of trees of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.proof.arrays import Arrays
from butfor.proof.checker import checker
from butfor.proof.curves import lines_above
from butfor.proof.node import Looker, Node
from butfor.proof.prover import Prover
from butfor.solvers.blend.leaf_search import cheapest_leaves
from butfor.solvers.solver import Budget

ROUNDED_SHARES = 8
"""So many units of the claim are left for each logit to a checker that computes shares in another way."""


def grains_of_mean(arrays: Arrays) -> FloatArray:
    """What a grain is of sums, and of shares."""
    sums = len(arrays.question.wanted.curves)
    return np.array([*[float(arrays.question.grain)] * sums, *[1.0 / checker().SHARE] * (arrays.goals.shape[1] - sums)])


class MeanProver(Prover):
    """Proves one claim about a mean of curves. The mean is one more goal, to which no leaf adds by itself.

    For rates r of the sums x and w of the mean m, no row of a box costs less than

    w m + r zeros - the sum of the most that w curve(x) - r x is over what x may be in the box + columns + trees.

    The rates come from straight lines above the curves, which are r / w steep (docs/decisions/067-means-in-proofs.md).
    """

    rate_bits = 20

    def __init__(self, question: Any, runs: Any, budget: Budget) -> None:
        super().__init__(question, runs, budget)
        self.target += ROUNDED_SHARES * (self.arrays.goals.shape[1] - 1)

    def grains(self) -> FloatArray:
        return grains_of_mean(self.arrays)

    def node(self, alive: BoolArray, leaf: BoolArray) -> MeanNode:
        return MeanNode(self, alive, leaf)


class MeanNode(Node):
    """A box in which lines above the curves, as tight as possible where the trees are now, make one goal."""

    def __init__(self, prover: Looker, alive: BoolArray, leaf: BoolArray) -> None:
        super().__init__(prover, alive, leaf)
        if self.constant:
            return
        self.wanted = prover.arrays.question.wanted
        count = len(self.wanted.curves)
        self.sums, self.zero = self.task.score[:, :count], self.task.goal[:count]
        self.start = self.reduced.trees.start
        every = np.append(leaf, np.ones(len(prover.scores()) - len(leaf), dtype=np.bool_))  # those of numbers come last
        living = every[self.reduced.trees.original_leaf][:, None]
        self.low, self.high = (
            sign * np.minimum.reduceat(np.where(living, sign * self.sums, np.inf), self.start[:-1]).sum(axis=0)
            - self.zero
            for sign in (1.0, -1.0)
        )
        self._straighten((self.low + self.high) / 2)

    def prepare(self) -> None:
        """Lines where the trees are now."""
        chosen = cheapest_leaves(self.work.cost, self.start)
        self._straighten(self.sums[chosen].sum(axis=0) - self.zero)

    def _straighten(self, at: FloatArray) -> None:
        self.lines = lines_above(self.wanted.curves, self.low, self.high, at)
        slopes, least = self.lines.slopes, float(self.wanted.mean[0]) - self.lines.height
        score = np.ascontiguousarray((self.sums @ slopes)[:, None])
        self.task = self.task._replace(score=score, goal=np.array([least + slopes @ self.zero]))

    def rates_before(self, rates: FloatArray) -> FloatArray:
        return rates[-1:]

    def rates_after(self, rates: FloatArray) -> FloatArray:
        return np.asarray(rates[0] * np.array([*self.lines.slopes, *self.lines.inner, 1.0]))
