"""The cheapest row whose sum of monotone functions is large enough, proven box by box.

For sums of trees, lines follow one search (`leaf_search`). For other models, a box says between which numbers each sum of
scores lies. Straight lines above the functions make a half-space of sums that holds every answer in the box, and another
exact solver finds the cheapest row of it. If this row is no answer, the lines are taken where it lies, or the box is
parted there. The cheapest box comes first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from butfor.arrays import FloatArray
from butfor.frontier import Frontier
from butfor.model.blend import Blends
from butfor.model.mixed import Mixed
from butfor.model.questions import ModelKind, evaluate
from butfor.model.rounding import rounding
from butfor.model.scores import ScoreSet
from butfor.problem.form import ConstraintKind, Form
from butfor.problem.problem import Problem
from butfor.solvers.blend.leaf_search import cheapest_below as cheapest_along_lines
from butfor.solvers.blend.mixed_search import LEAST_SHARE, BlendMixedSearch
from butfor.solvers.blend.ranges import sum_ranges
from butfor.solvers.combine import SetAnswer, over_score_sets, row_by_row
from butfor.solvers.ensemble.branch_bound import EnsembleBranchBound
from butfor.solvers.in_turns import in_turns
from butfor.solvers.milp.milp import Milp
from butfor.solvers.mixed.branch_bound import MixedBranchBound
from butfor.solvers.mixed.relaxed import relax
from butfor.solvers.outcome import Outcome, Ran, Stopped, to_beat, together
from butfor.solvers.reduction import AbstractReduction, Handing
from butfor.solvers.solver import AbstractSolver, Budget, Support

BLENDED_KINDS = (
    ModelKind.LINEAR, ModelKind.TREE, ModelKind.ENSEMBLE, ModelKind.MIXED, ModelKind.OBLIQUE, ModelKind.OBLIQUE_FOREST,
    ModelKind.OBLIQUE_MIXED, ModelKind.NETWORK,
)  # fmt: skip
"""The models whose sums of scores have known ranges."""

CLOSE = 1e-9
"""A mean this close to the wanted one is not told apart by lines. There the estimator is asked."""

MOST_BOXES = 20_000
"""How many boxes are looked at."""

MOST_FAILED = 20
"""In how many boxes the inner solver may fail before those that follow are left."""

LEAPS = (0.5, 1.0, 1.5, 2.0, 4.0, 8.0, 16.0)
"""How many times what the cheapest row of the whole box lacks is asked for, to find a first answer."""

LEAP_STEP = 0.1
"""Over which share of a box the rise of the mean is measured, to leap far."""

MOST_CUTS = 6
"""How many half-spaces hold the answers of a box before it is parted."""


@dataclass(frozen=True, eq=False)
class SumBox:
    """A box of sums. Each cut `A, b` is half-spaces `A s >= b` that hold its answers."""

    low: FloatArray
    high: FloatArray
    cuts: tuple[tuple[FloatArray, FloatArray], ...] = ()


class BlendBranching(AbstractReduction):
    """Branching on sums of scores. Guarantee: optimal (to 1e-6), or a proven bound when the time ends."""

    name = "blend_branching"
    does = "means of probabilities (calibrated ensembles, votes of unlike models): boxes of sums, each solved exactly"
    row_by_row = True
    left = "a box of sums"

    def __init__(self, inner: tuple[AbstractSolver, ...]) -> None:
        self.inner = inner

    def takes(self, form: Form) -> Support:
        if not form.blended:
            return Support(False, "the target is not on a mean of several functions")
        if form.model not in BLENDED_KINDS:
            return Support(
                False,
                f"it takes linear models, sums of trees, axis-aligned or oblique, and both, and the model is a {form.model}",
            )
        if form.model is ModelKind.LINEAR and ConstraintKind.MARGIN in form.constraints:
            return Support(False, "the border of a mean of linear models is curved, so no distance to it is known")
        if _along_lines(form):
            return Support(True, f"lines above the functions follow the search of {EnsembleBranchBound.name}")
        return Support(True, "boxes of sums are parted, and each is solved exactly")

    def parts(self, form: Form) -> tuple[Form, ...]:
        return (replace(_plain(form), inequalities=max(form.inequalities, 3)),)

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return row_by_row(problem, budget, lambda one: _solve_row(one, Handing(self.inner), budget))


def _plain(form: Form) -> Form:
    """The form of a problem whose target is a half-space of sums."""
    return replace(form, blended=False, curved=False)


def _along_lines(form: Form) -> bool:
    """Whether the search for sums of trees is followed. In its cells, sums of numbers are another question."""
    return bool(EnsembleBranchBound().accepts(_plain(form))) and ConstraintKind.LINEAR not in form.constraints


def _solve_row(problem: Problem, handing: Handing, budget: Budget) -> Outcome:
    form = problem.form()
    along_lines, mixed = _along_lines(form), bool(MixedBranchBound().accepts(_plain(form)))
    row, is_written = relax(problem) if mixed else None, bool(Milp().accepts(_plain(form)))

    def in_boxes(by: Handing, problem: Problem, score_set: ScoreSet, upper: float, budget: Budget) -> SetAnswer:
        return _SumBoxSearch(by, problem, score_set).below(upper, budget)

    def cheapest(score_set: ScoreSet, upper: float) -> SetAnswer:
        if along_lines:
            return cheapest_along_lines(problem, score_set, upper, budget)
        if row is None:
            return in_boxes(handing, problem, score_set, upper, budget)
        inside, accepts = Handing(MixedBranchBound.inner), partial(problem.reached, score_set)
        of_cells = BlendMixedSearch(problem, row, score_set, accepts, inside, partial(in_boxes, inside))
        of_sums = _SumBoxSearch(Handing((Milp(),)), problem, score_set)
        found = in_turns([of_cells.below, of_sums.below] if is_written else [of_cells.below], upper, budget)
        handing.note([Ran(MixedBranchBound.name, together((*inside.ran, *of_sums.handing.ran)))])
        return found

    return over_score_sets(problem, cheapest).handed_to(handing.ran)


class _SumBoxSearch:
    """The search for one row and one score set.

    - `upper`: the cost that must be beaten; `best`, `cost`: the best answer of its own;
    - `gave_up`, `failed`: why no more can be found, and in how many boxes the inner solver found nothing and no proof;
    - `left`: the boxes that are left; those are settled whose cheapest row is an answer, or in which no more can be found.
    """

    def __init__(self, handing: Handing, problem: Problem, score_set: ScoreSet) -> None:
        self.handing, self.problem, self.score_set, self.upper = handing, problem, score_set, np.inf
        wide = score_set.widened(problem.doubt(score_set))
        self.curve = Blends.of(wide.curve)
        self.whole = SumBox(*sum_ranges(problem.model, problem, self.curve.rows))
        self.best: FloatArray | None = None
        self.cost = np.inf
        self.gave_up, self.failed = Stopped.DONE, 0
        self.overlap = np.zeros(len(self.curve.rows))
        if isinstance(problem.model, Mixed):
            self.overlap = 4 * rounding(problem.model, self.curve.rows, problem.domain.extent, problem.witnesses.unit)
        self.left = Frontier[SumBox](self._ceiling, newest_first=True)
        self._put(0.0, self._cut(self.whole, (self.whole.low + self.whole.high) / 2))
        self.looked_at = 0

    def below(self, upper: float, budget: Budget) -> SetAnswer:
        """Look for an answer cheaper than another: at boxes, the one with the lowest bound first. Called again, it goes on."""
        self.upper = min(self.upper, upper)
        while self.left.is_open:
            if budget.spent() or self.looked_at == MOST_BOXES:
                return self._answer(budget.stopped or Stopped.EFFORT)
            bound, box = self.left.pop()
            found = self._solved(box, budget)
            self.looked_at += 1
            bound = max(bound, found.bound)
            if self.looked_at == 1 and found.point is not None:
                self._leap(found.point, box, budget)
            if found.stopped and budget.spent():  # there may be a cheaper row in it
                self._answered(found)
                self._put(bound, box)
            elif found.point is not None:
                self._take(bound, found, box)
            elif bound < self._ceiling() and self.failed < MOST_FAILED:  # its search gave up: smaller boxes are easier
                self.failed += 1
                self._part(bound, box, (box.low + box.high) / 2)
            elif bound < self._ceiling():
                self._settle(bound)
        return self._answer(self.gave_up)

    def _settle(self, bound: float) -> None:
        """Look no further into a box with this bound, although it may hold a cheaper answer."""
        self.left.settle(bound)
        self.gave_up = Stopped.EFFORT

    def _answer(self, stopped: Stopped) -> SetAnswer:
        return SetAnswer(self.best, self.cost, min(self.left.lowest, self._ceiling()), stopped)

    def _ceiling(self) -> float:
        """What a row must cost less than to be better than the best."""
        return to_beat(self.upper, 1 / 4)

    def _put(self, bound: float, box: SumBox | None) -> None:
        if box is not None:
            self.left.put(bound, box)

    def _solved(self, box: SumBox, budget: Budget) -> SetAnswer:
        """The cheapest row whose sums lie in the box, and in all of its half-spaces, if it is cheaper than the best."""
        rows = self.curve.rows
        limits = [(row, b, CLOSE) for cut in box.cuts for row, b in zip(*cut, strict=True)]
        limits += [(rows[m], box.low[m] - self.overlap[m], 0.0) for m in np.flatnonzero(box.low > self.whole.low)]
        limits += [(-rows[m], -box.high[m] - self.overlap[m], 0.0) for m in np.flatnonzero(box.high < self.whole.high)]
        part = ScoreSet(
            np.array([row for row, _, _ in limits]).reshape(-1, rows.shape[1]),
            np.array([b for _, b, _ in limits]),
            np.zeros(len(limits), dtype=np.bool_),
            offset=self.score_set.offset,
            above=np.array([above for _, _, above in limits]),
        )
        # what the estimator says of a row on a side of the box is not about that side
        problem = replace(self.problem, score_sets=(part,)).with_witnesses(confirmation=None)
        return self.handing.cheapest(problem, part, np.inf, budget)

    def _leap(self, point: FloatArray, box: SumBox, budget: Budget) -> None:
        """Look for an answer that need not be the cheapest: ask for ever more than what the first row lacks."""
        scores = evaluate(self.problem.model, point[None])[0]
        lacks, rows = self._lacks(scores), self._rises(scores, box, LEAP_STEP)
        for factor in LEAPS if (lacks > 0).any() else ():
            wanted = SumBox(box.low, box.high, ((rows, rows @ scores + np.where(lacks > 0, factor, 1.0) * lacks),))
            found = self._solved(wanted, budget)
            if found.point is None:
                return
            if self._answered(found):
                return

    def _lacks(self, scores: FloatArray) -> FloatArray:
        """How far the scores are outside each set."""
        return self.curve.excesses_of(self.curve.sums(scores))

    def _rises(self, scores: FloatArray, box: SumBox, share: float) -> FloatArray:
        """How much each mean rises with each score, measured over a share of the box."""
        sums = np.clip(self.curve.sums(scores), box.low, box.high)
        return np.asarray(self.curve.rises(sums, share * (box.high - box.low)) @ self.curve.rows)

    def _answered(self, found: SetAnswer) -> bool:
        """Whether the row of a box is an answer, which is kept if it is the best one."""
        if found.point is None or not self.problem.reached(self.score_set, found.point):
            return False
        if found.cost < self.upper:
            self.upper, self.best, self.cost = found.cost, found.point, found.cost
        return True

    def _take(self, bound: float, found: SetAnswer, box: SumBox) -> None:
        """What follows from the cheapest row of a box: it is an answer, or the box gets tighter or is parted."""
        assert found.point is not None
        point = found.point
        if self._answered(found):
            self.left.settle(bound)  # a row of the box that costs between the two may be left
            return
        scores = evaluate(self.problem.model, point[None])[0]
        sums = np.clip(self.curve.sums(scores), box.low, box.high)
        beyond = self._beyond(box, point, self.curve.sums(scores))
        if beyond is not None:
            for part in beyond:
                self._put(bound, self._cut(part, np.clip(sums, part.low, part.high)))
            return
        tighter = self._cut(box, sums)
        if tighter is not None and len(tighter.cuts) <= MOST_CUTS:
            rows, b = tighter.cuts[-1]
            if (rows @ scores < b).any():
                self._put(bound, tighter)
                return
        self._part(bound, box, sums)

    def _beyond(self, box: SumBox, point: FloatArray, sums: FloatArray) -> list[SumBox] | None:
        """The parts of a box in which some member gives more than for a row in doubt that the estimator refuses.

        Where terms of a mean do not rise, it does not rise either, however it is rounded. So no other rows are answers.
        None if the row is not in doubt, or if some member gives more next to it.
        """
        if len(self.curve.each) > 1 or self.problem.judged_together or self.curve.excesses_of(sums)[0] > 0:
            return None
        if self.problem.meets(self.score_set, point):
            return None
        mean = self.curve.each[0]
        level = mean.level(sums, np.minimum(box.low, sums), np.maximum(box.high, sums))
        if level is None or (mean.ways * level < mean.ways * np.where(mean.ways > 0, box.low, box.high)).any():
            return None
        found = []
        for m, way in enumerate(mean.ways.tolist()):
            near, far = ("low", "high") if way > 0 else ("high", "low")
            if way * level[m] < way * getattr(box, far)[m]:
                found.append(_moved(box, near, m, float(np.nextafter(level[m], way * np.inf))))
                box = _moved(box, far, m, float(level[m]))
        return found

    def _cut(self, box: SumBox, sums: FloatArray) -> SumBox | None:
        """The box with one more half-space, as tight as possible at these sums."""
        slopes, least = self.curve.half_spaces(box.low, box.high, sums)
        return replace(box, cuts=(*box.cuts, (slopes @ self.curve.rows, least)))

    def _part(self, bound: float, box: SumBox, sums: FloatArray) -> None:
        """Part the box where the lines are furthest above the functions.

        If they are close, or rows of one part may be taken for rows of the other, no part is easier.
        """
        gap = np.where(box.high - box.low > self.overlap, self.curve.gaps(box.low, box.high, sums), 0.0)
        m = int(np.argmax(gap))
        if gap[m] <= CLOSE / len(gap):
            self._settle(bound)
            return
        margin = LEAST_SHARE * (box.high[m] - box.low[m])
        at = float(np.clip(sums[m], box.low[m] + margin, box.high[m] - margin))
        for name in ("low", "high"):
            half = replace(_moved(box, name, m, at), cuts=box.cuts[-2:])
            self._put(bound, self._cut(half, np.clip(sums, half.low, half.high)))


def _moved(box: SumBox, name: str, m: int, at: float) -> SumBox:
    """A box one of whose ends, low or high, is elsewhere for one sum."""
    ends = getattr(box, name).copy()
    ends[m] = at
    return replace(box, **{name: ends})
