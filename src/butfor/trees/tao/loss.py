"""The losses that a tree is fitted to: wrong labels, or squared differences. Rows have weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from butfor.arrays import FloatArray, IntArray


class Loss(Protocol):
    """A loss: it gives the loss of each row, and the best leaf values."""

    def each(self, value: FloatArray, leaf: IntArray) -> FloatArray:
        """The loss of each row in its leaf. Leaf -1 means no leaf, and costs nothing."""

    def refit(self, value: FloatArray, leaf: IntArray) -> FloatArray:
        """The leaf values with the least loss. Leaves that no row reaches keep their values."""

    def only(self, rows: IntArray) -> Loss:
        """The loss of some of the rows."""

    def outputs(self, width: int) -> FloatArray:
        """The leaf value that would suit each row best."""

    def rivals(self, width: int) -> list[FloatArray]:
        """Pairs of leaf values between which the rows may be parted, if one decision gives them all the same label."""


@dataclass(frozen=True, eq=False)
class ZeroOne:
    """A wrong label costs the weight of its row.

    A leaf's value is the share of each class. Its label is the class with the largest share.
    """

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

    def only(self, rows: IntArray) -> ZeroOne:
        return ZeroOne(self.codes[rows], self.weight[rows])

    def outputs(self, width: int) -> FloatArray:
        return np.eye(width)[self.codes]

    def rivals(self, width: int) -> list[FloatArray]:
        """The most frequent class against the second and against the third."""
        count = np.bincount(self.codes, self.weight)
        first, *others = np.argsort(-count, kind="stable")[:3]
        return [np.eye(width)[[first, other]] for other in others if count[other] > 0]


@dataclass(frozen=True, eq=False)
class Squared:
    """The squared difference times the weight of the row. A leaf's value is the mean."""

    y: FloatArray
    weight: FloatArray

    def each(self, value: FloatArray, leaf: IntArray) -> FloatArray:
        return np.asarray(np.where(leaf >= 0, self.weight * (value[leaf, 0] - self.y) ** 2, 0.0))

    def refit(self, value: FloatArray, leaf: IntArray) -> FloatArray:
        total = np.bincount(leaf, self.weight, len(value))
        middle = np.average(self.y, weights=self.weight)  # sums of differences from the mean lose no digits
        gap = np.bincount(leaf, self.weight * (self.y - middle), len(value))
        mean = np.divide(gap, total, out=np.zeros(len(value)), where=total > 0) + middle
        return np.where(total > 0, mean, value[:, 0])[:, None]

    def only(self, rows: IntArray) -> Squared:
        return Squared(self.y[rows], self.weight[rows])

    def outputs(self, width: int) -> FloatArray:
        return self.y[:, None]

    def rivals(self, width: int) -> list[FloatArray]:
        """None are needed: the means of two leaves differ, and so every row has something to gain."""
        return []
