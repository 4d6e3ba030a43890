"""Sets of raw scores. Every target becomes such sets, so solvers need not know classes or probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray

UNIT_DOUBLE, UNIT_SINGLE, UNIT_HALF = 2.0**-53, 2.0**-24, 2.0**-11
"""The unit roundoff of float64, of float32 and of float16."""


def low_bit(x: FloatArray) -> float:
    """The largest power of two of which all numbers are whole multiples (infinite: they are all 0)."""
    fraction, exponent = np.frexp(x)
    digits = (fraction * 2.0**53).astype(np.int64)
    bits = np.where(digits == 0, np.inf, (digits & -digits).astype(np.float64))
    return float(np.ldexp(bits, exponent - 53).min(initial=np.inf))


class AbstractCurve(ABC):
    """A set of scores that is no polyhedron."""

    @abstractmethod
    def excesses(self, scores: FloatArray) -> FloatArray:
        """How far each row of scores is outside the set (at most 0: inside)."""

    def excess(self, scores: FloatArray) -> float:
        """How far one row of scores is outside."""
        return float(self.excesses(scores[None])[0])

    @abstractmethod
    def widened(self, doubt: Doubt) -> AbstractCurve:
        """A set that surely contains all scores that the estimator may take for scores of this one."""

    @abstractmethod
    def tightened(self, doubt: Doubt) -> AbstractCurve:
        """A set whose scores the estimator must take for scores of this one."""

    def is_level(self, scores: FloatArray, doubt: Doubt) -> bool:
        """Whether what is added up for one row of scores is surely the same, however these are rounded."""
        return False

    def among(self, scores: int) -> AbstractCurve:
        """The same set of the first `scores` scores, if others follow them."""
        return self


class AbstractConvex(AbstractCurve):
    """A convex set of scores. Tangents cut off what lies outside."""

    @abstractmethod
    def relaxed(self, by: float) -> AbstractConvex:
        """The set of the scores whose excess is at most `by`."""

    @abstractmethod
    def tangent(self, scores: FloatArray) -> tuple[FloatArray, float]:
        """An inequality `a s >= b` that holds on the whole set and cuts off `scores`."""


@dataclass(frozen=True, eq=False)
class Softmax(AbstractConvex):
    """The convex set of scores whose softmax gives `label` at least the probability `p`.

    The softmax is over the first `count` scores (None: all). The edge is moved outwards by `spare`. Within `doubt` of
    it, the rounding of the softmax decides.
    """

    label: int
    p: float
    count: int | None = None
    doubt: float = 0.0
    spare: float = 0.0

    def excesses(self, scores: FloatArray) -> FloatArray:
        """The log of the sum of exp(s_i - s_label) over the other i, minus log((1 - p) / p), minus the spare."""
        others = np.delete(scores[:, : self.count] - scores[:, [self.label]], self.label, axis=1)
        top = others.max(axis=1)
        sums = np.exp(others - top[:, None]).sum(axis=1)
        return np.asarray(top + np.log(sums) - np.log((1 - self.p) / self.p) - self.spare)

    def widened(self, doubt: Doubt) -> Softmax:
        return self.relaxed(self.doubt + doubt.curve)

    def tightened(self, doubt: Doubt) -> Softmax:
        return self.relaxed(-self.doubt - doubt.curve)

    def among(self, scores: int) -> Softmax:
        return replace(self, count=scores)

    def relaxed(self, by: float) -> Softmax:
        return replace(self, spare=self.spare + by, doubt=0.0)

    def tangent(self, scores: FloatArray) -> tuple[FloatArray, float]:
        rest = np.exp(scores[: self.count] - scores[: self.count].max())
        rest[self.label] = 0.0
        gradient = np.zeros_like(scores)
        gradient[: self.count] = rest / rest.sum()
        gradient[self.label] = -1.0
        return -gradient, self.excess(scores) - float(gradient @ scores)


@dataclass(frozen=True, eq=False)
class Doubt:
    """How far from the edges of a score set the rounding of sums decides.

    - `rows`: for each of its inequalities;
    - `scores`: for each score, which matters for its curve;
    - `grain`: for each inequality, the number of which its left side is a whole multiple, computed without rounding (0:
      there is none).
    """

    rows: FloatArray
    scores: FloatArray
    grain: FloatArray

    def between(self, b: FloatArray, strict: BoolArray) -> FloatArray:
        """Thresholds moved into the middle between two multiples of the grain, where they mean the same."""
        with np.errstate(divide="ignore", invalid="ignore"):
            multiple = np.where(strict, np.floor(b / self.grain) + 1, np.ceil(b / self.grain))
            return np.where(self.grain > 0, (multiple - 0.5) * self.grain, b)

    @property
    def curve(self) -> float:
        """How far from the edge of the curve, which depends on differences of scores."""
        return 2 * float(self.scores.max(initial=0.0))


@dataclass(frozen=True, eq=False)
class ScoreSet:
    """The scores `s` with `A s >= b` (`>` where `strict`). If there is a `curve`, they also lie in it.

    An answer with scores in this set costs `offset` more. `b` may have one row per row of a problem; they all share `A`
    (see `each_at_least`).

    `b` is a threshold of the estimator that was moved to the scores, and so it is rounded. The estimator surely says no
    below `b - below`, and yes above `b + above`, as far as this rounding is concerned. Both are one number, or one per
    inequality.
    """

    A: FloatArray
    b: FloatArray
    strict: BoolArray
    offset: float = 0.0
    curve: AbstractCurve | None = None
    below: FloatArray | float = 0.0
    above: FloatArray | float = 0.0

    @property
    def per_row(self) -> bool:
        """Whether each row of a problem has its own set."""
        return self.b.ndim > 1

    @property
    def least(self) -> FloatArray:
        """The smallest numbers that the sums may be: `A s >= least` says the same without `>`."""
        return np.where(self.strict, np.nextafter(self.b, np.inf), self.b)

    def take(self, rows: IntArray | BoolArray | slice) -> ScoreSet:
        """The set for some of the rows of a problem. For a single row, `b` is that of the row."""
        if not self.per_row:
            return self
        b = self.b[rows]
        return replace(self, b=b[0] if len(b) == 1 else b)

    def in_units(self, units: FloatArray) -> ScoreSet:
        """The same set, each inequality divided by a power of two."""
        below, above = self.below / units, self.above / units
        return replace(self, A=self.A / units[:, None], b=self.b / units, below=below, above=above)

    def widened(self, doubt: Doubt) -> ScoreSet:
        """A set of the same kind that surely contains all scores that the estimator may take for scores of this one.

        Bounds are proven over it. An inequality about which nothing is in doubt stays as it is.
        """
        curve = None if self.curve is None else self.curve.widened(doubt)
        strict = self.strict & (np.asarray(self.below) == 0)
        b = doubt.between(self.b - self.below - doubt.rows, strict)
        return replace(self, b=b, strict=strict & (doubt.rows == 0), curve=curve, below=0.0, above=0.0)

    def tightened(self, doubt: Doubt) -> ScoreSet:
        """A set of the same kind whose scores the estimator must take for scores of this one.

        Answers are looked for in it.
        """
        curve = None if self.curve is None else self.curve.tightened(doubt)
        b = doubt.between(self.b + self.above + doubt.rows, self.strict)
        return replace(self, b=b, strict=self.strict & (b == self.b), curve=curve, below=0.0, above=0.0)

    def perhaps(self, scores: FloatArray, doubt: Doubt) -> BoolArray:
        """Which rows of scores the estimator may take for scores of this set."""
        return self.widened(doubt).holds(scores)

    def surely(self, scores: FloatArray, doubt: Doubt) -> BoolArray:
        """Which rows of scores the estimator must take for scores of this set."""
        return self.tightened(doubt).holds(scores)

    def holds(self, scores: FloatArray, slack: FloatArray | float = 0.0) -> BoolArray:
        """Which rows of `scores` lie in the set, with at least `slack` to spare."""
        spare = scores @ self.A.T - self.b - slack
        inside = np.all(np.where(self.strict & (np.asarray(slack) == 0.0), spare > 0, spare >= 0), axis=1)
        if self.curve is not None:
            inside &= self.curve.excesses(scores) <= 0
        return np.asarray(inside, dtype=np.bool_)

    def shortfall(self, scores: FloatArray) -> FloatArray:
        """How far each row of `scores` lies outside the set."""
        short = np.max(self.b - scores @ self.A.T, axis=1, initial=0.0)
        if self.curve is not None:
            short = np.maximum(short, self.curve.excesses(scores))
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


def all_of(sets: list[ScoreSet], scores: int) -> ScoreSet:
    """The scores in all of some sets of plain inequalities."""
    below, above = (
        np.concatenate([np.zeros(0), *(np.broadcast_to(getattr(part, name), part.b.shape) for part in sets)])
        for name in ("below", "above")
    )
    return ScoreSet(
        np.concatenate([np.zeros((0, scores)), *(part.A for part in sets)]),
        np.concatenate([np.zeros(0), *(part.b for part in sets)]),
        np.concatenate([np.zeros(0, dtype=np.bool_), *(part.strict for part in sets)]),
        below=below,
        above=above,
    )
