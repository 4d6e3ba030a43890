"""ydf: random forests, CART and gradient boosted trees of Yggdrasil, read by its own inspection of trees.

It compares numbers as float32. A missing value goes where the condition says: where the mean or the most frequent level goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.errors import UnsupportedModelError
from butfor.estimator.boosters import (
    AbstractNative,
    AbstractNativeClassifier,
    AbstractNativeRegressor,
    known_classes,
    register_native,
)
from butfor.importers.fold.column import Column, NeedsLevels, Values
from butfor.importers.fold.nodes import BEYOND_ALL, trees_over
from butfor.importers.registry import Imported, register_importer
from butfor.model.linked import value_behind
from butfor.model.nodes import Nodes
from butfor.model.readout import AbstractReadout, Argmax, Sign
from butfor.model.scores import UNIT_SINGLE
from butfor.space import frames

NUMBERS_OF_YDF = ("NUMERICAL", "BOOLEAN", "DISCRETIZED_NUMERICAL")
"""The types of columns that hold numbers."""

NOT_LISTED = 0
"""The position of a level that the model does not know."""


def read_ydf(estimator: AbstractNative, columns: list[Column]) -> Imported:
    """The sums of a model's leaves, or their means."""
    model, classes = estimator.booster, known_classes(estimator)
    trees = list(model.iter_trees())
    boosted = hasattr(model, "initial_predictions")
    start = model.initial_predictions() if boosted else np.zeros(len(classes) or 1)
    votes = not boosted and bool(classes) and model.winner_takes_all()
    shares = 1.0 if boosted or classes else 1 / len(trees)
    written = _TreesOfYdf(model, len(start), shares, votes=votes)
    for t, tree in enumerate(trees):
        written.tree(tree.root, t % len(start) if boosted else 0)
    given = [_given(model, spec, column) for spec, column in zip(_specs(model), columns, strict=True)]
    base = np.asarray(start, dtype=np.float64)
    return trees_over(given, written.nodes(), base, folded=True), _readout(model, classes, boosted, len(trees))


def _readout(model: Any, classes: tuple[Any, ...], boosted: bool, count: int) -> AbstractReadout:
    """How the model predicts from its sums."""
    activation = model.activation().name if boosted else "IDENTITY"
    if not classes and activation == "IDENTITY":
        return value_behind(None, UNIT_SINGLE)
    if classes and not boosted:
        return Argmax(classes, "identity", count, UNIT_SINGLE)
    if classes and activation == "SIGMOID":
        return Sign(classes, "logistic", UNIT_SINGLE)
    if classes and activation == "SOFTMAX":
        return Argmax(classes, "softmax", 1, UNIT_SINGLE)
    raise UnsupportedModelError(
        f"boosted trees of ydf end in {activation!r}.",
        "They must end in the sum itself, or in the probabilities of classes.",
        "Let the swarm search: it needs only predictions.",
    )


def _specs(model: Any) -> list[Any]:
    """What the model knows of each column, in the order in which it names them."""
    return [model.data_spec().columns[one.column_idx] for one in model.input_features()]


@dataclass(frozen=True)
class _Positions:
    """Levels as the positions that the model gives them."""

    positions: dict[str, int]

    def __call__(self, levels: Values) -> Values:
        return np.array([self._position(level) for level in levels.tolist()], dtype=np.float64)

    def _position(self, level: Any) -> float:
        if frames.is_missing(level) or level == "":
            return np.nan
        text = str(int(level)) if isinstance(level, float) and level.is_integer() else str(level)
        return float(self.positions.get(text, NOT_LISTED))


def _given(model: Any, spec: Any, column: Column) -> Column:
    """A column as the trees read it: numbers, or positions of levels."""
    kind = spec.DESCRIPTOR.fields_by_name["type"].enum_type.values_by_number[spec.type].name
    if kind in NUMBERS_OF_YDF:
        return column
    if kind != "CATEGORICAL" or spec.categorical.is_already_integerized:
        raise UnsupportedModelError(
            f"a model of ydf reads the column {spec.name!r} of the type {kind}.",
            "It must be a number, a flag, or a category whose levels the model lists.",
            "Let the swarm search: it needs only predictions.",
        )
    if column.table is None:
        raise NeedsLevels({column.feature: ()}, ordered=False)
    return column.map(_Positions({name: int(one.index) for name, one in spec.categorical.items.items()}))


class _TreesOfYdf:
    """Writes trees as arrays of nodes. The way of a condition that holds is the right one, but for lists of levels."""

    def __init__(self, model: Any, scores: int, share: float, *, votes: bool) -> None:
        self.place = {one.column_idx: k for k, one in enumerate(model.input_features())}
        self.specs = model.data_spec().columns
        self.scores, self.share, self.votes = scores, share, votes
        self.roots: list[int] = []
        self.rows: list[tuple[int, float, bool, int, int, int]] = []
        self.values: list[NDArray[np.float64]] = []
        self.lists: list[frozenset[int]] = []
        self.widest = 1 + max((int(one.categorical.number_of_unique_values) for one in self.specs), default=0)

    def tree(self, root: Any, score: int) -> None:
        """Write a tree whose leaves add to a score, or hold the shares of all classes."""
        self.roots.append(self._node(root, score))

    def _node(self, node: Any, score: int) -> int:
        at = len(self.rows)
        self.rows.append((-1, 0.0, False, -1, -1, -1))
        self.values.append(self._value(node.value, score) if node.is_leaf else np.zeros(self.scores))
        if not node.is_leaf:
            attribute, threshold, levels = self._question(node.condition)
            missing, ways = bool(node.condition.missing), (node.neg_child, node.pos_child)
            group = -1
            if levels is not None:
                ways, missing, group = ways[::-1], not missing, len(self.lists)
                self.lists.append(levels)
            if type(node.condition).__name__ == "IsMissingInCondition":
                missing = levels is None  # it is true of what is missing
            left, right = (self._node(way, score) for way in ways)
            self.rows[at] = (self.place[attribute], threshold, not missing, left, right, group)
        return at

    def _question(self, condition: Any) -> tuple[int, float, frozenset[int] | None]:
        """The column of a condition, the last number for which it does not hold, and the levels for which it does."""
        name = type(condition).__name__
        spec = self.specs[condition.attribute] if hasattr(condition, "attribute") else None
        if name == "NumericalHigherThanCondition":
            return condition.attribute, _before(condition.threshold), None
        if name == "DiscretizedNumericalHigherThanCondition" and spec is not None:
            bound = spec.discretized_numerical.boundaries[condition.threshold_idx - 1]
            return condition.attribute, _before(bound), None
        if name == "IsTrueCondition":
            return condition.attribute, 0.0, None
        if name == "CategoricalIsInCondition":
            return condition.attribute, 0.0, frozenset(condition.mask)
        if name == "IsMissingInCondition":
            return condition.attribute, BEYOND_ALL, None
        raise UnsupportedModelError(
            f"a model of ydf asks {name}.",
            "Its conditions must be about one column: a number, a flag, or levels.",
            "Train it with axis-aligned splits (split_axis='AXIS_ALIGNED'), or let the swarm search.",
        )

    def _value(self, value: Any, score: int) -> NDArray[np.float64]:
        out = np.zeros(self.scores)
        if hasattr(value, "probability"):
            shares = np.asarray(value.probability, dtype=np.float32)  # as it predicts them
            if len(shares) == 2:
                shares[0] = 1 - shares[1]
            out[:] = np.arange(len(shares)) == np.argmax(value.probability) if self.votes else shares
        else:
            out[score] = self.share * value.value
        return out

    def nodes(self) -> Nodes:
        """All nodes."""
        table = np.array(self.rows, dtype=np.float64)
        feature, left, right, group = (table[:, k].astype(np.intp) for k in (0, 3, 4, 5))
        sets = np.zeros((len(self.lists), self.widest + 1), dtype=np.bool_)
        for row, levels in zip(sets, self.lists, strict=True):
            row[list(levels)] = True
        return Nodes(
            np.array(self.roots, dtype=np.intp), feature, table[:, 1], table[:, 2].astype(np.bool_), left, right,
            np.array(self.values), True, group, sets,
        )  # fmt: skip


def _before(threshold: float) -> float:
    """The largest float32 below a threshold."""
    return float(np.nextafter(np.float32(threshold), np.float32(-np.inf)))


class _Ydf:
    """Calls a model of ydf."""

    booster: Any
    feature_names_in_: Any

    def answers(self, X: Any) -> NDArray[Any]:
        table = dict(self._columns(X))
        return np.asarray(self.booster.predict(table))

    def _columns(self, X: Any) -> Iterator[tuple[str, NDArray[Any]]]:
        """The columns as arrays: ydf takes no frames of all kinds."""
        names = frames.names(X)
        for k, spec in enumerate(_specs(self.booster)):
            at = k if frames.is_array(X) else list(names).index(spec.name)
            values: Sequence[Any] = frames.values(X, names[at], at)
            if spec.HasField("categorical"):
                yield spec.name, np.array(["" if frames.is_missing(one) else str(one) for one in values])
            else:
                yield spec.name, frames.numbers(X, names[at], at)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "booster": self.booster.serialize()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        from ydf import deserialize_model

        self.__dict__.update(state, booster=deserialize_model(state["booster"]))


class YdfClassifier(_Ydf, AbstractNativeClassifier):
    """A model of ydf that predicts the probabilities of classes."""


class YdfRegressor(_Ydf, AbstractNativeRegressor):
    """A model of ydf that predicts a number."""


def adapt(model: Any) -> AbstractNative:
    """A model as an estimator."""
    names, task = list(model.input_feature_names()), model.task().name
    if task == "CLASSIFICATION":
        return YdfClassifier(model, names, len(names), model.label_classes())
    if task == "REGRESSION":
        return YdfRegressor(model, names, len(names))
    raise UnsupportedModelError(
        f"the model of ydf is for the task {task}.",
        "Classification or regression is needed.",
        "Give a function with bf.black_box.",
    )


register_importer(_Ydf, read_ydf)
for name in ("RandomForestModel", "GradientBoostedTreesModel"):
    register_native(f"ydf.{name}", adapt)
