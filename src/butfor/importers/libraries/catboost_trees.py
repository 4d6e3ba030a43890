"""CatBoost: oblivious and other trees, read from the saved model.

CatBoost compares in float32. A row goes right iff its value is above the border.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from butfor.arrays import BoolArray
from butfor.errors import InputError, UnsupportedModelError
from butfor.estimator.boosters import register_native
from butfor.importers.fold.column import Column
from butfor.importers.fold.joint_questions import ColumnQuestion, JointQuestion, Row, one_by_one
from butfor.importers.fold.nodes import Nodes, numbered, trees_over
from butfor.importers.libraries.catboost_categories import Inputs, check_statistics, read_inputs, read_questions
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

POWER_LOSSES_OF_CATBOOST = ("Poisson", "Tweedie")
"""Losses of values that are not read: the prediction is the exponential of the sum."""

KINDS_OF_INPUTS = ("float_features", "categorical_features", "cat_features_hash", "ctrs")
"""What a saved model may know of its inputs. Text and embeddings are not among it."""


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
    inputs = read_inputs(saved, columns)
    nodes = _nodes(saved, inputs, len(base), float(scale))
    if loss in VALUE_LOSSES_OF_CATBOOST:
        if len(base) > 1:
            raise UnsupportedModelError(
                "CatBoost predicts several values.", "One output is needed.", "Fit one model per output."
            )
        return trees_over(inputs.columns, nodes, base, folded=not exact(scale)), Value()
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
    return trees_over(inputs.columns, nodes, base, folded=not exact(scale)), readout


def _saved(model: Any) -> dict[str, Any]:
    """The model as its library saves it, checked."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        saved: dict[str, Any] = json.loads(path.read_text())
    for kind, found in saved["features_info"].items():
        if found and kind not in KINDS_OF_INPUTS:
            raise UnsupportedModelError(
                f"CatBoost was trained with {kind.replace('_', ' ')}.",
                "Numbers and categories can be read.",
                "Make columns of numbers of them beforehand. Until then, the swarm searches.",
            )
    check_statistics(saved, model.get_all_params())
    return saved


def _nodes(saved: dict[str, Any], inputs: Inputs, scores: int, scale: float) -> Nodes:
    """The nodes of all trees. Each asks about one column."""
    questions = read_questions(saved, inputs)
    trees = [list(_oblivious(tree, questions, scores)) for tree in saved.get("oblivious_trees", ())]
    trees += [list(_any_tree(tree, questions)) for tree in saved.get("trees", ())]
    rows = [one_by_one(tree, inputs.cells) for tree in trees]
    first = numbered([len(tree) for tree in rows])
    sides = _Sides(inputs)
    asked, children, value = [], [], []
    for at, tree in zip(first, rows, strict=True):
        for question, (left, right), leaf in tree:
            asked.append(sides.of(question) if question else (-1, 0.0, -1))
            children.append((at + left, at + right))
            value.append(leaf or [0.0] * scores)
    feature, threshold, group = (np.array(part) for part in zip(*asked, strict=True))
    left, right = np.array(children, dtype=np.intp).T
    treated = {
        info["flat_feature_index"]: info["nan_value_treatment"]
        for info in saved["features_info"].get("float_features", ())
    }
    return Nodes(
        roots=first,
        feature=feature.astype(np.intp),
        threshold=threshold.astype(np.float64),
        missing_left=~np.isin(feature, [i for i, how in treated.items() if how == "AsTrue"]),
        left=left,
        right=right,
        value=scale * np.array(value, dtype=np.float64).reshape(len(value), scores),
        single=True,
        group=group.astype(np.intp),
        groups=sides.groups(),
    )


class _Sides:
    """What goes left, for each different question: up to a border, or a set of categories."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._known: dict[tuple[int, bytes], tuple[int, float, int]] = {}
        self._sets: list[BoolArray] = []

    def of(self, question: ColumnQuestion) -> tuple[int, float, int]:
        """The column, the border, and the number of the set (-1 for a number)."""
        column, left = question.column, question.left
        key = column, left.tobytes()
        if key not in self._known and column in self._inputs.borders:
            self._known[key] = column, self._inputs.borders[column][np.count_nonzero(left) - 1], -1
        elif key not in self._known:
            self._known[key] = column, 0.0, len(self._sets)
            self._sets.append(left)
        return self._known[key]

    def groups(self) -> BoolArray:
        """The sets as rows. The last entry is for any other number."""
        out = np.zeros((len(self._sets), 1 + max(self._inputs.cells, default=0)), dtype=np.bool_)
        for row, left in zip(out, self._sets, strict=True):
            row[: len(left)] = left
        return out


Questions = Sequence[ColumnQuestion | JointQuestion]


def _oblivious(tree: dict[str, Any], questions: Questions, scores: int) -> Iterator[Row]:
    """The nodes of an oblivious tree, level by level. All nodes of a level have the same question.

    Questions about several columns come last, where few rows are copied for them. The number of a leaf says how each
    question was answered, the first in its lowest bit.
    """
    asked = [questions[split["split_index"]] for split in tree["splits"] or ()]
    order = sorted(range(len(asked)), key=lambda k: isinstance(asked[k], JointQuestion))
    for level, k in enumerate(order):
        for node in range(2**level - 1, 2 ** (level + 1) - 1):
            yield asked[k], (2 * node + 1, 2 * node + 2), []
    number = np.zeros(1, dtype=np.intp)
    for k in order:
        number = np.add.outer(number, [0, 1 << k]).ravel()
    values = tree["leaf_values"]
    for leaf in number.tolist():
        yield None, (-1, -1), values[leaf * scores : (leaf + 1) * scores]


def _any_tree(tree: dict[str, Any], questions: Questions) -> Iterator[Row]:
    """The nodes of any tree, breadth first. So counting gives the numbers of a node's children."""
    level, fresh = [tree], 1
    for node in level:
        if "split" in node:
            level += [node["left"], node["right"]]
            yield questions[node["split"]["split_index"]], (fresh, fresh + 1), []
            fresh += 2
        else:
            yield None, (-1, -1), list(np.ravel(node["value"]))


def adapt(model: Any) -> Any:
    """A model of the base class, as a file is often loaded, as the class that its loss belongs to.

    The base class predicts raw scores, whatever the loss. A model of the wrong class is refused.
    """
    import catboost

    if not model.is_fitted():
        return model
    loss, classes = str(model.get_all_params().get("loss_function", "")).split(":")[0], len(model.classes_) > 0
    values = loss in (*VALUE_LOSSES_OF_CATBOOST, *POWER_LOSSES_OF_CATBOOST)
    right = catboost.CatBoostClassifier if classes else catboost.CatBoostRegressor if values else catboost.CatBoost
    if isinstance(model, right):
        return model
    if type(model) is not catboost.CatBoost:
        raise InputError(
            f"the {type(model).__name__} holds a model with the loss {loss!r}.",
            f"It predicts {f'the classes {model.classes_.tolist()}' if classes else 'values'}.",
            f"Load its file with catboost.{right.__name__}().load_model(...).",
        )
    made = right()
    made.__setstate__(model.__getstate__())
    return made


for name in ("CatBoostClassifier", "CatBoostRegressor"):
    register_importer(f"catboost.{name}", read_model)
register_native("catboost.CatBoost", adapt)
