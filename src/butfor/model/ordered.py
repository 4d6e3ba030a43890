"""Ordered classes: each is the part of a distribution between two thresholds of one score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_expit, log_ndtr

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.float_order import last_number
from butfor.model.monotone import (
    LARGEST_SCORE,
    AbstractStep,
    Complement,
    Logistic,
    MonotoneFunction,
    Normal,
    Scaled,
    half_space,
)
from butfor.model.readout import AbstractReadout, Link
from butfor.model.scores import UNIT_DOUBLE, ScoreSet, all_of, everything, nothing

LOGS: dict[type[AbstractStep], Callable[[FloatArray], FloatArray]] = {Logistic: log_expit, Normal: log_ndtr}
"""The logarithms of distribution functions that are symmetric around 0, and whose logarithm is concave."""

BEYOND_THRESHOLDS = 50.0
"""So far from all thresholds, the first or the last class has all but nothing of the probability."""


class Onset(NamedTuple):
    """The first number, on the way up, that fulfils a wish: perhaps, by our own numbers, and surely (infinite: none does)."""

    perhaps: float
    nominal: float
    sure: float

    def turned(self) -> Onset:
        """The edge of what does not fulfil it, on the way down."""
        return Onset(*(-float(np.nextafter(end, -np.inf)) if np.isfinite(end) else -end for end in reversed(self)))


@dataclass(frozen=True, eq=False)
class OrderedClasses(AbstractReadout):
    """Classes in an order. Class k has the probability `F(t[k] - s) - F(t[k - 1] - s)` for the score s.

    F is a distribution function whose logarithm is concave, so the ratio of the probabilities of a class and of a lower one
    rises with s: each class is the most probable one in one interval, which may be empty. F is symmetric, so the
    probability of a class between two thresholds rises up to the middle of them, and then falls
    (McCullagh 1980, "Regression models for ordinal data").

    - `thresholds` (classes - 1): t, in their order;
    - `distribution`: F.
    """

    classes: tuple[Any, ...]
    thresholds: FloatArray
    distribution: AbstractStep
    link: Link = "none"
    unit: float = UNIT_DOUBLE

    def rounded(self, unit: float) -> OrderedClasses:
        return OrderedClasses(self.classes, self.thresholds, self.distribution, self.link, max(unit, self.unit))

    def decide(self, scores: FloatArray) -> IntArray:
        return np.asarray(np.argmax(self.probabilities(scores), axis=1))

    def probabilities(self, scores: FloatArray) -> FloatArray:
        shares = self.distribution.at(self.thresholds - scores)
        return np.maximum(np.diff(shares, axis=1, prepend=0.0, append=1.0), 0.0)

    def probabilities_between(self, scores: FloatArray, slack: FloatArray) -> tuple[FloatArray, FloatArray]:
        least, most = self._shares_below(scores[:, 0] - slack, scores[:, 0] + slack)
        return _differences(least, most, self.unit)

    def class_sets(self, label: int) -> tuple[ScoreSet, ...]:
        return (_both(*self._winning(label)),)

    def other_sets(self, label: int) -> tuple[ScoreSet, ...]:
        """What is below the interval of a class, and what is above."""
        return _outside(*self._winning(label))

    def probability_sets(
        self, label: int, p: float, *, below: bool = False, strict: bool = False
    ) -> tuple[ScoreSet, ...]:
        if not 0 < p <= 1:
            if p == 0 and below != strict:
                raise ValueError("an ordered model gives the probability 0 only by rounding")
            return (everything(1) if (p <= 0) != below else nothing(1),)
        if label in (0, len(self.thresholds)):
            share = self._share_below(0) if label == 0 else self._share_below(label - 1).then(Complement())
            return (share.score_set(np.ones(1), p, below=below, strict=strict),)
        value = p if strict == below else float(np.nextafter(p, np.inf))
        ends = self._near(label, value, 1.0), self._near(label, value, -1.0)
        return _outside(*ends) if below else (_both(*ends),)

    def _share_below(self, k: int) -> MonotoneFunction:
        """The probability of all classes up to k."""
        return MonotoneFunction((Scaled(-1.0, float(self.thresholds[k])), self.distribution), self.unit)

    def _shares_below(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Between which numbers the estimator's shares below all thresholds lie, with 0 before them and 1 after."""
        ends = [self._share_below(k).between(low, high) for k in range(len(self.thresholds))]
        none, whole = np.zeros(len(low)), np.ones(len(low))
        least, most = (np.column_stack([none, *(end[side] for end in ends), whole]) for side in (0, 1))
        return least, most

    def _near(self, label: int, value: float, way: float) -> Onset:
        """Where the probability of a class between two thresholds becomes at least a value, towards the middle of them."""
        middle = way * float(self.thresholds[label - 1 : label + 1].mean())

        def given(t: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
            s = np.atleast_1d(way * t)
            least, most = (end[:, label] for end in _differences(*self._shares_below(s, s), self.unit))
            return most, self.probabilities(s[:, None])[:, label], least

        return _edge(lambda t, side: given(t)[side] < value, -LARGEST_SCORE, middle)

    def _winning(self, label: int) -> tuple[Onset, Onset]:
        """From where on a class is preferred to all lower ones, and, of negated scores, to all higher ones."""
        low, high = self.thresholds[0] - BEYOND_THRESHOLDS, self.thresholds[-1] + BEYOND_THRESHOLDS
        off = self._doubt
        spares = (-off, 0.0, off)
        lower, higher = np.arange(label), np.arange(label + 1, len(self.classes))

        def behind(t: FloatArray, side: int) -> BoolArray:
            ahead = self._ahead(t, label, lower)
            return ahead <= 0 if side == 1 else ahead < spares[side]

        def behind_higher(t: FloatArray, side: int) -> BoolArray:
            return self._ahead(-t, label, higher) < spares[side]

        return _edge(behind, low, high), _edge(behind_higher, -high, -low)

    def _ahead(self, s: FloatArray, label: int, others: IntArray) -> FloatArray:
        """The logarithm of the least ratio of the probability of a class and those of others."""
        own = self._logs(s, [label])
        with np.errstate(invalid="ignore"):
            ratios = np.where(np.isinf(own), own, own - self._logs(s, others))  # a class may be empty
        return np.asarray(np.min(ratios, axis=1, initial=np.inf))

    def _logs(self, s: FloatArray, labels: Any) -> FloatArray:
        """The logarithms of the probabilities of some classes (scores, labels), also where these are very small.

        F is symmetric: between two positive numbers lies as much as between their opposites.
        """
        ends = np.concatenate([[-np.inf], self.thresholds, [np.inf]])
        low, high = ends[:-1][labels] - s[:, None], ends[1:][labels] - s[:, None]
        low, high = np.where(low > 0, -high, low), np.where(low > 0, -low, high)
        log = LOGS[type(self.distribution)]
        last = log(high)
        with np.errstate(divide="ignore"):
            return np.asarray(last + np.log(-np.expm1(log(low) - last)))

    @property
    def _doubt(self) -> float:
        """By how much the logarithm of a ratio may be off where the rounding decides which class is the most probable.

        That one has at least the share 1 / classes. Two shares are differences of rounded numbers up to 1.
        """
        one = np.ones(1)
        off = 2 * float(self.distribution.off(one, one, self.unit)[0]) + 4 * self.unit
        return 4 * off * len(self.classes)


def _differences(least: FloatArray, most: FloatArray, unit: float) -> tuple[FloatArray, FloatArray]:
    """Between which numbers the differences of neighbours lie."""
    low, high = least[:, 1:] - most[:, :-1], most[:, 1:] - least[:, :-1]
    return np.maximum(low - 2 * unit * np.abs(low), 0.0), high + 2 * unit * np.abs(high)


def _edge(missed: Callable[[FloatArray, int], BoolArray], first: float, last: float) -> Onset:
    """Where a wish is missed no more, perhaps, nominally, and surely, between two numbers."""

    def end(side: int) -> float:
        found = last_number(lambda t: missed(t, side), first, last)
        if found >= last:
            return np.inf
        return -np.inf if found == -np.inf else float(np.nextafter(found, np.inf))

    return Onset(*map(end, range(3)))


def _both(up: Onset, down: Onset) -> ScoreSet:
    """The scores from one edge on, up to another of negated scores."""
    return all_of([half_space(np.ones(1), *up), half_space(-np.ones(1), *down)], 1)


def _outside(up: Onset, down: Onset) -> tuple[ScoreSet, ...]:
    """The scores before one edge, and those behind another of negated scores."""
    sides = (up.turned(), -1.0), (down.turned(), 1.0)
    if any(edge.sure == -np.inf for edge, _ in sides):
        return (everything(1),)
    return tuple(half_space(np.array([way]), *edge) for edge, way in sides if edge.perhaps < np.inf) or (nothing(1),)
