"""Constraints on several columns, as rows of a mixed-integer program."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch

import numpy as np

from butfor.problem.constraints.constraint import Relation
from butfor.problem.constraints.relations import AtMost, Event, Fresh, Implication, LinearRelation
from butfor.problem.constraints.restrictions import Allowed, Between
from butfor.problem.domain import on_grid
from butfor.problem.form import ConstraintKind
from butfor.problem.problem import Problem
from butfor.programs.program import Program, Sum
from butfor.solvers.milp.features import Piece


@singledispatch
def add_relation(relation: Relation, program: Program, problem: Problem, pieces: list[Piece]) -> Sum | None:
    """Add one relation between features as rows. For an implication, returns the variable that says that its cause happens."""
    raise TypeError(f"no rows are known for a {type(relation).__name__}")


def kinds_with_rows() -> frozenset[ConstraintKind]:
    """The kinds of relations that `add_relation` knows."""
    return frozenset(known.kind for known in add_relation.registry if issubclass(known, Relation))


@add_relation.register
def _(relation: AtMost, program: Program, problem: Problem, pieces: list[Piece]) -> None:
    program.at_least(_spared_changes(pieces, range(len(pieces)), relation.count))


@add_relation.register
def _(relation: Fresh, program: Program, problem: Problem, pieces: list[Piece]) -> None:
    at = [problem.space.index(name) for name in relation.names]
    program.at_least(_spared_changes(pieces, at, len(at) - 1))


@add_relation.register
def _(relation: LinearRelation, program: Program, problem: Problem, pieces: list[Piece]) -> None:
    total, sizes = Sum(constant=-relation.bound), list[float]()
    extent = problem.domain.extent
    for name, weight in relation.weights:
        j = problem.space.index(name)
        total = total + weight * (pieces[j].value + pieces[j].middle * pieces[j].missing)
        program.equal(pieces[j].missing, 0.0)
        sizes.append(abs(weight) * max(abs(extent.low[j]), abs(extent.high[j])))
    slack = float(relation.doubt(problem.space, np.array([sizes]))[0])
    for sense, side in ((">=", total), ("<=", -1.0 * total)):
        if relation.sense in (sense, "=="):
            program.at_least(side, -slack)


@add_relation.register
def _(relation: Implication, program: Program, problem: Problem, pieces: list[Piece]) -> Sum:
    """Add a binary variable that is 1 if the cause holds. If it is 1, the consequence must hold."""
    happens = program.binary()
    for part, add_event, add_end in (
        (relation.cause, _add_cause, _add_cause_of_end),
        (relation.consequence, _add_consequence, _add_consequence_of_end),
    ):
        j = problem.space.index(part.name)
        if isinstance(part, Event):
            add_event(part, happens, program, problem, j, pieces[j])
        else:
            add_end(part, happens, program, problem, j, pieces[j])
    return happens


def _add_cause(event: Event, happens: Sum, program: Program, problem: Problem, j: int, piece: Piece) -> None:
    """`happens` is 1 if a feature changes like this."""
    if event.word == "becomes":
        code = _level(problem, event, j)
        if code != piece.home:
            program.at_least(happens - piece.cell[code])
    elif not np.isnan(piece.x):
        gain = event.sign * (piece.gain + piece.x * piece.missing)
        most = _short_of(event.by, 0.0, problem, j, piece) if event.by else 0.0
        program.at_least(piece.room * happens + most - gain)


def _add_consequence(event: Event, happens: Sum, program: Program, problem: Problem, j: int, piece: Piece) -> None:
    """A feature changes like this if `happens` is 1."""
    if event.word == "becomes":
        program.at_least(piece.cell[_level(problem, event, j)] - happens)
    elif np.isnan(piece.x):
        program.equal(happens, 0.0)
    else:
        gain = event.sign * (piece.gain + piece.x * piece.missing)
        least = event.by or 1e-6 * _grain(problem, j, piece)
        program.at_least(gain - (least + piece.room) * happens, -piece.room)
        program.at_least(Sum(constant=1.0) - happens - piece.missing)


def _add_cause_of_end(
    part: Between | Allowed, happens: Sum, program: Program, problem: Problem, j: int, piece: Piece
) -> None:
    """`happens` is 1 if a feature ends like this and is known."""
    if problem.space.features[j].levels is not None:
        for cell in _cells_inside(part, problem, j, piece):
            program.at_least(happens - cell)
    else:
        sign, end = end_of(part)
        outside = -sign * piece.value + _short_of(end, sign * float(problem.domain.anchor[j]), problem, j, piece)
        program.at_least(outside + _room(program, outside) * (happens + piece.missing))


def _add_consequence_of_end(
    part: Between | Allowed, happens: Sum, program: Program, problem: Problem, j: int, piece: Piece
) -> None:
    """A feature ends like this, or is missing, if `happens` is 1."""
    if problem.space.features[j].levels is not None:
        inside = Sum()
        for cell in _cells_inside(part, problem, j, piece):
            inside = inside + cell
        program.at_least(inside + piece.missing - happens)
    else:
        sign, end = end_of(part)
        inside = sign * piece.value - end
        program.at_least(inside + _room(program, inside) * (Sum(constant=1.0) - happens + piece.missing))


def _cells_inside(part: Between | Allowed, problem: Problem, j: int, piece: Piece) -> list[Sum]:
    """The cells of the levels that a feature may end at."""
    levels = np.arange(len(piece.cell) - 1)
    rows = np.zeros((len(levels), len(problem.space)))
    rows[:, j] = levels
    return [piece.cell[k] for k in np.flatnonzero(part.holds_between(problem.space, rows, rows)).tolist()]


def end_of(part: Between | Allowed) -> tuple[float, float]:
    """The only end of an interval of numbers: a sign and the end, such that sign * number >= end inside."""
    assert isinstance(part, Between)
    return (1.0, float(part.low)) if np.isfinite(part.low) else (-1.0, -float(part.high))


def _room(program: Program, expression: Sum) -> float:
    """How far an expression may get below 0."""
    return max(0.0, -program.least(expression))


def _short_of(end: float, anchor: float, problem: Problem, j: int, piece: Piece) -> float:
    """What is at most reached short of an end: halfway to it from the last value before on a grid, and all of it elsewhere."""
    spacing = _grain(problem, j, piece)
    if (problem.space.features[j].levels is None and spacing < problem.domain.step[j]) or not spacing:
        return end - 0.5 * spacing
    return float(anchor + spacing * (np.ceil((end - anchor) / spacing - 1e-9) - 0.5))


def _grain(problem: Problem, j: int, piece: Piece) -> float:
    """The smallest difference between two values of a feature. Real numbers have none: their cause ends where it begins."""
    if problem.space.features[j].levels is not None:
        return 1.0
    step = float(problem.domain.step[j])
    on = bool(step) and on_grid(np.array([piece.x]), step, float(problem.domain.anchor[j]))[0]
    return step if on else 1e-6 * step


def _level(problem: Problem, event: Event, j: int) -> int:
    levels = problem.space.features[j].levels
    assert levels is not None
    return levels.index(event.level)


def _spared_changes(pieces: list[Piece], at: Iterable[int], most: int) -> Sum:
    """`most` minus the number of these features that change. It must not be negative."""
    total = Sum(constant=float(most))
    for j in at:
        total = total - pieces[j].changed
    return total
