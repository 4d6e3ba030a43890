"""Several models as one that has all of their scores, and sets of scores in which all of them must lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import block_diag

from butfor.arrays import FloatArray
from butfor.model.linear import Linear
from butfor.model.network import Computation, Layer, Network
from butfor.model.questions import Model
from butfor.model.scores import ScoreSet
from butfor.model.trees import Trees, combined


def side_by_side(models: Sequence[Model]) -> Model | None:
    """All models as one. Its scores are those of the first model, then those of the others.

    None if they are not of one kind: trees, linear models over the same cells, or networks of the same depth.
    """
    trees = [model for model in models if isinstance(model, Trees)]
    if len(trees) == len(models):
        return trees_side_by_side(trees)
    lines = [model for model in models if isinstance(model, Linear)]
    if len(lines) == len(models) and _over_same_cells(lines):
        return linear_side_by_side(lines)
    networks = [model for model in models if isinstance(model, Network)]
    if len(networks) == len(models) and _alike(networks):
        return networks_side_by_side(networks)
    return None


def trees_side_by_side(models: Sequence[Trees]) -> Trees:
    """Sums of trees as one."""
    scores, before = sum(one.scores for one in models), 0
    padded = []
    for one in models:
        after = scores - before - one.scores
        value = np.pad(one.value, ((0, 0), (before, after)))
        padded.append(replace(one, value=value, base=np.pad(one.base, (before, after))))
        before += one.scores
    return combined(padded, [1.0] * len(padded))


def linear_side_by_side(models: Sequence[Linear]) -> Linear:
    """Linear models over the same cells as one."""
    first = models[0]
    steps = zip(*(_centred(model, first) for model in models), strict=True)
    return Linear(
        np.concatenate([model.intercept + model.slope @ (first.centre - model.centre) for model in models]),
        np.concatenate([model.slope for model in models]),
        first.cells,
        tuple(np.concatenate(step) for step in steps),
        first.centre,
        np.max([model.blur for model in models], axis=0),
        any(model.folded for model in models),
        np.concatenate([np.broadcast_to(model.cancelled, model.scores) for model in models]),
    )


def _centred(model: Linear, first: Linear) -> list[FloatArray]:
    """The steps of a model, measured from the centre of the first one. A missing number adds its step alone."""
    moved = model.slope * (first.centre - model.centre)
    return [np.column_stack([step[:, :-1], step[:, -1] - moved[:, j]]) for j, step in enumerate(model.steps)]


def same_cells(a: Linear, b: Linear) -> bool:
    """Whether two linear models are over the same cells."""
    if len(a.cells) != len(b.cells):
        return False
    return all(np.array_equal(x.edges, y.edges) and x.levels == y.levels for x, y in zip(a.cells, b.cells, strict=True))


def _over_same_cells(models: Sequence[Linear]) -> bool:
    return all(same_cells(models[0], model) for model in models)


def networks_side_by_side(models: Sequence[Network]) -> Network:
    """Networks of the same depth as one. No unit is connected to one of another network."""
    how = [_computation(model) for model in models]
    computed = Computation(
        linear_side_by_side([one.columns for one in how]),
        _layers_side_by_side([one.layers for one in how]),
        max(one.unit for one in how),
    )
    first = linear_side_by_side([model.first for model in models])
    return Network(first, _layers_side_by_side([model.layers for model in models]), computed)


def _computation(model: Network) -> Computation:
    return model.computed or Computation(model.first, model.layers, model.unit)


def _layers_side_by_side(layers: Sequence[tuple[Layer, ...]]) -> tuple[Layer, ...]:
    return tuple(
        Layer(
            np.concatenate([layer.leak for layer in at]),
            block_diag(*(layer.weight for layer in at)),
            np.concatenate([layer.intercept for layer in at]),
        )
        for at in zip(*layers, strict=True)
    )


def _alike(models: Sequence[Network]) -> bool:
    """Whether networks have the same depth, and their first layers the same cells."""
    how = [_computation(model) for model in models]
    depths = {(len(model.layers), len(one.layers)) for model, one in zip(models, how, strict=True)}
    same = _over_same_cells([model.first for model in models]) and _over_same_cells([one.columns for one in how])
    return len(depths) == 1 and same


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
