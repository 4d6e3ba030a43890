"""Boosters of other libraries with the interface of an estimator.

They get `predict`, and classifiers also `predict_proba`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.estimator.by_class import ByClass

_adapters: ByClass[Callable[[Any], Any]] = ByClass()


def register_native(model_class: type | str, adapt: Callable[[Any], Any]) -> None:
    """Teach butfor a model without scikit-learn's interface.

    `adapt(model)` returns an estimator that calls the model.
    """
    _adapters[model_class] = adapt


def as_estimator(model: Any) -> Any:
    """The model, wrapped in a scikit-learn interface if it has none."""
    adapt = _adapters.of(model)
    return model if adapt is None else adapt(model)


def native_names() -> Iterator[str]:
    """The names of the classes that butfor can wrap."""
    return _adapters.names()


class AbstractNative(ABC):
    """A booster that was trained without the scikit-learn interface of its library."""

    def __init__(self, booster: Any, names: list[str] | None, width: int) -> None:
        self.booster, self.n_features_in_ = booster, width
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    @abstractmethod
    def answers(self, X: Any) -> NDArray[Any]:
        """What the booster predicts.

        One value per row, the probability of the second class, or the probabilities of all classes.
        """

    def _get_tags(self) -> dict[str, bool]:
        return {"allow_nan": True}


class AbstractNativeRegressor(AbstractNative):
    """A booster that predicts values."""

    _estimator_type = "regressor"

    def predict(self, X: Any) -> NDArray[Any]:
        """The values."""
        return self.answers(X)


class AbstractNativeClassifier(AbstractNative):
    """A booster that predicts probabilities."""

    def __init__(self, booster: Any, names: list[str] | None, width: int, classes: Sequence[Any]) -> None:
        super().__init__(booster, names, width)
        self.classes_ = np.array(classes)

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The probability of each class."""
        raw = self.answers(X)
        return np.column_stack([1 - raw, raw]) if raw.ndim == 1 else raw

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class; the first one if several are equally probable."""
        return np.asarray(self.classes_[np.argmax(self.predict_proba(X), axis=1)])


def known_classes(model: Any) -> tuple[Any, ...]:
    """The classes that an estimator predicts. Empty for a regressor."""
    return tuple(np.asarray(model.classes_).tolist()) if hasattr(model, "classes_") else ()
