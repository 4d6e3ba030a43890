"""Columns that are computed from others: the cheapest places of each group become the levels of one column.

Costs add up, so no answer is cheaper than the cheapest place that was left out. If the answer costs no more than that, it is
optimal. Otherwise, more places are taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, combinations

import numpy as np

from butfor.model.merging import Bundle
from butfor.model.questions import ModelKind
from butfor.problem.constraints.constraint import Relation
from butfor.problem.constraints.relations import AtMost, Fresh
from butfor.problem.form import ConstraintKind, Form
from butfor.problem.merged.following import FollowingGroup, following_groups, merging_at
from butfor.problem.merged.merging import Merging
from butfor.problem.problem import Problem
from butfor.solvers.combine import row_by_row
from butfor.solvers.computed.places import PlaceFinder, Places
from butfor.solvers.merged.columns import split
from butfor.solvers.outcome import Outcome, Stopped, nothing_found, one_answer, to_beat
from butfor.solvers.reduction import AbstractReduction, Handing, first
from butfor.solvers.solver import AbstractSolver, Budget, Support
from butfor.space.space import same

PLACES_TAKEN = (250, 1_000, 4_000, 16_000)
"""How many places of a group are taken, one after the other, until they are enough."""

Moved = frozenset[int]
"""Which free columns change."""


class ComputedColumns(AbstractReduction):
    """The cheapest places of computed columns. Guarantee: that of the solver that takes what is left, or a proven bound."""

    name = "computed_columns"
    does = "columns or inputs that are computed from others: their cheapest places become levels, and what is left is solved"
    row_by_row = True
    left = "the problem with places as levels"

    def __init__(self, inner: tuple[AbstractSolver, ...]) -> None:
        self.inner = inner

    def takes(self, form: Form) -> Support:
        if ConstraintKind.COMPUTED not in form.constraints and form.model is not ModelKind.COMPUTED:
            return Support(
                False, "it is only for columns that are computed from others (bf.computed, or a step that does it)"
            )
        if ConstraintKind.APART in form.constraints:
            return Support(False, "answers at a distance from earlier ones are parted before")
        if form.placed is None:
            return Support(False, form.unplaced or "it is not known what is computed")
        return Support(
            True,
            "what is computed is one column with what it is computed from, and what is left is solved exactly",
        )

    def parts(self, form: Form) -> tuple[Form, ...]:
        assert form.placed is not None
        return (replace(form.placed, forced=True),)

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        return row_by_row(problem, budget, lambda one: _Row(one, self.inner, budget).solved())


class _Row:
    """The search for one row.

    - `best`: the cheapest answer so far;
    - `bound`: for each way to move, what an answer costs at least;
    - `left`: the ways for which more places may help.
    """

    def __init__(self, problem: Problem, inner: tuple[AbstractSolver, ...], budget: Budget) -> None:
        self.problem, self.handing, self.budget = problem, Handing(inner), budget
        self.groups = following_groups(problem)
        self.best, self.stopped = nothing_found(problem, np.inf), Stopped.DONE
        self.bound: dict[Moved | None, float] = dict.fromkeys(_ways_to_move(problem, self.groups), 0.0)
        self.left = set(self.bound)

    def solved(self) -> Outcome:
        """The cheapest row, and what is proven of it."""
        for size in PLACES_TAKEN:
            for moved in [moved for moved in self.bound if moved in self.left]:
                if self.bound[moved] < to_beat(float(self.best.cost[0])) and not (
                    size > PLACES_TAKEN[0] and self.budget.spent()
                ):
                    self._with(size, moved)
        lowest = min(self.bound.values(), default=np.inf)
        proven = lowest >= to_beat(float(self.best.cost[0]))
        why = Stopped.DONE if proven else max(self.stopped, self.budget.stopped) or Stopped.EFFORT
        bound = np.array([min(lowest, float(self.best.cost[0]))])
        return replace(self.best, bound=bound, stopped=np.array([why], dtype=np.intp)).handed_to(self.handing.ran)

    def _with(self, size: int, moved: Moved | None) -> None:
        """Solve the problem with so many places of each group, where just these columns move."""
        places = [PlaceFinder(self.problem, group).cheapest(size, moved) for group in self.groups]
        least = min(one.least for one in places)
        if least == np.inf:
            self.left.discard(moved)
        whole = _counted(self.problem, self.groups, moved)
        none = [one.least for one in places if not len(one.points)]
        if none or whole is None:
            self._raise(moved, max(none, default=np.inf) if whole is not None else np.inf)
            return
        merging, merged = self._merged(whole, places)
        taker = first(self.handing.inner, merged.form())
        if taker is None:  # there are too many places to try them all
            self.left.discard(moved)
            return
        found = split(merging.layout, self.handing.ask(taker[0], merged, self.budget))
        self.stopped = max(self.stopped, Stopped(int(found.stopped[0])))
        if found.cost[0] < self.best.cost[0]:
            self.best = one_answer(found.points[0], float(found.cost[0]), 0.0)
        self._raise(moved, min(least, float(found.bound[0]) - sum(one.doubt for one in places)))

    def _raise(self, moved: Moved | None, bound: float) -> None:
        self.bound[moved] = max(self.bound[moved], bound)

    def _merged(self, whole: Problem, places: list[Places]) -> tuple[Merging, Problem]:
        """The problem with places as levels. The row's own one comes first, and may be closed."""
        bundles, staying = [], []
        for group, found in zip(self.groups, places, strict=True):
            columns, free = group.columns(len(self.problem.space)), list(group.free)
            own = same(found.points[:, free], self.problem.factuals[:, free]).all(axis=1)
            codes = np.concatenate([self.problem.factuals[:, columns], found.points[~own][:, columns]])
            bundles.append(Bundle(columns, codes))
            staying.append(bool(own.any()))
        merging = merging_at(whole, tuple(bundles))
        merged = whole.merged_by(merging)
        for k, stays in enumerate(staying, merging.first):
            open_to = np.ones(merged.domain.levels[k].shape[1], dtype=np.bool_)
            open_to[0] = stays
            merged = replace(merged, domain=merged.domain.at_levels(k, open_to))
        return merging, merged


def _ways_to_move(problem: Problem, groups: tuple[FollowingGroup, ...]) -> Iterator[Moved | None]:
    """If changes are counted: the sets of free columns of the groups that may change, few first. Otherwise, any may change."""
    if not problem.limits:
        yield None
        return
    free = [j for group in groups for j in group.free]
    most = min(len(free), problem.most_changes)
    yield from map(frozenset, chain.from_iterable(combinations(free, count) for count in range(most + 1)))


def _counted(problem: Problem, groups: tuple[FollowingGroup, ...], moved: Moved | None) -> Problem | None:
    """The problem in which a group counts as one change, where just these free columns move; None if that is not possible."""
    if moved is None:
        return problem
    names = {problem.space.names[j]: j in moved for group in groups for j in group.free}
    together = sum(bool(moved & set(group.free)) for group in groups)
    kept = list[Relation]()
    for one in problem.relations:
        if isinstance(one, AtMost):
            kept.append(replace(one, count=one.count - len(moved) + together))
        elif isinstance(one, Fresh):
            others = tuple(name for name in one.names if name not in names)
            if all(names.get(name, True) for name in one.names):
                if not others:
                    return None
                kept.append(replace(one, names=others))
        else:
            kept.append(one)
    return replace(problem, relations=tuple(kept))
