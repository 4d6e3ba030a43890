"""Rows of the training data, and what the estimator predicts for them. Searches start from them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.estimator.prediction import Prediction
from butfor.importers.read import Reading
from butfor.space import frames
from butfor.space.space import Space

ROWS_LOOKED_AT = 5_000
"""How many rows of the training data a search looks at. They are evenly spaced."""

ROWS_ASKED_TWICE = 100
"""How many rows are predicted twice, to see whether the model predicts the same again."""


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows of the training data. The estimator predicts them only once."""

    reading: Reading

    @cached_property
    def table(self) -> Any:
        """The rows, without those that miss a value which the model needs."""
        data = self.reading.space.select(self.reading.data)
        open_to = Space(tuple(replace(feature, missing=True) for feature in self.reading.space.features))
        spread = np.unique(np.linspace(0, frames.height(data) - 1, ROWS_LOOKED_AT).astype(np.intp))
        some = frames.take(data, spread)
        lost = np.isnan(open_to.encode(some)) & ~np.array([feature.missing for feature in self.reading.space.features])
        return frames.take(some, np.flatnonzero(~lost.any(axis=1)))

    @cached_property
    def points(self) -> FloatArray:
        """The rows, encoded."""
        return self.reading.space.encode(self.table)

    @cached_property
    def prediction(self) -> Prediction:
        """What the estimator predicts for the rows. Warns if it predicts something else when called again."""
        first = Prediction(self.reading.source, self.table)
        few = np.arange(min(ROWS_ASKED_TWICE, len(self.points)))
        _ = first.outputs(), first.scores  # predicted now, for all rows at once
        if not _alike(first.take(few), Prediction(self.reading.source, frames.take(self.table, few))):
            warnings.warn(
                "the model is not deterministic: it predicts some rows differently when it is called again. "
                "The answers were valid in its last call, but they need not be valid in the next one.",
                RuntimeWarning,
                stacklevel=2,
            )
        return first

    @cached_property
    def labels_follow_scores(self) -> bool:
        """Whether the label is that of the largest score in every row. Then the scores alone are enough."""
        return self.prediction.scores is not None and self.prediction.largest == self.prediction.labels


def _alike(one: Prediction, other: Prediction) -> bool:
    """Whether two predictions of the same rows agree, except for the last digits."""
    if one.scores is not None and other.scores is not None:
        return bool(np.allclose(one.scores, other.scores, rtol=1e-6, atol=1e-9, equal_nan=True))
    first, second = np.asarray(one.outputs()), np.asarray(other.outputs())
    if first.dtype.kind == "f":
        return bool(np.allclose(first, second, rtol=1e-6, atol=1e-9, equal_nan=True))
    return bool(np.array_equal(first, second))
