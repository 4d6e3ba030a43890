"""Readouts whose predictions are monotone functions of one sum of scores: links of regressors, and calibrators."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.monotone import AbstractStep, MonotoneFunction
from butfor.model.readout import AbstractReadout, Link, Value
from butfor.model.scores import UNIT_DOUBLE, ScoreSet, all_of

HALF = 0.5
"""Of two classes, the second is predicted iff its probability is larger than this."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Linked(Value):
    """A regressor whose prediction is a monotone function of one sum of its scores.

    - `weights` (scores): what each score counts in the sum.
    """

    function: MonotoneFunction
    link: Link = "none"
    weights: FloatArray = field(default_factory=lambda: np.ones(1))

    @property
    def row(self) -> FloatArray:
        return self.weights

    def rounded(self, unit: float) -> Linked:
        return replace(self, function=self.function.rounded(unit), unit=max(unit, self.unit))

    def score_of(self, predicted: FloatArray) -> FloatArray:
        raise ValueError("several scores may have the same prediction")

    def misses(self, scores: FloatArray, slack: FloatArray, predicted: FloatArray) -> BoolArray:
        low, high = self.function.between(scores - slack, scores + slack)
        undefined = np.isnan(predicted) & (np.isinf(low) | np.isinf(high))
        return np.asarray(~((low <= predicted) & (predicted <= high)) & ~undefined)

    def predicted(self, scores: FloatArray) -> FloatArray:
        return self.function.at(scores)

    def output_at(self, row: FloatArray, total: float) -> float | None:
        sign = next((sign for sign in (1.0, -1.0) if np.array_equal(sign * row, self.row)), None)
        return None if sign is None else float(self.function.at(np.array([sign * total]))[0])

    def value_sets(self, low: float, high: float) -> tuple[ScoreSet, ...]:
        ends = [self.function.score_set(self.row, low)] if np.isfinite(low) else []
        ends += [self.function.score_set(self.row, high, below=True)] if np.isfinite(high) else []
        return (all_of(ends, len(self.row)),)


def value_behind(link: AbstractStep | None, unit: float = UNIT_DOUBLE) -> Value:
    """A value that is a function of one score; the score itself if there is none."""
    return Value(unit=unit) if link is None else Linked(function=MonotoneFunction((link,), unit), unit=unit)


@dataclass(frozen=True, eq=False)
class Calibrated(AbstractReadout):
    """Two classes whose probabilities are monotone functions of one sum of scores.

    - `row` (scores): the sum is `row @ scores`;
    - `chances`: the probabilities of both classes, as functions of the sum. The first class wins a tie.
    """

    classes: tuple[Any, ...]
    row: FloatArray
    chances: tuple[MonotoneFunction, MonotoneFunction]
    link: Link = "none"
    unit: float = UNIT_DOUBLE

    def rounded(self, unit: float) -> Calibrated:
        first, second = (chance.rounded(unit) for chance in self.chances)
        return replace(self, chances=(first, second), unit=max(unit, self.unit))

    def decide(self, scores: FloatArray) -> IntArray:
        given = self.probabilities(scores)
        return (given[:, 1] > given[:, 0]).astype(np.intp)

    def class_sets(self, label: int) -> tuple[ScoreSet, ...]:
        return (self.chances[1].score_set(self.row, HALF, below=not label, strict=bool(label)),)

    def probabilities(self, scores: FloatArray) -> FloatArray:
        total = scores @ self.row
        return np.column_stack([chance.at(total) for chance in self.chances])

    def probabilities_between(self, scores: FloatArray, slack: FloatArray) -> tuple[FloatArray, FloatArray]:
        total, off = scores @ self.row, slack * np.abs(self.row).sum()
        ends = [chance.between(total - off, total + off) for chance in self.chances]
        return np.column_stack([low for low, _ in ends]), np.column_stack([high for _, high in ends])

    def probability_sets(
        self, label: int, p: float, *, below: bool = False, strict: bool = False
    ) -> tuple[ScoreSet, ...]:
        return (self.chances[label].score_set(self.row, p, below=below, strict=strict),)

    def output_at(self, row: FloatArray, total: float) -> float | None:
        if not np.array_equal(np.abs(row), np.abs(self.row)):
            return None
        up = np.array_equal(row, self.row)
        return float(self.chances[1].at(np.array([total if up else -total]))[0])
