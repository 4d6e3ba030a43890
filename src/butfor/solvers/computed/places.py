"""The places of a group of columns of which some are computed from others, cheapest first.

In a place, all rows look alike to the model. So it stands for its cheapest point.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.cells import Cells, number_cells
from butfor.model.computed import ComputedFeature, completed
from butfor.problem.constraints.implications import Implication
from butfor.problem.constraints.linked import first_of_each
from butfor.problem.held import switch_of
from butfor.problem.merged.following import FollowingGroup, read_cells
from butfor.problem.problem import Problem
from butfor.solvers.computed.axes import ColumnCells, axis_of, cheapest_together
from butfor.solvers.computed.inside import Limits, PlacePoints, Spans
from butfor.space.space import same

BOXES_PER_PLACE = 40
"""How many boxes of single values are looked at for each place that is wanted: most of them look like others to the model."""


@dataclass(frozen=True, eq=False)
class Places:
    """The cheapest places of a group, for the only row.

    - `points` (places, all features): their cheapest points, with what is computed; the first is the row as it is;
    - `moved` (places, columns): which columns of the table have changed;
    - `least`: what any point costs at least that is in none of them (infinite: there is no other place);
    - `doubt`: by how much less than its point a place may cost.
    """

    points: FloatArray
    price: FloatArray
    least: float
    doubt: float


@dataclass(frozen=True, eq=False)
class PlaceFinder:
    """What finds the places of a group for the only row."""

    problem: Problem
    group: FollowingGroup

    def cheapest(self, most: int, moved: frozenset[int] | None = None) -> Places:
        """About so many places, or all; of those that change just the free columns in `moved`, if these are given."""
        axes = [self._axis(j, moved) for j in self.group.free]
        single = all(np.array_equal(axis.first, axis.last, equal_nan=True) for axis in axes)
        boxes = most * BOXES_PER_PLACE if single else most
        chosen, price, least = cheapest_together([axis.price for axis in axes], boxes)
        points, doubt = np.empty((0, self._width)), 0.0
        if len(chosen):
            if single:
                points = self._completed(
                    np.column_stack([axis.value[at] for axis, at in zip(axes, chosen.T, strict=True)])
                )
            else:
                points, doubt, beyond = self._inside(axes, chosen, price, 2 * most)
                least = min(least, beyond)
        points = points[self._admitted(points)]
        cost = self._cost(points)
        order = np.argsort(cost, kind="stable")
        order = order[np.sort(first_of_each(self._signs(points[order])))]
        if len(order) > most:
            least = min(least, float(cost[order[most]]))
            order = order[:most]
        return Places(points[order], cost[order], least, doubt)

    @property
    def _width(self) -> int:
        """How many features there are, those that only the model reads included."""
        return max(len(self.problem.space), 1 + max(one.feature for one in self.group.computed))

    def _axis(self, j: int, moved: frozenset[int] | None) -> ColumnCells:
        axis = axis_of(self.problem, j, self.cells[j])
        if moved is None:
            return axis
        stays = same(axis.value, np.broadcast_to(self.problem.factuals[0, j], len(axis)))
        return axis.take(np.flatnonzero(stays != (j in moved)))

    @cached_property
    def cells(self) -> dict[int, Cells | None]:
        """The cells of each feature; None if each of its values is one."""
        features = [*self.group.free, *(one.feature for one in self.group.computed)]
        by_value = not self.group.is_cut(self.problem)
        return {j: None if by_value and j in self.group.free else self._cells(j) for j in features}

    def _cells(self, j: int) -> Cells | None:
        """The cells of a feature. They end, too, where a restriction or an implication makes a difference."""
        cells, problem = read_cells(self.problem.model, j), self.problem
        if cells is None or cells.levels:
            return cells
        edges = [cells.edges]
        if j < len(problem.space):
            edges += [self._switches(one, j) for one in problem.relations_of(Implication)]
            if j not in self.group.free:
                low, high = problem.domain.low[0, j], problem.domain.high[0, j]
                edges.append(np.array([np.nextafter(low, -np.inf), high]))
        every = np.concatenate(edges)
        return number_cells(every[np.isfinite(every)])

    def _switches(self, relation: Implication, j: int) -> FloatArray:
        """Where the parts of an implication about a column begin or end to hold, as it grows."""
        parts = relation.parts(self.problem.space, self.problem.factuals[0])
        return np.array([switch_of(self.problem.domain, j, at) for its, at in parts if its == j])

    def _completed(self, free: FloatArray) -> FloatArray:
        """Points with these values of the free columns. What is as it was keeps all that the row has."""
        points = np.full((len(free), self._width), np.nan)
        points[:, : len(self.problem.space)] = self.problem.factuals
        points[:, list(self.group.free)] = free
        return completed(points, self.group.computed)

    def _admitted(self, points: FloatArray) -> BoolArray:
        """Which points the domain takes."""
        at = self.group.columns(len(self.problem.space))
        many = self.problem.domain.of_columns(at).take(np.zeros(len(points), dtype=np.intp))
        fine = many.takes(points[:, at]).all(axis=1)
        for one in self.group.computed:  # what cannot be computed from known numbers is no row
            if one.feature >= len(self.problem.space):
                fine &= ~np.isnan(points[:, one.feature]) | np.isnan(points[:, list(one.inputs)]).any(axis=1)
        return np.asarray(fine)

    def _cost(self, points: FloatArray) -> FloatArray:
        prices, start = self.problem.prices, self.problem.factuals
        return np.asarray(
            sum(prices.separable(j, start[:, [j]], points[None, :, j])[0] for j in self.group.free), dtype=np.float64
        ) * np.ones(len(points))

    def _signs(self, points: FloatArray) -> FloatArray:
        """What the model can tell of points: the cell of each feature, or its value."""
        found = []
        for j, cells in self.cells.items():
            found.append(points[:, j] if cells is None else cells.index(points[:, j]).astype(np.float64))
        return np.column_stack(found)

    def _inside(
        self, axes: list[ColumnCells], chosen: IntArray, price: FloatArray, most: int
    ) -> tuple[FloatArray, float, float]:
        """The cheapest points of the places in some boxes, how much too dear they may be, and what boxes left out cost."""
        boxes = [axis.take(at) for axis, at in zip(axes, chosen.T, strict=True)]
        cells = [of for one in self.group.computed for of in [self.cells[one.feature]] if of is not None]
        ranges = [self._range(one, of, boxes) for one, of in zip(self.group.computed, cells, strict=True)]
        counts = np.prod([last - first + 1 for first, last in ranges], axis=0)
        kept = max(1, int(np.searchsorted(np.cumsum(counts), most, side="right")))
        beyond = float(price[kept]) if kept < len(price) else np.inf
        which = np.repeat(np.arange(kept), counts[:kept])
        inner = np.arange(len(which)) - np.repeat(np.cumsum(counts[:kept]) - counts[:kept], counts[:kept])
        wanted = []
        for first, last in ranges:
            width = (last - first + 1)[which]
            wanted.append(first[which] + inner % width)
            inner = inner // width
        boxes = [box.take(which) for box in boxes]
        points = self._completed(np.column_stack([box.value for box in boxes]))
        right = self._right(points, cells, wanted)
        rest, doubt = np.flatnonzero(~right), 0.0
        found, more = self._solved([box.take(rest) for box in boxes], cells, [at[rest] for at in wanted])
        points[rest] = self._completed(found)
        good = right.copy()
        good[rest] = ~np.isnan(found).all(axis=1) & self._right(points[rest], cells, [at[rest] for at in wanted])
        if len(rest):
            doubt = float(more[good[rest]].max(initial=0.0))
        return points[good], doubt, beyond

    def _right(self, points: FloatArray, cells: list[Cells], wanted: list[IntArray]) -> BoolArray:
        """Which points have what is computed in the wanted cells."""
        right = np.ones(len(points), dtype=np.bool_)
        for one, of, at in zip(self.group.computed, cells, wanted, strict=True):
            right &= of.index(points[:, one.feature]) == at
        return right

    def _range(self, one: ComputedFeature, cells: Cells, boxes: list[ColumnCells]) -> tuple[IntArray, IntArray]:
        """The first and the last cell of a computed feature in each box. It is largest and smallest at corners."""
        corners = []
        for ends in product((True, False), repeat=len(self.group.free)):
            free = [box.first if end else box.last for box, end in zip(boxes, ends, strict=True)]
            corners.append(cells.index(self._completed(np.column_stack(free))[:, one.feature]))
        return np.min(corners, axis=0), np.max(corners, axis=0)

    def _solved(
        self, boxes: list[ColumnCells], cells: list[Cells], wanted: list[IntArray]
    ) -> tuple[FloatArray, FloatArray]:
        """The cheapest values of the free columns in each place, and by how much they may be too dear.

        Places in which the same columns are missing are solved together.
        """
        count = len(boxes[0].value)
        lost = np.column_stack([np.isnan(box.first) for box in boxes])
        found, doubt = np.full((count, len(boxes)), np.nan), np.zeros(count)
        for pattern in np.unique(lost, axis=0):
            its = np.flatnonzero((lost == pattern).all(axis=1))
            order = self._hub_first([i for i in range(len(boxes)) if not pattern[i]])
            if not order:
                continue
            parts = [self._box(boxes[i].take(its), self.group.free[i]) for i in order]
            limits = tuple(
                Limits(one, *(ends[at[its]] for ends in (np.append(of.lower(), np.nan), np.append(of.upper(), np.nan))))
                for one, of, at in zip(self.group.computed, cells, wanted, strict=True)
            )
            told = tuple(one for one in limits if set(one.one.inputs) & {part.j for part in parts})
            points, more = PlacePoints(self.problem, parts[0], tuple(parts[1:]), told).cheapest()
            found[its[:, None], order], doubt[its] = points, more
        return found, doubt

    def _hub_first(self, places: list[int]) -> list[int]:
        """The free columns of which some are known, the hub first. If it can be chosen, it is the one with the fewest values."""
        free, values = self.group.free, self.problem.domain.counts()
        pairs = [set(one.inputs) for one in self.group.computed]
        hubs = [i for i in places if all(len(inputs - {free[i]}) <= 1 for inputs in pairs)] or places[:1]
        hub = min(hubs, key=lambda i: values[free[i]], default=None)
        return [] if hub is None else [hub, *(i for i in places if i != hub)]

    def _box(self, axis: ColumnCells, j: int) -> Spans:
        return Spans(j, axis.lower, axis.upper, axis.first, axis.last)
