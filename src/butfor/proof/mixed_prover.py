"""Proofs about trees and weighted numbers that are added up."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.proof.arrays import Arrays, Taxed, Worth
from butfor.proof.failing import UnprovenError
from butfor.proof.kernels import NO_PRICE
from butfor.proof.lists import Whole
from butfor.proof.model_files import hexes
from butfor.proof.node import Node
from butfor.proof.prover import Prover
from butfor.proof.related import BestTaxes, RelatedCells
from butfor.proof.states import Pending, Spread, WishedState
from butfor.solvers.mixed.points import Points, over_points
from butfor.solvers.mixed.relaxed import joined, one_leaf_for_each_cell
from butfor.solvers.solver import Budget

FINE_RATE_BITS = 52
"""The largest rate of a box in which all trees are decided is said with so many bits: there, rates are all that is left."""

COARSE_RATE = 1 << 20
"""Scores times rates below this fit into 64 bits."""

NEARLY = 1e-10
"""Rates whose bound misses the claim by less, in floats, are tried."""


class GoalLimits(NamedTuple):
    """The goals of a way as limits of what numbers count: who adds to a sum takes from the limit. How large it is, trees say."""

    limits: list[tuple[dict[int, Any], int]]
    columns: list[Any]
    below: Any
    none: bool

    @classmethod
    def of(cls, question: Any, way: int, relations: Sequence[Any] = ()) -> GoalLimits:
        each = [{j: -its[k] for j, its in question.slopes[way].items()} for k in range(len(question.ways[way]))]
        return cls([*((less, 0) for less in each), *relations], question.columns, question.below, question.none)


def points_of(arrays: Arrays, numbers: RelatedCells) -> Points:
    """The cells as the search sees them: of one that is weighed, the ends of what is worth a look, and the row's own number.

    Price less gain is least at one of them (near one, if prices rise with squares). Prices are in claims.
    """
    price = arrays.asked.price / arrays.asked.bound
    values, prices = [np.zeros(1)] * len(price), [price[[c]] for c in range(len(price))]
    missing = set((arrays.asked.cells[1:] - 1)[arrays.lost].tolist())
    for k, c in enumerate(numbers.cells.tolist()):
        if price[c] < 1 and c not in missing:
            values[c], prices[c] = numbers.points(k)
    sizes = [len(its) for its in values]
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    return Points(np.repeat(np.arange(len(sizes)), sizes), np.concatenate(values), np.concatenate(prices), start)


class MixedProver(Prover):
    """Proves one claim about sums to which trees add, and weighted numbers.

    For rates r of the goals, no row of a box costs less than

        r goals + columns: min (price + messages - r gain) + trees: min (their messages - r leaf),

    so a rate turns the prices of cells as a tax does. The search sees a cell as its ends, which add like leaves. Where all trees
    are decided, only rates and taxes are left to find, those of a linear program (Kelley, The Cutting-Plane Method, SIAM 8,
    1960). Before that, nothing is said of relations.
    """

    def __init__(self, question: Any, runs: Any, budget: Budget) -> None:
        super().__init__(question, runs, budget)
        arrays = self.arrays
        first = RelatedCells(GoalLimits.of(question, 0), arrays.asked.cells)
        limits = [GoalLimits.of(question, way, question.limits) for way in range(len(question.ways))]
        self.weighed = [RelatedCells(each, arrays.asked.cells) for each in limits]
        self.taxed, none = self.taxed._replace(tax=()), GoalLimits([], [], question.below, question.none)
        self.wish, self.related = self.no_wish(), RelatedCells(none, arrays.asked.cells)
        self.target += arrays.columns + len(question.limits) + 1  # each price is rounded once more
        self.points = points_of(arrays, first)
        self.gains = self._with_lines(first.columns)
        self.largest = max(self.largest, int(np.abs(self.gains).max(initial=0)))
        self.grain = self.grains()
        self.prices = dict[tuple[int, Worth, tuple[float, ...]], Taxed]()

    def _with_lines(self, columns: list[int]) -> FloatArray:
        """Let the table have points in place of cells, and a tree for each column that is weighed.

        Returns what the leaves of these trees add (ways, leaves, goals).
        """
        sizes = np.ones(int(self.table.start[-1]), dtype=np.intp)
        cell, question = self.points.cell, self.arrays.question
        sizes[self.place] = np.diff(self.points.start)
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        place = start[self.place[cell]] + np.arange(len(cell)) - self.points.start[cell]
        self.spread, self.place = Spread(place, cell, self.points.price), place[self.points.start[:-1]]
        table = over_points(self.table, start)
        lines, at = one_leaf_for_each_cell(columns, table)
        self.table, value = joined(table, lines), np.zeros(int(start[-1]))
        value[place] = self.points.value
        slopes = np.array([[list(map(float, its)) for its in each.values()] for each in question.slopes])
        each = slopes[:, np.repeat(np.arange(len(columns)), np.diff(table.start)[columns])]
        return np.asarray(each * value[at][:, None] / float(question.grain))

    def no_wish(self) -> WishedState:
        return super().no_wish()._replace(tax=np.zeros(0))

    def scores(self) -> FloatArray:
        return np.vstack([super().scores(), self.gains[self.way] * self.grain])

    def enter(self, way: int) -> None:
        super().enter(way)
        self._price()

    def _price(self, tax: Sequence[float] | None = None) -> None:
        """Prices at the rates that were said, and at taxes, which are said if they are others."""
        if tax is not None and (any(tax) or any(self.taxed.tax)) and tuple(tax) != self.taxed.tax:
            self._say(tax=hexes(tax))
        key = self.way, self.worth, self.taxed.tax if tax is None else tuple(tax)
        if key not in self.prices:
            found = self.arrays.taxed(key[2], (), self.arrays.question.gain(self.way, *self.worth))
            if found is None:
                raise UnprovenError
            self.prices[key] = found
        self.taxed = self.prices[key]

    def _set_rates(self) -> None:
        super()._set_rates()
        self._price([0.0] * len(self.arrays.question.limits))

    def _set_taxes(self) -> None:
        """There are none but where all trees are decided."""

    def _bound(self, alive: BoolArray, leaf: BoolArray, message: Whole) -> int:
        """Rates of many bits are worth nothing but where they were said, as they are too fine for 64 bits."""
        return super()._bound(alive, leaf, message) if max(self.worth.rates) < COARSE_RATE else 0

    # ------------------------------------------------------------------------------------------ where trees are decided

    def decided(self, alive: BoolArray, leaf: BoolArray, depth: int) -> list[Pending] | None:
        asked = self.arrays.asked
        if (np.add.reduceat(leaf, asked.leaves[:-1], dtype=np.intp) > 1).any():
            return None
        if (outside := self._outside(alive, leaf)) is not None:
            return self._halves(alive, leaf, depth, *outside)
        return self._of_numbers(alive, leaf, depth)

    def _of_numbers(self, alive: BoolArray, leaf: BoolArray, depth: int) -> list[Pending]:
        """What is left of a box in which only numbers are open."""
        score = self.arrays.asked.score[self.way][leaf]
        best = self._best_rates(alive, score)
        if best.bound >= 1 - NEARLY:
            before = self._state()
            self._set_finely(best.tax)
            if self._bound_of_numbers(alive, score) >= self.target:
                return self._end("dual")
            self._restore(before)
        weighed = self.weighed[self.way]
        if (found := weighed.parting(best)) is None:
            return self._refuted(alive, leaf, depth, self._row_of(alive, weighed, best), weighed.numbers(best))
        return self._parted_at(alive, leaf, depth, *found)

    def _outside(self, alive: BoolArray, leaf: BoolArray) -> tuple[int, BoolArray] | None:
        """A column with living cells that lead to no leaf, and its other cells, counted in it."""
        asked = self.arrays.asked
        for i in np.flatnonzero(leaf).tolist():
            for e in asked.of_leaf.items[asked.of_leaf.start[i] : asked.of_leaf.start[i + 1]].tolist():
                j = int(asked.entry_column[e])
                inside, base = np.zeros(int(asked.cells[j + 1] - asked.cells[j]), dtype=np.bool_), int(asked.cells[j])
                for r in range(int(asked.entry_runs.start[e]), int(asked.entry_runs.start[e + 1])):
                    inside[int(asked.entry_runs.first[r]) - base : int(asked.entry_runs.end[r]) - base] = True
                if (alive[base : base + len(inside)] & ~inside).any():
                    return j, inside
        return None

    def _best_rates(self, alive: BoolArray, score: Whole) -> BestTaxes:
        """The rates that prove most if one leaf of each tree adds so much (trees, goals)."""
        weighed, grain = self.weighed[self.way], float(self.arrays.question.grain)
        missing = (self.arrays.goals[self.way] - score.sum(axis=0)).astype(np.float64)
        goals = len(self.arrays.question.ways[self.way])
        weighed.top[:goals] = -missing[:goals] * grain
        rest = self._rest(alive, weighed)
        start = np.zeros(len(weighed.top))
        start[:goals] = self.wish.rates[:goals] * self.grain[:goals] / grain
        return weighed.best(alive, np.zeros(len(alive)), rest, start, 1 + NEARLY)

    def _rest(self, alive: BoolArray, weighed: RelatedCells) -> float:
        """What all other columns cost at least, in claims."""
        asked = self.arrays.asked
        least = np.minimum.reduceat(np.where(alive, asked.price, NO_PRICE), asked.cells[:-1])
        return float(np.delete(least, weighed.columns).sum()) / asked.bound

    def _set_finely(self, best: FloatArray) -> None:
        """Say rates and taxes, in claims for a unit of each sum, to the last bit that floats have."""
        goals, question = len(self.arrays.question.ways[self.way]), self.arrays.question
        self._say_finely([Fraction(x) * question.grain for x in best[:goals].tolist()], best[goals:])

    def _say_finely(self, rates: list[Fraction], taxes: FloatArray) -> None:
        """Say rates, in claims for a unit of each score, and taxes."""
        exact = [rate * int(self.arrays.asked.bound) for rate in rates]
        shift = max(0, FINE_RATE_BITS - int(max(exact)).bit_length())
        self.worth = Worth(tuple(round(x * (1 << shift)) for x in exact), shift)
        self._say(rate=[*self.worth.rates, shift])
        if self.toll:
            self.toll = 0
            self._say(toll=0)
        self._price((taxes * float(self.arrays.question.below)).tolist())

    def _bound_of_numbers(self, alive: BoolArray, score: Whole, curves: int = 0) -> int:
        """The bound of rates of any size if one leaf of each tree adds so much. No message counts where all is inside of it.

        `curves`: at most so much more is the mean worth than its sums.
        """
        rates, shift = self.worth
        goal = (sum(map(mul, rates, self.arrays.goals[self.way].tolist())) - curves) >> shift
        trees = sum(-sum(map(mul, rates, its)) >> shift for its in score.tolist())
        price = np.where(alive, self.taxed.price, NO_PRICE)
        return int(goal + trees) + int(np.minimum.reduceat(price, self.arrays.asked.cells[:-1]).sum()) - self.taxed.back

    # ------------------------------------------------------------------------------------------------- parts of boxes

    def _split_at(self, alive: BoolArray, leaf: BoolArray, depth: int, node: Node, j: int, where: int) -> list[Pending]:
        """Part a box at a point of a column. Where a cell lies on both sides, the column with most cells is halved."""
        cells, asked = node.reduced.cells, self.arrays.asked
        mine = slice(int(asked.cells[j]), int(asked.cells[j + 1]))
        merged = cells.merged_into[self.place[mine]]
        owner = int(self.points.cell[np.flatnonzero(cells.merged_into[self.spread.place] == where)[0]]) - mine.start
        chosen = (merged >= 0) & (merged < where) if cells.ordered[j] else np.arange(len(merged)) == owner
        living = alive[mine]
        if not (chosen & living).any() or not (~chosen & living).any():
            count = np.add.reduceat(alive, asked.cells[:-1], dtype=np.intp)
            j = int(np.argmax(count))
            living = alive[int(asked.cells[j]) : int(asked.cells[j + 1])]
            chosen = np.cumsum(living) <= count[j] // 2
        return self._halves(alive, leaf, depth, j, chosen)
