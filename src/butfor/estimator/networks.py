"""Networks of other libraries with the interface of an estimator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from butfor.errors import InputError, InputTypeError
from butfor.estimator.source import check_fitted
from butfor.space import frames

ROWS_AT_ONCE = 32
"""How many rows a network is called with at a time.

Libraries add up in another order for few rows than for many. With full blocks, what is said of a row does not depend on
the rows beside it.
"""


class End(StrEnum):
    """What the numbers are that a network returns."""

    SCORES = "scores"
    SIGMOID = "sigmoid"
    SOFTMAX = "softmax"
    LOG_SOFTMAX = "log_softmax"


class AbstractNetwork(ABC):
    """A network of another library.

    - `columns`: the names of the columns that it reads; None if it reads them by position;
    - `width`: how many there are; None if it does not tell;
    - `end`: what its numbers are;
    - `single`: whether it computes in float32, and else in float64.
    """

    block: int = ROWS_AT_ONCE

    def __init__(self, columns: Sequence[str] | None, width: int | None, end: End, *, single: bool) -> None:
        self.end, self.single = end, single
        if columns is not None:
            self.feature_names_in_ = np.array([str(name) for name in columns], dtype=object)
            if width is not None and len(columns) != width:
                raise InputError(
                    f"columns={list(columns)!r} were given.", f"The network reads {width} columns.", "Name each once."
                )
            width = len(columns)
        if width is not None:
            self.n_features_in_ = width

    def __repr__(self) -> str:
        width = getattr(self, "n_features_in_", None)
        columns = "columns" if width is None else f"{width} columns"
        return f"<{type(self).__name__} that reads {columns} and returns {self.end.value}>"

    @abstractmethod
    def returned(self, rows: NDArray[Any]) -> NDArray[Any]:
        """What the network itself returns for one block of rows, in its type."""

    def numbers(self, X: Any) -> NDArray[Any]:
        """What the network returns (rows, numbers), asked block by block."""
        rows = self._rows(X)
        size = self.block
        blocks = [_filled(rows[at : at + size], size) for at in range(0, max(len(rows), 1), size)]
        found = np.concatenate([_checked(self.returned(block), size) for block in blocks])[: len(rows)]
        return found.reshape(len(rows), -1) if len(rows) else found[:0].reshape(0, 1)

    def _rows(self, X: Any) -> NDArray[Any]:
        """The rows as the network takes them."""
        X = frames.as_table(X.toarray() if hasattr(X, "toarray") else X)
        names = getattr(self, "feature_names_in_", None)
        if names is not None and not frames.is_array(X):
            X = frames.select(X, tuple(names))
        given = np.asarray(X.to_pandas() if type(X).__module__.startswith("pyarrow") else X)
        width = getattr(self, "n_features_in_", given.shape[1])
        if given.shape[1] != width:
            raise InputError(f"rows of {given.shape[1]} numbers were given.", f"The network reads {width}.")
        try:
            with np.errstate(over="ignore"):
                rows = np.ascontiguousarray(given, dtype=np.float32 if self.single else np.float64)
        except (TypeError, ValueError) as error:
            raise InputTypeError(
                f"the rows hold something that is not a number ({error}).",
                "A network reads numbers.",
                "Encode the column by a preprocessor: before=...",
            ) from None
        if np.isnan(rows).any():
            raise InputError("a missing value reaches the network.", "It needs numbers.", "Fill it before: before=...")
        return rows


def _filled(rows: NDArray[Any], size: int) -> NDArray[Any]:
    """A block of this size: some rows, of which the last is repeated."""
    if not len(rows):
        return np.zeros((size, rows.shape[1]), dtype=rows.dtype)
    return np.concatenate([rows, np.repeat(rows[-1:], size - len(rows), axis=0)])


def _checked(found: NDArray[Any], size: int) -> NDArray[Any]:
    if found.ndim not in (1, 2) or len(found) != size:
        raise InputError(
            f"the network returned an array of shape {found.shape} for {size} rows.",
            "It must return one row for each: one number, or one per class.",
        )
    return found


class AbstractNetworkRegressor(AbstractNetwork):
    """A network that predicts values."""

    _estimator_type = "regressor"

    def check(self) -> None:
        """Refuse a network that predicts no single value."""
        if self.end is not End.SCORES:
            raise InputError(
                f"the network ends in {self.end}, and no classes were given.", "", "Name them: classes=[...]."
            )
        _check_width(self, {1: "One value is needed. Give the classes, if it is a classifier: classes=[...]."})

    def predict(self, X: Any) -> NDArray[Any]:
        """The values."""
        return np.asarray(self.numbers(X)[:, 0])


class AbstractNetworkClassifier(AbstractNetwork):
    """A network that predicts classes. A single number speaks for the second of two."""

    classes_: NDArray[Any]

    def check(self) -> None:
        """Refuse a network that does not return one number per class, or one for two classes."""
        count = len(self.classes_)
        allowed = {count: f"One number for each of the {count} classes is needed"}
        if self.end is End.SIGMOID:
            allowed = {1: "Several sigmoids are labels of which each may hold. One is needed, for two classes"}
        elif count == 2 and self.end is End.SCORES:
            allowed[1] = "One"
        if count != 2 and self.end is End.SIGMOID:
            raise InputError(
                f"the network ends in a sigmoid, and {count} classes were given.", "It can tell two apart."
            )
        _check_width(self, allowed)

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The probability of each class, in the network's type."""
        found = self.numbers(X)
        if self.end is End.SCORES:
            found = found.astype(np.float64)
            second = expit(found)
            shares = np.hstack([expit(-found), second]) if found.shape[1] == 1 else softmax(found, axis=1)
        elif self.end is End.LOG_SOFTMAX:
            shares = np.exp(found.astype(np.float64))
        else:
            shares = np.hstack([1 - found, found]) if found.shape[1] == 1 else found
        return np.asarray(shares, dtype=np.float32 if self.single else np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class; the first one if several are equally probable."""
        found = self.numbers(X)
        if found.shape[1] == 1:
            second = found[:, 0] > (0 if self.end is End.SCORES else 0.5)
            return np.asarray(self.classes_[second.astype(np.intp)])
        return np.asarray(self.classes_[np.argmax(found, axis=1)])


def _check_width(network: AbstractNetwork, allowed: dict[int, str]) -> None:
    """Call the network once, and refuse it unless it returns as many numbers as allowed."""
    width = getattr(network, "n_features_in_", None)
    if width is None:
        return
    found = network.numbers(np.zeros((1, width)))
    if found.shape[1] not in allowed:
        needed = next(iter(allowed.values())).rstrip(".")
        raise InputError(f"the network returns {found.shape[1]} numbers per row.", f"{needed}.")


def class_array(classes: Sequence[Any]) -> NDArray[Any]:
    """The classes of a network, checked."""
    if isinstance(classes, str) or len(classes) < 2 or len(set(classes)) != len(classes):
        raise InputError(f"classes={classes!r} were given.", "Two or more different classes are needed.")
    return np.array(classes)


class PreparedRegressor:
    """A network behind a fitted preprocessor. It has `steps`, like a pipeline."""

    def __init__(self, before: Any, network: AbstractNetwork) -> None:
        self.steps = [("before", before), ("network", network)]
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(before, name):
                setattr(self, name, getattr(before, name))

    def _prepared(self, X: Any) -> Any:
        return self.steps[0][1].transform(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """What the network predicts for the prepared rows."""
        found: NDArray[Any] = self.steps[1][1].predict(self._prepared(X))
        return found


class PreparedLabels(PreparedRegressor):
    """The same for a classifier that tells no probabilities."""

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes that the network predicts."""
        found: NDArray[Any] = self.steps[1][1].classes_
        return found


class PreparedClassifier(PreparedLabels):
    """The same for a classifier."""

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The network's probabilities for the prepared rows."""
        found: NDArray[Any] = self.steps[1][1].predict_proba(self._prepared(X))
        return found


class PreparedSurvival(PreparedRegressor):
    """The same for a model of survival."""

    def survival_curves(self, X: Any) -> Any:
        """The network's survival functions for the prepared rows."""
        return self.steps[1][1].survival_curves(self._prepared(X))


def behind(before: Any, network: Any) -> Any:
    """The checked network, behind a fitted preprocessor if there is one."""
    network.check()
    if before is None:
        return network
    if isinstance(before, type) or not hasattr(before, "transform"):
        raise InputTypeError(f"before={before!r} was given.", "A fitted preprocessor with transform is needed.")
    check_fitted(before)
    if hasattr(network, "classes_"):
        return (PreparedClassifier if hasattr(network, "predict_proba") else PreparedLabels)(before, network)
    return (PreparedSurvival if hasattr(network, "survival_curves") else PreparedRegressor)(before, network)
