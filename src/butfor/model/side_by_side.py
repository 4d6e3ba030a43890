"""Several models as one that has all of their scores, and sets of scores in which all of them must lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import overload

import numpy as np
from scipy.linalg import block_diag

from butfor.arrays import FloatArray, IntArray
from butfor.model.cells import Cells, joined_cells
from butfor.model.linear import Linear
from butfor.model.linear_leaves import LinearLeaves
from butfor.model.mixed import Mixed
from butfor.model.oblique import ObliqueTree
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.scores import ScoreSet
from butfor.model.tilted import leaf, tilted
from butfor.model.trees import Trees, combined, exact, over_cells

Part = Trees | Linear | Mixed | ObliqueTree | ObliqueForest
TreeSum = Trees | ObliqueTree | ObliqueForest


@overload
def side_by_side(model: Trees, others: Sequence[Trees]) -> Trees: ...
@overload
def side_by_side(model: Part, others: Sequence[Part]) -> Part: ...
def side_by_side(model: Part, others: Sequence[Part]) -> Part:
    """All models as one. Its scores are those of the first model, then those of the others."""
    models = [model, *others]
    ends = np.cumsum([one.scores for one in models]).tolist()
    places = [(end - one.scores, ends[-1] - end) for one, end in zip(models, ends, strict=True)]
    return added([_padded(one, *place) for one, place in zip(models, places, strict=True)])


def added(models: Sequence[Part]) -> Part:
    """The sum of models with the same scores."""
    if any(isinstance(model, ObliqueTree | ObliqueForest) for model in models):
        return _oblique_sum(models)
    trees, lines = [], []
    for one in models:
        assert isinstance(one, Trees | Linear | Mixed)
        if not isinstance(one, Linear):
            trees.append(one.trees if isinstance(one, Mixed) else one)
        if not isinstance(one, Trees):
            lines.append(one.linear if isinstance(one, Mixed) else one)
    if not lines:
        return combined(trees, [1.0] * len(trees))
    line = lines_added(lines)
    return plus(combined(trees, [1.0] * len(trees)), line) if trees else line


def weighted_trees(models: Sequence[TreeSum], weights: Sequence[float]) -> TreeSum:
    """The weighted sum of trees of any kind."""
    plain = [model for model in models if isinstance(model, Trees)]
    if len(plain) == len(models):
        return combined(plain, weights)
    sums = []
    for model, weight in zip(models, weights, strict=True):
        one = _oblique(model)
        of_score = summed_scores(one, weight * np.eye(one.scores))
        sums.append(replace(of_score, folded=one.folded or not exact(weight)))
    return _oblique_sum(sums)


@overload
def summed_scores(model: ObliqueForest, rows: FloatArray) -> ObliqueForest: ...
@overload
def summed_scores(model: TreeSum, rows: FloatArray) -> TreeSum: ...
def summed_scores(model: TreeSum, rows: FloatArray) -> TreeSum:
    """The trees whose scores are the sums `rows @ scores`."""
    if isinstance(model, Trees):
        return replace(model, value=model.value @ rows.T, base=rows @ model.base)
    if isinstance(model, ObliqueTree):
        return replace(model, value=model.value @ rows.T)
    trees = tuple(replace(tree, value=tree.value @ rows.T) for tree in model.trees)
    return replace(model, trees=trees, line=None if model.line is None else rows @ model.line)


def _oblique_sum(models: Sequence[Part]) -> ObliqueForest:
    """The sum of models with the same scores, some of which are oblique trees.

    Their decisions are those of one linear model. It is measured from 0 if some tree compares single numbers with cuts.
    """
    forests = [_oblique(model) for model in sorted(models, key=lambda model: not isinstance(model, Trees | Mixed))]
    gates = lines_side_by_side([forest.gates for forest in forests])
    trees, first = [], 0
    for forest in forests:
        for tree in forest.trees:
            own = np.where(tree.gate < 0, -1, tree.gate + first)
            trees.append(replace(tree, gates=gates, gate=own))
        first += forest.gates.scores
    line = None
    if any(forest.line is not None for forest in forests):
        none = [np.zeros((forest.scores, forest.gates.scores)) for forest in forests]
        line = np.hstack([own if one.line is None else one.line for one, own in zip(forests, none, strict=True)])
    return ObliqueForest(tuple(trees), any(forest.folded for forest in forests), line)


def _oblique(model: Part) -> ObliqueForest:
    """The model as a sum of oblique trees, perhaps beside a linear model."""
    if isinstance(model, Mixed):
        return _oblique_sum([tilted(model.trees, lambda gates: gates), model.linear])
    if isinstance(model, Trees):
        model = tilted(model, lambda gates: gates)
    if isinstance(model, Linear):
        return ObliqueForest((leaf(model, np.zeros(model.scores)),), line=np.eye(model.scores))
    return model if isinstance(model, ObliqueForest) else ObliqueForest((model,))


def plus(trees: Trees, line: Linear) -> Mixed:
    """The sum of both, which have the same scores."""
    return Mixed(*_over_joined_cells(trees, line))


def with_lines(trees: Trees, lines: Linear, line: IntArray) -> LinearLeaves:
    """The trees with lines in their leaves: see `LinearLeaves`."""
    return LinearLeaves(*_over_joined_cells(trees, lines), line)


def _over_joined_cells(trees: Trees, line: Linear) -> tuple[Trees, Linear]:
    cells = joined_cells([trees.cells, line.cells])
    return over_cells(trees, cells), finer(line, cells)


def _padded(model: Part, before: int, after: int) -> Part:
    """The model with scores of 0 before and after its own."""
    if isinstance(model, Trees):
        return _padded_trees(model, before, after)
    if isinstance(model, Linear):
        return _padded_line(model, before, after)
    if isinstance(model, Mixed):
        return Mixed(_padded_trees(model.trees, before, after), _padded_line(model.linear, before, after))
    if isinstance(model, ObliqueTree):
        return replace(model, value=np.pad(model.value, ((0, 0), (before, after))))
    trees = tuple(replace(tree, value=np.pad(tree.value, ((0, 0), (before, after)))) for tree in model.trees)
    line = None if model.line is None else np.pad(model.line, ((before, after), (0, 0)))
    return replace(model, trees=trees, line=line)


def _padded_trees(model: Trees, before: int, after: int) -> Trees:
    """The model with scores of 0 before and after its own."""
    width = (before, after)
    return replace(model, value=np.pad(model.value, ((0, 0), width)), base=np.pad(model.base, width))


def _padded_line(model: Linear, before: int, after: int) -> Linear:
    """The model with scores of 0 before and after its own."""
    rows = ((before, after), (0, 0))
    return replace(
        model,
        intercept=np.pad(model.intercept, rows[0]),
        slope=np.pad(model.slope, rows),
        steps=tuple(np.pad(step, rows) for step in model.steps),
        cancelled=np.pad(np.broadcast_to(model.cancelled, model.intercept.shape), rows[0]),
        cancelled_slope=np.pad(np.broadcast_to(model.cancelled_slope, model.slope.shape), rows),
    )


def finer(model: Linear, cells: tuple[Cells, ...]) -> Linear:
    """The same model over finer cells, and over features that it does not read."""
    steps = [step[:, new.within(old)] for step, old, new in zip(model.steps, model.cells, cells, strict=False)]
    steps += [np.zeros((model.scores, new.count + 1)) for new in cells[len(steps) :]]
    more = (0, len(cells) - len(model.cells))
    return replace(
        model,
        slope=np.pad(model.slope, ((0, 0), more)),
        cells=cells,
        steps=tuple(steps),
        centre=np.pad(model.centre, more),
        blur=np.pad(model.blur, more),
        cancelled_slope=np.pad(np.broadcast_to(model.cancelled_slope, model.slope.shape), ((0, 0), more)),
    )


def lines_side_by_side(models: Sequence[Linear]) -> Linear:
    """Linear models as one. Its scores are those of the first model, then those of the others."""
    whole = side_by_side(models[0], models[1:])
    assert isinstance(whole, Linear)
    return whole


def lines_added(models: Sequence[Linear]) -> Linear:
    """The sum of linear models with the same scores, measured from the centre of the first one."""
    cells = joined_cells([model.cells for model in models])
    fine = [finer(model, cells) for model in models]
    parts = [_centred(model, fine[0].centre) for model in fine]
    return Linear(
        np.sum([part.intercept for part in parts], axis=0),
        np.sum([part.slope for part in parts], axis=0),
        parts[0].cells,
        tuple(np.sum(steps, axis=0) for steps in zip(*(part.steps for part in parts), strict=True)),
        parts[0].centre,
        np.max([part.blur for part in parts], axis=0),
        any(part.folded for part in parts),
        np.sum([np.broadcast_to(part.cancelled, part.intercept.shape) for part in parts], axis=0),
        max(part.more_terms for part in parts),
        min(part.fine for part in parts),
        np.sum([part.cancelled_slope for part in parts], axis=0),
        max(part.unit for part in parts),
    )


def _centred(model: Linear, centre: FloatArray) -> Linear:
    """The same model, measured from another centre. A missing number adds its step alone."""
    moved = model.slope * (centre - model.centre)
    steps = tuple(np.column_stack([step[:, :-1], step[:, -1] - moved[:, j]]) for j, step in enumerate(model.steps))
    return replace(model, intercept=model.intercept + moved.sum(axis=1), steps=steps, centre=centre)


def with_least(part: ScoreSet, scores: int, least: Sequence[float]) -> ScoreSet:
    """A set of `scores` scores, extended by further scores that must reach `least`."""
    more = len(least)
    return in_both(part, ScoreSet(np.eye(more), np.asarray(least), np.zeros(more, dtype=np.bool_)), scores)


def in_both(first: ScoreSet, second: ScoreSet, scores: int) -> ScoreSet:
    """The set of the scores of two models side by side that lie in one set each. The first model has `scores` scores.

    Only the first set may have a curve.
    """
    assert second.curve is None
    rows = first.b.shape[:-1] or second.b.shape[:-1]
    b = [np.broadcast_to(one.b, (*rows, len(one.A))) for one in (first, second)]
    below, above = (
        np.concatenate([np.broadcast_to(getattr(one, name), len(one.A)) for one in (first, second)])
        for name in ("below", "above")
    )
    return ScoreSet(
        block_diag(first.A, second.A),
        np.concatenate(b, axis=-1),
        np.concatenate([first.strict, second.strict]),
        first.offset,
        None if first.curve is None else first.curve.among(scores),
        below if below.any() else 0.0,
        above if above.any() else 0.0,
    )
