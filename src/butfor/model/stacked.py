"""A model of what other models predict: stacking, with a linear end, or a tree.

What each member predicts is a monotone function of a sum of its scores. A linear end makes a sum of such functions of
them (`Blend`). A tree compares each with thresholds, which move through the function to the sum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.model.blend import Blend, Blends
from butfor.model.linear import Linear, evaluate_linear
from butfor.model.monotone import MonotoneFunction
from butfor.model.readout import AbstractReadout, Link
from butfor.model.scores import UNIT_DOUBLE, ScoreSet, all_of
from butfor.model.trees import Interval, Leaf, Trees, evaluate_trees

END_ROUNDINGS = 8
"""The roundings of the constant of a linear end: a scale, a shift, a product, and their sums."""


@dataclass(frozen=True, eq=False)
class Stacked(AbstractReadout):
    """Classes that a linear model, or a tree, reads from what members predict.

    - `rows` (members, scores): the sum that each prediction depends on is `rows[m] @ scores`;
    - `functions`: what each member predicts from it;
    - `end`: a model whose columns are these predictions, and `inner`, how its scores are read.
    """

    classes: tuple[Any, ...]
    rows: FloatArray
    functions: tuple[MonotoneFunction, ...]
    end: Linear | Trees
    inner: AbstractReadout
    link: Link = "none"
    unit: float = UNIT_DOUBLE

    @property
    def joins_sets(self) -> bool:
        """Each leaf of a tree is a set of its own."""
        return isinstance(self.end, Trees)

    def rounded(self, unit: float) -> Stacked:
        functions = tuple(function.rounded(unit) for function in self.functions)
        return replace(self, functions=functions, inner=self.inner.rounded(unit), unit=max(unit, self.unit))

    def predictions(self, scores: FloatArray) -> FloatArray:
        """What each member predicts (rows, members)."""
        sums = scores @ self.rows.T
        return np.column_stack([function.at(own) for function, own in zip(self.functions, sums.T, strict=True)])

    def _end_scores(self, scores: FloatArray) -> FloatArray:
        given = self.predictions(scores)
        return evaluate_linear(self.end, given) if isinstance(self.end, Linear) else evaluate_trees(self.end, given)

    def decide(self, scores: FloatArray) -> IntArray:
        return self.inner.decide(self._end_scores(scores))

    def probabilities(self, scores: FloatArray) -> FloatArray | None:
        return self.inner.probabilities(self._end_scores(scores))

    def class_sets(self, label: int) -> tuple[ScoreSet, ...]:
        return self._pulled_back(self.inner.class_sets(label))

    def probability_sets(
        self, label: int, p: float, *, below: bool = False, strict: bool = False
    ) -> tuple[ScoreSet, ...]:
        return self._pulled_back(self.inner.probability_sets(label, p, below=below, strict=strict))

    def probabilities_between(self, scores: FloatArray, slack: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """A linear end has a rounding of its own. Of a tree, all leaves count that may be reached."""
        sums, off = scores @ self.rows.T, slack[:, None] * np.abs(self.rows).sum(axis=1)
        ends = [
            function.between(sums[:, m] - off[:, m], sums[:, m] + off[:, m])
            for m, function in enumerate(self.functions)
        ]
        low, high = (np.column_stack([end[k] for end in ends]) for k in (0, 1))
        if isinstance(self.end, Trees):
            return self._leaf_probabilities(self.end, low, high)
        middle, wide = (low + high) / 2, (high - low) / 2
        size = (np.abs(middle) + np.abs(self.end.centre)) @ np.abs(self.end.slope).T + np.abs(self.end.intercept)
        spread = wide @ np.abs(self.end.slope).T + END_ROUNDINGS * len(self.functions) * self.unit * size
        return self.inner.probabilities_between(evaluate_linear(self.end, middle), spread.max(axis=1))

    def _leaf_probabilities(
        self, end: Trees, low: FloatArray, high: FloatArray
    ) -> tuple[FloatArray, FloatArray] | None:
        given = self.inner.probabilities(end.base + end.value[[leaf.node for leaf in end.leaves]])
        if given is None:
            return None
        reached = np.ones((len(low), len(end.leaves)), dtype=np.bool_)
        for at, leaf in enumerate(end.leaves):
            for j, (above, up_to) in self._path(end, leaf).items():
                reached[:, at] &= (high[:, j] > above) & (low[:, j] <= up_to)
        each = np.where(reached[..., None], given, np.nan)
        return np.nanmin(each, axis=1), np.nanmax(each, axis=1)

    def _pulled_back(self, sets: tuple[ScoreSet, ...]) -> tuple[ScoreSet, ...]:
        """The scores whose predictions the end takes into some sets of its own scores."""
        if any(part.curve is not None for part in sets):
            raise ValueError("the probability of a class of several is no sum of what the members predict")
        if isinstance(self.end, Linear):
            return tuple(self._blended(self.end, part) for part in sets)
        end = self.end
        scores = end.base + end.value[[leaf.node for leaf in end.leaves]]
        inside = np.any([part.holds(scores) for part in sets], axis=0)
        return tuple(self._leaf_set(end, leaf) for leaf, wanted in zip(end.leaves, inside, strict=True) if wanted)

    def _blended(self, end: Linear, part: ScoreSet) -> ScoreSet:
        """Each inequality is about a sum of functions."""
        weights = part.A @ end.slope
        constant = part.A @ (end.intercept - end.slope @ end.centre)
        size = np.abs(part.A) @ (np.abs(end.intercept) + end.cancelled + np.abs(end.slope) @ np.abs(end.centre))
        spare = END_ROUNDINGS * self.unit * (size + np.abs(part.b))
        least = np.where(part.strict, np.nextafter(part.b - constant, np.inf), part.b - constant)
        below, above = (np.broadcast_to(off, part.b.shape) + spare for off in (part.below, part.above))
        each = tuple(
            Blend(self.rows, own, self.functions, float(least[i]), below=float(below[i]), above=float(above[i]))
            for i, own in enumerate(weights)
        )
        width = self.rows.shape[1]
        curve = each[0] if len(each) == 1 else Blends(each)
        return ScoreSet(np.zeros((0, width)), np.zeros(0), np.zeros(0, dtype=np.bool_), part.offset, curve)

    def _leaf_set(self, end: Trees, leaf: Leaf) -> ScoreSet:
        """The predictions on the path to a leaf lie between thresholds, and so do the sums."""
        sides = []
        for j, (above, up_to) in self._path(end, leaf).items():
            if above > -np.inf:
                sides.append(self.functions[j].score_set(self.rows[j], above, strict=True))
            if up_to < np.inf:
                sides.append(self.functions[j].score_set(self.rows[j], up_to, below=True))
        return all_of(sides, self.rows.shape[1])

    def _path(self, end: Trees, leaf: Leaf) -> dict[int, tuple[float, float]]:
        """Above and up to which numbers the predictions lie that lead to a leaf."""
        out = {}
        for j, region in leaf.path.items():
            assert isinstance(region, Interval)
            out[j] = float(end.cells[j].lower()[region.first]), float(end.cells[j].upper()[region.last])
        return out
