"""CatBoost's questions: about numbers, about categories, and about combinations of them.

About categories, the saved model holds hashes, and statistics of the training rows with a category or a combination
(Prokhorenkova et al. 2018, "CatBoost: unbiased boosting with categorical features"). They are not computed anew here.
Whoever predicts answers each question for every combination of categories. CatBoost itself does so with a copy of the model
in which each tree asks one question: the number of the leaf is the answer.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.column import Column, NeedsLevels
from butfor.importers.fold.joint_questions import Axis, ColumnQuestion, JointQuestion

MOST_ASKED_AT_ONCE = 50_000
"""For how many combinations of categories a question is asked."""

Saved = dict[str, Any]

Answers = Callable[[NDArray[Any], int, int], BoolArray]
"""Whether rows go right at the questions about categories, from a number to before another."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """What CatBoost reads.

    - `columns`: the columns that reach it, with categories as codes;
    - `values`: for each column one value per cell: the categories, or a number between each two borders;
    - `borders`: the borders of each column of numbers.
    """

    columns: list[Column]
    values: list[list[Any]]
    borders: dict[int, FloatArray]

    @property
    def cells(self) -> list[int]:
        """How many cells each column has."""
        return [len(some) for some in self.values]


def read_inputs(saved: Saved, columns: list[Column]) -> Inputs:
    """The columns of a saved model, and their cells."""
    known = saved["features_info"]
    chosen = [info["flat_feature_index"] for info in known.get("categorical_features", ())]
    bare = {columns[i].feature: () for i in chosen if columns[i].table is None}
    if bare:
        raise NeedsLevels(bare, ordered=False)
    columns, values, borders = list(columns), [[0.0] for _ in columns], {}
    for info in known.get("float_features", ()):
        edges = np.array(info.get("borders") or (), dtype=np.float32)
        i = info["flat_feature_index"]
        borders[i] = edges.astype(np.float64)
        values[i] = [*edges.tolist(), np.inf]
    for i in chosen:
        categories = _categories(columns[i])
        values[i] = [_as_catboost_reads(value) for value in categories]
        columns[i] = columns[i].coded(categories)
    return Inputs(columns, values, borders)


def _categories(column: Column) -> list[Any]:
    """The different values of a column, without the missing one: CatBoost takes no missing category."""
    assert column.table is not None
    return list(dict.fromkeys(value for value in column.table.tolist() if value is not None and value == value))


def _as_catboost_reads(value: Any) -> Any:
    """A category as CatBoost takes it: text, or a whole number."""
    return int(value) if isinstance(value, float) and value == int(value) else value


def read_questions(saved: Saved, inputs: Inputs, answers: Answers) -> list[ColumnQuestion | JointQuestion]:
    """All questions of a saved model, by the number that it gives them: about numbers, categories, and statistics."""
    known = saved["features_info"]
    found: list[ColumnQuestion | JointQuestion] = []
    for info in known.get("float_features", ()):
        i = info["flat_feature_index"]
        cells = np.arange(inputs.cells[i])
        found += [ColumnQuestion(i, cells <= k) for k in range(len(inputs.borders[i]))]
    asked = [([_whole(inputs, i)], len(values)) for i, values in _single_categories(known)]
    asked += [(_axes(ctr["elements"], known, inputs), len(ctr["borders"])) for ctr in known.get("ctrs", ())]
    return [*found, *_answered(inputs, asked, answers)]


def _single_categories(known: Saved) -> Iterator[tuple[int, list[int]]]:
    """The columns whose categories are asked for one by one, and the hashes of these."""
    for info in known.get("categorical_features", ()):
        if "values" in info:
            yield info["flat_feature_index"], info["values"]


def _axes(elements: Sequence[Saved], known: Saved, inputs: Inputs) -> list[Axis]:
    """The columns on which a statistic depends. Of a number, it knows on which side of some borders it is."""
    place = {
        kind: {info["feature_index"]: info["flat_feature_index"] for info in known.get(kind, ())}
        for kind in ("float_features", "categorical_features")
    }
    borders: dict[int, list[float]] = {}
    axes: dict[int, Axis] = {}
    for element in elements:
        if "border" in element:
            borders.setdefault(place["float_features"][element["float_feature_index"]], []).append(element["border"])
        else:
            i = place["categorical_features"][element["cat_feature_index"]]
            axes[i] = _whole(inputs, i)
    for i, own in borders.items():
        below = np.searchsorted(np.sort(np.array(own, dtype=np.float32)), inputs.borders[i], side="right")
        axes[i] = Axis(i, np.append(0, below), ordered=True)
    return list(axes.values())


def _whole(inputs: Inputs, i: int) -> Axis:
    """A column of categories, each told apart."""
    return Axis(i, np.arange(inputs.cells[i]), ordered=False)


def _answered(
    inputs: Inputs, asked: list[tuple[list[Axis], int]], answers: Answers
) -> Iterator[ColumnQuestion | JointQuestion]:
    """The questions about categories, a few for each list of axes, as they are answered."""
    begin = 0
    for axes, count in asked:
        shape = [int(axis.group.max()) + 1 for axis in axes]
        rights = answers(_combinations(inputs, axes, shape), begin, begin + count)
        begin += count
        for right in rights.T:
            yield (
                ColumnQuestion(axes[0].column, ~right)
                if len(axes) == 1
                else JointQuestion(tuple(axes), right.reshape(shape))
            )


def _combinations(inputs: Inputs, axes: list[Axis], shape: list[int]) -> NDArray[Any]:
    """A row of inputs for every combination of groups."""
    if prod(shape) > MOST_ASKED_AT_ONCE:
        raise UnsupportedModelError(
            f"CatBoost asks about {prod(shape)} combinations of categories and numbers at once.",
            f"At most {MOST_ASKED_AT_ONCE} can be asked for.",
            "Train it with max_ctr_complexity=1. Until then, the swarm searches.",
        )
    rows = np.empty((prod(shape), len(inputs.values)), dtype=object)
    rows[:] = [some[0] for some in inputs.values]
    chosen = [
        [inputs.values[axis.column][np.argmax(axis.group == k)] for k in range(n)]
        for axis, n in zip(axes, shape, strict=True)
    ]
    for row, values in zip(rows, product(*chosen), strict=True):
        row[[axis.column for axis in axes]] = values
    return rows


def as_catboost_answers(saved: Saved) -> Answers:
    """CatBoost itself says where rows go. It is asked for nothing if there are no questions about categories."""
    known = saved["features_info"]
    first = sum(len(info.get("borders") or ()) for info in known.get("float_features", ()))
    count = sum(len(values) for _, values in _single_categories(known))
    count += sum(len(ctr["borders"]) for ctr in known.get("ctrs", ()))
    copy = _with_one_question_in_each_tree(saved, first, count) if count else None

    def answers(rows: NDArray[Any], begin: int, end: int) -> BoolArray:
        assert copy is not None
        return np.asarray(copy.calc_leaf_indexes(rows, ntree_start=begin, ntree_end=end), dtype=np.bool_)

    return answers


def _with_one_question_in_each_tree(saved: Saved, first: int, count: int) -> Any:
    """A copy of the model whose tree number k has one split, number `first + k`."""
    from catboost import CatBoost

    scores = len(saved["scale_and_bias"][1])
    trees = [{"leaf_values": [0.0] * 2 * scores, "splits": [{"split_index": first + k}]} for k in range(count)]
    changed = {key: part for key, part in saved.items() if key != "trees"} | {"oblivious_trees": trees}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        path.write_text(json.dumps(changed))
        return CatBoost().load_model(str(path), format="json")
