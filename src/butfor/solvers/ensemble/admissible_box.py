"""What a row may become as a box, and the highest sum of scores in any part of it.

Leaves of trees ask for sets of levels, and sides of a box are ranges. So levels get an order in which such a set is few
runs, and a level is the number of its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.formulation.choices import choices_of
from butfor.model.grid_points import grid_down, grid_near, grid_up, on_grid
from butfor.model.trees import Trees
from butfor.neighbours.places import Grids
from butfor.neighbours.trees.regions import leaf_boxes, regions, runs
from butfor.neighbours.trees.search import Adversary, adversary
from butfor.problem.domain import Domain
from butfor.problem.problem import Problem
from butfor.space.space import same

MOST_RUNS = 20
"""How many times as many boxes as leaves there may be, because sets of levels are several runs."""

MOST_CHAINED = 200
"""Of a feature with more levels than this, they keep their own order where they cost the same. A better one would take long."""


Ends = tuple[FloatArray, FloatArray]
"""The smallest and the largest value of each feature."""


@dataclass(frozen=True, eq=False)
class AdmissibleBox:
    """What a row may become.

    - `orders`: for each feature whose level may change, the levels that it may take; NaN is "missing";
    - `point`, `low`, `high` (features): the row, and the ends of its box. With an order, they are places in it;
    - `grids`: where the numbers lie between these ends.
    """

    orders: dict[int, FloatArray]
    point: FloatArray
    low: FloatArray
    high: FloatArray
    grids: Grids

    @cached_property
    def ends(self) -> Ends:
        """The ends of the box."""
        return self.low, self.high

    def ends_in(self, wider: AdmissibleBox) -> Ends | None:
        """The ends of this box as a part of a wider one around the same row; None if it is no box there."""
        low, high = self.low.copy(), self.high.copy()
        if self.orders.keys() - wider.orders.keys():
            return None
        for j, order in wider.orders.items():
            own = self.orders.get(j, self.point[[j]])
            places = np.flatnonzero(same(order[:, None], own).any(axis=1))
            if not len(places) == len(own) == np.ptp(places) + 1:
                return None
            low[j], high[j] = places[[0, -1]]
        fits = same(low, wider.low) & same(high, wider.high)
        grids = wider.grids
        lone = (low == high) & (
            grids.first(low) == grids.last(low)
        )  # one that only means a point of the wider grid is none
        fits |= (low >= wider.low) & (high <= wider.high) & ((self.grids.step == grids.step) | lone)
        return (low, high) if fits.all() else None

    def coded(self, row: FloatArray) -> FloatArray:
        """A row of the box with its levels in place of their places."""
        out = row.copy()
        for j, order in self.orders.items():
            out[j] = order[int(row[j])]
        return out


def admissible_box(problem: Problem) -> AdmissibleBox | None:
    """The values of the only row as a box.

    None if they are none: rows leave a gap, numbers may be missing or off their grid, or too many boxes would be needed for the
    leaves.
    """
    domain, row, moves, model = problem.domain, problem.factuals[0], problem.domain.movable, problem.model
    if not isinstance(model, Trees) or not domain.stay[0, ~moves].all():
        return None
    orders = {j: _order(problem, model, j) for j in domain.levels if moves[j]}
    if not all(map(len, orders.values())) or _runs_per_leaf(model, orders) > MOST_RUNS:
        return None
    point, low, high = row.copy(), row.copy(), row.copy()
    step, anchor, single = np.where(moves, domain.step, 0.0), domain.anchor.copy(), np.zeros(len(row), dtype=np.bool_)
    for numbers in domain.grids(np.setdiff1d(np.flatnonzero(moves), list(orders))):
        ends = _ends(domain, model, numbers)
        if ends is None:
            return None
        low[numbers], high[numbers] = ends
        single[numbers] = domain.single[numbers] & (step[numbers] == 0)
    for j, order in orders.items():
        low[j], high[j], step[j], anchor[j] = 0.0, len(order) - 1.0, 1.0, 0.0
        point[j] = float(np.argmax(same(order, row[j])))  # the first one, if it may not stay
    return AdmissibleBox(orders, point, low, high, Grids(step, anchor, single))


def _ends(domain: Domain, model: Trees, numbers: IntArray) -> Ends | None:
    """The smallest and largest values of numbers that share a grid; None if one has others than those of the grid between.

    A number that only means a point of the grid counts as that point, unless a cut tells them apart.
    """
    everything = np.full((1, len(numbers)), np.inf)
    first, last = (end[0] for end in domain.within(numbers, -everything, everything))
    own, stay, grid = (
        domain.factuals[0, numbers],
        domain.stay[0, numbers],
        (domain.step[numbers[0]], domain.anchor[numbers[0]]),
    )
    lost = domain.missing[0, numbers] | np.isnan(own)
    meant = np.where(on_grid(own, *grid), grid_near(own, *grid) if grid[0] else own, np.nan)
    alike = own == meant
    for k in np.flatnonzero(~alike).tolist():
        alike[k] = len(set(model.cells[numbers[k]].index(np.array([own[k], meant[k]])).tolist())) == 1
    apart = stay & ~((first <= meant) & (meant <= last) & alike)
    beside = (grid_up(first, *grid) != first) | (grid_down(last, *grid) != last) if grid[0] else False
    beside |= bool(domain.single[numbers[0]]) & stay & (own.astype(np.float32) != own)
    return None if np.any(lost | apart | beside) else (first, last)


def _order(problem: Problem, model: Trees, j: int) -> FloatArray:
    """The levels that the only row may take, at a finite price.

    What moves least comes first, and then what fewest leaves tell apart.
    """
    levels = choices_of(problem, j).levels
    codes, allowed, x = levels.value[0], levels.able[0], problem.factuals[:, [j]]
    own = int(np.argmax(same(codes, x[0])))
    move = problem.prices.reach(j, x, codes[None])[0]
    allowed = allowed & np.isfinite(problem.prices.separable(j, x, codes[None])[0] + move)
    if len(codes) > MOST_CHAINED:
        return np.asarray(codes[allowed][np.argsort(move[allowed], kind="stable")])
    apart, left, order = _told_apart(model, j, len(codes)), np.flatnonzero(allowed).tolist(), [own]
    while left:
        nearest = min(left, key=lambda level: (move[level], apart[order[-1], level]))
        left.remove(nearest)
        order.append(nearest)
    return np.asarray(codes[order[1:]])


@lru_cache(maxsize=64)
def _told_apart(model: Trees, j: int, count: int) -> FloatArray:
    """How many leaves tell two levels of a feature apart (levels and "missing", both ways)."""
    takes = leaf_boxes(model).cells.get(j)
    if takes is None:
        return np.zeros((count, count))
    some = takes.astype(np.float64)
    both, each = some.T @ some, some.sum(axis=0)
    return np.asarray(each[:, None] + each - 2 * both)


def _runs_per_leaf(model: Trees, orders: dict[int, FloatArray]) -> float:
    """How many boxes a leaf is on average."""
    boxes = leaf_boxes(model)
    count = np.ones(len(boxes.tree))
    for j in orders.keys() & boxes.cells.keys():
        leaf, _, _ = runs(boxes.cells[j][:, model.cells[j].index(orders[j])])
        count *= np.bincount(leaf, minlength=len(count))
    return float(count.mean())


class Highest(NamedTuple):
    """A largest sum of scores, and a row that has it."""

    score: float
    row: FloatArray


@dataclass(frozen=True, eq=False)
class Climber:
    """Finds the row with the highest sum of scores in any part of a box."""

    box: AdmissibleBox
    adversary: Adversary

    def highest(
        self,
        low: FloatArray,
        high: FloatArray,
        at_least: float | None = None,
        most: float = np.inf,
        until: float = np.inf,
    ) -> Highest:
        """The row with the highest sum between `low` and `high`; with `at_least`, any row with such a sum.

        If there is none, the sum is -infinity. It is NaN if the search ends before: see `Adversary.worst`.
        """
        below = None if at_least is None else float(np.nextafter(-at_least, np.inf))
        found = self.adversary.worst(low, high, below=below, most=most, until=until)
        return Highest(-found.score, self.box.coded(found.point))


def climber(box: AdmissibleBox, model: Trees, row: FloatArray) -> Climber:
    """The climber for the sum `row @ scores`."""
    return Climber(box, adversary(regions(model, -row, box.point, box.orders), box.point, box.grids))
