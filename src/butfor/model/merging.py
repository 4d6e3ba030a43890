"""Columns merged into one: the values of a group become the levels of a single feature, and the model reads their number.

What is left of a model over merged columns computes the same scores: a cut of a column becomes a set of levels, and a slope
becomes a step per level.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.additive import Additive
from butfor.model.bent_tree import BentTree
from butfor.model.black_box import BlackBox
from butfor.model.cells import Cells, level_cells
from butfor.model.computed import FreeLayout, OverComputed, completed
from butfor.model.linear import Linear, linear_terms
from butfor.model.linear_leaves import LinearLeaves
from butfor.model.mixed import Mixed
from butfor.model.monotone import STEP_ROUNDINGS
from butfor.model.network import Network
from butfor.model.oblique import ObliqueTree
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.questions import Model
from butfor.model.rounding import COLUMN_STEPS
from butfor.model.scores import low_bit
from butfor.model.trees import Trees


@dataclass(frozen=True, eq=False)
class Bundle:
    """Some columns, and the combinations of their values (combinations, columns), each once."""

    columns: IntArray
    codes: FloatArray

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, eq=False)
class ColumnLayout:
    """How features are merged: `others` stay what they are and come first, and then comes one feature per group."""

    others: IntArray
    groups: tuple[Bundle, ...]

    @property
    def features(self) -> int:
        """How many features there were."""
        return len(self.others) + sum(len(group.columns) for group in self.groups)

    def split(self, points: FloatArray) -> FloatArray:
        """Merged points (n, merged features) as points of all features. A missing combination is missing values."""
        out = np.full((len(points), self.features), np.nan)
        out[:, self.others] = points[:, : len(self.others)]
        for at, group in enumerate(self.groups, len(self.others)):
            known = ~np.isnan(points[:, at])
            out[np.ix_(known, group.columns)] = group.codes[points[known, at].astype(np.intp)]
        return out

    def cells(self, cells: tuple[Cells, ...]) -> tuple[Cells, ...]:
        """The cells of the merged features."""
        return (*(cells[j] for j in self.others), *(level_cells(len(group)) for group in self.groups))


Layout = ColumnLayout | FreeLayout
"""How points of other columns are turned into points of all."""


@singledispatch
def merged(model: Model, layout: ColumnLayout) -> Model:
    """The same model over merged features."""
    raise TypeError(type(model).__name__)


@merged.register
def _(model: BlackBox, layout: ColumnLayout) -> BlackBox:
    return model


@merged.register
def _(model: Trees, layout: ColumnLayout) -> Trees:
    """A node that asks for a column of a group asks for a set of its levels."""
    feature, cut, member = model.feature.copy(), model.cut.copy(), model.member.copy()
    kept = np.isin(model.feature, layout.others)
    feature[kept] = np.searchsorted(layout.others, model.feature[kept])
    asked, inverse = np.unique(member[kept & (member >= 0)], return_inverse=True)
    member[kept & (member >= 0)] = inverse
    sets = [model.cell_sets[at] for at in asked.tolist()]
    for at, group in enumerate(layout.groups, len(layout.others)):
        for j, values in zip(group.columns.tolist(), group.codes.T, strict=True):
            nodes = np.flatnonzero(model.feature == j)
            first, inverse = _alike(model, nodes)
            member[nodes] = len(sets) + inverse
            sets += [np.append(_goes_left(model, node, values), False) for node in first.tolist()]
            feature[nodes], cut[nodes] = at, np.inf
    return replace(
        model, feature=feature, member=member, cut=cut, cell_sets=tuple(sets), cells=layout.cells(model.cells)
    )


def _alike(model: Trees, nodes: IntArray) -> tuple[IntArray, IntArray]:
    """One of some nodes for each question that they ask, and the question that each of them asks."""
    questions = np.column_stack([model.member[nodes], model.missing_left[nodes], model.cut[nodes]])
    questions[model.member[nodes] >= 0, 1:] = 0.0
    _, first, inverse = np.unique(questions, axis=0, return_index=True, return_inverse=True)
    return nodes[first], inverse.ravel()


def _goes_left(model: Trees, node: int, values: FloatArray) -> BoolArray:
    """Which values of its feature go left at a node."""
    if model.member[node] >= 0:
        mask = model.cell_sets[int(model.member[node])]
        return np.asarray(mask[model.cells[int(model.feature[node])].index(values)])
    return np.asarray(np.where(np.isnan(values), model.missing_left[node], values <= model.cut[node]))


@merged.register
def _(model: Linear, layout: ColumnLayout) -> Linear:
    """The terms of a group are added up for each of its levels. Their rounding is accounted for as it was."""
    others, cells = layout.others, layout.cells(model.cells)
    more_slope = np.broadcast_to(model.cancelled_slope, model.slope.shape)
    steps, centre, blur = [model.steps[j] for j in others], model.centre[others], model.blur[others]
    cancelled = np.broadcast_to(model.cancelled, (model.scores,)).astype(np.float64)
    fine = model.fine
    for group in layout.groups:
        terms = np.stack(
            [linear_terms(model, j, x) for j, x in zip(group.columns.tolist(), group.codes.T, strict=True)]
        )
        step, sizes = terms.sum(axis=0), np.abs(terms)
        fine = min(fine, *(_fine(model, j, x) for j, x in zip(group.columns.tolist(), group.codes.T, strict=True)))
        far = np.nan_to_num(np.abs(group.codes)).max(axis=0, initial=0.0)
        moved = np.abs(model.slope[:, group.columns]) * far
        moved = moved + more_slope[:, group.columns] * (2 * far + np.abs(model.centre[group.columns]))
        size, most = (sizes.max(axis=2, initial=0.0).T + moved), np.abs(step).max(axis=1, initial=0.0)
        cancelled = cancelled + np.maximum(0.0, size.sum(axis=1) - most)
        blur = np.append(blur, _blur(COLUMN_STEPS * size @ model.blur[group.columns], COLUMN_STEPS * most))
        centre = np.append(centre, 0.0)
        steps.append(np.append(step, np.zeros((model.scores, 1)), axis=1))
    return replace(
        model,
        slope=np.append(model.slope[:, others], np.zeros((model.scores, len(layout.groups))), axis=1),
        cancelled_slope=np.append(more_slope[:, others], np.zeros((model.scores, len(layout.groups))), axis=1),
        cells=cells,
        steps=tuple(steps),
        centre=centre,
        blur=blur,
        cancelled=cancelled,
        more_terms=model.more_terms + layout.features - len(cells),
        fine=fine,
    )


@merged.register
def _(model: Additive, layout: ColumnLayout) -> Additive | Linear:
    """A shape of a column of a group becomes a step of its levels."""
    line, place = _linear(model.line, layout), {int(j): at for at, j in enumerate(layout.others)}
    steps, cancelled = list(line.steps), np.broadcast_to(line.cancelled, (line.scores,))
    for at, group in enumerate(layout.groups, len(layout.others)):
        for j, values in zip(group.columns.tolist(), group.codes.T, strict=True):
            for shape in (shape for shape in model.shapes if shape.feature == j):
                told = np.append(shape.at(values), 0.0)
                steps[at] = steps[at] + np.outer(shape.weight, told)
                cancelled = cancelled + np.abs(shape.weight) * (STEP_ROUNDINGS * np.abs(told).max())
    line = replace(line, steps=tuple(steps), cancelled=cancelled)
    kept = tuple(replace(shape, feature=place[shape.feature]) for shape in model.shapes if shape.feature in place)
    return Additive(line, kept) if kept else line


def _fine(model: Linear, j: int, values: FloatArray) -> float:
    """A number of which all that a column adds, and all that the estimator adds up for it, are whole multiples."""
    known = np.append(values[~np.isnan(values)] - model.centre[j], model.centre[j])
    return min(low_bit(model.slope[:, j]) * low_bit(known), low_bit(model.steps[j]))


def _blur(lost: FloatArray, size: FloatArray) -> float:
    """The share of the sizes of steps by which the columns of a group are rounded before the estimator reads them."""
    return float(np.max(lost[size > 0] / size[size > 0], initial=0.0))


@merged.register
def _(model: OverComputed, layout: ColumnLayout) -> Model:
    """What is computed becomes part of the group from which it is computed."""
    return merged(model.model, replace(layout, groups=tuple(_with_computed(model, one) for one in layout.groups)))


def _with_computed(model: OverComputed, group: Bundle) -> Bundle:
    """A group with all that is computed from its columns."""
    points = np.full((len(group), model.layout.features), np.nan)
    points[:, group.columns] = group.codes
    points = completed(points, model.computed)
    known = set(group.columns.tolist())
    for one in model.computed:
        known |= {one.feature} if set(one.inputs) <= known else set()
    columns = np.array(sorted(known), dtype=np.intp)
    return Bundle(columns, points[:, columns])


def _linear(model: Linear, layout: ColumnLayout) -> Linear:
    found = merged(model, layout)
    assert isinstance(found, Linear)
    return found


@merged.register
def _(model: Mixed, layout: ColumnLayout) -> Mixed:
    trees = merged(model.trees, layout)
    assert isinstance(trees, Trees)
    return Mixed(trees, _linear(model.linear, layout))


@merged.register
def _(model: LinearLeaves, layout: ColumnLayout) -> LinearLeaves:
    trees = merged(model.trees, layout)
    assert isinstance(trees, Trees)
    return replace(model, trees=trees, lines=_linear(model.lines, layout))


@merged.register
def _(model: ObliqueTree, layout: ColumnLayout) -> ObliqueTree:
    return replace(model, gates=_linear(model.gates, layout))


@merged.register
def _(model: BentTree, layout: ColumnLayout) -> BentTree | ObliqueTree:
    gates = merged(model.gates, layout)
    if isinstance(gates, Additive):
        return BentTree(replace(model.tree, gates=gates.line), gates.shapes)
    assert isinstance(gates, Linear)
    return replace(model.tree, gates=gates)


@merged.register
def _(model: ObliqueForest, layout: ColumnLayout) -> ObliqueForest:
    gates = _linear(model.gates, layout)
    return replace(model, trees=tuple(replace(tree, gates=gates) for tree in model.trees))


@merged.register
def _(model: Network, layout: ColumnLayout) -> Network:
    how = model.computed
    computed = None if how is None else replace(how, columns=_linear(how.columns, layout))
    return replace(model, first=_linear(model.first, layout), computed=computed)
