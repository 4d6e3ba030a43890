"""Steps of ONNX graphs before a model. Each maps columns to columns, as onnxruntime computes them in their types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import IntArray
from butfor.errors import InputTypeError, UnsupportedModelError
from butfor.importers.fold.column import Column, NeedsLevels, Values, as_it_is, in_numbers, in_single, last_where
from butfor.importers.libraries.sklearn_encoders import encoder
from butfor.importers.libraries.sklearn_steps import clipped, fill_missing, missing
from butfor.model.scores import UNIT_SINGLE

OF_SINGLE, OF_DOUBLE, OF_WHOLE, OF_TRUTH, OF_TEXT = (
    np.dtype(kind) for kind in (np.float32, np.float64, np.int64, np.bool_, object)
)
Said = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class TypedColumns:
    """Columns in one type: some numbers or texts per row, in an array of this `shape` per row."""

    columns: list[Column]
    kind: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def places(self) -> IntArray:
        """The number of the column at each place."""
        return np.arange(len(self.columns)).reshape(self.shape)

    def at(self, places: NDArray[Any]) -> TypedColumns:
        """The columns at these places."""
        return TypedColumns([self.columns[i] for i in np.ravel(places).tolist()], self.kind, np.shape(places))

    def each(self, function: Callable[[Column], Column], kind: np.dtype[Any] | None = None) -> TypedColumns:
        """A table of the same shape, column by column."""
        return TypedColumns([function(column) for column in self.columns], kind or self.kind, self.shape)

    def cast(self, kind: np.dtype[Any]) -> TypedColumns:
        """The same in another type."""
        if kind == self.kind:
            return self
        if OF_TEXT in (kind, self.kind):
            raise unread("Cast", "text becomes numbers, or numbers text")
        return self.each(partial(typed_column, kind=kind), kind)


def unread(operator: str, why: str) -> UnsupportedModelError:
    """The refusal of an operator that is known, for what it does."""
    return UnsupportedModelError(
        f"the operator {operator} of the ONNX file cannot be read: {why}.",
        "Each step must make columns of columns, one by one.",
        "Convert the model without this step, or let the swarm search: it needs only predictions.",
    )


def entered(column: Column, kind: np.dtype[Any]) -> Column:
    """A column of the user's table in the type of an input."""
    refuses = column.refuses_missing or kind.kind != "f"
    column = replace(column, half=False, short=False, refuses_missing=refuses)
    words = column.table is not None and column.table.dtype == object
    if kind == OF_TEXT and not words:
        raise InputTypeError(
            "the ONNX file reads text in a column that holds numbers.",
            "The data must be as the model was trained on.",
            "Write the numbers as text: X[column].astype(str).",
        )
    return column if kind == OF_TEXT else typed_column(column, kind)


def typed_column(column: Column, kind: np.dtype[Any]) -> Column:
    """A column of numbers in another type."""
    if kind == OF_SINGLE:
        blur = column.blur if column.single else max(column.blur, UNIT_SINGLE)
        return column.map(partial(_cast, OF_SINGLE), single=True, blur=blur)
    if kind == OF_DOUBLE:
        return column.map(partial(_cast, OF_DOUBLE), single=False)
    if kind == OF_TRUTH:
        if column.table is None and column.edges is None:
            raise unread("Cast", "a number becomes true or false")
        return column.map(_truth, single=False)
    whole = column.table is not None or (column.whole and column.at in (as_it_is, in_single))
    changes: dict[str, Any] = {} if whole else {"affine": False, "bends": None, "bent_by": "a Cast to whole numbers"}
    return column.map(_cut_off, single=False, **changes)


def _cast(kind: np.dtype[Any], x: Values) -> Values:
    with np.errstate(over="ignore"):
        return in_numbers(x).astype(kind)


def _cut_off(x: Values) -> Values:
    return np.trunc(in_numbers(x).astype(np.float64))


def _truth(x: Values) -> Values:
    return np.asarray(in_numbers(x) != 0, dtype=np.float64)


def scaled(said: Said, table: TypedColumns) -> TypedColumns:
    """Scaler: (x - offset) * scale. The result is float32, whatever comes in."""
    table = table if table.kind.kind == "f" else table.cast(OF_SINGLE)
    count = len(table.columns)
    offset, scale = (
        np.broadcast_to(np.asarray(said.get(name, [default]), dtype=table.kind), count)
        for name, default in (("offset", 0.0), ("scale", 1.0))
    )
    columns = [
        _moved(column, partial(_shifted, low, by), float(by))
        for column, low, by in zip(table.columns, offset, scale, strict=True)
    ]
    return TypedColumns(columns, table.kind, table.shape).cast(OF_SINGLE)


def _moved(column: Column, function: Callable[[Values], Values], slope: float) -> Column:
    """A column after a product and a difference in its own type."""
    if slope < 0 and column.table is None and column.edges is None:
        raise unread("Scaler", "it turns a column around")
    return column.map(
        function, slope=column.slope * slope, blur=max(column.blur, UNIT_SINGLE if column.single else 0.0)
    )


def _shifted(offset: Any, scale: Any, x: Values) -> Values:
    with np.errstate(over="ignore"):
        return np.asarray((x.astype(offset.dtype) - offset) * scale)


ARITHMETIC = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}
"""Operators with constants that are steps, too."""


def calculated_with(name: str, table: TypedColumns, constant: NDArray[Any]) -> TypedColumns | None:
    """Columns of floats after an operator with constants; None if that turns a column around."""
    numbers = np.ravel(constant).astype(table.kind)
    if numbers.size not in (1, len(table.columns)) or (name in ("Mul", "Div") and (numbers < 0).any()):
        return None
    moved = [
        _moved(column, partial(_with, name, by), _slope(name, float(by)))
        for column, by in zip(table.columns, np.broadcast_to(numbers, len(table.columns)), strict=True)
    ]
    return TypedColumns(moved, table.kind, table.shape)


def _slope(name: str, by: float) -> float:
    return {"Mul": by, "Div": 1.0 / by if by else np.inf}.get(name, 1.0)


def _with(name: str, by: Any, x: Values) -> Values:
    with np.errstate(over="ignore"):
        return np.asarray(ARITHMETIC[name](x.astype(by.dtype), by))


def clip(said: Said, table: TypedColumns, low: Any = None, high: Any = None) -> TypedColumns:
    """Clip: a number stays between two others."""
    ends = (-np.inf if low is None else float(low), np.inf if high is None else float(high))
    return table.each(partial(clipped, ends=ends, by="Clip"))


def imputed(said: Said, table: TypedColumns) -> TypedColumns:
    """Imputer: NaN, or another value, becomes a constant."""
    real = table.kind.kind == "f"
    fillings = said.get("imputed_value_floats" if real else "imputed_value_int64s") or [0]
    gone = said.get("replaced_value_float", 0.0) if real else said.get("replaced_value_int64", 0)
    out = []
    for column, filling in zip(table.columns, np.broadcast_to(fillings, len(table.columns)), strict=True):
        if gone == gone and column.table is None:
            raise unread("Imputer", f"it takes {gone} for a missing value")
        lost = missing if gone != gone else partial(_equal, gone)
        out.append(column.map(partial(fill_missing, filling, lost)))
    return TypedColumns(out, table.kind, table.shape)


def _equal(value: Any, x: Values) -> Values:
    return np.asarray(x == value, dtype=np.float64)


class OnnxEncoder:
    """A table from categories to numbers, in the words of scikit-learn's encoders.

    - `categories`: what is known;
    - `values` (categories + 1, numbers): what becomes of each, and of everything else;
    - `strict`: whether everything else is an error.
    """

    def __init__(self, categories: Sequence[Any], values: NDArray[Any], count: int, *, strict: bool) -> None:
        self.categories_ = [list(categories)] * count
        self.handle_unknown = "error" if strict else "ignore"
        self.values = values

    def transform(self, rows: NDArray[Any]) -> NDArray[Any]:
        """The numbers of each column, side by side."""
        known = {_key(one): k for k, one in enumerate(self.categories_[0])}
        at = [[known.get(_key(value), len(known)) for value in row] for row in rows.tolist()]
        return np.asarray(self.values[np.array(at, dtype=np.intp)].reshape(len(rows), -1))


def _key(value: Any) -> Any:
    """NaN is one category, which is equal to no other."""
    return "nan" if isinstance(value, float) and value != value else (value,)


def one_hot(said: Said, table: TypedColumns) -> TypedColumns:
    """OneHotEncoder: a column per category. Everything else is zeros, or an error."""
    text = table.kind == OF_TEXT
    known = [one.decode() for one in said.get("cats_strings", [])] if text else list(said.get("cats_int64s", []))
    if not text and table.kind.kind == "f":
        table = table.cast(OF_WHOLE)
    values = np.vstack([np.eye(len(known)), np.zeros(len(known))]).astype(np.float32)
    step = OnnxEncoder(known, values, len(table.columns), strict=not said.get("zeros", 1))
    columns = encoder(step, table.columns, len(known))
    return TypedColumns(columns, OF_SINGLE, (*table.shape, len(known)))


def looked_up(said: Said, table: TypedColumns) -> TypedColumns:
    """LabelEncoder: a category becomes a number."""
    if "classes_strings" in said:  # as the first version has it
        known = [one.decode() for one in said["classes_strings"]]
        numbers = np.append(np.arange(len(known)), said.get("default_int64", -1)).astype(np.float64)
        return _numbered(known, numbers[:, None], table, OF_WHOLE)
    keys, values = _listed(said, "keys"), _listed(said, "values")
    if keys is None or values is None or any(isinstance(one, str) for one in values):
        raise unread("ai.onnx.ml.LabelEncoder", "it returns text")
    kind = OF_SINGLE if "values_floats" in said else OF_WHOLE
    if "values_tensor" in said:
        from onnx import numpy_helper

        kind = numpy_helper.to_array(said["values_tensor"]).dtype
    default = said.get("default_float", -0.0) if kind.kind == "f" else said.get("default_int64", -1)
    if "default_tensor" in said:
        (default,) = _listed(said, "default") or (default,)
    listed = np.append(np.asarray(values, dtype=np.float64), default)
    return _numbered(keys, listed.astype(OF_SINGLE if kind == OF_SINGLE else OF_DOUBLE)[:, None], table, kind)


def _listed(said: Said, name: str) -> list[Any] | None:
    """The keys or values of a table, however they are written."""
    from onnx import numpy_helper

    if f"{name}_tensor" in said:
        found = np.ravel(numpy_helper.to_array(said[f"{name}_tensor"])).tolist()
    else:
        forms = [said[f"{name}_{kind}"] for kind in ("strings", "int64s", "floats") if said.get(f"{name}_{kind}")]
        found = list(forms[0]) if forms else None
    return None if found is None else [one.decode() if isinstance(one, bytes) else one for one in found]


def _numbered(keys: Sequence[Any], values: NDArray[Any], table: TypedColumns, kind: np.dtype[Any]) -> TypedColumns:
    raw = {column.feature: () for column in table.columns if column.table is None}
    if raw and any(isinstance(key, float) and key != np.round(key) for key in keys):
        raise NeedsLevels(raw, ordered=False)  # the data says which numbers these are in float64
    return TypedColumns(
        encoder(OnnxEncoder(keys, values, len(table.columns), strict=False), table.columns), kind, table.shape
    )


def binarized(said: Said, table: TypedColumns) -> TypedColumns:
    """Binarizer: 1 above a threshold, else 0."""
    border = np.asarray(said.get("threshold", 0.0), dtype=table.kind)
    return table.each(partial(_above, border))


def _above(border: Any, column: Column) -> Column:
    if column.table is None and column.edges is None:
        edges = last_where(column, lambda x: x <= border, 1)
        column = replace(column, edges=edges, slope=0.0)
    return column.map(partial(_is_above, border))


def _is_above(border: Any, x: Values) -> Values:
    return np.asarray(x > border, dtype=border.dtype)


def extracted(said: Said, table: TypedColumns, at: Any) -> TypedColumns:
    """ArrayFeatureExtractor: some places of the last axis."""
    return table.at(table.places[..., np.ravel(at).astype(np.intp)])


def gathered(said: Said, table: TypedColumns, at: Any) -> TypedColumns:
    """Gather along the last axis."""
    if said.get("axis", 0) not in (-1, len(table.shape)):
        raise unread("Gather", "it chooses rows")
    return table.at(table.places[..., np.asarray(at, dtype=np.intp)])


def joined(said: Said, *tables: TypedColumns) -> TypedColumns:
    """Concat along the last axis."""
    if said["axis"] not in (-1, len(tables[0].shape)) or len({table.kind for table in tables}) > 1:
        raise unread("Concat", "it joins rows, or columns of several types")
    starts = np.cumsum([0, *(len(table.columns) for table in tables)])
    places = np.concatenate([table.places + start for table, start in zip(tables, starts, strict=False)], axis=-1)
    return TypedColumns([column for table in tables for column in table.columns], tables[0].kind, tables[0].shape).at(
        places
    )


def vectorized(said: Said, *tables: TypedColumns) -> TypedColumns:
    """FeatureVectorizer: all columns side by side, as float32."""
    widths = [len(table.columns) for table in tables]
    if list(said.get("inputdimensions", widths)) != widths:
        raise unread("ai.onnx.ml.FeatureVectorizer", "it leaves columns out")
    return joined({"axis": -1}, *(table.at(np.ravel(table.places)).cast(OF_SINGLE) for table in tables))


def reshaped(said: Said, table: TypedColumns, shape: Any) -> TypedColumns:
    """Reshape: each row stays a row."""
    count, (first, *rest) = len(table.columns), np.ravel(shape).tolist()
    rest = [table.shape[k] if size == 0 and k < len(table.shape) else size for k, size in enumerate(rest)]
    if first not in (-1, 0) or (first == -1 and (-1 in rest or np.prod(rest, dtype=int) != count)):
        raise unread("Reshape", "a row does not stay a row")
    return table.at(table.places.reshape(rest))


def flattened(said: Said, table: TypedColumns) -> TypedColumns:
    """Flatten: one row of numbers per row."""
    if said.get("axis", 1) != 1:
        raise unread("Flatten", "a row does not stay a row")
    return table.at(np.ravel(table.places))


def squeezed(said: Said, table: TypedColumns, axes: Any = None) -> TypedColumns:
    """Squeeze: axes of length 1 go."""
    chosen = said.get("axes") if axes is None else np.ravel(axes).tolist()
    if chosen is None or any(axis == 0 for axis in chosen):
        raise unread("Squeeze", "a row does not stay a row")
    return table.at(np.squeeze(table.places, tuple(axis if axis < 0 else axis - 1 for axis in chosen)))


def cast(said: Said, table: TypedColumns) -> TypedColumns:
    """Cast to another type of numbers."""
    from onnx import TensorProto

    kinds = {
        TensorProto.FLOAT: OF_SINGLE,
        TensorProto.DOUBLE: OF_DOUBLE,
        TensorProto.INT64: OF_WHOLE,
        TensorProto.INT32: OF_WHOLE,
    }
    if said["to"] == TensorProto.BOOL:
        return table.cast(OF_TRUTH)
    if said["to"] not in kinds:
        raise unread("Cast", f"to {TensorProto.DataType.Name(said['to']).lower()}")
    return table.cast(kinds[said["to"]])


def same(said: Said, table: TypedColumns) -> TypedColumns:
    """Identity."""
    return table


TABLE_OPERATORS: dict[str, Callable[..., TypedColumns]] = {
    "ai.onnx.ml.Scaler": scaled,
    "ai.onnx.ml.Imputer": imputed,
    "ai.onnx.ml.OneHotEncoder": one_hot,
    "ai.onnx.ml.LabelEncoder": looked_up,
    "ai.onnx.ml.Binarizer": binarized,
    "ai.onnx.ml.ArrayFeatureExtractor": extracted,
    "ai.onnx.ml.FeatureVectorizer": vectorized,
    "Gather": gathered,
    "Concat": joined,
    "Reshape": reshaped,
    "Flatten": flattened,
    "Squeeze": squeezed,
    "Cast": cast,
    "Clip": clip,
    "Identity": same,
    "Dropout": same,
}
"""For each operator, the columns that it makes of columns. It gets the node's attributes, then its inputs."""
