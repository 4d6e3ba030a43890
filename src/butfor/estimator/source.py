"""The user's own estimator, called with the user's own kind of table. It alone judges validity."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.pipeline import Pipeline

from butfor.arrays import FloatArray
from butfor.errors import ButforError, InputError, InputTypeError, NotFittedError, UnsupportedModelError
from butfor.estimator.boosters import as_estimator
from butfor.estimator.functions import AbstractFunction
from butfor.estimator.likeliest import ALWAYS, doubted_within
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
    """A fitted estimator or a callable, with the columns it reads."""

    estimator: Any
    names: tuple[str, ...]
    wants_array: bool

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes that it predicts. Empty for a regressor."""
        found = getattr(self.estimator, "classes_", None)
        return () if found is None else tuple(np.asarray(found).tolist())

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
        return np.asarray(self.ask("predict_proba", table), dtype=np.float64)

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
        methods = (name for name in ("decision_function", "predict_proba") if hasattr(self.estimator, name))
        found = np.asarray(self.ask(next(methods, "predict"), table))
        return found.dtype if found.dtype.kind == "f" else np.dtype(np.float64)

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
        """The columns that the estimator reads, in its order and its kind of table."""
        if frames.is_array(table):
            return table
        chosen = frames.select(table, self.names)
        if self.wants_array:
            return _plain(nw.from_native(chosen, eager_only=True).to_numpy())
        # scikit-learn's pipelines do not take arrow tables
        return chosen.to_pandas() if nw.dependencies.is_pyarrow_table(chosen) else chosen

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
            function = getattr(holder, method)
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
            raise _several_outputs(self.estimator, answer.shape[1])
        return answer

    def begun(self, table: Any) -> Any:
        """Rows with which several methods will be asked.

        All methods of a pipeline begin with its transformers. They transform the rows here, once. For any other
        estimator, this is the table itself.
        """
        pipeline = self.estimator
        if not _is_plain_pipeline(pipeline):
            return table
        *steps, (_, last) = pipeline.steps

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
                other = f"astype(object).where({column}.notna(), np.nan)" if value is not None else "fillna(np.nan)"
                line = f"{column} = {column}.{other}"
                return (
                    f"Row {row} of them holds {value} in column {name!r}, which is not NaN. Perhaps this helps: {line}"
                )
    return ""


def _is_plain_pipeline(estimator: Any) -> bool:
    """Whether each method of an estimator is its transformers and then the same method of its last step.

    So it is for a pipeline of scikit-learn itself, unless it passes on more than the rows.
    """
    return (
        type(estimator) is Pipeline
        and len(estimator.steps) > 1
        and not get_config().get("enable_metadata_routing", False)
    )


def _member_types(estimator: Any, rows: Any) -> set[np.dtype[Any]]:
    """The types of the scores that an estimator, or each of its members, computes for some rows."""
    if hasattr(estimator, "steps"):
        reached = estimator[:-1].transform(rows) if len(estimator.steps) > 1 else rows
        return _member_types(estimator.steps[-1][1], reached)
    inner = wrapped(estimator)
    members = [] if inner is None else [inner]
    members += [member.estimator for member in getattr(estimator, "calibrated_classifiers_", ())]
    if type(estimator).__name__.startswith(("Voting", "Stacking", "OneVsRest")):
        members += list(estimator.estimators_)
    if members:
        return set[np.dtype[Any]]().union(*(_member_types(member, rows) for member in members))
    methods = (name for name in ("decision_function", "predict_proba") if hasattr(estimator, name))
    return {np.asarray(getattr(estimator, next(methods, "predict"))(rows)).dtype}


def _plain(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows as an array in which every missing value is NaN. No estimator takes the marker of pandas."""
    if rows.dtype != np.object_:
        return rows
    lost = np.frompyfunc(lambda value: type(value).__name__ == "NAType", 1, 1)(rows).astype(np.bool_)
    return np.where(lost, np.nan, rows) if lost.any() else rows


def _known_names(estimator: Any) -> Any:
    """The names of the columns that an estimator was fitted on; None if it does not know them.

    A step of a pipeline that only passes the columns on does not know them, but the next one does.
    """
    found = getattr(estimator, "feature_names_in_", None)
    return getattr(_first(estimator), "feature_names_in_", None) if found is None else found


def _first(estimator: Any) -> Any:
    """The first step of a pipeline that does something; what is no pipeline is its own."""
    steps = [step for _, step in getattr(estimator, "steps", ())]
    return next((step for step in steps if step is not None and step != "passthrough"), estimator)


def fitted_width(estimator: Any) -> int | None:
    """The number of columns that an estimator was fitted on; None if it does not know."""
    count: int | None = getattr(estimator, "n_features_in_", None)
    return count if count != 0 else len(_catboost_names(estimator)) or None  # a saved CatBoost model forgets the number


def _catboost_names(estimator: Any) -> list[str]:
    """What a CatBoost model, perhaps inside a search or a pipeline, calls its columns: positions, if they had no names."""
    inner = wrapped(estimator)
    if inner is not None:
        return _catboost_names(inner)
    first = _first(estimator)
    return [str(name) for name in first.feature_names_ or ()] if type(first).__module__.startswith("catboost") else []


def open_source(estimator: Any, table: Any) -> Source:
    """Check that the estimator is fitted and reads the columns of `table`."""
    if isinstance(estimator, type):
        raise InputTypeError(f"the class {estimator.__name__} was given.", "A fitted estimator is needed.")
    estimator = as_estimator(estimator)
    if isinstance(estimator, AbstractFunction):
        return Source(estimator, frames.names(table), wants_array=False)
    if not hasattr(estimator, "predict"):
        if hasattr(estimator, "fit"):  # a stack has `predict` once its end is fitted
            check_fitted(estimator)
        if not callable(estimator):
            raise InputTypeError(
                f"{type(estimator).__name__} was given as the model.",
                "A fitted estimator with predict, or a function of rows, is needed.",
            )
        return Source(estimator, frames.names(table), wants_array=False)
    check_fitted(estimator)
    classes = getattr(estimator, "classes_", None)
    if isinstance(classes, list) and any(isinstance(of_one, np.ndarray) for of_one in classes):
        raise _several_outputs(estimator, len(classes))
    given = frames.names(table)
    known = _known_names(estimator)
    if known is not None and list(known) == [f"Column_{j}" for j in range(len(known))]:
        known = None  # LightGBM before 4.7 names the columns of an array itself
    if known is not None and frames.is_array(table):
        raise InputTypeError(
            "the data is an array, but the model was fitted on named columns.",
            f"It reads {[str(name) for name in known][:8]}.",
            "Give a data frame with these columns.",
        )
    if known is not None:
        names = _columns([str(name) for name in known], given, frames.labels(table))
        return Source(estimator, names, wants_array=False)
    as_array = not frames.is_array(table) and frames.all_text(frames.labels(table))
    told, count = _catboost_names(estimator), fitted_width(estimator)
    if told != [str(j) for j in range(len(told))] and not frames.is_array(table):
        return Source(estimator, _columns(told, given, frames.labels(table)), wants_array=as_array)
    if count not in (None, len(given)):
        raise InputError(f"the data has {len(given)} columns.", f"The model was fitted on {count}.")
    return Source(estimator, given, wants_array=as_array)


def _several_outputs(estimator: Any, count: int) -> UnsupportedModelError:
    return UnsupportedModelError(
        f"{type(estimator).__name__} has {count} outputs.",
        "One output is needed.",
        "Fit one model per output. If the outputs are probabilities of classes, use "
        "bf.black_box(function, classes=[...]).",
    )


def wrapped(estimator: Any) -> Any:
    """The fitted estimator inside a search, a threshold, a frozen one or a transformed target. None: there is no wrapper.

    Bags and boosting keep their members elsewhere, and beside them a copy that is not fitted.
    """
    if type(estimator).__name__ == "FrozenEstimator":  # it has all attributes of what is inside
        return estimator.estimator
    if type(estimator).__name__ == "TransformedTargetRegressor":
        return estimator.regressor_
    if hasattr(estimator, "best_estimator_"):
        return estimator.best_estimator_
    return None if hasattr(estimator, "estimators_") else getattr(estimator, "estimator_", None)


def _columns(known: list[str], given: tuple[str, ...], labels: list[Any]) -> tuple[str, ...]:
    """The columns of the data for the names that the model knows.

    LightGBM writes underscores for spaces. XGBoost writes spaces between the parts of a label.
    """
    alike = {name.replace(" ", "_"): name for name in given}
    alike |= {" ".join(map(str, label)): str(label) for label in labels if isinstance(label, tuple)}
    found = [name if name in given else alike.get(name) for name in known]
    absent = [name for name, column in zip(known, found, strict=True) if column is None]
    if absent:
        raise InputError(f"the data lacks the columns {absent}.", "The model was fitted on them.")
    return tuple(column for column in found if column is not None)


def check_fitted(estimator: Any) -> None:
    """Refuse what scikit-learn knows to be unfitted."""
    from sklearn.exceptions import NotFittedError as Unfitted
    from sklearn.utils.validation import check_is_fitted

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_is_fitted(estimator)
    except Unfitted:
        raise NotFittedError(
            f"this {type(estimator).__name__} is not fitted.", "A fitted model is needed.", "Call fit first."
        ) from None
    except TypeError:
        return  # not a scikit-learn estimator: there is no way to know whether it is fitted
