"""Targets on the value of a regressor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError
from butfor.estimator.prediction import Prediction
from butfor.estimator.source import Source
from butfor.importers.read import Reading
from butfor.model.linked import Linked
from butfor.model.median import Median
from butfor.model.readout import AbstractReadout, Value
from butfor.model.scores import each_at_least
from butfor.model.side_by_side import TreeSum
from butfor.problem.targets.score import Score, scores_of
from butfor.problem.targets.target import AbstractTarget, Group


@dataclass(frozen=True)
class ValueIn(AbstractTarget):
    """See `value`."""

    low: float
    high: float

    def __repr__(self) -> str:
        if np.isinf(self.high):
            return f"at least {self.low:g}"
        return f"at most {self.high:g}" if np.isinf(self.low) else f"from {self.low:g} to {self.high:g}"

    @property
    def one_sided(self) -> bool:
        """Whether it has one end only."""
        return bool(np.isinf([self.low, self.high]).any())

    def validate(self, source: Source) -> None:
        _check_regressor(source, "bf.value")
        if np.isnan(self.low) or np.isnan(self.high) or self.low > self.high:
            raise InputError(f"a value {self!r} was asked for.", "The lower end must not exceed the upper one.")

    def scores(self, before: Prediction, after: Prediction | None) -> list[Score | None]:
        """Of two ends, the score is about the one that the row lies beyond."""
        up = (before.values <= self.high) & np.isfinite(self.low)
        return _scores(before, after, np.where(up, self.low, self.high), up)

    def measured(self, prediction: Prediction, output: Any) -> FloatArray | None:
        return prediction.values

    def focus(self, reading: Reading, before: Prediction) -> Reading:
        return _voted(reading, *self._ends())

    def _ends(self) -> tuple[FloatArray, FloatArray]:
        """The finite ends, and whether the value must be above (1) or below (-1) each."""
        ends, up = np.array([self.low, self.high]), np.array([1.0, -1.0])
        return ends[np.isfinite(ends)], up[np.isfinite(ends)]

    def groups(self, readout: AbstractReadout, before: Prediction) -> list[Group]:
        if isinstance(readout, Median):
            return [(np.arange(len(before.values)), (readout.vote_set(self._ends()[1], slice(None)),))]
        return [(np.arange(len(before.values)), _values(readout).value_sets(self.low, self.high))]

    def met(self, before: Prediction, after: Prediction) -> BoolArray:
        return np.asarray((after.values >= self.low) & (after.values <= self.high))

    def distance(self, before: Prediction, after: Prediction) -> FloatArray:
        return np.maximum(0.0, np.maximum(self.low - after.values, after.values - self.high))


@dataclass(frozen=True)
class RelativeChange(AbstractTarget):
    """See `relative_change`."""

    by: float

    def __repr__(self) -> str:
        return f"{'up' if self.by > 0 else 'down'} by {abs(self.by):.0%}"

    def validate(self, source: Source) -> None:
        _check_regressor(source, "bf.relative_change")
        if not np.isfinite(self.by) or self.by == 0:
            raise InputError(
                f"a relative change of {self.by!r} was asked for.",
                "It must be a finite share other than 0: 0.2 is 20 % up, -0.2 is 20 % down.",
            )

    def of(self, before: Prediction) -> ValueIn:
        """What is wanted of the only row."""
        (wanted,) = self._threshold(before).tolist()
        return ValueIn(wanted, np.inf) if self.by > 0 else ValueIn(-np.inf, wanted)

    def _threshold(self, before: Prediction) -> FloatArray:
        return before.values + self.by * np.abs(before.values)

    def scores(self, before: Prediction, after: Prediction | None) -> list[Score | None]:
        return _scores(before, after, self._threshold(before), np.full(before.height, self.by > 0))

    def measured(self, prediction: Prediction, output: Any) -> FloatArray | None:
        return prediction.values

    def focus(self, reading: Reading, before: Prediction) -> Reading:
        wanted = np.unique(self._threshold(before))
        return _voted(reading, wanted, np.full(len(wanted), np.sign(self.by)))

    def groups(self, readout: AbstractReadout, before: Prediction) -> list[Group]:
        if isinstance(readout, Median):
            different, which = np.unique(self._threshold(before), return_inverse=True)
            up = np.full(len(different), np.sign(self.by))
            return [(np.flatnonzero(which == k), (readout.vote_set(up, k),)) for k in range(len(different))]
        wanted, sign = self._threshold(before), 1.0 if self.by > 0 else -1.0
        if isinstance(readout, Linked):  # each threshold has its own rounding
            ends = [(value, np.inf) if self.by > 0 else (-np.inf, value) for value in wanted.tolist()]
            return [(np.array([row]), readout.value_sets(*both)) for row, both in enumerate(ends)]
        return [(np.arange(len(wanted)), (each_at_least(sign * _values(readout).row, sign * wanted),))]

    def met(self, before: Prediction, after: Prediction) -> BoolArray:
        wanted = self._threshold(before)
        return np.asarray(after.values >= wanted if self.by > 0 else after.values <= wanted)

    def distance(self, before: Prediction, after: Prediction) -> FloatArray:
        short = self._threshold(before) - after.values
        return np.maximum(0.0, short if self.by > 0 else -short)


def _scores(before: Prediction, after: Prediction | None, threshold: FloatArray, up: BoolArray) -> list[Score | None]:
    names = ["predicted value"] * before.height
    return scores_of(names, before.values, None if after is None else after.values, threshold, up)


def _voted(reading: Reading, thresholds: FloatArray, up: FloatArray) -> Reading:
    """The reading whose scores are votes about thresholds, if predictions are medians."""
    if not isinstance(reading.readout, Median):
        return reading
    assert isinstance(reading.model, TreeSum)
    return replace(reading, model=reading.readout.votes(reading.model, thresholds, up))


def _values(readout: AbstractReadout) -> Value:
    """The readout of a regressor. There is no other, as the target was validated."""
    assert isinstance(readout, Value)
    return readout


def _check_regressor(source: Source, word: str) -> None:
    if source.classes:
        raise InputError(
            f"{word} was given for a classifier.", "", "Ask for a class, or use bf.probability(label, at_least)."
        )
    if source.says_time:
        raise InputError(
            f"{word} was given for a model of survival.", "", "Use bf.survival.mean_gain or mean_at_least."
        )
