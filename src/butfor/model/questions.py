"""Questions that are asked of a model, answered by registration: a new model form adds a line to each."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.black_box import BlackBox
from butfor.model.cells import Cells, level_cells, number_cells
from butfor.model.linear import Linear, evaluate_linear
from butfor.model.oblique import Oblique, evaluate_oblique
from butfor.model.trees import Trees, evaluate_trees

Model = Linear | Trees | Oblique | BlackBox


@singledispatch
def evaluate(model: Model, X: FloatArray) -> FloatArray:
    """Raw scores of encoded rows: the meaning of the model."""
    raise TypeError(f"{type(model).__name__} has no raw scores")


@singledispatch
def form_of(model: Model) -> str:
    """The word by which solvers know the form."""
    raise TypeError(type(model).__name__)


@singledispatch
def cuts(model: Model, feature: int) -> FloatArray:
    """The values of a number at which the model may change its mind abruptly (a row at a cut still goes left)."""
    return np.empty(0)


@singledispatch
def score_count(model: Model) -> int:
    """How many raw scores there are."""
    return 0


@singledispatch
def parts(model: Model) -> tuple[FloatArray, ...]:
    """The arrays that define the model, for its fingerprint."""
    return ()


@singledispatch
def widen(model: Model, levels: tuple[int, ...]) -> Model:
    """The same model over all features: those it does not read get cells of their own (`levels[j]` of them, 0 for a number)."""
    return model


evaluate.register(Linear)(evaluate_linear)
evaluate.register(Trees)(evaluate_trees)
evaluate.register(Oblique)(evaluate_oblique)


@form_of.register
def _(model: Linear) -> str:
    return "linear"


@form_of.register
def _(model: Trees) -> str:
    return "tree" if len(model.roots) == 1 else "ensemble"


@form_of.register
def _(model: Oblique) -> str:
    return "oblique tree"


@form_of.register
def _(model: BlackBox) -> str:
    return "black box"


@cuts.register(Linear)
@cuts.register(Trees)
@cuts.register(Oblique)
def _(model: Linear | Trees | Oblique, feature: int) -> FloatArray:
    return model.cells[feature].edges


@score_count.register(Linear)
@score_count.register(Trees)
@score_count.register(Oblique)
def _(model: Linear | Trees | Oblique) -> int:
    return model.scores


@parts.register
def _(model: Linear) -> tuple[FloatArray, ...]:
    return (model.intercept, model.slope, *(cells.edges for cells in model.cells), *model.steps)


@parts.register
def _(model: Trees) -> tuple[FloatArray, ...]:
    arrays = (model.roots, model.feature, model.cut, model.member, model.missing_left, model.left, model.right)
    return tuple(np.asarray(a, dtype=np.float64) for a in (*arrays, model.value, model.base, *model.sets))


@parts.register
def _(model: Oblique) -> tuple[FloatArray, ...]:
    shape = tuple(np.asarray(a, dtype=np.float64) for a in (model.gate, model.left, model.right))
    return (*parts(model.gates), *shape, model.value)


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
    return replace(model, slope=slope, cells=tuple(cells), steps=tuple(steps))


@widen.register
def _(model: Oblique, levels: tuple[int, ...]) -> Oblique:
    gates = widen(model.gates, levels)
    assert isinstance(gates, Linear)
    return replace(model, gates=gates)


@widen.register
def _(model: Trees, levels: tuple[int, ...]) -> Trees:
    cells = [*model.cells, *(_blank(count) for count in levels[len(model.cells) :])]
    wide = [_blank(count) if count and not cell.levels else cell for cell, count in zip(cells, levels, strict=True)]
    return replace(model, cells=tuple(wide))


def _blank(levels: int) -> Cells:
    return level_cells(levels) if levels else number_cells(np.empty(0))
