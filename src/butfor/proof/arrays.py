"""A question as the checker reads it, as arrays: what the checker works out box by box, worked out quickly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import gcd
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import BoolArray, IntArray
from butfor.proof import kernels
from butfor.proof.failing import UnprovenError
from butfor.proof.kernels import NO_PRICE, Numbered
from butfor.proof.lists import CellRuns, Listed, Whole
from butfor.solvers.ensemble.leaves import LeafTable

NOTHING_GAINED: Mapping[int, Fraction] = {}
"""No number is weighed."""

LARGEST_GOAL = (1 << 63) - 1
"""What 64 bits hold."""

STEEP = Fraction(1 << 300)
"""More than any price rises per unit."""

LARGEST_TAXES = NO_PRICE >> 4
"""What taxes may save, in units, so that 64 bits hold all sums."""


class Paid(NamedTuple):
    """What messages make of a box: their bound, and what each living cell costs its column and each living leaf its tree."""

    total: int
    cell: Whole
    leaf: Whole


class Worth(NamedTuple):
    """What a unit of each score is worth: rates over 2^shift."""

    rates: tuple[int, ...]
    shift: int


class Taxed(NamedTuple):
    """What cells cost at a tax on each limit of a relation, and what is paid back for the limits.

    shares: of what each column reaches, which are added
    """

    tax: tuple[float, ...]
    price: Whole
    back: int
    shares: tuple[float, ...] = ()


class Span(NamedTuple):
    """What the cells of a column that is weighed add at least and at most towards each goal (ends, cells, goals)."""

    cells: slice
    ends: Whole


class RulePart(NamedTuple):
    """A column and some of its cells, as a part of what never is true at once. first: where its cells begin."""

    column: int
    first: int
    inside: BoolArray

    def undecided(self, alive: BoolArray) -> bool:
        """Whether other cells live."""
        return bool((self._living(alive) & ~self.inside).any())

    def left_out(self, alive: BoolArray) -> None:
        """Leave the cells out, in place."""
        self._living(alive)[:] &= ~self.inside

    def _living(self, alive: BoolArray) -> BoolArray:
        return alive[self.first : self.first + len(self.inside)]


class CheapestPoints(NamedTuple):
    """The points of the cells of a number of which one is the cheapest, whatever a unit of the number gains.

    Prices are convex in a cell, so these are its ends, what is next to the row's own number, and that number itself.

    price, value (cells, points): in whole numbers over a scale
    """

    price: list[list[int]]
    value: list[list[int]]
    scale: int
    unit: Fraction

    @classmethod
    def of(cls, column: Any, question: Any) -> CheapestPoints | None:
        """None if prices rise with squares, or a grid is one that floats miss."""
        if column.square or (column.step and column.blur):
            return None
        found = list[list[tuple[Fraction, Fraction]]]()
        for cell, price in enumerate(column.price):
            if price is None or cell > len(column.ends):
                found.append([(Fraction(price or 0), Fraction(0))])
                continue
            low, high = column.range_of(cell)
            stays = column.stay and (cell == column.home or (column.now is not None and low <= column.now <= high))
            slopes = (Fraction(0), STEEP, -STEEP)  # where the price is least, and the least and the largest number
            near = {its[1] for slope in slopes if (its := column.least(low, high, slope, question.none))}
            own = [(Fraction(0), column.now)] if stays else []
            its = [*own, *((column.paid(x, question.none), x) for x in near)]
            found.append(its or [(price, Fraction(0))])  # of a cell that costs too much, whatever is in it
        exact = [x for cell in found for pair in cell for x in pair]
        scale = reduce(lambda one, x: one * x.denominator // gcd(one, x.denominator), exact, 1)
        each = [[[int(x * scale) for x in its] for its in zip(*cell, strict=True)] for cell in found]
        return cls([its[0] for its in each], [its[1] for its in each], scale, question.unit)

    def at(self, gain: Fraction) -> list[int]:
        """The price of each cell in units, rounded down, if a unit of the number gains so much."""
        over = self.scale * gain.denominator * self.unit.numerator
        n, d, more = gain.numerator, gain.denominator, self.unit.denominator
        each = zip(self.price, self.value, strict=True)
        return [min(d * p + n * x for p, x in zip(*its, strict=True)) * more // over for its in each]


class Arrays:
    """The cells, blocks, entries and leaves of a question, numbered as the checker numbers them.

    goals (ways, goals): what scores must reach
    mean: whether the last goal is a mean of shares. Then the others are where logits are 0
    column (cells), block_tree (blocks): the column of each cell, and the tree of each block
    """

    def __init__(self, question: Any, runs: Any) -> None:
        self.question, columns, trees = question, question.columns, question.trees
        self.mean = question.wanted.mean is not None
        reach = _reach(trees) if not self.mean and not any(question.slopes) else LARGEST_GOAL
        goals = [[min(max(goal, -reach), reach) for goal in way] for way in question.goals]
        self.goals, self.counted = np.array(goals, dtype=np.int64), bool(question.counted)
        self.levels = np.array([column.levels is not None for column in columns], dtype=np.bool_)
        self.lost = np.array([column.lost for column in columns], dtype=np.bool_)
        sizes, asked, blocks = [len(row) for row in question.price], [], []
        for tree in trees:
            asked += [(j, bits) for j, bits, _ in tree.entries]
            blocks += [(j, its) for j, mine in tree.blocks.items() for _, _, its in mine]
        known = {one: runs(one[1]) for one in set(asked)}
        cells, entries = _starts(sizes), _starts([len(tree.entries) for tree in trees])
        self.column = np.repeat(np.arange(len(sizes)), sizes)
        self.alive = _bits(question.alive, sizes)
        self.asked = Numbered(
            cells=cells,
            leaves=_starts([len(tree.leaves) for tree in trees]),
            blocks=_starts([sum(map(len, tree.blocks.values())) for tree in trees]),
            price=np.array([NO_PRICE if p is None else p for row in question.price for p in row], dtype=np.int64),
            home=_bits(question.home, sizes),
            score=_scores([scores for tree in trees for scores, _ in tree.leaves], self.goals),
            of_leaf=Listed.of(
                [e + at for e in its]
                for tree, at in zip(trees, entries.tolist(), strict=False)
                for _, its in tree.leaves
            ),
            entry_column=np.array([j for j, _ in asked], dtype=np.intp),
            entry_runs=CellRuns.of((int(cells[one[0]]), known[one]) for one in asked),
            entry_blocks=Listed.of(its for tree in trees for _, _, its in tree.entries),
            block_column=np.array([j for j, _ in blocks], dtype=np.intp),
            block_runs=CellRuns.of((int(cells[j]), its) for j, its in blocks),
            bound=int(question.bound),
            limit=int(question.limit),
        )
        self.never = [
            [RulePart(j, int(cells[j]), _bits([its], [sizes[j]])) for j, its in rule] for rule in question.never
        ]
        self.spans = [_spans(question, way) for way in range(len(self.goals))] if any(question.slopes) else []
        each = {j: CheapestPoints.of(columns[j], question) for way in question.slopes[:1] for j in way}
        self.gaining = {j: one for j, one in each.items() if one is not None}
        self.block_tree = np.repeat(np.arange(len(trees)), np.diff(self.asked.blocks))

    @property
    def columns(self) -> int:
        return len(self.asked.cells) - 1

    @property
    def trees(self) -> int:
        return len(self.asked.leaves) - 1

    def narrowed(self, alive: BoolArray, leaf: BoolArray) -> bool:
        """Leave out, in place, cells and leaves whose rows all cost too much, or break a rule. False if no row is left."""
        while kernels.narrow_box(self.asked, alive, leaf):
            if not self._ruled_out(alive):
                return True
        return False

    def _ruled_out(self, alive: BoolArray) -> bool:
        """Leave out, in place, cells that rules forbid because all else of them is true. Returns whether there were any."""
        before = alive.copy()
        for rule in self.never:
            free = [part for part in rule if part.undecided(alive)]
            if len(free) < 2:
                (free or rule)[0].left_out(alive)
        return bool((alive != before).any())

    def broken(self, alive: BoolArray, cells: Sequence[int]) -> RulePart | None:
        """A part of a rule that cells, one of each column, break: one that is not decided in a box."""
        for rule in self.never:
            if all(part.inside[cells[part.column]] for part in rule):
                return next(part for part in rule if part.undecided(alive))
        return None

    def misses(self, way: int, alive: BoolArray, leaf: BoolArray) -> bool:
        """Whether the best leaves and numbers miss a goal."""
        most = kernels.highest_sums(self.asked.leaves, self.asked.score[way], leaf)
        most = most + self._numbers(way, alive)[1] if self.spans else most
        return bool(self.question.misses(most.tolist(), way) if self.mean else (most < self.goals[way]).any())

    def ends(self, way: int, alive: BoolArray, leaf: BoolArray) -> tuple[Whole, Whole]:
        """The least and the most that the living leaves, and numbers, add up to towards each goal."""
        start, score = self.asked.leaves, self.asked.score[way]
        ends = -kernels.highest_sums(start, -score, leaf), kernels.highest_sums(start, score, leaf)
        if not self.spans:
            return ends
        least, most = self._numbers(way, alive)
        return ends[0] + least, ends[1] + most

    def _numbers(self, way: int, alive: BoolArray) -> tuple[Whole, Whole]:
        """The least and the most that weighted numbers of a box add up to towards each goal."""
        each = [(span.ends[:, living], span) for span in self.spans[way] for living in [alive[span.cells]]]
        return sum(its[0].min(axis=0) for its, _ in each), sum(its[1].max(axis=0) for its, _ in each)

    def paid(
        self, way: int, alive: BoolArray, leaf: BoolArray, message: Whole, worth: Worth, toll: int, taxed: Taxed
    ) -> Paid:
        """The bound of messages, as the checker works it out."""
        cell, cost = np.zeros(len(alive), dtype=np.int64), np.zeros(len(leaf), dtype=np.int64)
        rates, asked = np.array(worth.rates, dtype=np.int64), self.asked._replace(price=taxed.price)
        found = int(kernels.pay(asked, alive, leaf, message, asked.score[way], rates, worth.shift, toll, cell, cost))
        goal = sum(map(mul, worth.rates, self.goals[way].tolist()))
        if self.mean:
            goal -= self.question.curve(worth.rates, *(end.tolist() for end in self.ends(way, alive, leaf)))
        return Paid((goal >> worth.shift) - toll * asked.limit + found - taxed.back, cell, cost)

    def taxed(
        self, tax: Sequence[float], shares: Sequence[float] = (), gain: Mapping[int, Fraction] = NOTHING_GAINED
    ) -> Taxed | None:
        """The prices of cells at a tax on each limit of a relation, at shares of what is reached, and if units of numbers gain.

        None if they are larger than whole numbers of 64 bits.
        """
        if not tax and not shares and not gain:
            return Taxed((), self.asked.price, 0)
        if gain and not any(tax) and not any(shares) and self.gaining.keys() >= gain.keys():
            return self._at_gains(tuple(tax), gain)
        none = [Fraction(0)] * self.columns
        price, back = self.question.taxed(
            list(map(Fraction, tax)), list(map(Fraction, shares)) or none, ({}, Fraction(0)), gain
        )
        every = [NO_PRICE if p is None else min(p, NO_PRICE) for row in price for p in row]
        if min([*every, back, -back]) < -LARGEST_TAXES:
            return None
        return Taxed(tuple(tax), np.array(every, dtype=np.int64), back, tuple(shares))

    def _at_gains(self, tax: tuple[float, ...], gain: Mapping[int, Fraction]) -> Taxed | None:
        """The prices of cells if units of numbers gain, and nothing is taxed, as the checker works them out."""
        price = self.asked.price.copy()
        for j, each in gain.items():
            its = slice(int(self.asked.cells[j]), int(self.asked.cells[j + 1]))
            price[its] = np.where(
                _bits([self.question.alive[j]], [its.stop - its.start]), self.gaining[j].at(each), NO_PRICE
            )
        return None if price.min() < -LARGEST_TAXES else Taxed(tax, price, 0)

    def drop(self, alive: BoolArray, leaf: BoolArray, paid: Paid) -> tuple[BoolArray, BoolArray]:
        """The cells and leaves whose own bound does not reach the claim."""
        cells, leaves = kernels.keep_cheap(self.asked, alive, leaf, paid.cell, paid.leaf, self.asked.bound - paid.total)
        return cells, leaves

    def place(self) -> IntArray:
        """Where each cell stands if every column has one more, "missing", behind its own, or as its last."""
        return np.arange(len(self.column)) + (np.cumsum(~self.lost) - ~self.lost)[self.column]

    def table(self) -> LeafTable:
        """The leaves as searches read them."""
        asked, entry = self.asked, self.asked.of_leaf.items
        start, first, last = asked.cells + _starts(~self.lost), asked.entry_runs.first, asked.entry_runs.end
        base, beyond = asked.cells[asked.entry_column], asked.cells[asked.entry_column + 1]
        runs = asked.entry_runs.start
        missing = self.lost[asked.entry_column] & (last[runs[1:] - 1] == beyond)
        alone = missing & (first[runs[1:] - 1] == beyond - 1)  # the last run is the missing value, and nothing else
        ends = np.where(alone, last[np.maximum(runs[1:] - 2, runs[:-1])], last[runs[1:] - 1] - missing)
        low, high = first[runs[:-1]] - base, ends - 1 - base
        low, high = (np.where(alone & (np.diff(runs) == 1), empty, its) for its, empty in ((low, 0), (high, -1)))
        mask, masks, size = np.full(len(base), -1, dtype=np.intp), [np.zeros(0, dtype=np.bool_)], 0
        for e in np.flatnonzero(self.levels[asked.entry_column]).tolist():
            j = int(asked.entry_column[e])
            bits = np.zeros(int(asked.cells[j + 1] - asked.cells[j]) + 1, dtype=np.bool_)
            for r in range(int(asked.entry_runs.start[e]), int(asked.entry_runs.start[e + 1])):
                bits[first[r] - base[e] : last[r] - base[e]] = True
            mask[e], low[e], high[e] = size, 0, -1
            masks.append(bits)
            size += len(bits)
        return LeafTable.of(
            start=start.astype(np.intp),
            tree=asked.leaves,
            value=np.zeros((int(asked.leaves[-1]), 1)),
            entry=asked.of_leaf.start,
            feature=asked.entry_column[entry],
            first=low[entry],
            last=high[entry],
            missing=missing[entry],
            mask=mask[entry],
            masks=np.concatenate(masks),
        )


def _spans(question: Any, way: int) -> list[Span]:
    """What columns that are weighed add towards the goals of a way, in grains, rounded outwards as the checker does."""
    found, start = list[Span](), _starts([len(row) for row in question.price])
    for j, slopes in question.slopes[way].items():
        its = [question.columns[j].span(c) for c in range(len(question.price[j]))]
        ends = [[[s * x / question.grain for s in slopes] for x in ends] for ends in its]
        least = [[min(pair) // 1 for pair in zip(*cell, strict=True)] for cell in ends]
        most = [[-(-max(pair) // 1) for pair in zip(*cell, strict=True)] for cell in ends]
        if max((abs(x) for row in least + most for x in row), default=0) >= NO_PRICE >> 4:
            raise UnprovenError
        found.append(Span(slice(int(start[j]), int(start[j + 1])), np.array([least, most], dtype=np.int64)))
    return found


def _scores(leaves: list[list[list[int]]], goals: Whole) -> Whole:
    """What each leaf adds towards each goal (ways, leaves, goals)."""
    each = np.array(leaves, dtype=np.int64).reshape(len(leaves), *goals.shape)
    return np.ascontiguousarray(each.transpose(1, 0, 2))


def _starts(sizes: Sequence[int] | BoolArray) -> IntArray:
    """Where each begins, side by side, and the end."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)


def _bits(sets: Sequence[int], sizes: Sequence[int]) -> BoolArray:
    """Bits of whole numbers, side by side."""
    return np.array(
        [bits >> c & 1 for bits, size in zip(sets, sizes, strict=True) for c in range(size)], dtype=np.bool_
    )


def _reach(trees: Sequence[Any]) -> int:
    """What no scores add up to: a goal beyond is as far out of reach, or as surely reached."""
    sizes: list[int] = [
        max(abs(x) for scores, _ in tree.leaves for way in scores for x in way) for tree in trees if tree.leaves
    ]
    return 1 + sum(sizes)
