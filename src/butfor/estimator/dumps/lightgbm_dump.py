"""LightGBM's saved models: text of the versions v3 and v4 of its format.

LightGBM compares in float64: a row goes left iff its value is at most the threshold. It takes the tiniest numbers for
zero. Each node says what a missing value is: NaN, or zero, or a NaN that is turned into zero.
(Ke et al. 2017, "LightGBM: a highly efficient gradient boosting decision tree".)
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import InputError, UnsupportedModelError
from butfor.estimator.dumps.dump import AbstractDump, DumpedClassifier, DumpedRegressor, FromDump, as_numbers, softmax
from butfor.model.monotone import AbstractStep, Exponential, Logistic, SignedSquare
from butfor.model.nodes import LeafLines, Nodes, in_score, leaves_added, numbered
from butfor.space import frames

VERSIONS_OF_LIGHTGBM = ("v3", "v4")
"""The versions of the format that are read: those of LightGBM 2.3 to 4."""

CLASS_OBJECTIVES_OF_LIGHTGBM = ("binary", "multiclass", "multiclassova")
VALUE_OBJECTIVES_OF_LIGHTGBM = ("regression", "regression_l1", "huber", "fair", "quantile", "mape")
LINKED_OBJECTIVES_OF_LIGHTGBM: dict[str, AbstractStep] = {
    "poisson": Exponential(),
    "gamma": Exponential(),
    "tweedie": Exponential(),
    "cross_entropy": Logistic(),
}
"""Objectives whose prediction is a function of the sum."""

CATEGORY, DEFAULT_LEFT, ZERO_MISSING, NAN_MISSING = 1, 2, 4, 8
"""The bits of a node's decision type."""

ZERO = float(np.float32(1e-35))
"""Numbers up to this size reach the trees as zero."""

Block = dict[str, str]


END_OF_TREES, CATEGORIES_OF_A_FRAME = "\nend of trees", "\npandas_categorical:"
"""What stands after the trees, and before the categories of the data frame."""


@dataclass(frozen=True, eq=False)
class LightGBMDump(AbstractDump):
    """A saved model of LightGBM.

    - `objective`: its name; `settings`: the words after it;
    - `averaged`: by which number of iterations the sums are divided (1: they are not);
    - `categories`: those of each category column of the data frame, in the order of these columns. Their names are not
      saved;
    - `infos`: what is known of each column: its range as "[low:high]", its categories, or "none";
    - `lines`: those of the leaves; None if all leaves are constants.
    """

    objective: str
    settings: tuple[str, ...]
    averaged: int
    categories: list[list[Any]]
    infos: list[str]
    lines: LeafLines | None = None

    library: ClassVar[str] = "LightGBM"

    def __post_init__(self) -> None:
        super().__post_init__()
        lines = self.lines
        if lines is None:
            return
        numbers = np.concatenate([lines.constant, lines.weight])
        if not np.isfinite(numbers).all() or not len(lines.column) == len(lines.weight) == lines.start[-1]:
            raise InputError("the saved model of LightGBM holds a leaf that is no line.", "It must be unchanged.")
        if not ((lines.column >= 0) & (lines.column < self.width)).all():
            raise InputError("the saved model of LightGBM has a leaf of other columns.", "It must be unchanged.")

    @property
    def sigmoid(self) -> float:
        """The slope of the logistic function."""
        return float(next((word[8:] for word in self.settings if word.startswith("sigmoid:")), 1.0))

    @property
    def link(self) -> AbstractStep | None:
        """The function that makes a value of a sum; None for the identity."""
        return SignedSquare() if "sqrt" in self.settings else LINKED_OBJECTIVES_OF_LIGHTGBM.get(self.objective)

    def added(self, X: FloatArray) -> NDArray[Any]:
        """What all trees add up to, tree by tree."""
        if self.lines is None:
            return super().added(X)
        out = np.tile(self.base, (len(X), 1))
        numbers = np.arange(len(self.nodes.feature), dtype=np.float64)[:, None]
        for tree, root in enumerate(self.nodes.roots.tolist()):
            finder = replace(self.nodes, roots=np.array([root]), value=numbers)
            leaf = leaves_added(finder, X, np.zeros(1))[:, 0].astype(np.intp)
            score = tree % len(self.base)
            out[:, score] += self.lines.at(X, leaf, self.nodes.value[leaf, score])
        return out

    def numbers(self, table: Any) -> FloatArray:
        if frames.is_array(table) or not self.categories:
            return without_tiny(as_numbers(table, {}))
        names = frames.names(table)
        of_type = [j for j, name in enumerate(names) if frames.dtype(table, name) in TYPES_OF_CATEGORIES]
        split = [j for j, info in enumerate(self.infos) if not info.startswith("[") and info != "none"]
        found = next((some for some in (of_type, split) if len(some) == len(self.categories)), None)
        if found is None:
            raise InputError(
                f"the table has {len(of_type)} columns of categories or text: {[names[j] for j in of_type]}.",
                f"The saved model of LightGBM was trained on {len(self.categories)} columns of categories, the first with "
                f"{self.categories[0][:8]}.",
                "Give these columns the type of the training data: X[name].astype('category').",
            )
        codes = {}
        for j, known in zip(found, self.categories, strict=True):
            position = {category: float(k) for k, category in enumerate(known)}
            codes[j] = np.array([position.get(value, np.nan) for value in frames.values(table, names[j], j)])
        return without_tiny(as_numbers(table, codes))

    def answers(self, sums: NDArray[Any]) -> NDArray[Any]:
        means = sums / self.averaged
        if self.objective == "multiclass":
            return softmax(means)
        if self.classes:
            chances = _logistic(self.sigmoid * means)
            return chances[:, 0] if chances.shape[1] == 1 else chances
        if isinstance(self.link, Logistic):
            return _logistic(means[:, 0])
        return means[:, 0] if self.link is None else self.link.at(means[:, 0])


TYPES_OF_CATEGORIES = ("category", "ordered", "text", "object")
"""The types of columns that a data frame had as categories, or has as text, as it comes from a file."""


def _logistic(x: NDArray[Any]) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-x)))


class LightGBMFile(FromDump):
    """Predicts as LightGBM does, without it."""


class LightGBMFileClassifier(LightGBMFile, DumpedClassifier):
    """A model with classes 0, 1, ... in a file of LightGBM."""


class LightGBMFileRegressor(LightGBMFile, DumpedRegressor):
    """A model of values in a file of LightGBM."""


def lightgbm_in_file(text: str) -> LightGBMFileClassifier | LightGBMFileRegressor:
    """The model that a file holds, with all trees in it: LightGBM saves those up to the best iteration."""
    header = _blocks(text)[0]
    classified = header.get("objective", "").split()[:1] in [[name] for name in CLASS_OBJECTIVES_OF_LIGHTGBM]
    dump = lightgbm_dump(text, tuple(range(max(int(header["num_class"]), 2))) if classified else ())
    return LightGBMFileClassifier(dump) if classified else LightGBMFileRegressor(dump)


def lightgbm_dump(text: str, classes: tuple[Any, ...]) -> LightGBMDump:
    """A saved model, with all of its trees."""
    header, *trees = _blocks(text)
    objective, *settings = header.get("objective", "custom").split()
    _check(objective, settings)
    scores, width = int(header["num_tree_per_iteration"]), int(header["max_feature_idx"]) + 1
    names, infos = header["feature_names"].split(), header["feature_infos"].split()
    return LightGBMDump(
        nodes=_nodes(trees, scores),
        base=np.zeros(scores),
        names=None if names == [f"Column_{i}" for i in range(width)] else names,
        width=width,
        classes=classes,
        objective=objective,
        settings=tuple(settings),
        averaged=len(trees) // scores if "average_output" in header else 1,
        categories=_categories(text),
        infos=infos,
        lines=_lines(trees) if any(tree.get("is_linear") == "1" for tree in trees) else None,
    )


def _blocks(text: str) -> list[Block]:
    """The header and the trees of a saved model. Each is a dict made from lines of the form `key=value`."""
    if not text.startswith("tree\n"):
        raise InputError("the text is no model of LightGBM.", "Its first line must be 'tree'.")
    if text.count(END_OF_TREES) != 1:
        count = text.count(END_OF_TREES)
        raise InputError(
            f"the text holds {count} models of LightGBM." if count else "the text has no line 'end of trees'.",
            "One model in a file is needed." if count else "It must be whole.",
        )
    header, *trees = (
        dict(line.partition("=")[::2] for line in part.splitlines())
        for part in text[: text.index(END_OF_TREES)].split("\nTree=")
    )
    if header.get("version") not in VERSIONS_OF_LIGHTGBM:
        raise UnsupportedModelError(
            f"the model was saved in the format {header.get('version')!r} of LightGBM.",
            f"{' and '.join(VERSIONS_OF_LIGHTGBM)} can be read.",
        )
    if len(trees) != len(header["tree_sizes"].split()):
        raise InputError(
            f"the model of LightGBM has {len(trees)} trees, but says that it has {len(header['tree_sizes'].split())}.",
            "It must be whole.",
        )
    return [header, *trees]


def _categories(text: str) -> list[list[Any]]:
    """The categories of the data frame that a model was trained on. Only Python writes that line, the last one."""
    _, found, listed = text.rpartition(CATEGORIES_OF_A_FRAME)
    return list(json.loads(listed) or ()) if found else []


def _check(objective: str, settings: Sequence[str]) -> None:
    known = (*CLASS_OBJECTIVES_OF_LIGHTGBM, *VALUE_OBJECTIVES_OF_LIGHTGBM, *LINKED_OBJECTIVES_OF_LIGHTGBM)
    if objective not in known:
        raise UnsupportedModelError(
            f"the objective {' '.join([objective, *settings])!r} of LightGBM cannot be read.",
            f"The known objectives are {', '.join(known)}.",
            "Search given rows with bf.candidates(rows).",
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

    def spread(values: NDArray[Any], leaf: Any) -> NDArray[Any]:
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


def _lines(trees: Sequence[Block]) -> LeafLines:
    """The lines of all nodes. Those of inner nodes have no terms, and those of constant leaves none but the constant."""
    inner = [np.zeros(int(tree["num_leaves"]) - 1, dtype=np.intp) for tree in trees]
    constant, count = [], []
    for none, tree in zip(inner, trees, strict=True):
        linear = tree.get("is_linear") == "1"
        constant += [none, _all([tree], "leaf_const" if linear else "leaf_value", np.float64)]
        count += [none, _all([tree], "num_features", np.intp) if linear else np.zeros(len(none) + 1, dtype=np.intp)]
    return LeafLines(
        np.concatenate(constant),
        np.concatenate([[0], np.cumsum(np.concatenate(count))]).astype(np.intp),
        _all(trees, "leaf_features", np.intp),
        _all(trees, "leaf_coeff", np.float64),
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


def without_tiny(x: NDArray[Any]) -> NDArray[Any]:
    """Numbers as they reach the trees."""
    return np.where(np.abs(x) <= ZERO, 0.0, x)
