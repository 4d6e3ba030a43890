"""Good answers: from real rows of the wanted kind towards the row, by linear steps and by changes of single columns.

Near a point the network is linear. There the cheapest change is a knapsack, which is solved at once, and its answer is
approached as far as the network agrees.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.choices import FeatureChoices, choices_of
from butfor.formulation.margins import tightened
from butfor.model.network import Network
from butfor.model.scores import ScoreSet
from butfor.problem.problem import Problem
from butfor.solvers.network.wanted import wanted_scores
from butfor.solvers.solver import Budget

DESCENT_STARTS = 12
"""From how many rows a descent starts."""

LINEAR_STEPS = 25
"""The largest number of linear steps."""

HALVED_AFTER = (3, 6, 10)
"""After so many steps, the dearer half of the points is left behind."""

ROWS_TRIED_AT_ONCE = 500
"""How many real rows are evaluated at once, nearest first."""

SHARES_TRIED = 2.0 ** -np.arange(8)
"""The shares of a linear step that are tried."""

POINTS_BETWEEN = 17
"""How many points are looked at on the way from one point to another."""

NUMBERS_ALONE = 40
"""How many numbers are tried alone. In wide tables they are the steepest ones."""

VALUES_TRIED = 20
"""How many values of a number are tried as the only change."""

STEPS_FOLLOWED = 6
"""How many linear steps are followed from points that do not meet the goal."""

FOLLOWED_BY = np.array([0.5, 1.0, 1.1, 1.5])
"""How far such a step is followed, as a share of it."""

POINTS_KEPT = 4
"""How many points are kept when single columns are changed."""

TURNS_TAKEN = 3
"""How often linear steps and changes of single columns take turns."""

GOAL_RAISED = 1e-9
"""The share of its size by which a goal is raised, so that an answer is surely inside."""

POINTS_SHOWN = 5
"""How many of the best points are shown to the problem, which may ask the estimator."""


class Descent:
    """The search for good answers to one row, in one score set."""

    def __init__(self, problem: Problem, score_set: ScoreSet, budget: Budget) -> None:
        model, x = problem.model, problem.factuals[0]
        assert isinstance(model, Network)
        domain, prices = problem.domain, problem.prices
        self.problem, self.score_set, self.budget, self.x = problem, score_set, budget, x
        self.wanted = wanted_scores(model, tightened(score_set, problem))
        levels = np.array([feature.levels is not None for feature in problem.space.features])
        low, high = np.minimum(domain.low[0], x), np.maximum(domain.high[0], x)
        self.number = ~levels & ~np.isnan(x) & (domain.low[0] < domain.high[0])
        self.up, self.down = np.where(self.number, high - x, 0.0), np.where(self.number, x - low, 0.0)
        room = np.maximum(np.maximum(self.up, self.down), 1e-300)
        self.rate = prices.l1 + np.where(self.number, prices.l0 / room, 0.0)
        self.square, self.largest = prices.l2, prices.linf
        if prices.Q is not None:
            self.square = self.square + np.diag(prices.Q)

    def best_from(self, points: FloatArray) -> tuple[FloatArray, float] | None:
        """The best answer that is found from points that meet the goal, and its cost."""
        for _ in range(TURNS_TAKEN):
            if not len(points) or self.budget.spent():
                break
            points, before = self.by_single_columns(self.by_linear_steps(points)), points
            if np.array_equal(points, before, equal_nan=True):
                break
        cost = self.cost(points)
        for at in np.argsort(cost, kind="stable")[:POINTS_SHOWN].tolist():
            if self.problem.reached(self.score_set, points[at]):
                return points[at], float(cost[at])
        return None

    def between(self, outside: FloatArray, inside: FloatArray) -> FloatArray:
        """Points that meet the goal on the way from a point that need not to one that does."""
        way = np.where(self.number, np.nan_to_num(inside - outside), 0.0)
        mixed = np.where(self.number, outside, inside) + np.linspace(0, 1, POINTS_BETWEEN)[:, None] * way
        points = self.admissible(mixed)
        return points[self.fine(points)]

    def near(self, points: FloatArray) -> FloatArray:
        """Points that meet the goal, reached by linear steps from points that need not."""
        found = []
        for _ in range(STEPS_FOLLOWED):
            aims = self._aims(points)
            ways = np.where(
                self.number, points[:, None] + FOLLOWED_BY[:, None] * (aims - points)[:, None], points[:, None]
            )
            tried = self.admissible(ways.reshape(-1, points.shape[1]))
            found.append(tried[self.fine(tried)])
            points = self.admissible(aims)
        return np.concatenate(found)

    def cost(self, points: FloatArray) -> FloatArray:
        """What each point costs."""
        return self.problem.prices.total(np.broadcast_to(self.x, points.shape), points)

    def fine(self, points: FloatArray) -> BoolArray:
        """Which admissible points meet the goal and every relation."""
        inside = self.wanted.spare(points) >= 0
        at = np.flatnonzero(inside)
        if len(at) and self.problem.relations:
            many = self.problem.take(np.zeros(len(at), dtype=np.intp))
            inside[at] = many.admits(points[at])
        return inside

    def admissible(self, points: FloatArray) -> FloatArray:
        """The points with each value moved to the nearest one that is admissible."""
        domain, x, plain = self.problem.domain, self.x, self._plain
        out = points.copy()
        moved = np.minimum(np.maximum(points[:, plain], domain.low[0, plain]), domain.high[0, plain])
        out[:, plain] = np.where((points[:, plain] == x[plain]) & domain.stay[0, plain], x[plain], moved)
        for j in self._others_of_domain:
            value, stay = points[:, j], bool(domain.stay[0, j])
            same = (value == x[j]) | (np.isnan(value) & np.isnan(x[j]))
            if same.all() and stay:
                continue
            if j in domain.levels:
                able = self._choices[j].levels.able[0]
                fits = able[np.where(np.isnan(value), len(able) - 1, value).astype(np.intp)]
                other = x[j] if stay or not able[:-1].any() else float(np.argmax(able))
                out[:, j] = np.where(fits, value, other)
                continue
            near = self._nearest(j, np.where(np.isnan(value), domain.typical[j] if np.isnan(x[j]) else x[j], value))
            lost = np.isnan(value) & domain.missing[0, j]
            out[:, j] = np.where(same & stay, x[j], np.where(lost, np.nan, near))
        return out

    @cached_property
    def _choices(self) -> list[FeatureChoices]:
        """What each column may become."""
        return [choices_of(self.problem, j) for j in range(len(self.x))]

    @cached_property
    def _plain(self) -> BoolArray:
        """The columns that may be any number between two ends."""
        domain = self.problem.domain
        return np.asarray(self.number & domain.reals() & ~domain.single & ~domain.missing[0])

    @cached_property
    def _others_of_domain(self) -> list[int]:
        """The columns that are not plain."""
        return np.flatnonzero(~self._plain).tolist()

    def starts(self) -> FloatArray:
        """Points that meet the goal: real rows made admissible, nearest first, or the far ends of linear steps."""
        known = self.problem.witnesses.examples
        here = self.admissible(self.x[None])
        found = [here[self.fine(here)]]
        if known is not None:
            rows = self.admissible(known.examples)
            rows = rows[np.argsort(self.cost(rows), kind="stable")]
            for begin in range(0, len(rows), ROWS_TRIED_AT_ONCE):
                some = rows[begin : begin + ROWS_TRIED_AT_ONCE]
                found.append(some[self.fine(some)])
                if sum(map(len, found)) >= DESCENT_STARTS or self.budget.spent():
                    break
        others = np.concatenate([self._single_moves(), self.near(np.concatenate([here, self._ends()]))])
        points = np.concatenate(
            [np.concatenate(found)[:DESCENT_STARTS], others[np.argsort(self.cost(others))[:DESCENT_STARTS]]]
        )
        return points if len(points) else self._far()

    def _ends(self) -> FloatArray:
        """The row with a single number at one of its ends."""
        numbers = self._steepest
        out = np.repeat(self.x[None], 2 * len(numbers), axis=0)
        ends = np.column_stack([self.x - self.down, self.x + self.up])[numbers]
        out[np.arange(len(out)), np.repeat(numbers, 2)] = ends.ravel()
        return self.admissible(out)

    @cached_property
    def _steepest(self) -> IntArray:
        """The numbers that may do most near the row."""
        _, slope = self.wanted.slopes(self.x[None])
        reach = np.where(self.number, np.abs(slope[0]) * np.maximum(self.up, self.down), -1.0)
        return np.sort(np.argsort(-reach, kind="stable")[: min(NUMBERS_ALONE, int(self.number.sum()))])

    def _single_moves(self) -> FloatArray:
        """Changes of single columns that meet the goal, over values that are evenly spaced."""
        domain, found = self.problem.domain, [self._singles(self.x)]
        for j in self._steepest.tolist():
            spread = np.repeat(self.x[None], VALUES_TRIED, axis=0)
            spread[:, j] = self._nearest(j, np.linspace(domain.low[0, j], domain.high[0, j], VALUES_TRIED))
            found.append(spread)
        every = self.admissible(np.concatenate(found))
        return every[self.fine(every)]

    def _far(self) -> FloatArray:
        """The far ends of where the goal rises, from the row and from its changes of single columns."""
        points = np.concatenate([self.admissible(self.x[None]), self._singles(self.x)])
        points = points[np.argsort(-self.wanted.spare(points), kind="stable")[: 2 * DESCENT_STARTS]]
        found = [points]
        for _ in range(4):
            _, slope = self.wanted.slopes(points)
            ends = np.where(slope > 0, self.x + self.up, np.where(slope < 0, self.x - self.down, points))
            points = self.admissible(np.where(self.number, ends, points))
            found.append(points)
            for _ in range(2):  # the best single change of a level, too
                points = self._better(points)
            found.append(points)
        every = np.concatenate(found)
        return every[self.fine(every)][:DESCENT_STARTS]

    def _better(self, points: FloatArray) -> FloatArray:
        """Each point with the change of a single column that brings it nearest to the goal."""
        out = points.copy()
        for at, point in enumerate(points):
            singles = self._singles(point)
            if len(singles):
                spare = self.wanted.spare(singles)
                if spare.max() > self.wanted.spare(point[None])[0]:
                    out[at] = singles[int(spare.argmax())]
        return out

    def by_linear_steps(self, points: FloatArray) -> FloatArray:
        """Move the numbers of each point to where they meet the goal for less, as long as that goes on."""
        best, cost = points, self.cost(points)
        if not self.number.any():
            return best
        for step in range(LINEAR_STEPS):
            if step in HALVED_AFTER:
                few = np.argsort(cost, kind="stable")[: max(POINTS_KEPT, (len(best) + 1) // 2)]
                best, cost = best[few], cost[few]
            aims = self._aims(best)
            way = aims[:, None] - best[:, None]
            tried = np.where(self.number, best[:, None] + SHARES_TRIED[:, None] * np.nan_to_num(way), best[:, None])
            tried[:, 0][:, self.number] = aims[:, self.number]  # no rounding in a whole step
            flat = self.admissible(tried.reshape(-1, points.shape[1]))
            price = np.where(self.fine(flat), self.cost(flat), np.inf).reshape(len(best), -1)
            at = price.argmin(axis=1)
            rows = np.arange(len(best))
            better = price[rows, at] < cost * (1 - 1e-6) - 1e-12
            if not better.any() or self.budget.spent():
                break
            chosen = flat.reshape(len(best), len(SHARES_TRIED), -1)[rows, at]
            best = np.where(better[:, None], chosen, best)
            cost = np.where(better, price[rows, at], cost)
        return best

    def _aims(self, points: FloatArray) -> FloatArray:
        """The cheapest numbers that would meet the goal if the network were linear."""
        spare, slope = self.wanted.slopes(points)
        slope = np.where(self.number, slope, 0.0)
        moved = np.where(self.number, points - self.x, 0.0)
        need = (slope * moved).sum(axis=1) - spare
        need = need + GOAL_RAISED * (np.abs(need) + np.abs(slope) @ np.maximum(self.up, self.down))
        gains, room = np.abs(slope), np.where(slope > 0, self.up, self.down)
        amount = np.where(need[:, None] > 0, self._cheapest(gains, room, np.maximum(need, 0.0)), 0.0)
        reachable = (gains * room).sum(axis=1) >= need
        aims = np.where(self.number, self.x + np.sign(slope) * self._on_grids(amount), points)
        return np.where(reachable[:, None], aims, points)

    def _on_grids(self, amounts: FloatArray) -> FloatArray:
        """The amounts, rounded up to whole steps of grids."""
        step = self.problem.domain.step
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(step > 0, np.ceil(amounts / step - 1e-9) * step, amounts)

    def _cheapest(self, gains: FloatArray, room: FloatArray, need: FloatArray) -> FloatArray:
        """The cheapest amounts that gain what is needed, by the rate at which a gain is paid."""
        if self.largest.any():
            return _level(gains, np.where(self.largest > 0, 1 / np.maximum(self.largest, 1e-300), np.inf), room, need)
        if self.square.any():
            return self._bent(gains, room, need)
        with np.errstate(divide="ignore", invalid="ignore"):
            worth = np.where(gains * room > 0, gains / self.rate, -1.0)
        order = np.argsort(-worth, axis=1, kind="stable")
        sorted_gains, sorted_room = np.take_along_axis(gains, order, 1), np.take_along_axis(room, order, 1)
        full = sorted_gains * sorted_room
        left = need[:, None] - (np.cumsum(full, axis=1) - full)
        with np.errstate(divide="ignore", invalid="ignore"):
            amount = np.where(sorted_gains > 0, np.clip(left / sorted_gains, 0.0, sorted_room), 0.0)
        out = np.empty_like(amount)
        np.put_along_axis(out, order, amount, 1)
        return out

    def _bent(self, gains: FloatArray, room: FloatArray, need: FloatArray) -> FloatArray:
        """As `_cheapest`, with squares: the amounts rise with the rate, which is found by halving."""
        square = np.maximum(self.square, 1e-9 * self.square.max())

        def amounts(rate: FloatArray) -> FloatArray:
            return np.asarray(np.clip((rate[:, None] * gains - self.rate) / (2 * square), 0.0, room))

        return _halved(amounts, gains, need)

    def by_single_columns(self, points: FloatArray) -> FloatArray:
        """Change single columns of the cheapest points as long as that is cheaper. The others are left out."""
        few = points[np.argsort(self.cost(points), kind="stable")[:POINTS_KEPT]]
        for at in range(len(few)):
            point, cost = few[at], float(self.cost(few[at : at + 1])[0])
            for _ in range(4 * len(point)):
                tried = self._singles(point)
                price = self.cost(tried)
                order = np.argsort(price, kind="stable")
                order = order[price[order] < cost * (1 - 1e-9) - 1e-12]
                good = order[self.fine(tried[order])] if len(order) else order
                if not len(good) or self.budget.spent():
                    break
                point, cost = tried[good[0]], float(price[good[0]])
            few[at] = point
        return few[np.sort(np.unique(few, axis=0, return_index=True)[1])]

    def _singles(self, point: FloatArray) -> FloatArray:
        """The point with another value in one column: the old one, another level, a missing one, the next on a grid."""
        columns, values = self._others
        for j in np.flatnonzero((self.problem.domain.step > 0) & self.number & (point != self.x)).tolist():
            step = float(self.problem.domain.step[j])
            near = self._nearest(j, point[j] + np.array([-step, step]))
            columns, values = np.append(columns, [j, j]), np.append(values, near)
        other = (point[columns] != values) & ~(np.isnan(point[columns]) & np.isnan(values))
        columns, values = columns[other], values[other]
        out = np.repeat(point[None], len(columns), axis=0)
        out[np.arange(len(columns)), columns] = values
        return out

    @cached_property
    def _others(self) -> tuple[IntArray, FloatArray]:
        """Values of single columns that are worth a try at any point, and their columns."""
        domain, columns, values = self.problem.domain, [], []
        for j in np.flatnonzero(domain.movable).tolist():
            if j in domain.levels:
                tried = self._choices[j].every().tolist()
            else:
                tried = [float(self.x[j])] if domain.stay[0, j] else []
                tried += [np.nan] if domain.missing[0, j] else []
                if not self.number[j] and domain.low[0, j] <= domain.high[0, j]:
                    ends = np.array([domain.low[0, j], domain.high[0, j], domain.typical[j]])
                    tried += self._nearest(j, ends).tolist()
            columns += [j] * len(tried)
            values += tried
        return np.array(columns, dtype=np.intp), np.array(values, dtype=np.float64)

    def _nearest(self, j: int, values: FloatArray) -> FloatArray:
        """The admissible values of a number that are nearest to some."""
        near = self._choices[j].closest(values[None])[0]
        return np.asarray(np.where(np.isnan(near), self.x[j], near))


def _level(gains: FloatArray, speed: FloatArray, room: FloatArray, need: FloatArray) -> FloatArray:
    """Amounts that all rise with one level, each to its room: what a largest change allows."""

    def amounts(level: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            risen = np.nan_to_num(level[:, None] * speed, nan=0.0, posinf=np.inf)
            return np.asarray(np.minimum(risen, room) * (gains > 0))

    return _halved(amounts, gains, need)


def _halved(amounts: Callable[[FloatArray], FloatArray], gains: FloatArray, need: FloatArray) -> FloatArray:
    """The amounts at the lowest rate that gains what is needed, up to rounding."""
    high = np.full(len(need), 1e-6)
    for _ in range(80):
        short = (gains * amounts(high)).sum(axis=1) < need
        if not short.any():
            break
        high = np.where(short, 2 * high, high)
    low = np.zeros(len(need))
    for _ in range(40):
        middle = (low + high) / 2
        short = (gains * amounts(middle)).sum(axis=1) < need
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.asarray(amounts(high))
