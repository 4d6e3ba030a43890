"""Ways to learn one decision from its care points.

The decision is a sparse direction, or the best cut of one feature.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.trees.tao import kernels

FIT_TOLERANCE = 1e-4
"""How far from its optimum a logistic regression may stop, as a share of the largest slope at zero."""

Decision = tuple[FloatArray, float]


class Split(Protocol):
    """A kind of decision. Its weights are those of the columns as they are given."""

    def size(self, weights: FloatArray) -> FloatArray:
        """The size of each row of weights. The penalty is proportional to it, and no unit of a column changes it."""

    def cut(self, feature: IntArray) -> FloatArray:
        """The weight of size 1 for a decision about one feature."""

    def direction(self, rng: np.random.RandomState, features: int) -> FloatArray:
        """Random weights of size 1 to start from."""

    def learn(self, X: FloatArray, gain: FloatArray, now: Decision, alpha: float) -> Decision:
        """Learn a decision for care points. They gain |gain| by going right (gain > 0) or left (gain < 0)."""


@dataclass(frozen=True, eq=False)
class ObliqueSplit:
    """w'x + b >= 0 with few weights. L1-regularised logistic regression replaces the loss.

    `spread` is the unit in which each column is measured: the size of weights is the sum of |w| times it.
    """

    spread: FloatArray

    def size(self, weights: FloatArray) -> FloatArray:
        return np.asarray((np.abs(weights) * self.spread).sum(axis=-1))

    def cut(self, feature: IntArray) -> FloatArray:
        return np.asarray(1 / self.spread[feature])

    def direction(self, rng: np.random.RandomState, features: int) -> FloatArray:
        drawn = rng.standard_normal(features)
        return np.asarray(drawn / np.abs(drawn).sum() / self.spread)

    def learn(self, X: FloatArray, gain: FloatArray, now: Decision, alpha: float) -> Decision:
        care, (weights, bias) = np.abs(gain), now
        centre = care @ X / care.sum()
        columns = np.asfortranarray((X - centre) / self.spread)
        start = bias + float(weights @ centre)
        found, shift = kernels.logistic(
            columns, np.sign(gain), care, alpha, weights * self.spread, start, FIT_TOLERANCE
        )
        found /= self.spread
        return found, shift - float(found @ centre)


@dataclass(frozen=True)
class AxisSplit:
    """x_j >= t or x_j <= t. All features and cuts are tried, and the best is taken. Every decision has size 1."""

    def size(self, weights: FloatArray) -> FloatArray:
        return np.asarray((weights != 0).any(axis=-1).astype(np.float64))

    def cut(self, feature: IntArray) -> FloatArray:
        return np.ones(len(feature))

    def direction(self, rng: np.random.RandomState, features: int) -> FloatArray:
        out = np.zeros(features)
        out[rng.randint(features)] = 1.0
        return out

    def learn(self, X: FloatArray, gain: FloatArray, now: Decision, alpha: float) -> Decision:
        best, found = -np.inf, now
        for j in range(X.shape[1]):
            order = np.argsort(X[:, j], kind="stable")
            x = X[order, j]
            below = np.cumsum(gain[order])[:-1]
            won = np.where(x[:-1] < x[1:], np.abs(below - gain.sum() / 2), -np.inf)
            # rows above the cut to the right: gain is sum - below; rows below it to the right: gain is below.
            # Both are half the sum plus or minus `won`.
            k = int(np.argmax(won)) if len(won) else -1
            if k >= 0 and won[k] > best:
                best, low, high = won[k], x[k], x[k + 1]
                middle = low + (high - low) / 2
                weights = np.zeros(X.shape[1])
                if below[k] > gain.sum() / 2:
                    weights[j], bias = -1.0, float(middle if middle < high else low)
                else:
                    weights[j], bias = 1.0, -float(middle if middle > low else high)
                found = weights, bias
        return found
