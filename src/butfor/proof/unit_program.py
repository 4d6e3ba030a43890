"""The linear program above a box of a network, whose multipliers say which lines prove most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize

from butfor.arrays import FloatArray
from butfor.model.network import Layer
from butfor.proof.checker import checker
from butfor.proof.planes import HIGHEST_BOUND

ROUNDS_OF_TANGENTS = 40
"""So often tangents are added to prices that rise faster with the distance."""

NEAR_THE_TANGENTS = 1e-10
"""A price is as its tangents say if they miss it by less than this share of the claim."""


@dataclass(frozen=True, eq=False)
class WaysOut:
    """The directions of a box as floats, and what they add to the first sums.

    - `start`: what the start of the box costs, in claims;
    - `price`, `square` (directions): what a share and its square cost besides; `cap` (directions): the largest share;
    - `first` (first sums, 1 + directions): each sum at the start, and what each direction adds;
    - `ends` (rows, 1 + directions): what is at most 0 besides, such as the sum over the levels of a column, less 1.
    """

    start: float
    price: FloatArray
    square: FloatArray
    cap: FloatArray
    first: FloatArray
    ends: FloatArray


class Relaxed(NamedTuple):
    """The best of a linear program above a box.

    total: what it costs, in claims; if all is free, by how much goals are missed
    rates (goals), ends, holds (units): multipliers, in claims; lines (units, 2): the shares of the second line below, and of the
    first line above; share (directions): where the best row is; off (units): by how much what a unit passes on is not what it
    would be there, in claims; apart (units): the same, as a share of what reaches it
    """

    total: float
    rates: FloatArray
    ends: FloatArray
    lines: FloatArray
    holds: FloatArray
    share: FloatArray
    off: FloatArray
    apart: FloatArray


class UnitProgram:
    """The cheapest mixture of a box, so that what lies above the wanted sums reaches the goals.

    All is times a number of at most 1, and what it lacks of 1 costs `HIGHEST_BOUND` claims. So there always is a best mixture,
    and there are multipliers, also if nobody reaches the goals. If all is free, what is best is what misses them least.
    The variables are the shares of directions, what open units pass on, prices with tangents, by how much goals are missed,
    and that number.
    """

    def __init__(
        self, ways: WaysOut, units: list[list[Any]], layers: Sequence[Layer], sides: dict[int, int], free: bool
    ) -> None:
        self.ways, self.units, self.sides, self.free = ways, [unit for its in units for unit in its], sides, free
        self.leak = np.concatenate([layer.leak for layer in layers])
        self.opened = {n: k for k, n in enumerate(n for n, unit in enumerate(self.units) if unit.over is not None)}
        self.bent = np.flatnonzero(ways.square > 0)
        self.count = len(ways.price)
        self.width = self.count + len(self.opened) + len(self.bent) + 2
        self.reach, self.passed, self.last = self._forward(units, layers)

    def _over(self, lines: FloatArray) -> FloatArray:
        """Functions of the shares as rows over the variables."""
        rows = np.zeros((len(lines), self.width))
        rows[:, : self.count], rows[:, -1] = lines[:, 1:], lines[:, 0]
        return rows

    def _forward(self, units: list[list[Any]], layers: Sequence[Layer]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What reaches each unit, what it passes on, and the last sums, as rows over the variables."""
        z, reach, passed, n = self._over(self.ways.first), list[FloatArray](), list[FloatArray](), 0
        for layer, its in zip(layers, units, strict=True):
            y = np.array([float(unit.steep) for unit in its])[:, None] * z
            for k in range(len(its)):
                if n + k in self.opened:
                    y[k] = np.eye(self.width)[self.count + self.opened[n + k]]
            n += len(its)
            reach.append(z)
            passed.append(y)
            z = layer.weight @ y
            z[:, -1] += layer.intercept
        return np.vstack(reach), np.vstack(passed), z

    def solved(self, goals: FloatArray, least: FloatArray) -> Relaxed | None:
        """The best mixture for which the goals (goals, last sums) are at least `least`; None if the program has no answer."""
        held = np.array(list(self.sides), dtype=np.intp)
        fixed = self._rows(goals, least, held)
        cost, bounds = self._cost()
        tangents = np.zeros((0, self.width))
        for _ in range(ROUNDS_OF_TANGENTS):
            rows = np.vstack([*fixed, tangents])
            found: Any = optimize.linprog(cost, A_ub=rows, b_ub=np.zeros(len(rows)), bounds=bounds, method="highs")
            if found.x is None:
                return None
            more = self._tangents(found.x)
            if not len(more):
                break
            tangents = np.vstack([tangents, more])
        return self._read(found, [len(rows) for rows in fixed], held)

    def _rows(self, goals: FloatArray, least: FloatArray, held: Any) -> list[FloatArray]:
        """What is at most 0: by how much goals, limits and sides are missed, and what open units and shares exceed."""
        signs = np.array(list(self.sides.values()), dtype=np.float64)
        wanted = goals @ self.last
        wanted[:, -1] -= least
        missed = [-wanted, self._over(self.ways.ends), -signs[:, None] * self.reach[held]]
        for rows in missed if self.free else ():
            rows[:, -2] = -1.0
        caps = np.eye(self.width)[: self.count]
        caps[:, -1] = -self.ways.cap
        return [*missed, *self._lines(), caps]

    def _cost(self) -> tuple[FloatArray, list[tuple[float | None, float | None]]]:
        """What the variables cost, and between which ends they lie."""
        cost, bent = np.zeros(self.width), self.count + len(self.opened)
        positive: tuple[float | None, float | None] = (0.0, None)
        bounds = [positive] * self.count + [(None, None)] * len(self.opened) + [positive] * len(self.bent)
        if self.free:
            cost[-2] = 1.0
            return cost, [*bounds, (None, None), (1.0, 1.0)]
        cost[: self.count], cost[bent:-2], cost[-1] = self.ways.price, 1.0, self.ways.start - HIGHEST_BOUND
        return cost, [*bounds, (0.0, 0.0), (0.0, 1.0)]

    def _tangents(self, x: FloatArray) -> FloatArray:
        """Tangents of the squares that a solution takes for too little."""
        bent, whole = self.count + len(self.opened), _whole(x)
        at = x[self.bent] / whole
        price = self.ways.square[self.bent] * at**2
        wrong = np.flatnonzero(price - x[bent:-2] / whole > NEAR_THE_TANGENTS)
        rows, each = np.zeros((len(wrong), self.width)), np.arange(len(wrong))
        rows[each, self.bent[wrong]] = 2 * self.ways.square[self.bent[wrong]] * at[wrong]
        rows[each, bent + wrong] = -1.0
        rows[:, -1] = -price[wrong]
        return rows

    def _lines(self) -> list[FloatArray]:
        """For open units: what they pass on is above two lines, and below two."""
        at = list(self.opened)
        y, z, leak = self.passed[at], self.reach[at], self.leak[at, None]
        units = [self.units[n] for n in at]
        near = float(checker().NEAR)
        steep, least = np.array([float(u.steep) for u in units]), near * np.array([float(u.least) for u in units])
        chord = steep[:, None] * z
        chord[:, -1] += (leak[:, 0] - steep) * least
        over = self._over(near * np.array([u.over for u in units], dtype=np.float64).reshape(len(at), 1 + self.count))
        return [leak * z - y, z - y, y - chord, y - over]

    def _read(self, found: Any, sizes: list[int], held: Any) -> Relaxed:
        """The multipliers of each group of rows, and where the best mixture is."""
        whole = _whole(found.x)
        rates, ends, holds, leaky, steep, chord, over, *_ = np.split(
            np.maximum(-found.ineqlin.marginals, 0.0), np.cumsum(sizes)
        )
        below, above, at = leaky + steep, chord + over, list(self.opened)
        lines, hold, off = np.full((len(self.units), 2), 0.5), np.zeros(len(self.units)), np.zeros(len(self.units))
        lines[at, 0] = np.where(below > 0, steep / np.maximum(below, 1e-300), 0.5)
        lines[at, 1] = np.where(above > 0, chord / np.maximum(above, 1e-300), 0.5)
        hold[held], hold[at] = holds, np.minimum(below, above)
        y, z = self.passed[at] @ found.x / whole, self.reach[at] @ found.x / whole
        apart, wide = off.copy(), np.array([float(self.units[n].most - self.units[n].least) for n in at])
        gap = np.abs(y - np.maximum(z, self.leak[at] * z))
        off[at], apart[at] = gap * np.maximum(below, above), gap / (wide * float(checker().NEAR))
        total = float(found.fun) + (0.0 if self.free else HIGHEST_BOUND)
        return Relaxed(total, rates, ends, lines, hold, found.x[: self.count] / whole, off, apart)


def _whole(x: FloatArray) -> float:
    """What all is times, in a solution."""
    return max(float(x[-1]), 1e-300)
