"""Encoders of category_encoders and feature-engine: each level of a column becomes numbers, whatever else is there.

Nothing of an encoder is computed anew. It is asked about every level, one column after the other.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from butfor.errors import InputError, UnsupportedModelError
from butfor.importers.fold.column import Column, NeedsLevels, Values
from butfor.importers.fold.recoded import few_values, is_binned, recoded
from butfor.importers.registry import register_step

BY_LEVEL = {
    "category_encoders": (
        "OrdinalEncoder", "TargetEncoder", "WOEEncoder", "CountEncoder", "CatBoostEncoder", "JamesSteinEncoder",
        "MEstimateEncoder", "LeaveOneOutEncoder", "GLMMEncoder", "QuantileEncoder",
        "OneHotEncoder", "BinaryEncoder", "BaseNEncoder", "GrayEncoder", "RankHotEncoder", "SummaryEncoder",
        "SumEncoder", "HelmertEncoder", "BackwardDifferenceEncoder", "PolynomialEncoder",
    ),
    "feature_engine": (
        "OrdinalEncoder", "MeanEncoder", "CountFrequencyEncoder", "WoEEncoder", "DecisionTreeEncoder",
        "OneHotEncoder", "RareLabelEncoder",
    ),
}  # fmt: skip
"""For each library, the encoders in which a new column depends on one column only."""


def by_level(step: Any, columns: list[Column]) -> list[Column]:
    """Each chosen column becomes one or several, level by level, as the encoder itself maps them. The others stay."""
    own = chosen(step, columns)
    bare = {
        column.feature: ()
        for i, column in enumerate(columns)
        if i in own and column.table is None and not is_binned(column)
    }
    if bare:
        raise NeedsLevels(bare, ordered=False)
    if not own:
        return columns
    levels = {i: few_values(columns[i]) for i in own}
    names, outputs, refused = _encoded(step, levels, len(columns))
    ends = np.cumsum([0, *(len(some) for some in levels.values())])
    blocks = {i: slice(start, end) for i, start, end in zip(levels, ends, ends[1:], strict=False)}
    out = []
    for k, name in enumerate(names):
        i = _origin(name, list(step.feature_names_in_), [outputs[block, k] for block in blocks.values()], own)
        if i in own:
            out.append(_encoded_column(columns[i], levels[i], outputs[blocks[i], k], refuses=i in refused))
        else:
            out.append(columns[i])
    return out


def chosen(step: Any, columns: list[Column]) -> list[int]:
    """The columns that the step works on."""
    names = list(step.feature_names_in_)
    own = getattr(step, "cols", None) or getattr(step, "variables_", [])
    if len(names) != len(columns):
        raise InputError(f"{type(step).__name__} was fitted on {len(names)} columns.", f"It gets {len(columns)}.")
    return [i for i, name in enumerate(names) if name in own]


def _encoded(step: Any, levels: dict[int, Values], width: int) -> tuple[list[str], Values, list[int]]:
    """The names of the columns that the encoder makes, their values, and the columns in which it refuses a missing value.

    For each chosen column there is a block of rows, one per level. Beside it, the others hold their first level.
    """
    try:
        return *_outputs(step, _frame(step, levels, width)), []
    except (ValueError, TypeError):
        open_yet = [i for i, some in levels.items() if some[-1] is None or some[-1] != some[-1]]
        known = {i: np.append(some[:-1], some[:1]) if i in open_yet else some for i, some in levels.items()}
        return *_outputs(step, _frame(step, known, width)), open_yet


def _frame(step: Any, levels: dict[int, Values], width: int) -> Any:
    import pandas as pd

    height = sum(map(len, levels.values()))
    frame: dict[str, Any] = {}
    begin = 0
    for i, name in zip(range(width), step.feature_names_in_, strict=True):
        if i not in levels:
            frame[name] = np.zeros(height)
            continue
        values = levels[i].tolist()
        after = height - begin - len(values)
        frame[name] = [values[0]] * begin + values + [values[0]] * after
        begin += len(values)
    return pd.DataFrame(frame)


def _outputs(step: Any, rows: Any) -> tuple[list[str], Values]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs = step.transform(rows)
    if not hasattr(outputs, "columns"):
        raise UnsupportedModelError(
            f"{type(step).__name__} returns an array.",
            "The names of its columns are needed.",
            "Leave return_df at its default.",
        )
    return list(outputs.columns), np.asarray(outputs, dtype=object)


def _origin(name: Any, known: list[Any], blocks: list[Values], own: list[int]) -> int:
    """The column that a new one is made of: of the same name, or the only one that changes it."""
    if name in known:
        return known.index(name)
    changing = [i for i, block in zip(own, blocks, strict=True) if _varies(block)]
    return changing[0] if changing else own[0]


def _varies(values: Values) -> bool:
    first = values[0]
    return any(value != first and not (value != value and first != first) for value in values)


def _encoded_column(column: Column, levels: Values, values: Values, *, refuses: bool) -> Column:
    """A column whose levels have become these values: numbers, or other words."""
    if not any(isinstance(value, str) for value in values):
        values = values.astype(np.float64)
        if refuses:
            values[-1] = np.nan
    changes: dict[str, Any] = {
        "single": False,
        "refuses_missing": column.refuses_missing or refuses,
        "sparse": None,
    }
    return recoded(column, levels, values, **changes)


for library, names in BY_LEVEL.items():
    for name in names:
        register_step(f"{library}.{name}", by_level)
