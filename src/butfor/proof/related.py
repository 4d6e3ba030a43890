"""The cells of columns that relations are about, in floats: which taxes prove most, and which values they speak of."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.proof.planes import NEAR_THE_PLANES, TAKES_PART, highest

MOST_TAXES = 60
"""So many taxes are tried in a box."""

HOPELESS = 0.01
"""If no taxes prove the claim, they need not be better than this share of what is missing."""

A_LITTLE = 1e-6
"""Numbers are looked at a little farther than what is left of the claim buys."""

BENT_POINTS = 9
"""So many numbers of a cell are looked at if prices rise with squares."""

LOWEST_LIMIT = -0.5
"""A limit is not taken to be farther below what cells count, in shares of the most that one counts."""


class AtTaxes(NamedTuple):
    """Of each related cell, the value that is best at some taxes: what it costs, in claims, and what it counts (limits)."""

    value: FloatArray
    price: FloatArray
    counts: FloatArray


class CellSides(NamedTuple):
    """What cells count towards limits, as shares of the most that one counts, beyond the least of each column."""

    side: FloatArray
    limit: FloatArray
    most: FloatArray


class BestTaxes(NamedTuple):
    """The taxes that prove most.

    bound: what they prove, in claims
    cells, values (rows, columns): the cell of each related column, and the number in it, of rows of which none is cheaper at
        these taxes; share: how much of each the best mixture of them has
    """

    tax: FloatArray
    bound: float
    cells: IntArray
    values: FloatArray
    share: FloatArray


class RelatedCells:
    """The cells of columns that relations are about, and the limits.

    In a cell, price and limits depend on the number in it. At a tax on each limit, the least of price and taxes is exact, and
    the number where it is attained makes a plane above the bound: Kelley, The Cutting-Plane Method, SIAM 8, 1960.

    columns, start (columns + 1): which columns, and where their cells begin; cells: the number of each cell
    weight, adds (limits, cells): what a unit of the number counts, and what a level does; top (limits): the most of it
    """

    def __init__(self, question: Any, cells: IntArray) -> None:
        limits, below = question.limits, float(question.below)
        self.columns = sorted({j for adds, _ in limits for j in adds})
        self.top = np.array([float(most) for _, most in limits])
        self.cells = np.concatenate([np.arange(cells[j], cells[j + 1]) for j in self.columns] or [np.zeros(0, np.intp)])
        sizes = [int(cells[j + 1] - cells[j]) for j in self.columns]
        self.start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        self.column = np.repeat(np.arange(len(sizes)), sizes)
        self.levels = [question.columns[j].levels is not None for j in self.columns]
        each = [_numbers(question.columns[j]) for j in self.columns]
        none = np.zeros(0)
        self.low, self.high, self.now = (np.concatenate([none, *[its[k] for its in each]]) for k in range(3))
        self.stays = np.concatenate([none, *[its[3] for its in each]]) > 0
        prices = np.concatenate(
            [_prices(question.columns[j], question.none) for j in self.columns] or [np.zeros((0, 3))]
        )
        self.fee, self.rate, self.square = prices.T / below
        self.weight, self.adds = (np.zeros((len(limits), len(self.cells))) for _ in range(2))
        for k, (adds, _) in enumerate(limits):
            for c, j in enumerate(self.columns):
                if j in adds:
                    into, missing = self.adds if self.levels[c] else self.weight, question.columns[j].lost
                    into[k, self.start[c] : self.start[c + 1] - missing] = np.array(adds[j], dtype=np.float64)

    def __bool__(self) -> bool:
        return len(self.top) > 0

    @property
    def roundings(self) -> int:
        """By how many units a checker that rounds more may see a lower bound at the same taxes."""
        return len(self.columns) + 1

    def points(self, c: int) -> tuple[FloatArray, FloatArray]:
        """Numbers of a cell, and what they cost: the row's own, the ends of what costs less than the claim, or some between."""
        low, high, now, fee, rate, square = (
            float(each[c]) for each in (self.low, self.high, self.now, self.fee, self.rate, self.square)
        )
        left = max(1.0 - fee, 0.0) * (1 + A_LITTLE)
        far = min(left / rate if rate else np.inf, np.sqrt(left / square) if square else np.inf)
        near = np.clip([low, high], now - far, now + far) if low <= high else np.zeros(0)
        near = np.linspace(near[0], near[1], BENT_POINTS) if square and len(near) else near
        near = np.unique(np.clip(near, low, max(low, high)))
        move = np.abs(near - now)
        price, stays = fee + rate * move + square * move * move, self.stays[[c]]
        return np.concatenate([self.now[[c]][stays], near]), np.concatenate([np.zeros(1)[stays], price])

    def at(self, tax: FloatArray) -> AtTaxes:
        """The best value of each cell, if a unit of each limit costs so many claims."""
        slope, twice = tax @ self.weight, 2 * np.where(self.square > 0, self.square, 1.0)
        turns = [self.now + (way * self.rate - slope) / twice for way in (-1, 1)]
        tried = np.clip([self.low, self.high, self.now, *turns], self.low, np.maximum(self.low, self.high))
        move = np.abs(tried - self.now)
        price = self.fee + self.rate * move + self.square * move * move
        best = np.argmin(price + slope * tried, axis=0)[None]
        value, price = (np.take_along_axis(each, best, axis=0)[0] for each in (tried, price))
        stays = self.stays & (slope * self.now <= price + slope * value)
        value, price = np.where(stays, self.now, value), np.where(stays, 0.0, price)
        return AtTaxes(value, price, self.weight * value + self.adds)

    def sides(self, count: FloatArray, alive: BoolArray) -> CellSides:
        """What the living cells count."""
        living = alive[self.cells]
        least = np.minimum.reduceat(np.where(living, count, np.inf), self.start[:-1], axis=1)
        side = np.where(living, count - least[:, self.column], 0.0)
        most = side.max(axis=1)
        most = np.where(most > 0, most, 1.0)
        left = (self.top - least.sum(axis=1)) / most
        return CellSides(side / most[:, None], np.maximum(left, LOWEST_LIMIT), most)

    def best(self, alive: BoolArray, more: FloatArray, rest: float, tax: FloatArray, enough: float) -> BestTaxes:
        """The taxes that prove most, from some on, or so many claims.

        more (cells): what a cell costs beyond its price; rest: what all else proves, in claims
        """
        total, slope, start = list[float](), list[FloatArray](), list[float]()
        cells, values, taxes = list[IntArray](), list[FloatArray](), list[FloatArray]()
        while True:
            at = self.at(tax)
            each = np.where(alive[self.cells], at.price + tax @ at.counts + more[self.cells], np.inf)
            chosen = np.array([a + int(np.argmin(each[a:b])) for a, b in zip(self.start, self.start[1:], strict=False)])
            total.append(rest + float(each[chosen].sum() - tax @ self.top))
            slope.append(at.counts[:, chosen].sum(axis=1) - self.top)
            start.append(total[-1] - float(slope[-1] @ tax))
            cells.append(self.cells[chosen])
            values.append(at.value[chosen])
            taxes.append(tax)
            found, best = highest(np.array(start), np.array(slope)), int(np.argmax(total))
            if total[-1] >= enough or found is None or _is_near(found.hoped, total[best]) or len(total) == MOST_TAXES:
                share = np.zeros(len(total)) if found is None else found.share
                share = share if share.max() > TAKES_PART else np.eye(len(total))[best]
                kept = np.flatnonzero(share > TAKES_PART)
                return BestTaxes(taxes[best], total[best], np.array(cells)[kept], np.array(values)[kept], share[kept])
            tax = found.rates

    def parting(self, found: BestTaxes) -> tuple[int, list[int]] | None:
        """Where to part a box so that the best mixture of rows lies in neither part; None if it lies in one cell of each column.

        Returns a column, and its cells that are the first part, counted in the column.
        """
        unlike, best = TAKES_PART, None
        for c, j in enumerate(self.columns):
            own = found.cells[:, c] - self.cells[self.start[c]]
            cells = np.unique(own)
            shares = np.array([found.share[own == cell].sum() for cell in cells.tolist()])
            if len(cells) < 2 or 1 - shares.max() <= unlike:
                continue
            unlike, most = 1 - shares.max(), int(cells[np.argmax(shares)])
            before = min(max(int(np.ceil(shares @ cells / shares.sum())), int(cells[0]) + 1), int(cells[-1]))
            best = j, [most] if self.levels[c] else list(range(before))
        return best

    def numbers(self, found: BestTaxes) -> dict[int, float]:
        """The number of each related column in the best mixture of rows."""
        mean = found.share @ found.values / found.share.sum()
        return {j: float(mean[c]) for c, j in enumerate(self.columns) if not self.levels[c]}


def _is_near(hoped: float, found: float) -> bool:
    """Whether a bound is next to the best one, or so near that this will not be a claim either."""
    return hoped - found < (NEAR_THE_PLANES if hoped >= 1 else HOPELESS * (1 - found))


def _numbers(column: Any) -> tuple[FloatArray, FloatArray, FloatArray, BoolArray]:
    """Of each cell of a column, the least and the largest number, that of the row, and whether that may stay there."""
    size = len(column.price)
    home = np.arange(size) == column.home
    if column.levels is not None:
        return np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size, dtype=np.bool_)
    ends = [column.range_of(cell) for cell in range(len(column.ends) + 1)]
    low, high = (np.array([float(end[k]) for end in ends] + [0.0] * column.lost) for k in range(2))
    if column.step:
        step, anchor = float(column.step), float(column.anchor)
        low, high = (
            anchor + np.ceil((low - anchor) / step - 1e-9) * step,
            anchor + np.floor((high - anchor) / step + 1e-9) * step,
        )
    low, high = (np.where(low <= high, end, float(column.start)) for end in (low, high))  # nothing but its own is in it
    return low, high, np.full(size, float(column.start)), home & column.stay


def _prices(column: Any, free: bool) -> FloatArray:
    """The fee, the rate and the squared rate of each cell of a column; the price of a level is its fee."""
    if free:
        return np.zeros((len(column.price), 3))
    if column.levels is not None:
        return np.array([[float(price or 0), 0.0, 0.0] for price in column.price])
    prices = np.full((len(column.price), 3), [float(column.fee), float(column.rate), float(column.square)])
    prices[len(prices) - column.lost :] = float(column.price[-1] or 0), 0.0, 0.0
    return prices
