"""Readouts: from raw scores to values, labels or probabilities, and back to score sets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy.special import expit, softmax

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.experimental import experimental
from butfor.model.blend import odds_of_others
from butfor.model.scores import UNIT_DOUBLE, ScoreSet, Softmax, at_least, everything, nothing

Link = Literal["identity", "logistic", "softmax", "ovr", "none"]

PROBABILITY_STEPS = 4
"""The roundings of a probability: an exponential, a sum, a quotient, and a difference from 1."""


class AbstractReadout(ABC):
    """How raw scores are read."""

    classes: tuple[Any, ...]
    link: Link
    unit: float = UNIT_DOUBLE

    @property
    def joins_sets(self) -> bool:
        """Whether one class, or one side of a probability, may take several sets of scores that touch."""
        return False

    def rounded(self, unit: float) -> AbstractReadout:
        """The same readout for an estimator with at least this unit roundoff."""
        return self

    @abstractmethod
    def decide(self, scores: FloatArray) -> IntArray:
        """The position of the predicted class, for each row of scores."""

    @abstractmethod
    def class_sets(self, label: int) -> tuple[ScoreSet, ...]:
        """The sets whose union contains the scores that are read as this class."""

    def other_sets(self, label: int) -> tuple[ScoreSet, ...]:
        """The sets whose union contains the scores that are read as any other class."""
        return tuple(part for k in range(len(self.classes)) if k != label for part in self.class_sets(k))

    def probabilities(self, scores: FloatArray) -> FloatArray | None:
        """The probability of each class (rows, classes); None if scores do not give it."""
        return None

    def probabilities_between(self, scores: FloatArray, slack: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Between which numbers the estimator's probabilities lie if each score is off by at most `slack` (rows)."""
        given = self.probabilities(scores)
        return None if given is None else (given - slack[:, None], given + slack[:, None])

    @abstractmethod
    def probability_sets(
        self, label: int, p: float, *, below: bool = False, strict: bool = False
    ) -> tuple[ScoreSet, ...]:
        """The scores that give a class at least (`below`: at most) the probability `p`.

        Raises `ValueError` if they cannot be written as score sets.
        """

    def output_at(self, row: FloatArray, total: float) -> float | None:
        """The prediction at which the scores, times `row`, sum to `total`: a value, or a probability.

        None if it does not follow from the sum.
        """
        return None


@experimental
@dataclass(frozen=True, eq=False)
class Value(AbstractReadout):
    """A regressor: its only score is the prediction.

    `unit` is the unit roundoff of its sums: leave it, unless they are computed in fewer digits than float64 has.
    """

    classes: tuple[Any, ...] = ()
    link: Link = "identity"
    unit: float = UNIT_DOUBLE

    def rounded(self, unit: float) -> Value:
        return replace(self, unit=unit) if unit > self.unit else self

    def score_of(self, predicted: FloatArray) -> FloatArray:
        """The score behind each prediction."""
        return predicted

    def misses(self, scores: FloatArray, slack: FloatArray, predicted: FloatArray) -> BoolArray:
        """Which predictions differ from those of scores that are off by at most `slack`."""
        return np.asarray(~(np.abs(scores - self.score_of(predicted)) <= slack))

    def predicted(self, scores: FloatArray) -> FloatArray:
        """The prediction for each score, if it follows from the score alone."""
        return scores

    @property
    def row(self) -> FloatArray:
        """The prediction follows from `row @ scores`."""
        return np.ones(1)

    def sums(self, scores: FloatArray) -> FloatArray:
        """The number behind each prediction."""
        return np.asarray(scores @ self.row)

    def value_sets(self, low: float, high: float) -> tuple[ScoreSet, ...]:
        """The scores whose prediction lies from `low` to `high`. Either may be infinite."""
        ends = [(self.row, low)] if np.isfinite(low) else []
        ends += [(-self.row, -high)] if np.isfinite(high) else []
        if not ends:
            return (everything(len(self.row)),)
        A, b = np.array([row for row, _ in ends]), np.array([end for _, end in ends])
        return (ScoreSet(A, b, np.zeros(len(b), dtype=np.bool_)),)

    def output_at(self, row: FloatArray, total: float) -> float | None:
        return total / float(row[0]) if len(row) == 1 and self.link == "identity" else None

    def decide(self, scores: FloatArray) -> IntArray:
        raise ValueError("a regressor predicts no classes")

    def class_sets(self, label: int) -> tuple[ScoreSet, ...]:
        raise ValueError("a regressor predicts no classes")

    def probability_sets(
        self, label: int, p: float, *, below: bool = False, strict: bool = False
    ) -> tuple[ScoreSet, ...]:
        raise ValueError("a regressor predicts no probabilities")


@dataclass(frozen=True, eq=False)
class MeanValue(Value):
    """A regressor whose prediction is a weighted sum of several scores.

    - `weights` (scores): what each counts.
    """

    weights: FloatArray = field(default_factory=lambda: np.ones(1))

    @property
    def row(self) -> FloatArray:
        return self.weights

    def output_at(self, row: FloatArray, total: float) -> float | None:
        up, down = np.array_equal(row, self.row), np.array_equal(row, -self.row)
        return (total if up else -total) if up or down else None


@experimental
@dataclass(frozen=True, eq=False, repr=False)
class Sign(AbstractReadout):
    """Two classes read from one score: the second iff it is above 0. For your own importers.

    With `link="logistic"`, the sigmoid of the score is the probability of the second class. `unit` is as in `Value`.
    """

    classes: tuple[Any, ...]
    link: Link = "none"
    unit: float = UNIT_DOUBLE

    def __repr__(self) -> str:
        return f"Sign({self.classes!r}{'' if self.link == 'none' else f', link={self.link!r}'})"

    def rounded(self, unit: float) -> Sign:
        return replace(self, unit=max(unit, self.unit))

    def decide(self, scores: FloatArray) -> IntArray:
        return (scores[:, 0] > 0).astype(np.intp)

    def class_sets(self, label: int) -> tuple[ScoreSet, ...]:
        half = at_least(np.array([1.0]), 0.0, strict=True) if label else at_least(np.array([-1.0]), 0.0)
        if self.link != "logistic":
            return (half,)
        low, high = _logits(0.5, self.unit)  # some estimators compare the probabilities of the two classes
        return (replace(half, below=-low, above=high),)

    def probabilities(self, scores: FloatArray) -> FloatArray | None:
        return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])]) if self.link == "logistic" else None

    def output_at(self, row: FloatArray, total: float) -> float | None:
        return float(expit(total / abs(row[0]))) if self.link == "logistic" else total / float(row[0])

    def probability_sets(
        self, label: int, p: float, *, below: bool = False, strict: bool = False
    ) -> tuple[ScoreSet, ...]:
        if self.link != "logistic":
            raise ValueError("the estimator gives no probabilities")
        if p == 0 and below and not strict:
            raise ValueError("a logistic probability is 0 only by rounding")
        if not 0 < p <= 1:
            return (everything(1) if (p <= 0) != below else nothing(1),)
        low, high = _logits(p, self.unit)
        middle = _logit(p) if p < 1 else high
        sign = 1.0 if bool(label) != below else -1.0
        if below:
            edge = at_least(np.array([sign]), -middle, strict=strict)
            return (replace(edge, below=high - middle, above=middle - low),)
        edge = at_least(np.array([sign]), middle, strict=strict)
        return (replace(edge, below=middle - low, above=high - middle),)


@experimental
@dataclass(frozen=True, eq=False)
class Argmax(AbstractReadout):
    """One score per class. The largest wins, or the first of equal ones.

    `link` says how probabilities follow from the scores. With "identity" they are shares of `total`: the votes of a
    forest are counted, not averaged. `unit` is as in `Value`.
    """

    classes: tuple[Any, ...]
    link: Link = "identity"
    total: float = 1.0
    unit: float = UNIT_DOUBLE

    def rounded(self, unit: float) -> Argmax:
        return replace(self, unit=max(unit, self.unit))

    @property
    def _doubt(self) -> float:
        """By how much scores may differ whose probabilities are rounded to the same number."""
        return 2 * PROBABILITY_STEPS * self.unit if self.link in ("softmax", "ovr") else 0.0

    def decide(self, scores: FloatArray) -> IntArray:
        return np.asarray(np.argmax(scores, axis=1))

    def class_sets(self, label: int) -> tuple[ScoreSet, ...]:
        others = [k for k in range(len(self.classes)) if k != label]
        A = np.zeros((len(others), len(self.classes)))
        A[:, label] = 1.0
        A[np.arange(len(others)), others] = -1.0
        strict = np.array([k < label for k in others], dtype=np.bool_)
        return (ScoreSet(A, np.zeros(len(others)), strict, below=self._doubt, above=self._doubt),)

    def other_sets(self, label: int) -> tuple[ScoreSet, ...]:
        """One set per other class, with one inequality: its score is larger."""
        sets = []
        for k in range(len(self.classes)):
            row = np.zeros(len(self.classes))
            row[k], row[label] = 1.0, -1.0
            if k != label:
                one = at_least(row, 0.0, strict=k > label)
                sets.append(replace(one, below=self._doubt, above=self._doubt))
        return tuple(sets)

    def probabilities(self, scores: FloatArray) -> FloatArray | None:
        if self.link == "identity":
            return scores / self.total
        return np.asarray(softmax(scores, axis=1)) if self.link == "softmax" else None

    def output_at(self, row: FloatArray, total: float) -> float | None:
        if self.link == "identity" and np.count_nonzero(row) == 1:
            return float(total / row.sum() / self.total)
        if len(row) != 2 or row.sum() != 0:
            return None
        apart = total / row.max()
        found = self.probabilities(np.array([[self.total + apart, self.total - apart]]) / 2)
        return None if found is None else float(found[0, 0])

    def probability_sets(
        self, label: int, p: float, *, below: bool = False, strict: bool = False
    ) -> tuple[ScoreSet, ...]:
        count = len(self.classes)
        if self.link == "identity":
            row = np.zeros(count)
            row[label] = -1.0 if below else 1.0
            share = p * self.total
            doubt = 0.0 if self.total == 1.0 else 2 * self.unit * share  # the mean is rounded, and so is this product
            edge = at_least(row, -share if below else share, strict=strict)
            return (replace(edge, below=doubt, above=doubt),)
        if self.link != "softmax":
            raise ValueError(
                "the estimator gives no probabilities"
                if self.link == "none"
                else "its probabilities are not a monotone function of the scores"
            )
        if below and p == 0 and not strict:
            raise ValueError("a softmax probability is 0 only by rounding")
        if not 0 < p <= 1 or (below and p == 1 and not strict):
            return (everything(count) if (p <= 0) != below else nothing(count),)
        low, high = _logits(p, self.unit)
        p = min(p, 1 - self.unit)
        middle = _logit(p)
        curve = Softmax(label, p, doubt=max(middle - low, high - middle))
        return (replace(everything(count), curve=odds_of_others(curve, count, below=True) if below else curve),)


@dataclass(frozen=True, eq=False)
class Threshold(AbstractReadout):
    """Two classes with the user's own threshold.

    The class is the positive one iff its probability or score is at least the threshold.
    """

    inner: AbstractReadout
    positive: int
    threshold: float
    of: Literal["probability", "score"]

    @property
    def classes(self) -> tuple[Any, ...]:  # type: ignore[override]
        """The classes of the estimator inside."""
        return self.inner.classes

    @property
    def link(self) -> Link:  # type: ignore[override]
        """How the estimator inside turns scores into probabilities."""
        return self.inner.link

    def decide(self, scores: FloatArray) -> IntArray:
        positive = np.any([part.holds(scores) for part in self.class_sets(self.positive)], axis=0)
        return np.where(positive, self.positive, 1 - self.positive).astype(np.intp)

    def class_sets(self, label: int) -> tuple[ScoreSet, ...]:
        wanted = label == self.positive
        if self.of == "probability":
            return self.inner.probability_sets(self.positive, self.threshold, below=not wanted, strict=not wanted)
        sign = 1.0 if self.positive else -1.0
        if wanted:
            return (at_least(np.array([sign]), self.threshold),)
        return (at_least(np.array([-sign]), -self.threshold, strict=True),)

    @property
    def joins_sets(self) -> bool:
        """Whether the estimator inside has several sets of scores for one side of a probability."""
        return self.inner.joins_sets

    @property
    def unit(self) -> float:  # type: ignore[override]
        """The unit roundoff of the estimator inside."""
        return self.inner.unit

    def output_at(self, row: FloatArray, total: float) -> float | None:
        return self.inner.output_at(row, total)

    def rounded(self, unit: float) -> Threshold:
        return replace(self, inner=self.inner.rounded(unit))

    def probabilities_between(self, scores: FloatArray, slack: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        return self.inner.probabilities_between(scores, slack)

    def probabilities(self, scores: FloatArray) -> FloatArray | None:
        return self.inner.probabilities(scores)

    def probability_sets(
        self, label: int, p: float, *, below: bool = False, strict: bool = False
    ) -> tuple[ScoreSet, ...]:
        return self.inner.probability_sets(label, p, below=below, strict=strict)


def _logit(p: float) -> float:
    return float(np.log(p) - np.log1p(-p))


def _logits(p: float, unit: float) -> tuple[float, float]:
    """The logits between which a probability computed with this unit roundoff may be `p`."""
    doubt = PROBABILITY_STEPS * unit
    surely_one = PROBABILITY_STEPS - float(np.log(unit))
    return _logit(max(p - doubt, unit * p)), _logit(p + doubt) if p + doubt < 1 else surely_one
