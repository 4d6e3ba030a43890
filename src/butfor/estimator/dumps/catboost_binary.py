"""CatBoost's binary files, `.cbm`: tables of flatbuffers, turned into what CatBoost writes as JSON.

A table of flatbuffers (flatbuffers.dev, "Internals") begins with the distance back to a list that says, for each field by its
number, where in the table it stands. Fields that do not stand there have their default.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.errors import InputError, UnsupportedModelError
from butfor.estimator.dumps.catboost_statistics import COUNTED_IN_ALL, MEANS
from butfor.estimator.dumps.city_hash import LARGEST_HASH

BEGINNING, FORMAT = b"CBM1", "FlabuffersModel_v1"
"""What a file begins with, and the format that it says it has. The second is misspelt there, too."""

NAN_TREATMENTS = ("AsIs", "AsFalse", "AsTrue")
OTHER_INPUTS = {12: "text_features", 18: "embedding_features"}
"""The fields of the trees that list inputs that are not read."""

STATISTICS = ("Borders", "Buckets", "BinarizedTargetMeanValue", "FloatTargetMeanValue", "Counter", "FeatureFreq")
"""The kinds of statistics by their number."""

PART = "static_provider_v1"
"""What the tables of counts behind the trees are called."""


def read_cbm(held: bytes) -> dict[str, Any]:
    """A saved model, as its JSON holds it: inputs, trees, and what stands around them."""
    if held[:4] != BEGINNING or len(held) < 8:
        raise InputError("it does not begin as a file of CatBoost does.", f"It must begin with {BEGINNING.decode()}.")
    (size,) = struct.unpack_from("<I", held, 4)
    if len(held) < 8 + size:
        raise InputError(f"it ends after {len(held)} bytes of {8 + size}.", "It must be whole.")
    if held.count(BEGINNING + struct.pack("<I", size)) > 1:
        raise InputError("it holds several models.", "One model in a file is needed.")
    try:
        return _saved(_Table.root(held[8 : 8 + size]), held[8 + size :])
    except (struct.error, IndexError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"its tables lead nowhere ({error}).", "It must be unchanged.") from None


class _Table:
    """A table of flatbuffers: its fields by their numbers."""

    def __init__(self, held: bytes, at: int) -> None:
        self.held, self.at = held, at
        self.fields = at - self._unpacked("i", at)

    @classmethod
    def root(cls, held: bytes) -> _Table:
        return cls(held, *struct.unpack_from("<I", held, 0))

    def _unpacked(self, kind: str, at: int) -> Any:
        if at < 0:
            raise IndexError(f"byte {at}")
        return struct.unpack_from(f"<{kind}", self.held, at)[0]

    def _place(self, field: int) -> int:
        """Where a field stands; 0 if it has its default."""
        at = 4 + 2 * field
        if at >= self._unpacked("H", self.fields):
            return 0
        offset = int(self._unpacked("H", self.fields + at))
        return self.at + offset if offset else 0

    def number(self, field: int, kind: str, default: float) -> Any:
        at = self._place(field)
        return self._unpacked(kind, at) if at else default

    def _listed(self, field: int) -> tuple[int, int]:
        """Where the elements of a list begin, and how many there are."""
        at = self._place(field)
        if not at:
            return 0, 0
        at += self._unpacked("I", at)
        return at + 4, self._unpacked("I", at)

    def numbers(self, field: int, kind: Any) -> NDArray[Any]:
        """A list of numbers."""
        at, count = self._listed(field)
        return self._taken(at, count, np.dtype(kind).newbyteorder("<"))

    def packed(self, field: int, kind: Any) -> NDArray[Any]:
        """Numbers that are packed in a list of bytes."""
        at, size = self._listed(field)
        return self._taken(at, size // np.dtype(kind).itemsize, np.dtype(kind).newbyteorder("<"))

    def _taken(self, at: int, count: int, kind: np.dtype[Any]) -> NDArray[Any]:
        if at + count * kind.itemsize > len(self.held):
            raise IndexError(f"byte {at + count * kind.itemsize}")
        return np.frombuffer(self.held, kind, count, at)

    def text(self, field: int) -> str:
        return self.numbers(field, "u1").tobytes().decode()

    def tables(self, field: int) -> Iterator[_Table]:
        at, count = self._listed(field)
        for place in range(at, at + 4 * count, 4):
            yield _Table(self.held, place + self._unpacked("I", place))

    def table(self, field: int) -> _Table:
        at = self._place(field)
        return _Table(self.held, at + self._unpacked("I", at))

    def texts(self, field: int) -> list[str]:
        at, count = self._listed(field)
        places = [place + self._unpacked("I", place) for place in range(at, at + 4 * count, 4)]
        return [self.held[one + 4 : one + 4 + self._unpacked("I", one)].decode() for one in places]


def _saved(model: _Table, behind: bytes) -> dict[str, Any]:
    if model.text(0) != FORMAT:
        raise UnsupportedModelError(
            f"the model was saved in the format {model.text(0)!r} of CatBoost.", f"{FORMAT} can be read."
        )
    parts = model.texts(3)
    if parts not in ([], [PART]):
        raise UnsupportedModelError(f"the model of CatBoost has the parts {parts}.", f"Trees and {PART} can be read.")
    trees, info = model.table(1), {one.text(0): one.text(1) for one in model.tables(2)}
    inputs: dict[str, Any] = {name: [*trees.tables(field)] for field, name in OTHER_INPUTS.items()}
    inputs["float_features"] = [
        {
            "feature_index": one.number(1, "i", -1),
            "flat_feature_index": one.number(2, "i", -1),
            "borders": one.numbers(3, "f4").tolist(),
            "feature_id": one.text(4),
            "nan_value_treatment": NAN_TREATMENTS[one.number(5, "b", 0)],
        }
        for one in trees.tables(5)
    ]
    levels = {one.number(0, "i", -1): one.numbers(1, "i4").tolist() for one in trees.tables(6)}
    inputs["categorical_features"] = [
        {
            "feature_index": one.number(0, "i", -1),
            "flat_feature_index": one.number(1, "i", -1),
            "feature_id": one.text(2),
        }
        for one in trees.tables(4)
    ]
    for one in inputs["categorical_features"]:
        if one["feature_index"] in levels:
            one["values"] = levels[one["feature_index"]]
    inputs["ctrs"] = [_statistic(one.table(0)) | {"borders": one.numbers(1, "f4").tolist()} for one in trees.tables(7)]
    biases = trees.numbers(16, "f8").tolist() or [trees.number(15, "d", 0.0)]
    symmetric = not len(trees.numbers(10, "u4"))
    return {
        "features_info": inputs,
        "ctr_data": dict(_counts(behind)) if parts else {},
        "model_info": info | {name: json.loads(info.get(name, "{}")) for name in ("params", "class_params")},
        "scale_and_bias": [trees.number(14, "d", 1.0), biases],
        "oblivious_trees" if symmetric else "trees": [*(_oblivious(trees) if symmetric else _of_any_shape(trees))],
    }


def _combined(base: _Table) -> dict[str, Any]:
    """The columns of a statistic, its kind, and a name made of both."""
    combination, kind = base.table(0), STATISTICS[base.number(1, "b", 0)]
    elements: list[dict[str, Any]] = [{"cat_feature_index": k} for k in combination.numbers(0, "i4").tolist()]
    elements += [
        {"float_feature_index": k, "border": border}
        for k, border in combination.numbers(1, [("column", "<i4"), ("border", "<f4")]).tolist()
    ]
    elements += [
        {"cat_feature_index": k, "value": value}
        for k, value in combination.numbers(2, [("column", "<i4"), ("value", "<i4")]).tolist()
    ]
    return {"elements": elements, "ctr_type": kind, "identifier": f"{kind} {elements}"}


def _statistic(ctr: _Table) -> dict[str, Any]:
    return _combined(ctr.table(0)) | {
        "target_border_idx": ctr.number(1, "i", 0),
        "prior_numerator": ctr.number(2, "f", 0.0),
        "prior_denomerator": ctr.number(3, "f", 1.0),
        "shift": ctr.number(4, "f", 0.0),
        "scale": ctr.number(5, "f", 1.0),
    }


def _counts(behind: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tables of counts behind the trees, each after its size. A place of a table is a hash, and the number of a row."""
    (tables,), at = struct.unpack_from("<I", behind, 0), 4
    for _ in range(tables):
        (size,) = struct.unpack_from("<I", behind, at)
        if at + 4 + size > len(behind):
            raise IndexError(f"byte {at + 4 + size}")
        table, at = _Table.root(behind[at + 4 : at + 4 + size]), at + 4 + size
        places = table.packed(1, [("hash", "<u8"), ("row", "<u4")])
        named = _combined(table.table(0))
        width = (
            1 if named["ctr_type"] in COUNTED_IN_ALL else 2 if named["ctr_type"] in MEANS else table.number(4, "i", 0)
        )
        counts = table.packed(2, "i4").reshape(-1, width)
        used = places[places["hash"] != LARGEST_HASH]
        cells = [[one, *row] for one, row in zip(used["hash"].tolist(), counts[used["row"]].tolist(), strict=True)]
        yield (
            named["identifier"],
            {
                "hash_map": [number for cell in cells for number in cell],
                "hash_stride": 1 + width,
                "counter_denominator": table.number(3, "i", 0),
            },
        )


def _oblivious(trees: _Table) -> Iterator[dict[str, Any]]:
    """The splits of each tree, and the values of its leaves."""
    splits, values, scores = trees.numbers(1, "i4").tolist(), trees.numbers(8, "f8").tolist(), trees.number(0, "i", 1)
    split = value = 0
    for depth in trees.numbers(2, "i4").tolist():
        if depth > len(splits) - split:
            raise IndexError(f"split {split + depth}")
        count = scores << depth
        yield {
            "splits": [{"split_index": k} for k in splits[split : split + depth]],
            "leaf_values": values[value : value + count],
        }
        split, value = split + depth, value + count


def _of_any_shape(trees: _Table) -> Iterator[dict[str, Any]]:
    """Trees as nodes in nodes. Each node says how far on its children stand; a 0 stands for the node's own leaf."""
    splits, values, scores = trees.numbers(1, "i4").tolist(), trees.numbers(8, "f8").tolist(), trees.number(0, "i", 1)
    steps, leaves = trees.numbers(10, "u4").tolist(), trees.numbers(11, "u4").tolist()

    def leaf(k: int) -> dict[str, Any]:
        return {"value": values[leaves[k] : leaves[k] + scores]}

    def below(k: int) -> dict[str, Any]:
        left, right = steps[k] % 2**16, steps[k] // 2**16
        if not left and not right:
            return leaf(k)
        return {
            "split": {"split_index": splits[k]},
            "left": below(k + left) if left else leaf(k),
            "right": below(k + right) if right else leaf(k),
        }

    root = 0
    for size in trees.numbers(2, "i4").tolist():
        yield below(root)
        root += size
