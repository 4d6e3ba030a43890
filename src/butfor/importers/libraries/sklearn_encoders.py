"""scikit-learn's encoders of levels. Nothing of an encoder is computed anew: it is asked about every level, and every bin."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from butfor.errors import InputError, UnsupportedModelError
from butfor.importers.fold.column import Column, NeedsLevels, Values
from butfor.importers.fold.recoded import few_values, is_binned, recoded
from butfor.importers.libraries.sklearn_steps import is_nan
from butfor.importers.registry import register_step
from butfor.space.frames import is_missing


def encoder(step: Any, columns: list[Column], width: int = 1) -> list[Column]:
    """Encoders of levels: tables over levels, made by encoding each level. Bins of numbers are encoded as levels are.

    Each column becomes `width` columns, or as many as a one-hot encoder makes of it.
    """
    demand_levels(step, columns)
    tables = [few_values(column) for column in columns]
    known = [list(categories) for categories in step.categories_]
    inputs = np.empty((max(map(len, tables)), len(columns)), dtype=object)
    refused = []
    for i, (column, table, categories) in enumerate(zip(columns, tables, known, strict=True)):
        lost = None if column.none and None in categories else table[-1]
        inputs[:, i] = categories[0]
        inputs[: len(table), i] = [_in_categories(value, categories) for value in [*table[:-1], lost]]
        if not _unknown_is_an_error(step):
            refused.append(False)
            continue
        refused.append(not any(_alike(lost, level) for level in categories))
        if refused[-1]:
            inputs[len(table) - 1, i] = categories[0]
        _demand_known(step, column, table[:-1], categories)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs = step.transform(inputs)
    outputs = np.asarray(outputs.toarray() if hasattr(outputs, "toarray") else outputs)
    widths = _widths(step, len(columns), width)
    sparse = type(step).__name__ == "OneHotEncoder" and bool(step.sparse_output)
    single = outputs.dtype == np.float32
    out, start = [], 0
    for column, table, count, refuses in zip(columns, tables, widths, refused, strict=True):
        for k in range(start, start + count):
            values = outputs[: len(table), k].astype(np.float64)
            if refuses:
                values[-1] = np.nan
            refusing = column.refuses_missing or refuses
            out.append(recoded(column, table, values, refuses_missing=refusing, single=single).put(sparse=sparse))
        start += count
    return out


def _demand_known(step: Any, column: Column, values: Values, categories: list[Any]) -> None:
    """Refuse levels that a strict encoder was not fitted on, and bins that held no row when it was."""
    unknown = [value for value in values if value not in categories]
    if unknown and is_binned(column):
        raise UnsupportedModelError(
            f"{type(step).__name__} refuses rows in the bin {unknown[0]:g}, which held none when it was fitted.",
            "It must take every bin.",
            "Fit it with handle_unknown='ignore', or search given rows with bf.candidates(rows).",
        )
    if unknown:
        raise InputError(
            f"{type(step).__name__} does not know {unknown[0]!r}, which is in the data or in the declared levels.",
            f"It knows {categories[:8]}.",
            "Give the data the model was fitted on, or fit with handle_unknown='ignore'.",
        )


def demand_levels(step: Any, columns: list[Column]) -> None:
    """Raise `NeedsLevels` if the encoder gets numbers, or knows more or fewer levels than the space.

    A type may declare categories that the data does not hold. An encoder fitted on the data does not know those.
    """
    ordered = type(step).__name__ == "OrdinalEncoder" and not isinstance(step.categories, str)
    wanted = {}
    for column, categories in zip(columns, step.categories_, strict=True):
        plain = tuple(v for v in _as_held(categories) if not is_missing(v))
        if is_binned(column):
            continue
        if column.table is None:
            _demand_raw(step, column, plain)
            wanted[column.feature] = tuple(int(v) if isinstance(v, float) and v == int(v) else v for v in plain)
        elif not set(plain) <= set(column.table.tolist()):
            wanted[column.feature] = (*plain, *(v for v in column.table[:-1].tolist() if v not in plain))
        elif ordered and not column.declared and column.table[: len(plain)].tolist() != list(plain):
            wanted[column.feature] = plain
        elif _unknown_is_an_error(step) and not column.declared and not set(column.table[:-1].tolist()) <= set(plain):
            wanted[column.feature] = tuple(v for v in column.table[:-1].tolist() if v in plain)
    if wanted:
        raise NeedsLevels(wanted, ordered)


def _as_held(categories: Any) -> list[Any]:
    """What an encoder knows, as a table holds it. Of times, numpy makes whole numbers or times, as their unit is."""
    found = np.asarray(categories)
    if found.dtype.kind not in "mM":
        return list(found.tolist())
    import pandas as pd  # no other table has categories that are times

    return list(pd.Series(found))


def _demand_raw(step: Any, column: Column, known: tuple[Any, ...]) -> None:
    """Refuse numbers that an earlier step has changed: what the encoder knows is not what the table holds."""
    numbers = np.array([value for value in known if isinstance(value, int | float)], dtype=np.float64)
    reached = column.at(numbers) if len(numbers) else numbers
    if not np.array_equal(reached, numbers.astype(reached.dtype)):
        raise UnsupportedModelError(
            f"{type(step).__name__} gets numbers that another step has changed.",
            "It must get them as they are in the table, or bins of them.",
            "Bin them with KBinsDiscretizer, or let the swarm search.",
        )


def _in_categories(value: Any, categories: list[Any]) -> Any:
    """The encoder's own object for an equal value (1 and 1.0 are one level)."""
    return next((known for known in categories if _alike(known, value)), value)


def _alike(value: Any, other: Any) -> bool:
    """Whether two values are equal, or both NaN. None is not NaN."""
    return bool(value == other) or (is_nan(value) and is_nan(other))


def _unknown_is_an_error(step: Any) -> bool:
    """Whether the encoder raises an error for a level that it was not fitted on."""
    return getattr(step, "handle_unknown", "ignore") == "error"


def _widths(step: Any, count: int, width: int) -> list[int]:
    """How many columns each encoded column becomes."""
    if type(step).__name__ != "OneHotEncoder":
        return [width] * count
    return [int(width) for width in step._n_features_outs]


def target_encoder(step: Any, columns: list[Column]) -> list[Column]:
    """A level becomes the mean answer of its rows. With several classes, each has a column."""
    several = len(step.classes_) if step.target_type_ == "multiclass" else 1
    return encoder(step, columns, width=several)


register_step("OneHotEncoder", encoder)
register_step("OrdinalEncoder", encoder)
register_step("TargetEncoder", target_encoder)
