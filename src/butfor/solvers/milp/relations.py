"""Constraints on several columns, as rows of a mixed-integer program."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch

import numpy as np

from butfor.problem.constraints.constraint import Relation
from butfor.problem.constraints.relations import AtMost, Event, Fresh, Implication, LinearRelation
from butfor.problem.domain import on_grid
from butfor.problem.problem import Problem
from butfor.solvers.milp.features import Piece
from butfor.solvers.milp.program import Program, Sum


@singledispatch
def add_relation(relation: Relation, program: Program, problem: Problem, pieces: list[Piece]) -> Sum | None:
    """Add one relation between features as rows. For an implication, returns the variable that says that its cause happens."""
    raise TypeError(f"no rows are known for a {type(relation).__name__}")


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
    """Add a binary variable that is 1 if the cause happens. If it is 1, the consequence must hold."""
    happens = program.binary()
    cause, wanted = relation.cause, relation.consequence
    j, k = problem.space.index(cause.name), problem.space.index(wanted.name)
    one = pieces[j]
    if cause.word == "becomes":
        code = _level(problem, cause, j)
        if code != one.home:
            program.at_least(happens - one.cell[code])
    elif not np.isnan(one.x):
        gain = cause.sign * (one.gain + one.x * one.missing)
        most = cause.by - (0.5 * _grain(problem, j, one) if cause.by else 0.0)
        program.at_least(one.room * happens + most - gain)
    other = pieces[k]
    if wanted.word == "becomes":
        program.at_least(other.cell[_level(problem, wanted, k)] - happens)
    elif np.isnan(other.x):
        program.equal(happens, 0.0)
    else:
        gain = wanted.sign * (other.gain + other.x * other.missing)
        least = wanted.by or 1e-6 * _grain(problem, k, other)
        program.at_least(gain - (least + other.room) * happens, -other.room)
        program.at_least(Sum(constant=1.0) - happens - other.missing)
    return happens


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
