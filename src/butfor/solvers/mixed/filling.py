"""The cheapest values inside cells if a single inequality is left to be met: a knapsack, filled by worth.

What is cheapest for its gain is moved first, and the last feature only as far as needed (Dantzig, 1957). If the last one
must stay on a grid, its cell is parted there.
"""

from __future__ import annotations

import heapq
from itertools import count
from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.problem.problem import Problem

MOST_PARTS = 200
"""How often cells are parted before the search gives up."""

OFF_GRID = 1e-9
"""A value this close to a value of the grid, as a share of its step, is on it."""


class Filled(NamedTuple):
    """The values of a row that reach the goal at the least cost; `split` is a feature whose value is not on its grid."""

    cost: float
    point: FloatArray
    split: int


class Knapsack(NamedTuple):
    """The row with cheapest values, what it lacks, and what each loose feature gains a unit."""

    problem: Problem
    start: FloatArray
    need: float
    gain: FloatArray
    loose: IntArray

    def cheapest(self, low: FloatArray, high: FloatArray) -> Filled | None:
        """The cheapest values between two ends, with every feature on its grid. None if there is none."""
        newest, parted = count(), 0
        heap: list[tuple[float, int, FloatArray, FloatArray, Filled]] = []

        def put(low: FloatArray, high: FloatArray) -> None:
            found = self._filled(low, high)
            if found is not None:
                heapq.heappush(heap, (found.cost, next(newest), low, high, found))

        put(low, high)
        while heap:
            _, _, low, high, found = heapq.heappop(heap)
            if found.split < 0 or parted == MOST_PARTS:
                return found
            parted += 1
            j, lower, upper = found.split, low.copy(), high.copy()
            ends = np.array([[-np.inf, found.point[j]]]), np.array([[found.point[j], np.inf]])
            bottom, top = self.problem.domain.within(j, *ends)
            upper[j], lower[j] = top[0, 0], bottom[0, 1]
            put(low, upper)
            put(lower, high)
        return None

    def _filled(self, low: FloatArray, high: FloatArray) -> Filled | None:
        """The cheapest real values between two ends."""
        if (low > high).any():
            return None
        point, left = self.start.copy(), self.need
        for j in self.loose:
            point[j] = min(max(point[j], low[j]), high[j])
            left -= self.gain[j] * (point[j] - self.start[j])
        cost = sum(self._price(j, point[j]) for j in range(len(point)))
        rooms = {j: (high[j] if self.gain[j] > 0 else low[j]) - point[j] for j in self.loose}
        rates = {j: self._rate(j, point[j], room) for j, room in rooms.items() if room * self.gain[j] > 0}
        split = -1
        for j in sorted(rates, key=lambda j: rates[j] / abs(self.gain[j])):
            if left <= 0:
                break
            moved = np.sign(rooms[j]) * min(abs(rooms[j]), left / abs(self.gain[j]))
            point[j] += moved
            cost, left = cost + rates[j] * abs(moved), left - self.gain[j] * moved
            step = float(self.problem.domain.step[j])
            if left <= 0 and step and moved != rooms[j]:
                place = (point[j] - float(self.problem.domain.anchor[j])) / step
                split = -1 if abs(place - round(place)) <= OFF_GRID else int(j)
        return None if left > OFF_GRID * abs(self.need) else Filled(cost, point, split)

    def _rate(self, j: int, value: float, room: float) -> float:
        return (self._price(j, value + room) - self._price(j, value)) / abs(room)

    def _price(self, j: int, value: float) -> float:
        return float(self.problem.prices.separable(j, self.problem.factuals[:, [j]], np.array([[value]]))[0, 0])
