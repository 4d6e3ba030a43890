"""The cutting loop of a sum of trees and a box of shifts: replies are collected that must be met all at once.

The robust counterpart gives a first answer, and the loop proves it, or finds a cheaper one. Where the textbook collects
shifts, we collect replies, which shift each row by its own shift. A row beside one that failed then fails in the same way, so
few rounds suffice.
"""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray
from butfor.neighbours.trees.negative_box import NegativeBox
from butfor.solvers.combine import SetAnswer
from butfor.solvers.robust.bring_back import among_rows, brought_back
from butfor.solvers.robust.cutting import AbstractCutting
from butfor.solvers.robust.trees_in_ball import TreesInBall
from butfor.solvers.solver import Budget

MOST_ROUNDS = 1_000
"""The largest number of rounds."""

HALVINGS_OF_TREES = 14
"""How often the way back is halved, to bring one feature of an answer back. Judges of boxes take little time."""


class TreeReplies(AbstractCutting):
    """Answers and bounds for a sum of trees, one set of scores and one box of shifts.

    - `copies`: the trees themselves, and replies;
    - `boxes`: rows that fail because of rounding, in which no neighbour may be.
    """

    def __init__(self, trees: TreesInBall) -> None:
        super().__init__(trees.problem)
        self.trees, self.copies, self.boxes = trees, [trees.model], list[NegativeBox]()

    def begin(self, upper: float, budget: Budget) -> None:
        """A first answer, and the replies to it."""
        if self.best.point is not None:
            return
        self.best = self.trees.counterpart(upper, budget)
        if self.best.point is None:  # deep trees have none that is small enough
            self.best = self.among_rows(budget)
        if self.best.point is not None:
            least = np.full(len(self.trees.score_set.b), np.inf)
            self.copies += self.trees.failing(self.best.point, least, self.until)[0]

    def is_full(self) -> bool:
        return self.rounds >= MOST_ROUNDS

    def cheapest_left(self, ceiling: float, budget: Budget) -> SetAnswer:
        """The cheapest row that may meet the target under all replies, and of which no neighbour is in the boxes."""
        return self.trees.under(self.copies, self.boxes, ceiling, budget)

    def learn(self, found: SetAnswer, upper: float, budget: Budget) -> bool:
        """Replies to a row that fails. If it does not, it is the answer."""
        assert found.point is not None
        replies, failing = self.trees.failing(found.point, self.trees.wide.b, self.until)
        self.copies, self.boxes = self.copies + replies, self.boxes + failing
        if replies or failing:
            return True
        self.best = found
        return False

    def is_robust(self, point: FloatArray) -> bool:
        return self.trees.is_robust(point, self.until)

    def among_rows(self, budget: Budget) -> SetAnswer:
        """A training row that is robust, brought back as far as its ball allows."""
        known = among_rows(self.problem, self.trees.sure, self.best, self.better, budget)
        return brought_back(self.problem, known, self.better, HALVINGS_OF_TREES, budget)
