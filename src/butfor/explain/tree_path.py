"""Follow an answer through the model, if that is one decision tree."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError, UnsupportedModelError
from butfor.explanation.changes import Change, is_number, word
from butfor.explanation.explanation import Explanation
from butfor.explanation.tree_path import CrossedSplit, TreePath
from butfor.importers.read import Reading
from butfor.model.questions import kind_of
from butfor.model.trees import Subset, Trees, everywhere
from butfor.space.feature import Feature

LEVELS_NAMED = 3
"""How many levels a question names."""


def tree_path(answer: Explanation, reading: Reading) -> TreePath:
    """The splits on the way of an answer, from the root to its leaf."""
    model = reading.model
    if not isinstance(model, Trees) or len(model.roots) != 1:
        raise UnsupportedModelError(
            f"the way through a tree was asked for, but the model is read as: {kind_of(model).value}.",
            "Only one decision tree has such a way.",
            "Use answer.plot(), or explainer.decision_map(answer).",
        )
    if answer.point_codes is None or answer.space.names != reading.space.names:
        raise InputError(
            "an answer without a point, or one about other columns, was given.",
            "Its way through the tree is not known.",
            "Give an answer of this explainer that was found.",
        )
    return TreePath(answer, tuple(_splits(model, answer)))


def _splits(model: Trees, answer: Explanation) -> Iterator[CrossedSplit]:
    assert answer.point_codes is not None
    columns = answer.columns()
    node = int(model.roots[0])
    while (j := int(model.feature[node])) >= 0:
        region = model.side(node, everywhere(model.cells[j], as_mask=True), left=True)
        assert isinstance(region, Subset)
        was, now = (_holds(region.mask, model, j, row) for row in (answer.factual_codes, answer.point_codes))
        question = _question(columns[j], answer.space.features[j], region.mask, model, node)
        yield CrossedSplit(question, columns[j].name, columns[j].before, columns[j].after, was, now)
        node = int(model.left[node] if now else model.right[node])


def _holds(mask: BoolArray, model: Trees, j: int, row: FloatArray) -> bool:
    return bool(mask[model.cells[j].index(row[j : j + 1])[0]])


def _question(column: Change, feature: Feature, mask: BoolArray, model: Trees, node: int) -> str:
    """What a node asks, in words: a number below a cut, or a level among some."""
    levels = feature.levels
    if levels is None:
        if model.member[node] < 0:
            cut = _cut_text(float(model.cut[node]), feature, column)
            return f"{column.label} ≤ {column.words.number(cut) if column.words else cut}"
        return f"{column.label} in {int(mask[:-1].sum())} of {len(mask) - 1} intervals"
    inside = np.flatnonzero(mask[: len(levels)]).tolist()
    outside = [k for k in range(len(levels)) if k not in inside]
    chosen, word_for = (inside, "is") if len(inside) <= len(outside) else (outside, "is not")
    named = " or ".join(column.show(levels[k]) for k in chosen[:LEVELS_NAMED])
    return f"{column.label} {word_for} {named or word(None)}{' or ...' if len(chosen) > LEVELS_NAMED else ''}"


def _cut_text(cut: float, feature: Feature, column: Change) -> str:
    """A cut as a short text that says the same about the row, and about the answer. Between steps, it is the lower one."""
    if feature.step:
        return word(feature.value(feature.anchor + np.floor((cut - feature.anchor) / feature.step) * feature.step))
    values = [value for value in (column.before, column.after) if is_number(value)]
    short = (float(f"{cut:.{digits}g}") for digits in range(6, 18))
    fits = (text for text in short if all((value <= text) == (value <= cut) for value in values))
    found = next(fits, cut)
    return word(found) if float(word(found)) == found else repr(found)
