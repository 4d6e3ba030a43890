"""Regressors that predict the weighted median of their trees: AdaBoost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.model.oblique import ObliqueTree
from butfor.model.readout import Link, Value
from butfor.model.scores import ScoreSet
from butfor.model.side_by_side import TreeSum
from butfor.model.trees import Trees


@dataclass(frozen=True, eq=False)
class Median(Value):
    """The prediction is the weighted median of the scores, each of which is that of one tree.

    - `weights` (scores): what each counts.

    For a given threshold t, the median is a vote: it is at least t iff the trees that predict at least t have more than
    half of the weight, and at most t iff those that predict at most t have half of it. So the leaves of the model for a
    target hold weights, and what is asked for is a sum of trees.
    """

    link: Link = "none"
    weights: FloatArray = field(default_factory=lambda: np.ones(1))

    def sums(self, scores: FloatArray) -> FloatArray:
        order = np.argsort(scores, axis=1)
        ranked = np.take_along_axis(scores, order, axis=1)
        shares = np.cumsum(self.weights[order], axis=1)
        middle = (shares >= 0.5 * shares[:, -1:]).argmax(axis=1)
        return np.asarray(ranked[np.arange(len(scores)), middle])

    def votes(self, model: TreeSum, thresholds: FloatArray, up: FloatArray) -> TreeSum:
        """The model with one score for each threshold: the weight of the trees that are beyond it.

        Where `up` is 1, beyond means at least; where it is -1, at most.
        """

        def beyond(tree: IntArray | int, own: FloatArray) -> FloatArray:
            weight = np.broadcast_to(self.weights[tree], own.shape)[:, None]
            return np.asarray(weight * (up * own[:, None] >= up * thresholds))

        if isinstance(model, Trees):
            tree = np.searchsorted(model.roots, np.arange(len(model.feature)), side="right") - 1
            value = np.where(model.feature[:, None] < 0, beyond(tree, model.value[np.arange(len(tree)), tree]), 0.0)
            return replace(model, value=value, base=np.zeros(len(thresholds)))
        if isinstance(model, ObliqueTree):
            return replace(model, value=beyond(0, model.value[:, 0]))
        trees = [replace(tree, value=beyond(t, tree.value[:, t])) for t, tree in enumerate(model.trees)]
        return replace(model, trees=tuple(trees))

    def vote_set(self, up: FloatArray, score: int | slice) -> ScoreSet:
        """The votes by which one or all of the thresholds are met."""
        strict = up[score] > 0
        A = np.eye(len(up))[score]
        half = np.full(np.shape(strict), 0.5 * float(np.cumsum(self.weights)[-1]))
        return ScoreSet(np.atleast_2d(A), np.atleast_1d(half), np.atleast_1d(strict))
