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

BEGINNING, FORMAT = b"CBM1", "FlabuffersModel_v1"
"""What a file begins with, and the format that it says it has. The second is misspelt there, too."""

NAN_TREATMENTS = ("AsIs", "AsFalse", "AsTrue")
OTHER_INPUTS = {4: "categorical_features", 12: "text_features", 13: "estimated_features", 18: "embedding_features"}
"""The fields of the trees that list inputs that are no numbers."""


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
        return _saved(_Table.root(held[8 : 8 + size]))
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

    def numbers(self, field: int, kind: str) -> NDArray[Any]:
        at, count = self._listed(field)
        width = np.dtype(kind).itemsize
        if at + count * width > len(self.held):
            raise IndexError(f"byte {at + count * width}")
        return np.frombuffer(self.held, np.dtype(kind).newbyteorder("<"), count, at)

    def text(self, field: int) -> str:
        return self.numbers(field, "u1").tobytes().decode()

    def tables(self, field: int) -> Iterator[_Table]:
        at, count = self._listed(field)
        for place in range(at, at + 4 * count, 4):
            yield _Table(self.held, place + self._unpacked("I", place))

    def table(self, field: int) -> _Table:
        at = self._place(field)
        return _Table(self.held, at + self._unpacked("I", at))


def _saved(model: _Table) -> dict[str, Any]:
    if model.text(0) != FORMAT:
        raise UnsupportedModelError(
            f"the model was saved in the format {model.text(0)!r} of CatBoost.", f"{FORMAT} can be read."
        )
    trees, info = model.table(1), {one.text(0): one.text(1) for one in model.tables(2)}
    inputs: dict[str, Any] = {name: [*trees.tables(field)] for field, name in OTHER_INPUTS.items() if field != 13}
    inputs["float_features"] = [
        {
            "flat_feature_index": one.number(2, "i", -1),
            "borders": one.numbers(3, "f4").tolist(),
            "feature_id": one.text(4),
            "nan_value_treatment": NAN_TREATMENTS[one.number(5, "b", 0)],
        }
        for one in trees.tables(5)
    ]
    biases = trees.numbers(16, "f8").tolist() or [trees.number(15, "d", 0.0)]
    symmetric = not len(trees.numbers(10, "u4"))
    return {
        "features_info": inputs,
        "model_info": info | {name: json.loads(info.get(name, "{}")) for name in ("params", "class_params")},
        "scale_and_bias": [trees.number(14, "d", 1.0), biases],
        "oblivious_trees" if symmetric else "trees": [*(_oblivious(trees) if symmetric else _of_any_shape(trees))],
    }


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
