"""Models of ONNX-ML over the columns that reach them, and what follows them in a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.estimator.networks import End
from butfor.importers.fold.operators import Ended, Operators
from butfor.importers.fold.sums import Sums
from butfor.importers.libraries.onnx_steps import OF_SINGLE, TypedColumns, unread
from butfor.importers.libraries.onnx_trees import (
    AGGREGATES,
    POST_TRANSFORMS,
    Grown,
    floats_of,
    grown,
    grown_newer,
    trees_of,
)
from butfor.model.monotone import AbstractStep
from butfor.model.readout import AbstractReadout, Argmax, Link, Sign, Threshold
from butfor.model.scores import UNIT_SINGLE
from butfor.model.trees import Trees, exact

SumsOf = Callable[[TypedColumns], tuple[Sums, Operators]]
"""Enters columns into the sums of a graph, and returns what writes sums down."""


@dataclass(frozen=True, eq=False)
class Forest:
    """The sums of trees. `readout` says which class they stand for, and is None if they are values."""

    model: Trees
    readout: AbstractReadout | None = None


@dataclass(frozen=True, eq=False)
class Bent:
    """A value that is a function of one sum."""

    of: Sums | Forest
    steps: tuple[AbstractStep, ...]


@dataclass(frozen=True, eq=False)
class Labels:
    """The classes of scores: the largest wins, or the second of two if their one score is above 0."""

    of: Any


@dataclass(frozen=True, eq=False)
class Total:
    """The sum of probabilities that were computed one by one."""

    of: Ended


@dataclass(frozen=True, eq=False)
class Shares:
    """Probabilities that were computed one by one, and divided by their sum."""

    of: Ended


def _linear_regressor(enter: SumsOf, said: Mapping[str, Any], table: TypedColumns) -> Any:
    """LinearRegressor: sums in float32."""
    targets = int(said.get("targets", 1))
    weight = np.asarray(said["coefficients"], dtype=np.float64).reshape(targets, -1)
    intercept = np.asarray(said.get("intercepts") or np.zeros(targets), dtype=np.float64)
    sums, to = enter(table.cast(OF_SINGLE))
    post = _post(said)
    if post == "PROBIT" or (post != "NONE" and targets > 1):
        raise unread("ai.onnx.ml.LinearRegressor", f"it ends in {post}")
    return to.linear(sums, weight, intercept)  # of a single sum, onnxruntime makes no probability


def _linear_classifier(enter: SumsOf, said: Mapping[str, Any], table: TypedColumns) -> Any:
    """LinearClassifier: sums in float32, one per class, or one for the second of two."""
    intercept = np.asarray(said["intercepts"], dtype=np.float64)
    weight = np.asarray(said["coefficients"], dtype=np.float64).reshape(len(intercept), -1)
    sums, to = enter(table.cast(OF_SINGLE))
    post = _post(said)
    if len(weight) == 2 and (weight[0] == -weight[1]).all() and intercept[0] == -intercept[1] and post != "SOFTMAX":
        weight, intercept = weight[1:], intercept[1:]  # so scikit-learn's one score of two classes is written
    found = to.linear(sums, weight, intercept)
    return Labels(found), _ended(found, post)


def _ended(found: Sums, post: str) -> Any:
    ends = {"LOGISTIC": End.SIGMOID, "SOFTMAX": End.SOFTMAX}
    return Ended(found, ends[post]) if post in ends else found


def _post(said: Mapping[str, Any]) -> str:
    post = said.get("post_transform", b"NONE")
    return post.decode() if isinstance(post, bytes) else POST_TRANSFORMS[post]


def _tree_values(enter: SumsOf, said: Mapping[str, Any], table: TypedColumns) -> Any:
    """TreeEnsembleRegressor: the sum or the mean of trees."""
    targets = int(said.get("n_targets", 1))
    mean = said.get("aggregate_function", b"SUM").decode()
    return _values(grown(said, "target", targets), table, _base(said, targets), mean, _post(said))


def _newer_trees(enter: SumsOf, said: Mapping[str, Any], table: TypedColumns) -> Any:
    """TreeEnsemble: the same in newer files."""
    trees = grown_newer(said)
    aggregate = AGGREGATES[int(said.get("aggregate_function", 1))]
    return _values(
        trees, table, np.zeros(trees.value.shape[1]), aggregate, POST_TRANSFORMS[said.get("post_transform", 0)]
    )


def _base(said: Mapping[str, Any], scores: int) -> FloatArray:
    found = floats_of(said, "base_values")
    return found if len(found) == scores else np.zeros(scores)


def _values(trees: Grown, table: TypedColumns, base: FloatArray, aggregate: str, post: str) -> Any:
    """Trees that are added up. Of a single sum, onnxruntime makes no probability, whatever the file says."""
    if aggregate not in ("SUM", "AVERAGE"):
        raise unread("ai.onnx.ml.TreeEnsemble", f"it takes the {aggregate.lower()} of trees")
    if post == "PROBIT" or (post != "NONE" and len(base) > 1):
        raise unread("ai.onnx.ml.TreeEnsemble", f"it ends in {post}")
    count = len(trees.roots) if aggregate == "AVERAGE" else 1
    mean = replace(trees, value=trees.value / count)
    return Forest(_trees(mean, table, base, folded=not exact(count)))


def _trees(trees: Grown, table: TypedColumns, base: FloatArray, *, folded: bool = False) -> Trees:
    single = table.kind.kind != "f" or table.kind == OF_SINGLE
    return trees_of(table.columns, trees, base, single=single, folded=folded)


def _tree_classes(enter: SumsOf, said: Mapping[str, Any], table: TypedColumns) -> Any:
    """TreeEnsembleClassifier. Of two classes, all leaves may speak for one of them."""
    labels = said.get("classlabels_strings") or said.get("classlabels_int64s") or []
    count, post = len(labels), _post(said)
    ids = {*said["class_ids"]}
    names = tuple(range(count))  # the estimator has them by their own names
    trees = grown(said, "class", count)
    if count == 2 and ids == {0} and len(floats_of(said, "base_values")) < 2:
        found = _of_one_score(trees, table, floats_of(said, "base_values"), post, names)
    elif count == 2 and len(floats_of(said, "base_values")) < 2 and ids == {0, 1}:
        second = replace(trees, value=trees.value[:, 1:])  # onnxruntime asks whether its own sum is above 0
        found = Forest(_trees(second, table, np.zeros(1)), Sign(names, "none", UNIT_SINGLE))
    elif count > 2 and _each_has_a_score(trees, said):
        link: Link = "softmax" if post == "SOFTMAX" else "none"
        if post == "NONE" and (trees.value >= 0).all():
            link = "identity"
        found = Forest(_trees(trees, table, _base(said, count)), Argmax(names, link, unit=UNIT_SINGLE))
    else:
        raise unread("ai.onnx.ml.TreeEnsembleClassifier", "some leaves leave out classes, and it is not said what then")
    return Labels(found), found


def _each_has_a_score(trees: Grown, said: Mapping[str, Any]) -> bool:
    """Whether all classes are compared for each row. Those that no leaf speaks for are not."""
    if len(floats_of(said, "base_values")) == trees.value.shape[1]:
        return True
    leaf = trees.leaf
    if (trees.value[trees.has] > 0).all():  # those that are left out would not win
        return True
    ends = np.append(trees.roots[1:], len(leaf))
    always = [trees.has[a:b][leaf[a:b]].all(axis=0) for a, b in zip(trees.roots, ends, strict=True)]
    return bool(np.any(always, axis=0).all())


def _of_one_score(trees: Grown, table: TypedColumns, base: FloatArray, post: str, names: tuple[Any, ...]) -> Forest:
    """Two classes of one score s. If no leaf is negative, s is compared with 1/2, and else with 0."""
    value, start = trees.value[:, :1], np.append(base, 0.0)[:1]
    positive = bool((value >= 0).all())
    one = replace(trees, value=value)
    if positive and post != "LOGISTIC":  # the probabilities are 1 - s and s
        if len(trees.roots) == 1 and not start.any():  # looked up, and not added up: as float32 subtracts
            rest, start = (np.float32(1) - value.astype(np.float32)).astype(np.float64), np.zeros(2)
        else:
            rest, start = -value, np.array([1.0 - start[0], start[0]])
        rest = np.where(trees.leaf[:, None], rest, 0.0)
        both = _trees(replace(trees, value=np.hstack([rest, value])), table, start)
        return Forest(both, Argmax(names, "identity", unit=UNIT_SINGLE))
    sign = Sign(names, "logistic" if post == "LOGISTIC" else "none", UNIT_SINGLE)
    if not positive:
        return Forest(_trees(one, table, start), sign)
    above = float(np.nextafter(np.float32(0.5), np.float32(1)))  # onnxruntime takes such scores for probabilities
    return Forest(_trees(one, table, start), Threshold(sign, 1, above, "score"))


MODELS: dict[str, Callable[[SumsOf, Mapping[str, Any], TypedColumns], Any]] = {
    "ai.onnx.ml.LinearRegressor": _linear_regressor,
    "ai.onnx.ml.LinearClassifier": _linear_classifier,
    "ai.onnx.ml.TreeEnsembleRegressor": _tree_values,
    "ai.onnx.ml.TreeEnsembleClassifier": _tree_classes,
    "ai.onnx.ml.TreeEnsemble": _newer_trees,
}
"""Operators that end a row of steps over columns."""
