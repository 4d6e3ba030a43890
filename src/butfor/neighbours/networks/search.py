"""The worst row of a ball around a point, for a network: branch and bound over the units on both sides of 0.

A node holds some units on one side of 0. A linear program bounds its score. For one hidden layer and a round ball it is first
bounded by ascent, many nodes at once. A bound that is not tight makes a row look worse than it is, and never better.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.compiled.clock import now
from butfor.frontier import Frontier
from butfor.model.linear import evaluate_linear
from butfor.model.network import Network, evaluate_network, units_of_sums
from butfor.neighbours.ball import Ball, BallNorm
from butfor.neighbours.networks.relaxation import Relaxation, Unit
from butfor.neighbours.networks.unit_bounds import UnitBounds
from butfor.neighbours.trees.search import Worst

TIGHT = 1e-9
"""A node whose bound is this close to the smallest known score, relative to 1 + its size in `unit`, is not searched further."""

NETWORK_NODES = 4_000
"""How many nodes are searched. What is left then counts with its bound."""

DOWNHILL_STEPS, DOWNHILL_STARTS = 10, 16
"""How many steps downhill are taken from each of some random neighbours, to find a small score."""


ASCENT_ROUNDS, NODES_TOGETHER, SHIFTS_LOOKED_AT = 2_000, 64, 4
"""How many rounds are searched by ascent, how many nodes in each, and how many of their shifts are tried."""

DEEPENING_ROUNDS = 10
"""How many rounds a search that has found a neighbour below a number goes on. A worse one tells more about other rows."""


@dataclass(frozen=True, eq=False)
class _Node:
    """Units that are held on one side of 0, by layer and number (1: above it, -1: below it), and the ends of the shifts."""

    held: dict[Unit, int]
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class _Relaxed:
    """The bound of a node, the shift where it is taken, and how the node is split (None: it cannot be)."""

    bound: float
    shift: FloatArray
    split: Unit | int | None


@dataclass(eq=False)
class NetworkAdversary:
    """The search for the smallest sum `row @ scores` within a ball around a point.

    - `moved`: the features that are shifted;
    - `below`: any neighbour with a smaller sum will do;
    - `deeper`: how many rounds it goes on for a worse one, once it has found one;
    - `until`: when the search must end, on the clock of `butfor.compiled.clock`;
    - `unit`: what all sums are measured in on the way (see `units_of_sums`);
    - `best`, `where`: the smallest sum so far, and its shift.
    """

    model: Network
    row: FloatArray
    point: FloatArray
    ball: Ball
    below: float = -np.inf
    until: float = np.inf
    deeper: int = DEEPENING_ROUNDS
    moved: IntArray = field(init=False)
    unit: float = field(init=False)
    best: float = field(init=False)
    where: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.moved = np.flatnonzero((self.ball.radius > 0) & ~np.isnan(self.point))
        self.unit = float(units_of_sums(self.model, self.row[None])[0])
        self.row, self.below = self.row / self.unit, self.below / self.unit
        self.where = np.zeros(len(self.moved))
        self.best = float(self._scores(self.where[None])[0])

    def worst(self) -> Worst:
        """A bound on the smallest sum that it reaches up to `TIGHT`, and the row with the smallest sum that was met.

        With `below`, the bound is infinite if it does not lie below that. A search that was cut short tells the bound so
        far.
        """
        for shift in [self.where, *self.ball.sample(np.random.default_rng(0), DOWNHILL_STARTS)[:, self.moved]]:
            self._walk_down(shift)
        radius, left = self.ball.radius[self.moved], Frontier[_Node](self._enough)
        small = len(self.model.layers) == 1 and len(self.moved) and self.ball.norm is not BallNorm.LINF
        for bound, held in self._by_ascent() if small else [(-np.inf, dict[Unit, int]())]:
            left.put(bound, _Node(held, -radius, radius))
        for _ in range(NETWORK_NODES):
            if not left.is_open or self.best < self.below or now() > self.until:
                break
            parent, node = left.pop()
            found = self._relaxed(node)
            self._look_at(found.shift)
            self._walk_down(found.shift)
            bound = max(parent, found.bound)
            if found.split is None or bound >= self._enough():
                left.settle(bound)
            else:
                for child in self._children(node, found):
                    left.put(bound, child)
        where = self._rows(self.where[None])[0]
        if self.best < self.below:
            return Worst(self.best * self.unit, where)
        lowest = min(self.best, left.lowest)
        return Worst(np.inf if lowest >= self.below > -np.inf else lowest * self.unit, where)

    def _by_ascent(self) -> list[tuple[float, dict[Unit, int]]]:
        """Search a network of one hidden layer. Returns what is left to linear programs: bounds, and held units."""
        bounds = UnitBounds(self.model, self.row, self.point, self.ball, self.moved)
        left: list[tuple[float, dict[Unit, int]]] = []
        nodes, lower, deepened = bounds.root(), np.full(1, -np.inf), 0
        for _ in range(ASCENT_ROUNDS):
            promising = lower < self._enough()
            nodes, lower = nodes.take(np.flatnonzero(promising)), lower[promising]
            deepened += self.best < self.below
            if not len(lower) or deepened > self.deeper or now() > self.until:
                break
            next_ones = np.argsort(lower, kind="stable")
            some, rest = next_ones[:NODES_TOGETHER], next_ones[NODES_TOGETHER:]
            found, better, shifts = bounds.raised(nodes.take(some), self._enough())
            found = np.maximum(found, lower[some])
            for shift in shifts[np.argsort(found)[:SHIFTS_LOOKED_AT]]:
                self._look_at(shift)
            unit, wrong = bounds.split(better, shifts)
            open_nodes, exact = found < self._enough(), wrong <= TIGHT * (1 + abs(self.best))
            left += [(float(found[at]), _held(better.held[at])) for at in np.flatnonzero(open_nodes & exact)]
            parted = np.flatnonzero(open_nodes & ~exact)
            children = bounds.children(better.take(parted), unit[parted])
            nodes = nodes.take(rest).joined(children)
            lower = np.concatenate([lower[rest], found[parted], found[parted]])
        return left + [(float(one), _held(held)) for one, held in zip(lower, nodes.held, strict=True)]

    def _enough(self) -> float:
        """Nodes whose bound is at least this are not searched."""
        return self.below if self.best >= self.below > -np.inf else self.best - TIGHT * (1 + abs(self.best))

    def _rows(self, shifts: FloatArray) -> FloatArray:
        rows = np.repeat(self.point[None], len(shifts), axis=0)
        rows[:, self.moved] += shifts
        return rows

    def _scores(self, shifts: FloatArray) -> FloatArray:
        return np.asarray(evaluate_network(self.model, self._rows(shifts)) @ self.row)

    def _look_at(self, shift: FloatArray) -> None:
        """Remember a shift if its sum is the smallest so far. It is brought into the ball, and on the grid."""
        step = self.ball.step[self.moved]
        whole = np.where(step > 0, step, 1.0)
        shift = np.where(step > 0, np.round(shift / whole) * whole, shift)
        whole_shift = np.zeros(len(self.point))
        whole_shift[self.moved] = shift
        shift = shift / max(1.0, float(self.ball.sizes(whole_shift[None])[0]))
        score = float(self._scores(shift[None])[0])
        if score < self.best:
            self.best, self.where = score, shift

    def _walk_down(self, shift: FloatArray) -> None:
        """Take steps to the worst neighbour of the network as it is bent at a shift."""
        for _ in range(DOWNHILL_STEPS):
            before = self.best
            shift = self.ball.worst_shift(self._slope(shift))[self.moved]
            self._look_at(shift)
            if self.best >= before:
                break

    def _slope(self, shift: FloatArray) -> FloatArray:
        """How the sum rises with each feature, at a shift."""
        z, bends = evaluate_linear(self.model.first, self._rows(shift[None]))[0], []
        for layer in self.model.layers:
            bends.append(np.where(z > 0, 1.0, layer.leak))
            z = layer.intercept + layer.weight @ (z * bends[-1])
        row = self.row
        for layer, bend in zip(self.model.layers[::-1], bends[::-1], strict=True):
            row = (row @ layer.weight) * bend
        return np.asarray(row @ self.model.first.slope)

    def _children(self, node: _Node, found: _Relaxed) -> list[_Node]:
        if isinstance(found.split, tuple):
            return [_Node({**node.held, found.split: side}, node.low, node.high) for side in (1, -1)]
        assert found.split is not None
        j, step = found.split, self.ball.step[self.moved[found.split]]
        low, high = node.low.copy(), node.high.copy()
        high[j] = step * np.floor(found.shift[j] / step)
        low[j] = high[j] + step
        return [_Node(node.held, node.low, high), _Node(node.held, low, node.high)]

    @cached_property
    def _program(self) -> Relaxation:
        return Relaxation(self.model, self.row, self.point, self.ball, self.moved)

    def _relaxed(self, node: _Node) -> _Relaxed:
        """The linear program of a node."""
        radius = self.ball.radius[self.moved]
        low, high = node.low / radius, node.high / radius
        bound, values = self._program.bounded(node.held, low, high, self._enough(), self.until)
        if values is None:
            return _Relaxed(np.inf, self.where, None)
        shift = values[: len(self.moved)] * radius
        return _Relaxed(bound, shift, self._split(self._program.misses(values), shift))

    def _split(self, misses: FloatArray, shift: FloatArray) -> Unit | int | None:
        """The unit that is furthest from what it should pass on, or else a number between two whole steps."""
        if misses.max(initial=0.0) > TIGHT * (1 + abs(self.best)):
            return self._program.units[int(misses.argmax())]
        step = self.ball.step[self.moved]
        part = np.abs(shift / np.where(step > 0, step, 1.0) - np.round(shift / np.where(step > 0, step, 1.0)))
        part = np.where(step > 0, part, 0.0)
        return int(part.argmax()) if part.max(initial=0.0) > 1e-6 else None


def _held(sides: IntArray) -> dict[Unit, int]:
    """The units of the only hidden layer that are held."""
    return {(0, unit): int(sides[unit]) for unit in np.flatnonzero(sides).tolist()}
