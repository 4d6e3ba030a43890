"""Constraints on several columns, as rows of a mixed-integer program."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch

import numpy as np

from butfor.model.grid_points import on_grid
from butfor.problem.constraints.constraint import Relation
from butfor.problem.constraints.implications import At, Event, Implication
from butfor.problem.constraints.relations import AtMost, Fresh, LinearRelation
from butfor.problem.constraints.restrictions import Allowed, Between
from butfor.problem.form import ConstraintKind
from butfor.problem.problem import Problem
from butfor.programs.program import Program, Sum
from butfor.solvers.milp.features import Piece, weighted


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
    total, sizes, extent = Sum(constant=-relation.bound), dict[int, float](), problem.domain.extent
    for j, weight in relation.of_numbers(problem.space).items():
        total = total + float(weight) * (pieces[j].value + pieces[j].middle * pieces[j].missing)
        sizes[j] = float(abs(weight)) * max(abs(extent.low[j]), abs(extent.high[j]))
    for j, terms in relation.of_levels(problem.space).items():
        total = total + weighted(pieces[j].cell[:-1], np.array(terms, dtype=np.float64))
        sizes[j] = float(max(map(abs, terms)))
    for j in sizes:
        program.equal(pieces[j].missing, 0.0)
    slack = relation.doubt(problem.space, sizes)
    for sense, side in ((">=", total), ("<=", -1.0 * total)):
        if relation.sense in (sense, "=="):
            program.at_least(side, -slack)


@add_relation.register
def _(relation: Implication, program: Program, problem: Problem, pieces: list[Piece]) -> Sum:
    """Add a binary variable that is 1 if the cause holds. If it is 1, the consequence must hold."""
    happens = program.binary()
    (cause, caused), (consequence, follows) = relation.parts(problem.space, problem.factuals[0])
    if problem.space.features[cause].levels is not None:
        for cell in _cells_where(caused, pieces[cause]):
            program.at_least(happens - cell)
    elif isinstance(relation.cause, Event):
        _add_cause(relation.cause, happens, program, problem, cause, pieces[cause])
    else:
        _add_cause_of_end(relation.cause, happens, program, problem, cause, pieces[cause])
    if problem.space.features[consequence].levels is not None:
        inside = _cells_where(follows, pieces[consequence])
        program.at_least(weighted(inside, np.ones(len(inside))) - happens)
    elif isinstance(relation.consequence, Event):
        _add_consequence(relation.consequence, happens, program, problem, consequence, pieces[consequence])
    else:
        _add_consequence_of_end(relation.consequence, happens, program, problem, consequence, pieces[consequence])
    return happens


def _cells_where(holds: At, piece: Piece) -> list[Sum]:
    """The cells of levels, and of a missing one, where a part of an implication holds."""
    codes = np.append(np.arange(len(piece.cell) - 1, dtype=np.float64), np.nan)
    return [piece.cell[k] for k in np.flatnonzero(holds(codes)).tolist()]


def _add_cause(event: Event, happens: Sum, program: Program, problem: Problem, j: int, piece: Piece) -> None:
    """`happens` is 1 if a number changes like this."""
    if not np.isnan(piece.x):
        gain = event.sign * (piece.gain + piece.x * piece.missing)
        most = _short_of(event.by, 0.0, problem, j, piece) if event.by else 0.0
        program.at_least(piece.room * happens + most - gain)


def _add_consequence(event: Event, happens: Sum, program: Program, problem: Problem, j: int, piece: Piece) -> None:
    """A number changes like this if `happens` is 1."""
    if np.isnan(piece.x):
        program.equal(happens, 0.0)
    else:
        gain = event.sign * (piece.gain + piece.x * piece.missing)
        least = event.by or 1e-6 * _grain(problem, j, piece)
        program.at_least(gain - (least + piece.room) * happens, -piece.room)
        program.at_least(Sum(constant=1.0) - happens - piece.missing)


def _add_cause_of_end(
    part: Between | Allowed, happens: Sum, program: Program, problem: Problem, j: int, piece: Piece
) -> None:
    """`happens` is 1 if a number ends like this and is known."""
    sign, end = end_of(part)
    outside = -sign * piece.value + _short_of(end, sign * float(problem.domain.anchor[j]), problem, j, piece)
    program.at_least(outside + _room(program, outside) * (happens + piece.missing))


def _add_consequence_of_end(
    part: Between | Allowed, happens: Sum, program: Program, problem: Problem, j: int, piece: Piece
) -> None:
    """A number ends like this, or is missing, if `happens` is 1."""
    sign, end = end_of(part)
    inside = sign * piece.value - end
    program.at_least(inside + _room(program, inside) * (Sum(constant=1.0) - happens + piece.missing))


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
    if spacing < problem.domain.step[j] or not spacing:
        return end - 0.5 * spacing
    return float(anchor + spacing * (np.ceil((end - anchor) / spacing - 1e-9) - 0.5))


def _grain(problem: Problem, j: int, piece: Piece) -> float:
    """The smallest difference between two values of a number. Real ones have none: their cause ends where it begins."""
    step = float(problem.domain.step[j])
    on = bool(step) and on_grid(np.array([piece.x]), step, float(problem.domain.anchor[j]))[0]
    return step if on else 1e-6 * step


def _spared_changes(pieces: list[Piece], at: Iterable[int], most: int) -> Sum:
    """`most` minus the number of these features that change. It must not be negative."""
    total = Sum(constant=float(most))
    for j in at:
        total = total - pieces[j].changed
    return total
