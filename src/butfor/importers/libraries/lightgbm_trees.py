"""LightGBM: boosters and its scikit-learn interface, read from the saved text.

LightGBM compares in float64: a row goes left iff its value is at most the threshold. It takes the tiniest numbers for
zero. Each node says what a missing value is: NaN, or zero, or a NaN that is turned into zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import UnsupportedModelError
from butfor.estimator.boosters import (
    AbstractNative,
    AbstractNativeClassifier,
    AbstractNativeRegressor,
    known_classes,
    register_native,
)
from butfor.importers.fold.column import Column, Values
from butfor.importers.fold.nodes import Nodes, in_score, numbered, trees_over
from butfor.importers.registry import Imported, register_importer
from butfor.model.readout import Argmax, Sign, Value
from butfor.model.trees import exact

CLASS_OBJECTIVES_OF_LIGHTGBM = ("binary", "multiclass", "multiclassova")
VALUE_OBJECTIVES_OF_LIGHTGBM = ("regression", "regression_l1", "huber", "fair", "quantile", "mape")

CATEGORY, DEFAULT_LEFT, ZERO_MISSING, NAN_MISSING = 1, 2, 4, 8
"""The bits of a node's decision type."""

ZERO = float(np.float32(1e-35))
"""Numbers up to this size reach the trees as zero."""

Block = dict[str, str]


def read_estimator(model: Any, columns: list[Column]) -> Imported:
    """LGBMClassifier and LGBMRegressor, up to the best iteration if training stopped early."""
    return read_booster(model.booster_, columns, known_classes(model))


def read_native(native: AbstractNative, columns: list[Column]) -> Imported:
    """A booster up to its best iteration. Its own `predict` uses the same trees."""
    return read_booster(native.booster, columns, known_classes(native))


def read_booster(booster: Any, columns: list[Column], classes: tuple[Any, ...]) -> Imported:
    """The trees of a booster."""
    header, *trees = _blocks(booster.model_to_string())
    objective, *settings = header.get("objective", "custom").split()
    _check(objective, settings, trees)
    scores = int(header["num_tree_per_iteration"])
    nodes = _nodes(trees, scores)
    scale = float(next((word[8:] for word in settings if word.startswith("sigmoid:")), 1.0))
    if "average_output" in header:
        scale /= len(trees) / scores
    nodes = replace(nodes, value=scale * nodes.value)
    coded = _coded(columns, header, booster.pandas_categorical or [])
    model = trees_over(coded, nodes, np.zeros(scores), folded=not exact(scale))
    if not classes:
        return model, Value()
    if scores == 1:
        return model, Sign(classes, "logistic")
    return model, Argmax(classes, "softmax" if objective == "multiclass" else "ovr")


def _blocks(text: str) -> list[Block]:
    """The header and the trees of a saved model. Each is a dict made from lines of the form `key=value`."""
    parts = text[: text.index("end of trees")].split("\nTree=")
    return [dict(line.partition("=")[::2] for line in part.splitlines()) for part in parts]


def _check(objective: str, settings: Sequence[str], trees: Sequence[Block]) -> None:
    if objective not in (*CLASS_OBJECTIVES_OF_LIGHTGBM, *VALUE_OBJECTIVES_OF_LIGHTGBM) or "sqrt" in settings:
        raise UnsupportedModelError(
            f"the objective {' '.join([objective, *settings])!r} of LightGBM cannot be read.",
            f"The known objectives are {', '.join((*CLASS_OBJECTIVES_OF_LIGHTGBM, *VALUE_OBJECTIVES_OF_LIGHTGBM))}.",
            "Search given rows with bf.candidates(rows).",
        )
    if any(tree.get("is_linear") == "1" for tree in trees):
        raise UnsupportedModelError(
            "LightGBM fitted linear models in the leaves.", "Leaves must be constants.", "Train without linear_tree."
        )


def _nodes(trees: Sequence[Block], scores: int) -> Nodes:
    """The nodes of the trees. In each tree the inner nodes come first, then the leaves."""
    leaves = np.array([int(tree["num_leaves"]) for tree in trees])
    counts = 2 * leaves - 1
    first = numbered(counts.tolist())
    inner = np.concatenate([np.arange(at, at + n - 1) for at, n in zip(first, leaves, strict=True)]).astype(np.intp)
    outer = np.concatenate([np.arange(at + n - 1, at + 2 * n - 1) for at, n in zip(first, leaves, strict=True)])
    kind = _all(trees, "decision_type", np.intp)
    threshold = _all(trees, "threshold", np.float64)
    category = (kind & CATEGORY) > 0
    shift, leaf_shift = np.repeat(first, leaves - 1), np.repeat(first + leaves - 1, leaves - 1)
    default_left = (kind & DEFAULT_LEFT) > 0
    listed = (kind & (ZERO_MISSING | NAN_MISSING)) > 0  # else a missing value is a zero
    group, groups = _groups(trees, leaves, threshold, category)

    def spread(values: Values, leaf: Any) -> Values:
        out = np.full(int(counts.sum()), leaf, dtype=values.dtype)
        out[inner] = values
        return out

    def child(name: str) -> IntArray:
        at = _all(trees, name, np.intp)
        return np.where(at >= 0, at + shift, ~at + leaf_shift)

    value = np.zeros(int(counts.sum()))
    value[outer] = _all(trees, "leaf_value", np.float64)
    return Nodes(
        roots=first,
        feature=spread(_all(trees, "split_feature", np.intp), -1),
        threshold=spread(np.where(category, 0.0, threshold), 0.0),
        missing_left=spread(~category & np.where(listed, default_left, threshold >= 0), False),
        left=spread(child("left_child"), -1),
        right=spread(child("right_child"), -1),
        value=in_score(value, np.repeat(np.arange(len(trees)) % scores, counts), scores),
        single=False,
        group=spread(group, -1),
        groups=groups,
        zero_missing=spread(~category & ((kind & ZERO_MISSING) > 0), False),
    )


def _all(trees: Sequence[Block], name: str, kind: Any) -> NDArray[Any]:
    return np.array(" ".join(tree.get(name, "") for tree in trees).split(), dtype=kind)


def _groups(
    trees: Sequence[Block], leaves: IntArray, threshold: FloatArray, category: BoolArray
) -> tuple[IntArray, BoolArray]:
    """For each inner node, the row of categories that go left. Any other number goes right."""
    group = np.full(len(threshold), -1, dtype=np.intp)
    words: list[NDArray[np.uint32]] = []
    ends = []
    for tree in trees:
        bounds = [int(word) for word in tree.get("cat_boundaries", "0").split()]
        some = np.array(tree.get("cat_threshold", "").split(), dtype="<u4")
        ends.append(len(words))
        words += [some[start:end] for start, end in pairwise(bounds)]
    start = np.repeat(np.array(ends, dtype=np.intp), leaves - 1)
    group[category] = threshold[category].astype(np.intp) + start[category]
    width = max((len(word) for word in words), default=0)
    bits = np.zeros((len(words), width), dtype="<u4")
    for row, word in zip(bits, words, strict=True):
        row[: len(word)] = word
    left = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little").astype(np.bool_)
    return group, np.column_stack([left, np.zeros(len(left), dtype=np.bool_)])


def _coded(columns: list[Column], header: Block, categories: list[list[Any]]) -> list[Column]:
    """The columns, with categories replaced by the numbers that LightGBM gives them.

    The saved text lists the categories of the data frame's category columns in their order, but not the columns' names.
    """
    left = list(categories)
    out = [column if _words(column) else column.map(_without_tiny) for column in columns]
    for i, (column, info) in enumerate(zip(columns, header["feature_infos"].split(), strict=True)):
        if column.table is None or not left or info.startswith("["):
            continue
        if set(column.table[:-1].tolist()) <= set(left[0]):
            out[i] = column.coded(left.pop(0))
    if left:
        raise UnsupportedModelError(
            f"LightGBM was trained on a category column with the values {left[0][:8]}.",
            "The data has no such column.",
            "Give the data that the model was trained on.",
        )
    return out


def _words(column: Column) -> bool:
    return column.table is not None and column.table.dtype == object


def _without_tiny(x: Values) -> Values:
    return np.where(np.abs(x) <= ZERO, 0.0, x)


class _LightGBM:
    """Calls a booster of LightGBM."""

    booster: Any

    def answers(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.booster.predict(X))


class LightGBMBoosterClassifier(_LightGBM, AbstractNativeClassifier):
    """A LightGBM booster with an objective over classes."""


class LightGBMBoosterRegressor(_LightGBM, AbstractNativeRegressor):
    """A LightGBM booster with any other objective."""


def adapt(booster: Any) -> AbstractNative:
    """A booster as an estimator."""
    model = booster.dump_model(num_iteration=1)
    names, width = booster.feature_name(), booster.num_feature()
    known = None if names == [f"Column_{i}" for i in range(width)] else names
    if model.get("objective", "custom").split()[0] in CLASS_OBJECTIVES_OF_LIGHTGBM:
        return LightGBMBoosterClassifier(booster, known, width, max(model["num_class"], 2))
    return LightGBMBoosterRegressor(booster, known, width)


register_importer("lightgbm.LGBMClassifier", read_estimator)
register_importer("lightgbm.LGBMRegressor", read_estimator)
register_importer(_LightGBM, read_native)
register_native("lightgbm.Booster", adapt)
