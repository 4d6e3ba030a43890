"""The problem in which columns that belong together are one column. Its levels are the combinations that exist.

It has the same answers at the same costs: a combination is open to a row if each of its values is, and it costs what they
cost together. A combination that only a row itself has is a level that only this row keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.merging import Bundle, ColumnLayout, Layout, merged
from butfor.model.questions import Model
from butfor.problem.constraints.computed import ComputedColumn, OnComputed
from butfor.problem.constraints.constraint import Relation
from butfor.problem.constraints.implications import Implication
from butfor.problem.constraints.linked import FOLLOWING, Combinations, first_of_each, groups, positions
from butfor.problem.constraints.relations import Apart, AtMost, Fresh, LinearRelation
from butfor.problem.demands import Demands
from butfor.problem.domain import Domain
from butfor.problem.merged.translated import (
    SplitConfirmation,
    SplitImplication,
    SplitOracle,
    SplitRefusals,
    SplitRelation,
    SplitSearched,
    SplitSum,
)
from butfor.problem.oracle import AbstractOracle
from butfor.problem.prices import Prices
from butfor.problem.whole import Whole
from butfor.problem.witnesses import Witnesses
from butfor.space.feature import Feature
from butfor.space.space import Space, same

MOST_LEVELS = 2_000
"""How many levels a merged column may have."""

VALUES_AT_ONCE = 100_000
"""Of how many combinations of rows it is looked up at once whether they are open."""


Pricing = Callable[[int, FloatArray, FloatArray], FloatArray]
"""What moving a feature from `before` (n, 1) to `after` (n, k) costs."""


class TooManyError(ValueError):
    """Columns that belong together have too many combinations."""


@dataclass(frozen=True, eq=False)
class Merging:
    """A problem `whole`, and how its columns are merged.

    `complete` means that the groups hold all that their columns may be, and not only the cheapest of what looks alike.
    """

    whole: Whole
    layout: Layout
    complete: bool = False

    @classmethod
    def of(cls, whole: Whole) -> Merging:
        """Groups that share a column are one: their combinations are those that fit together."""
        found = []
        for names in groups(whole.relations):
            inside = [one for one in whole.relations if isinstance(one, Combinations) and set(one.names) <= set(names)]
            found.append(_joined([_group(one, whole) for one in inside]))
        others = np.setdiff1d(np.arange(len(whole.space)), np.concatenate([group.columns for group in found]))
        return cls(whole, ColumnLayout(others, tuple(found)), complete=True)

    @property
    def model(self) -> Model:
        """The model, which reads merged columns."""
        if isinstance(self.layout, ColumnLayout):
            return merged(self.whole.model, self.layout)
        return self.layout.over(self.whole.model)  # type: ignore[no-any-return]

    @property
    def first(self) -> int:
        """The first merged column. The others come before it."""
        return len(self.layout.others)

    @cached_property
    def space(self) -> Space:
        """The columns: those that stay, and one per group."""
        names = self.whole.space.names
        made = [
            Feature(" and ".join(names[j] for j in group.columns), levels=tuple(range(len(group))))
            for group in self.layout.groups
        ]
        return Space((*(self.whole.space.features[j] for j in self.layout.others), *made))

    @cached_property
    def factuals(self) -> FloatArray:
        """The rows as they are."""
        return self.merge(self.whole.factuals)

    def merge(self, points: FloatArray) -> FloatArray:
        """Points as points of the merged columns. A combination that there is not is missing."""
        codes = [positions(group.codes, points[:, group.columns]) for group in self.layout.groups]
        found = np.array(codes, dtype=np.float64).reshape(len(codes), len(points)).T
        return np.hstack([points[:, self.layout.others], np.where(found < 0, np.nan, found)])

    def obstacle(self) -> str:
        """Why no solver can keep all that is asked of the merged columns; empty if nothing is in the way."""
        columns = np.concatenate([group.columns for group in self.layout.groups])
        whole, ball = self.whole, self.whole.demands.ball
        if whole.prices.Q is not None and whole.prices.Q[columns].any():
            return "a quadratic form prices columns that are linked"
        if ball is not None and ball.radius[columns].any():
            return "columns that are linked are shifted in a ball around the answer"
        if ball is not None and any(j in ball.slips.seen for j in columns.tolist()):
            return "levels of columns that are linked may slip"
        if whole.demands.margin and any(whole.space.features[j].levels is None for j in columns.tolist()):
            return "a margin is measured along numbers that are linked"
        return "answers are chosen from given rows" if whole.demands.pool is not None else ""

    @property
    def domain(self) -> Domain:
        """The combinations that are open to each row, and the domain of the other columns."""
        kept, n, more = self.whole.domain.of_columns(self.layout.others), len(self.factuals), len(self.layout.groups)
        levels = [self._open(group) for group in self.layout.groups]
        own = self.factuals[:, self.first :].astype(np.intp)
        stay = [mask[np.arange(n), own[:, k]] for k, mask in enumerate(levels)]
        nothing = np.zeros((n, more))
        return Domain(
            factuals=self.factuals,
            low=np.hstack([kept.low, nothing]),
            high=np.hstack([kept.high, own]),
            stay=np.column_stack([kept.stay, *stay]),
            missing=np.hstack([kept.missing, nothing.astype(np.bool_)]),
            levels={**kept.levels, **dict(enumerate(levels, self.first))},
            step=np.append(kept.step, np.zeros(more)),
            anchor=np.append(kept.anchor, np.zeros(more)),
            single=np.append(kept.single, np.zeros(more, dtype=np.bool_)),
            typical=np.append(kept.typical, np.zeros(more)),
        )

    def _open(self, group: Bundle) -> BoolArray:
        """Which combinations each row may have in the end (n, combinations)."""
        n, size = len(self.whole.factuals), max(1, VALUES_AT_ONCE // max(1, len(group)))
        parts = [self._open_to(group, np.arange(at, min(at + size, n))) for at in range(0, n, size)]
        return np.concatenate(parts)

    def _open_to(self, group: Bundle, rows: IntArray) -> BoolArray:
        whose, at = np.repeat(rows, len(group)), group.columns
        after = self.whole.factuals[whose]
        after[:, at] = np.tile(group.codes, (len(rows), 1))
        fine = self.whole.domain.of_columns(at).take(whose).takes(after[:, at]).all(axis=1)
        for relation in self.whole.relations:
            if isinstance(relation, Combinations):
                fine &= self._exists(relation, group, rows)
            elif self._within(relation) is group:
                fine &= relation.holds_between(self.whole.space, self.whole.factuals[whose], after)
            elif isinstance(relation, LinearRelation):
                summed = np.isin(at, [self.whole.space.index(name) for name in relation.numbers])
                fine &= ~np.isnan(after[:, at[summed]]).any(axis=1)
        return np.asarray(fine.reshape(len(rows), len(group)))

    def _exists(self, relation: Combinations, group: Bundle, rows: IntArray) -> BoolArray:
        """Which combinations of a group the relation knows, or a row has itself."""
        names = [self.whole.space.index(name) for name in relation.names]
        if names[0] not in group.columns:
            return np.ones(len(rows) * len(group), dtype=np.bool_)
        parts = group.codes[:, np.searchsorted(group.columns, names)]
        known = positions(relation.codes(self.whole.space), parts) >= 0
        return np.asarray((known | same(parts, self.whole.factuals[rows][:, None, names]).all(axis=2)).ravel())

    def _within(self, relation: Relation) -> Bundle | None:
        """The group in which all columns of a relation are whose values it uses."""
        if not isinstance(relation, LinearRelation | Implication):
            return None
        used = {self.whole.space.index(name) for name in relation.numbers}
        return next((group for group in self.layout.groups if used <= set(group.columns.tolist())), None)

    @property
    def prices(self) -> Prices:
        """The prices of the columns of a group, added up for each change of combination that a row can make."""
        prices, others = self.whole.prices, self.layout.others
        rates: dict[str, Any] = {
            name: self._of_others(getattr(prices, name))
            for name in ("l0", "l1", "l2", "linf", "missing", "linf_missing")
        }
        at = {j: k for k, j in enumerate(others.tolist())}
        tables = {at[j]: table for j, table in prices.tables.items() if j in at}
        largest = {at[j]: table for j, table in prices.linf_tables.items() if j in at}
        for k, group in enumerate(self.layout.groups, self.first):
            tables[k] = self._table(group, k, prices.separable, np.add)
            if prices.has_linf:
                largest[k] = self._table(group, k, prices.reach, np.maximum)
        Q = None
        if prices.Q is not None:
            Q = np.zeros((len(self.space),) * 2)
            Q[: self.first, : self.first] = prices.Q[np.ix_(others, others)]
        calls = {at[j]: call for j, call in prices.calls.items() if j in at}
        return replace(prices, **rates, tables=tables, linf_tables=largest, calls=calls, Q=Q)

    def _table(self, group: Bundle, k: int, price: Pricing, together: np.ufunc) -> FloatArray:
        """What each change from a combination that some row has costs. The rest of the table does not matter."""
        own, size = np.unique(self.factuals[:, k]).astype(np.intp), len(group) + 1
        after = np.broadcast_to(group.codes.T[:, None], (len(group.columns), len(own), len(group)))
        each = [price(j, group.codes[own][:, [i]], after[i]) for i, j in enumerate(group.columns.tolist())]
        costs = np.pad(together.reduce(each), ((0, 0), (0, 1)))
        if len(own) == 1:  # one line stands for all: such a table takes no memory
            return np.broadcast_to(costs, (size, size))
        table = np.zeros((size, size))
        table[own] = costs
        return table

    @property
    def relations(self) -> tuple[Relation, ...]:
        """The relations, as they are told of merged columns. Those within a group are kept by its levels."""
        return tuple(self._relations())

    def _relations(self) -> Iterator[Relation]:
        for relation in self.whole.relations:
            if isinstance(relation, AtMost):
                yield replace(relation, together=self._apart(relation.together))
            elif isinstance(relation, Fresh):
                names = tuple(self.space.names[self._place(name)] for name in relation.names)
                yield Fresh(names, self._apart(relation.together))
            elif isinstance(relation, LinearRelation | Implication):
                yield from self._of_values(relation)
            elif isinstance(relation, Combinations):
                yield from () if self._touched(relation) else (relation,)
            elif self._is_left(relation):
                yield SplitRelation(relation, self.whole.space, self.layout)

    def _of_values(self, relation: LinearRelation | Implication) -> Iterator[Relation]:
        """A relation between values, told of merged columns; none if it is within a group, whose levels keep it.

        A sum may be kept by values that are not the cheapest of those that look alike.
        """
        whole, layout = self.whole.space, self.layout
        kept = self.complete or isinstance(relation, Implication)
        if not self._touched(relation):
            yield relation
        elif not kept or not isinstance(layout, ColumnLayout):
            yield SplitRelation(relation, whole, layout)
        elif self._within(relation) is None:
            names = [self.space.names[self._place(name)] for name in relation.numbers]
            if isinstance(relation, Implication):
                yield SplitImplication(relation.cause, relation.consequence, (names[0], names[1]), whole, layout)
            else:
                columns = tuple(dict.fromkeys(names))
                yield SplitSum(relation.weights, relation.sense, relation.bound, columns, whole, layout)

    def _is_left(self, relation: Relation) -> bool:
        """Whether a relation must be asked about whole points. The levels of a group keep all that is about its columns."""
        if isinstance(relation, OnComputed | Apart):
            return not self.layout.groups
        return not isinstance(relation, ComputedColumn)

    def _apart(self, together: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        """The columns that count as one and are not merged."""
        return tuple(names for names in together if names[0] != FOLLOWING and self._place(names[0]) < self.first)

    def _touched(self, relation: Relation) -> bool:
        """Whether a relation uses a value of a merged column."""
        return any(self._place(name) >= self.first for name in relation.numbers)

    def _place(self, name: str) -> int:
        """The merged column that a column is, or of which it is a part. What only follows from others comes after all columns."""
        j = self.whole.space.index(name)
        inside = (k for k, group in enumerate(self.layout.groups, self.first) if j in group.columns)
        at = int(np.searchsorted(self.layout.others, j))
        return next(inside, at if j in self.layout.others else self.first)

    @property
    def demands(self) -> Demands:
        """What is demanded, of merged points."""
        demands, ball = self.whole.demands, self.whole.demands.ball
        if ball is not None:
            each: dict[str, Any] = {name: self._of_others(getattr(ball, name)) for name in ("radius", "step", "anchor")}
            ball = replace(ball, **each, slips=ball.slips.of_columns(self.layout.others))
        judged = tuple(SplitSearched(constraint, self.layout) for constraint in demands.judged)
        return replace(demands, ball=ball, judged=judged)

    def _of_others(self, values: FloatArray) -> FloatArray:
        """Numbers of the columns (..., columns), and 0 for each merged one."""
        nothing = np.zeros((*values.shape[:-1], len(self.layout.groups)))
        return np.concatenate([values[..., self.layout.others], nothing], axis=-1)

    @property
    def witnesses(self) -> Witnesses:
        """Who may be asked about merged points."""
        asked, layout = self.whole.witnesses, self.layout
        return replace(
            asked,
            oracle=self._oracle(asked.oracle),
            examples=self._oracle(asked.examples),
            confirmation=None if asked.confirmation is None else SplitConfirmation(asked.confirmation, layout),
            refusals=None if asked.refusals is None else SplitRefusals(asked.refusals, layout),
        )

    def _oracle(self, inner: AbstractOracle | None) -> AbstractOracle | None:
        if inner is None:
            return None
        points = self.merge(inner.examples)
        kept = np.flatnonzero(~np.isnan(points[:, self.first :]).any(axis=1))
        return SplitOracle(inner, self.layout, kept, points[kept])


def _group(relation: Combinations, whole: Whole) -> Bundle:
    """The columns of a relation, in order, with the combinations that it knows and those that the rows have."""
    columns = np.array([whole.space.index(name) for name in relation.names])
    order = np.argsort(columns)
    known, own = relation.codes(whole.space)[:, order], whole.factuals[:, columns[order]]
    more = own[positions(known, own) < 0]
    return Bundle(columns[order], np.concatenate([known, more[first_of_each(more)]]))


def _joined(parts: list[Bundle]) -> Bundle:
    """The combinations of several groups that fit together. Each shares a column with some other."""
    whole, *rest = parts
    while rest:
        at = next(i for i, part in enumerate(rest) if np.isin(part.columns, whole.columns).any())
        whole = _both(whole, rest.pop(at))
    if len(whole) > MOST_LEVELS:
        raise TooManyError(
            f"linked columns have {len(whole):,} combinations together; it takes at most {MOST_LEVELS:,}"
        )
    return whole


def _both(one: Bundle, other: Bundle) -> Bundle:
    """The natural join of two groups."""
    shared, mine, theirs = np.intersect1d(one.columns, other.columns, return_indices=True)
    new = ~np.isin(other.columns, shared)
    fits = same(one.codes[:, None, mine], other.codes[None, :, theirs]).all(axis=2)
    first, second = np.nonzero(fits)
    columns = np.append(one.columns, other.columns[new])
    order = np.argsort(columns)
    return Bundle(columns[order], np.hstack([one.codes[first], other.codes[np.ix_(second, new)]])[:, order])
