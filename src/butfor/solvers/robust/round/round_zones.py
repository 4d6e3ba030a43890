"""The cheapest row of a sum of trees whose round ball meets the target.

What is collected are the widest boxes of rows that miss the target. No row may come so close to one of them that its ball
meets it: it lies outside of all their zones. The cheapest such row is judged. It is the answer, or it tells a new box.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.compiled.clock import now
from butfor.experimental import experimental
from butfor.model.trees import Interval
from butfor.neighbours.ball import BallNorm
from butfor.neighbours.trees.negative_box import between, own_cells
from butfor.neighbours.trees.regions import Regions, regions
from butfor.neighbours.trees.search import worst_row
from butfor.neighbours.widest_box import missed_in, widest_box
from butfor.problem.constraints.implications import Implication
from butfor.problem.constraints.relations import LinearRelation
from butfor.problem.form import ConstraintKind, CostTerm, Form, listed
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer
from butfor.solvers.robust.bring_back import among_rows, brought_back, cost_of, is_cheaper
from butfor.solvers.robust.cutting import AbstractCutting, OutOfTimeError
from butfor.solvers.robust.round.outside import Outside
from butfor.solvers.robust.round.parcels import A_NUMBER, Choices
from butfor.solvers.robust.round.shared_replies import bound_by_shares
from butfor.solvers.robust.round.zones import SURELY, Zones
from butfor.solvers.robust.tree_replies import HALVINGS_OF_TREES, TreeReplies
from butfor.solvers.robust.trees_in_ball import Missed, TreesInBall
from butfor.solvers.solver import Budget, Support

KNOWN_CONSTRAINTS = frozenset(
    {
        ConstraintKind.ROBUST,
        ConstraintKind.AT_MOST,
        ConstraintKind.FRESH,
        ConstraintKind.LINEAR,
        ConstraintKind.IMPLIES,
    }
)
"""The constraints that parcels know. A new one is refused until `Choices`, `ParcelRows` or `Implied` keep it."""

KNOWN_TERMS = frozenset(
    {
        CostTerm.L0,
        CostTerm.L1,
        CostTerm.L2,
        CostTerm.LINF,
        CostTerm.CALLABLE,
        CostTerm.QUADRATIC,
        CostTerm.FORBIDDEN,
        CostTerm.TRADEOFF,
    }
)
"""The terms of a cost that parcels know. A new one is refused until `Choices` and `ParcelRows` count it."""

PUSHED_EVERY = 5
"""Of so many rows that fail, one is pushed out of its zone to find a better answer."""

VALID_ROWS, VALID_SHARE = 10, 0.2
"""How many valid rows are pushed out where no answer is known, and in which share of the time."""

LOOSE_SHARE, LOOSE_SECONDS = 0.1, 10.0
"""The share of the time for a counterpart whose features are coupled, and for a search in which they are not; at most so long."""

BOXES_AFTER, BOXES_SHARE, BOXES_SECONDS = 2.0, 0.15, 10.0
"""After how many seconds boxes are asked for a bound and for an answer, and in which share of the time each, at most so long."""

PATIENT_ROUNDS = 5
"""After how many rounds without an answer, or after half of the time, it is looked for one elsewhere."""

NEAR_HALVINGS = 10
"""How often a round ball is halved to find a failing neighbour that is near."""

MOST_PUSHES, PUSH = 30, 1e-9
"""How often a point is pushed away from a failing neighbour, and how much further than needed."""


def honours(form: Form) -> Support:
    """Whether parcels know all prices and relations of a problem, and the reason."""
    if unknown := (form.constraints - KNOWN_CONSTRAINTS) | (form.cost - KNOWN_TERMS):
        return Support(False, f"round balls of sums of trees do not know {listed(unknown)}")
    return Support(True, "rows stay out of the zones of failing boxes")


@experimental
class RoundZones(AbstractCutting):
    """Answers and bounds for a sum of trees, one set of scores and one round ball.

    - `outside`: what is left of the search outside of all zones;
    - `patient`: whether no answer was looked for among replies yet;
    - `boxed`: whether boxes within the ball and around it were asked for a bound and an answer.
    """

    def __init__(self, trees: TreesInBall) -> None:
        super().__init__(trees.problem)
        self.trees, self.patient, self.boxed, self.started = trees, True, False, now()
        none = np.empty((0, len(self.problem.space)))
        choices = Choices(self.problem)
        everything = choices.all()
        modes = {} if everything is None else everything.modes
        takes = {j: np.empty((0, len(possible)), dtype=np.bool_) for j, possible in modes.items()}
        self.outside = Outside(choices, Zones(trees.ball, none, none, takes))

    def begin(self, upper: float, budget: Budget) -> None:
        """The answer of the counterpart. If prices or relations couple features, much is learned without that first."""
        self.started = now()
        if self.rounds or self.best.point is not None:
            return
        loose = _uncoupled(self.problem)
        if loose is self.problem:
            found = self.trees.counterpart(upper, budget)
            self.best = self._back(found if found.point is not None else self._in_a_box(budget), budget)
            return
        seconds = min(LOOSE_SECONDS, LOOSE_SHARE * budget.left())
        search = RoundZones(replace(self.trees, problem=loose))
        point = search.solve(np.inf, budget.at_most(seconds)).point
        self._adopt(search.outside.zones)
        known = None if point is None else self.better(point, self.best)
        first = self.best if known is None else self._back(known, budget)
        self.best = min(first, self._among_rows(budget), key=lambda one: one.cost)
        found = self.trees.counterpart(min(upper, self.best.cost), budget.at_most(seconds))
        self.best = self._back(found, budget) if found.cost < self.best.cost else self.best

    def cheapest_left(self, ceiling: float, budget: Budget) -> SetAnswer:
        """The cheapest row outside of all zones. If that takes long, boxes say what it costs at least and at most."""
        if not self.boxed and now() - self.started > BOXES_AFTER:
            self.boxed, seconds = True, min(BOXES_SECONDS, BOXES_SHARE * budget.left())
            self.bound = max(self.bound, bound_by_shares(self.trees, ceiling, budget.at_most(seconds)))
            found = self._of_boxes().solve(ceiling, budget.at_most(seconds))
            self.best = self._back(found, budget) if found.cost < self.best.cost else self.best
            ceiling = min(ceiling, self.best.cost)
        point = self.outside.propose(ceiling, budget)
        cost = np.inf if point is None else cost_of(self.problem, point)
        return SetAnswer(point, cost, self.outside.bound)

    def learn(self, found: SetAnswer, upper: float, budget: Budget) -> bool:
        """Zones that the row lies in. If its ball meets no failing row, it is the answer."""
        assert found.point is not None
        try:
            failing = self.trees.missed(found.point, self.trees.wide.b, self.until)
        except OutOfTimeError:
            self.outside.proposed.discard(found.point.tobytes())  # it was not judged
            raise
        if failing:
            self._keep_out(found.point, failing, budget)
        else:
            self.best = found
        late = self.rounds >= PATIENT_ROUNDS or now() - self.started > budget.left()
        if late and self.best.point is None and self.patient:
            self.patient = False
            self.best = self._pushed_valid(self._among_rows(budget), upper, budget)
        return True

    def is_robust(self, point: FloatArray) -> bool:
        return self.trees.is_robust(point, self.until)

    def _keep_out(self, point: FloatArray, failing: list[Missed], budget: Budget) -> None:
        """Add the zones that a point lies in. Now and then, it is pushed out of them to find a better answer."""
        zones, choices = self.outside.zones, self.outside.choices
        own = {j: choices.mode(j, float(point[j])) for j in zones.takes}
        for missed in failing:
            low, high = self._failing_box(point, missed)
            there = {j: choices.mode(j, float(missed.neighbour[j])) for j in zones.takes}
            modes = {j: np.arange(known.shape[1]) == there[j] for j, known in zones.takes.items()}
            zones.add(low, high, {j: self.trees.ball.slips.into(j, takes) for j, takes in modes.items()})
        if self.rounds % PUSHED_EVERY == 1 or zones.depths(point, own).min() >= SURELY:
            self.best = self._pushed_out(point, self.best, budget)

    def _adopt(self, known: Zones) -> None:
        """Take over the zones of a search among more rows. What may be missing there need not be here."""
        zones = self.outside.zones
        numbers = [takes[:, A_NUMBER] for j, takes in known.takes.items() if j not in zones.takes]
        for box in np.flatnonzero(np.all([np.ones(len(known), dtype=np.bool_), *numbers], axis=0)).tolist():
            zones.add(known.low[box], known.high[box], {j: known.takes[j][box] for j in zones.takes})

    # ------------------------------------------------------------------------------------------------------ answers

    def _back(self, best: SetAnswer, budget: Budget) -> SetAnswer:
        """An answer, brought back as far as its ball allows."""
        return brought_back(self.problem, best, self.better, HALVINGS_OF_TREES, budget)

    def _among_rows(self, budget: Budget) -> SetAnswer:
        """A training row that is robust, brought back."""
        return self._back(among_rows(self.problem, self.trees.sure, self.best, self.better, budget), budget)

    def _in_a_box(self, budget: Budget) -> SetAnswer:
        """A training row that is robust in the whole box around its ball. Boxes are judged in far less time."""
        box = self._of_boxes()
        box.until = self.until
        return box.among_rows(budget)

    def _of_boxes(self) -> TreeReplies:
        """The search for a row that is robust in the whole box around its ball."""
        return TreeReplies(replace(self.trees, ball=replace(self.trees.ball, norm=BallNorm.LINF)))

    def _pushed_valid(self, best: SetAnswer, upper: float, budget: Budget) -> SetAnswer:
        """The better of an answer and valid rows that are pushed out, each of them valid under replies to those before."""
        budget, copies = budget.at_most(VALID_SHARE * budget.left()), [self.trees.model]
        for _ in range(VALID_ROWS):
            found = self.trees.under(copies, [], min(upper, best.cost), budget)
            if found.point is None or budget.spent():
                break
            best = self._pushed_out(found.point, best, budget)
            copies += self.trees.failing(found.point, self.trees.wide.b, self.until)[0]
        return best

    def _pushed_out(self, point: FloatArray, best: SetAnswer, budget: Budget) -> SetAnswer:
        """The better of an answer and a point that is pushed away from its failing neighbours, one after the other."""
        for _ in range(MOST_PUSHES):
            missed = self.trees.any_missed(point, self.until) if is_cheaper(self.problem, point, best) else None
            pushed = None if missed is None else self._away_from(missed, point)
            if pushed is None:
                break
            point = pushed
        found = self.better(point, best)
        return best if found is None else self._back(found, budget)

    def _away_from(self, missed: FloatArray, point: FloatArray) -> FloatArray | None:
        """A point that is pushed away from a failing neighbour, out of its ball; None if they are next to each other.

        Where that is enough, only features that have changed are pushed.
        """
        away = np.where(self.trees.ball.radius > 0, np.nan_to_num(point - missed), 0.0)
        moved = np.where(point != self.problem.factuals[0], away, 0.0)
        pushed = moved if moved.any() else away
        factor = self.trees.ball.factor(pushed, away - pushed)
        return None if factor is None else np.where(pushed == 0, point, missed + (1 + PUSH) * factor * pushed)

    # -------------------------------------------------------------------------------------------------------- boxes

    def _failing_box(self, point: FloatArray, missed: Missed) -> tuple[FloatArray, FloatArray]:
        """The sides of a widest box of rows that miss the target, around a failing neighbour of a point."""
        leaves = regions(self.trees.model, missed.row, missed.neighbour)
        if missed.below:
            neighbour = self._nearest(leaves, point, missed)
            low, high = self._widest(missed, neighbour)
            box = between(self.trees.model, low, high, neighbour)
        else:
            neighbour = missed.neighbour
            box = own_cells(self.trees.model, leaves, neighbour)
        low, high = np.full(len(point), -np.inf), np.full(len(point), np.inf)
        for j, region in box.items():
            if isinstance(region, Interval) and region.first <= region.last:
                cells = self.trees.model.cells[j]
                low[j] = np.nextafter(cells.lower()[region.first], np.inf) if region.first else -np.inf
                high[j] = cells.upper()[region.last]
        return low, high

    def _nearest(self, leaves: Regions, point: FloatArray, missed: Missed) -> FloatArray:
        """A failing neighbour that is hardly further away than any. Much of the ball is left around it.

        It is one of those with the levels of the neighbour that is known.
        """
        levels = [*self.problem.domain.levels]
        near, far, found, point = 0.0, 1.0, missed.neighbour, point.copy()
        point[levels] = missed.neighbour[levels]
        for _ in range(NEAR_HALVINGS):
            share = (near + far) / 2
            ball = replace(self.trees.ball, radius=share * self.trees.ball.radius)
            low, high = ball.low(point), ball.high(point)
            closer = worst_row(leaves, point, low, high, ball.grids, ball, missed.least, self.until)
            if closer.score < missed.least:
                far, found = share, closer.point
            else:
                near = share
        return found

    def _widest(self, missed: Missed, neighbour: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The widest box around a failing neighbour in which all rows fail, as far as rows go that cost less than the best."""
        domain, ends = self.problem.domain, [cells.edges for cells in self.trees.model.cells]
        able = domain.movable & ~np.isin(np.arange(len(domain.step)), [*domain.levels])
        low, high = (np.where(able, end, neighbour) for end in self.outside.reach(self.best.cost))
        least = np.array([np.nextafter(-missed.least, np.inf)])  # of the negative sum
        fails_in = missed_in(self.trees.model, -missed.row[None], least, neighbour, self.trees.ball.grids, self.until)
        return widest_box(fails_in, neighbour, low, high, ends)


def _uncoupled(problem: Problem) -> Problem:
    """A problem that finds the same boxes: without relations of numbers, and all prices are added up. None is lower."""
    free = problem.without_relations_of(LinearRelation, Implication)
    if len(free.relations) == len(problem.relations) and problem.prices.is_added:
        return problem
    return replace(free, prices=problem.prices.added_above)
