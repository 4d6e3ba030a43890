"""optbinning: columns in bins, and scorecards of a linear model over them.

A number is in the first bin whose end is above it. Special codes and missing values have bins of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import FloatArray
from butfor.errors import NotFittedError, UnsupportedModelError
from butfor.estimator.boosters import AbstractNative, AbstractNativeClassifier, AbstractNativeRegressor, register_native
from butfor.importers.fold.column import Column, NeedsLevels, Values, last_where
from butfor.importers.registry import Imported, read_model, register_importer, register_step

ZEROS = {"metric_special": 0, "metric_missing": 0}
"""What a binning process makes of special codes and missing values in a pipeline."""


def binning_process(step: Any, columns: list[Column]) -> list[Column]:
    """BinningProcess: what its metric says of the bin of each selected column."""
    return _binned(step, columns, ZEROS)


class _CardClassifier(AbstractNativeClassifier):
    """A scorecard that predicts one of two classes. It knows its columns, and takes missing values."""

    def __init__(self, card: Any) -> None:
        names = list(card.binning_process_.variable_names)
        super().__init__(card, names, len(names), card.estimator_.classes_)

    def answers(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.booster.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The classes."""
        return np.asarray(self.booster.predict(X))


class _CardRegressor(AbstractNativeRegressor):
    """A scorecard that predicts a value. It knows its columns, and takes missing values."""

    def __init__(self, card: Any) -> None:
        names = list(card.binning_process_.variable_names)
        super().__init__(card, names, len(names))

    def answers(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.booster.predict(X))


def as_card(card: Any) -> AbstractNative:
    """A fitted scorecard as an estimator."""
    if not card._is_fitted:
        raise NotFittedError("this Scorecard is not fitted.", "A fitted model is needed.", "Call fit first.")
    return _CardClassifier(card) if hasattr(card.estimator_, "classes_") else _CardRegressor(card)


def read_scorecard(native: AbstractNative, columns: list[Column]) -> Imported:
    """Scorecard: its estimator over its bins."""
    card = native.booster
    given = {"metric_special": card._metric_special, "metric_missing": card._metric_missing}
    return read_model(card.estimator_, _binned(card.binning_process_, columns, given))


def _binned(process: Any, columns: list[Column], given: Mapping[str, Any]) -> list[Column]:
    chosen = process.get_support(indices=True)
    own = process.binning_transform_params or {}
    out = []
    for i in chosen:
        name = process.variable_names[i]
        asked = {key: value for key, value in {**given, **own.get(name, {})}.items() if value is not None}
        out.append(_column(process.get_binned_variable(name), columns[i], asked))
    return out


def _column(binning: Any, column: Column, asked: Mapping[str, Any]) -> Column:
    """One column in bins."""
    if type(binning).__name__.endswith("PWBinning"):
        raise UnsupportedModelError(
            f"optbinning's {type(binning).__name__} is not constant in its bins.",
            "Bins must have one number each.",
            "Use OptimalBinning or ContinuousOptimalBinning, or let the swarm search.",
        )
    words = binning.dtype == "categorical"
    if words and column.table is None:
        raise NeedsLevels({column.feature: ()}, ordered=False)
    edges = column.edges
    if column.table is None and edges is None:
        edges = _edges(binning, column)
    return column.map(partial(_transformed, binning, dict(asked)), edges=edges, slope=0.0, affine=False)


def _edges(binning: Any, column: Column) -> FloatArray:
    """The raw numbers right after which the bin changes: before the splits, and around each special code."""
    splits = np.asarray(binning.splits, dtype=np.float64)
    codes = np.asarray(_special(binning.special_codes), dtype=np.float64)
    starts = np.concatenate([splits, codes])
    below = last_where(column, lambda x: x < starts, len(starts))
    return np.unique(np.concatenate([below, last_where(column, lambda x: x <= codes, len(codes))]))


def _special(codes: Any) -> list[float]:
    listed = codes.values() if isinstance(codes, Mapping) else codes or ()
    flat = np.concatenate([np.empty(0, dtype=object), *[np.ravel(np.asarray(one, dtype=object)) for one in listed]])
    return [float(code) for code in flat if isinstance(code, int | float | np.number)]


def _transformed(binning: Any, asked: dict[str, Any], x: Values) -> Values:
    """What the metric says of the bins of some values."""
    if x.dtype == object:
        x = np.array([np.nan if value is None else value for value in x.tolist()], dtype=object)
    return np.asarray(binning.transform(x, **asked), dtype=np.float64)


register_step("optbinning.BinningProcess", binning_process)
register_native("optbinning.Scorecard", as_card)
for kind in (_CardClassifier, _CardRegressor):
    register_importer(kind, read_scorecard)
