"""The answer whose largest move is smallest, for a sum of trees.

The rows whose largest move costs at most r make a box around the factual, and the boxes grow with r. So the cheapest answer
is where a box first holds one. The adversary of robust answers looks for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import FloatArray
from butfor.formulation.margins import tightened, widened
from butfor.model.questions import ModelKind
from butfor.model.scores import ScoreSet
from butfor.model.trees import Trees
from butfor.problem.form import CostTerm, Form, ValueKind
from butfor.problem.problem import Problem
from butfor.solvers.combine import SetAnswer, over_score_sets, row_by_row
from butfor.solvers.ensemble.admissible_box import AdmissibleBox, Climber, admissible_box, climber
from butfor.solvers.ensemble.within_reach import PARTS_LOOKED_AT
from butfor.solvers.milp.milp import Milp
from butfor.solvers.outcome import Outcome
from butfor.solvers.reduction import AbstractReduction, Handing
from butfor.solvers.solver import Budget, Support

NEAR = 1e-9
"""A box of the best cost less this share of 1 and of the cost just leaves the best row out."""

BOXES_TRIED = 200
"""After so many boxes, rounding decides about the rest."""

BOX_SLACK = 1 + 4 * float(np.finfo(np.float64).eps)
"""By how much a box is wider than its cost, so that rounding leaves no row out."""


class LargestMove(AbstractReduction):
    """Boxes around the row, each searched by branch and bound.

    Guarantee: optimal (to 1e-6), or a proven bound when the time ends.
    """

    name = "largest_move"
    does = "sums of trees, L-infinity: boxes around the row, no outside solver"
    block = 16
    row_by_row = True
    takes_per_row = True
    inner = (Milp(),)
    left = "rows that may become something else than a box"

    def takes(self, form: Form) -> Support:
        if form.model is not ModelKind.ENSEMBLE:
            return Support(False, f"it takes a sum of axis-aligned trees, and the model is a {form.model}")
        if form.cost != {CostTerm.LINF}:
            return Support(False, "the cost must be L-infinity alone")
        if form.inequalities > 1 or form.curved:
            return Support(False, f"the target needs {form.inequalities} score inequalities at once; it takes one")
        if ValueKind.MISSING in form.movable:
            return Support(False, "numbers may be missing")
        if form.forced or form.constraints:
            return Support(False, "constraints must leave a box around the row")
        return Support(True, "rows whose largest move is small make a box, and the adversary searches boxes")

    def parts(self, form: Form) -> tuple[Form, ...]:
        return (form,)

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return row_by_row(problem, budget, lambda one: _solve_row(one, Handing(self.inner), budget))


def _solve_row(problem: Problem, handing: Handing, budget: Budget) -> Outcome:
    """The cheapest point of one row. If what it may become is no box, it is left to a program."""
    box = admissible_box(problem)
    if box is None:
        return handing.solve(problem, budget)
    return over_score_sets(problem, lambda score_set, upper: _cheapest_below(problem, score_set, box, upper, budget))


def _cheapest_below(
    problem: Problem, score_set: ScoreSet, box: AdmissibleBox, upper: float, budget: Budget
) -> SetAnswer:
    """The cheapest point of one score set, if one costs less than `upper`."""
    if not len(score_set.A):
        return SetAnswer(problem.factuals[0], 0.0, 0.0)
    assert isinstance(problem.model, Trees)
    growing = _GrowingBox(problem, box, climber(box, problem.model, score_set.A[0]))
    bound, point = growing.first(_threshold(widened(score_set, problem)), upper, budget)
    if point is not None and not problem.reached(score_set, point):
        _, point = growing.first(_threshold(tightened(score_set, problem)), upper, budget)
    if point is not None:
        return SetAnswer(point, growing.cost(point), bound, budget.stopped)
    if bound < np.inf:
        return SetAnswer(None, np.inf, bound, budget.stopped)
    highest = growing.climber.highest(box.low, box.high, most=PARTS_LOOKED_AT, until=budget.until)
    return SetAnswer(None, np.inf, bound, highest=highest.score, closest=highest.row)


def _threshold(score_set: ScoreSet) -> float:
    return float(score_set.b[..., 0].flat[0])


@dataclass(frozen=True, eq=False)
class _GrowingBox:
    """The boxes around the only row of a problem, within a box of what it may become."""

    problem: Problem
    box: AdmissibleBox
    climber: Climber

    def cost(self, point: FloatArray) -> float:
        """The price of the largest move."""
        return float(self.problem.prices.total(self.problem.factuals, point[None])[0])

    def first(self, b: float, upper: float, budget: Budget) -> tuple[float, FloatArray | None]:
        """The cheapest row with a score of at least `b`, if one costs less than `upper`; before it, a bound on all costs.

        After each row that is found, a box that just leaves it out is tried. If that brings little, it is the box in the
        middle between the bound and the cost.
        """
        bound, best, cost, most, stuck = 0.0, None, upper, upper, False
        for _ in range(BOXES_TRIED):
            highest = self.climber.highest(*self._within(most), at_least=b, until=budget.until)
            if np.isnan(highest.score) or budget.spent():
                break
            before, gap = cost, cost - bound
            if highest.score == -np.inf:
                bound = most
            else:
                best, cost = highest.row, min(cost, self.cost(highest.row))
                stuck |= cost == before  # a box is a little too wide, because of rounding
            if best is None or cost - NEAR * (1 + cost) <= bound:
                break
            brought_little = highest.score > -np.inf and 2 * (cost - bound) > gap
            most = (bound + cost) / 2 if stuck or brought_little else cost - NEAR * (1 + cost)
        return bound, best

    def _within(self, most: float) -> tuple[FloatArray, FloatArray]:
        """The box of the rows whose largest move costs so much at most."""
        x, prices, box = self.problem.factuals[0], self.problem.prices, self.box
        reach = BOX_SLACK * np.divide(most, prices.linf, out=np.full(len(x), np.inf), where=prices.linf > 0)
        low, high = (
            np.maximum(box.low, np.nextafter(x - reach, -np.inf)),
            np.minimum(box.high, np.nextafter(x + reach, np.inf)),
        )
        for j, order in box.orders.items():
            move = prices.reach(j, self.problem.factuals[:, [j]], order[None])[0]
            low[j], high[j] = box.low[j], float((move <= BOX_SLACK * most).sum()) - 1
        return low, high
