"""Targets that are an end, or two, of one sum of scores, whatever the estimator makes of that sum.

A regression with a link, a probability by steps of a score, and a median of trees are told so: their functions are butfor's
word, and so is the end. With each recorded row stands whether the estimator gives it what is wanted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.estimator.prediction import Prediction
from butfor.importers.read import Reading
from butfor.model.black_box import BlackBox
from butfor.model.oblique import ObliqueTree
from butfor.model.readout import MeanValue, Value
from butfor.model.rounding import Extent
from butfor.model.scores import ScoreSet
from butfor.problem.targets.target import AbstractTarget
from butfor.proof.model_files import AbstractInputs, ModelFile, not_proven
from butfor.proof.read_files import read_file

END_OF_NO_RANGE = 2.0**900
"""The end of a range that has none, and of a score that none reaches, or all do."""


@dataclass(frozen=True, eq=False)
class OneSum:
    """A target about one sum of the scores that were read.

    - `row` (scores): what each score counts in it.
    """

    target: AbstractTarget
    reading: Reading
    row: FloatArray

    @classmethod
    def of(cls, target: AbstractTarget, reading: Reading, before: Prediction) -> OneSum:
        """The sum that a target is about, for rows that the estimator predicts `before`. Raises an error if it is none."""
        if isinstance(reading.model, BlackBox | ObliqueTree):
            raise not_proven(f"a {type(reading.source.estimator).__name__}")
        sets = [each for _, each in target.groups(reading.readout, before)]
        rows = [row for each in sets for one in each for row in one.A if row.any()]
        row = rows[0] if rows else np.eye(1, sets[0][0].A.shape[1])[0] if sets and sets[0] else np.ones(1)
        row = row * np.sign(row[np.flatnonzero(row)[0]])
        plain = all(len(each) == 1 and each[0].curve is None for each in sets)
        if not plain or not all(np.array_equal(one, row) or np.array_equal(one, -row) for one in rows):
            raise not_proven(f"the target {target!r} of a {type(reading.source.estimator).__name__}")
        return cls(target, reading, row)

    def file(self, extent: Extent) -> tuple[ModelFile, AbstractInputs]:
        """The file of the sum, and its rows."""
        alone = np.array_equal(self.row, [1.0])
        readout = Value() if alone else MeanValue(weights=self.row)
        file, inputs = read_file(replace(self.reading, readout=readout), extent, what="sum")
        return replace(file, tells="target"), inputs

    def wanted(self, before: Prediction) -> dict[str, Any]:
        """What is wanted of the only row, which the estimator predicts `before`."""
        ((_, (score_set,)),) = self.target.groups(self.reading.readout, before)
        low, high = self._ends(score_set)
        told = {key: end.hex() for key, end in (("at least", low), ("at most", high)) if abs(end) < np.inf}
        return {
            "of": ["value", None],
            "label": f"a sum for {self.target!r}; that this is the same is butfor's word",
            **told,
        }

    def _ends(self, score_set: ScoreSet) -> tuple[float, float]:
        """Between which ends the sum must lie for the estimator to say perhaps what is wanted."""
        given = np.clip(score_set.b - score_set.below, -END_OF_NO_RANGE, END_OF_NO_RANGE)
        exact = score_set.strict & (np.broadcast_to(score_set.below, given.shape) == 0)
        low, high = -np.inf, np.inf
        for row, least in zip(score_set.A, np.where(exact, np.nextafter(given, np.inf), given).tolist(), strict=True):
            if np.array_equal(row, self.row) or not row.any():  # that 0 is above 0, if none has what is wanted
                low = max(low, least if row.any() else END_OF_NO_RANGE if least > 0 else -END_OF_NO_RANGE)
            else:
                high = min(high, -least)
        return (low, high) if max(low, -high) > -np.inf else (-END_OF_NO_RANGE, high)
