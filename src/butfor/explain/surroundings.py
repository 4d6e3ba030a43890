"""What is around a row that meets a target: the widest box, and the largest ball."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.compiled.clock import now
from butfor.errors import InputError, UnsupportedProblemError
from butfor.estimator.prediction import Prediction
from butfor.explain.nearest_miss import nearest_miss
from butfor.explain.plan import plan
from butfor.explanation.region import Region
from butfor.formulation.margins import never_fall, tightened, widened
from butfor.importers.read import Reading
from butfor.model.grid_points import grid_down, grid_up
from butfor.model.linear import Linear
from butfor.model.network import Network
from butfor.model.questions import cuts, evaluate
from butfor.model.scores import ScoreSet
from butfor.model.single import outwards_in_single
from butfor.model.trees import Trees
from butfor.neighbours.ball import Ball, BallNorm
from butfor.neighbours.widest_box import BOX_HALVINGS, NETWORK_HALVINGS, missed_in, widest_box
from butfor.neighbours.worst import worst_neighbours
from butfor.problem.constraints.robust import CURVED, UNCURVED, Robust, read_in_bins, unjudged
from butfor.problem.costs import L1
from butfor.problem.problem import Problem
from butfor.problem.question import Question, ask, held_to_rules
from butfor.problem.referee import Referee
from butfor.solvers.solver import Budget
from butfor.space import frames

FURTHER = (1.0, 1 + 1e-12, 1 + 1e-9, 1 + 1e-6, 1 + 1e-3)
"""How much further than the first row about which rounding decides one is looked for that surely misses the target."""


@dataclass(frozen=True)
class Robustness:
    """How far a row can move in any direction and still meet the target.

    - `radius`: all shifts of at most this length keep the target, in ranges of the columns;
    - `worst`: a row outside that does not, as a table of one row: just outside, unless the time ended. The estimator was
      asked about this very table. None if none was met up to a whole range, or if its columns cannot hold the numbers
      of such a row.
    """

    radius: float
    worst: Any


@dataclass(frozen=True, eq=False)
class Surroundings:
    """A row that meets a target, with the sets of scores in which it lies."""

    problem: Problem
    score_set: ScoreSet
    ball: Ball
    table: Any
    target: str

    def region(self, until: float = np.inf, promised: Region | None = None) -> Region:
        """The widest box around the row, within the ranges of the columns. Sides stay where they are when time ends.

        It contains a box that was `promised` around the row, as far as columns may move.
        """
        problem, point = self.problem, self.problem.factuals[0]
        model, space, grids = problem.model, problem.space, self.ball.grids
        beside = grids.first(point) != grids.last(point)  # what is no point of its grid counts as any number
        grids = replace(grids, step=np.where(beside, 0.0, grids.step))
        moved = self.ball.radius > 0
        lowest = np.where(moved, [feature.low for feature in space], np.nan_to_num(point))
        highest = np.where(moved, [feature.high for feature in space], np.nan_to_num(point))
        sure = tightened(self.score_set, problem)
        least = sure.least
        if isinstance(model, Linear):  # the row itself meets the target, and a sum that falls nowhere meets it, too
            own = (evaluate(model, point[None]) @ sure.A.T)[0]
            least = np.where(never_fall(problem, self.score_set), np.minimum(least, own), least)
        missed = missed_in(model, sure.A, least, point, grids, until)
        ends = [cuts(model, j) for j in range(len(space))] if isinstance(model, Trees) else None
        halvings = NETWORK_HALVINGS if isinstance(model, Network) else BOX_HALVINGS
        start = None
        if promised is not None:
            # a row may lie outside of the range of the data
            lowest, highest = np.fmin(lowest, point), np.fmax(highest, point)
            low, high = (np.nan_to_num(np.clip(side, lowest, highest)) for side in (promised.low, promised.high))
            start = low, high
        low, high = widest_box(missed, point, lowest, highest, ends, halvings, start)
        for j in np.flatnonzero(grids.whole).tolist():
            grid = float(grids.step[j]), float(grids.anchor[j])
            low[j], high[j] = grid_up(low[j], *grid), grid_down(high[j], *grid)
        return Region(space, point, low, high, self.target, self.table, widest=now() <= until)

    def robustness(self, budget: Budget) -> Robustness:
        """The largest ball around the row: that to the nearest row that misses the target.

        Among trees and in a round norm, it is the cheapest change that leads there. Otherwise the radius is halved,
        and the exact adversary is asked.
        """
        if isinstance(self.problem.model, Trees) and self.ball.norm is not BallNorm.LINF:
            radius, worst = nearest_miss(self.problem, self.score_set, self.ball, budget)
        else:
            radius, worst = self._halved(budget)
        return Robustness(radius, None if worst is None else self._missing_as_written(worst))

    def _missing_as_written(self, worst: FloatArray) -> Any:
        """The row as a table, or one a little further out: the first that misses the target as it is written."""
        asks, start = self.problem.witnesses.confirmation, self.problem.factuals[0]
        assert asks is not None
        levels = np.array([feature.levels is not None for feature in self.problem.space])
        single = np.array([feature.single for feature in self.problem.space]) & ~levels
        for more in FURTHER:
            further = start + more * (worst - start)
            further = np.where(single, outwards_in_single(further, start), further)
            point = np.where((worst == start) | levels, worst, further)
            if not asks.confirms(point, np.inf):
                return self.problem.space.decode(point[None], self.table)
        return None

    def _halved(self, budget: Budget) -> tuple[float, FloatArray | None]:
        """The share of the ball in which surely no row misses the target, and one just outside that does, by bisection."""
        first, last = 0.0, 1.0
        sure, wide = (moved(self.score_set, self.problem) for moved in (tightened, widened))
        worst = self._violation(1.0, wide, budget.until)
        if worst is None or budget.spent():
            sound = worst is None and not budget.spent() and self._violation(1.0, sure, budget.until) is None
            return float(sound and not budget.spent()), None
        for _ in range(BOX_HALVINGS):
            middle = (first + last) / 2
            found = self._violation(middle, sure, budget.until)
            if budget.spent():
                return first, worst
            if found is None:
                first = middle
            else:
                last = middle
        for more in FURTHER:
            found = self._violation(min(1.0, more * last), wide, budget.until)
            if budget.spent():
                break
            if found is not None and not self.problem.meets(self.score_set, found):
                return first, found
        return first, worst

    def _violation(self, share: float, score_set: ScoreSet, until: float) -> FloatArray | None:
        """A row within a share of the ball whose scores are not in a set."""
        ball, least = replace(self.ball, radius=share * self.ball.radius), score_set.least
        worst = worst_neighbours(self.problem.model, score_set.A, self.problem.factuals[0], ball, least.tolist(), until)
        return next((found.point for found, b in zip(worst, least, strict=True) if found.score < b), None)


def surroundings(table: Any, target: Any, referee: Referee, robust: Robust) -> Surroundings:
    """The surroundings of the only row of a table, in a ball as large as shifts may be."""
    if frames.height(table) != 1:
        raise InputError(f"{frames.height(table)} rows were given.", "One is needed.", "Give one row, or an answer.")
    reading, _ = held_to_rules(referee.reading, robust.validate)
    before = Prediction(reading.source, table)
    question: Question = ask(reading, target, L1(), ())[1].settled(reading.readout, before)
    if not question.target.met(before, before)[0]:
        raise InputError(
            f"the row does not meet the target ({question.target!r}): the model predicts "
            f"{question.target.outputs(before)[0]!r}.",
            "What is around it can only be told for a row that does.",
            "Give the point of an answer, or another target.",
        )
    question = replace(question, target=question.target.part_of(before))
    judge = Referee(reading, question.target, referee.read if reading is referee.reading else {})
    (part,) = plan(question, judge, reading.space.encode(table), before)
    problem = part.problem
    ball = robust.ball(problem.space)
    refused = unjudged(problem.model, reading.readout, ball)
    if refused:
        raise UnsupportedProblemError(f"what is around a row was asked of {refused.there}.", refused.needed)
    for score_set in problem.score_sets:
        if score_set.curve is None and problem.meets(score_set, problem.factuals[0]):
            return Surroundings(problem, score_set, ball, table, repr(question.target))
    raise InputError(
        f"the target {question.target!r} has no linear boundary that the row is inside of.",
        CURVED,
        UNCURVED,
    )


def radii(reading: Reading, whole_numbers: bool) -> dict[str, float]:
    """The whole range of each column that may move: numbers, and not those that are read in bins."""
    binned = read_in_bins(reading.model)
    return {
        feature.name: feature.range
        for j, feature in enumerate(reading.space)
        if feature.levels is None and not feature.unread and (whole_numbers or not feature.step) and j not in binned
    }
