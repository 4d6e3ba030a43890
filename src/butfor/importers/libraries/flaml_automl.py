"""FLAML: the estimator that an AutoML search has chosen, behind the table that FLAML makes of the user's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.errors import UnsupportedModelError
from butfor.estimator.boosters import (
    AbstractNative,
    AbstractNativeClassifier,
    AbstractNativeRegressor,
    known_classes,
    register_native,
)
from butfor.importers.fold.column import Column, NeedsLevels, Values
from butfor.importers.registry import Imported, read_model, read_step, register_importer
from butfor.model.readout import Argmax, Sign

NO_CATEGORY = "__NAN__"
"""What FLAML writes for a missing category, and for one that it has not seen."""

TABLES_OF_FLAML = {"SKLearnEstimator": True, "LGBMEstimator": False, "CatBoostEstimator": False}
"""Who hands the table to the chosen estimator, and whether categories become their positions on the way."""


def read_automl(estimator: AbstractNative, columns: list[Column]) -> Imported:
    """The model that was chosen. It was fitted on the positions of the classes."""
    automl = estimator.booster
    held = automl.model
    maker = getattr(type(held), "_preprocess", None)
    by = maker.__qualname__.split(".")[0] if maker is not None else type(held).__name__
    if by not in TABLES_OF_FLAML:
        raise UnsupportedModelError(
            f"FLAML has chosen a {type(held).__name__}, and what it does to the table is not known.",
            "It must be a LightGBM, XGBoost, CatBoost, forest or logistic regression of FLAML's own, and no ensemble.",
            "Give estimator_list=['lgbm', 'rf', 'xgboost', 'extra_tree', 'lrl1'], or let the swarm search.",
        )
    model, readout = read_model(held.estimator, _prepared(automl._transformer, columns, coded=TABLES_OF_FLAML[by]))
    if isinstance(readout, Argmax | Sign):
        readout = replace(readout, classes=known_classes(estimator))
    return model, readout


def _prepared(transformer: Any, columns: list[Column], *, coded: bool) -> list[Column]:
    """The columns of the table that FLAML makes: the categories come first, and missing numbers become medians."""
    if not hasattr(transformer, "_cat_columns"):  # it was fitted on an array
        return columns
    if transformer._datetime_columns:
        raise UnsupportedModelError(
            "FLAML reads a column of dates.", "It must be text or numbers.", "Make numbers of the dates before FLAML."
        )
    count = len(transformer._cat_columns)
    known = [transformer._cat_categories[name] for name in transformer._cat_columns]
    chosen, numbers = columns[:count], columns[count:]
    bare = {column.feature: () for column in chosen if column.table is None}
    if bare:
        raise NeedsLevels(bare, ordered=False)
    words = [column.map(_WordForNone(some)) for column, some in zip(chosen, known, strict=True)]
    if coded:
        words = [column.coded(some) for column, some in zip(words, known, strict=True)]
    return [*words, *(read_step(transformer.transformer.named_transformers_["continuous"], numbers) if numbers else [])]


class _WordForNone:
    """Writes the word for no category in place of what is not among `known`."""

    def __init__(self, known: list[Any]) -> None:
        self.known = set(known)

    def __call__(self, x: Values) -> Values:
        out = np.empty(len(x), dtype=object)
        out[:] = [value if value in self.known else NO_CATEGORY for value in x.tolist()]
        return out


class _Automl:
    """A search, which takes missing values whatever scikit-learn's tags say of it."""

    booster: Any

    def answers(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.booster.predict_proba(X) if hasattr(self, "classes_") else self.booster.predict(X))


class AutomlClassifier(_Automl, AbstractNativeClassifier):
    """A search for a classifier."""

    def predict(self, X: Any) -> NDArray[Any]:
        """The class that the search itself predicts."""
        return np.asarray(self.booster.predict(X))


class AutomlRegressor(_Automl, AbstractNativeRegressor):
    """A search for a regressor."""


def adapt(automl: Any) -> Any:
    """A search as an estimator; what is not fitted stays what it is."""
    if getattr(automl, "model", None) is None:
        return automl
    names = automl.feature_names_in_
    names = None if names is None else list(names)
    if automl._label_transformer is None:
        return AutomlRegressor(automl, names, automl.n_features_in_)
    return AutomlClassifier(automl, names, automl.n_features_in_, automl.classes_)


register_importer(_Automl, read_automl)
register_native("flaml.AutoML", adapt)
