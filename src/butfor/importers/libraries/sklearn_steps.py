"""scikit-learn's transformers. Each maps columns to columns, and each column depends on one raw feature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from butfor.errors import UnsupportedModelError
from butfor.importers.fold.column import Column, Values, in_numbers, in_single, last_where, reached
from butfor.importers.registry import read_step, register_step
from butfor.model.scores import UNIT_HALF, UNIT_SINGLE


def working_type(columns: list[Column]) -> np.dtype[Any]:
    """The floating-point type in which scikit-learn transforms these columns together."""
    some = any(column.single for column in columns)
    return np.dtype(np.float32 if some and all(column.single or column.short for column in columns) else np.float64)


def may_work_in_half(columns: list[Column]) -> bool:
    """Whether scikit-learn transforms these columns together in float16, as long as no answer needs more digits."""
    return any(column.half for column in columns) and all(column.half or column.short for column in columns)


def refuse_half(step: Any, columns: list[Column]) -> None:
    """Refuse a step whose result depends on whether it works in float16."""
    if may_work_in_half(columns):
        raise UnsupportedModelError(
            f"{type(step).__name__} gets columns of float16.",
            "It rounds to so few digits, unless an answer makes the table float32.",
            "Give float32: X.astype('float32').",
        )


def stacked(columns: list[Column]) -> list[Column]:
    """Columns that are put into one array. The array is float32 only if all of them become that."""
    if all(column.half or column.short for column in columns):
        return columns
    single = working_type(columns) == np.float32
    convert = in_single if single else _doubled
    return [column.map(convert, none=column.none, single=single, half=False) for column in columns]


def _side_by_side(step: Any, pieces: list[list[Column]]) -> list[Column]:
    """What a step puts beside each other: in one array, or in a data frame, in which each column keeps its type."""
    from sklearn.utils._set_output import _get_output_config

    library = _get_output_config("transform", step)["dense"]
    if library == "default":
        return stacked(_passed([column for piece in pieces for column in _in_one_type(piece)]))
    return [_in_frame(library, column) for piece in pieces for column in piece]


def _in_one_type(columns: list[Column]) -> list[Column]:
    """Columns of a data frame that becomes an array. Of booleans beside numbers, pandas makes objects, and steps float64."""
    boolean = [column.boolean for column in columns]
    if all(boolean) or not any(boolean):
        return columns
    return [column.map(_doubled, none=column.none, single=False, half=False) for column in columns]


def _in_frame(library: str, column: Column) -> Column:
    """A column in a data frame of a library. Steps make float64 of the float32 numbers of polars."""
    if column.half if library == "polars" else column.widened == "another library":
        raise UnsupportedModelError(
            f"set_output puts columns of {'float16' if column.half else 'float32 of another library'} into {library}.",
            "Which type they have there depends on the columns beside them.",
            "Give the data as float64.",
        )
    if library == "polars" and (column.single or column.widened):
        return column.map(_doubled, none=column.none, single=False, widened="another library")
    return column


def _doubled(x: Values) -> Values:
    return x.astype(np.float64) if x.dtype == np.float32 else x


def _affine(
    columns: list[Column], function: Callable[[int, Values], Values], slope: Callable[[int], float]
) -> list[Column]:
    kind = working_type(columns)
    single, half = kind == np.float32, may_work_in_half(columns)
    unit = UNIT_HALF if half else UNIT_SINGLE if single else 0.0
    out = []
    for i, column in enumerate(columns):
        step = partial(_in_type, function, i, kind)
        blur = max(unit, column.blur)
        out.append(column.map(step, slope=column.slope * slope(i), single=single, half=half, blur=blur))
    return out


def _in_type(function: Callable[[int, Values], Values], i: int, kind: np.dtype[Any], x: Values) -> Values:
    return function(i, in_numbers(x).astype(kind))


def standard_scaler(step: Any, columns: list[Column]) -> list[Column]:
    """(x - mean) / scale; before scikit-learn 1.8 in float64, even where x is float32."""
    import sklearn

    rounds_first = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8)
    transform = partial(_standardised, step, rounds_first, _are_sparse(columns))
    return _affine(columns, transform, lambda i: 1.0 / float(step.scale_[i]) if step.with_std else 1.0)


def _are_sparse(columns: list[Column]) -> tuple[bool, ...]:
    return tuple(column.sparse is not None for column in columns)


def _standardised(step: Any, rounds_first: bool, sparse: tuple[bool, ...], i: int, x: Values) -> Values:
    if step.with_mean:
        x -= step.mean_[i].astype(x.dtype if rounds_first else np.float64)
    if step.with_std and sparse[i]:
        x *= 1.0 / step.scale_[i]
    elif step.with_std:
        x /= step.scale_[i].astype(x.dtype if rounds_first else np.float64)
    return x


def _divide(x: Values, scale: float, *, sparse: bool) -> None:
    """Divide in place. scikit-learn multiplies the numbers of a sparse table by the reciprocal, which rounds otherwise."""
    if sparse:
        x *= 1.0 / scale
    else:
        x /= scale


def robust_scaler(step: Any, columns: list[Column]) -> list[Column]:
    """(x - center) / scale."""
    transform = partial(_centred, step, _are_sparse(columns))
    return _affine(columns, transform, lambda i: 1.0 / float(step.scale_[i]) if step.with_scaling else 1.0)


def _centred(step: Any, sparse: tuple[bool, ...], i: int, x: Values) -> Values:
    if step.with_centering:
        x -= step.center_[i]
    if step.with_scaling:
        _divide(x, step.scale_[i], sparse=sparse[i])
    return x


def min_max_scaler(step: Any, columns: list[Column]) -> list[Column]:
    """x * scale + min, clipped if the scaler clips."""
    out = _affine(columns, partial(_fitted_in, step), lambda i: float(step.scale_[i]))
    return [clipped(column, step.feature_range, "MinMaxScaler(clip=True)") for column in out] if step.clip else out


def _fitted_in(step: Any, i: int, x: Values) -> Values:
    x *= step.scale_[i]
    x += step.min_[i]
    return x


def max_abs_scaler(step: Any, columns: list[Column]) -> list[Column]:
    """x / scale."""
    out = _affine(columns, partial(_divided, step, _are_sparse(columns)), lambda i: 1.0 / float(step.scale_[i]))
    return (
        [clipped(column, (-1.0, 1.0), "MaxAbsScaler(clip=True)") for column in out]
        if getattr(step, "clip", False)
        else out
    )


def _divided(step: Any, sparse: tuple[bool, ...], i: int, x: Values) -> Values:
    _divide(x, step.scale_[i], sparse=sparse[i])
    return x


def clipped(column: Column, ends: tuple[float, float], by: str) -> Column:
    """A column that stays between two values. It bends there."""
    plain = column.table is None and column.edges is None and column.affine
    bends = partial(reached, column, ends) if plain else None
    return column.map(partial(_between, ends), affine=False, bends=bends, bent_by=by)


def _between(ends: tuple[float, float], x: Values) -> Values:
    return np.clip(x, *ends)


def simple_imputer(step: Any, columns: list[Column]) -> list[Column]:
    """A missing value becomes the column's statistic. In text, None is not NaN: only one of them is missing to it.

    With `add_indicator`, columns follow that say which values were missing.
    """
    if not is_nan(step.missing_values) and step.missing_values is not None:
        raise UnsupportedModelError(
            f"SimpleImputer(missing_values={step.missing_values!r}) treats a value as missing.",
            "butfor takes missing values as NaN or None.",
            "Replace that value by NaN in the data.",
        )
    refuse_half(step, columns)
    marked = partial(_marked, none=step.missing_values is None)
    kept = step.strategy in ("most_frequent", "constant")  # others make floating-point numbers of all columns
    out, columns = [], stacked(columns)  # a filling is put in after the columns are one array
    for column, filling in zip(columns, step.statistics_, strict=True):
        if is_nan(filling):
            if step.keep_empty_features:
                out.append(column)
            continue
        unseen = (
            column.none and step.missing_values is not None and getattr(step, "_fit_dtype", None) == np.dtype(object)
        )
        out.append(
            column if unseen else column.map(partial(fill_missing, filling, marked), short=kept and column.short)
        )
    if step.add_indicator:
        out += [missing_flag(columns[i], marked) for i in step.indicator_.features_]
    return out


def missing(x: Values) -> Values:
    """Which values are missing, NaN or None: 1 for each, and 0 for others."""
    if x.dtype == object:
        return np.array([v is None or v != v for v in x], dtype=np.float64)
    return np.isnan(x).astype(np.float64)


def _marked(x: Values, *, none: bool) -> Values:
    """Which values an imputer takes for missing: those that are None, or those that are NaN. Numbers are only NaN."""
    if x.dtype == object:
        return np.array([v is None if none else v is not None and v != v for v in x], dtype=np.float64)
    return missing(x)


def missing_flag(column: Column, lost: Callable[[Values], Values] = missing) -> Column:
    """A column that says whether another was missing."""
    edges = None if column.table is not None else np.empty(0)
    return replace(column.map(lost), edges=edges, slope=0.0, single=column.single)


def fill_missing(filling: Any, lost: Callable[[Values], Values], x: Values) -> Values:
    """The values of a column, with a filling for missing ones."""
    out = x.copy()
    out[lost(x).astype(bool)] = filling
    return out


def is_nan(value: Any) -> bool:
    """Whether a value is NaN, which None is not."""
    return isinstance(value, float | np.floating) and bool(value != value)


def bins(step: Any, columns: list[Column]) -> list[Column]:
    """KBinsDiscretizer: a number becomes its bin, as an ordinal code or one-hot encoded."""
    refuse_half(step, columns)
    kind = working_type(columns) if step.dtype is None else np.dtype(step.dtype)
    out = []
    for column, edges in zip(columns, step.bin_edges_, strict=True):
        inner = np.asarray(edges[1:-1], dtype=np.float64)
        raw = column.edges  # an already binned column changes only at its edges, and need not rise
        if column.table is None and raw is None:
            raw = last_where(column, _less(inner, kind), len(inner))
        binned = replace(
            column,
            edges=raw,
            slope=0.0,
            single=kind == np.float32,
            refuses_missing=column.refuses_missing or np.isnan(column.missing_value()),
        )
        if step.encode == "ordinal":
            out.append(binned.map(partial(_bin, inner, kind)))
        else:
            sparse = step.encode == "onehot"
            out += [binned.map(partial(_in_bin, inner, kind, k)).put(sparse=sparse) for k in range(len(inner) + 1)]
    return out


def _less(edges: Values, kind: np.dtype[Any]) -> Callable[[Values], Values]:
    return lambda x: x.astype(kind) < edges


def _bin(edges: Values, kind: np.dtype[Any], x: Values) -> Values:
    """The number of a value's bin. scikit-learn turns the value into its own type before it compares."""
    return np.asarray(np.searchsorted(edges, in_numbers(x).astype(kind), side="right"), dtype=kind)


def _in_bin(edges: Values, kind: np.dtype[Any], k: int, x: Values) -> Values:
    return np.asarray(_bin(edges, kind, x) == k, dtype=kind)


def column_transformer(step: Any, columns: list[Column]) -> list[Column]:
    """Each transformer on its own columns, side by side."""
    out: list[list[Column]] = []
    for name, inner, _ in step.transformers_:
        chosen = [columns[i] for i in step._transformer_to_input_indices.get(name, [])]
        if not chosen or (isinstance(inner, str) and inner == "drop"):
            continue
        made = chosen if isinstance(inner, str) else read_step(inner, chosen)
        out.append(_weighted(step, name, made))
    return [column.put(sparse=bool(step.sparse_output_)) for column in _side_by_side(step, out)]


def _weighted(step: Any, name: str, columns: list[Column]) -> list[Column]:
    """What one of several transformers makes, times the weight that the user gave it."""
    weight = (step.transformer_weights or {}).get(name)
    return columns if weight is None else [_times(step, weight, column) for column in columns]


def _times(step: Any, weight: Any, column: Column) -> Column:
    """A column times the weight of a transformer, in the type that this product has."""
    by = f"{type(step).__name__}(transformer_weights)"
    if column.half or column.widened or (column.short and not isinstance(weight, float)):
        raise UnsupportedModelError(
            f"{by} multiplies columns of a type of few bytes.",
            "The products round, or wrap around.",
            "Give the data as float64 or int64.",
        )
    few = column.table is not None or column.edges is not None
    if not weight > 0 and not few and not column.turns:
        raise UnsupportedModelError(
            f"{by} multiplies columns by {weight:g}.",
            "A column must never be turned around, so a weight must be above 0.",
            "Take such a weight into the data. Until then, the swarm searches.",
        )
    single = column.single and _product(weight, True, np.ones(1)).dtype == np.float32
    blur = max(UNIT_SINGLE, column.blur) if single else column.blur
    product = partial(_product, weight, column.single)
    return column.map(product, slope=column.slope * float(weight), single=single, short=False, blur=blur)


def _product(weight: Any, single: bool, x: Values) -> Values:
    x = in_numbers(x)
    return np.asarray((x.astype(np.float32) if single else x) * weight)


def _passed(columns: list[Column]) -> list[Column]:
    """Columns side by side, of which those that no step has changed keep the type of their table."""
    held = [column.as_held for column in columns]
    if working_type(held) == np.float32 and any(column.widened == "pandas" for column in columns):
        raise UnsupportedModelError(
            "nullable float32 columns of pandas are passed through.",
            "scikit-learn makes float32 or objects of them, which depends on how many there are.",
            "Give float32 of numpy: X.astype('float32').",
        )
    return held


def pipeline_of_steps(step: Any, columns: list[Column]) -> list[Column]:
    """A pipeline of transformers only."""
    for _, inner in step.steps:
        if inner is not None and inner != "passthrough":
            columns = read_step(inner, columns)
    return columns


def feature_union(step: Any, columns: list[Column]) -> list[Column]:
    """Several transformers on the same columns, side by side."""
    out: list[list[Column]] = []
    for name, inner in step.transformer_list:
        if inner == "drop":
            continue
        out.append(_weighted(step, name, columns if inner == "passthrough" else read_step(inner, columns)))
    sparse = any(column.sparse is not None for piece in out for column in piece)
    return [column.put(sparse=sparse) for column in _side_by_side(step, out)]


def selector(step: Any, columns: list[Column]) -> list[Column]:
    """A selection of columns."""
    return [column for column, kept in zip(columns, step.get_support(), strict=True) if kept]


register_step("StandardScaler", standard_scaler)
register_step("RobustScaler", robust_scaler)
register_step("MinMaxScaler", min_max_scaler)
register_step("MaxAbsScaler", max_abs_scaler)
register_step("SimpleImputer", simple_imputer)
register_step("KBinsDiscretizer", bins)
register_step("ColumnTransformer", column_transformer)
register_step("Pipeline", pipeline_of_steps)
register_step("FeatureUnion", feature_union)
for name in ("VarianceThreshold", "SelectKBest", "SelectPercentile", "SelectFromModel", "RFE", "RFECV"):
    register_step(name, selector)
