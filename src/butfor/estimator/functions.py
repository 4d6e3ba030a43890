"""A function that predicts, with the interface of an estimator. What it returns is checked in each call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence, Set
from typing import Any, ClassVar, Literal

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError, InputTypeError, suggests
from butfor.space.frames import height, is_array

Returns = Literal["probabilities", "scores", "values"]


class AbstractFunction(ABC):
    """A function of rows. It is called with the same kind of table as the data."""

    predicts: ClassVar[str] = "a number"
    """What it predicts if it has no classes."""

    def __init__(self, function: Callable[[Any], Any], classes: Sequence[Any] = ()) -> None:
        self.function = function
        if len(classes):
            self.classes_ = np.array(classes)

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        classes = getattr(self, "classes_", np.empty(0)).tolist()
        return f"<black box {name} that predicts {', '.join(map(repr, classes)) or self.predicts}>"

    @abstractmethod
    def predict(self, X: Any) -> Any:
        """The classes, or the values."""

    def numbers(self, X: Any, widths: tuple[int, ...]) -> FloatArray:
        """The numbers that the function returns for some rows, checked.

        There must be one row for each row given, and the number of columns must be one of `widths`.
        """
        answered = np.asarray(self._called(X))
        rows, wide = height(X), answered.shape[1] if answered.ndim == 2 else 1
        if answered.ndim not in (1, 2) or len(answered) != rows or wide not in widths:
            raise InputError(
                f"the model returned an array of shape {answered.shape} for {rows} rows.",
                f"It must return one row for each, with {' or '.join(map(str, widths))} columns.",
            )
        try:
            found = answered.astype(
                np.float64, casting="same_kind" if answered.dtype.kind == "c" else "unsafe"
            ).reshape(rows, wide)
        except (TypeError, ValueError):
            raise InputTypeError(
                f"the model returned {answered.ravel().tolist()[0]!r}, which is not a number.",
                "It must return numbers: one column per class, or one value per row.",
                "Give a function that returns labels to bf.Explainer as it is, without bf.black_box.",
            ) from None
        if np.isnan(found).any():
            raise InputError(
                f"the model returned NaN for {int(np.isnan(found).any(axis=1).sum())} of {rows} rows.",
                "It must return numbers.",
            )
        return found

    def _called(self, X: Any) -> Any:
        """What the function returns.

        If it fails on an array, the error says that an array has no column names.
        """
        try:
            return self.function(X)
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            if not is_array(X):
                raise
            raise InputError(
                f"the function fails on an array of shape {X.shape} ({type(error).__name__}: {error}).",
                "It gets the same kind of table as the data, which is an array.",
                "If it needs column names, give bf.Explainer the data as a data frame.",
            ) from error


class ValueFunction(AbstractFunction):
    """A function that returns one value per row."""

    _estimator_type = "regressor"

    def predict(self, X: Any) -> FloatArray:
        return self.numbers(X, (1,))[:, 0]


class ScoreFunction(AbstractFunction):
    """A function that returns one score per class. The largest score wins.

    For two classes it may return a single score, which is above 0 for the second class.
    """

    def decision_function(self, X: Any) -> FloatArray:
        """The scores, one column per class."""
        found = self.numbers(X, _widths(self.classes_))
        return np.column_stack([np.zeros(len(found)), found]) if found.shape[1] == 1 else found

    def predict(self, X: Any) -> Any:
        return self.classes_[np.argmax(self.decision_function(X), axis=1)]


class ProbabilityFunction(AbstractFunction):
    """A function that returns the probability of each class.

    For two classes it may return only that of the second.
    """

    def predict_proba(self, X: Any) -> FloatArray:
        """The probabilities, one column per class."""
        found = self.numbers(X, _widths(self.classes_))
        found = np.column_stack([1 - found, found]) if found.shape[1] == 1 else found
        if (found < -1e-6).any() or (np.abs(found.sum(axis=1) - 1) > 1e-3).any():
            raise InputError(
                f"the model returned {found[np.argmax(np.abs(found.sum(axis=1) - 1))].tolist()} as probabilities.",
                "Probabilities must be at least 0 and add up to 1.",
                "For other numbers, of which the largest wins, use bf.black_box(..., returns='scores').",
            )
        return found

    def predict(self, X: Any) -> Any:
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]


def _widths(classes: Any) -> tuple[int, ...]:
    return (1, 2) if len(classes) == 2 else (len(classes),)


def labels_of(classes: Any) -> list[Any]:
    """The labels of some classes, in the order of their columns; none if there are no classes."""
    ordered = isinstance(classes, Iterable) and not isinstance(classes, str | bytes | Set)
    labels = list(classes) if ordered else [None]
    single = all(isinstance(label, Hashable) and np.ndim(label) == 0 for label in labels)  # type: ignore[arg-type]
    if not single or len(set(labels)) != len(labels) or len(labels) == 1 or np.array(labels).tolist() != labels:
        raise InputError(
            f"classes={classes!r} was given.",
            "Two or more different labels of one type are needed, in the order of the columns that the function returns.",
            "Write classes=['no', 'yes'], and leave it out if the function returns one value per row.",
        )
    return labels


@suggests
def black_box(
    function: Callable[[Any], Any], classes: Sequence[Any] = (), *, returns: Returns | None = None
) -> AbstractFunction:
    """A function of rows as a model. It is called with the same kind of table as the data.

    With `classes`, the function returns their probabilities: one column per class, in that order (for two classes,
    the second column is enough). With `returns="scores"`, it returns one number per class instead, of which the
    largest wins. Without `classes`, it returns one value per row.

    A plain function can be given to `bf.Explainer` directly and may return labels, too. Choose `black_box` if the model
    knows more than its label: a search can follow probabilities, but not labels.

    >>> model = black_box(lambda X: 1 / (1 + np.exp(-X[:, 0])), classes=["no", "yes"])
    >>> model.predict(np.array([[-1.0], [2.0]])).tolist()
    ['no', 'yes']
    """
    if not callable(function):
        raise InputTypeError(f"{type(function).__name__} was given to bf.black_box.", "A function of rows is needed.")
    labels = labels_of(classes)
    wanted = ("probabilities" if labels else "values") if returns is None else returns
    known = isinstance(wanted, str) and wanted in ("probabilities", "scores", "values")
    if not known or (wanted == "values") == bool(labels):
        raise InputError(
            f"returns={returns!r} was given with {len(labels)} classes.",
            "It must be 'probabilities' or 'scores' with classes, and 'values' without.",
        )
    if wanted == "values":
        return ValueFunction(function)
    return ProbabilityFunction(function, labels) if wanted == "probabilities" else ScoreFunction(function, labels)
