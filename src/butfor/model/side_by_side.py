"""Several models as one that has all of their scores, and sets of scores in which all of them must lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import overload

import numpy as np
from scipy.linalg import block_diag

from butfor.arrays import FloatArray
from butfor.model.cells import Cells, joined_cells
from butfor.model.linear import Linear
from butfor.model.mixed import Mixed
from butfor.model.scores import ScoreSet
from butfor.model.trees import Trees, combined, over_cells

Part = Trees | Linear | Mixed


@overload
def side_by_side(model: Trees, others: Sequence[Trees]) -> Trees: ...
@overload
def side_by_side(model: Part, others: Sequence[Part]) -> Part: ...
def side_by_side(model: Part, others: Sequence[Part]) -> Part:
    """All models as one. Its scores are those of the first model, then those of the others."""
    models = [model, *others]
    ends = np.cumsum([one.scores for one in models]).tolist()
    places = [(end - one.scores, ends[-1] - end) for one, end in zip(models, ends, strict=True)]
    trees, lines = [], []
    for one, place in zip(models, places, strict=True):
        if not isinstance(one, Linear):
            trees.append(_padded_trees(one.trees if isinstance(one, Mixed) else one, *place))
        if not isinstance(one, Trees):
            lines.append(_padded_line(one.linear if isinstance(one, Mixed) else one, *place))
    if not lines:
        return combined(trees, [1.0] * len(trees))
    line = lines_added(lines)
    return plus(combined(trees, [1.0] * len(trees)), line) if trees else line


def plus(trees: Trees, line: Linear) -> Mixed:
    """The sum of both, which have the same scores."""
    cells = joined_cells([trees.cells, line.cells])
    return Mixed(over_cells(trees, cells), finer(line, cells))


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
