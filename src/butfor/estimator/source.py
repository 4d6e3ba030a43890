"""The user's own estimator, called with the user's own kind of table. It alone judges validity."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.pipeline import Pipeline

from butfor.arrays import FloatArray
from butfor.errors import ButforError, InputError, InputTypeError, NotFittedError, UnsupportedModelError
from butfor.estimator.dropped import dropped_places
from butfor.estimator.forests import FEW_ROWS, tree_by_tree
from butfor.estimator.inside import is_pipeline, members
from butfor.estimator.likeliest import ALWAYS, doubted_within
from butfor.estimator.table_kind import TableKind, as_kind
from butfor.model.survival.curves import Curves, PredictedTimes, StepCurves
from butfor.space import frames


@dataclass(frozen=True, eq=False)
class Begun:
    """Rows as the last step of a pipeline gets them, that step, and how many rows there are."""

    rows: Any
    last: Any
    height: int


@dataclass(frozen=True, eq=False)
class Source:
    """A fitted estimator or a callable, with the columns it reads.

    - `kind`: the kind of table that it is called with;
    - `trial`: some rows of the data. They are predicted if the estimator does not say what its predictions are;
    - `unread`: whether it is a black box, so that nothing but itself tells what its predictions are.
    """

    estimator: Any
    names: tuple[str, ...]
    kind: TableKind
    trial: Any
    unread: bool = False

    @cached_property
    def dropped(self) -> frozenset[str]:
        """The columns that it drops first of all. Rows may come without them."""
        return frozenset(self.names[at] for at in dropped_places(self.estimator) if at < len(self.names))

    @cached_property
    def classes(self) -> tuple[Any, ...]:
        """The classes that it predicts. Empty if they are not known, as for a regressor."""
        found = getattr(self.estimator, "classes_", None)
        return self._numbered_classes() if found is None else tuple(np.asarray(found).tolist())

    def _numbered_classes(self) -> tuple[Any, ...]:
        """The classes of an estimator that has probabilities but no `classes_`; empty if its labels are no numbers.

        Truth values are in their order. The number of a class is that of its column, if most labels agree with that.
        """
        if self.says_values or not hasattr(self.estimator, "predict_proba"):
            return ()
        try:
            labels = np.asarray(self.ask("predict", self.trial)).ravel()
            chances = _column_per_class(self.ask("predict_proba", self.trial), 2)
        except InputError:
            return ()
        if labels.dtype == np.bool_ and chances.shape[1] == 2:
            return (False, True)
        numbers = labels.dtype.kind in "iuf" and 2 * np.mean(labels == np.argmax(chances, axis=1)) > 1
        return tuple(range(chances.shape[1])) if numbers else ()

    @property
    def says_values(self) -> bool:
        """Whether it calls itself a regressor, in the words of scikit-learn."""
        return _estimator_type(self.estimator) == "regressor"

    @property
    def undeclared(self) -> bool:
        """Whether nothing says if its predictions are classes or values."""
        return self.unread and not (self.classes or self.says_values or self.survives)

    @cached_property
    def predicts_classes(self) -> bool:
        """Whether a class can be asked for. If nothing says so, its predictions do: a fraction is no class."""
        return bool(self.classes) or (self.undeclared and not _any_fraction(self.ask("predict", self.trial)))

    @property
    def seem_probabilities(self) -> bool:
        """Whether its predictions for the trial are numbers between 0 and 1."""
        try:
            predicted = self.values(self.trial)
        except ButforError:
            return False
        return bool(((predicted >= 0) & (predicted <= 1)).all())

    @property
    def as_function(self) -> str:
        """What a user writes for the function of rows that it is: `model.predict`, or `model` for a function."""
        if not hasattr(self.estimator, "predict"):
            return "model"
        if self.kind is TableKind.ARRAY:
            return "lambda X: model.predict(X.to_numpy())"
        return "model.predict"

    def labels(self, table: Any) -> list[Any]:
        """Predicted classes, as plain Python values."""
        return np.asarray(self.ask("predict", table)).ravel().tolist()

    def values(self, table: Any) -> FloatArray:
        """Predicted values of a regressor."""
        raw = self.ask("predict", table)
        try:
            return np.asarray(raw, dtype=np.float64).ravel()
        except (TypeError, ValueError):
            raise InputTypeError(
                f"the model predicted {raw.ravel().tolist()[0]!r}.",
                "The target needs numbers.",
                "Ask for a class instead.",
            ) from None

    def probabilities(self, table: Any) -> FloatArray:
        """Predicted probabilities, one column per class."""
        return _column_per_class(self.ask("predict_proba", table), len(self.classes))

    @cached_property
    def doubted_within(self) -> float:
        """Its classes are those of the largest probabilities, unless the two largest are so close."""
        return doubted_within(self.estimator) if self.classes else ALWAYS

    @property
    def judges_by(self) -> str:
        """The method that compares the classes: "predict_proba" or "decision_function"; empty if there is none."""
        names = ("predict_proba", "decision_function") if self.classes else ()
        return next((name for name in names if hasattr(self.estimator, name)), "")

    def decisions(self, table: Any) -> FloatArray | None:
        """The decision function, one column per class. None if its columns are not classes."""
        raw = np.asarray(self.ask("decision_function", table), dtype=np.float64)
        if raw.ndim == 1 or raw.shape[1] == 1:
            return np.column_stack([np.zeros(len(raw)), raw.ravel()])
        return raw if raw.shape[1] == len(self.classes) else None

    def precision(self, table: Any) -> np.dtype[Any]:
        """The floating-point type of its scores: float32 if it was fitted on float32 only."""
        names = ("decision_function", "predict_proba") if self.classes else ("decision_function",)
        for method in names:
            if hasattr(self.estimator, method):
                with suppress(InputError):  # some libraries have a method that fails
                    return _float_of(self.ask(method, table))
        return _float_of(self.ask("predict", table))

    def hides_single(self, table: Any) -> bool:
        """Whether it makes float64 of what its members computed in float32. It is taken for granted if none can tell."""
        try:
            return np.dtype(np.float32) in _member_types(self.estimator, self.inputs(table))
        except Exception:
            return True

    @property
    def _holder(self) -> Any:
        """The estimator that has the methods. In a search, some exist only on its best estimator."""
        return getattr(self.estimator, "best_estimator_", self.estimator)

    @cached_property  # a pipeline takes milliseconds to find out that it has no such attribute
    def says_time(self) -> bool:
        """Whether it is a model of survival that predicts a time and not a risk."""
        return getattr(self._holder, "_predict_risk_score", True) is False

    @cached_property
    def survives(self) -> bool:
        """Whether it is a model of survival."""
        names = ("predict_survival_function", "survival_curves", "_predict_risk_score")
        return any(hasattr(self._holder, name) for name in names)

    def curves(self, table: Any) -> Curves:
        """The survival functions of a model of survival."""
        if hasattr(self.estimator, "survival_curves"):
            found: Curves = self.estimator.survival_curves(self.inputs(table))
            return found
        if self.says_time:
            return PredictedTimes(self.values(table))
        steps = self.ask("predict_survival_function", table)
        times = np.asarray(steps[0].x, dtype=np.float64) if len(steps) else np.ones(1)
        a, b = np.array([(step.a, step.b) for step in steps]).reshape(-1, 2).T[:, :, None]
        survival = np.array([step.y for step in steps], dtype=np.float64).reshape(-1, len(times))
        return StepCurves(times, survival if (a == 1).all() and (b == 0).all() else a * survival + b)

    def inputs(self, table: Any) -> Any:
        """The columns that the estimator was fitted on, in its order and its kind of table.

        Those that it drops are empty if the table lacks them. Some estimators insist on all.
        """
        if frames.is_array(table):
            return table
        absent = self.dropped and self.dropped.difference(frames.names(table))
        if absent:
            empty = {name: [None] * frames.height(table) for name in absent}
            table = frames.beside(table, {name: name for name in absent}, frames.like(table, empty))
        return as_kind(frames.select(table, self.names), self.kind)

    def ask(self, method: str, table: Any) -> NDArray[Any]:
        """What a method of the estimator returns, one row per row of the table.

        In place of a table, it takes what `begun` made of one.
        """
        function: Callable[[Any], Any]
        if isinstance(table, Begun):
            holder, inputs, height = table.last, table.rows, table.height
        else:
            holder = self.estimator if hasattr(self.estimator, method) else self._holder
            inputs, height = self.inputs(table), frames.height(table)
        if hasattr(holder, method):
            function = self._tree_by_tree(holder, method, height) or getattr(holder, method)
        elif callable(self.estimator) and method == "predict":
            function = self.estimator
        else:
            raise InputError(
                f"{type(self.estimator).__name__} has no {method}.",
                "The target needs it.",
                "Choose a target on the class.",
            )
        answer = np.asarray(self._answered(function, inputs))
        if len(answer) != height:
            raise InputError(f"the model returned {len(answer)} rows for {height}.", "It must return one per row.")
        if method == "predict" and answer.ndim == 2 and answer.shape[1] > 1:
            raise several_outputs(self.estimator, answer.shape[1])
        return answer

    def _tree_by_tree(self, holder: Any, method: str, height: int) -> Callable[[Any], Any] | None:
        """The method of a forest without its threads, if it says the same of the trial rows to the last bit."""
        quick = tree_by_tree(holder, method) if height <= FEW_ROWS else None
        if quick is not None and method not in self._same:
            begun = self.begun(self.trial)
            rows = begun.rows if isinstance(begun, Begun) else self.inputs(begun)
            said = (self._answered(one, rows) for one in (quick, getattr(holder, method)))
            self._same[method] = np.array_equal(*said)
        return quick if self._same.get(method) else None

    @cached_property
    def _same(self) -> dict[str, bool]:
        """For each method that was asked, whether a forest says the same tree by tree."""
        return {}

    def begun(self, table: Any) -> Any:
        """Rows with which several methods will be asked.

        All methods of a pipeline begin with its transformers. They transform the rows here, once. For any other
        estimator, this is the table itself.
        """
        if not _is_plain_pipeline(self.estimator):
            return table
        steps, last = list[Any](), self.estimator
        while _is_plain_pipeline(last):  # the last step of a pipeline may be one, too
            *more, (_, last) = last.steps
            steps += more

        def transformed(rows: Any) -> Any:
            for _, step in steps:
                rows = rows if step in (None, "passthrough") else step.transform(rows)
            return rows

        return Begun(self._answered(transformed, self.inputs(table)), last, frames.height(table))

    def _answered(self, function: Callable[[Any], Any], inputs: Any) -> Any:
        """What the method returns, unchecked. If it raises an error, that error is reported for these rows."""
        try:
            return function(inputs)
        except (ButforError, MemoryError):
            raise
        except Exception as error:
            raise InputError(
                f"{type(self.estimator).__name__} refuses these rows ({type(error).__name__}: {error}).",
                "It must accept rows like those that it was fitted on.",
                _unlike_nan(inputs) or "Compare the columns with those, or try its predict on the data.",
            ) from error


def _unlike_nan(rows: Any) -> str:
    """Where text is missing otherwise than as NaN, which encoders and imputers tell apart, and the line that helps."""
    if frames.is_array(rows) or not hasattr(rows, "iloc"):
        return ""
    for position, name in enumerate(frames.names(rows)):
        for row, value in enumerate(frames.as_held(rows, name, position)):
            if frames.is_missing(value) and not isinstance(value, float):
                column = f"X[{name!r}]"
                line = f"{column} = {column}.astype(object).where({column}.notna(), np.nan)"
                return (
                    f"Row {row} of them holds {value} in column {name!r}, which is not NaN. Perhaps this helps: {line}"
                )
    return ""


def _is_plain_pipeline(estimator: Any) -> bool:
    """Whether each method of an estimator is its transformers and then the same method of its last step.

    So it is for a pipeline of scikit-learn itself, unless it passes on more than the rows.
    """
    return type(estimator) is Pipeline and not get_config().get("enable_metadata_routing", False)


def _float_of(scores: NDArray[Any]) -> np.dtype[Any]:
    """The floating-point type of scores; whole numbers and truth values count as float64."""
    return scores.dtype if scores.dtype.kind == "f" else np.dtype(np.float64)


def _member_types(estimator: Any, rows: Any) -> set[np.dtype[Any]]:
    """The types in which an estimator, or each of its members, computes the scores of some rows.

    Some add an intercept of float64 to what coefficients of float32 make.
    """
    if is_pipeline(estimator):
        reached = estimator[:-1].transform(rows) if len(estimator.steps) > 1 else rows
        return _member_types(estimator.steps[-1][1], reached)
    inside = members(estimator)
    if inside:
        return set[np.dtype[Any]]().union(*(_member_types(one, rows) for one in inside))
    methods = (name for name in ("decision_function", "predict_proba") if hasattr(estimator, name))
    said = np.asarray(getattr(estimator, next(methods, "predict"))(rows)).dtype
    return {said, getattr(getattr(estimator, "coef_", None), "dtype", said)}


def _estimator_type(estimator: Any) -> str | None:
    """What an estimator calls itself: "classifier", "regressor" or another word of scikit-learn; None if it does not."""
    try:
        found: str | None = estimator.__sklearn_tags__().estimator_type
    except Exception:  # it has no tags, or something inside it has none
        return getattr(estimator, "_estimator_type", None)
    return found


def _column_per_class(chances: NDArray[Any], classes: int) -> FloatArray:
    """Probabilities with one column per class. Some estimators return only that of the second of two."""
    found = np.asarray(chances, dtype=np.float64).reshape(len(chances), -1)
    return np.column_stack([1 - found, found]) if (found.shape[1], classes) == (1, 2) else found


def _any_fraction(predicted: NDArray[Any]) -> bool:
    """Whether some predictions are neither whole numbers nor missing."""
    return predicted.dtype.kind == "f" and bool((np.isfinite(predicted) & (predicted != np.round(predicted))).any())


def several_outputs(estimator: Any, count: int) -> UnsupportedModelError:
    """The error about an estimator that predicts several things of each row."""
    return UnsupportedModelError(
        f"{type(estimator).__name__} has {count} outputs.",
        "One output is needed.",
        "Fit one model per output. If the outputs are probabilities of classes, use "
        "bf.black_box(function, classes=[...]).",
    )


def check_fitted(estimator: Any) -> None:
    """Refuse what scikit-learn knows to be unfitted."""
    from sklearn.exceptions import NotFittedError as Unfitted
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(estimator, "__sklearn_tags__"):
        return  # no estimator of scikit-learn, or one without its tags: there is no way to know
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_is_fitted(estimator)
    except Unfitted:
        raise not_fitted(estimator) from None
    except (TypeError, AttributeError):
        return  # nor for one without `fit`, or with tags of another version


def not_fitted(estimator: Any) -> NotFittedError:
    """The error about an estimator that was not fitted."""
    return NotFittedError(
        f"this {type(estimator).__name__} is not fitted.", "A fitted model is needed.", "Call fit first."
    )
