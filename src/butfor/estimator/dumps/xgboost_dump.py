"""XGBoost's saved models, in JSON or UBJSON, of versions 1.6 to 3.

XGBoost compares in float32: a row goes left iff its value is strictly below the threshold. It also adds up in float32.
(Chen and Guestrin 2016, "XGBoost: a scalable tree boosting system"; the format is xgboost.readthedocs.io, "Model IO".)
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import InputError, UnsupportedModelError
from butfor.estimator.dumps.dump import AbstractDump, DumpedClassifier, DumpedRegressor, FromDump, as_numbers, coded
from butfor.model.monotone import AbstractStep, Exponential, Logistic
from butfor.model.nodes import Nodes, in_score, numbered
from butfor.space import frames

VERSIONS_OF_XGBOOST = range(1, 4)
"""The versions whose files are read, by their first number. Of version 1, those from 1.6 on."""

SEVERAL = ("multi:softprob", "multi:softmax")
CLASS_OBJECTIVES_OF_XGBOOST = ("binary:logistic", *SEVERAL)
VALUE_OBJECTIVES_OF_XGBOOST = (
    "reg:squarederror",
    "reg:linear",
    "reg:absoluteerror",
    "reg:pseudohubererror",
    "reg:quantileerror",
    "reg:squaredlogerror",
)
LINKED_OBJECTIVES_OF_XGBOOST: dict[str, AbstractStep] = {
    "count:poisson": Exponential(),
    "reg:gamma": Exponential(),
    "reg:tweedie": Exponential(),
    "reg:logistic": Logistic(),
    "binary:logistic": Logistic(),
}
"""Objectives whose prediction is a function of the sum. The last one is a value only if a regressor was trained with it."""

Learner = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class XGBoostDump(AbstractDump):
    """A saved model of XGBoost.

    - `categories`: for each column of categories, these in the order of their numbers; nothing if they are not known, as
      before version 3.1.
    """

    objective: str
    categories: dict[int, list[Any]]

    library: ClassVar[str] = "XGBoost"

    def numbers(self, table: Any) -> FloatArray:
        if frames.is_array(table):
            return as_numbers(table, {})
        names = frames.names(table)
        declared = {j: known or _declared(table, names[j]) for j, known in self.categories.items()}
        return as_numbers(table, {j: coded(table, j, known, "XGBoost") for j, known in declared.items() if known})

    def answers(self, sums: NDArray[Any]) -> NDArray[Any]:
        if self.objective in SEVERAL and self.classes:
            raised = _exp(sums - sums.max(axis=1, keepdims=True))
            return np.asarray(raised / raised.sum(axis=1, keepdims=True, dtype=np.float64).astype(np.float32))
        link = LINKED_OBJECTIVES_OF_XGBOOST.get(self.objective)
        if isinstance(link, Logistic):
            return np.asarray(np.float32(1) / (_exp(np.minimum(-sums[:, 0], LARGEST_EXPONENT)) + np.float32(1)))
        return _exp(sums[:, 0]) if link else np.asarray(sums[:, 0])


LARGEST_EXPONENT = np.float32(88.7)
"""XGBoost's own bound before it takes an exponential in the logistic function."""


def _exp(x: NDArray[Any]) -> NDArray[Any]:
    """The exponential rounded to float32 once, as the C library does. That of numpy is off by up to two units."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(x.astype(np.float64)).astype(np.float32))


def _declared(table: Any, name: str) -> list[Any]:
    """The categories that a column's type declares: before version 3.1, their positions are their numbers."""
    kind = frames.dtype(table, name)
    if kind in ("category", "ordered"):
        return list(frames.categories(table, name))
    if kind in ("text", "object"):
        raise InputError(
            f"column {name!r} holds text, and the saved model of XGBoost does not say which category has which number.",
            "Versions before 3.1 do not save the categories.",
            f"Give the column the type of the training data: X[{name!r}].astype(pd.CategoricalDtype([...])).",
        )
    return []


class XGBoostFile(FromDump):
    """Predicts as XGBoost does, without it."""


class XGBoostFileClassifier(XGBoostFile, DumpedClassifier):
    """A classifier or a booster with classes 0, 1, ... in a file of XGBoost."""


class XGBoostFileRegressor(XGBoostFile, DumpedRegressor):
    """A regressor or a booster of values in a file of XGBoost."""


def xgboost_in_file(saved: Any) -> XGBoostFileClassifier | XGBoostFileRegressor:
    """The estimator that wrote a file, up to its best iteration; or a booster, with all of them."""
    attributes = saved["learner"]["attributes"]
    kind = json.loads(attributes.get("scikit_learn", "{}")).get("_estimator_type", "")
    objective, params = saved["learner"]["objective"]["name"], saved["learner"]["learner_model_param"]
    classified = objective in CLASS_OBJECTIVES_OF_XGBOOST and kind != "regressor"
    if kind == "classifier" and not classified and objective in known_objectives():
        raise UnsupportedModelError(
            f"XGBoost saved a classifier with the objective {objective!r}.",
            f"A classifier needs {', '.join(CLASS_OBJECTIVES_OF_XGBOOST)}.",
        )
    best = attributes.get("best_iteration") if kind in ("classifier", "regressor") else None
    classes = range(max(int(params["num_class"]), 2)) if classified else ()
    dump = xgboost_dump(saved, tuple(classes), None if best is None else int(best) + 1)
    return XGBoostFileClassifier(dump) if classified else XGBoostFileRegressor(dump)


def xgboost_dump(saved: Any, classes: tuple[Any, ...], rounds: int | None) -> XGBoostDump:
    """The first `rounds` iterations of a saved model (default: all)."""
    learner = saved["learner"]
    _check(learner, saved["version"])
    params, forest = learner["learner_model_param"], learner["gradient_booster"]["model"]
    scores, width = max(int(params["num_class"]), 1), int(params["num_feature"])
    count = _trees_until(forest, rounds, scores)
    return XGBoostDump(
        nodes=_nodes(forest["trees"][:count], np.array(forest["tree_info"][:count], dtype=np.intp), scores),
        base=_base(learner, scores),
        names=list(learner.get("feature_names") or ()) or None,
        width=width,
        classes=classes,
        objective=learner["objective"]["name"],
        categories=categories_of(learner),
    )


def known_objectives() -> tuple[str, ...]:
    """All objectives that are read."""
    return tuple(
        dict.fromkeys((*CLASS_OBJECTIVES_OF_XGBOOST, *VALUE_OBJECTIVES_OF_XGBOOST, *LINKED_OBJECTIVES_OF_XGBOOST))
    )


def _check(learner: Learner, version: Sequence[int]) -> None:
    """Refuse what is not read."""
    if version[0] not in VERSIONS_OF_XGBOOST or (1, 0) <= tuple(version[:2]) < (1, 6):
        raise UnsupportedModelError(
            f"the model was saved by XGBoost {'.'.join(map(str, version))}.",
            f"Versions 1.6 to {VERSIONS_OF_XGBOOST[-1]} can be read.",
        )
    kind, objective = learner["gradient_booster"]["name"], learner["objective"]["name"]
    if kind != "gbtree":
        raise UnsupportedModelError(
            f"the booster {kind!r} of XGBoost cannot be read.",
            "Only 'gbtree' can be read.",
            "Train with booster='gbtree'.",
        )
    forest = learner["gradient_booster"]["model"]
    if any(float(weight) != 1 for weight in forest.get("weight_drop", ())):  # from XGBoost 3.4 on, dropout is told here
        raise UnsupportedModelError(
            "trees of XGBoost that were trained with dropout ('dart') have weights, which cannot be read.",
            "All weights must be 1.",
            "Train without rate_drop.",
        )
    if objective not in known_objectives():
        raise UnsupportedModelError(
            f"the objective {objective!r} of XGBoost cannot be read.",
            f"The known objectives are {', '.join(known_objectives())}.",
            "Search given rows with bf.candidates(rows).",
        )
    trees = forest["trees"]
    if int(learner["learner_model_param"].get("num_target", 1)) > 1 or any(
        int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in trees
    ):
        raise UnsupportedModelError(
            "XGBoost predicts several values.", "One output is needed.", "Fit one model per output."
        )


def _trees_until(forest: Learner, rounds: int | None, scores: int) -> int:
    """How many trees the first iterations have. Before version 2.1, each has equally many."""
    total, said = len(forest["trees"]), int(forest["gbtree_model_param"]["num_trees"])
    if total != said:
        raise InputError(f"the model of XGBoost has {total} trees, but says that it has {said}.", "It must be whole.")
    if rounds is None:
        return total
    if "iteration_indptr" in forest:
        return int(forest["iteration_indptr"][rounds])
    return rounds * scores * int(forest["gbtree_model_param"]["num_parallel_tree"])


def _base(learner: Learner, scores: int) -> NDArray[Any]:
    """The start of each sum: the base score. It is given as a prediction, and turned into a score (in float32)."""
    base = np.atleast_1d(np.asarray(json.loads(learner["learner_model_param"]["base_score"]), dtype=np.float32))
    link = LINKED_OBJECTIVES_OF_XGBOOST.get(learner["objective"]["name"])
    if isinstance(link, Logistic):
        base = -_log(np.float32(1) / base - np.float32(1))
    elif link:
        base = _log(base)
    return np.broadcast_to(base, scores).copy()


def _log(x: NDArray[Any]) -> NDArray[Any]:
    """The logarithm rounded to float32 once. See `_exp`."""
    return np.asarray(np.log(x.astype(np.float64)).astype(np.float32))


def _nodes(trees: list[dict[str, Any]], score: IntArray, scores: int) -> Nodes:
    counts = [len(tree["left_children"]) for tree in trees]
    first = numbered(counts)
    shift = np.repeat(first, counts)
    left = _all(trees, "left_children", np.intp)
    leaf = left < 0
    number = _all(trees, "split_conditions", np.float32)
    category = _all(trees, "split_type", np.intp) == 1
    group, groups = _groups(trees, first, len(left))
    below = np.nextafter(number, np.float32(-np.inf)).astype(np.float64)
    return Nodes(
        roots=first,
        feature=np.where(leaf, -1, _all(trees, "split_indices", np.intp)),
        threshold=np.where(category | leaf, 0.0, below),
        missing_left=_all(trees, "default_left", np.bool_),
        left=left + shift,
        right=_all(trees, "right_children", np.intp) + shift,
        value=in_score(np.where(leaf, number, 0).astype(np.float64), np.repeat(score, counts), scores),
        single=True,
        group=group,
        groups=groups,
    )


def _all(trees: list[dict[str, Any]], name: str, kind: Any) -> NDArray[Any]:
    return np.concatenate([np.asarray(tree[name], dtype=kind) for tree in trees])


def _groups(trees: list[dict[str, Any]], first: IntArray, count: int) -> tuple[IntArray, BoolArray]:
    """For each node, the row of categories that go left. They are those not in its list."""
    group = np.full(count, -1, dtype=np.intp)
    lists: list[list[int]] = []
    for at, tree in zip(first, trees, strict=True):
        for node, start, size in zip(
            tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
        ):
            group[at + node] = len(lists)
            lists.append(tree["categories"][start : start + size])
    groups = np.ones((len(lists), 2 + max((max(listed) for listed in lists), default=0)), dtype=np.bool_)
    for row, listed in zip(groups, lists, strict=True):
        row[listed] = False
    return group, groups


def categories_of(learner: Learner) -> dict[int, list[Any]]:
    """For each column of categories, these in the order of their numbers; nothing if they are not known."""
    known = learner["gradient_booster"]["model"].get("cats", {}).get("enc", [])
    kinds = learner.get("feature_types") or []
    return {i: _category_names(known[i]) if i < len(known) else [] for i, kind in enumerate(kinds) if kind == "c"}


def _category_names(saved: Mapping[str, Any]) -> list[Any]:
    values = saved["values"]
    if "offsets" not in saved:
        return list(values)
    text, ends = bytes(int(value) % 256 for value in values), saved["offsets"]
    return [text[start:end].decode() for start, end in pairwise(ends)]
