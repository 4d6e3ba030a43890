"""The cost of a tree problem as a table over cells. Each cell has its nearest admissible value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import InputError
from butfor.formulation.choices import FeatureChoices, nearest_numbers
from butfor.model.cells import Cells
from butfor.problem.problem import Problem


class Tables(NamedTuple):
    """Tables for n rows over the cells of all features, side by side.

    - `start` (features + 1): where the cells of each feature begin; "missing" is its last cell;
    - `value` (n, cells): the value for the cell; NaN if the cell is "missing" or inadmissible;
    - `price` (n, cells): its price; infinite if the cell is inadmissible;
    - `reach` (n, cells): its L-infinity part; empty if the cost has none;
    - `home` (n, features): the factual's cell;
    - `near` (n, features): the cell from which a search for the cheapest of consecutive cells begins;
    - `stay` (n, features): whether the factual value may stay.
    """

    start: IntArray
    value: FloatArray
    price: FloatArray
    reach: FloatArray
    home: IntArray
    near: IntArray
    stay: BoolArray


def tabulate(problem: Problem, cells: tuple[Cells, ...]) -> Tables:
    """The tables of a problem over the given cells."""
    n = len(problem)
    domain, prices = problem.domain, problem.prices
    start = np.concatenate([[0], np.cumsum([c.count + 1 for c in cells])]).astype(np.intp)
    value = np.full((n, start[-1]), np.nan)
    price = np.full((n, start[-1]), np.inf)
    reach = np.zeros((n, start[-1]) if prices.has_linf else (0, 0))
    home = np.empty((n, len(cells)), dtype=np.intp)
    lost = np.isnan(problem.factuals)
    for j, cell in enumerate(cells):
        home[:, j] = cell.index(problem.factuals[:, j])
    near = home.copy()
    for j in np.flatnonzero(lost.any(axis=0)).tolist():
        near[lost[:, j], j] = cells[j].index(domain.typical[[j]])
    stays = ~domain.movable | _unread(problem, cells)
    here = np.arange(n)[:, None], start[:-1][stays] + home[:, stays]
    value[here], price[here] = problem.factuals[:, stays], np.where(domain.stay[:, stays], 0.0, np.inf)
    single = np.array([cell.levels > 0 for cell in cells], dtype=np.bool_)
    single[[*prices.calls]] = True
    for j in np.flatnonzero(~stays & single).tolist():
        block = slice(start[j], start[j + 1])
        choices = FeatureChoices(problem, j, cells[j])
        nearest = choices.nearest()
        value[:, block], price[:, block] = nearest.value, choices.price(nearest)
        if reach.size:
            reach[:, block] = np.where(nearest.able, prices.reach(j, choices.own, nearest.value), 0.0)
        if j in prices.calls:
            _check_rising(price[:, block][:, :-1], near[:, j], problem.space.features[j].name)
    for numbers in domain.grids(np.flatnonzero(~stays & ~single)):
        at = np.concatenate([np.arange(start[j], start[j + 1]) for j in numbers])
        columns, nearest = nearest_numbers(problem, numbers, [cells[j] for j in numbers])
        own = problem.factuals[:, columns]
        value[:, at] = nearest.value
        price[:, at] = np.where(nearest.able, prices.of_numbers(columns, own, nearest.value), np.inf)
        if reach.size:
            reach[:, at] = np.where(nearest.able, prices.reach_of_numbers(columns, own, nearest.value), 0.0)
    return Tables(start, value, price, reach, home, near, domain.stay)


def _unread(problem: Problem, cells: tuple[Cells, ...]) -> BoolArray:
    """The features with one cell, in which every row is and may stay. No change of them does any good."""
    single = np.array([not cell.levels and cell.count == 1 for cell in cells], dtype=np.bool_)
    free = problem.domain.stay & ~problem.domain.missing & ~np.isnan(problem.factuals)
    return np.asarray(single & free.all(axis=0))


def _check_rising(price: FloatArray, near: IntArray, name: str) -> None:
    """Refuse a callable price that falls with the distance from the factual.

    With such a price, the nearest value of a cell would not be its cheapest.
    """
    for row, center in zip(price, near, strict=True):
        right, left = row[center:], row[center::-1]
        for side in (right[np.isfinite(right)], left[np.isfinite(left)]):
            if (np.diff(side) < -1e-12 * (1 + np.abs(side[:-1]))).any():
                raise InputError(
                    f"the price of {name!r} falls while the value moves away from the factual.",
                    "A price must not fall with the distance.",
                    "Use a level column with a table for prices of any shape.",
                )
