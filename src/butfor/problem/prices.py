"""The prices of a cost in a given space. They are numbers per feature, which solvers add up."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.errors import InputError

A_LITTLE_FARTHER = 1e-6
"""By which share a move may be larger than its price allows, so that no rounding of costs matters."""

Price = Callable[[Any, Any], Any]
"""A user's function that prices the changes of one column: `price(before, after)`."""


@dataclass(frozen=True, eq=False)
class Prices:
    """What each change costs in a given space.

    - A number that changes by d costs `l0 [changed] + l1 |d| + l2 d^2`, plus what the `calls` return.
    - A number that becomes missing costs `missing[0]`, and one that becomes known `missing[1]`.
    - A level costs `tables[j][before, after]`. "Missing" is the last row and the last column.
    - Added once for the whole row: the largest of `linf |d|`, `linf_missing` and `linf_tables` over the features, and
      `d' Q d`.

    `coin` is what tolerances are relative to: the smallest price that matters, as a power of two (see `with_coin`).
    """

    l0: FloatArray
    l1: FloatArray
    l2: FloatArray
    linf: FloatArray
    missing: FloatArray
    linf_missing: FloatArray
    tables: dict[int, FloatArray] = field(default_factory=dict)
    linf_tables: dict[int, FloatArray] = field(default_factory=dict)
    calls: dict[int, tuple[tuple[float, Price], ...]] = field(default_factory=dict)
    Q: FloatArray | None = None
    coin: float = 1.0

    def plus(self, kind: str, rate: FloatArray, missing: FloatArray, tables: Mapping[int, FloatArray]) -> Prices:
        """These prices with a separable term added."""
        merged = {**self.tables}
        for j, table in tables.items():
            merged[j] = merged[j] + table if j in merged else table
        lost = self.missing + (rate if kind == "l0" else missing)
        changes: dict[str, Any] = {kind: getattr(self, kind) + rate, "missing": lost, "tables": merged}
        return replace(self, **changes)

    def with_largest(self, rate: FloatArray, missing: FloatArray, tables: Mapping[int, FloatArray]) -> Prices:
        """These prices with a term of which only the largest feature counts."""
        if self.has_linf:
            raise InputError(
                "two L-infinity terms were added.",
                "A cost can have only one.",
                "Put all weights into one bf.LInf(weights=...).",
            )
        return replace(self, linf=rate, linf_missing=np.stack([missing, missing]), linf_tables=dict(tables))

    def with_missing(self, lost: Mapping[int, float], found: Mapping[int, float]) -> Prices:
        """These prices, where becoming missing (`lost`) and becoming known (`found`) cost just this in some columns."""
        missing, largest = np.array(self.missing), np.array(self.linf_missing)
        tables, reach = dict(self.tables), dict(self.linf_tables)
        for way, named in enumerate((lost, found)):
            for j, price in named.items():
                missing[way, j], largest[way, j] = price, 0.0
                for each, value in ((tables, price), (reach, 0.0)):
                    if j in each:
                        each[j] = each[j].copy()
                        line = each[j][:-1, -1] if way == 0 else each[j][-1, :-1]
                        line[:] = value
        return replace(self, missing=missing, linf_missing=largest, tables=tables, linf_tables=reach)

    def with_calls(self, calls: Mapping[int, tuple[float, Price]]) -> Prices:
        """These prices with the user's callables added."""
        return replace(self, calls={**self.calls, **{j: (*self.calls.get(j, ()), call) for j, call in calls.items()}})

    def separable(self, j: int, before: FloatArray, after: FloatArray) -> FloatArray:
        """The prices of moving feature `j` from `before` (n, 1) to `after` (n, k).

        These are the prices that are added up over the features.
        """
        if j in self.tables:
            return _entries(self.tables[j], before, after)
        price = self.of_numbers(np.array([j]), before, after)
        for weight, call in self.calls.get(j, ()):
            price = price + weight * _called(call, before, after)
        return np.asarray(price)

    def of_numbers(self, columns: IntArray | slice, before: FloatArray, after: FloatArray) -> FloatArray:
        """The prices of moving numbers, without those of callables. `columns` are their features: one, or one each of k."""
        l0, l1, l2 = (rate[columns] for rate in (self.l0, self.l1, self.l2))
        gap = np.abs(after - before)
        price = l1 * gap if l1.any() else np.zeros(gap.shape)
        if l2.any():
            price = price + l2 * gap**2
        if l0.any():
            price = price + l0 * (gap > 0)
        lost = np.isnan(gap)
        if lost.any():
            price = np.where(lost, _lost_or_found(self.missing[:, columns], before, after), price)
        return price

    def reach(self, j: int, before: FloatArray, after: FloatArray) -> FloatArray:
        """The prices of feature `j` of which only the largest over the features counts."""
        if j in self.linf_tables:
            return _entries(self.linf_tables[j], before, after)
        return self.reach_of_numbers(np.array([j]), before, after)

    def reach_of_numbers(self, columns: IntArray | slice, before: FloatArray, after: FloatArray) -> FloatArray:
        """The same for numbers of several features: see `of_numbers`."""
        gap = np.abs(after - before)
        moved = _lost_or_found(self.linf_missing[:, columns], before, after)
        return np.where(np.isnan(gap), moved, self.linf[columns] * gap)

    def with_coin(self, typical: FloatArray, moved: FloatArray) -> Prices:
        """These prices, with their coin: the least price of a typical change of one feature that has a price.

        `typical` and `moved` (k, features) are values and typical changes of them. The coin is a power of two, so that
        dividing by it changes no digit.
        """
        each = self._each_added(typical, moved) + self._each_reach(typical, moved)
        if self.Q is not None:
            each = each + np.diag(self.Q) * (moved - typical) ** 2
        levels = [self.tables[j] + self.linf_tables.get(j, 0.0) for j in self.tables]
        prices = np.concatenate([some.ravel() for some in (np.delete(each, [*self.tables], axis=1), *levels)])
        least = float(prices.min(initial=np.inf, where=(prices > 0)))
        least = least if np.isfinite(least) else 1.0
        return replace(self, coin=2.0 ** math.floor(math.log2(least)))

    def without(self, columns: Sequence[int]) -> Prices:
        """These prices, where changes of some columns cost nothing."""
        gone = np.isin(np.arange(len(self.l0)), columns)
        rates: dict[str, Any] = {
            name: np.where(gone, 0.0, getattr(self, name))
            for name in ("l0", "l1", "l2", "linf", "missing", "linf_missing")
        }
        tables, largest = (
            {j: np.zeros_like(table) if gone[j] else table for j, table in some.items()}
            for some in (self.tables, self.linf_tables)
        )
        calls = {j: its for j, its in self.calls.items() if not gone[j]}
        Q = None if self.Q is None else np.where(gone | gone[:, None], 0.0, self.Q)
        return replace(self, **rates, tables=tables, linf_tables=largest, calls=calls, Q=Q)

    @property
    def forbidding_nothing(self) -> Prices:
        """These prices, where moves between levels that have none, and so are not allowed, cost nothing."""
        tables, largest = (
            {j: _without_bans(table) for j, table in some.items()} for some in (self.tables, self.linf_tables)
        )
        return replace(self, tables=tables, linf_tables=largest)

    @property
    def in_coins(self) -> Prices:
        """These prices counted in coins, for solvers: what matters has prices of about 1 or more there."""
        rates = {
            name: getattr(self, name) / self.coin for name in ("l0", "l1", "l2", "linf", "missing", "linf_missing")
        }
        return Prices(
            **rates,
            tables={j: table / self.coin for j, table in self.tables.items()},
            linf_tables={j: table / self.coin for j, table in self.linf_tables.items()},
            calls={j: tuple((weight / self.coin, call) for weight, call in its) for j, its in self.calls.items()},
            Q=None if self.Q is None else self.Q / self.coin,
        )

    def farthest_move(self, cost: float) -> FloatArray:
        """How far each number can move for this cost, or a little farther. No term of a cost is negative."""
        with np.errstate(divide="ignore", invalid="ignore"):
            moves = np.stack([cost / self.l1, np.sqrt(cost / self.l2), cost / self.linf])
        moves = np.where(np.stack([self.l1, self.l2, self.linf]) > 0, moves, np.inf).min(axis=0)
        return np.asarray(np.where(self.l0 > cost, 0.0, moves) * (1 + A_LITTLE_FARTHER))

    @property
    def added(self) -> Prices:
        """Only the prices that are added up over the features."""
        nothing = np.zeros(len(self.l0))
        return replace(self, linf=nothing, linf_missing=np.zeros_like(self.linf_missing), linf_tables={}, Q=None)

    @property
    def added_above(self) -> Prices:
        """Prices that are added up over the features, and are at least as high as these."""
        nothing = np.zeros(len(self.l0))
        above = self.added.plus("l1", self.linf, self.linf_missing, self.linf_tables)
        return above if self.Q is None else above.plus("l2", np.abs(self.Q).sum(axis=1), nothing, {})

    @property
    def is_added(self) -> bool:
        """Whether all prices are added up over the features."""
        return self.Q is None and not self.has_linf

    @property
    def is_largest(self) -> bool:
        """Whether only the largest price of a feature counts."""
        others = any(x.any() for x in (self.l0, self.l1, self.l2, self.missing, *self.tables.values()))
        return self.has_linf and self.Q is None and not self.calls and not others

    @property
    def is_linear(self) -> bool:
        """Whether a number's price is a rate, and perhaps a fee for any change."""
        return self.is_added and not self.l2.any() and not self.calls

    @property
    def has_linf(self) -> bool:
        """Whether the largest change has a price."""
        return bool(self.linf.any() or self.linf_missing.any() or self.linf_tables)

    def total(self, before: FloatArray, after: FloatArray) -> FloatArray:
        """The whole cost of each row."""
        cost = self._each_added(before, after).sum(axis=1)
        if self.has_linf:
            cost = cost + self._each_reach(before, after).max(axis=1)
        if self.Q is not None:
            gap = np.nan_to_num(after - before)
            cost = cost + np.einsum("ni,ij,nj->n", gap, self.Q, gap)
        return np.asarray(cost)

    def spared(self, before: FloatArray, after: FloatArray, groups: Sequence[Sequence[int]]) -> FloatArray:
        """How much less each row would cost if the columns of a group went back (rows, groups)."""
        each = self._each_added(before, after)
        out = np.stack([each[:, group].sum(axis=1) for group in groups], axis=1)
        if self.has_linf:
            reach, every = self._each_reach(before, after), np.arange(len(before))
            first = reach.argmax(axis=1)
            most, others = reach[every, first], reach.copy()
            others[every, first] = 0.0
            second = others.max(axis=1)
            for at, group in enumerate(groups):
                if len(group) == 1:
                    out[:, at] += np.where(first == group[0], most - second, 0.0)
                    continue
                left = reach.copy()
                left[:, group] = 0.0
                out[:, at] += most - left.max(axis=1)
        if self.Q is not None:
            gap = np.nan_to_num(after - before)
            slope = gap @ (self.Q + self.Q.T)
            for at, group in enumerate(groups):
                some, own = gap[:, group], self.Q[np.ix_(group, group)]
                out[:, at] += (some * slope[:, group]).sum(axis=1) - np.einsum("ni,ij,nj->n", some, own, some)
        return np.asarray(out)

    def _each_added(self, before: FloatArray, after: FloatArray) -> FloatArray:
        """The prices of each feature that are added up."""
        price = self.of_numbers(slice(None), before, after)
        for j in {*self.tables, *self.calls}:
            price[:, j] = self.separable(j, before[:, [j]], after[:, [j]])[:, 0]
        return np.asarray(price)

    def _each_reach(self, before: FloatArray, after: FloatArray) -> FloatArray:
        """The prices of each feature of which only the largest counts."""
        reach = self.reach_of_numbers(slice(None), before, after)
        for j in self.linf_tables:
            reach[:, j] = self.reach(j, before[:, [j]], after[:, [j]])[:, 0]
        return np.asarray(reach)


def _without_bans(table: FloatArray) -> FloatArray:
    """A table of prices, of which those between two levels are finite."""
    out = table.copy()
    out[:-1, :-1] = np.where(np.isinf(out[:-1, :-1]), 0.0, out[:-1, :-1])
    return out


def _entries(table: FloatArray, before: FloatArray, after: FloatArray) -> FloatArray:
    lost = len(table) - 1
    row, column = (np.where(np.isnan(x), lost, x).astype(np.intp) for x in (before, after))
    return np.asarray(table[row, column])


def _lost_or_found(price: FloatArray, before: FloatArray, after: FloatArray) -> FloatArray:
    """The price of becoming missing (the first), or of becoming known. What stays missing costs nothing."""
    lost, found = price
    return np.where(np.isnan(before), np.where(np.isnan(after), 0.0, found), lost)


def _called(call: Price, before: FloatArray, after: FloatArray) -> FloatArray:
    """The prices from a user's callable, which is called once per row.

    It is not called for missing values. They cost nothing here.
    """
    out = np.zeros(np.broadcast_shapes(before.shape, after.shape))
    wide = np.broadcast_to(after, out.shape)
    for row in range(len(out)):
        start = float(before[row, 0])
        moved = np.flatnonzero(~np.isnan(wide[row]) & (wide[row] != start))
        if np.isnan(start) or not len(moved):
            continue
        try:
            answer = np.asarray(call(start, wide[row, moved]), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"a price callable failed ({type(error).__name__}: {error}).",
                "It is called as price(before, after), with a number and an array, and returns one price per value.",
                "Write it with numpy: lambda before, after: np.abs(after - before) * 2.",
            ) from error
        if answer.shape not in ((), moved.shape):
            raise InputError(
                f"a price callable returned an array of shape {answer.shape} for values of shape {moved.shape}.",
                "It must return one price per value.",
                "Write it with numpy: lambda before, after: np.abs(after - before) * 2.",
            )
        out[row, moved] = answer
    if np.isnan(out).any() or (out < 0).any():
        raise InputError("a price callable returned a negative price or NaN.", "Prices must be numbers of at least 0.")
    return out
