"""The user's own estimator as an oracle: encoded points are written as rows of the user's kind, and it is asked."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import InputError
from butfor.formulation.plausibility import Likenesses
from butfor.importers.read import Reading
from butfor.model.survival.curves import Curves
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.oracle import AbstractOracle, Heard
from butfor.problem.targets.target import AbstractTarget, Prediction
from butfor.space import frames
from butfor.space.space import Space

MOST = 5_000
"""Rows of the training data, evenly spaced, that a search looks at."""

TWICE = 100
"""Rows that are predicted twice, to see whether the model says the same again."""

NEAR = 1e-12
"""How far off a prediction counts as being that does not meet the target, but nearly."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows of the training data, and what the estimator says of them, asked once."""

    reading: Reading

    @cached_property
    def table(self) -> Any:
        """The rows: complete where the model takes no missing value."""
        data = frames.select(self.reading.data, self.reading.space.names)
        open_to = Space(tuple(replace(feature, missing=True) for feature in self.reading.space.features))
        spread = np.unique(np.linspace(0, frames.height(data) - 1, MOST).astype(np.intp))
        some = frames.take(data, spread)
        lost = np.isnan(open_to.encode(some)) & ~np.array([feature.missing for feature in self.reading.space.features])
        return frames.take(some, np.flatnonzero(~lost.any(axis=1)))

    @cached_property
    def points(self) -> FloatArray:
        """The rows, encoded."""
        return self.reading.space.encode(self.table)

    @cached_property
    def said(self) -> Prediction:
        """What the estimator says of them; a warning if it says something else when asked again."""
        said = _heard(Prediction(self.reading.source, self.table))
        few = np.arange(min(TWICE, len(self.points)))
        again = _heard(Prediction(self.reading.source, frames.take(self.table, few)))
        if not _alike(said.take(few), again):
            warnings.warn(
                "the model is not deterministic: it predicts some rows differently when asked again. What is returned was "
                "valid when it was asked last, which says little.",
                RuntimeWarning,
                stacklevel=2,
            )
        return said

    @cached_property
    def likenesses(self) -> Likenesses:
        """The forests that were asked about; each is read once."""
        return Likenesses(self.reading)

    @cached_property
    def labels_follow(self) -> bool:
        """Whether the label is that of the largest score in every row, so that scores alone need be asked for."""
        scores = self.said.scores
        return scores is not None and _largest(self.reading, scores) == self.said.labels


class Repeated(Prediction):
    """Some rows of a prediction, each as often as it is asked about; nothing is copied before somebody looks at it."""

    def __init__(self, whole: Prediction, rows: IntArray) -> None:
        self.source, self.whole, self.rows = whole.source, whole, rows

    @cached_property
    def table(self) -> Any:
        """The rows as a table."""
        return frames.take(self.whole.table, self.rows)

    @cached_property
    def labels(self) -> list[Any]:
        """The classes."""
        labels = self.whole.labels
        return [labels[row] for row in self.rows.tolist()]

    @cached_property
    def values(self) -> FloatArray:
        """The values of a regressor."""
        return self.whole.values[self.rows]

    @cached_property
    def probabilities(self) -> FloatArray:
        """The probabilities, a column a class."""
        return self.whole.probabilities[self.rows]

    @cached_property
    def curves(self) -> Curves:
        """The survival functions of a model of survival."""
        return self.whole.curves.take(self.rows)


@dataclass(frozen=True, eq=False)
class Inquiry(AbstractOracle):
    """Asks the estimator about changes of rows, whose predictions are `before`."""

    known: Examples
    target: AbstractTarget
    before: Prediction
    tiled: dict[bytes, Prediction] = field(default_factory=dict)
    told: dict[int, Heard] = field(default_factory=dict)

    @property
    def examples(self) -> FloatArray:  # type: ignore[override]
        """The training rows."""
        return self.known.points

    def ask(self, points: FloatArray, rows: IntArray) -> Heard:
        said = Prediction(self.known.reading.source, self._written(points, rows))
        if self.known.labels_follow:
            assert said.scores is not None
            said.__dict__["labels"] = _largest(self.known.reading, said.scores)
        return self._heard(self._tiled(rows), said, len(points))

    def of_examples(self, row: int) -> Heard:
        if row not in self.told:
            count = len(self.known.points)
            self.told[row] = self._heard(self.before.take(np.full(count, row)), self.known.said, count)
        return self.told[row]

    def rows(self, chosen: IntArray | slice | BoolArray) -> Inquiry:
        at = np.arange(frames.height(self.before.table))[chosen]
        return Inquiry(self.known, self.target, self.before.take(at))

    def plausible(self, constraint: AbstractConstraint, points: FloatArray) -> BoolArray:
        (likeness,) = self.known.likenesses.of([constraint])
        return likeness.reached(points)

    def _heard(self, before: Prediction, said: Prediction, count: int) -> Heard:
        met, distance = self.target.met(before, said), self.target.distance(before, said)
        if np.isnan(distance).any():
            raise InputError(
                f"the model answered NaN for {int(np.isnan(distance).sum())} of {count} rows.", "Numbers are needed."
            )
        return Heard(met, np.where(met, 0.0, np.maximum(distance, NEAR)), self.target.offsets(said, count))

    def _tiled(self, rows: IntArray) -> Prediction:
        """The factual rows, each as often as it is asked about; those of the last question are kept for the next."""
        key = rows.tobytes()
        if key not in self.tiled:
            self.tiled.clear()
            self.tiled[key] = Repeated(self.before, rows)
        return self.tiled[key]

    @cached_property
    def _codes(self) -> FloatArray:
        """The factual rows, encoded."""
        return self.known.reading.space.encode(self.before.table)

    @cached_property
    def _plain(self) -> bool:
        """Whether the rows are float64 throughout, and no column is of levels or of single precision."""
        features = self.known.reading.space.features
        levels = any(feature.levels is not None or feature.single for feature in features)
        return not levels and frames.holds_floats(self.before.table, self.known.reading.space.names)

    def _written(self, points: FloatArray, rows: IntArray) -> Any:
        """The rows with their values replaced by those of the points; plain numbers all at once, in a hundredth of the time."""
        space = self.known.reading.space
        if self._plain and not np.isnan(points).any():  # what stands for a missing value is the library's own
            return frames.of_floats(self.before.table, space.names, points)
        return space.decode(points, self._tiled(rows).table, self._codes[rows])


def _largest(reading: Reading, scores: FloatArray) -> list[Any]:
    """The classes of the largest scores."""
    names = reading.source.classes
    return [names[k] for k in np.argmax(scores, axis=1).tolist()]


def _heard(said: Prediction) -> Prediction:
    """A prediction that was asked for."""
    _ = said.said(), said.scores
    return said


def _alike(one: Prediction, other: Prediction) -> bool:
    if one.scores is not None and other.scores is not None:
        return bool(np.allclose(one.scores, other.scores, rtol=1e-6, atol=1e-9, equal_nan=True))
    first, second = np.asarray(one.said()), np.asarray(other.said())
    if first.dtype.kind == "f":
        return bool(np.allclose(first, second, rtol=1e-6, atol=1e-9, equal_nan=True))
    return bool(np.array_equal(first, second))
