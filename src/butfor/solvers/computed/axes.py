"""The cells of single columns, and the cheapest combinations of cells of several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.formulation.choices import choices_of
from butfor.model.cells import Cells, number_cells
from butfor.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class ColumnCells:
    """The cells of a column that its row may reach, cheapest first.

    - `lower`, `upper`: the ends of each cell `(lower, upper]`;
    - `first`, `last`: the smallest and the largest value that the row may have there. A single value, also NaN for "missing",
      is both;
    - `value`: the nearest one to the row's own; `price`: what it costs.
    """

    lower: FloatArray
    upper: FloatArray
    first: FloatArray
    last: FloatArray
    value: FloatArray
    price: FloatArray

    def __len__(self) -> int:
        return len(self.value)

    def cheapest(self) -> ColumnCells:
        """The same, cheapest first, without cells that cannot be reached."""
        order = np.argsort(self.price, kind="stable")
        return self.take(order[np.isfinite(self.price[order])])

    def take(self, at: IntArray) -> ColumnCells:
        """Some of the cells, or cells again and again."""
        return ColumnCells(*(getattr(self, name)[at] for name in ("lower", "upper", "first", "last", "value", "price")))


def axis_of(problem: Problem, j: int, cells: Cells | None) -> ColumnCells:
    """The axis of a column of the only row. Without cells, each of its values is one."""
    own = problem.factuals[:, [j]]
    if cells is None or cells.levels or j in problem.domain.levels:
        value = choices_of(problem, j).every()
        return ColumnCells(value, value, value, value, value, _price(problem, j, value)).cheapest()
    x = float(own[0, 0])
    edges = cells.edges if np.isnan(x) else np.append(cells.edges, [np.nextafter(x, -np.inf), x])
    choices = choices_of(problem, j, number_cells(edges))
    (lower,), (upper,) = choices.bounds
    (first,), (last,) = choices.hull
    value, able = (part[0] for part in choices.nearest())
    lost = np.array([np.nan])
    lower, upper, first, last = (np.append(part, lost) for part in (lower, upper, first, last))
    price = np.where(able, _price(problem, j, value), np.inf)
    return ColumnCells(lower, upper, first, last, value, price).cheapest()


def _price(problem: Problem, j: int, value: FloatArray) -> FloatArray:
    return np.asarray(problem.prices.separable(j, problem.factuals[:, [j]], value[None])[0])


def cheapest_together(prices: list[FloatArray], most: int) -> tuple[IntArray, FloatArray, float]:
    """Of all choices of one entry from each list: the cheapest `most`, what they cost, and the least that others cost.

    Each list is in ascending order. Before entry i of one list and entry j of another, (i + 1) (j + 1) pairs cost no more.
    """
    chosen, total, least = np.zeros((1, 0), dtype=np.intp), np.zeros(1), np.inf
    for each in prices:
        width = np.minimum(len(each), most // np.arange(1, len(total) + 1))
        i = np.repeat(np.arange(len(total)), width)
        j = np.arange(len(i)) - np.repeat(np.cumsum(width) - width, width)
        both = total[i] + each[j]
        order = np.argsort(both, kind="stable")[:most]
        if len(order) < len(total) * len(each):
            least = min(least, float(both[order[-1]]))
        chosen, total = np.column_stack([chosen[i[order]], j[order]]), both[order]
    return chosen, total, least
