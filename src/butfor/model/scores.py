"""Sets of raw scores. Every target becomes such sets, so solvers need not know classes or probabilities."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray

STRICT = 1e-8
"""By how much a strict inequality must be exceeded, as a share of the size of its terms.

It is larger than the tolerance of HiGHS.
"""


@dataclass(frozen=True, eq=False)
class Softmax:
    """The convex set of scores whose softmax gives `label` at least the probability `p`.

    The softmax is over the first `count` scores (None: all).
    """

    label: int
    p: float
    count: int | None = None

    def excess(self, scores: FloatArray) -> float:
        """How far the scores are outside the set (at most 0: inside).

        It is the log of the sum of exp(s_i - s_label) over the other i, minus log((1 - p) / p).
        """
        others = np.delete((scores - scores[self.label])[: self.count], self.label)
        top = others.max()
        return float(top + np.log(np.exp(others - top).sum()) - np.log((1 - self.p) / self.p))

    def tangent(self, scores: FloatArray) -> tuple[FloatArray, float]:
        """An inequality `a s >= b` that holds on the whole set and cuts off `scores`."""
        rest = np.exp(scores[: self.count] - scores[: self.count].max())
        rest[self.label] = 0.0
        gradient = np.zeros_like(scores)
        gradient[: self.count] = rest / rest.sum()
        gradient[self.label] = -1.0
        return -gradient, self.excess(scores) - float(gradient @ scores)


@dataclass(frozen=True, eq=False)
class ScoreSet:
    """The scores `s` with `A s >= b` (`>` where `strict`). If there is a `curve`, they also lie in it.

    An answer with scores in this set costs `offset` more. `b` may have one row per row of a problem; they all share `A`
    (see `each_at_least`).
    """

    A: FloatArray
    b: FloatArray
    strict: BoolArray
    offset: float = 0.0
    curve: Softmax | None = None

    @property
    def per_row(self) -> bool:
        """Whether each row of a problem has its own set."""
        return self.b.ndim > 1

    def take(self, rows: IntArray | BoolArray | slice) -> ScoreSet:
        """The set for some of the rows of a problem. For a single row, `b` is that of the row."""
        if not self.per_row:
            return self
        b = self.b[rows]
        return replace(self, b=b[0] if len(b) == 1 else b)

    def closing(self, size: FloatArray | float) -> FloatArray:
        """By how much each row must exceed `b`: 0 unless it is strict. `size` is that of its sum's terms."""
        return np.where(self.strict, STRICT * (1.0 + np.abs(self.b) + size), 0.0)

    def holds(self, scores: FloatArray, slack: FloatArray | float = 0.0) -> BoolArray:
        """Which rows of `scores` lie in the set, with at least `slack` to spare."""
        spare = scores @ self.A.T - self.b - slack
        inside = np.all(np.where(self.strict & (np.asarray(slack) == 0.0), spare > 0, spare >= 0), axis=1)
        if self.curve is not None:
            inside &= np.array([self.curve.excess(row) <= 0 for row in scores], dtype=np.bool_)
        return np.asarray(inside, dtype=np.bool_)

    def shortfall(self, scores: FloatArray) -> FloatArray:
        """How far each row of `scores` lies outside the set."""
        short = np.max(self.b - scores @ self.A.T, axis=1, initial=0.0)
        if self.curve is not None:
            short = np.maximum(short, [self.curve.excess(row) for row in scores])
        return np.asarray(short)


def cheapest_offset(score_sets: tuple[ScoreSet, ...], scores: FloatArray) -> FloatArray:
    """The least offset of the sets that contain each row of scores; infinity if none does."""
    offsets = [np.where(score_set.holds(scores), score_set.offset, np.inf) for score_set in score_sets]
    return np.asarray(np.min(offsets, axis=0, initial=np.inf)) if offsets else np.full(len(scores), np.inf)


def at_least(row: FloatArray, b: float, *, strict: bool = False) -> ScoreSet:
    """The half-space `row s >= b`."""
    return ScoreSet(np.atleast_2d(row), np.array([b]), np.array([strict]))


def each_at_least(row: FloatArray, b: FloatArray, *, strict: bool = False) -> ScoreSet:
    """The half-spaces `row s >= b[i]`, one for each row i of a problem."""
    shared = at_least(row, b[0], strict=strict)
    return shared if (b == b[0]).all() else replace(shared, b=b[:, None])


def everything(scores: int) -> ScoreSet:
    """The set of all scores."""
    return ScoreSet(np.zeros((0, scores)), np.zeros(0), np.zeros(0, dtype=np.bool_))


def nothing(scores: int) -> ScoreSet:
    """The empty set of scores."""
    return at_least(np.zeros(scores), 1.0)
