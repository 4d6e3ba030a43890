"""A model in a mixed-integer program. Its scores become linear expressions of the features' pieces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import singledispatch

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.formulation.half_spaces import goals, thresholds
from butfor.formulation.margins import cells_inside, falls_alone, leaf_offsets, leaves_inside, tightened, widened
from butfor.model.cells import Cells
from butfor.model.grid_points import on_grid
from butfor.model.linear import Linear
from butfor.model.linear_leaves import LinearLeaves
from butfor.model.mixed import Mixed
from butfor.model.network import Network
from butfor.model.oblique import ObliqueTree, Path
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.questions import Model
from butfor.model.rounding import FURTHER_STEPS
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE, ScoreSet
from butfor.model.trees import Trees
from butfor.problem.problem import Problem
from butfor.programs.program import Program, Sum, mixtures
from butfor.solvers.milp.features import MOST_STEPS, Piece
from butfor.solvers.milp.leaves import linear_leaf_scores, total_of, tree_scores


@singledispatch
def cells_in_use(model: Model, problem: Problem) -> tuple[Cells, ...]:
    """The cells of each feature that the program is written over."""
    raise TypeError(type(model).__name__)


@singledispatch
def needs_value(model: Model, features: int) -> BoolArray:
    """The features whose number the scores depend on, not only their cell."""
    return np.zeros(features, dtype=np.bool_)


@singledispatch
def add_model(model: Model, program: Program, problem: Problem, score_set: ScoreSet, pieces: list[Piece]) -> list[Sum]:
    """Force the scores into `score_set`. Returns the scores as expressions, which curved sets need."""
    raise TypeError(type(model).__name__)


@cells_in_use.register(Linear)
@cells_in_use.register(ObliqueTree)
@cells_in_use.register(ObliqueForest)
@cells_in_use.register(Network)
def _(model: Linear | ObliqueTree | ObliqueForest | Network, problem: Problem) -> tuple[Cells, ...]:
    return model.cells


@cells_in_use.register
def _(model: Trees, problem: Problem) -> tuple[Cells, ...]:
    return cells_inside(model, problem.space, problem.demands.margin)


@needs_value.register
def _(model: Linear, features: int) -> BoolArray:
    return np.asarray(np.any(model.slope != 0, axis=0))


def better(
    problem: Problem,
    score_set: ScoreSet,
    program: Program,
    pieces: list[Piece],
    values: list[FloatArray],
    point: FloatArray,
) -> Sum | None:
    """An expression that is at least 1 iff some feature adds more to the score than in a refused `point`.

    Whatever adds no more is refused, too. `values[j]` are the values that the cells of feature j stand for. The
    expression is None if a refusal tells nothing of others (`falls_alone`), if numbers are binned, or if a real number
    can still add a little.
    """
    model = problem.model
    if not isinstance(model, Linear) or not falls_alone(problem, score_set):
        return None
    row, total = score_set.A.sum(axis=0), Sum()  # all inequalities but one may be empty
    for j, piece in enumerate(pieces):
        slope, steps = float(row @ model.slope[:, j]), row @ model.steps[j]
        if not slope and not steps.any():
            continue
        if not piece.by_value:
            adds = np.append(slope * (values[j][:-1] - model.centre[j]), 0.0) + steps
            here = int(piece.cells.index(point[[j]])[0])
            no_less = adds > adds[here] - FURTHER_STEPS * UNIT_DOUBLE * np.abs(adds).max()
            for cell in np.flatnonzero(no_less & (np.arange(len(adds)) != here)):
                total = total + piece.cell[int(cell)]
            continue
        if steps[:-1].any() or np.isnan(point[j]):
            return None
        if steps[-1] > slope * (point[j] - model.centre[j]):
            total = total + piece.missing
        if _on_grid(problem, j, piece.x) and _on_grid(problem, j, float(point[j])):
            total = total + beyond(problem, program, piece, j, float(point[j]))[int(slope > 0)]
        elif point[j] != (problem.domain.high if slope > 0 else problem.domain.low)[0, j]:
            return None
    return total


def elsewhere(problem: Problem, program: Program, pieces: list[Piece], point: FloatArray) -> Sum | None:
    """An expression that is at least 1 iff some feature that the model reads leaves its place in `point`.

    The place of a feature is its cell, or its grid point if the number itself matters. It is None if the model reads a
    real number, which has no place.
    """
    reads = needs_value(problem.model, len(pieces))
    total = Sum()
    for j, piece in enumerate(pieces):
        if not _is_read(problem.model, j):
            continue
        if reads[j] and piece.by_value:
            if np.isnan(point[j]):
                total = total + piece.known
                continue
            if not _on_grid(problem, j, piece.x) or not _on_grid(problem, j, float(point[j])):
                return None
            below, above = beyond(problem, program, piece, j, float(point[j]))
            total = total + below + above + piece.missing
        else:
            total = total + 1.0 + -1.0 * piece.cell[int(piece.cells.index(point[[j]])[0])]
    return total


def _on_grid(problem: Problem, j: int, value: float) -> bool:
    """Whether a number is missing, or lies on the grid of its feature. A real number has no grid."""
    step, anchor = float(problem.domain.step[j]), float(problem.domain.anchor[j])
    return step > 0 and (bool(np.isnan(value)) or bool(on_grid(np.array([value]), step, anchor)[0]))


def _is_read(model: Model, j: int) -> bool:
    """Whether the scores depend on feature `j`."""
    if isinstance(model, Linear):
        return bool(model.slope[:, j].any() or j in model.stepped)
    return not isinstance(model, Trees) or bool((model.feature == j).any())


def beyond(problem: Problem, program: Program, piece: Piece, j: int, value: float) -> tuple[Sum, Sum]:
    """Two new binary variables, which are 1 only if a number on a grid is below `value`, and above it."""
    step = float(problem.domain.step[j])
    low, high = float(problem.domain.extent.low[j]), float(problem.domain.extent.high[j])
    below, above = program.binary(), program.binary()
    away = (1 / step) * (piece.value + -value * piece.known)
    most, least = (high - value) / step, (low - value) / step
    program.at_least((most + 1) * (Sum(constant=1.0) - below) - away, 1.0)
    program.at_least(away - (least - 1) * (Sum(constant=1.0) - above), 1.0)
    return below, above


def _scores(model: Linear, pieces: list[Piece]) -> list[Sum]:
    """The scores of a linear model as expressions."""
    sloped = np.flatnonzero(model.slope.any(axis=0))
    parts = [pieces[j].value - float(model.centre[j]) * pieces[j].known for j in sloped.tolist()]
    weights = [model.slope[:, sloped]]
    for j in model.stepped:
        parts += pieces[j].cell
        weights.append(model.steps[j])
    return mixtures(np.hstack(weights), parts, model.intercept)


def _reach(
    program: Program, problem: Problem, score_set: ScoreSet, scores: list[Sum], kept: FloatArray | float = 0.0
) -> None:
    """Each inequality of the widened set holds, and firmly that of the tightened set, further in by `kept`."""
    wide, tight = widened(score_set, problem), tightened(score_set, problem)
    totals = mixtures(wide.A, scores, np.zeros(len(wide.A)))
    for total, b, firm in zip(totals, wide.b, tight.b + kept, strict=True):
        program.at_least(total, float(b), firm=float(firm))


@needs_value.register(ObliqueTree)
@needs_value.register(ObliqueForest)
def _(model: ObliqueTree | ObliqueForest, features: int) -> BoolArray:
    return needs_value(model.gates, features)


@add_model.register
def _(model: Linear, program: Program, problem: Problem, score_set: ScoreSet, pieces: list[Piece]) -> list[Sum]:
    scores = _scores(model, pieces)
    _reach(program, problem, score_set, scores, _lost(model, problem, score_set.A))
    return scores


def _lost(model: Linear, problem: Problem, A: FloatArray) -> FloatArray:
    """What each sum `A s` of its scores may lose as values are rounded."""
    return np.asarray(np.abs(A @ model.slope) @ _rounded(problem))


def _rounded(problem: Problem) -> FloatArray:
    """By how much each value is rounded to float32, and to very fine grids."""
    single = np.where(problem.domain.single, np.maximum(-problem.domain.extent.low, problem.domain.extent.high), 0.0)
    width, step = problem.domain.extent.high - problem.domain.extent.low, problem.domain.step
    return np.asarray(UNIT_SINGLE * single + np.where(width > MOST_STEPS * step, step / 2, 0.0))


@cells_in_use.register(Mixed)
@cells_in_use.register(LinearLeaves)
def _(model: Mixed | LinearLeaves, problem: Problem) -> tuple[Cells, ...]:
    return model.cells


@needs_value.register
def _(model: Mixed, features: int) -> BoolArray:
    return needs_value(model.linear, features)


@needs_value.register
def _(model: LinearLeaves, features: int) -> BoolArray:
    return needs_value(model.lines, features)


@needs_value.register
def _(model: Network, features: int) -> BoolArray:
    return needs_value(model.first, features)


@add_model.register
def _(model: Network, program: Program, problem: Problem, score_set: ScoreSet, pieces: list[Piece]) -> list[Sum]:
    def bend(layer: int, unit: int, z: Sum, leak: float) -> Sum:
        bent, _ = add_bent(program, z, leak, (program.least(z), -program.least(-1.0 * z)))
        return bent

    return add_network(model, program, problem, score_set, pieces, bend)


def add_network(
    model: Network,
    program: Program,
    problem: Problem,
    score_set: ScoreSet,
    pieces: list[Piece],
    bend: Callable[[int, int, Sum, float], Sum],
) -> list[Sum]:
    """Force the scores of a network into `score_set`.

    `bend(layer, unit, z, leak)` adds what a unit needs, and returns the expression `max(z, leak z)`.
    """
    reached = _scores(model.first, pieces)
    for number, layer in enumerate(model.layers):
        leaks = layer.leak.tolist()
        bent = [bend(number, unit, z, leak) for unit, (z, leak) in enumerate(zip(reached, leaks, strict=True))]
        reached = mixtures(layer.weight, bent, layer.intercept)
    _reach(program, problem, score_set, reached)
    return reached


def add_bent(
    program: Program, z: Sum, leak: float, ends: tuple[float, float], *, chosen: bool = True
) -> tuple[Sum, Sum | None]:
    """The expression `max(z, leak z)` for a sum between two ends, and `max(z, 0)` if it is a variable of its own.

    A unit whose sign is known needs no variable. Otherwise it has two parts, above 0 and below, and a binary variable
    says which of them is 0. With `chosen=False` it has none: then both parts may be too large.
    """
    low, high = ends
    if low >= 0 or leak == 1.0:
        return z, None
    if high <= 0:
        return leak * z, None
    above, rest = program.variable(0.0, high), program.variable(0.0, -low)
    program.equal(z - above + rest)
    if chosen:
        positive = program.binary()
        program.at_least(high * positive - above, 0.0)
        program.at_least(low * positive - rest, low)
    return above - leak * rest, above


@add_model.register
def _(model: ObliqueTree, program: Program, problem: Problem, score_set: ScoreSet, pieces: list[Piece]) -> list[Sum]:
    """Only the leaves of the target can be chosen."""
    gates, paths = (
        _scores(model.gates, pieces),
        [goal.path for goal in goals(replace(problem, score_sets=(score_set,)))],
    )
    return _leaf_scores(model, paths, program, gates, thresholds(problem))


@add_model.register
def _(model: ObliqueForest, program: Program, problem: Problem, score_set: ScoreSet, pieces: list[Piece]) -> list[Sum]:
    """A leaf of each tree is chosen, and their values add up, and with a linear model beside them."""
    gates, edges = _scores(model.gates, pieces), thresholds(problem)
    none, lost = np.zeros(model.scores), np.zeros(len(score_set.A))
    total = [Sum() for _ in none]
    if model.line is not None:
        total = mixtures(model.line, gates, none)
        lost = _lost(model.gates, problem, score_set.A @ model.line)
    for tree in model.trees:
        mine = _leaf_scores(tree, tree.paths, program, gates, edges)
        total = [a + b for a, b in zip(total, mine, strict=True)]
    _reach(program, problem, score_set, total, lost)
    return total


def _leaf_scores(
    model: ObliqueTree, paths: Sequence[Path], program: Program, gates: list[Sum], edges: tuple[FloatArray, FloatArray]
) -> list[Sum]:
    """The scores of one of some leaves of an oblique tree, which is chosen by a binary variable each.

    A decision must hold if one of the leaves beyond it is chosen, and is switched off by a large constant if not.
    """
    right, left = edges
    leaves = [program.binary() for _ in paths]
    beyond: dict[tuple[int, int], Sum] = {}
    for path, leaf in zip(paths, leaves, strict=True):
        for way in zip(path.gates.tolist(), path.right.tolist(), strict=True):
            beyond[way] = beyond.get(way, Sum()) + leaf
    for (gate, side), chosen in beyond.items():
        score = gates[gate] if side else -1.0 * gates[gate]
        b = float(right[gate] if side else left[gate])
        big = b - program.least(score)
        program.at_least(score - big * chosen, b - big, firm=b - big)
    program.equal(total_of(leaves), 1.0)
    values = model.value[[path.node for path in paths]]
    return [total_of(float(v) * leaf for v, leaf in zip(column, leaves, strict=True)) for column in values.T]


@add_model.register
def _(model: Trees, program: Program, problem: Problem, score_set: ScoreSet, pieces: list[Piece]) -> list[Sum]:
    """The tight order formulation, with one variable per leaf.

    The variables of a tree add up to 1, and each is bound to the cells that its path allows.
    """
    leaves = leaves_inside(model, problem.space, problem.demands.margin)
    if len(model.roots) > 1:
        scores = tree_scores(model, program, leaves, pieces)
        _reach(program, problem, score_set, scores)
        return scores
    offset = leaf_offsets(replace(problem, score_sets=(score_set,)), leaves)
    return tree_scores(
        model, program, [leaf for leaf, some in zip(leaves, offset, strict=True) if np.isfinite(some)], pieces
    )


@add_model.register
def _(model: Mixed, program: Program, problem: Problem, score_set: ScoreSet, pieces: list[Piece]) -> list[Sum]:
    trees = tree_scores(model.trees, program, model.trees.leaves, pieces)
    scores = [a + b for a, b in zip(trees, _scores(model.linear, pieces), strict=True)]
    _reach(program, problem, score_set, scores, _lost(model.linear, problem, score_set.A))
    return scores


@add_model.register
def _(model: LinearLeaves, program: Program, problem: Problem, score_set: ScoreSet, pieces: list[Piece]) -> list[Sum]:
    scores = linear_leaf_scores(model, program, _scores(model.lines, pieces), pieces)
    lost = model.most(np.abs(model.lines.slope) @ _rounded(problem))
    _reach(program, problem, score_set, scores, np.abs(score_set.A) @ lost)
    return scores
