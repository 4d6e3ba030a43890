"""What a program with whole numbers costs at least, by branching of our own.

HiGHS branches, too, but what it says of its search is in floating point, and it has been wrong. Here it only solves linear
programs. Whatever multipliers it names for one, the bound that they prove holds (`inequalities`). A box of whole numbers is
left once its bound reaches the goal, or once multipliers prove that it holds no point; otherwise it is parted in two.
"""

from __future__ import annotations

from threading import Event
from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.compiled.clock import now
from butfor.frontier import Frontier
from butfor.programs.highs import inequalities, with_model
from butfor.programs.inequalities import Inequalities
from butfor.programs.quiet import aside

FEW_ENTRIES = 1_000_000
"""A matrix of at most so many entries is written out: a product with a sparse one takes longer to begin than to do."""

LEAST_GAIN = 1e-6
"""The rise of a bound that counts at least when two are multiplied, so that one of 0 does not hide the other."""


class _Box(NamedTuple):
    """A box of whole numbers: the ends of all variables, and how it was cut from a larger one.

    - `basis`: that of the larger box, from which HiGHS starts;
    - `side`, `moved`: the variable and the side at which it was cut, and how far from the optimum there.
    """

    low: FloatArray
    high: FloatArray
    basis: Any = None
    side: tuple[int, int] = (0, 0)
    moved: float = 0.0


def lowest_cost(
    highspy: Any, model: Any, whole: IntArray, goal: float, until: float = np.inf, steps: float = np.inf
) -> float:
    """A bound on the linear part of the cost of all points of a model whose `whole` variables are whole, up to `goal`.

    `goal` is infinite to prove that there is no such point. The proof ends early at a time or after so many steps of the
    simplex method.
    """
    boxes, enough = _Boxes(highspy, model, whole), Event()
    left = Frontier[_Box](ceiling=lambda: min(goal, left.settled), newest_first=True)
    left.put(-np.inf, _Box(boxes.all.low, boxes.all.high))

    def search() -> None:
        while left.is_open and now() <= until and boxes.steps <= steps and not enough.is_set():
            above, box = left.pop()
            bound, x = boxes.bound(box)
            boxes.learn(box, min(bound, goal) - above)
            bound = max(bound, above)
            parts = boxes.parted(box, x) if bound < goal else []
            for part in parts:
                left.put(bound, part)
            if not parts and bound < goal:
                left.settle(bound)

    aside(search, enough)
    return min(left.lowest, goal)


class _Boxes:
    """The linear programs of boxes of whole numbers.

    A box is parted where the bound is likely to rise most on both sides, by what it rose before for each unit that the same
    variable had to move (Benichou and others, "Experiments in mixed-integer linear programming", 1971).
    """

    def __init__(self, highspy: Any, model: Any, whole: IntArray) -> None:
        self.kinds, self.whole = highspy.HighsModelStatus, whole
        known, self.cost = inequalities(model), np.array(model.lp_.col_cost_)
        small = np.prod(known.rows.shape) <= FEW_ENTRIES
        self.all = Inequalities[Any](known.rows.toarray() if small else known.rows, *known[1:])
        relaxed = highspy.HighsModel()
        relaxed.lp_ = model.lp_
        relaxed.lp_.integrality_ = []
        self.solver, self.steps = with_model(highspy, relaxed, np.inf, {}), 0
        self.low, self.high, self.near = self.all.low, self.all.high, None
        self.risen, self.often = np.zeros((2, len(whole))), np.zeros((2, len(whole)))

    def bound(self, box: _Box) -> tuple[float, FloatArray | None]:
        """What multipliers prove of a box, and where its linear program has its optimum."""
        within = self.all._replace(low=box.low, high=box.high)
        self._look_at(box)
        self.solver.run()
        self.steps += max(1, self.solver.getInfo().simplex_iteration_count)
        status = self.solver.getModelStatus()
        if status == self.kinds.kOptimal:
            solution = self.solver.getSolution()
            return within.lowest(self.cost, np.array(solution.row_dual)), np.array(solution.col_value)
        if status == self.kinds.kInfeasible:
            _, there, ray = self.solver.getDualRay()
            if (there and within.refuted(np.array(ray))) or within.refuted_by_a_row():
                return np.inf, None
        return -np.inf, None

    def _look_at(self, box: _Box) -> None:
        """Give HiGHS a box, and where to start."""
        other = np.flatnonzero((box.low != self.low) | (box.high != self.high)).astype(np.int32)
        self.solver.changeColsBounds(len(other), other, box.low[other], box.high[other])
        if box.basis is not self.near:  # a half after the other one starts from there
            self.solver.setBasis(box.basis)
            self.near = box.basis
        self.low, self.high = box.low, box.high

    def learn(self, box: _Box, rise: float) -> None:
        """Remember by how much a bound rose where a variable was cut."""
        if box.moved > 0 and np.isfinite(rise):
            self.risen[box.side] += max(0.0, rise) / box.moved
            self.often[box.side] += 1

    def parted(self, box: _Box, x: FloatArray | None) -> list[_Box]:
        """Two halves of a box; none if all whole variables are held."""
        low, high = box.low[self.whole], box.high[self.whole]
        if (low == high).all():
            return []
        at = (low + high) / 2 if x is None else np.clip(x[self.whole], low, high)
        chosen = self._chosen(at, low < high)
        j, below = self.whole[chosen], min(np.floor(at[chosen]), high[chosen] - 1)
        left, right = box.high.copy(), box.low.copy()
        left[j], right[j] = below, below + 1
        self.near = self.near if x is None else self.solver.getBasis()
        moved = float(at[chosen] - below)
        return [
            _Box(box.low, left, self.near, (0, chosen), moved),
            _Box(right, box.high, self.near, (1, chosen), 1 - moved),
        ]

    def _chosen(self, at: FloatArray, free: Any) -> int:
        """The variable at which a box is parted."""
        away = np.abs(at - np.round(at))
        if not (away[free] > 0).any():
            return int(np.flatnonzero(free)[0])
        known = self.often > 0
        usual = (self.risen.sum(axis=1) / np.maximum(self.often.sum(axis=1), 1))[:, None]
        usual = np.where(usual > 0, usual, 1.0)
        rate = np.where(known, self.risen / np.maximum(self.often, 1), usual)
        down, up = rate * np.stack([at - np.floor(at), np.floor(at) + 1 - at])
        gain = np.maximum(down, LEAST_GAIN) * np.maximum(up, LEAST_GAIN)
        return int(np.where(free & (away > 0), gain, -1.0).argmax())
