"""Proofs about the mean of several probabilities, each the logistic function of a sum of trees of its own."""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.blend import Blend
from butfor.model.monotone import Logistic, MonotoneFunction
from butfor.proof.checker import checker
from butfor.proof.node import Looker, Node
from butfor.proof.prover import Prover
from butfor.solvers.blend.leaf_search import cheapest_leaves
from butfor.solvers.solver import Budget

ROUNDED_SHARES = 8
"""So many units of the claim are left for each logit to a checker that computes shares in another way."""


class MeanProver(Prover):
    """Proves one claim about a mean of logistic functions. The mean is one more goal, to which no leaf adds by itself.

    For rates r of the logits x and w of the mean m, no row of a box costs less than

    w m + r zeros - the sum of the most that w share(x) - r x is over what x may be in the box + columns + trees.

    The rates come from straight lines above the shares, which are r / w steep (docs/decisions/067-means-in-proofs.md).
    """

    rate_bits = 20

    def __init__(self, question: Any, runs: Any, budget: Budget) -> None:
        super().__init__(question, runs, budget)
        self.target += ROUNDED_SHARES * (self.arrays.goals.shape[1] - 1)

    def grains(self) -> FloatArray:
        """Logits, and shares."""
        return np.array(
            [*[float(self.arrays.question.grain)] * (self.arrays.goals.shape[1] - 1), 1.0 / checker().SHARE]
        )

    def node(self, alive: BoolArray, leaf: BoolArray) -> MeanNode:
        return MeanNode(self, alive, leaf)


class MeanNode(Node):
    """A box in which lines above the logistic functions, as tight as possible where the trees are now, make one goal."""

    slopes: FloatArray

    def __init__(self, prover: Looker, alive: BoolArray, leaf: BoolArray) -> None:
        super().__init__(prover, alive, leaf)
        if self.constant:
            return
        self.logit, self.zero = self.task.score[:, :-1], self.task.goal[:-1]
        self.start = self.reduced.trees.start
        count = len(self.zero)
        function = MonotoneFunction((Logistic(),))
        least = float(prover.arrays.question.wanted.mean[0])
        self.blend = Blend(np.eye(count), np.ones(count), (function,) * count, least)
        living = leaf[self.reduced.trees.original_leaf][:, None]
        self.low, self.high = (
            sign * np.minimum.reduceat(np.where(living, sign * self.logit, np.inf), self.start[:-1]).sum(axis=0)
            - self.zero
            for sign in (1.0, -1.0)
        )
        self._straighten((self.low + self.high) / 2)

    def prepare(self) -> None:
        """Lines where the trees are now."""
        chosen = cheapest_leaves(self.work.cost, self.start)
        self._straighten(self.logit[chosen].sum(axis=0) - self.zero)

    def _straighten(self, at: FloatArray) -> None:
        self.slopes, least = self.blend.half_space(self.low, self.high, np.clip(at, self.low, self.high))
        score = np.ascontiguousarray((self.logit @ self.slopes)[:, None])
        self.task = self.task._replace(score=score, goal=np.array([least + self.slopes @ self.zero]))

    def rates_before(self, rates: FloatArray) -> FloatArray:
        return rates[-1:]

    def rates_after(self, rates: FloatArray) -> FloatArray:
        return np.append(rates[0] * self.slopes, rates[0])
