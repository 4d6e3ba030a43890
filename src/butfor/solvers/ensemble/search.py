"""Best rows of one ensemble, one row's prices and one goal: incumbents by local search, bounds and branching by the kernels."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import combinations, count, pairwise

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.solvers.ensemble.bound_kernels import Multipliers, Task, Work, ascend, branching
from butfor.solvers.ensemble.leaves import LeafTable
from butfor.solvers.ensemble.move_kernels import MoveWork, improve
from butfor.solvers.ensemble.reduce import Reduced, as_leaves, carried, reduce
from butfor.solvers.solver import Budget

CLOSE = 1e-7
"""A node whose bound comes this close to the best row (relative to 1 + cost) is done."""

ROOT, NODE = (5, 0.3, 0.002), (12, 0.1, 0.05)
"""How long bounds are raised at once: rounds, step, gain (see `ascend`)."""

ROOT_BURSTS, NODE_BURSTS = 40, 2
"""How often at the root of the search, and of the search in a node."""

ENOUGH = 0.01
"""At the root bounds are raised as long as that closes this share of what is missing."""

THIN, SMALL = 0.6, 100
"""A node that reaches less than this share of the leaves is searched in an ensemble of its own, unless there are few."""


@dataclass(frozen=True, eq=False)
class Instance:
    """Cells of all features side by side with their prices and `side` (what counts towards each `limit`), the leaves with

    their scores, and the goal that the scores of a row must sum to.
    """

    leaves: LeafTable
    score: FloatArray
    goal: FloatArray
    price: FloatArray
    side: FloatArray
    limit: FloatArray


class LeafSearch:
    """A search that can be stopped at any time: `best` (a cell for each feature) costs `upper`, no row less than `lower`.

    `upper` may be known from elsewhere before `best` is found.
    """

    def __init__(self, question: Instance, upper: float = np.inf) -> None:
        self.question = question
        self.upper, self.lower = upper, 0.0
        self.best: IntArray | None = None
        self.nodes = 0

    def run(self, budget: Budget) -> None:
        """LeafSearch until the best row is proven or the budget is spent; Ctrl-C spends it."""
        try:
            self._run(budget)
        except KeyboardInterrupt:
            budget.interrupt()

    def _run(self, budget: Budget) -> None:
        able = np.isfinite(self.question.price)
        if not self._reduce(able):
            return
        self._begin()
        rate = self._first_rate()
        if self._reduce(self._affordable(able)):
            self.multipliers.rate[:] = rate
            self._settle(budget, ROOT_BURSTS)

    def _settle(self, budget: Budget, bursts: int) -> None:
        """Bounds first, then branching."""
        bound = self._root(budget, bursts)
        if bound == np.inf:
            self._close()
        else:
            self.lower = max(self.lower, bound)
            if bursts == ROOT_BURSTS:
                self._polish(together=2)
            self._branch(bound, budget)

    def _close(self) -> None:
        """No row is better than the best."""
        self.lower = self.upper

    def _affordable(self, able: BoolArray) -> BoolArray:
        """The cells that a row better than the best may have."""
        price, start = np.where(able, self.question.price, np.inf), self.question.leaves.start
        least = np.minimum.reduceat(price, start[:-1])
        others = least.sum() - least
        return np.asarray(price + np.repeat(others, np.diff(start)) < self._ceiling())

    def _ceiling(self) -> float:
        return self.upper - CLOSE * (1.0 + abs(self.upper)) if np.isfinite(self.upper) else np.inf

    def _reduce(self, able: BoolArray) -> bool:
        """Set up the ensemble over the cells that are `able`; if some feature or tree has none, there is no row."""
        ask = self.question
        apart = np.zeros(len(able), dtype=np.bool_)
        if len(ask.limit):
            apart[np.flatnonzero(able & (ask.side == 0).any(axis=0))] = True
        r = reduce(ask.leaves, able, ask.price, apart)
        if (np.diff(r.cell) == 0).any() or (r.constant < 0).any():
            self._close()
            return False
        goal = ask.goal - ask.score[r.constant].sum(axis=0)
        side = np.ascontiguousarray(ask.side[:, r.source])
        self.reduced = r
        self.task = Task(np.ascontiguousarray(ask.score[r.leaf]), goal, ask.price[r.source], side, ask.limit)
        self.multipliers = Multipliers(np.zeros(r.block[-1]), np.zeros(len(ask.goal)), np.zeros(len(ask.limit)))
        self.work, self.moves = _work(r), _moves(r, len(ask.goal))
        return True

    # ------------------------------------------------------------------------------------------------------- local search

    def _begin(self) -> None:
        """From the cheapest cells into the goal."""
        if self._try(self._cheapest()):
            self._polish()

    def _polish(self, together: int = 1) -> None:
        """Changes of the best row taken back, so many together, to find another way, as long as that helps."""
        better = True
        while better and self.best is not None:
            better = False
            home = self._cheapest()
            now = self.reduced.merged[self.best]
            changed = np.flatnonzero(self.task.price[now] > self.task.price[home])
            for back in combinations(changed.tolist(), together):
                x = now.copy()
                x[list(back)] = home[list(back)]
                better = self._try(x, back[0]) or better

    def _cheapest(self) -> IntArray:
        cell, price = self.reduced.cell, self.task.price
        return np.array([a + np.argmin(price[a:b]) for a, b in pairwise(cell)], dtype=np.intp)

    def _try(self, x: IntArray, held: int = -1) -> bool:
        """Improve a row by moves (feature `held` stays), and keep it if it is the best."""
        x = x.copy()
        if improve(self.reduced, self.task, self.work.alive, self.moves, x, held, self._ceiling()) == np.inf:
            return False
        cost = float(self.task.price[x].sum())
        if cost >= self._ceiling():
            return False
        self.upper, self.best = cost, self.reduced.source[x]
        return True

    def _first_rate(self) -> FloatArray:
        """What a unit of each score should cost, roughly: what the best row paid for what the cheapest one lacked."""
        x = self._cheapest()
        # counts the scores, and stops at once
        improve(self.reduced, self.task, self.work.alive, self.moves, x.copy(), -1, -np.inf)
        lack = np.maximum(self.task.goal - self.moves.total, 0.0)
        price = self.task.price[np.isfinite(self.task.price)]
        spent = self.upper if np.isfinite(self.upper) else float(price.mean()) * len(x)
        total = lack.sum()
        return np.where(lack > 0, 0.7 * spent / total, 0.0) if total > 0 else np.full(len(lack), spent)

    # ----------------------------------------------------------------------------------------------------- branch and bound

    def _raise(self, effort: tuple[int, float, float], size: FloatArray) -> float:
        """A bound on the rows of the living cells, and a row tried on the way."""
        found = float(ascend(self.reduced, self.task, self.multipliers, self.work, self._ceiling(), size, *effort))
        if found < np.inf:
            self._try(self.work.x)
            if found >= self._ceiling():
                return np.inf
        return found

    def _root(self, budget: Budget, bursts: int) -> float:
        best = 0.0
        size = np.full(len(self.task.goal), ROOT[1])
        for burst in range(bursts):
            before = self.upper
            found = self._raise(ROOT, size)
            if found == np.inf:
                return np.inf
            if self.upper < before:
                self._polish()
            if budget.spent() or (burst > 1 and found < best + ENOUGH * (min(self.upper, 1e9) - best)):
                return max(best, found)
            best = max(best, found)
        return best

    def _branch(self, bound: float, budget: Budget) -> None:
        """The open node with the lowest bound first, then down the child that holds its row."""
        tie = count()
        open_nodes: list[tuple[float, int, bytes, FloatArray, FloatArray]] = []

        def put(bound: float) -> None:
            heapq.heappush(open_nodes, (bound, next(tie), np.packbits(alive).tobytes(), rate.copy(), toll.copy()))

        alive, rate, toll = self.work.alive, self.multipliers.rate, self.multipliers.toll
        put(bound)
        while open_nodes and open_nodes[0][0] < self._ceiling():
            self.lower = max(self.lower, open_nodes[0][0])
            bound, _, bits, rate[:], toll[:] = heapq.heappop(open_nodes)
            alive[:] = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), count=len(alive))
            while True:
                if budget.spent():
                    self.lower = max(self.lower, min([bound, *(node[0] for node in open_nodes)]))
                    return
                self.nodes += 1
                found = self._raise(NODE, np.full(len(self.task.goal), NODE[1]))
                if found == np.inf:
                    break
                bound = max(bound, found)
                if self._is_thin():
                    bound = max(bound, self._zoom_in(budget))
                    if bound == np.inf:
                        break
                    continue  # the budget is spent
                feature, where = branching(self.reduced, self.work)
                if feature < 0:
                    break
                near, far = self._children(int(feature), int(where))
                alive[:] = far
                put(bound)
                alive[:] = near
        self._close()

    def _is_thin(self) -> bool:
        """Whether few of the leaves can still be reached, so that it pays to leave the others behind."""
        return len(self.work.cost) > SMALL and float(np.isfinite(self.work.cost).mean()) < THIN

    def _zoom_in(self, budget: Budget) -> float:
        """LeafSearch the node in an ensemble of its own; a bound on its rows, infinite if none is better than the best."""
        old, d = self.reduced, len(self.reduced.cell) - 1
        place = np.arange(len(self.task.price)) + np.repeat(np.arange(d), np.diff(old.cell))
        price, able = np.full(old.cell[-1] + d, np.inf), np.zeros(old.cell[-1] + d, dtype=np.bool_)
        side = np.zeros((len(self.task.limit), len(price)))
        price[place], able[place], side[:, place] = self.task.price, self.work.alive, self.task.side
        question = Instance(as_leaves(old), self.task.score, self.task.goal, price, side, self.task.limit)
        inner = LeafSearch(question, self.upper)
        if inner._reduce(able):
            inner.multipliers.message[:] = carried(self.multipliers.message, old, inner.reduced)
            inner.multipliers.rate[:], inner.multipliers.toll[:] = self.multipliers.rate, self.multipliers.toll
            try:
                inner._settle(budget, NODE_BURSTS)
            finally:
                self.nodes += inner.nodes
                if inner.best is not None:
                    self.upper = inner.upper
                    self.best = old.source[np.searchsorted(place, inner.best)]
        return inner.lower if inner.lower < inner.upper else np.inf

    def _children(self, feature: int, where: int) -> tuple[BoolArray, BoolArray]:
        """The living cells parted: those on the side of the feature's own choice, and the others."""
        r, x = self.reduced, self.work.x[feature]
        cells = np.arange(len(self.work.alive))
        mine = (cells >= r.cell[feature]) & (cells < r.cell[feature + 1])
        same = (cells >= where) == (x >= where) if r.ordered[feature] else cells == x
        return self.work.alive & (~mine | same), self.work.alive & (~mine | ~same)


def _work(r: Reduced) -> Work:
    cells, blocks, features = int(r.cell[-1]), int(r.block[-1]), len(r.cell) - 1
    levels = int(np.diff(r.cell).max()).bit_length()
    return Work(
        alive=np.ones(cells, dtype=np.bool_),
        x=np.zeros(features, dtype=np.intp),
        potential=np.zeros(cells + 1),
        vote=np.zeros(cells + 1),
        dead=np.zeros(blocks, dtype=np.bool_),
        entry_min=np.zeros(len(r.pair)),
        rest=np.zeros(len(r.pair)),
        cost=np.zeros(len(r.leaf)),
        feature_min=np.zeros(features),
        marginal=np.zeros(blocks),
        base=np.zeros(cells),
        table=np.zeros((levels, cells)),
    )


def _moves(r: Reduced, rows: int) -> MoveWork:
    cells = int(r.cell[-1])
    return MoveWork(
        total=np.zeros(rows),
        moves=np.zeros((rows, cells + 1)),
        gain=np.zeros((rows, int(r.block[-1]))),
        zero=np.zeros(cells),
        at_block=np.zeros(len(r.pair_tree), dtype=np.intp),
        hits=np.zeros((len(r.leaf) + 1, 2), dtype=np.intp),
    )
