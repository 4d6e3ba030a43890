"""Boosters of other libraries behind the face of an estimator: `predict`, and `predict_proba` of a classifier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.estimator.by_class import ByClass

_adapters: ByClass[Callable[[Any], Any]] = ByClass()


def register_native(model_class: type | str, adapt: Callable[[Any], Any]) -> None:
    """Teach butfor a model without scikit-learn's interface: `adapt(model)` returns an estimator that asks it."""
    _adapters[model_class] = adapt


def as_estimator(model: Any) -> Any:
    """A model that has no scikit-learn interface behind one; any other as it is."""
    adapt = _adapters.of(model)
    return model if adapt is None else adapt(model)


def native_names() -> Iterator[str]:
    """The names of the classes that are adapted."""
    return _adapters.names()


class AbstractNative(ABC):
    """A booster that was trained without the scikit-learn interface of its library."""

    def __init__(self, booster: Any, names: list[str] | None, width: int) -> None:
        self.booster, self.n_features_in_ = booster, width
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    @abstractmethod
    def answers(self, X: Any) -> NDArray[Any]:
        """What the booster answers: a value a row, the probability of the second class, or those of all classes."""

    def _get_tags(self) -> dict[str, bool]:
        return {"allow_nan": True}


class AbstractNativeRegressor(AbstractNative):
    """A booster that predicts values."""

    def predict(self, X: Any) -> NDArray[Any]:
        """The values."""
        return self.answers(X)


class AbstractNativeClassifier(AbstractNative):
    """A booster that predicts probabilities; its classes are 0, 1, ..."""

    def __init__(self, booster: Any, names: list[str] | None, width: int, classes: int) -> None:
        super().__init__(booster, names, width)
        self.classes_ = np.arange(classes)

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The probability of each class."""
        raw = self.answers(X)
        return np.column_stack([1 - raw, raw]) if raw.ndim == 1 else raw

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class, the first of equals."""
        return np.asarray(self.classes_[np.argmax(self.predict_proba(X), axis=1)])


def known_classes(model: Any) -> tuple[Any, ...]:
    """The classes that an estimator predicts; empty for a regressor."""
    return tuple(np.asarray(model.classes_).tolist()) if hasattr(model, "classes_") else ()
