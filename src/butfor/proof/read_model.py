"""What was read of an estimator, and how the checker is told of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.estimator.prediction import Prediction
from butfor.estimator.source import Source
from butfor.importers.read import Reading
from butfor.model.blended import Blended, Voted
from butfor.model.linear import Linear
from butfor.model.linked import Calibrated
from butfor.model.mixed import Mixed
from butfor.model.network import Network
from butfor.model.oblique import ObliqueTree
from butfor.model.one_vs_rest import OwnShares
from butfor.model.readout import AbstractReadout, Argmax, MeanValue, Sign, Threshold, Value
from butfor.model.rounding import Extent, largest_sums
from butfor.model.stacked import Stacked
from butfor.model.survival.readout import Survival
from butfor.model.trees import Trees
from butfor.proof.linear_files import Line
from butfor.proof.model_files import (
    Tells,
    estimator_of,
)
from butfor.proof.read_lines import line_of, stack_line

AS_THEY_ARE = ("ovr", "none")
"""Links of several classes whose sums are compared as they are."""


@dataclass(frozen=True, eq=False)
class ReadModel:
    """What was read of an estimator, and how the checker is told of it.

    - `readout`: what decides, without thresholds that say the same;
    - `sum`: what is made of the sums, as the checker calls it; empty if it does not know it;
    - `name`: of the estimator;
    - `by`: the method of the estimator that tells of these sums; empty if it tells the class alone;
    - `says`: what the estimator says of the value, if that is not what it predicts, and `what` that is.
    """

    reading: Reading
    readout: AbstractReadout
    sum: str
    name: str
    by: str = ""
    says: Callable[[Prediction], FloatArray] | None = None
    what: str = ""

    @classmethod
    def of(cls, reading: Reading, says: Callable[[Prediction], FloatArray] | None = None, what: str = "") -> ReadModel:
        readout = reading.readout
        if isinstance(readout, Threshold) and (readout.of == "probability" or readout.threshold == 0):
            readout = decisive(readout)
        by = _told_by(readout, reading.source)
        adds = "leaves" if isinstance(reading.model, ObliqueTree) else adds_of(readout, by)
        return cls(reading, readout, adds, estimator_of(reading.source)[1], by, says, what)

    @property
    def words(self) -> str:
        """What the file is of."""
        return f"{f'the {self.what} that' if self.what else 'what'} butfor read of a {self.name}"

    @property
    def over(self) -> float:
        """What sums are divided by."""
        return self.readout.total if isinstance(self.readout, Argmax) else 1.0

    @property
    def tells(self) -> Tells:
        """What the estimator tells of a row."""
        by = self.by
        if not by and not isinstance(self.readout, Value | Survival):
            return "class"
        likely = self.sum in ("logistic", "mean", "largest", "leaves") or isinstance(self.reading.model, Network)
        return "probabilities" if likely and by == "predict_proba" else "sums"

    def score(self, table: Any) -> FloatArray:
        """What the estimator says of rows."""
        source, prediction = self.reading.source, Prediction(self.reading.source, table)
        if isinstance(self.readout, Value):
            return self.says(prediction) if self.says else prediction.values
        if self.tells == "class":
            return np.array([list(source.classes).index(label) for label in prediction.labels])
        said = prediction.probabilities if self.by == "predict_proba" else source.decisions(prediction.begun)
        assert said is not None
        return said if said.shape[1] > 2 or self.tells == "probabilities" else said[:, 1]

    def line(self, extent: Extent) -> Line | None:
        """The sums that are told of trees or of weights, as lines of scores; None if there are none."""
        model = self.reading.model
        if not self.sum or not isinstance(model, Linear | Trees | Mixed):
            return None
        if isinstance(self.readout, Stacked):
            trees, line = (model.trees, model.linear) if isinstance(model, Mixed) else (model, model)
            size = np.abs(trees.base) + trees.reach if isinstance(trees, Trees) else np.zeros(model.scores)
            size = size + (largest_sums(line, extent) if isinstance(line, Linear) else 0)
            return stack_line(self.readout, size)
        return line_of(self.readout, model.scores)

    @property
    def weighs(self) -> bool:
        """Whether it is about weighted numbers."""
        return isinstance(self.reading.model, Linear) and bool(self.reading.model.added_slope.any())


def decisive(readout: AbstractReadout) -> AbstractReadout:
    """What all thresholds are about."""
    return decisive(readout.inner) if isinstance(readout, Threshold) else readout


def _told_by(readout: AbstractReadout, source: Source) -> str:
    """The method of the estimator that tells of its sums: that by which it is judged, unless its probabilities are others."""
    if isinstance(readout, OwnShares | Voted):
        return ""
    apart = isinstance(readout, Stacked) or (isinstance(readout, Argmax) and readout.link in AS_THEY_ARE)
    return "decision_function" if apart and hasattr(source.estimator, "decision_function") else source.judges_by


def adds_of(readout: AbstractReadout, by: str) -> str:
    """What the sums are, as the checker calls it; empty if it does not know it, or the estimator tells nothing of them.

    - `by`: the method of the estimator that tells of them.
    """
    if isinstance(readout, Survival):
        return "value"
    kind, several = (type(readout), readout.link, by), len(readout.classes) > 2
    known = {
        (Value, "identity", by): "value",
        (MeanValue, "identity", by): "value",
        (Sign, "logistic", "predict_proba"): "logistic",
        (Sign, "logistic", "decision_function"): "score",
        (Sign, "none", "decision_function"): "score",
        (Calibrated, "none", "predict_proba"): "logistic",
        (Blended, "none", "predict_proba"): "mean",
        (Voted, "none", ""): "votes",
        (Argmax, "none", ""): "shares",
        (Argmax, "identity", "predict_proba"): "shares",
        (Argmax, "softmax", "predict_proba"): "largest" if several else "",
        (Argmax, "softmax", "decision_function"): "largest" if several else "",
        (Argmax, "ovr", "decision_function"): "largest" if several else "",
        (Argmax, "none", "decision_function"): "largest" if several else "",
        (OwnShares, "none", ""): "largest" if several else "",
    }
    if isinstance(readout, Stacked):
        plain = isinstance(readout.end, Linear) and isinstance(readout.inner, Sign)
        return "stack" if plain and not isinstance(readout.inner, Calibrated) else ""
    return known.get(kind, "")
