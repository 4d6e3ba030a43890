"""Several classes, each with a number of its own, from a calibrator or a model: probabilities are shares of their sum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.model.blend import Blend, Blends
from butfor.model.monotone import LARGEST_SCORE, STEP_ROUNDINGS, MonotoneFunction
from butfor.model.readout import PROBABILITY_STEPS, AbstractReadout, Argmax, Link
from butfor.model.scores import UNIT_DOUBLE, ScoreSet, all_of, at_least, everything, nothing


@dataclass(frozen=True, eq=False)
class OneVsRest(AbstractReadout):
    """Class k has the share `c_k / sum_j c_j`, and each `c_k` is a monotone function of its own sum of scores.

    - `rows` (classes, scores): the sum of each class is `rows[k] @ scores`;
    - `functions`: what each calibrator gives.

    If all of them give 0, each class has the same share. Comparisons of shares are sums of functions: class k has at
    least the share p iff `c_k - p sum_j c_j` is at least 0.
    """

    classes: tuple[Any, ...]
    rows: FloatArray
    functions: tuple[MonotoneFunction, ...]
    link: Link = "none"
    unit: float = UNIT_DOUBLE

    def rounded(self, unit: float) -> OneVsRest:
        functions = tuple(function.rounded(unit) for function in self.functions)
        return replace(self, functions=functions, unit=max(unit, self.unit))

    def _each(self, scores: FloatArray) -> FloatArray:
        sums = scores @ self.rows.T
        return np.column_stack([function.at(own) for function, own in zip(self.functions, sums.T, strict=True)])

    def decide(self, scores: FloatArray) -> IntArray:
        return np.asarray(np.argmax(self._each(scores), axis=1))

    def probabilities(self, scores: FloatArray) -> FloatArray:
        return _shares(*(self._each(scores),) * 2)

    def probabilities_between(self, scores: FloatArray, slack: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A share is least if its own number is least, and all others are largest."""
        sums, off = scores @ self.rows.T, slack[:, None] * np.abs(self.rows).sum(axis=1)
        ends = [f.between(sums[:, k] - off[:, k], sums[:, k] + off[:, k]) for k, f in enumerate(self.functions)]
        low, high = (np.column_stack([end[side] for end in ends]) for side in (0, 1))
        spare = (len(self.classes) + STEP_ROUNDINGS) * self.unit
        return _shares(low, high) * (1 - spare), _shares(high, low) * (1 + spare)

    def class_sets(self, label: int) -> tuple[ScoreSet, ...]:
        """Its number is larger than each other, or as large as that of a later class."""
        each = [self._wins(label, k) for k in range(len(self.classes)) if k != label]
        return (self._set(each[0] if len(each) == 1 else Blends(tuple(each))),)

    def other_sets(self, label: int) -> tuple[ScoreSet, ...]:
        """One set for each other class, with one comparison."""
        return tuple(self._set(self._wins(k, label)) for k in range(len(self.classes)) if k != label)

    def _wins(self, first: int, second: int) -> Blend:
        """The first of two classes is preferred."""
        weights = np.zeros(len(self.classes))
        weights[first], weights[second] = 1.0, -1.0
        least = float(np.nextafter(0.0, 1.0)) if first > second else 0.0
        return Blend(self.rows, weights, self.functions, least)

    def probability_sets(
        self, label: int, p: float, *, below: bool = False, strict: bool = False
    ) -> tuple[ScoreSet, ...]:
        if p <= 0 and not (p == 0 and below != strict):  # "at least 0" and "below 0" need no scores
            return (everything(self.rows.shape[1]) if not below else nothing(self.rows.shape[1]),)
        if p > 1:
            return (nothing(self.rows.shape[1]) if not below else everything(self.rows.shape[1]),)
        weights = np.full(len(self.classes), -p)
        weights[label] += 1.0
        least, even = float(np.nextafter(0.0, 1.0)) if strict else 0.0, 1.0 / len(self.classes)
        wanted = Blend(self.rows, weights, self.functions, least, -1.0 if below else 1.0)
        if not self._vanish:
            return (self._set(wanted),)
        ones = np.ones(len(weights))
        if (even <= p if below else even >= p) and not (strict and even == p):
            nothing_given = Blend(self.rows, ones, self.functions, 0.0, -1.0)
            return (self._set(wanted), self._set(nothing_given)) if strict else (self._set(wanted),)
        something_given = Blend(self.rows, ones, self.functions, float(np.nextafter(0.0, 1.0)))
        return (self._set(Blends((wanted, something_given))),)

    @property
    def _vanish(self) -> bool:
        """Whether all calibrators may give 0, so that all shares are equal."""
        ends = np.array([-LARGEST_SCORE, LARGEST_SCORE])
        return all(not function.at(ends).all() for function in self.functions)

    def _set(self, curve: Blend | Blends) -> ScoreSet:
        width = self.rows.shape[1]
        return ScoreSet(np.zeros((0, width)), np.zeros(0), np.zeros(0, dtype=np.bool_), curve=curve)


@dataclass(frozen=True, eq=False)
class OwnShares(Argmax):
    """One score per class, which is at least 0. The largest wins, and its share of the sum is its probability.

    If all scores are 0, so are all probabilities.
    """

    def probabilities(self, scores: FloatArray) -> FloatArray:
        total = scores.sum(axis=1, keepdims=True)
        return np.asarray(scores / np.where(total == 0, 1.0, total))

    def output_at(self, row: FloatArray, total: float) -> None:
        return None

    def probability_sets(
        self, label: int, p: float, *, below: bool = False, strict: bool = False
    ) -> tuple[ScoreSet, ...]:
        """At least p: `s_k - p sum_j s_j >= 0`, and some score is not 0 if p is not."""
        count = len(self.classes)
        if p < 0 or p > 1 or (p == 0 and below == strict):
            certain = (p <= 0) != below
            return (everything(count) if certain else nothing(count),)
        row = np.full(count, -p)
        row[label] += 1.0
        doubt = 2 * PROBABILITY_STEPS * self.unit
        edge = at_least(-row if below else row, 0.0, strict=strict)
        edge = replace(edge, below=doubt, above=doubt)
        if below and not (p == 0 and strict):
            return (edge,)
        some = at_least(np.eye(count)[label], 0.0, strict=True)
        return (all_of([edge, some], count),)


def _shares(own: FloatArray, others: FloatArray) -> FloatArray:
    """Each number as a share of the sum of itself and all others."""
    total = own + others.sum(axis=1, keepdims=True) - others
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(total > 0, own / total, 1.0 / own.shape[1]))
