"""CatBoost: oblivious and other trees, read from the saved model.

Without CatBoost, it is read in `estimator/dumps/`. Both make the same nodes of a tree.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from butfor.arrays import BoolArray
from butfor.errors import InputError
from butfor.estimator.boosters import register_native
from butfor.estimator.dumps.catboost_dump import (
    CLASS_LOSSES_OF_CATBOOST,
    POWER_LOSSES_OF_CATBOOST,
    VALUE_LOSSES_OF_CATBOOST,
    CatBoostDump,
    CatBoostFile,
    Saved,
    check_saved,
    trees_of,
)
from butfor.estimator.dumps.catboost_statistics import check_statistics
from butfor.estimator.dumps.dump import FromDump
from butfor.estimator.source import not_fitted
from butfor.importers.fold.column import Column
from butfor.importers.fold.joint_questions import ColumnQuestion, JointQuestion, one_by_one
from butfor.importers.fold.nodes import trees_over
from butfor.importers.libraries.catboost_categories import (
    Answers,
    Inputs,
    as_catboost_answers,
    read_inputs,
    read_questions,
)
from butfor.importers.registry import Imported, register_importer
from butfor.model.nodes import Nodes, numbered
from butfor.model.readout import Argmax, Sign, Value
from butfor.model.trees import exact


def read_model(model: Any, columns: list[Column]) -> Imported:
    """CatBoostClassifier and CatBoostRegressor, all of their trees."""
    loss = str(model.get_all_params()["loss_function"]).split(":")[0]
    saved = _saved(model)
    check_saved(saved, loss)
    check_statistics(saved)
    classes = tuple(np.asarray(model.classes_).tolist()) if loss in CLASS_LOSSES_OF_CATBOOST else ()
    return _read(saved, loss, classes, columns, as_catboost_answers(saved))


def read_file(estimator: FromDump, columns: list[Column]) -> Imported:
    """What a file holds."""
    dump = estimator.booster
    assert isinstance(dump, CatBoostDump)
    return _read(dump.saved, dump.loss, dump.classes, columns, dump.right_of)


def _read(saved: Saved, loss: str, classes: tuple[Any, ...], columns: list[Column], answers: Answers) -> Imported:
    """The trees of a saved model."""
    scale, bias = saved["scale_and_bias"]
    base = np.array(bias, dtype=np.float64)
    inputs = read_inputs(saved, columns)
    nodes = _nodes(saved, inputs, read_questions(saved, inputs, answers), float(scale))
    if not classes:
        return trees_over(inputs.columns, nodes, base, folded=not exact(scale)), Value()
    readout = (
        Sign(classes, "logistic") if len(base) == 1 else Argmax(classes, "softmax" if loss == "MultiClass" else "ovr")
    )
    return trees_over(inputs.columns, nodes, base, folded=not exact(scale)), readout


def _saved(model: Any) -> Saved:
    """The model as its library saves it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        saved: Saved = json.loads(path.read_text())
    return saved


def _nodes(saved: Saved, inputs: Inputs, questions: list[ColumnQuestion | JointQuestion], scale: float) -> Nodes:
    """The nodes of all trees. Each asks about one column."""
    scores = len(saved["scale_and_bias"][1])
    trees = trees_of(
        saved, questions, last=lambda one: isinstance(one, JointQuestion)
    )  # few rows are copied for it there
    rows = [one_by_one(list(tree), inputs.cells) for tree in trees]
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


def adapt(model: Any) -> Any:
    """A model of the base class, as a file is often loaded, as the class that its loss belongs to.

    The base class predicts raw scores, whatever the loss. A model of the wrong class is refused.
    """
    import catboost

    if not model.is_fitted():
        raise not_fitted(model)
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
register_importer(CatBoostFile, read_file)
register_native("catboost.CatBoost", adapt)
