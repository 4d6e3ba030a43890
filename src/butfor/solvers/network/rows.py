"""What is known of the units of a network, as rows of a mixed-integer program."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.network import Network
from butfor.model.scores import ScoreSet
from butfor.problem.problem import Problem
from butfor.programs.program import Program, Sum, mixtures
from butfor.solvers.milp.features import Piece
from butfor.solvers.milp.models import add_bent, add_network
from butfor.solvers.network.ball import CostBall
from butfor.solvers.network.directions import DOWN, UP, Directions
from butfor.solvers.network.units import Units, line_above_bent

NEGLIGIBLE = 1e-7
"""The share of a limit or bound by which it is moved outwards in a program, well above the tolerance of HiGHS."""


@dataclass(frozen=True, eq=False)
class KnownUnits:
    """What is known about the answers to one row that cost between `lowest` and the ball's limit.

    - `ways`, `ball`: the directions, and what of them is affordable;
    - `units`: the units of each layer;
    - `lowest`: no answer costs less;
    - `additive`: whether the cost of every change is just the sum of the rates of its directions;
    - `reached`: what reaches the units that may be on both sides of 0, by layer and number, once they are written.
    """

    ways: Directions
    ball: CostBall
    units: list[Units]
    lowest: float
    additive: bool
    reached: dict[tuple[int, int], Sum] = field(default_factory=dict)


def add_known(
    known: KnownUnits, program: Program, problem: Problem, score_set: ScoreSet, pieces: list[Piece]
) -> list[Sum]:
    """Write the network with the ranges of its units, with lines above them, and with the limit of the ball."""
    model = problem.model
    assert isinstance(model, Network)
    if np.isfinite(known.ball.limit):
        program.at_least(-1.0 * program.objective, -known.ball.limit)
    amounts = [_amount(pieces[j], cell) for j, cell in zip(known.ways.column, known.ways.cell, strict=True)]
    lines = _lines_above(known, program, amounts)
    needed = rising_units(model, score_set)

    def bend(layer: int, unit: int, z: Sum, leak: float) -> Sum:
        units = known.units[layer]
        ends = float(units.low[unit]), float(units.high[unit])
        if units.open[unit]:
            known.reached[layer, unit] = z
        bent, positive = add_bent(program, z, leak, ends, chosen=bool(needed[layer][unit]))
        if positive is not None and lines is not None:
            program.at_least(lines[layer][unit] - positive)
        return bent

    return add_network(model, program, problem, score_set, pieces, bend)


def _amount(piece: Piece, cell: int) -> Sum | None:
    """The amount of a direction as an expression; None if nothing in the program says it."""
    if cell == UP:
        return piece.up
    return piece.down if cell == DOWN else piece.cell[cell]


def _lines_above(known: KnownUnits, program: Program, amounts: list[Sum | None]) -> list[dict[int, Sum]] | None:
    """The lines above `max(0, z)` for the units of each layer that may be on both sides."""
    if any(amount is None for amount in amounts):
        return None
    given = [amount for amount in amounts if amount is not None]
    rate, total = known.ball.simplex()
    priced = np.flatnonzero((rate > 0) & (known.ball.room > 0))
    if known.lowest > 0 and known.additive and np.isfinite(total) and len(priced):
        return _between(known, program, given, rate, priced)
    if np.isfinite(total):
        (spent,) = mixtures(rate[None] / total, given, np.zeros(1))
        program.at_least(-1.0 * spent, -1.0)
    out = []
    for units in known.units:
        line, at = line_above_bent(known.ball, units.above), np.flatnonzero(units.open)
        sums = mixtures(line.weight[at], given, line.constant[at])
        out.append(dict(zip(at.tolist(), sums, strict=True)))
    return out


def _between(
    known: KnownUnits, program: Program, amounts: list[Sum], rate: FloatArray, priced: IntArray
) -> list[dict[int, Sum]]:
    """The lines with both ends of the cost: a change is a mixture of changes of one direction that cost as much as the
    lowest or the limit, and a convex function lies below the mixture of its values there.
    """
    low, high = known.lowest * (1 - NEGLIGIBLE), known.ball.limit
    near = [program.variable(0.0, 1.0) for _ in priced]
    far = [program.variable(0.0, 1.0) for _ in priced]
    (whole,) = mixtures(np.ones((1, 2 * len(priced))), [*near, *far], np.zeros(1))
    program.equal(whole, 1.0)
    for at, one, other in zip(priced.tolist(), near, far, strict=True):
        program.equal(low * one + high * other - float(rate[at]) * amounts[at])
    free = np.flatnonzero((rate <= 0) & (known.ball.room > 0))
    parts = [*near, *far, *(amounts[at] for at in free.tolist())]
    out = []
    for units in known.units:
        at = np.flatnonzero(units.open)
        constant, weight = units.above.constant[at, None], units.above.weight[at]
        steep = weight[:, priced] / rate[priced]
        ends = np.hstack([constant + low * steep, constant + high * steep, weight[:, free]])
        sums = mixtures(np.maximum(ends, 0.0), parts, np.zeros(len(at)))
        out.append(dict(zip(at.tolist(), sums, strict=True)))
    return out


def rising_units(model: Network, score_set: ScoreSet) -> list[BoolArray]:
    """Which units of each layer may help an inequality by rising, or matter to a curve.

    The others need no binary variable: if they are taken for too large, that only hurts.
    """
    curved = score_set.curve is not None
    helps = np.ones((1, model.scores), dtype=np.bool_) if curved else score_set.A > 0
    hurts = np.ones((1, model.scores), dtype=np.bool_) if curved else score_set.A < 0
    out = []
    for layer in reversed(model.layers):
        plus, minus = (layer.weight > 0).astype(np.int64), (layer.weight < 0).astype(np.int64)
        helps, hurts = helps @ plus + hurts @ minus > 0, helps @ minus + hurts @ plus > 0
        out.append(np.asarray(helps.any(axis=0), dtype=np.bool_))
    return out[::-1]
