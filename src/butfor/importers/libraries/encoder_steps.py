"""Steps of category_encoders and feature-engine that map each level of a column to a number, whatever else is there."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from butfor.errors import InputError, UnsupportedModelError
from butfor.importers.fold.column import Column, NeedsLevels, Values
from butfor.importers.libraries.sklearn_bent_steps import bent
from butfor.importers.libraries.sklearn_steps import fill_missing
from butfor.importers.registry import register_step

BY_LEVEL = {
    "category_encoders": (
        "OrdinalEncoder", "TargetEncoder", "WOEEncoder", "CountEncoder", "CatBoostEncoder", "JamesSteinEncoder",
        "MEstimateEncoder", "LeaveOneOutEncoder", "GLMMEncoder",
    ),
    "feature_engine": ("OrdinalEncoder", "MeanEncoder", "CountFrequencyEncoder", "WoEEncoder"),
}  # fmt: skip
"""For each library, the encoders that turn one column into one column."""

LOGARITHMS: dict[str, Callable[[Values], Values]] = {"e": np.log, "10": np.log10}


def by_level(step: Any, columns: list[Column]) -> list[Column]:
    """Each chosen column becomes numbers, level by level, as the encoder itself maps them. The others stay."""
    chosen = _chosen(step, columns)
    bare = {column.feature: () for column, own in zip(columns, chosen, strict=True) if own and column.table is None}
    if bare:
        raise NeedsLevels(bare, ordered=False)
    if not any(chosen):
        return columns
    outputs, refuses = _encoded(step, columns, chosen)
    out = []
    for i, (column, own) in enumerate(zip(columns, chosen, strict=True)):
        if not own:
            out.append(column)
            continue
        assert column.table is not None
        values = outputs[: len(column.table), i].astype(np.float64)
        if refuses:
            values[-1] = np.nan
        out.append(
            replace(column, table=values, single=False, refuses_missing=column.refuses_missing or refuses, sparse=None)
        )
    return out


def _chosen(step: Any, columns: list[Column]) -> list[bool]:
    """Which columns the step works on."""
    names = list(step.feature_names_in_)
    own = getattr(step, "cols", None) or getattr(step, "variables_", [])
    if len(names) != len(columns):
        raise InputError(f"{type(step).__name__} was fitted on {len(names)} columns.", f"It gets {len(columns)}.")
    return [name in own for name in names]


def _encoded(step: Any, columns: list[Column], chosen: list[bool]) -> tuple[Values, bool]:
    """What the encoder makes of every level, and whether it refuses a missing value.

    Row k holds level k of every column, and the last row of a column is its missing value.
    """
    import pandas as pd

    height = max(
        len(column.table) for column, own in zip(columns, chosen, strict=True) if own and column.table is not None
    )
    frame = {}
    for name, column, own in zip(step.feature_names_in_, columns, chosen, strict=True):
        if own and column.table is not None:
            levels = column.table.tolist()
            frame[name] = levels + [levels[0]] * (height - len(levels))
        else:
            frame[name] = [0.0] * height
    rows = pd.DataFrame(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _outputs(step, rows, columns), False
        except (ValueError, TypeError):
            pass
        for name, column, own in zip(step.feature_names_in_, columns, chosen, strict=True):
            if own and column.table is not None:
                rows[name] = [
                    *frame[name][: len(column.table) - 1],
                    *[column.table[0]] * (height - len(column.table) + 1),
                ]
        return _outputs(step, rows, columns), True


def _outputs(step: Any, rows: Any, columns: list[Column]) -> Values:
    outputs = step.transform(rows)
    if outputs.shape[1] != len(columns):
        raise UnsupportedModelError(
            f"{type(step).__name__} turned {len(columns)} columns into {outputs.shape[1]}.",
            "Each column must become one.",
            "Leave drop_invariant and the like at their defaults.",
        )
    return np.asarray(outputs)


def imputer(step: Any, columns: list[Column]) -> list[Column]:
    """A missing value of a chosen column becomes a number or a word."""
    out = []
    for name, column, own in zip(step.feature_names_in_, columns, _chosen(step, columns), strict=True):
        out.append(column.map(partial(fill_missing, step.imputer_dict_[name])) if own else column)
    return out


def logarithm(step: Any, columns: list[Column]) -> list[Column]:
    """The logarithm of the chosen columns, which may be shifted first."""
    out = []
    for name, column, own in zip(step.feature_names_in_, columns, _chosen(step, columns), strict=True):
        shift = getattr(step, "C_", 0.0)
        shift = shift[name] if isinstance(shift, dict) else shift
        out.append(bent(column, partial(_logarithm, step.base, shift), type(step).__name__) if own else column)
    return out


def _logarithm(base: str, shift: float, x: Values) -> Values:
    return LOGARITHMS[base](x + shift)


def dropped(step: Any, columns: list[Column]) -> list[Column]:
    """The columns that the step does not drop."""
    return [
        column
        for name, column in zip(step.feature_names_in_, columns, strict=True)
        if name not in step.features_to_drop_
    ]


for library, names in BY_LEVEL.items():
    for name in names:
        register_step(f"{library}.{name}", by_level)
for name in ("MeanMedianImputer", "CategoricalImputer", "ArbitraryNumberImputer"):
    register_step(f"feature_engine.{name}", imputer)
for name in ("LogTransformer", "LogCpTransformer"):
    register_step(f"feature_engine.{name}", logarithm)
register_step("feature_engine.DropFeatures", dropped)
