"""Open an estimator: check that it is fitted, find its columns in the data, and the kind of table that it takes."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Any

import numpy as np

from butfor.errors import InputError, InputTypeError
from butfor.estimator.boosters import as_estimator
from butfor.estimator.dropped import dropped_places
from butfor.estimator.files import from_file, is_path
from butfor.estimator.functions import AbstractFunction
from butfor.estimator.inside import first_step, wrapped
from butfor.estimator.source import Source, check_fitted, several_outputs
from butfor.estimator.table_kind import TableKind, as_kind, frame_kinds
from butfor.space import frames

MOST_TRIED = 200
"""How many rows of the data are kept to try what an estimator predicts."""

NAMES_UNKNOWN = "X has feature names"
"""How scikit-learn's warning begins that an estimator was fitted on arrays."""


def open_source(estimator: Any, table: Any) -> Source:
    """Check that the estimator is fitted and reads the columns of `table`. Those that it drops may be absent."""
    if isinstance(estimator, type):
        raise InputTypeError(f"the class {estimator.__name__} was given.", "A fitted estimator is needed.")
    estimator = as_estimator(from_file(estimator) if is_path(estimator) else estimator)
    trial = frames.take(table, np.arange(min(MOST_TRIED, frames.height(table))))
    if isinstance(estimator, AbstractFunction):
        return Source(estimator, frames.names(table), TableKind.GIVEN, trial)
    if not hasattr(estimator, "predict"):
        if hasattr(estimator, "fit"):  # a stack has `predict` once its end is fitted
            check_fitted(estimator)
        if _is_torch_module(estimator):
            raise InputTypeError(
                f"the PyTorch module {type(estimator).__name__} was given as the model.",
                "It does not say what its numbers are.",
                "Write bf.torch_model(module, classes=[...]), or bf.torch_model(module) if it predicts a value.",
            )
        if not callable(estimator):
            raise InputTypeError(
                f"{type(estimator).__name__} was given as the model.",
                "A fitted estimator with predict, or a function of rows, is needed.",
            )
        return Source(estimator, frames.names(table), TableKind.GIVEN, trial)
    check_fitted(estimator)
    classes = getattr(estimator, "classes_", None)
    if isinstance(classes, list) and any(isinstance(of_one, np.ndarray) for of_one in classes):
        raise several_outputs(estimator, len(classes))
    names, on_arrays = _columns_read(estimator, table)
    if frames.is_array(table):
        return Source(estimator, names, TableKind.GIVEN, trial)
    if on_arrays is None:
        return Source(estimator, names, frame_kinds(table)[-1], trial)  # scikit-learn's pipelines take no arrow tables
    return Source(estimator, names, _kind_taken(estimator, frames.select(trial, names), on_arrays), trial)


def _is_torch_module(model: Any) -> bool:
    return any(
        (kind.__module__, kind.__name__) == ("torch.nn.modules.module", "Module") for kind in type(model).__mro__
    )


def _columns_read(estimator: Any, table: Any) -> tuple[tuple[str, ...], bool | None]:
    """The columns that an estimator reads, and whether it was fitted on arrays; None if it was on named columns."""
    given = frames.names(table)
    known = _known_names(estimator)
    if known is not None and list(known) in _names_of_arrays(len(known)):
        known = None
    if known is not None and frames.is_array(table):
        raise InputTypeError(
            "the data is an array, but the model was fitted on named columns.",
            f"It reads {[str(name) for name in known][:8]}.",
            "Give a data frame with these columns.",
        )
    if known is not None:
        needless = dropped_places(estimator)
        return _columns([str(name) for name in known], given, frames.labels(table), needless), None
    told, count = _catboost_names(estimator), fitted_width(estimator)
    if told != [str(j) for j in range(len(told))] and not frames.is_array(table):
        return _columns(told, given, frames.labels(table)), False
    if count not in (None, len(given)):
        raise InputError(f"the data has {len(given)} columns.", f"The model was fitted on {count}.")
    return given, count is not None and (frames.is_array(table) or frames.all_text(frames.labels(table)))


def _names_of_arrays(width: int) -> tuple[list[str], ...]:
    """What LightGBM before 4.7 and InterpretML call the columns of an array."""
    return [f"Column_{j}" for j in range(width)], [f"feature_{j:04d}" for j in range(width)]


def _kind_taken(estimator: Any, rows: Any, on_arrays: bool) -> TableKind:
    """The kind of table that an estimator takes which does not know the names of its columns.

    Data frames stay what they are, unless it was fitted on arrays or takes nothing else. If it takes no kind at all, it
    gets the first that was tried, and its error is told when it is asked.
    """
    kinds = (TableKind.ARRAY, *frame_kinds(rows)) if on_arrays else (*frame_kinds(rows), TableKind.ARRAY)
    one = frames.take(rows, [0])
    return next((kind for kind in kinds if _takes(estimator, one, kind)), kinds[0])


def _takes(estimator: Any, rows: Any, kind: TableKind) -> bool:
    """Whether an estimator predicts rows in this kind of table, and does not warn of their names."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            estimator.predict(as_kind(rows, kind))
        except Exception:  # whatever its library raises for what it cannot read
            return False
    return not any(str(one.message).startswith(NAMES_UNKNOWN) for one in warned)


def _known_names(estimator: Any) -> Any:
    """The names of the columns that an estimator was fitted on; None if it does not know them.

    A step of a pipeline that only passes the columns on does not know them, but the next one does.
    """
    found = getattr(estimator, "feature_names_in_", None)
    return getattr(first_step(estimator), "feature_names_in_", None) if found is None else found


def fitted_width(estimator: Any) -> int | None:
    """The number of columns that an estimator was fitted on; None if it does not know."""
    count: int | None = getattr(estimator, "n_features_in_", None)
    return count if count != 0 else len(_catboost_names(estimator)) or None  # a saved CatBoost model forgets the number


def _catboost_names(estimator: Any) -> list[str]:
    """What a CatBoost model, perhaps inside a search or a pipeline, calls its columns: positions, if they had no names."""
    inner = wrapped(estimator)
    if inner is not None:
        return _catboost_names(inner)
    first = first_step(estimator)
    return [str(name) for name in first.feature_names_ or ()] if type(first).__module__.startswith("catboost") else []


def _columns(
    known: list[str], given: tuple[str, ...], labels: list[Any], needless: Collection[int] = ()
) -> tuple[str, ...]:
    """The columns of the data for the names that the model knows. Those at the places `needless` may be absent.

    LightGBM writes underscores for spaces. XGBoost writes spaces between the parts of a label.
    """
    alike = {name.replace(" ", "_"): name for name in given}
    alike |= {" ".join(map(str, label)): str(label) for label in labels if isinstance(label, tuple)}
    found = [
        name if name in given else alike.get(name, name if at in needless else None) for at, name in enumerate(known)
    ]
    absent = [name for name, column in zip(known, found, strict=True) if column is None]
    if absent:
        raise InputError(f"the data lacks the columns {absent}.", "The model was fitted on them.")
    return tuple(column for column in found if column is not None)
