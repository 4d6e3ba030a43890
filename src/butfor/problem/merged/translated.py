"""Those who know only the whole columns, asked about merged points: each of these splits a point before it asks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.merging import Bundle, ColumnLayout, Layout
from butfor.problem.constraints.constraint import Changes, Relation, Searched
from butfor.problem.constraints.implications import Implication
from butfor.problem.constraints.relations import LinearRelation
from butfor.problem.oracle import AbstractConfirmation, AbstractOracle, Response
from butfor.problem.referee import Referee
from butfor.problem.witnesses import Refusals
from butfor.space.space import Space


@dataclass(frozen=True, eq=False)
class SplitRelation(Relation):
    """A relation of the whole columns. What it says of levels is not known."""

    relation: Relation
    space: Space
    layout: Layout

    def validate(self, space: Space) -> None:
        self.relation.validate(self.space)

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        return self.relation.holds_between(self.space, self.layout.split(before), self.layout.split(after))


@dataclass(frozen=True, eq=False)
class SplitSum(LinearRelation):
    """A sum of whole columns, of which some are merged (`columns`). A combination adds what its values add together."""

    columns: tuple[str, ...]
    whole: Space
    layout: ColumnLayout

    @property
    def numbers(self) -> tuple[str, ...]:
        return self.columns

    @property
    def _told(self) -> LinearRelation:
        """The relation that is told of whole columns."""
        return LinearRelation(self.weights, self.sense, self.bound)

    def validate(self, space: Space) -> None:
        self._told.validate(self.whole)

    def of_numbers(self, space: Space) -> dict[int, Fraction]:
        terms = self._told.of_numbers(self.whole)
        return {k: terms[j] for k, j in enumerate(self.layout.others.tolist()) if j in terms}

    def of_levels(self, space: Space) -> dict[int, list[Fraction]]:
        return self._of_levels

    @cached_property
    def _of_levels(self) -> dict[int, list[Fraction]]:
        """What each level adds. There may be thousands, and a search asks often."""
        terms, used = self._told.of_levels(self.whole), [j for j, _ in self._columns(self.whole)]
        out = {k: terms[j] for k, j in enumerate(self.layout.others.tolist()) if j in terms}
        for k, group in enumerate(self.layout.groups, len(self.layout.others)):
            if np.isin(used, group.columns).any():
                out[k] = [self._added(group, codes) for codes in group.codes]
        return out

    def _added(self, group: Bundle, codes: FloatArray) -> Fraction:
        """What the values of a group add together. Where one is missing no sum is kept, and nothing is added."""
        row = np.zeros(len(self.whole))
        row[group.columns] = codes
        columns, terms = self._columns(self.whole), self._terms(self.whole, row)
        inside = (term for (j, _), term in zip(columns, terms or (), strict=False) if j in group.columns)
        return sum(inside, Fraction(0))

    def holds_between(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        return self._told.holds_between(self.whole, self.layout.split(before), self.layout.split(after))

    def ends(self, space: Space, before: FloatArray) -> tuple[Fraction | None, Fraction | None]:
        return self._told.ends(self.whole, self.layout.split(before[None])[0])

    def computes(self, space: Space) -> int:
        return self._told.computes(self.whole)


@dataclass(frozen=True, eq=False)
class SplitImplication(Implication):
    """An implication between whole columns, of which some are merged (`columns`)."""

    columns: tuple[str, str]
    whole: Space
    layout: ColumnLayout

    @property
    def numbers(self) -> tuple[str, str]:
        return self.columns

    def validate(self, space: Space) -> None:
        super().validate(self.whole)

    def caused(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        return super().caused(self.whole, self.layout.split(before), self.layout.split(after))

    def follows(self, space: Space, before: FloatArray, after: FloatArray) -> BoolArray:
        return super().follows(self.whole, self.layout.split(before), self.layout.split(after))


@dataclass(frozen=True, eq=False)
class SplitSearched(Searched):
    """A constraint of the whole columns that the referee decides."""

    constraint: Searched
    layout: Layout

    def validate(self, space: Space) -> None:
        self.constraint.validate(space)

    def holds(self, changes: Changes, referee: Referee) -> BoolArray:
        start, points = self.layout.split(changes.start), self.layout.split(changes.points)
        return self.constraint.holds(Changes(start, points, changes.before, changes.after), referee)

    def admits(self, points: FloatArray, referee: Referee) -> BoolArray:
        return self.constraint.admits(self.layout.split(points), referee)


@dataclass(frozen=True, eq=False)
class SplitConfirmation(AbstractConfirmation):
    """The estimator's word on merged points."""

    inner: AbstractConfirmation
    layout: Layout

    def confirms(self, point: FloatArray, most: float) -> bool:
        return self.inner.confirms(self.layout.split(point[None])[0], most)

    def confirms_twins(self, point: FloatArray, most: float) -> bool:
        return self.inner.confirms_twins(self.layout.split(point[None])[0], most)

    def of_target(self) -> AbstractConfirmation:
        target = self.inner.of_target()
        return self if target is self.inner else SplitConfirmation(target, self.layout)

    def take(self, rows: IntArray | slice) -> SplitConfirmation:
        return SplitConfirmation(self.inner.take(rows), self.layout)


@dataclass(frozen=True, eq=False)
class SplitOracle(AbstractOracle):
    """What is predicted for merged points. Of the examples, `kept` are those that merged points can be."""

    inner: AbstractOracle
    layout: Layout
    kept: IntArray
    examples: FloatArray

    def ask(self, points: FloatArray, rows: IntArray) -> Response:
        return self.inner.ask(self.layout.split(points), rows)

    def of_examples(self, row: int) -> Response:
        said, kept = self.inner.of_examples(row), self.kept
        lacking = said.lacking
        return Response(
            said.met[kept],
            said.distance[kept],
            said.offset[kept],
            None if lacking is None else lambda: np.asarray(lacking()[kept]),
        )

    def take(self, rows: IntArray | slice) -> SplitOracle:
        return SplitOracle(self.inner.take(rows), self.layout, self.kept, self.examples)


class SplitRefusals(Refusals):
    """What the estimator refused, kept by the whole rows."""

    def __init__(self, inner: Refusals, layout: Layout) -> None:
        self.inner, self.layout = inner, layout

    def note(self, row: FloatArray, cost: float) -> None:
        self.inner.note(self.layout.split(row[None])[0], cost)

    def forget(self, row: FloatArray) -> None:
        self.inner.forget(self.layout.split(row[None])[0])

    def least(self, rows: FloatArray) -> FloatArray:
        return self.inner.least(self.layout.split(rows))
