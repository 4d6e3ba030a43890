"""Proofs about a mean of curves, to whose sums trees add, and weighted numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.proof.curves import MUCH_BETTER, MeanLines, added, lines_above
from butfor.proof.failing import TooWideError
from butfor.proof.mean_prover import ROUNDED_SHARES, MeanNode, grains_of_mean
from butfor.proof.mixed_prover import NEARLY, GoalLimits, MixedProver
from butfor.proof.related import BestTaxes, RelatedCells
from butfor.proof.states import Pending
from butfor.solvers.solver import Budget

MOST_LINES = 8
"""So often lines are made anew in a box in which all trees are decided."""


class MixedMeanProver(MixedProver):
    """Proves one claim about a mean of curves of such sums.

    Lines above the curves make one goal, as for a mean of sums of trees. In a box in which all trees are decided, a linear
    program finds the rate of that goal. Where lines are too far above the curves, the column is halved that moves the mean
    most, and cells that are too wide are parted.
    """

    rate_bits = 19

    def __init__(self, question: Any, runs: Any, budget: Budget) -> None:
        super().__init__(question, runs, budget)
        self.curves = question.wanted.curves
        self.too_wide: tuple[list[int], dict[int, set[float]]] | None = None
        self.target += ROUNDED_SHARES * (self.arrays.goals.shape[1] - 1)

    def prove(self) -> list[str]:
        """The steps. Boxes whose cells are too wide are left open, so that all are parted at once."""
        lines = super().prove()
        if self.too_wide:
            raise TooWideError(*self.too_wide)
        return lines

    def grains(self) -> FloatArray:
        return grains_of_mean(self.arrays)

    def node(self, alive: BoolArray, leaf: BoolArray) -> MeanNode:
        return MeanNode(self, alive, leaf)

    def _of_numbers(self, alive: BoolArray, leaf: BoolArray, depth: int) -> list[Pending]:
        arrays, count = self.arrays, len(self.curves)
        score, ends = arrays.asked.score[self.way][leaf], arrays.ends(self.way, alive, leaf)
        zero, grain = arrays.goals[self.way][:count], float(arrays.question.grain)
        low, high = ((end[:count] - zero) * grain for end in ends)
        begun = (score.sum(axis=0)[:count] - zero) * grain
        at, best, before = (low + high) / 2, -np.inf, self._state()
        for _ in range(MOST_LINES):
            lines = lines_above(self.curves, low, high, at)
            cells = self._along(lines)
            found = self._best_rate(lines, cells, alive, begun)
            if found.bound >= 1 - NEARLY:
                self._set_lines(lines, found.tax)
                curves = arrays.question.curve(self.worth.rates, *(end.tolist() for end in ends))
                if self._bound_of_numbers(alive, score, curves) >= self.target:
                    return self._end("dual")
                self._restore(before)
            at = begun + self._gained(cells, found)
            if found.bound <= best + (1 - best) * MUCH_BETTER:
                break
            best = found.bound
        if (parting := cells.parting(found)) is not None:
            return self._parted_at(alive, leaf, depth, *parting)
        return self._unlined(alive, leaf, depth, cells, found, at)

    def _along(self, lines: MeanLines) -> RelatedCells:
        """The cells of numbers, which count as the lines say, and of relations."""
        question = self.arrays.question
        less = {
            j: -float(lines.slopes @ list(map(float, its[: len(self.curves)])))
            for j, its in question.slopes[self.way].items()
        }
        limits = GoalLimits([(less, 0), *question.limits], question.columns, question.below, question.none)
        return RelatedCells(limits, self.arrays.asked.cells)

    def _best_rate(self, lines: MeanLines, cells: RelatedCells, alive: BoolArray, begun: FloatArray) -> BestTaxes:
        """The rate of the mean, and the taxes, that prove most."""
        cells.top[0] = float(lines.slopes @ begun) + lines.height - float(self.arrays.question.wanted.mean[0])
        start = np.zeros(len(cells.top))
        start[0] = self.wish.rates[-1] * self.grain[-1] if self.wish.rates.any() else 0.0
        return cells.best(alive, np.zeros(len(alive)), self._rest(alive, cells), start, 1 + NEARLY)

    def _gained(self, cells: RelatedCells, found: BestTaxes) -> FloatArray:
        """What the numbers of the best mixture add to each sum."""
        mean = found.share @ found.values / found.share.sum()
        slopes = self.arrays.question.slopes[self.way]
        each = [
            mean[c] * np.array(slopes[j][: len(self.curves)], dtype=np.float64)
            for c, j in enumerate(cells.columns)
            if j in slopes
        ]
        return np.asarray(np.sum(each, axis=0))

    def _unlined(
        self, alive: BoolArray, leaf: BoolArray, depth: int, cells: RelatedCells, found: BestTaxes, sums: FloatArray
    ) -> list[Pending]:
        """The parts of a box whose best row is no mixture: it is below the curves, or lines are too far above them."""
        numbers, slopes = cells.numbers(found), self.arrays.question.slopes[self.way]
        chosen = self._row_of(alive, cells, found)
        if parts := self._ruled_parts(alive, leaf, depth, chosen):
            return parts
        if (
            sum(added(curve, x) for curve, x in zip(self.curves, sums.tolist(), strict=True))
            >= self.arrays.question.wanted.mean[0]
        ):
            return self._refuted(alive, leaf, depth, chosen, numbers)
        wide, best, narrow = 0.0, None, dict[int, float]()
        for c, j in enumerate(cells.columns):
            mine = slice(int(cells.start[c]), int(cells.start[c + 1]))
            living = np.flatnonzero(alive[cells.cells[mine]])
            low, high = float(cells.low[mine][living].min()), float(cells.high[mine][living].max())
            much = (high - low) * float(np.abs(np.array(slopes.get(j, [0.0]), dtype=np.float64)).max())
            if len(living) > 1 and much > wide:
                wide, best = much, (j, living[: (len(living) + 1) // 2].tolist())
            elif j in slopes and low < high:
                narrow[j] = (low + high) / 2
        if best is not None:
            return self._parted_at(alive, leaf, depth, *best)
        if not narrow:
            return self._refuted(alive, leaf, depth, chosen, numbers)
        _, ends = self.too_wide = self.too_wide or (chosen, {})
        for j, x in narrow.items():
            ends.setdefault(j, set()).add(x)
        return []

    def _set_lines(self, lines: MeanLines, best: FloatArray) -> None:
        """Say the rates of lines, and taxes, in claims, to the last bit that floats have."""
        shares, grains = [*lines.slopes.tolist(), *lines.inner, 1.0], self.grain.tolist()
        rate = Fraction(float(best[0]))
        each = [rate * Fraction(x) * Fraction(g) for x, g in zip(shares, grains, strict=True)]
        self._say_finely(each, best[1:])
