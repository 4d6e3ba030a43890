"""Branch and bound with the claim as its target, which writes down what the checker needs, and nothing else."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.proof.arrays import Arrays, Paid, Taxed, Worth
from butfor.proof.failing import CheaperError, UnprovenError
from butfor.proof.kernels import NO_PRICE
from butfor.proof.lists import Whole
from butfor.proof.model_files import hexes
from butfor.proof.node import BOUND_TO_SPARE, IDLE_GAIN, Node
from butfor.proof.reached import BestShares, ReachedCells
from butfor.proof.related import BestTaxes, RelatedCells
from butfor.proof.states import Pending, Spread, State, WishedState
from butfor.solvers.ensemble.branching_kernels import branching
from butfor.solvers.solver import Budget

MESSAGE_BITS = 8
"""A message has at most so many. Coarser ones need a few boxes more, and far fewer bytes."""

WORTH_A_DROP = 0.02, 0.5
"""Which share of the cells, or of the leaves, a `drop` must leave out to be said: in the first box, and in others."""

LARGEST_MESSAGE = 2.0**6
"""A message above this share of the claim says nothing that this one does not."""

AGREED = 1e-9
"""Trees agree with columns if none would save more than this share of the claim in other cells."""

MOST_SHARES = 8
"""So often messages and shares of what is reached follow each other in a box."""


class Prover:
    """Proves one claim. What the checker knows at each moment, the state, is what was said so far.

    message, worth, toll, taxed: the state
    target: the bound that is to be reached
    wish: what the search would like it to be
    """

    rate_bits = 15
    """The sum of the rates is said with so many bits."""

    def __init__(self, question: Any, runs: Any, budget: Budget) -> None:
        self.arrays, self.budget = Arrays(question, runs), budget
        arrays = self.arrays
        self.table, self.place = arrays.table(), arrays.place()
        self.spread = Spread(self.place, np.arange(len(self.place)), arrays.asked.price / arrays.asked.bound)
        self.message: Whole = np.zeros(len(arrays.asked.block_column), dtype=np.int64)
        self.worth, self.toll = Worth((0,) * arrays.goals.shape[1], 0), 0
        self.related = RelatedCells(question, arrays.asked.cells)
        self.reached = ReachedCells(question, arrays.asked.cells) if question.reaching and not question.none else None
        sharing = arrays.columns if self.reached else 0
        self.taxed = Taxed((0.0,) * len(question.limits), arrays.asked.price, 0, (0.0,) * sharing)
        self.target = int(arrays.asked.bound) + (self.related.roundings if self.related else 0)
        self.target += sharing  # each price is rounded once more
        self.wish = self.no_wish()
        self.lines: list[str] = []
        self.largest = max(1, int(np.abs(arrays.asked.score).max(initial=0)))
        self.grain = self.grains()

    def prove(self) -> list[str]:
        """The steps."""
        alive, ways = self.arrays.alive, reversed(range(len(self.arrays.goals)))
        leaf = np.ones(int(self.arrays.asked.leaves[-1]), dtype=np.bool_)
        boxes = [Pending(way, alive.copy(), leaf.copy(), 0, self.wish) for way in ways]
        while boxes:
            boxes += self._box(boxes.pop())
        return self.lines

    def grains(self) -> FloatArray:
        """What a grain of each score is to the search: the largest leaf is 1."""
        return np.full(self.arrays.goals.shape[1], 1.0 / self.largest)

    def scores(self) -> FloatArray:
        """What leaves add towards each goal, as the search counts it."""
        return np.asarray(self.arrays.asked.score[self.way] * self.grain)

    def node(self, alive: BoolArray, leaf: BoolArray) -> Node:
        return Node(self, alive, leaf)

    def no_wish(self) -> WishedState:
        none = (np.zeros(len(each)) for each in (self.taxed.tax, self.taxed.shares))
        return WishedState(np.zeros(len(self.message)), np.zeros(len(self.worth.rates)), 0.0, *none)

    def _say(self, **step: Any) -> None:
        self.lines.append(json.dumps(step, separators=(",", ":")))

    def _end(self, why: str) -> list[Pending]:
        self._say(end=why)
        return []

    def _box(self, box: Pending) -> list[Pending]:
        """End a box, or say how it is parted: then its parts are left, the one that comes first last."""
        arrays, (way, alive, leaf, depth, self.wish) = self.arrays, box
        self.enter(way)
        while True:
            if self.budget.spent():
                raise UnprovenError
            if not arrays.narrowed(alive, leaf):
                return self._end("cost")
            if arrays.misses(way, alive, leaf):
                return self._end("score")
            said = any(self.worth.rates) or any(self.taxed.tax) or any(self.taxed.shares)
            if said and self._bound(alive, leaf, self.message) >= self.target:
                return self._end("dual")
            if (parts := self.decided(alive, leaf, depth)) is not None:
                return parts
            node, best, shares = self.node(alive, leaf), None, None
            found, self.wish = node.ascend(self, depth)
            if self.reached:
                node, found, shares = self._shared(alive, leaf, depth, node)
            wished = self._wished()
            wanted = np.where(node.known, wished, 0)
            if self.related:
                best = self._best_taxes(alive, leaf, np.where(node.known, wanted, self.message), node.constant)
                found, self.wish = best.bound, self.wish._replace(tax=best.tax)
            if found >= 1 and self._told(alive, leaf, wanted, node.known, self.target):
                return self._end("dual")
            if not np.isfinite(found) or not self._dropped(alive, leaf, wanted, node.known, depth):
                break
        boxes = self._ruled_parts(alive, leaf, depth, self._chosen(alive, leaf, node, best)) if arrays.never else []
        boxes = boxes or self._related_parts(alive, leaf, depth, node, best)
        boxes = boxes or self._shared_parts(alive, leaf, depth, node, shares)
        return boxes or self._parted(alive, leaf, depth, node)

    def enter(self, way: int) -> None:
        """Look at a box of a way."""
        self.way = way

    def decided(self, alive: BoolArray, leaf: BoolArray, depth: int) -> list[Pending] | None:
        """What is left of a box for which messages need not be looked for; None if they need be."""
        return None

    def _chosen(self, alive: BoolArray, leaf: BoolArray, node: Node, best: BestTaxes | None) -> list[int]:
        """The cell that each column would choose, counted in the column."""
        price = self.arrays.asked.price if node.constant else self._paid(alive, leaf, self._wished()).cell
        return self._cheapest(alive, price) if best is None else self._row_of(alive, self.related, best, price)

    def _ruled_parts(self, alive: BoolArray, leaf: BoolArray, depth: int, chosen: list[int]) -> list[Pending]:
        """The parts of a box in which the chosen cells break a rule; none if they break none."""
        part = self.arrays.broken(alive, chosen)
        return [] if part is None else self._halves(alive, leaf, depth, part.column, part.inside)

    def _shared(self, alive: BoolArray, leaf: BoolArray, depth: int, node: Node) -> tuple[Node, float, BestShares]:
        """A box at the best shares of what columns reach, its bound, and these: messages and shares follow each other."""
        assert self.reached is not None
        best = -np.inf
        for _ in range(MOST_SHARES):
            wished = self._wished()
            paid = self._untaxed(alive, leaf, np.where(node.known, wished, self.message))
            shares = self.reached.best(alive, paid.cell / self.arrays.asked.bound)
            found = paid.total / self.arrays.asked.bound + shares.saved
            self.wish = self.wish._replace(shares=shares.shares)
            if found >= 1 + BOUND_TO_SPARE or node.constant or found - best < IDLE_GAIN * abs(1 - found):
                break
            best, node = found, self.node(alive, leaf)
            self.wish = node.ascend(self, depth)[1]
        return node, found, shares

    def _wished(self) -> Whole:
        """The messages that are wished for, in units."""
        shares = np.clip(self.wish.message, 0, LARGEST_MESSAGE)
        return np.rint(shares * self.arrays.asked.bound).astype(np.int64)

    def _untaxed(self, alive: BoolArray, leaf: BoolArray, message: Whole) -> Paid:
        """What these messages make of a box, with the rates and the toll that are wished for, without taxes and shares."""
        before = self._state()
        self._set_rates()
        untaxed = Taxed((), self.arrays.asked.price, 0)
        paid = self.arrays.paid(self.way, alive, leaf, message, self.worth, self.toll, untaxed)
        self._restore(before)
        return paid

    def _shared_parts(
        self, alive: BoolArray, leaf: BoolArray, depth: int, node: Node, shares: BestShares | None
    ) -> list[Pending]:
        """The parts of a box in which trees agree, and two cells are equally good at the best shares; none if it is no such."""
        if shares is None or node.unlike() > AGREED:
            return []
        if shares.tied is None:
            if node.constant:
                raise CheaperError(shares.cells)
            return []
        j, more, less = shares.tied
        chosen = np.zeros(int(np.diff(self.arrays.asked.cells)[j]), dtype=np.bool_)
        chosen[[more] if self.arrays.levels[j] or self.arrays.lost[j] else slice(max(more, less))] = True
        return self._halves(alive, leaf, depth, j, chosen)

    def _best_taxes(self, alive: BoolArray, leaf: BoolArray, message: Whole, constant: bool) -> BestTaxes:
        """The taxes that prove most with these messages and the rates and the toll that are wished for."""
        bound, related, paid = self.arrays.asked.bound, self.related, self._untaxed(alive, leaf, message)
        own = np.where(alive, paid.cell, NO_PRICE)[related.cells]
        rest = paid.total - int(np.minimum.reduceat(own, related.start[:-1]).sum())
        more, enough = (paid.cell - self.arrays.asked.price) / bound, 1.0 if constant else 1 + BOUND_TO_SPARE
        return related.best(alive, more, rest / bound, self.wish.tax, enough)

    def _related_parts(
        self, alive: BoolArray, leaf: BoolArray, depth: int, node: Node, best: BestTaxes | None
    ) -> list[Pending]:
        """The parts of a box in which trees agree, or have one leaf each, and taxes prove too little; none if it is no such."""
        if best is None or node.unlike() > AGREED:
            return []
        if (found := self.related.parting(best)) is None:
            if node.constant:
                return self._refuted(
                    alive, leaf, depth, self._row_of(alive, self.related, best), self.related.numbers(best)
                )
            return []
        return self._parted_at(alive, leaf, depth, *found)

    def _parted_at(self, alive: BoolArray, leaf: BoolArray, depth: int, j: int, cells: list[int]) -> list[Pending]:
        """Some cells of a column, counted in it, and the others."""
        chosen = np.zeros(int(np.diff(self.arrays.asked.cells)[j]), dtype=np.bool_)
        chosen[cells] = True
        return self._halves(alive, leaf, depth, j, chosen)

    def _refuted(
        self, alive: BoolArray, leaf: BoolArray, depth: int, chosen: list[int], numbers: dict[int, float]
    ) -> list[Pending]:
        """The parts of a decided box whose best row changes more columns than may. If it does not, it refutes the claim."""
        asked, stays = self.arrays.asked, self.arrays.asked.home & alive
        own = [slice(int(a), int(b)) for a, b in pairwise(asked.cells)]
        moved = [j for j, cells in enumerate(own) if not asked.home[cells][chosen[j]]]
        may_stay = [j for j in moved if stays[own[j]].any()]
        if len(moved) > asked.limit and may_stay:
            return self._halves(alive, leaf, depth, may_stay[0], stays[own[may_stay[0]]])
        raise CheaperError(chosen, numbers)

    def _row_of(self, alive: BoolArray, cells: RelatedCells, best: BestTaxes, price: Whole | None = None) -> list[int]:
        """The cells of the row that is most of a mixture, counted in the column; of other columns, the cheapest ones."""
        chosen, most = self._cheapest(alive, price), int(np.argmax(best.share))
        for j, cell in zip(cells.columns, best.cells[most].tolist(), strict=True):
            chosen[j] = cell - int(self.arrays.asked.cells[j])
        return chosen

    def _cheapest(self, alive: BoolArray, price: Whole | None = None) -> list[int]:
        """The cheapest living cell of each column, counted in the column; of equals, that in which it stays."""
        asked = self.arrays.asked
        price, stays = np.where(alive, asked.price if price is None else price, NO_PRICE), asked.home & alive
        least = np.repeat(np.minimum.reduceat(price, asked.cells[:-1]), np.diff(asked.cells))
        good = (price == least) * (1 + stays)
        return [int(np.argmax(good[a:b])) for a, b in pairwise(asked.cells)]

    def _parted(self, alive: BoolArray, leaf: BoolArray, depth: int, node: Node) -> list[Pending]:
        if node.constant:
            raise CheaperError(self._cheapest(alive))
        reduced, work = node.reduced, node.work
        cells = reduced.cells
        j, where = branching(cells.start, cells.ordered, work.alive, work.x, work.potential, work.vote)
        if j < 0:
            return self._agreed(alive, leaf, depth, node)
        return self._split_at(alive, leaf, depth, node, int(j), where)

    def _split_at(self, alive: BoolArray, leaf: BoolArray, depth: int, node: Node, j: int, where: int) -> list[Pending]:
        """Part a box at a cell of a column, as the search counts them: before it, or from the others."""
        arrays, cells = self.arrays, node.reduced.cells
        merged = cells.merged_into[self.place[arrays.asked.cells[j] : arrays.asked.cells[j + 1]]]
        chosen = (merged >= 0) & (merged < where) if cells.ordered[j] else merged == where
        return self._halves(alive, leaf, depth, j, chosen)

    def _agreed(self, alive: BoolArray, leaf: BoolArray, depth: int, node: Node) -> list[Pending]:
        """The halves of a box whose trees agree with its columns: its cheapest row reaches the goals, or rates are still low."""
        cells = node.reduced.cells
        many = np.diff(cells.start)
        j = int(np.argmax(many))
        if many[j] < 2:
            raise CheaperError(self._cheapest(alive))
        return self._split_at(alive, leaf, depth, node, j, int(cells.start[j] + many[j] // 2))

    def _halves(self, alive: BoolArray, leaf: BoolArray, depth: int, j: int, chosen: BoolArray) -> list[Pending]:
        """Some cells of a column, and the others. The first ones come first, and stand last."""
        arrays, mine = self.arrays, np.zeros(len(alive), dtype=np.bool_)
        base = int(arrays.asked.cells[j])
        mine[base : base + len(chosen)] = chosen
        cut = int(np.argmin(chosen | ~alive[base : base + len(chosen)]))  # before it, all that live are chosen
        first = not arrays.levels[j] and not chosen[cut:].any()
        self._say(split=[int(j), cut if first else hex(sum(1 << c for c in np.flatnonzero(chosen).tolist()))])
        others = arrays.column != j
        parts = (alive & (part | others) for part in (~mine, mine))
        return [Pending(self.way, part, leaf.copy(), depth + 1, self.wish) for part in parts]

    # ------------------------------------------------------------------------------------------ what is said

    def _bound(self, alive: BoolArray, leaf: BoolArray, message: Whole) -> int:
        return self._paid(alive, leaf, message).total

    def _paid(self, alive: BoolArray, leaf: BoolArray, message: Whole) -> Paid:
        return self.arrays.paid(self.way, alive, leaf, message, self.worth, self.toll, self.taxed)

    def _set_rates(self) -> None:
        """Say the rates and the toll that are wished for, if they are others."""
        rates, shift = self.wish.rates * self.arrays.asked.bound * self.grain, 0
        while 0 < rates.sum() < 1 << self.rate_bits and shift < 90:
            rates, shift = rates * 2, shift + 1
        worth = Worth(tuple(map(round, rates.tolist())), shift)
        if worth != self.worth:
            self.worth = worth
            self._say(rate=[*worth.rates, worth.shift])
        toll = round(self.wish.toll * self.arrays.asked.bound)
        if toll != self.toll and self.arrays.counted:
            self.toll = toll
            self._say(toll=toll)

    def _set_taxes(self) -> None:
        """Say the taxes and the shares that are wished for, if they are others, and not too large to count with."""
        tax, shares = (self.wish.tax * float(self.arrays.question.below)).tolist(), self.wish.shares.tolist()
        other = tax != list(self.taxed.tax), shares != list(self.taxed.shares)
        if any(other) and (taxed := self.arrays.taxed(tax, shares)) is not None:
            self.taxed = taxed
            for key, its in [("tax", tax)] * other[0] + [("share", shares)] * other[1]:
                self._say(**{key: hexes(its)})

    def _told(self, alive: BoolArray, leaf: BoolArray, wanted: Whole, known: BoolArray, target: int) -> bool:
        """Say messages, as coarse as they may be for a bound of at least the target. False if nothing was said."""
        before = self._state()
        self._set_rates()
        self._set_taxes()
        top = int(wanted[known].max(initial=1)).bit_length()
        for shift in range(max(0, top - 4), max(0, top - MESSAGE_BITS) - 1, -1):
            half = (1 << shift) >> 1
            other = known & (np.abs(self.message - wanted) > half)  # one that is near enough need not be said
            new = np.where(other, (wanted + half >> shift) << shift, self.message)
            if self._bound(alive, leaf, new) >= target:
                self._say_messages(new, shift)
                return True
        self._restore(before)
        return False

    def _say_messages(self, new: Whole, shift: int) -> None:
        changed = np.flatnonzero(new != self.message)
        if len(changed):
            said = np.column_stack([np.diff(changed, prepend=0), new[changed] >> shift])
            self._say(say=[shift, *said.ravel().tolist()])
        self.message = new

    def _dropped(self, alive: BoolArray, leaf: BoolArray, wanted: Whole, known: BoolArray, depth: int) -> bool:
        """Leave out, in place, the cells and leaves whose bound is too high, if they are many."""
        arrays, before, best = self.arrays, self._state(), np.where(known, wanted, self.message)
        self._set_rates()
        self._set_taxes()
        paid = self._paid(alive, leaf, best)
        enough = self._share(alive, leaf, paid) > WORTH_A_DROP[depth > 0] and paid.total > 0
        self._restore(before)
        target = paid.total - max(1, (arrays.asked.bound - paid.total) // 100)
        if not enough or not self._told(alive, leaf, wanted, known, target):
            return False
        paid = self._paid(alive, leaf, self.message)
        if self._share(alive, leaf, paid) == 0:  # coarser messages leave out less
            self._restore(before)
            return False
        alive[:], leaf[:] = arrays.drop(alive, leaf, paid)
        self._say(drop=1)
        return True

    def _share(self, alive: BoolArray, leaf: BoolArray, paid: Paid) -> float:
        """The share of the cells, or of the leaves, that messages leave out."""
        cells, leaves = self.arrays.drop(alive, leaf, paid)
        return float(max(1 - cells.sum() / alive.sum(), 1 - leaves.sum() / leaf.sum()))

    def _state(self) -> State:
        return State(self.message, self.worth, self.toll, self.taxed, len(self.lines))

    def _restore(self, state: State) -> None:
        """Take back what was said since then."""
        self.message, self.worth, self.toll, self.taxed, lines = state
        del self.lines[lines:]
