"""The search over trees and a linear model, for a mean of functions of several sums: straight lines that follow the search.

Where no tree has a choice left, most functions are constants. If only one sum is left, the mean asks for a threshold of it.
Else the linear model is asked about the mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.blend import Blend, Blends
from butfor.model.questions import evaluate
from butfor.model.scores import ScoreSet
from butfor.problem.problem import Problem
from butfor.solvers.blend.leaf_search import MOST_STRIDES, SumGoals
from butfor.solvers.combine import SetAnswer
from butfor.solvers.ensemble.cell_search import NOTHING, Inside
from butfor.solvers.mixed.inside import Accepts, InsideBox
from butfor.solvers.mixed.relaxed import RelaxedRow
from butfor.solvers.mixed.search import OVERLAP, MixedBox, MixedNode, MixedSearch, SumEnd, spread
from butfor.solvers.reduction import Handing
from butfor.solvers.solver import Budget

SUM_ROUNDS, SUMS_TRIED = 9, 65
"""So often so many sums are tried to find the least one at which a mean is large enough."""

WORTH_A_PART = 0.003
"""Lines that err by less are good enough to part cells."""

FEW_SETS = 1000
"""Among so few sets of cells, one in each column, cells are parted."""

LEAST_SHARE = 0.02
"""A sum is not parted nearer to one of its ends than this share of what lies between them."""

A_STRIDE = 1.1
"""A row is moved on by so many times what it lacks."""

TOO_NARROW = 100
"""So many overlaps are too narrow to be parted."""

OfLinear = Callable[[Problem, ScoreSet, float, Budget], SetAnswer]
"""The cheapest row of a linear model whose scores are in a set, if one costs less than so much."""


class BlendMixedSearch(MixedSearch):
    """The search for a score set whose curve is a mean of functions. `linear` is asked where only numbers are left."""

    def __init__(
        self,
        problem: Problem,
        row: RelaxedRow,
        score_set: ScoreSet,
        accepts: Accepts,
        handing: Handing,
        linear: OfLinear,
    ) -> None:
        super().__init__(problem, row, score_set, accepts, handing)
        self.linear = linear
        self.gains = self.points.gains(row, self.goals.rows)

    def wanted(self) -> SumGoals:
        doubt = self.problem.doubt(self.score_set)
        self.wide, self.firm = self.score_set.widened(doubt), self.score_set.tightened(doubt)
        self.sums = SumGoals.of(self.wide)
        return self.sums

    def move(self, node: MixedNode) -> None:
        """Lines are above their functions, so the row is moved on by what it still lacks."""
        more = 0.0
        for _ in range(MOST_STRIDES):
            x = node.improved(self._ceiling(), more)
            if x is None:
                return
            lack = self.sums.excess(self.goals.rows @ evaluate(self.row.model, self.points.value[x][None])[0])
            if lack <= 0:
                self._try(x)
                return
            more += A_STRIDE * lack

    def parts(self, box: MixedBox, node: MixedNode) -> list[MixedBox]:
        """Where lines err about the mean, the sum about whose function a line errs most is parted; else cells are."""
        low, high, sums = node.low[: self.sums.curved], node.high[: self.sums.curved], node.sums
        size = 1 + np.maximum(np.abs(low), np.abs(high))
        wide = high - low > TOO_NARROW * OVERLAP * size  # else the parts are no smaller
        gap = np.where(wide, self.sums.curve.gaps(low, high, sums[: self.sums.curved]), 0.0)
        m = int(np.argmax(gap))
        sets = np.prod(np.add.reduceat(box.alive, self.row.tables.start[:-1], dtype=np.float64))
        if gap.sum() <= WORTH_A_PART or sets <= FEW_SETS:
            return super().parts(box, node)
        margin = LEAST_SHARE * (high[m] - low[m])
        at = float(np.clip(sums[m], low[m] + margin, high[m] - margin))
        return [_with_end(box, SumEnd(m, sign, sign * at - OVERLAP * (1 + abs(at)))) for sign in (1, -1)]

    def settled(self, alive: BoolArray) -> Inside | None:
        box = self._box(self.score_set, alive)
        if not box.known:
            return None
        low, high = self._ends(box, alive)
        curved = slice(self.sums.curved)
        varying = np.flatnonzero((high > low)[curved])
        wider = spread(low, high)
        if self.sums.curve.is_missed(*(end[curved] for end in wider)):
            return NOTHING
        if len(varying) > 1:
            return self._of_linear(box)
        wide = self._thresholds(self.wide, varying, *wider, surely=False)
        firm = self._thresholds(self.firm, varying, low, high, surely=True)
        if wide is None:
            return NOTHING
        return self._box(firm or wide, alive, wide).cheapest()

    def _box(self, part: ScoreSet, alive: BoolArray, wide: ScoreSet | None = None) -> InsideBox:
        own = self.problem, part, wide or self.wide, self.accepts, self.row
        return InsideBox(*own, alive, self.handing, self.budget)

    def _ends(self, box: InsideBox, alive: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Between which numbers the sums of the rows of a box lie."""
        trees, feature = self.row.model.trees, self.row.tables.start[:-1]
        added = self.base + self.goals.rows @ (evaluate(trees, box.start[None])[0] - trees.base)
        living, first = np.repeat(alive, np.diff(self.points.start))[:, None], self.points.start[feature]
        low = np.minimum.reduceat(np.where(living, self.gains, np.inf), first, axis=0).sum(axis=0)
        high = np.maximum.reduceat(np.where(living, self.gains, -np.inf), first, axis=0).sum(axis=0)
        return added + low, added + high

    def _thresholds(
        self, part: ScoreSet, varying: IntArray, low: FloatArray, high: FloatArray, *, surely: bool
    ) -> ScoreSet | None:
        """The set, if at most one sum of its curve varies: a threshold of that sum for each mean. None if no row is in it.

        `surely`: at the threshold the mean is reached; else it is missed there, with room for rounding.
        """
        rows, b = [part.A], [part.b]
        for blend in Blends.of(part.curve).each:
            ends = np.where(blend.ways > 0, high[: self.sums.curved], low[: self.sums.curved])
            if blend.excess_of(ends) > 0:
                return None
            for m in varying.tolist():
                worst = float(low[m] if blend.ways[m] > 0 else high[m])
                missed, met = _least(blend, ends, m, worst)
                if met != worst:  # else it reaches the mean wherever it is
                    rows.append(blend.ways[m] * blend.rows[[m]])
                    least = blend.ways[m] * (met if surely else missed)
                    b.append(np.array([least if surely else least - OVERLAP * (1 + abs(least))]))
        all_least = np.concatenate(b)
        return ScoreSet(np.vstack(rows), all_least, np.zeros(len(all_least), dtype=np.bool_))

    def _of_linear(self, box: InsideBox) -> Inside:
        """The cheapest row of a box in which the linear model alone is left."""
        linear, trees = self.row.model.linear, evaluate(self.row.model.trees, box.start[None])[0]
        around = replace(box.narrowed(self.score_set), model=replace(linear, intercept=linear.intercept + trees))
        found = self.linear(around, self.score_set, self._ceiling(), self.budget)
        if found.point is not None and not self.accepts(found.point):
            firm = self.linear(around, self.firm, self._ceiling(), self.budget)
            found = replace(found, point=firm.point, cost=firm.cost)
        if found.point is None or not self.accepts(found.point):
            return Inside(None, np.inf, found.bound)
        return Inside(found.point, found.cost, found.bound)


def _with_end(box: MixedBox, new: SumEnd) -> MixedBox:
    """A box with a further end of a sum, or a tighter one."""
    for k, end in enumerate(box.ends):
        if (end.of, end.sign) == (new.of, new.sign):
            return box._replace(ends=(*box.ends[:k], new, *box.ends[k + 1 :]))
    return box._replace(ends=(*box.ends, new), rates=np.append(box.rates, 0.0))


def _least(blend: Blend, ends: FloatArray, m: int, worst: float) -> tuple[float, float]:
    """From its worst end on, the last sum m at which a mean is missed, others at their best, and the next that meets it."""
    missed, met = worst, float(ends[m])
    for _ in range(SUM_ROUNDS):
        tried = np.linspace(missed, met, SUMS_TRIED)
        sums = np.repeat(ends[None], SUMS_TRIED, axis=0)
        sums[:, m] = tried
        first = int(np.argmax(blend.excesses_at(sums) <= 0))
        if first == 0:
            return worst, worst
        missed, met = float(tried[first - 1]), float(tried[first])
    return missed, met
