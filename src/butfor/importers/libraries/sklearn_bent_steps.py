"""scikit-learn's transformers that bend one column and never turn it around.

Trees see only the order of a column, so cuts move through such a step exactly. A linear model after it is additive.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import cbrt, expit

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.bent import bent
from butfor.importers.fold.calculated import of_formulas
from butfor.importers.fold.checked_formulas import check_formulas
from butfor.importers.fold.column import Column, Values, reached
from butfor.importers.libraries.sklearn_steps import refuse_half, stacked, working_type
from butfor.importers.registry import register_step
from butfor.model.float_order import LARGEST_FLOAT
from butfor.model.formula import Formula

RISING: tuple[Callable[[Any], Any], ...] = (
    np.log, np.log1p, np.log2, np.log10, np.sqrt, np.cbrt, cbrt, np.exp, np.expm1, np.exp2, np.arcsinh, np.sinh,
    np.arctan, np.tanh, expit,
)  # fmt: skip
"""Functions of a number that never fall where they are defined."""


INFLECTED: tuple[Callable[[Any], Any], ...] = (
    np.cbrt, cbrt, np.arcsinh, np.sinh, np.arctan, np.tanh, expit,
)  # fmt: skip
"""Those of them that are convex on one side of 0, and concave on the other. The others are one of both everywhere."""


CLOSE_NUMBERS = np.array([1.3, 6.5])[:, None] + np.spacing([[1.3], [6.5]]) * np.arange(200)
"""Numbers that follow each other as closely as numbers can."""


END_OF_QUANTILES = 1e-7
"""How close to its ends scikit-learn's QuantileTransformer takes a number for the end."""


def function_transformer(step: Any, columns: list[Column]) -> list[Column]:
    """The identity, and functions that are known to rise. What another function does is not known."""
    if step.func is None:
        return columns
    name = f"FunctionTransformer({getattr(step.func, '__name__', step.func)})"
    if not any(step.func is known for known in RISING) or step.kw_args:
        return _calculating(step, columns, name)
    refuse_half(step, columns)
    if falls(step.func):
        raise UnsupportedModelError(
            f"{name} falls between neighbouring numbers, by a last bit, as this processor computes it.",
            "A step must never fall.",
            "Use scipy.special.cbrt." if step.func is np.cbrt else "Apply it to the data beforehand.",
        )
    if any(column.short or column.widened == "pandas" for column in columns):
        raise UnsupportedModelError(
            f"{name} gets booleans, whole numbers of one or two bytes, or nullable float32.",
            "It computes them in float16 or float32.",
            "Give the data as float64 or int64.",
        )
    columns = [column.as_held for column in columns]
    at = (0.0,) if any(step.func is known for known in INFLECTED) else ()
    return [bent(column, step.func, name, at) for column in columns]


def falls(function: Callable[[Values], Values]) -> bool:
    """Whether a function that should rise falls by a last bit here: `np.cbrt` does where numpy leaves it to the C library."""
    return bool((np.diff(function(CLOSE_NUMBERS)) < 0).any())


def _calculating(step: Any, columns: list[Column], name: str) -> list[Column]:
    """A function that only calculates: it is called with names in place of numbers, and tells its formulas."""
    names = getattr(step, "feature_names_in_", None)
    row = [np.array([Formula.column(i)], dtype=object) for i in range(len(columns))]
    try:
        made = step.func(_in_table(row, names), **(step.kw_args or {}))
        formulas = np.asarray(made, dtype=object).reshape(1, -1)[0].tolist()
        known = bool(formulas) and all(isinstance(formula, Formula) and formula.quotient() for formula in formulas)
    except Exception:  # whatever it does with numbers, it does not do it with formulas, or with so many columns
        known = False
    if not known:
        raise UnsupportedModelError(
            f"{name} cannot be folded into raw columns.",
            f"The known functions are {', '.join(one.__name__ for one in RISING)}, and those that only "
            "calculate quotients of sums of columns.",
            "Apply it to the data beforehand.",
        )
    refuse_half(step, columns)
    check_formulas(columns, formulas, partial(_transformed_columns, step, names), name)
    out = of_formulas(columns, formulas)
    return out if hasattr(made, "columns") else stacked(out)


def _in_table(columns: list[Values], names: Any) -> Any:
    """Columns as the function gets them: in a data frame, if the step was fitted on one."""
    if names is None:
        return np.column_stack(columns)
    import pandas as pd

    return pd.DataFrame(
        {name: pd.Series(column, dtype=column.dtype) for name, column in zip(names, columns, strict=True)}
    )


def _transformed_columns(step: Any, names: Any, columns: list[Values]) -> list[Values]:
    """What the step itself makes of columns."""
    made = step.transform(_in_table(columns, names))
    table = np.asarray(made.toarray() if hasattr(made, "toarray") else made)
    return list(table.reshape(len(table), -1).T)


def elementwise(step: Any, columns: list[Column]) -> list[Column]:
    """PowerTransformer and QuantileTransformer: each column by itself, as the transformer computes it."""
    name = type(step).__name__
    if any(column.sparse is not None for column in columns):
        raise UnsupportedModelError(
            f"{name} gets a sparse table.", "It treats zeros that were left out differently.", "Use a dense one."
        )
    refuse_half(step, columns)
    kind = working_type(columns)
    single = kind == np.float32
    return [_elementwise(step, i, column, kind, single=single) for i, column in enumerate(columns)]


def _elementwise(step: Any, i: int, column: Column, kind: np.dtype[Any], *, single: bool) -> Column:
    one = _alone(step, i)
    out = bent(column, partial(_one_column, one, kind), type(step).__name__, _knots(one), single=single)
    if getattr(step, "output_distribution", "") != "normal" or out.bends is None:
        return out
    return replace(out, bends=partial(_with_middle, out, out.bends))


def _alone(step: Any, i: int) -> Any:
    """The transformer as if it had been fitted on column `i` alone. It takes each column by itself."""
    one = copy(step)
    one.__dict__.pop("feature_names_in_", None)
    one.n_features_in_ = 1
    if hasattr(step, "quantiles_"):
        one.quantiles_ = step.quantiles_[:, [i]]
        return one
    one.lambdas_ = step.lambdas_[[i]]
    if step.standardize:
        one._scaler = copy(step._scaler)
        one._scaler.__dict__.pop("feature_names_in_", None)
        one._scaler.n_features_in_ = 1
        one._scaler.mean_, one._scaler.scale_ = step._scaler.mean_[[i]], step._scaler.scale_[[i]]
    return one


def _knots(step: Any) -> tuple[float, ...]:
    """The values between which the transformer of one column is convex, or concave. A power is one of both everywhere."""
    if not hasattr(step, "quantiles_"):
        return ()
    knots = step.quantiles_[:, 0].astype(np.float64)
    return (*knots, knots[0] + END_OF_QUANTILES, knots[-1] - END_OF_QUANTILES)


def _with_middle(column: Column, bends: Callable[[], FloatArray]) -> FloatArray:
    """Normal quantiles are concave below 0 and convex above it, and bend where they are cut off."""
    with np.errstate(over="ignore"):
        low, high = column.at(column.inside(np.array([-LARGEST_FLOAT, LARGEST_FLOAT])))
    return np.unique(np.concatenate([bends(), reached(column, [low, 0.0, np.nextafter(high, low)])]))


def _one_column(step: Any, kind: np.dtype[Any], x: Values) -> Values:
    """What the transformer of one column makes of some numbers."""
    some = np.where(x <= 0, np.nan, x) if getattr(step, "method", "") == "box-cox" else x
    rows = np.clip(some.astype(kind), np.finfo(kind).min, np.finfo(kind).max)[:, None]  # NaN stays
    return np.where(np.isnan(rows[:, 0]) & ~np.isnan(x), -np.inf, _transformed(step, rows))


def _transformed(step: Any, rows: Values) -> Values:
    """The transformed rows of one column. Numbers at which the transformer overflows become infinite."""
    try:
        return np.asarray(step.transform(rows))[:, 0]
    except ValueError:
        if len(rows) == 1:
            return np.copysign(np.inf, rows[:, 0])
        return np.concatenate([_transformed(step, part) for part in np.array_split(rows, 2)])


register_step("FunctionTransformer", function_transformer)
register_step("PowerTransformer", elementwise)
register_step("QuantileTransformer", elementwise)
