"""A problem as a mixed-integer program, and how its solutions are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.formulation.tables import Tables, tabulate
from butfor.model.scores import ScoreSet
from butfor.problem.constraints.implications import Implication
from butfor.problem.problem import Problem
from butfor.programs.program import Program, Sum
from butfor.solvers.milp.exact_point import Landing
from butfor.solvers.milp.features import Needs, Piece, add_feature
from butfor.solvers.milp.models import add_model, cells_in_use, needs_value
from butfor.solvers.milp.relations import add_relation

SNAP = 1e-9
"""A value this close to its old one or to an end, as a share of its width, is meant to be there."""


class Written(NamedTuple):
    """A problem as a program: its features as pieces, its tables, its scores, and what its implications choose."""

    program: Program
    pieces: list[Piece]
    tables: Tables
    scores: list[Sum]
    events: dict[Implication, Sum]

    def point(self, problem: Problem, x: FloatArray) -> FloatArray:
        """The row that values of the variables describe, up to the tolerance of HiGHS."""
        return _point(problem, self.pieces, self.tables, x)

    def landing(self, problem: Problem, x: FloatArray) -> Landing:
        """The place that values of the variables describe."""
        return Landing(problem, self.program, self.pieces, self.events, x, self.point(problem, x))

    def uphill(self, score_set: ScoreSet) -> Program:
        """The program that looks for the largest of the one sum of scores that a score set asks for."""
        down = Sum()
        for weight, score in zip(score_set.A[0].tolist(), self.scores, strict=True):
            down = down - weight * score
        return self.program.aimed_at(down)


AddModel = Callable[[Program, Problem, ScoreSet, list[Piece]], list[Sum]]
"""What writes a model into a program, forces its scores into a score set, and returns them."""


def _plainly(program: Program, problem: Problem, score_set: ScoreSet, pieces: list[Piece]) -> list[Sum]:
    return add_model(problem.model, program, problem, score_set, pieces)


def write(problem: Problem, score_set: ScoreSet, add: AddModel = _plainly, *, parts: bool = False) -> Written:
    """The program of the only row and one score set.

    `parts` asks for the changes of all numbers up and down.
    """
    cells = cells_in_use(problem.model, problem)
    tables = tabulate(problem, cells)
    program = Program()
    counted = any(most < which.sum() for which, most in problem.limits)
    needs = Needs(_values_needed(problem), counted, parts)
    widest = None
    if problem.prices.has_linf:
        widest = program.variable(0.0, np.inf)
        program.minimise(widest)
    pieces = [add_feature(program, problem, tables, cells[j], j, needs, widest) for j in range(len(problem.space))]
    scores = add(program, problem, score_set, pieces)
    added = [(relation, add_relation(relation, program, problem, pieces)) for relation in problem.relations]
    events = {relation: event for relation, event in added if isinstance(relation, Implication) and event is not None}
    if problem.prices.Q is not None:
        touched = np.flatnonzero(problem.prices.Q.any(axis=0))
        gains = tuple(_number_gain(pieces[j]) for j in touched)
        program.minimise_square(gains, problem.prices.Q[np.ix_(touched, touched)])
    return Written(program, pieces, tables, scores, events)


def _values_needed(problem: Problem) -> BoolArray:
    """The features whose number matters, not only their cell."""
    needed = needs_value(problem.model, len(problem.space)).copy()
    for relation in problem.relations:
        needed[[problem.space.index(name) for name in relation.numbers]] = True
    if problem.prices.Q is not None:
        needed |= problem.prices.Q.any(axis=0)
    return np.asarray(needed)


def _point(problem: Problem, pieces: list[Piece], tables: Tables, x: FloatArray) -> FloatArray:
    """The row that a solution describes, snapped to cells, grids and bounds."""
    point = np.empty(len(pieces))
    for j, piece in enumerate(pieces):
        cell = int(np.argmax([part.at(x) for part in piece.cell]))
        if not piece.by_value or cell == piece.cells.count:
            point[j] = tables.value[0, tables.start[j] + cell]
            continue
        point[j] = _snapped(problem, piece, j, cell, piece.value.at(x))
    return point


def _snapped(problem: Problem, piece: Piece, j: int, cell: int, value: float) -> float:
    domain = problem.domain
    at_home = cell == int(piece.cells.index(np.array([piece.x]))[0])
    step, near = float(domain.step[j]), SNAP * domain.width(j)
    if at_home and domain.stay[0, j] and abs(value - piece.x) <= near:
        return piece.x
    lower, upper = piece.cells.lower()[cell], piece.cells.upper()[cell]
    low, high = max(float(domain.low[0, j]), lower), min(float(domain.high[0, j]), upper)
    if value <= low + near:
        value = low
    elif value >= high - near:
        value = high
    found = float(piece.choices.closest(np.array([[value]]))[0, cell])
    if step and at_home and domain.stay[0, j] and abs(value - piece.x) <= abs(value - found):
        return piece.x
    return value if np.isnan(found) else found


def _number_gain(piece: Piece) -> Sum:
    return piece.gain + piece.x * piece.missing if not np.isnan(piece.x) else Sum()
