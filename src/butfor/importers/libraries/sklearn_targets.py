"""scikit-learn's regressors of a transformed target: what is inside predicts, and its own inverse turns that back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.column import Column
from butfor.importers.fold.leaves import ends_of_sum
from butfor.importers.registry import Imported, read_model, register_importer
from butfor.model.linked import Linked
from butfor.model.monotone import MonotoneFunction
from butfor.model.own_function import looked_at
from butfor.model.readout import MeanValue, Value


@dataclass(frozen=True, eq=False)
class Inverse:
    """The inverse of a fitted transformer of one column, as the estimator calls it."""

    transformer: Any

    def __call__(self, x: FloatArray) -> FloatArray:
        return np.asarray(self.transformer.inverse_transform(x.reshape(-1, 1)))


def read_transformed(regressor: Any, columns: list[Column]) -> Imported:
    """The model of the regressor inside. Its predictions pass through the inverse, which must never turn around."""
    model, readout = read_model(regressor.regressor_, columns)
    if type(readout) not in (Value, MeanValue, Linked) or not isinstance(readout, Value):
        raise _unread(
            f"it holds a {type(regressor.regressor_).__name__}, whose prediction is no function of one sum of scores."
        )
    inner = readout.function if isinstance(readout, Linked) else MonotoneFunction(())
    low, high = sorted(float(inner.at(np.array([end]))[0]) for end in ends_of_sum(model, readout.row))
    function = looked_at(Inverse(regressor.transformer_), low, high)
    if function is None:
        raise _unread("its inverse function turns around, is not defined everywhere, or is not one of single numbers.")
    return model, Linked(function=inner.then(function), weights=readout.row).rounded(readout.unit)


def _unread(what: str) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"a TransformedTargetRegressor cannot be read: {what}",
        "Its inverse must never turn around, and its regressor must be one that is read.",
        "Let the swarm search: it needs only predictions.",
    )


register_importer("TransformedTargetRegressor", read_transformed)
