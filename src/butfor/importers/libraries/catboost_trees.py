"""CatBoost over numbers: oblivious and other trees, read from the saved model.

CatBoost compares in float32. A row goes right iff its value is above the border.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from butfor.errors import UnsupportedModelError
from butfor.importers.fold.column import Column
from butfor.importers.fold.nodes import Nodes, numbered, trees_over
from butfor.importers.registry import Imported, register_importer
from butfor.model.readout import Argmax, Sign, Value
from butfor.model.trees import exact

CLASS_LOSSES_OF_CATBOOST = ("Logloss", "CrossEntropy", "MultiClass", "MultiClassOneVsAll")
VALUE_LOSSES_OF_CATBOOST = (
    "RMSE",
    "MAE",
    "Quantile",
    "MultiQuantile",
    "Expectile",
    "MAPE",
    "Huber",
    "LogCosh",
    "Lq",
    "NumErrors",
    "SMAPE",
)

Split = tuple[int, float]
"""The number that is read, and the border above which a row goes right."""


def read_model(model: Any, columns: list[Column]) -> Imported:
    """CatBoostClassifier and CatBoostRegressor, all of their trees."""
    loss = str(model.get_all_params()["loss_function"]).split(":")[0]
    if loss not in (*CLASS_LOSSES_OF_CATBOOST, *VALUE_LOSSES_OF_CATBOOST):
        raise UnsupportedModelError(
            f"the loss {loss!r} of CatBoost cannot be read.",
            f"The known losses are {', '.join((*CLASS_LOSSES_OF_CATBOOST, *VALUE_LOSSES_OF_CATBOOST))}.",
            "Search given rows with bf.candidates(rows).",
        )
    saved = _saved(model)
    scale, bias = saved["scale_and_bias"]
    base = np.array(bias, dtype=np.float64)
    nodes = _nodes(saved, len(base), float(scale))
    if loss in VALUE_LOSSES_OF_CATBOOST:
        if len(base) > 1:
            raise UnsupportedModelError(
                "CatBoost predicts several values.", "One output is needed.", "Fit one model per output."
            )
        return trees_over(columns, nodes, base, folded=not exact(scale)), Value()
    classes = tuple(np.asarray(model.classes_).tolist())
    border = model.get_probability_threshold() if len(base) == 1 else 0.5
    if border != 0.5:
        raise UnsupportedModelError(
            f"CatBoost decides at the probability {border:g}.",
            "It must be 0.5.",
            "Ask for a probability with bf.probability, or put the model in a FixedThresholdClassifier.",
        )
    readout = (
        Sign(classes, "logistic") if len(base) == 1 else Argmax(classes, "softmax" if loss == "MultiClass" else "ovr")
    )
    return trees_over(columns, nodes, base, folded=not exact(scale)), readout


def _saved(model: Any) -> dict[str, Any]:
    """The model as its library saves it, checked."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        saved: dict[str, Any] = json.loads(path.read_text())
    kinds = [kind for kind in saved["features_info"] if kind != "float_features" and saved["features_info"][kind]]
    if kinds:
        raise UnsupportedModelError(
            f"CatBoost was trained with {kinds[0].replace('_', ' ')}.",
            "Its saved model holds only hashes and statistics of them.",
            "Encode them beforehand (OneHotEncoder or OrdinalEncoder in a pipeline).",
        )
    return saved


def _nodes(saved: dict[str, Any], scores: int, scale: float) -> Nodes:
    known = saved["features_info"]["float_features"]
    flat = {feature["feature_index"]: feature["flat_feature_index"] for feature in known}
    right = {f["flat_feature_index"] for f in known if f["nan_value_treatment"] == "AsTrue"}
    rows = [list(_oblivious(tree, scores)) for tree in saved.get("oblivious_trees", ())]
    rows += [list(_any_tree(tree)) for tree in saved.get("trees", ())]
    first = numbered([len(tree) for tree in rows])
    feature, threshold, left, right_child, value = [], [], [], [], []
    for at, tree in zip(first, rows, strict=True):
        for split, children, leaf in tree:
            feature.append(flat[split[0]] if split else -1)
            threshold.append(split[1] if split else 0.0)
            left.append(at + children[0])
            right_child.append(at + children[1])
            value.append(leaf if leaf else [0.0] * scores)
    column = np.array(feature, dtype=np.intp)
    return Nodes(
        roots=first,
        feature=column,
        threshold=np.array(threshold, dtype=np.float32).astype(np.float64),
        missing_left=~np.isin(column, list(right)),
        left=np.array(left, dtype=np.intp),
        right=np.array(right_child, dtype=np.intp),
        value=scale * np.array(value, dtype=np.float64).reshape(len(value), scores),
        single=True,
    )


Row = tuple[Split | None, tuple[int, int], list[float]]
"""A node: its split and children, or the values of a leaf."""


def _oblivious(tree: dict[str, Any], scores: int) -> Iterator[Row]:
    """The nodes of an oblivious tree, level by level. All nodes of a level have the same split.

    The last split comes first, so that the leaves come in the order of their numbers.
    """
    splits = [_split(split) for split in tree["splits"] or ()]
    for level, split in enumerate(reversed(splits)):
        for node in range(2**level - 1, 2 ** (level + 1) - 1):
            yield split, (2 * node + 1, 2 * node + 2), []
    values = tree["leaf_values"]
    for leaf in range(2 ** len(splits)):
        yield None, (-1, -1), values[leaf * scores : (leaf + 1) * scores]


def _any_tree(tree: dict[str, Any]) -> Iterator[Row]:
    """The nodes of any tree, breadth first. So counting gives the numbers of a node's children."""
    level, fresh = [tree], 1
    for node in level:
        if "split" in node:
            level += [node["left"], node["right"]]
            yield _split(node["split"]), (fresh, fresh + 1), []
            fresh += 2
        else:
            yield None, (-1, -1), list(np.ravel(node["value"]))


def _split(saved: dict[str, Any]) -> Split:
    return int(saved["float_feature_index"]), float(saved["border"])


for name in ("CatBoostClassifier", "CatBoostRegressor"):
    register_importer(f"catboost.{name}", read_model)
