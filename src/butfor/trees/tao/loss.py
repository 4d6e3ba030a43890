"""What a tree is fitted to: wrong labels, or squared differences, each weighted by its row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from butfor.arrays import FloatArray, IntArray


class Loss(Protocol):
    """The loss of the rows, and the leaf values that make it least."""

    def each(self, value: FloatArray, leaf: IntArray) -> FloatArray:
        """The loss of each row in its leaf; a leaf of -1 is no leaf and costs nothing."""

    def refit(self, value: FloatArray, leaf: IntArray) -> FloatArray:
        """Leaf values of least loss; those of leaves that no row reaches stay."""


@dataclass(frozen=True, eq=False)
class ZeroOne:
    """A wrong label costs the weight of its row; a leaf's value is the share of each class, the largest is its label."""

    codes: IntArray
    weight: FloatArray

    def each(self, value: FloatArray, leaf: IntArray) -> FloatArray:
        wrong = (value.argmax(axis=1)[leaf] != self.codes) & (leaf >= 0)
        return np.asarray(np.where(wrong, self.weight, 0.0))

    def refit(self, value: FloatArray, leaf: IntArray) -> FloatArray:
        count = np.zeros_like(value)
        np.add.at(count, (leaf, self.codes), self.weight)
        total = count.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(count, total, out=value.copy(), where=total > 0))


@dataclass(frozen=True, eq=False)
class Squared:
    """The square of the difference, times the weight of the row; a leaf's value is the mean."""

    y: FloatArray
    weight: FloatArray

    def each(self, value: FloatArray, leaf: IntArray) -> FloatArray:
        return np.asarray(np.where(leaf >= 0, self.weight * (value[leaf, 0] - self.y) ** 2, 0.0))

    def refit(self, value: FloatArray, leaf: IntArray) -> FloatArray:
        total = np.bincount(leaf, self.weight, len(value))
        middle = np.average(self.y, weights=self.weight)  # sums of differences from it lose no digits
        gap = np.bincount(leaf, self.weight * (self.y - middle), len(value))
        mean = np.divide(gap, total, out=np.zeros(len(value)), where=total > 0) + middle
        return np.where(total > 0, mean, value[:, 0])[:, None]
