"""The cheapest row of a sum of trees whose round ball meets the target.

No box of shifts is a whole round ball. So what is collected are the widest boxes of rows that miss the target: no row may
come so close to one of them that its ball meets it. Each box is a small tree, where a reply is a copy of all trees.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.adversary.search import worst_row
from butfor.model.negative_box import between, own_cells
from butfor.model.regions import Regions, regions
from butfor.model.reply import reply
from butfor.model.trees import Trees
from butfor.model.widest_box import missed_in, widest_box
from butfor.model.worst import worst_neighbours
from butfor.solvers.combine import SetAnswer
from butfor.solvers.outcome import Stopped
from butfor.solvers.robust.cutting_set import CuttingSet, FailingBox, Missed
from butfor.solvers.robust.rounds import is_closed, tell_round
from butfor.solvers.solver import Budget

ROUNDS_OF_BOXES = 400
"""The largest number of rounds. Boxes within a round ball never cut off all of its edge."""

TARGET_SHARE, SMALL_GAP = 0.25, 1e-4
"""The share of a gap that a round tries to close. Smaller gaps, relative to 1 + cost, are closed at once."""

NEAR_HALVINGS = 10
"""How often a round ball is halved to find a failing neighbour that is near."""

MOST_PUSHES, PUSH = 30, 1e-9
"""How often a point is pushed away from a failing neighbour, and how much further than needed."""

TAKEN_BACK, BACK_HALVINGS, BACK_GAIN = 3, 14, 1e-4
"""How often all changes of an answer are taken back in turn, how often each way is halved, and what must be gained."""


@dataclass(eq=False)
class RoundCuts(CuttingSet):
    """Answers and bounds for a sum of trees, one set of scores and one round ball."""

    def solve(self, upper: float, budget: Budget) -> SetAnswer:
        """First an answer, and then boxes until no cheaper row can stay away from all of them.

        A round asks for any row that costs less than a target between the bound and the answer.
        """
        self._begin(upper, budget)
        stopped = Stopped.EFFORT
        for number in range(ROUNDS_OF_BOXES):
            ceiling = min(upper, self.best.cost)
            if is_closed(self.bound, ceiling):
                stopped = Stopped.DONE
                break
            if budget.spent():
                break
            target = _target(self.bound, ceiling)
            found = self._under(target, budget)
            self.bound = max(self.bound, min(found.bound, target))
            tell_round(number + 1, self.bound, self.best.cost)
            if found.stopped:
                stopped = found.stopped
                break
            if found.point is None:
                self.bound = max(self.bound, target)
                continue
            failing = self._failing_boxes(found.point)
            if not failing:
                self.best, stopped = found, Stopped.DONE
                break
            self.boxes += failing
            self.best = self._pushed_out(found.point, self.best, budget)
        return self._known(budget.stopped or stopped)

    def _begin(self, upper: float, budget: Budget) -> None:
        """A first answer, and the replies to it."""
        if self.best.point is None:
            self.best = self._taken_back(self._counterpart(upper, budget), budget)
            if self.best.point is not None:
                self.copies += self._replies(self.best.point)

    # ------------------------------------------------------------------------------------------------------ answers

    def _pushed_out(self, point: FloatArray, best: SetAnswer, budget: Budget) -> SetAnswer:
        """The better of an answer and a point that is pushed away from its failing neighbours, one after the other."""
        for _ in range(MOST_PUSHES):
            missed = self._any_missed(point) if self._is_better(point, best) else None
            pushed = None if missed is None else self._away_from(missed, point)
            if pushed is None:
                break
            point = pushed
        better = self._if_robust(point, best)
        return best if better is None else self._taken_back(better, budget)

    def _away_from(self, missed: FloatArray, point: FloatArray) -> FloatArray | None:
        """A point that is pushed away from a failing neighbour, out of its ball; None if they are next to each other.

        Where that is enough, only features that have changed are pushed.
        """
        away = np.where(self.ball.radius > 0, np.nan_to_num(point - missed), 0.0)
        moved = np.where(point != self.problem.factuals[0], away, 0.0)
        pushed = moved if moved.any() else away
        factor = self.ball.factor(pushed, away - pushed)
        return None if factor is None else np.where(pushed == 0, point, missed + (1 + PUSH) * factor * pushed)

    def _taken_back(self, best: SetAnswer, budget: Budget) -> SetAnswer:
        """The answer, with one change after the other taken back as far as its ball allows."""
        for _ in range(TAKEN_BACK if best.point is not None else 0):
            assert best.point is not None
            before = best.cost
            for j in np.flatnonzero(best.point != self.problem.factuals[0]).tolist():
                best = self._back(best, j, budget)
            if best.cost > (1 - BACK_GAIN) * before:
                break
        return best

    def _back(self, best: SetAnswer, j: int, budget: Budget) -> SetAnswer:
        """The answer with one feature as it was or, if that is a real number, as near to that as the ball allows."""
        assert best.point is not None
        start, end = best.point, self.problem.factuals[0, j]
        real = j not in self.problem.domain.levels and self.problem.domain.step[j] == 0 and np.isfinite(end - start[j])
        near, far, share = 0.0, 1.0, 1.0
        for _ in range(1 + (BACK_HALVINGS if real else 0)):
            if near == far or budget.spent():
                break
            point = start.copy()
            point[j] = end if share == 1 else start[j] + share * (end - start[j])
            better = self._if_robust(point, best)
            if better is None:
                far = share
            else:
                best, near = better, share
            share = (near + far) / 2
        return best

    def _is_better(self, point: FloatArray, best: SetAnswer) -> bool:
        return self._cost(point) < best.cost and bool(self.problem.admits(point[None])[0])

    def _cost(self, point: FloatArray) -> float:
        return float(self.problem.prices.total(self.problem.factuals, point[None])[0])

    def _if_robust(self, point: FloatArray, best: SetAnswer) -> SetAnswer | None:
        """A point as the better answer, if it is one. Columns of float32 hold it as it is rounded."""
        point = np.where(self.problem.domain.single, point.astype(np.float32), point)
        if not self._is_better(point, best) or self._any_missed(point) is not None or self._missed(point, self._wide.b):
            return None
        return replace(best, point=point, cost=self._cost(point))

    def _any_missed(self, point: FloatArray) -> FloatArray | None:
        """A neighbour of a point that surely misses an inequality, if there is one."""
        least = self._wide.b.tolist()
        worst = worst_neighbours(self.model, self.score_set.A, point, self.ball, least)
        return next((found.point for found, b in zip(worst, least, strict=True) if found.score < b), None)

    # -------------------------------------------------------------------------------------------------------- boxes

    def _replies(self, point: FloatArray) -> list[Trees]:
        """A reply to an answer for each inequality. It bounds rows that are far from it, too."""
        replies = list[Trees]()
        worst = worst_neighbours(self.model, self.score_set.A, point, self.ball)
        for row, neighbour in zip(self.score_set.A, (found.point for found in worst), strict=True):
            low, high = regions(self.model, row, point).around(neighbour)
            low, high = (np.where(neighbour == point, end, neighbour) for end in (low, high))
            replies.append(reply(self.model, row, self._reach(point, low, high), point, neighbour))
        return replies

    def _failing_boxes(self, point: FloatArray) -> list[FailingBox]:
        """For each inequality that a neighbour of a point misses, a widest box of rows that miss it."""
        boxes = list[FailingBox]()
        for missed in self._missed(point, self._wide.b):
            leaves = regions(self.model, missed.row, point)
            if missed.below:
                neighbour = self._nearest(leaves, point, missed)
                low, high = self._widest(missed, neighbour)
                box = between(self.model, low, high, neighbour)
            else:
                neighbour = missed.neighbour
                low, high = leaves.around(neighbour)
                box = own_cells(self.model, leaves, neighbour)
            boxes.append((box, self._reach(point, low, high)))
        return boxes

    def _nearest(self, leaves: Regions, point: FloatArray, missed: Missed) -> FloatArray:
        """A failing neighbour that is hardly further away than any. Much of the ball is left around it."""
        near, far, found = 0.0, 1.0, missed.neighbour
        for _ in range(NEAR_HALVINGS):
            share = (near + far) / 2
            ball = replace(self.ball, radius=share * self.ball.radius)
            closer = worst_row(leaves, point, ball.low(point), ball.high(point), ball.step, ball, missed.least)
            if closer.score < missed.least:
                far, found = share, closer.point
            else:
                near = share
        return found

    def _widest(self, missed: Missed, neighbour: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The widest box around a failing neighbour in which all rows fail, as far as balls of admissible rows reach."""
        domain, ends = self.problem.domain, [cells.edges for cells in self.model.cells]
        able = domain.movable()
        able[list(domain.levels)] = False
        low, high = np.where(able, domain.low[0], neighbour), np.where(able, domain.high[0], neighbour)
        least = np.array([np.nextafter(-missed.least, np.inf)])  # of the negative sum
        fails_in = missed_in(self.model, -missed.row[None], least, neighbour, np.zeros(len(able)))
        return widest_box(fails_in, neighbour, low - self.ball.radius, high + self.ball.radius, ends)

    def _reach(self, point: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
        """A box of shifts in the ball by which a point is brought into a box of failing rows, and others nearby."""
        return self.ball.reach(np.fmax(low - point, point - high), self._rate)

    @cached_property
    def _rate(self) -> FloatArray:
        """What it costs to change each feature by a little. If that is nothing for some, a radius costs 1 for all."""
        radius = np.where(self.ball.radius > 0, self.ball.radius, 1.0)
        rate = np.where(self.ball.radius > 0, self.problem.prices.l1, 1.0)
        return rate if (rate > 0).all() else 1 / radius


def _target(bound: float, ceiling: float) -> float:
    """What a row must cost less than in the next round."""
    gap = ceiling - bound
    return bound + TARGET_SHARE * gap if SMALL_GAP * (1 + ceiling) < gap < np.inf else ceiling
