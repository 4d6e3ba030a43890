"""Best rows of one ensemble, for one row's prices and one goal.

Local search finds rows. Two searches close the gap to the bound: branching on messages, and boxes of cells. Messages are
strong where many features may change a little, boxes where few may change, or where there is no answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import combinations, islice, pairwise

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.frontier import Frontier
from butfor.solvers.ensemble import effort
from butfor.solvers.ensemble.bound_kernels import ascend
from butfor.solvers.ensemble.boxes import BoxSearch
from butfor.solvers.ensemble.branching_kernels import branching
from butfor.solvers.ensemble.instance import Instance
from butfor.solvers.ensemble.move_kernels import improve
from butfor.solvers.ensemble.reduce import carried, of_node, reduce
from butfor.solvers.ensemble.reduced_ensemble import parted
from butfor.solvers.ensemble.work_arrays import Task, most_changes, move_work_for, no_multipliers, work_for
from butfor.solvers.solver import Budget


class LeafSearch:
    """A search that can be stopped at any time.

    `best`, a cell for each feature, costs `upper`, and no row costs less than `lower`.
    `upper` may be known from elsewhere before `best` is found.
    If there is no row, every one is `short` of the goal by as much as that, and `closest` by little more.
    `looks` counts the leaves that bounds looked at, and `root_alive` are the cells that a better row may have.
    `confirmed` says of a row between the goal and the firm goal whether it is an answer.
    """

    def __init__(
        self, question: Instance, upper: float = np.inf, confirmed: Callable[[IntArray], bool] = lambda cells: True
    ) -> None:
        self.question, self.confirmed = question, confirmed
        self.upper, self.lower = upper, 0.0
        self.best: IntArray | None = None
        self.short: FloatArray | None = None
        self.closest: IntArray | None = None
        self.looks = 0

    def run(self, budget: Budget) -> None:
        """Search until the best row is proven or the budget is spent, as it is by Ctrl-C."""
        steps = self._steps(budget)
        try:
            for _ in steps:
                if budget.spent():
                    break
        except KeyboardInterrupt:
            budget.interrupt()
        finally:
            steps.close()

    def _steps(self, budget: Budget) -> Generator[None]:
        """The whole search, in steps of about the same size."""
        able = np.isfinite(self.question.price)
        if self._start(able):
            most = self._most()
            if (most < self.task.goal).any():
                self._fell_short(most, self._cheapest())
                return
            if self._narrow(able, budget):
                self.multipliers.rate[:] = self._first_rate()
                yield from self._in_turns()
                return
        self._close()

    def _in_turns(self) -> Generator[None]:
        """Boxes first, and then messages. Where boxes are strong, both take turns."""
        boxes = self._boxes()
        box_steps, message_steps = self._box_steps(boxes), self._settle(effort.ROOT_BURSTS)
        most = most_changes(self.reduced, self.task)
        few, start = most <= effort.FEW_CHANGES, effort.head_start(most, self.best is not None)
        try:
            yield from islice(box_steps, 1 + start // (effort.BOXES_PER_STEP * (1 + len(self.work.cost))))
            while not boxes.done:
                if next(message_steps, True):
                    return
                yield
                if few or self.best is None:
                    next(box_steps, None)
                    yield
        finally:
            message_steps.close()
        self._fell_short(boxes.highest, self._cheapest(), *boxes.closest[-1:])

    def _boxes(self) -> BoxSearch:
        return BoxSearch(self.reduced, self.task, self._ceiling, self._accept)

    def _box_steps(self, boxes: BoxSearch) -> Iterator[None]:
        for _ in boxes.steps(effort.BOXES_PER_STEP):
            self.lower = max(self.lower, min(boxes.lower, self._ceiling()))
            yield

    def _settle(self, bursts: int) -> Generator[None]:
        """Bounds first, then branching."""
        bound = yield from self._root(bursts)
        if bound == np.inf:
            self._close()
            return
        self.lower, self.root_alive = max(self.lower, bound), self.work.alive.copy()
        if bursts == effort.ROOT_BURSTS:
            yield from self._polish(together=2)
            yield from self._branch_beside(bound)
        else:
            yield from self._branch(bound)

    def _branch_beside(self, bound: float) -> Generator[None]:
        """Branch, and raise the bound of all rows beside it: from a weak one, branching takes for ever.

        Each time it is raised for as long as in all before, until that closes hardly more of what is missing.
        """
        root: list[FloatArray | BoolArray] = [self.root_alive, *(part.copy() for part in self.multipliers)]
        looks, most, more = self.looks, (1 + effort.BRANCH_SHARE) * self.looks, True
        for _ in (steps := self._branch(bound)):
            yield
            if more and self.looks > most and math.isfinite(self.upper):
                before, bound = bound, (yield from self._raised(root, bound, looks))
                if bound == np.inf:
                    steps.close()
                    self._close()
                    return
                more = bound - before > effort.AGAIN_GAIN * (self._ceiling() - before)
                looks, most = 2 * looks, self.looks + 2 * effort.BRANCH_SHARE * looks

    def _close(self) -> None:
        """No row costs less than the ceiling."""
        self.lower = max(self.lower, self._ceiling())

    def _fell_short(self, highest: FloatArray, *starts: IntArray) -> None:
        """No row is better than the best. If there is none, the scores of a row sum to `highest` at most.

        The closest row is then looked for from some rows on.
        """
        if self.upper == np.inf:
            self.short = self.task.goal - highest
            self._approach(starts)
        self._close()

    def _most(self) -> FloatArray:
        """What the scores of a row can sum to at most: each tree gives its largest leaf to each."""
        best = np.maximum.reduceat(self.task.score, self.reduced.trees.start[:-1], axis=0)
        return np.asarray(best.sum(axis=0) if len(best) else np.zeros(len(self.task.goal)))

    @property
    def closed(self) -> bool:
        """Whether it is proven that no row is better than the best."""
        return self.lower >= self._ceiling()

    def _ceiling(self) -> float:
        """What a row must cost less than to be better than the best."""
        return self.upper - effort.NODE_GAP * (1.0 + abs(self.upper)) if math.isfinite(self.upper) else np.inf

    def _reduce(self, able: BoolArray) -> bool:
        """Set up the ensemble over the cells that are `able`.

        Returns False if there is no row, because a feature has no cell left or a tree has no leaf.
        """
        ask = self.question
        reduced = reduce(ask.leaves, able, ask.price, ask.limits.kind)
        cells, trees = reduced.cells, reduced.trees
        if (np.diff(cells.start) == 0).any() or (trees.constant_leaves < 0).any():
            return False
        self.reduced = reduced
        self.task = Task(
            score=np.ascontiguousarray(ask.score[trees.original_leaf]),
            goal=ask.goal - ask.score[trees.constant_leaves].sum(axis=0),
            price=ask.price[cells.original],
            side=np.ascontiguousarray(ask.limits.side[:, cells.original]),
            limit=ask.limits.limit,
            counting=ask.limits.counting,
        )
        self.firm_task = self.task._replace(goal=ask.firm - ask.score[trees.constant_leaves].sum(axis=0))
        self.multipliers = no_multipliers(reduced, len(ask.goal), len(ask.limits.limit))
        self.work = work_for(reduced)
        self.moves = move_work_for(reduced, self.work.uses, len(ask.goal))
        return True

    def _start(self, able: BoolArray) -> bool:
        """From the cheapest cells into the goal, in a large ensemble first within reach of a part of the cells.

        Returns False if there is no row at all.
        """
        for some in (*self.question.nearby(able), able):
            there = self._reduce(some)
            if there and (self._most() >= self.task.goal).all() and self._try(self._cheapest()):
                return True
        return there

    def _narrow(self, able: BoolArray, budget: Budget) -> bool:
        """Go on among the cells that a row better than the best may have. Returns False if there is none.

        A share of the time is left to bounds.
        """
        before, early = np.inf, budget.at_most(effort.POLISH_SHARE * budget.left())
        while self.upper < before:
            before = self.upper
            if not self._reduce(self.question.affordable(able, self._ceiling())):
                return False
            for _ in self._polish():
                if early.spent():
                    return True
        return True

    def _polish(self, together: int = 1) -> Generator[None]:
        """Take changes of the best row back, so many `together`, and look for another way, as long as that helps."""
        better = True
        while better and self.best is not None:
            better = False
            home = self._cheapest()
            now = self.reduced.cells.merged_into[self.best]
            changed = np.flatnonzero((now < 0) | (self.task.price[now] > self.task.price[home]))
            for back in combinations(changed.tolist(), together):
                x = now.copy()
                x[list(back)] = home[list(back)]
                better = self._try(x, back[0]) or better
                yield

    def _cheapest(self) -> IntArray:
        """The cheapest cell of each feature."""
        start, price = self.reduced.cells.start, self.task.price
        return np.array([a + np.argmin(price[a:b]) for a, b in pairwise(start)], dtype=np.intp)

    def _try(self, x: IntArray, held: int = -1) -> bool:
        """Improve a row by moves, and keep it if it is the best.

        Feature `held` stays as it is. A row that is not confirmed is moved on to the firm goal.
        """
        ceiling = self._ceiling()
        for task in (self.task, self.firm_task):
            row = x.copy()
            if improve(self.reduced, task, self.work.alive, self.moves, row, held, ceiling) == np.inf:
                return False
            cost, cells = float(task.price[row].sum()), self.reduced.cells.original[row]
            if cost >= ceiling:
                return False
            if (self.moves.total >= self.firm_task.goal).all() or self.confirmed(cells):
                self.upper, self.best = cost, cells
                return True
        return False

    def _approach(self, starts: Sequence[IntArray]) -> None:
        """Move rows towards the goal, as long as single moves help, and keep the one that comes closest."""
        least, alive = np.inf, np.ones(len(self.task.price), dtype=np.bool_)
        for start in starts:
            row = start.copy()
            if (self.task.side[:, row].sum(axis=1) > self.task.limit).any():
                continue
            improve(self.reduced, self.task, alive, self.moves, row, -1, np.inf)
            lack = float(np.maximum(self.task.goal - self.moves.total, 0.0).sum())
            if lack < least:
                least, self.closest = lack, self.reduced.cells.original[row]

    def _accept(self, x: IntArray) -> bool:
        """Take a row that reaches the goal as the best, if it is an answer."""
        cells = self.reduced.cells.original[x]
        if not self.confirmed(cells):
            return False
        self.upper, self.best = float(self.task.price[x].sum()), cells
        return True

    def _first_rate(self) -> FloatArray:
        """What a unit of each score should cost, roughly: what the best row paid for what the cheapest one lacked."""
        x = self._cheapest()
        improve(self.reduced, self.task, self.work.alive, self.moves, x.copy(), -1, -np.inf)  # only counts the scores
        lack = np.maximum(self.task.goal - self.moves.total, 0.0)
        price = self.task.price[np.isfinite(self.task.price)]
        spent = self.upper if np.isfinite(self.upper) else float(price.mean()) * len(x)
        total = lack.sum()
        return np.where(lack > 0, 0.7 * spent / total, 0.0) if total > 0 else np.full(len(lack), spent)

    def _raise(self, how: effort.Effort, size: FloatArray) -> float:
        """A bound on the rows of the living cells.

        It is infinite if none is better than the best. A row is tried on the way.
        """
        self.looks += how.sweeps * len(self.work.cost)
        found = float(ascend(self.reduced, self.task, self.multipliers, self.work, self._ceiling(), size, *how))
        if found < np.inf:
            self._try(self.work.x)
            if found >= self._ceiling():
                return np.inf
        return found

    def _root(self, bursts: int) -> Generator[None, None, float]:
        """Raise the bound of all rows, as long as that closes enough of what is missing."""
        self.pace = np.full(len(self.task.goal), effort.ROOT_EFFORT.step)
        best = 0.0
        for burst in range(bursts):
            found = yield from self._burst(best)
            gain, wanted = found - best, effort.ROOT_GAIN * (min(self.upper, 1e9) - best)
            best = max(best, found)
            if best == np.inf or (burst > 1 and gain < wanted):
                break
        return best

    def _raised(self, root: Sequence[FloatArray | BoolArray], bound: float, looks: int) -> Generator[None, None, float]:
        """Raise the bound of all rows further, for about so many looks at leaves. `root` are their cells and multipliers."""
        until = self.looks + looks
        self._swap(root)
        while bound < np.inf and self.looks < until:
            bound = max(bound, (yield from self._burst(bound)))
        self._swap(root)
        return bound

    def _swap(self, root: Sequence[FloatArray | BoolArray]) -> None:
        for part, kept in zip((self.work.alive, *self.multipliers), root, strict=True):
            part[:], kept[:] = kept.copy(), part.copy()

    def _burst(self, best: float) -> Generator[None, None, float]:
        """One bound on all rows, of which `best` is known."""
        before = self.upper
        found = self._raise(effort.ROOT_EFFORT, self.pace)
        if found < np.inf:
            self.lower = max(self.lower, min(max(best, found), self._ceiling()))
            yield
            if self.upper < before:
                yield from self._polish()
        return found

    def _branch(self, bound: float) -> Generator[None]:
        """Branch until no open node can hold a better row.

        The open node with the lowest bound comes first, and then the child that holds its row, and so on down.
        """
        left = Frontier[tuple[bytes, FloatArray, FloatArray]](self._ceiling)

        def put(bound: float) -> None:
            left.put(bound, (np.packbits(alive).tobytes(), rate.copy(), toll.copy()))

        def know(bound: float) -> None:
            self.lower = max(self.lower, min(bound, left.lowest, self._ceiling()))

        alive, rate, toll = self.work.alive, self.multipliers.rate, self.multipliers.toll
        put(bound)
        while left.is_open:
            bound, (bits, rate[:], toll[:]) = left.pop()
            alive[:] = np.unpackbits(np.frombuffer(bits, dtype=np.uint8), count=len(alive)) & self.root_alive
            while True:
                know(bound)
                yield
                found = self._raise(effort.NODE_EFFORT, np.full(len(self.task.goal), effort.NODE_EFFORT.step))
                if found == np.inf:
                    break
                bound = max(bound, found)
                if self._is_thin():
                    yield from self._zoom_in(bound, know)
                    break
                cells, work = self.reduced.cells, self.work
                feature, where = branching(cells.start, cells.ordered, alive, work.x, work.potential, work.vote)
                if feature < 0:  # a single row is left, and `_raise` has tried it
                    break
                near, far = parted(cells, alive, int(feature), int(work.x[feature]), int(where))
                alive[:] = far
                put(bound)
                alive[:] = near
        self._close()

    def _is_thin(self) -> bool:
        """Whether so few leaves can be reached that the others should be left behind."""
        cost = self.work.cost
        return len(cost) > effort.ZOOM_LEAVES and float(np.isfinite(cost).mean()) < effort.ZOOM_SHARE

    def _zoom_in(self, bound: float, know: Callable[[float], None]) -> Generator[None]:
        """Search the node in an ensemble of its own. `know` is told of bounds on its rows."""
        old = self.reduced
        question, able, place = of_node(
            old, self.task, self.question.limits.kind[old.cells.original], self.firm_task.goal, self.work.alive
        )

        def original(cells: IntArray) -> IntArray:
            return np.asarray(old.cells.original[np.searchsorted(place, cells)])

        inner = self._inside(question, original)
        if inner._reduce(able):
            inner.multipliers.message[:] = carried(self.multipliers.message, old, inner.reduced)
            inner.multipliers.rate[:], inner.multipliers.toll[:] = self.multipliers.rate, self.multipliers.toll
            outside = self.looks
            try:
                for _ in inner._settle(effort.ZOOM_BURSTS):
                    know(max(bound, inner.lower))
                    self.looks = outside + inner.looks
                    yield
            finally:
                if inner.best is not None and inner.upper < self.upper:
                    self.upper = inner.upper
                    self.best = original(inner.best)

    def _inside(self, question: Instance, original: Callable[[IntArray], IntArray]) -> LeafSearch:
        """A search of a node. `original` turns its cells into ours."""
        return LeafSearch(question, self.upper, lambda cells: self.confirmed(original(cells)))
