"""How far the inputs of a model must move, at least, before it predicts something else.

This may be known of a model that is not read otherwise. It gives a lower bound on the cost of every answer.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.linear import Linear


@dataclass(frozen=True, eq=False)
class Supposed:
    """Predictions that a model may make somewhere, and how far from here that is, at least.

    - `labels`: the predicted classes;
    - `probabilities` (predictions, classes): at most these; None if nothing is known about them;
    - `distance`: the Euclidean distance of the inputs; 0 if nothing is known.
    """

    labels: list[Any]
    probabilities: FloatArray | None
    distance: FloatArray


class AbstractBarrier(ABC):
    """What is known of a model: how far its inputs must move. Each input depends on one feature."""

    inputs: Linear

    @abstractmethod
    def around(self, z: FloatArray) -> Supposed:
        """All predictions that the model may make, seen from inputs `z`."""


@dataclass(frozen=True, eq=False)
class Neighbours(AbstractBarrier):
    """A vote of the `count` nearest of `rows`, which have the classes `label`.

    For m votes of class c, the m-th nearest row of c must become as near as the (k - m + 1)-th nearest of the others.
    A move by r changes each distance by at most r. So r is at least half of the difference of these two distances.
    `doubt` is by how much the estimator may be wrong about distances, as a share of the size of the inputs.
    """

    inputs: Linear
    rows: FloatArray
    label: IntArray
    classes: tuple[Any, ...]
    count: int
    doubt: float

    def around(self, z: FloatArray) -> Supposed:
        far = np.linalg.norm(self.rows - z, axis=1)
        off = self.doubt * (np.linalg.norm(z) + np.linalg.norm(self.rows, axis=1).max())
        needed = np.array([self._needed(far, self.label == c) for c in range(len(self.classes))]) - off
        votes = self._votes()
        distance = np.take_along_axis(needed.T, votes, axis=0).max(axis=1)
        vote, winner = np.nonzero(votes == votes.max(axis=1, keepdims=True))
        share = np.nextafter(votes / self.count, np.inf)
        return Supposed([self.classes[c] for c in winner], share[vote], np.maximum(distance, 0.0)[vote])

    def _needed(self, far: FloatArray, own: BoolArray) -> FloatArray:
        """For 0, 1, ..., k votes of a class, how far the inputs must move at least."""
        k = self.count
        mine, others = (np.append(np.sort(far[some]), np.full(k, np.inf))[:k] for some in (own, ~own))
        with np.errstate(invalid="ignore"):
            half = (mine - others[::-1]) / 2
        half = np.where(np.isinf(mine), np.inf, np.where(np.isinf(others[::-1]), 0.0, half))
        return np.append(0.0, half)

    def _votes(self) -> IntArray:
        """All ways to give the votes to the classes."""
        given = list(combinations_with_replacement(range(len(self.classes)), self.count))
        return np.array([np.bincount(some, minlength=len(self.classes)) for some in given], dtype=np.intp)


MOST_WAYS = 5_000
"""In how many ways votes may be given to classes, so that all of them are looked at."""


def ways(classes: int, count: int) -> int:
    """In how many ways `count` votes can be given to classes."""
    return comb(count + classes - 1, classes - 1)


DISTANCE_HALVINGS = 60
"""How often the distance of a kernel's other side is halved into."""


@dataclass(frozen=True, eq=False)
class GaussianKernel(AbstractBarrier):
    """A sum of Gaussians, `intercept + sum_i weight_i exp(-gamma |z - row_i|^2)`, that says class 2 where it is positive.

    Within a distance r, no row is nearer than |z - row_i| - r and none is farther than |z - row_i| + r. So the sum is
    below one that takes the former for positive weights and the latter for others, and this one grows with r.
    `doubt` is by how much the estimator may be wrong about it, as a share of the sum of the sizes.
    """

    inputs: Linear
    rows: FloatArray
    weight: FloatArray
    intercept: float
    gamma: float
    classes: tuple[Any, ...]
    doubt: float

    def around(self, z: FloatArray) -> Supposed:
        far = np.linalg.norm(self.rows - z, axis=1)
        now = int(self.intercept + self.weight @ np.exp(-self.gamma * far**2) > 0)
        distance = np.array([0.0, self._distance(far, sign=1 - 2 * now)])
        return Supposed([self.classes[now], self.classes[1 - now]], None, distance)

    def _distance(self, far: FloatArray, sign: int) -> float:
        """The largest distance that is known to be too short for `sign` times the sum to become positive."""
        weight, start = sign * self.weight, sign * self.intercept
        start += self.doubt * (float(np.abs(weight).sum()) + abs(start))

        def positive(r: float) -> bool:
            most = np.maximum(weight, 0) @ np.exp(-self.gamma * np.maximum(far - r, 0) ** 2)
            least = np.minimum(weight, 0) @ np.exp(-self.gamma * (far + r) ** 2)
            return bool(start + most + least > 0)

        short, long = 0.0, float(far.max(initial=0.0)) + np.sqrt(800 / self.gamma)
        if positive(short):
            return 0.0
        if not positive(long):
            return np.inf
        for _ in range(DISTANCE_HALVINGS):
            middle = (short + long) / 2
            short, long = (short, middle) if positive(middle) else (middle, long)
        return short
