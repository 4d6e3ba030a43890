"""CatBoost's saved models, as its JSON holds them. Their trees are oblivious, or of any shape.

CatBoost compares in float32. A row goes right iff its value is above the border. It adds up in float64.
(Prokhorenkova et al. 2018, "CatBoost: unbiased boosting with categorical features".)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import InputError, UnsupportedModelError
from butfor.estimator.dumps.catboost_statistics import (
    HasLevel,
    Statistic,
    asked_of_categories,
    check_statistics,
    hashes_of,
)
from butfor.estimator.dumps.dump import AbstractDump, DumpedClassifier, DumpedRegressor, FromDump, as_numbers, softmax
from butfor.model.nodes import Nodes, numbered

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

Asked = TypeVar("Asked")
Node = tuple[Asked | None, tuple[int, int], list[float]]
"""A node: what it asks (None for a leaf), its children by their numbers within the tree, and the leaf's values."""

Saved = dict[str, Any]


@dataclass(frozen=True, eq=False)
class CatBoostDump(AbstractDump):
    """A saved model of CatBoost. Behind the table's columns, its trees read what is asked about categories.

    - `saved`: the whole of it;
    - `loss`: what was minimised;
    - `asked`: what is asked about categories, and the borders that it is compared with;
    - `of_categories`: the columns of categories.
    """

    saved: Saved
    loss: str
    asked: list[tuple[HasLevel | Statistic, list[float]]]
    of_categories: list[int]

    library: ClassVar[str] = "CatBoost"

    @property
    def read(self) -> int:
        return self.width + len(self.asked)

    def numbers(self, table: Any) -> FloatArray:
        plain, hashes = self._inputs(table)
        return np.column_stack([plain, *(one.of(plain, hashes) for one, _ in self.asked)]) if self.asked else plain

    def right_of(self, table: Any, begin: int, end: int) -> BoolArray:
        """Whether each row goes right at each question about categories, from number `begin` to before `end`."""
        plain, hashes = self._inputs(table)
        numbered = [(one, border) for one, borders in self.asked for border in borders][begin:end]
        found = {one: one.of(plain, hashes) for one, _ in numbered}
        return np.column_stack([found[one] > np.float32(border) for one, border in numbered])

    def _inputs(self, table: Any) -> tuple[FloatArray, dict[int, IntArray]]:
        """The table's columns as numbers, and the hashes of its categories. As numbers, these are 0."""
        hashes = {j: hashes_of(table, j) for j in self.of_categories}
        return as_numbers(table, {j: np.zeros(len(some)) for j, some in hashes.items()}), hashes

    def sums(self, table: Any) -> NDArray[Any]:
        scale, bias = self.saved["scale_and_bias"]
        return np.asarray(scale * super().sums(table) + np.array(bias, dtype=np.float64))

    def answers(self, sums: NDArray[Any]) -> NDArray[Any]:
        if not self.classes:
            return np.asarray(sums[:, 0])
        if self.loss == "MultiClass":
            return softmax(sums)
        chances = np.asarray(expit(sums))
        return chances[:, 0] if chances.shape[1] == 1 else chances


class CatBoostFile(FromDump):
    """Predicts as CatBoost does, without it."""


class CatBoostFileClassifier(CatBoostFile, DumpedClassifier):
    """A classifier in a file of CatBoost."""


class CatBoostFileRegressor(CatBoostFile, DumpedRegressor):
    """A regressor in a file of CatBoost."""


def catboost_in_file(saved: Saved) -> CatBoostFileClassifier | CatBoostFileRegressor:
    """The classifier or regressor that a file holds, as its loss says."""
    info, known = saved["model_info"], saved["features_info"]
    loss = info["params"]["loss_function"]["type"]
    check_saved(saved, loss)
    check_statistics(saved)
    classes = tuple(info["class_params"]["class_names"]) if loss in CLASS_LOSSES_OF_CATBOOST else ()
    chosen = known.get("categorical_features", [])
    columns = sorted([*known.get("float_features", ()), *chosen], key=lambda one: one["flat_feature_index"])
    names = [one["feature_id"] for one in columns]
    asked = list(asked_of_categories(saved))
    dump = CatBoostDump(
        nodes=_nodes(saved, len(columns), asked),
        base=np.zeros(len(saved["scale_and_bias"][1])),
        names=None if "" in names or names == [str(j) for j in range(len(names))] else names,
        width=len(columns),
        classes=classes,
        saved=saved,
        loss=loss,
        asked=asked,
        of_categories=[one["flat_feature_index"] for one in chosen],
    )
    return CatBoostFileClassifier(dump) if classes else CatBoostFileRegressor(dump)


def check_saved(saved: Saved, loss: str) -> None:
    """Refuse losses, borders between two classes, and inputs that are not read."""
    known = (*CLASS_LOSSES_OF_CATBOOST, *VALUE_LOSSES_OF_CATBOOST)
    if loss not in known:
        raise UnsupportedModelError(
            f"the loss {loss!r} of CatBoost cannot be read.",
            f"The known losses are {', '.join(known)}.",
            "Search given rows with bf.candidates(rows).",
        )
    if loss in VALUE_LOSSES_OF_CATBOOST and len(saved["scale_and_bias"][1]) > 1:
        raise UnsupportedModelError(
            "CatBoost predicts several values.", "One output is needed.", "Fit one model per output."
        )
    border = float(saved["model_info"].get("binclass_probability_threshold", 0.5))
    if border != 0.5:
        raise UnsupportedModelError(
            f"CatBoost decides at the probability {border:g}.",
            "It must be 0.5.",
            "Ask for a probability with bf.probability, or put the model in a FixedThresholdClassifier.",
        )
    for kind, found in saved["features_info"].items():
        if found and kind not in KINDS_OF_INPUTS:
            raise UnsupportedModelError(
                f"CatBoost was trained with {kind.replace('_', ' ')}.",
                "Numbers and categories can be read.",
                "Make columns of numbers of them beforehand. Until then, the swarm searches.",
            )


def _nodes(saved: Saved, width: int, of_categories: list[tuple[HasLevel | Statistic, list[float]]]) -> Nodes:
    """The nodes of the trees. What they ask about categories stands behind the columns."""
    numbers = saved["features_info"].get("float_features", ())
    asked = [(one["flat_feature_index"], border) for one in numbers for border in one.get("borders") or ()]
    asked += [(width + k, border) for k, (_, borders) in enumerate(of_categories) for border in borders]
    scores = len(saved["scale_and_bias"][1])
    trees = [list(nodes) for nodes in trees_of(saved, asked, lambda _: False)]
    first = numbered([len(tree) for tree in trees])
    rows = [
        (*(question or (-1, 0.0)), at + left, at + right, leaf or [0.0] * scores)
        for at, tree in zip(first, trees, strict=True)
        for question, (left, right), leaf in tree
    ]
    feature, border, left, right, value = (np.array(part) for part in zip(*rows, strict=True))
    right_if_missing = [one["flat_feature_index"] for one in numbers if one["nan_value_treatment"] == "AsTrue"]
    return Nodes(
        roots=first,
        feature=feature.astype(np.intp),
        threshold=border.astype(np.float32).astype(np.float64),
        missing_left=~np.isin(feature, right_if_missing),
        left=left.astype(np.intp),
        right=right.astype(np.intp),
        value=value.astype(np.float64).reshape(len(rows), scores),
        single=True,
    )


def trees_of(
    saved: Saved, questions: Sequence[Asked], last: Callable[[Asked], bool]
) -> Iterator[Iterator[Node[Asked]]]:
    """The nodes of each tree. In an oblivious one, some questions are put `last`."""
    for tree in saved.get("oblivious_trees", ()):
        nodes = _oblivious(tree, questions, last, len(saved["scale_and_bias"][1]))
        yield nodes
    for tree in saved.get("trees", ()):
        yield _any_tree(tree, questions)


def _oblivious(
    tree: Saved, questions: Sequence[Asked], last: Callable[[Asked], bool], scores: int
) -> Iterator[Node[Asked]]:
    """The nodes of an oblivious tree, level by level. All nodes of a level have the same question.

    The number of a leaf says how each question was answered, the first in its lowest bit.
    """
    asked = [questions[split["split_index"]] for split in tree["splits"] or ()]
    if len(tree["leaf_values"]) != scores << len(asked):
        raise InputError(
            f"a tree of CatBoost has {len(asked)} splits and {len(tree['leaf_values'])} values.", "It must be whole."
        )
    order = sorted(range(len(asked)), key=lambda k: last(asked[k]))
    for level, k in enumerate(order):
        for node in range(2**level - 1, 2 ** (level + 1) - 1):
            yield asked[k], (2 * node + 1, 2 * node + 2), []
    number = np.zeros(1, dtype=np.intp)
    for k in order:
        number = np.add.outer(number, [0, 1 << k]).ravel()
    values = tree["leaf_values"]
    for leaf in number.tolist():
        yield None, (-1, -1), values[leaf * scores : (leaf + 1) * scores]


def _any_tree(tree: Saved, questions: Sequence[Asked]) -> Iterator[Node[Asked]]:
    """The nodes of any tree, breadth first. So counting gives the numbers of a node's children."""
    level, fresh = [tree], 1
    for node in level:
        if "split" in node:
            level += [node["left"], node["right"]]
            yield questions[node["split"]["split_index"]], (fresh, fresh + 1), []
            fresh += 2
        else:
            yield None, (-1, -1), list(np.ravel(node["value"]))
