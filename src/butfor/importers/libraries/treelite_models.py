"""treelite: trees of other libraries in one form, read from its dump, and called by its reference inference, GTIL.

GTIL compares and adds up in the type of the thresholds. Of equal classes, the first is predicted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray
from butfor.errors import UnsupportedModelError
from butfor.estimator.boosters import (
    AbstractNative,
    AbstractNativeClassifier,
    AbstractNativeRegressor,
    known_classes,
    register_native,
)
from butfor.estimator.dumps.dump import as_numbers
from butfor.importers.fold.column import Column
from butfor.importers.fold.nodes import trees_over
from butfor.importers.registry import Imported, register_importer
from butfor.model.linked import value_behind
from butfor.model.monotone import AbstractStep, Exponential, Logistic, SignedSquare
from butfor.model.nodes import Nodes, numbered
from butfor.model.readout import AbstractReadout, Argmax, Link, Sign
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE
from butfor.model.trees import exact

LINKS_OF_TREELITE: dict[str, AbstractStep | None] = {
    "identity": None,
    "exponential": Exponential(),
    "sigmoid": Logistic(),
    "signed_square": SignedSquare(),
}
"""What is made of the only sum."""

CLASS_LINKS_OF_TREELITE: dict[str, Link] = {
    "identity_multiclass": "identity",
    "softmax": "softmax",
    "multiclass_ova": "ovr",
}
"""What is made of one sum for each class."""

Dumped = dict[str, Any]


def read_treelite(estimator: AbstractNative, columns: list[Column]) -> Imported:
    """The sums of a model's leaves, or their means."""
    dump = json.loads(estimator.booster.dump_as_json(pretty_print=False))
    classes, name = known_classes(estimator), dump["postprocessor"]
    _check(dump)
    base = np.array(dump["base_scores"], dtype=np.float64)
    count = _trees_of_a_score(dump)
    shares = name == "identity_multiclass" and count > 1  # votes are counted, so that equal ones stay equal
    bent = dump["sigmoid_alpha"] if name in ("sigmoid", "multiclass_ova") else 1.0
    scale = bent if shares else bent / count
    nodes = _nodes(dump, scale)
    model = trees_over(columns, nodes, base * (count if shares else bent), folded=not exact(scale))
    return model, _readout(dump, classes, count if shares else 1)


def _check(dump: Dumped) -> None:
    """Refuse what is not read."""
    name, known = dump["postprocessor"], {**LINKS_OF_TREELITE, **CLASS_LINKS_OF_TREELITE}
    if dump["num_target"] > 1:
        raise UnsupportedModelError(
            "the model of treelite predicts several values.", "One output is needed.", "Make one model per output."
        )
    if name not in known or (name in CLASS_LINKS_OF_TREELITE) != (dump["num_class"][0] > 1):
        raise UnsupportedModelError(
            f"a model of treelite ends in {name!r} for {dump['num_class'][0]} classes.",
            f"It must end in {', '.join(LINKS_OF_TREELITE)}; or of several classes in {', '.join(CLASS_LINKS_OF_TREELITE)}.",
            "Explain the model that it was made of, or let the swarm search.",
        )
    if any(node.get("comparison_op") == "==" for _, node in _all(dump)):
        raise UnsupportedModelError(
            "a model of treelite asks whether a number is equal to another.",
            "It must compare by order.",
            "Let the swarm search.",
        )


def _trees_of_a_score(dump: Dumped) -> int:
    """By how many trees each sum is divided: 1 if there are no means."""
    if not dump["average_tree_output"]:
        return 1
    per = dump["num_class"][0] if max(dump["class_id"]) >= 0 else 1
    return len(dump["trees"]) // per


def _readout(dump: Dumped, classes: tuple[Any, ...], total: int) -> AbstractReadout:
    single = dump["threshold_type"] == "float32"
    unit, name = UNIT_SINGLE if single else UNIT_DOUBLE, dump["postprocessor"]
    if name == "softmax":
        unit = UNIT_SINGLE  # its exponentials are float32, whatever the sums are
    if name in CLASS_LINKS_OF_TREELITE:
        return Argmax(classes, CLASS_LINKS_OF_TREELITE[name], total, unit)
    return Sign(classes, "logistic", unit) if classes else value_behind(LINKS_OF_TREELITE[name], unit)


def _all(dump: Dumped) -> Iterator[tuple[int, Dumped]]:
    """The nodes of all trees, each with the number of its tree."""
    return ((t, node) for t, tree in enumerate(dump["trees"]) for node in tree["nodes"])


def _nodes(dump: Dumped, scale: float) -> Nodes:
    """The nodes of all trees. Where a list or a comparison is about what goes right, the children change their places."""
    first = numbered([len(tree["nodes"]) for tree in dump["trees"]])
    place = {(t, node["node_id"]): at for at, (t, node) in enumerate(_all(dump))}
    single = dump["threshold_type"] == "float32"
    count = len(place)
    feature, group = np.full(count, -1, dtype=np.intp), np.full(count, -1, dtype=np.intp)
    left, right = np.full(count, -1, dtype=np.intp), np.full(count, -1, dtype=np.intp)
    threshold, missing_left = np.zeros(count), np.zeros(count, dtype=np.bool_)
    value = np.zeros((count, len(dump["base_scores"])))
    lists: list[list[int]] = []
    for at, (t, node) in enumerate(_all(dump)):
        if "leaf_value" in node:
            score = dump["class_id"][t]
            value[at, slice(None) if score < 0 else score] = node["leaf_value"]
            continue
        feature[at] = node["split_feature_id"]
        ways = [place[t, node["left_child"]], place[t, node["right_child"]]]
        turned = node.get("category_list_right_child", False) or node.get("comparison_op") in (">", ">=")
        left[at], right[at] = ways[::-1] if turned else ways
        missing_left[at] = node["default_left"] != turned
        if node["node_type"] == "categorical_test_node":
            group[at] = len(lists)
            lists.append(node["category_list"])
        else:
            threshold[at] = (
                _last_below(node["threshold"], single) if node["comparison_op"] in ("<", ">=") else node["threshold"]
            )
    return Nodes(
        first, feature, threshold, missing_left, left, right, scale * value, single, group, _sets(lists)
    )  # fmt: skip


def _last_below(threshold: float, single: bool) -> float:
    """The largest number below a threshold, in its own type."""
    kind = np.float32 if single else np.float64
    return float(np.nextafter(kind(threshold), kind(-np.inf)))


def _sets(lists: list[list[int]]) -> BoolArray:
    """Which categories each list holds. Any other number is in none."""
    sets = np.zeros((len(lists), 2 + max((max(listed, default=0) for listed in lists), default=0)), dtype=np.bool_)
    for row, listed in zip(sets, lists, strict=True):
        row[listed] = True
    return sets


class _Treelite:
    """Calls a model of treelite."""

    booster: Any

    def answers(self, X: Any) -> NDArray[Any]:
        from treelite import gtil

        with np.errstate(over="ignore"):
            found = np.asarray(gtil.predict(self.booster, as_numbers(X, {}), nthread=1))[:, 0]
        return found[:, 0] if found.shape[1] == 1 else found

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "booster": self.booster.serialize_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from treelite import Model

        self.__dict__.update(state, booster=Model.deserialize_bytes(state["booster"]))


class TreeliteClassifier(_Treelite, AbstractNativeClassifier):
    """A model of treelite that predicts probabilities of the classes 0, 1, ..."""


class TreeliteRegressor(_Treelite, AbstractNativeRegressor):
    """Any other model of treelite."""


def adapt(model: Any) -> AbstractNative:
    """A model as an estimator."""
    header = json.loads(model.dump_as_json(pretty_print=False))
    classes = header["num_class"][0]
    if classes > 1 or (header["task_type"] == "kBinaryClf" and header["postprocessor"] == "sigmoid"):
        return TreeliteClassifier(model, None, model.num_feature, range(max(classes, 2)))
    return TreeliteRegressor(model, None, model.num_feature)


register_importer(_Treelite, read_treelite)
register_native("treelite.Model", adapt)
