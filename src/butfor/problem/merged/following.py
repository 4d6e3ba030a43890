"""Groups of columns of which some are computed from the others, and what is in the way of merging them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.model.cells import Cells
from butfor.model.computed import ComputedFeature, OverComputed
from butfor.model.formula import ends
from butfor.model.merging import Bundle, ColumnLayout
from butfor.model.questions import Model
from butfor.model.trees import Trees
from butfor.problem.constraints.computed import ComputedColumn, OnComputed, features_of
from butfor.problem.constraints.implications import Implication
from butfor.problem.constraints.linked import Combinations, sharing
from butfor.problem.constraints.relations import Apart, AtMost, Fresh
from butfor.problem.merged.merging import Merging
from butfor.problem.whole import Whole

PLACED = (ComputedColumn, Implication, AtMost, Fresh, Apart, OnComputed, Combinations)
"""The relations of which places know. Others may refuse the cheapest point of a place, and take a dearer one."""


@dataclass(frozen=True, eq=False)
class FollowingGroup:
    """Free columns, and what is computed from them alone.

    - `free`: the columns that may be changed by themselves, in ascending order;
    - `computed`: what follows from them, in the order in which it is computed: columns of the table, or inputs of the model.
    """

    free: tuple[int, ...]
    computed: tuple[ComputedFeature, ...]

    def columns(self, width: int) -> IntArray:
        """Its columns in a table of so many."""
        made = [one.feature for one in self.computed if one.feature < width]
        return np.array(sorted((*self.free, *made)), dtype=np.intp)

    def is_cut(self, problem: Whole) -> bool:
        """Whether the model asks for thresholds alone, and what is computed is a quotient of sums: then half-planes decide."""
        low, high = problem.domain.extent.low, problem.domain.extent.high
        features = (*self.free, *(one.feature for one in self.computed))
        return (
            self.hub is not None
            and all(read_cells(problem.model, j) is not None for j in features)
            and all(_divides(one, low, high) for one in self.computed)
        )

    @property
    def hub(self) -> int | None:
        """A column beside which nothing is computed from more than one other column; None if there is none."""
        pairs = [set(one.inputs) for one in self.computed]
        fits = (j for j in self.free if all(len(inputs - {j}) <= 1 for inputs in pairs))
        return next(fits, None)


def _divides(one: ComputedFeature, low: FloatArray, high: FloatArray) -> bool:
    """Whether a computed feature is a quotient that never divides by 0."""
    if one.quotient is None:
        return False
    bottom, top = ends(one.quotient.lower, *(dict(enumerate(side.tolist())) for side in (low, high)))
    return not bottom <= 0 <= top


def computed_of(problem: Whole) -> tuple[ComputedFeature, ...]:
    """All that is computed: columns of the table, and inputs of the model."""
    model = problem.model
    own = model.computed if isinstance(model, OverComputed) else ()
    return (*features_of((one for one in problem.relations if isinstance(one, ComputedColumn)), problem.space), *own)


def following_groups(problem: Whole) -> tuple[FollowingGroup, ...]:
    """The groups. What is computed from a column in common is in one group."""
    every = computed_of(problem)
    free = {one.feature: one.inputs for one in every}
    inputs = [tuple(dict.fromkeys(k for j in one.inputs for k in free.get(j, (j,)))) for one in every]
    found = []
    for columns in sharing(inputs):
        inside = tuple(one for one, its in zip(every, inputs, strict=True) if its[0] in columns)
        found.append(FollowingGroup(tuple(sorted(columns)), inside))
    return tuple(found)


def read_cells(model: Model, j: int) -> Cells | None:
    """The cells of a feature in which a model cannot tell its values; None if it tells them all."""
    inner = model.model if isinstance(model, OverComputed) else model
    return inner.cells[j] if isinstance(inner, Trees) else None


def merging_at(problem: Whole, bundles: tuple[Bundle, ...]) -> Merging:
    """The only row's problem with each group as one column."""
    inside = np.concatenate([bundle.columns for bundle in bundles])
    return Merging(problem, ColumnLayout(np.setdiff1d(np.arange(len(problem.space)), inside), bundles))


def merging_of_nothing(problem: Whole) -> Merging:
    """The same, where each group has two places that are the same. It shows the form of what is merged."""
    columns = [group.columns(len(problem.space)) for group in following_groups(problem)]
    return merging_at(problem, tuple(Bundle(its, np.repeat(problem.factuals[:, its], 2, axis=0)) for its in columns))


def obstacle(problem: Whole) -> str:
    """Why no exact solver can take the columns of some group; empty if nothing is in the way."""
    for group in following_groups(problem):
        columns = group.columns(len(problem.space))
        why = _obstacle(problem, group, columns)
        if why:
            return why
    return ""


def _obstacle(problem: Whole, group: FollowingGroup, columns: IntArray) -> str:
    ball, prices = problem.demands.ball, problem.prices
    if prices.has_linf or (prices.Q is not None and prices.Q[columns].any()):
        return "the cost is no sum over columns, and some of them are computed from others"
    if any(j in prices.calls for j in group.free):
        return "a function prices columns from which others are computed"
    if ball is not None and (ball.radius[columns].any() or any(j in ball.slips.seen for j in columns.tolist())):
        return "columns are shifted in a ball around the answer, and others are computed from them"
    if problem.demands.margin or problem.demands.pool is not None:
        return "answers are chosen from given rows, or keep a margin"
    names = {problem.space.names[j] for j in columns.tolist()}
    if any(names & set(one.names) for one in problem.relations if isinstance(one, Combinations)):
        return "columns are linked from which others are computed"
    if any(read_cells(problem.model, j) is not None for j in (*group.free, *(one.feature for one in group.computed))):
        if problem.demands.judged:
            return "a constraint tells apart what looks alike to the model, and some columns are computed from others"
        if any(names & set(one.numbers) or not one.numbers for one in problem.relations if not isinstance(one, PLACED)):
            return "a relation tells apart what looks alike to the model, and its columns are computed from each other"
    for one in group.computed:
        j = one.feature
        if (
            j in columns
            and j not in problem.domain.levels
            and not (problem.domain.low < problem.domain.high)[:, j].all()
        ):
            return "a number that is computed must keep its value"
    if group.is_cut(problem) or all(j in problem.domain.levels or problem.domain.step[j] for j in group.free):
        return ""
    low, high = problem.domain.extent.low, problem.domain.extent.high
    if any(one.quotient is not None and not _divides(one, low, high) for one in group.computed):
        return "columns may be any numbers, and what is divided by may be 0"
    return "columns may be any numbers, and what is computed from them is no quotient of sums whose thresholds decide"
