"""Functions of a model, with one implementation per kind of model. A new kind registers its own."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from functools import singledispatch

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.additive import Additive, evaluate_additive
from butfor.model.bent_tree import BentTree, evaluate_bent_tree
from butfor.model.black_box import BlackBox
from butfor.model.cells import Cells, level_cells, number_cells
from butfor.model.computed import OverComputed
from butfor.model.linear import Linear, evaluate_linear
from butfor.model.linear_leaves import LinearLeaves, evaluate_linear_leaves
from butfor.model.mixed import Mixed, evaluate_mixed
from butfor.model.network import Network, evaluate_network
from butfor.model.oblique import ObliqueTree, evaluate_oblique
from butfor.model.oblique_forest import ObliqueForest, evaluate_oblique_forest
from butfor.model.trees import Trees, evaluate_trees


class ModelKind(StrEnum):
    """The kind of a model."""

    LINEAR = "linear"
    """Scores are linear in numbers, with a step per level."""
    ADDITIVE = "sum of functions of single columns"
    """Scores are sums of functions of single columns, not all of which are linear."""
    TREE = "tree"
    """One axis-aligned tree."""
    ENSEMBLE = "ensemble"
    """A sum of axis-aligned trees."""
    MIXED = "sum of trees and a linear model"
    """Axis-aligned trees and a linear model, added up."""
    LINEAR_LEAVES = "sum of trees with linear leaves"
    """Axis-aligned trees with a linear model in each leaf, added up."""
    OBLIQUE = "oblique tree"
    """One tree whose decisions are linear."""
    BENT_TREE = "oblique tree of bent columns"
    """One tree whose decisions are sums of functions of single columns."""
    OBLIQUE_FOREST = "sum of oblique trees"
    """Trees whose decisions are linear, added up."""
    OBLIQUE_MIXED = "sum of oblique trees and a linear model"
    """The same beside a linear model."""
    NETWORK = "network"
    """Linear scores that are bent and mixed, layer by layer."""
    COMPUTED = "model of computed columns"
    """Trees or a linear model that read numbers computed from several columns."""
    BLACK_BOX = "black box"
    """Only predictions are known."""


SLOPED = frozenset({
    ModelKind.LINEAR, ModelKind.ADDITIVE, ModelKind.MIXED, ModelKind.LINEAR_LEAVES, ModelKind.OBLIQUE,
    ModelKind.BENT_TREE, ModelKind.OBLIQUE_FOREST, ModelKind.OBLIQUE_MIXED, ModelKind.NETWORK,
})  # fmt: skip
"""The kinds that read numbers themselves, and not only on which side of a cut they are."""

NO_DISTANCE = frozenset({
    ModelKind.ADDITIVE, ModelKind.MIXED, ModelKind.LINEAR_LEAVES, ModelKind.BENT_TREE, ModelKind.OBLIQUE_MIXED,
    ModelKind.NETWORK,
})  # fmt: skip
"""The kinds of which the distance to a boundary is not known."""

Model = (
    Linear | Additive | Trees | Mixed | LinearLeaves | ObliqueTree | BentTree | ObliqueForest | Network | OverComputed
    | BlackBox
)  # fmt: skip


@singledispatch
def evaluate(model: Model, X: FloatArray) -> FloatArray:
    """The raw scores of encoded rows. They define what the model means."""
    raise TypeError(f"{type(model).__name__} has no raw scores")


@singledispatch
def kind_of(model: Model) -> ModelKind:
    """The kind of the model."""
    raise TypeError(type(model).__name__)


@singledispatch
def cuts(model: Model, feature: int) -> FloatArray:
    """The values of a number at which the model may jump. A row exactly at a cut still goes left."""
    return np.empty(0)


@singledispatch
def score_count(model: Model) -> int:
    """The number of raw scores."""
    return 0


def is_read(model: Model) -> bool:
    """Whether more than predictions is known about the model."""
    return kind_of(model) is not ModelKind.BLACK_BOX


@singledispatch
def arrays_to_hash(model: Model) -> tuple[FloatArray, ...]:
    """The arrays that define the model, for its fingerprint."""
    return ()


@singledispatch
def widen(model: Model, levels: tuple[int, ...]) -> Model:
    """The same model over all features.

    Features that it does not read get their own cells: `levels[j]` of them, or one if it is 0 (a number).
    """
    return model


evaluate.register(Linear)(evaluate_linear)
evaluate.register(Additive)(evaluate_additive)
evaluate.register(Trees)(evaluate_trees)
evaluate.register(Mixed)(evaluate_mixed)
evaluate.register(LinearLeaves)(evaluate_linear_leaves)
evaluate.register(ObliqueTree)(evaluate_oblique)
evaluate.register(BentTree)(evaluate_bent_tree)
evaluate.register(ObliqueForest)(evaluate_oblique_forest)
evaluate.register(Network)(evaluate_network)


@kind_of.register
def _(model: Linear) -> ModelKind:
    return ModelKind.LINEAR


@kind_of.register
def _(model: Additive) -> ModelKind:
    return ModelKind.ADDITIVE


@kind_of.register
def _(model: Trees) -> ModelKind:
    return ModelKind.TREE if len(model.roots) == 1 else ModelKind.ENSEMBLE


@kind_of.register
def _(model: Mixed) -> ModelKind:
    return ModelKind.MIXED


@kind_of.register
def _(model: LinearLeaves) -> ModelKind:
    return ModelKind.LINEAR_LEAVES


@kind_of.register
def _(model: ObliqueTree) -> ModelKind:
    return ModelKind.OBLIQUE


@kind_of.register
def _(model: BentTree) -> ModelKind:
    return ModelKind.BENT_TREE


@kind_of.register
def _(model: ObliqueForest) -> ModelKind:
    return ModelKind.OBLIQUE_FOREST if model.line is None else ModelKind.OBLIQUE_MIXED


@kind_of.register
def _(model: Network) -> ModelKind:
    return ModelKind.NETWORK


@evaluate.register
def _(model: OverComputed, X: FloatArray) -> FloatArray:
    return evaluate(model.model, model.layout.split(X))


@kind_of.register
def _(model: OverComputed) -> ModelKind:
    return ModelKind.COMPUTED


@kind_of.register
def _(model: BlackBox) -> ModelKind:
    return ModelKind.BLACK_BOX


@cuts.register(Linear)
@cuts.register(Trees)
@cuts.register(Mixed)
@cuts.register(LinearLeaves)
@cuts.register(ObliqueTree)
@cuts.register(ObliqueForest)
@cuts.register(Network)
@cuts.register(OverComputed)
def _(
    model: Linear | Trees | Mixed | LinearLeaves | ObliqueTree | ObliqueForest | Network | OverComputed, feature: int
) -> FloatArray:
    return model.cells[feature].edges


@cuts.register
def _(model: Additive, feature: int) -> FloatArray:
    """Shapes may jump where they bend."""
    bends = [shape.bends for shape in model.shapes if shape.feature == feature and shape.bends is not None]
    return np.unique(np.concatenate([model.cells[feature].edges, *bends]))


@cuts.register
def _(model: BentTree, feature: int) -> FloatArray:
    return cuts(model.gates, feature)


@score_count.register(Linear)
@score_count.register(Additive)
@score_count.register(Trees)
@score_count.register(Mixed)
@score_count.register(LinearLeaves)
@score_count.register(ObliqueTree)
@score_count.register(BentTree)
@score_count.register(ObliqueForest)
@score_count.register(Network)
@score_count.register(OverComputed)
def _(
    model: Linear | Additive | Trees | Mixed | LinearLeaves | ObliqueTree | BentTree | ObliqueForest | Network | OverComputed,
) -> int:  # fmt: skip
    return model.scores


@arrays_to_hash.register
def _(model: Linear) -> tuple[FloatArray, ...]:
    return (model.intercept, model.slope, model.centre, *(cells.edges for cells in model.cells), *model.steps)


@arrays_to_hash.register
def _(model: Additive) -> tuple[FloatArray, ...]:
    return (*arrays_to_hash(model.line), *(array for shape in model.shapes for array in shape.arrays()))


@arrays_to_hash.register
def _(model: Trees) -> tuple[FloatArray, ...]:
    arrays = (model.roots, model.feature, model.cut, model.member, model.missing_left, model.left, model.right)
    return tuple(np.asarray(a, dtype=np.float64) for a in (*arrays, model.value, model.base, *model.cell_sets))


@arrays_to_hash.register
def _(model: Mixed) -> tuple[FloatArray, ...]:
    return (*arrays_to_hash(model.trees), *arrays_to_hash(model.linear))


@arrays_to_hash.register
def _(model: LinearLeaves) -> tuple[FloatArray, ...]:
    return (*arrays_to_hash(model.trees), *arrays_to_hash(model.lines), np.asarray(model.line, dtype=np.float64))


@arrays_to_hash.register
def _(model: ObliqueTree) -> tuple[FloatArray, ...]:
    return (*arrays_to_hash(model.gates), *_nodes(model))


@arrays_to_hash.register
def _(model: BentTree) -> tuple[FloatArray, ...]:
    return (*arrays_to_hash(model.tree), *(array for shape in model.shapes for array in shape.arrays()))


@arrays_to_hash.register
def _(model: ObliqueForest) -> tuple[FloatArray, ...]:
    line = () if model.line is None else (model.line,)
    return (*arrays_to_hash(model.gates), *(array for tree in model.trees for array in _nodes(tree)), *line)


def _nodes(tree: ObliqueTree) -> tuple[FloatArray, ...]:
    return (*(np.asarray(a, dtype=np.float64) for a in (tree.gate, tree.left, tree.right)), tree.value)


@arrays_to_hash.register
def _(model: Network) -> tuple[FloatArray, ...]:
    layers = (array for layer in model.layers for array in (layer.leak, layer.weight, layer.intercept))
    return (*arrays_to_hash(model.first), *layers)


@arrays_to_hash.register
def _(model: OverComputed) -> tuple[FloatArray, ...]:
    return arrays_to_hash(model.model)


@widen.register
def _(model: OverComputed, levels: tuple[int, ...]) -> OverComputed:
    """What is computed comes after the features of the table."""
    return replace(model, model=widen(model.model, (*levels, *(0 for _ in model.computed))))


@widen.register
def _(model: Linear, levels: tuple[int, ...]) -> Linear:
    cells, steps = list(model.cells), list(model.steps)
    for j, count in enumerate(levels):
        if j >= len(cells):
            cells.append(_blank(count))
            steps.append(np.zeros((model.scores, cells[j].count + 1)))
        elif count and not cells[j].levels:
            cells[j], steps[j] = _blank(count), np.zeros((model.scores, count + 1))
    slope = np.zeros((model.scores, len(levels)))
    slope[:, : model.slope.shape[1]] = model.slope
    cancelled = np.zeros(slope.shape)
    cancelled[:, : model.slope.shape[1]] = model.cancelled_slope
    more = np.zeros(len(levels) - len(model.cells))
    return replace(
        model,
        slope=slope,
        cells=tuple(cells),
        steps=tuple(steps),
        centre=np.append(model.centre, more),
        blur=np.append(model.blur, more),
        cancelled_slope=cancelled,
    )


@widen.register
def _(model: Additive, levels: tuple[int, ...]) -> Additive:
    line = widen(model.line, levels)
    assert isinstance(line, Linear)
    return replace(model, line=line)


@widen.register
def _(model: Mixed, levels: tuple[int, ...]) -> Mixed:
    trees, linear = widen(model.trees, levels), widen(model.linear, levels)
    assert isinstance(trees, Trees)
    assert isinstance(linear, Linear)
    return Mixed(trees, linear)


@widen.register
def _(model: LinearLeaves, levels: tuple[int, ...]) -> LinearLeaves:
    trees, lines = widen(model.trees, levels), widen(model.lines, levels)
    assert isinstance(trees, Trees)
    assert isinstance(lines, Linear)
    return replace(model, trees=trees, lines=lines)


@widen.register
def _(model: ObliqueTree, levels: tuple[int, ...]) -> ObliqueTree:
    gates = widen(model.gates, levels)
    assert isinstance(gates, Linear)
    return replace(model, gates=gates)


@widen.register
def _(model: BentTree, levels: tuple[int, ...]) -> BentTree:
    tree = widen(model.tree, levels)
    assert isinstance(tree, ObliqueTree)
    return replace(model, tree=tree)


@widen.register
def _(model: ObliqueForest, levels: tuple[int, ...]) -> ObliqueForest:
    gates = widen(model.gates, levels)
    assert isinstance(gates, Linear)
    return replace(model, trees=tuple(replace(tree, gates=gates) for tree in model.trees))


@widen.register
def _(model: Network, levels: tuple[int, ...]) -> Network:
    first = widen(model.first, levels)
    assert isinstance(first, Linear)
    if model.computed is None:
        return replace(model, first=first)
    columns = widen(model.computed.columns, levels)
    assert isinstance(columns, Linear)
    return replace(model, first=first, computed=replace(model.computed, columns=columns))


@widen.register
def _(model: Trees, levels: tuple[int, ...]) -> Trees:
    cells = [*model.cells, *(_blank(count) for count in levels[len(model.cells) :])]
    wide = [_blank(count) if count and not cell.levels else cell for cell, count in zip(cells, levels, strict=True)]
    return replace(model, cells=tuple(wide))


def _blank(levels: int) -> Cells:
    return level_cells(levels) if levels else number_cells(np.empty(0))
