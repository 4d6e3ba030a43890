"""What the directions of a row can reach within the cost of a known answer: bounds by one multiplier per sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.solvers.network.directions import Directions

BALL_OUTWARDS = 1e-9
"""The share of their size by which bounds are moved outwards, so that rounding does not decide."""

MULTIPLIERS_TRIED = 14
"""How many multipliers are tried per sum. Any of them proves a bound."""


@dataclass(frozen=True, eq=False)
class CostBall:
    """All changes that cost at most `limit`, and that change at most `most` columns.

    - `rate`, `square` (directions): an amount t costs at least `rate t + square t^2`;
    - `room` (directions): the largest amount;
    - `first` (columns): the first direction of each column, of which one is taken.
    """

    limit: float
    most: int
    rate: FloatArray
    square: FloatArray
    room: FloatArray
    first: IntArray

    def highest(self, constant: FloatArray, weight: FloatArray) -> FloatArray:
        """Upper bounds of `constant + weight a` over the amounts a of the ball (sums).

        For any multiplier m >= 0 of the limit,

            max { w a : cost(a) <= limit }  <=  m limit + sum over columns of max over amounts of  w a - m cost(a).

        The best m lies where the amounts spend the limit (Lagrange; Everett, Operations Research 11, 1963).
        """
        size = np.abs(constant) + np.abs(weight) @ self.room
        if not weight.shape[1]:
            return np.asarray(constant + BALL_OUTWARDS * size)
        best, _ = self._at(np.zeros((len(weight), 1)), weight)
        if np.isfinite(self.limit):
            with np.errstate(over="ignore", invalid="ignore"):  # prices may be next to nothing
                best = np.fmin(best, self._priced(weight))
        return np.asarray(constant + best + BALL_OUTWARDS * size)

    def simplex(self) -> tuple[FloatArray, float]:
        """Rates and a total that no change in the ball exceeds: `rates a <= total`. Squares lie above their tangents."""
        bent = self.square > 0
        if not bent.any():
            return self.rate, self.limit
        columns = np.count_nonzero(np.logical_or.reduceat(bent, self.first))
        with np.errstate(divide="ignore"):
            at = np.where(bent, np.sqrt(self.limit / (columns * self.square)), 0.0)
        return self.rate + 2 * self.square * np.where(bent, at, 0.0), 2 * self.limit

    def _priced(self, weight: FloatArray) -> FloatArray:
        """The best bound of some multipliers: each is where the tangents at the two around it meet."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            steep = np.where((self.rate > 0) & (weight > 0), weight / self.rate, 0.0).max(axis=1, keepdims=True)
            curved = np.where(self.square > 0, weight**2 / (4 * self.square * self.limit), 0.0)
        left, right = np.zeros_like(steep), np.maximum(steep, np.sqrt(curved.sum(axis=1, keepdims=True)))
        (low, fall), (high, rise) = self._at(left, weight), self._at(right, weight)
        best = np.minimum(low, high)
        for _ in range(MULTIPLIERS_TRIED):
            with np.errstate(divide="ignore", invalid="ignore"):
                meet = ((high - low) + fall * left[:, 0] - rise * right[:, 0]) / (fall - rise)
            inside = (fall < 0) & (rise > 0) & (meet > left[:, 0]) & (meet < right[:, 0])
            if not inside.any():
                break
            m = np.where(inside, meet, left[:, 0])[:, None]
            value, slope = self._at(m, weight)
            best = np.minimum(best, value)
            falls, rises = inside & (slope < 0), inside & (slope >= 0)
            left, low, fall = (
                np.where(falls[:, None], m, left),
                np.where(falls, value, low),
                np.where(falls, slope, fall),
            )
            right, high, rise = (
                np.where(rises[:, None], m, right), np.where(rises, value, high), np.where(rises, slope, rise),
            )  # fmt: skip
        return np.asarray(best)

    def _at(self, m: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The bound of each multiplier (sums, 1), and how it rises with it."""
        gain = weight - m * self.rate
        amount = np.where(gain > 0, self.room, 0.0)
        if self.square.any():
            with np.errstate(divide="ignore", invalid="ignore"):
                bent = np.clip(gain / (2 * m * self.square), 0.0, self.room)
            amount = np.where((self.square > 0) & (m > 0), np.nan_to_num(bent), amount)
        cost = amount * (self.rate + self.square * amount)
        won = weight * amount - m * cost
        single = np.maximum.reduceat(won, self.first, axis=1)
        taken = won >= np.repeat(single, np.diff(self.first, append=won.shape[1]), axis=1)
        spent = np.add.reduceat(np.where(taken, cost, 0.0), self.first, axis=1)
        if self.most < single.shape[1]:
            order = np.argsort(-single, axis=1)[:, : self.most]
            single, spent = np.take_along_axis(single, order, 1), np.take_along_axis(spent, order, 1)
        level = self.limit if np.isfinite(self.limit) else 0.0
        return m[:, 0] * level + single.sum(axis=1), level - spent.sum(axis=1)


def ball(ways: Directions, limit: float, most: int) -> CostBall:
    """The ball of a cost. An amount that alone costs more is out of reach.

    A price of a change is spread over the largest amount, which makes it no dearer.
    """
    room, rate = ways.room, ways.rate + ways.reach
    if np.isfinite(limit):
        left = np.maximum(limit - ways.fixed, 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            straight = np.where(rate > 0, left / rate, np.inf)
            root = np.sqrt(rate**2 + 4 * ways.square * left)
            curved = np.where(ways.square > 0, 2 * left / (rate + root), np.inf)
        reached = np.minimum(straight, np.nan_to_num(curved, nan=np.inf, posinf=np.inf))
        room = np.minimum(room, np.where(ways.fixed <= limit, reached * (1 + BALL_OUTWARDS), 0.0))
        room = np.where((ways.cell >= 0) & (room < 1 - BALL_OUTWARDS), 0.0, room)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = ways.rate + np.where(room > 0, ways.fixed / room, 0.0)
    first = np.flatnonzero(np.diff(ways.column, prepend=-1) != 0)
    return CostBall(limit, most, spread, ways.square, room, first)
