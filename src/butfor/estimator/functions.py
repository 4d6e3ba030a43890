"""A function that predicts, behind the face of an estimator: what it must return is checked whenever it is asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError, InputTypeError
from butfor.space.frames import height, is_array

Returns = Literal["probabilities", "scores", "values"]


class AbstractFunction(ABC):
    """A function of rows, asked in the kind of table that the data is."""

    def __init__(self, function: Callable[[Any], Any], classes: Sequence[Any] = ()) -> None:
        self.function = function
        if len(classes):
            self.classes_ = np.array(classes)

    @abstractmethod
    def predict(self, X: Any) -> Any:
        """The classes, or the values."""

    def numbers(self, X: Any, widths: tuple[int, ...]) -> FloatArray:
        """What the function returns for some rows, checked: numbers, one row each, of one of these widths."""
        answered = np.asarray(self._called(X))
        rows, wide = height(X), answered.shape[1] if answered.ndim == 2 else 1
        if answered.ndim not in (1, 2) or len(answered) != rows or wide not in widths:
            raise InputError(
                f"the model returned an array of shape {answered.shape} for {rows} rows.",
                f"One row each is needed, with {' or '.join(map(str, widths))} columns.",
            )
        try:
            found = answered.astype(np.float64, casting="same_kind" if answered.dtype.kind == "c" else "unsafe").reshape(
                rows, wide
            )
        except (TypeError, ValueError):
            raise InputTypeError(
                f"the model returned {answered.ravel().tolist()[0]!r}, which is no number.",
                "Numbers are needed: a column a class, or a value.",
                "A function that returns labels is given to bf.Explainer as it is.",
            ) from None
        if np.isnan(found).any():
            raise InputError(
                f"the model returned NaN for {int(np.isnan(found).any(axis=1).sum())} of {rows} rows.",
                "Numbers are needed.",
            )
        return found

    def _called(self, X: Any) -> Any:
        """What the function returns; an array has no names of columns, and a function that wants them is told so."""
        try:
            return self.function(X)
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            if not is_array(X):
                raise
            raise InputError(
                f"the function refuses an array of shape {X.shape} ({type(error).__name__}: {error}).",
                "It gets rows of the kind of the data, which is an array.",
                "If it needs names of columns, give bf.Explainer the data as a data frame.",
            ) from error


class ValueFunction(AbstractFunction):
    """A function that returns a value a row."""

    def predict(self, X: Any) -> FloatArray:
        return self.numbers(X, (1,))[:, 0]


class ScoreFunction(AbstractFunction):
    """A function that returns a score a class, the largest wins; of two classes, it may return that of the second above 0."""

    def decision_function(self, X: Any) -> FloatArray:
        """The scores, a column a class."""
        found = self.numbers(X, _widths(self.classes_))
        return np.column_stack([np.zeros(len(found)), found]) if found.shape[1] == 1 else found

    def predict(self, X: Any) -> Any:
        return self.classes_[np.argmax(self.decision_function(X), axis=1)]


class ProbabilityFunction(AbstractFunction):
    """A function that returns the probability of each class, or, of two classes, that of the second."""

    def predict_proba(self, X: Any) -> FloatArray:
        """The probabilities, a column a class."""
        found = self.numbers(X, _widths(self.classes_))
        found = np.column_stack([1 - found, found]) if found.shape[1] == 1 else found
        if (found < -1e-6).any() or (np.abs(found.sum(axis=1) - 1) > 1e-3).any():
            raise InputError(
                f"the model returned {found[np.argmax(np.abs(found.sum(axis=1) - 1))].tolist()} as probabilities.",
                "They are at least 0 and add up to 1.",
                "Use bf.black_box(..., returns='scores') for numbers of which the largest wins.",
            )
        return found

    def predict(self, X: Any) -> Any:
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


def _widths(classes: Any) -> tuple[int, ...]:
    return (1, 2) if len(classes) == 2 else (len(classes),)


def black_box(
    function: Callable[[Any], Any], classes: Sequence[Any] = (), *, returns: Returns | None = None
) -> AbstractFunction:
    """A function of rows as a model: it gets tables of the kind and with the columns of the data.

    With `classes`, it returns their probabilities, a column each in that order (of two classes, one column will do: the second),
    or with `returns="scores"` any numbers of which the largest wins. Without, it returns a value a row. Choose it where a plain
    function, which may return labels too, says less than the model knows: a search follows probabilities, not labels.

    >>> model = black_box(lambda X: 1 / (1 + np.exp(-X[:, 0])), classes=["no", "yes"])
    >>> model.predict(np.array([[-1.0], [2.0]])).tolist()
    ['no', 'yes']
    """
    if not callable(function):
        raise InputTypeError(f"{type(function).__name__} was given to bf.black_box.", "A function of rows is needed.")
    if isinstance(classes, str) or len(classes) == 1 or len(set(classes)) != len(classes):
        raise InputError(f"classes={classes!r} were given.", "Two or more classes are needed, each once.")
    wanted = returns or ("probabilities" if len(classes) else "values")
    if wanted not in ("probabilities", "scores", "values") or (wanted == "values") == bool(len(classes)):
        raise InputError(
            f"returns={returns!r} was given with {len(classes)} classes.",
            "It is 'probabilities' or 'scores' with classes, 'values' without.",
        )
    if wanted == "values":
        return ValueFunction(function)
    return ProbabilityFunction(function, classes) if wanted == "probabilities" else ScoreFunction(function, classes)
