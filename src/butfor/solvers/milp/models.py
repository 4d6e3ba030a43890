"""A model in a mixed-integer program. Its scores become linear expressions of the features' pieces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import singledispatch

import numpy as np

from butfor.arrays import BoolArray
from butfor.formulation.half_spaces import goals, thresholds
from butfor.formulation.margins import cells_inside, leaves_inside, tightened
from butfor.model.cells import Cells
from butfor.model.linear import Linear
from butfor.model.oblique import ObliqueTree
from butfor.model.questions import Model
from butfor.model.scores import ScoreSet
from butfor.model.trees import Interval, Leaf, Trees
from butfor.problem.problem import Problem
from butfor.solvers.milp.features import Piece
from butfor.solvers.milp.program import Program, Sum


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
def _(model: Linear | ObliqueTree, problem: Problem) -> tuple[Cells, ...]:
    return model.cells


@cells_in_use.register
def _(model: Trees, problem: Problem) -> tuple[Cells, ...]:
    return cells_inside(model, problem.space, problem.margin)


@needs_value.register
def _(model: Linear, features: int) -> BoolArray:
    return np.asarray(np.any(model.slope != 0, axis=0))


def _scores(model: Linear, pieces: list[Piece]) -> list[Sum]:
    """The scores of a linear model as expressions."""
    scores = [Sum(constant=float(intercept)) for intercept in model.intercept]
    for s in range(model.scores):
        for j, piece in enumerate(pieces):
            if model.slope[s, j]:
                scores[s] = scores[s] + float(model.slope[s, j]) * piece.value
            for cell, step in zip(piece.cell, model.steps[j][s], strict=True):
                if step:
                    scores[s] = scores[s] + float(step) * cell
    return scores


@needs_value.register
def _(model: ObliqueTree, features: int) -> BoolArray:
    return needs_value(model.gates, features)


@add_model.register
def _(model: Linear, program: Program, problem: Problem, score_set: ScoreSet, pieces: list[Piece]) -> list[Sum]:
    scores = _scores(model, pieces)
    tight = tightened(score_set, problem)
    for row, b in zip(tight.A, tight.b, strict=True):
        total = Sum()
        for weight, score in zip(row, scores, strict=True):
            if weight:
                total = total + float(weight) * score
        program.at_least(total, float(b), measured=True)
    return scores


@add_model.register
def _(model: ObliqueTree, program: Program, problem: Problem, score_set: ScoreSet, pieces: list[Piece]) -> list[Sum]:
    """One binary variable per target leaf. Each decision on the path to the chosen leaf must hold.

    The decisions of the other leaves are switched off by a large constant.
    """
    gates = _scores(model.gates, pieces)
    right, left = thresholds(problem)
    chosen, total = [], Sum()
    for goal in goals(replace(problem, score_sets=(score_set,))):
        leaf = program.binary()
        chosen.append((goal.path.node, leaf))
        total = total + leaf
        for gate, side in zip(goal.path.gates, goal.path.right, strict=True):
            score = gates[gate] if side else -1.0 * gates[gate]
            b = float(right[gate] if side else left[gate])
            big = b - program.least(score)
            program.at_least(score - big * leaf, b - big, measured=True)
    program.equal(total, 1.0)
    scores = [Sum() for _ in range(model.scores)]
    for node, leaf in chosen:
        scores = [score + float(v) * leaf for score, v in zip(scores, model.value[node], strict=True)]
    return scores


@add_model.register
def _(model: Trees, program: Program, problem: Problem, score_set: ScoreSet, pieces: list[Piece]) -> list[Sum]:
    """The tight order formulation, with one variable per leaf.

    The variables of a tree add up to 1, and each is bound to the cells that its path allows.
    """
    leaves = leaves_inside(model, problem.space, problem.margin)
    alone = len(model.roots) == 1
    scores = [Sum(constant=float(base)) for base in model.base]
    for tree in range(len(model.roots)):
        mine = [leaf for leaf in leaves if leaf.tree == tree]
        if alone:
            fine = score_set.holds(model.base + model.value[[leaf.node for leaf in mine]])
            mine = [leaf for leaf, good in zip(mine, fine, strict=True) if good]
        chosen = [program.variable(0.0, 1.0) for _ in mine]
        total = Sum()
        for leaf, variable in zip(mine, chosen, strict=True):
            total = total + variable
            if not alone or score_set.curve is not None:
                scores = [s + float(v) * variable for s, v in zip(scores, model.value[leaf.node], strict=True)]
        program.equal(total, 1.0)
        for j in {j for leaf in mine for j in leaf.path}:
            _bind(
                program,
                pieces[j],
                [(leaf, variable) for leaf, variable in zip(mine, chosen, strict=True) if j in leaf.path],
                j,
            )
    if not alone:
        size = np.abs(model.value).max(axis=0).sum() * len(model.roots)
        for row, b, closing in zip(score_set.A, score_set.b, score_set.closing(size), strict=True):
            total = Sum()
            for weight, score in zip(row, scores, strict=True):
                total = total + float(weight) * score
            program.at_least(total, float(b + closing), measured=True)
    return scores


def _bind(program: Program, piece: Piece, users: list[tuple[Leaf, Sum]], j: int) -> None:
    """Bind those leaves of one tree that depend on feature `j` to its cells."""
    spans = [(leaf.path[j], variable) for leaf, variable in users]
    if all(isinstance(region, Interval) for region, _ in spans):
        _bind_spans(program, piece, [(region, variable) for region, variable in spans if isinstance(region, Interval)])
        return
    for k, cell in enumerate(piece.cell):
        barred = _sum(variable for region, variable in spans if not isinstance(region, Interval) and not region.mask[k])
        if barred.terms and (cell.terms or cell.constant):
            program.at_least(Sum(constant=1.0) - cell - barred)


def _bind_spans(program: Program, piece: Piece, spans: list[tuple[Interval, Sum]]) -> None:
    count = piece.cells.count
    lost = [variable for region, variable in spans if not region.missing]
    if lost and (piece.missing.terms or piece.missing.constant):
        program.at_least(Sum(constant=1.0) - piece.missing - _sum(lost))
    empty = [variable for region, variable in spans if region.first > region.last]
    if empty:
        program.at_least(piece.missing - _sum(empty))
    real = [(region, variable) for region, variable in spans if region.first <= region.last]
    above = piece.above or _known_above(piece)
    for k in sorted({r.first - 1 for r, _ in real if r.first > 0} | {r.last for r, _ in real if r.last < count - 1}):
        for lenient in (False, True):
            right = [v for r, v in real if r.first > k and (lenient or not r.missing)]
            if right:
                program.at_least(above[k] + (piece.missing if lenient else Sum()) - _sum(right))
        left = [v for r, v in real if r.last <= k]
        if left:
            program.at_least(Sum(constant=1.0) - above[k] - _sum(left))


def _known_above(piece: Piece) -> list[Sum]:
    """The order expressions of a number without order variables: sums of its cells."""
    return [_sum(piece.cell[k + 1 : piece.cells.count]) for k in range(piece.cells.count - 1)]


def _sum(parts: Iterable[Sum]) -> Sum:
    total = Sum()
    for part in parts:
        total = total + part
    return total
