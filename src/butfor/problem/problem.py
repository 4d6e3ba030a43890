"""The problem: some factual rows, a model, where its scores should lie, what changes cost and what they must respect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.black_box import BlackBox
from butfor.model.linear import Linear
from butfor.model.questions import Model, form_of, score_count
from butfor.model.scores import ScoreSet
from butfor.problem.constraints.constraint import AbstractConstraint
from butfor.problem.constraints.relations import AtMost, Candidates, Fresh, Implication, Margin, Plausible, Relation
from butfor.problem.domain import Domain
from butfor.problem.form import Form
from butfor.problem.oracle import AbstractOracle
from butfor.problem.prices import Prices
from butfor.space.space import Space

JUDGED_APART = (Margin, Candidates, Plausible)
"""Constraints that hang on a model or a list of rows: worked into regions, sets of scores or a pool, and judged there."""

C = TypeVar("C", bound=AbstractConstraint)


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows that the answer must be one of: encoded, whether the estimator says they meet the target, what they add."""

    points: FloatArray
    met: BoolArray
    offsets: FloatArray


@dataclass(frozen=True, eq=False)
class Problem:
    """n rows of one space with one model and one union of score sets: find each row's cheapest admissible change.

    `relations` are the constraints that are not already worked into `domain`. `guard` is the share of the size of a sum
    by which its threshold is raised, for rows where rounding in the estimator decided against a point on the boundary.
    `oracle` is there for solvers that only ask.
    """

    space: Space
    model: Model
    factuals: FloatArray
    sets: tuple[ScoreSet, ...]
    prices: Prices
    domain: Domain
    relations: tuple[AbstractConstraint, ...] = ()
    pool: Pool | None = None
    guard: float = 0.0
    oracle: AbstractOracle | None = None

    def __len__(self) -> int:
        return len(self.factuals)

    def constraints(self, kind: type[C]) -> tuple[C, ...]:
        """The relations of one kind."""
        return tuple(found for found in self.relations if isinstance(found, kind))

    @property
    def apart(self) -> bool:
        """Whether some set of scores differs from row to row."""
        return any(part.apart for part in self.sets)

    @property
    def most_changes(self) -> int:
        """How many features may change."""
        return min([found.count for found in self.constraints(AtMost)], default=len(self.space))

    @property
    def judged_apart(self) -> bool:
        """Whether some constraint needs more than the encoded rows to be judged."""
        return any(isinstance(relation, JUDGED_APART) for relation in self.relations)

    @property
    def margin(self) -> float:
        """How far inside every deciding boundary the answer must stay."""
        return max([found.eps for found in self.constraints(Margin)], default=0.0)

    def rows(self, chosen: IntArray | slice) -> Problem:
        """The same problem for some of the rows."""
        oracle = None if self.oracle is None else self.oracle.rows(chosen)
        sets = tuple(part.rows(chosen) for part in self.sets)
        return replace(self, factuals=self.factuals[chosen], sets=sets, domain=self.domain.rows(chosen), oracle=oracle)

    def with_relation(self, relation: AbstractConstraint) -> Problem:
        """The same problem with one more relation."""
        return replace(self, relations=(*self.relations, relation))

    def admits(self, points: FloatArray) -> BoolArray:
        """Which points respect the domain and every relation but a margin."""
        fine = self.domain.admits(points)
        for relation in self.relations:
            if not isinstance(relation, JUDGED_APART):
                fine = fine & relation.met(self.space, self.factuals, points)
        return np.asarray(fine, dtype=np.bool_)

    def form(self) -> Form:
        """The summary that solvers are matched against."""
        return self._form

    @cached_property
    def _form(self) -> Form:
        movable = self.domain.movable()
        kinds = set()
        for j, feature in enumerate(self.space.features):
            if not movable[j]:
                continue
            if feature.levels is not None:
                kinds.add("levels")
            else:
                kinds.add("whole" if self.domain.step[j] else "continuous")
                if (np.isnan(self.factuals[:, j]) | self.domain.missing[:, j]).any():
                    kinds.add("missing")
        words: dict[str, type[AbstractConstraint]] = {
            "at most": AtMost, "linear": Relation, "implies": Implication, "margin": Margin, "candidates": Candidates,
            "fresh": Fresh, "plausible": Plausible,
        }  # fmt: skip
        return Form(
            model=form_of(self.model),
            scores=score_count(self.model),
            sets=len(self.sets),
            rows=max((len(part.A) for part in self.sets), default=0),
            curved=any(part.curve is not None for part in self.sets),
            movable=frozenset(kinds),
            forced=bool((~self.domain.stay).any()),
            binned=isinstance(self.model, Linear) and any(
                movable[j] and len(cells.edges) for j, cells in enumerate(self.model.cells)
            ),
            cost=self._cost_words(),
            relations=frozenset(word for word, kind in words.items() if self.constraints(kind)),
            weighted_changes=bool(np.ptp(self.prices.l0[movable]) > 0) if movable.any() else False,
            unread=self.model.why if isinstance(self.model, BlackBox) else "",
        )  # fmt: skip

    def _cost_words(self) -> frozenset[str]:
        prices, words = self.prices, set()
        for word, rate in (("l0", prices.l0), ("l1", prices.l1), ("l2", prices.l2)):
            if rate.any():
                words.add(word)
        if prices.has_linf:
            words.add("linf")
        if prices.calls:
            words.add("callable")
        if prices.Q is not None:
            words.add("quadratic")
        if any(not np.isfinite(table).all() for table in prices.tables.values()):
            words.add("forbidden")
        if any(_ranked_apart(prices.tables[j], reach) for j, reach in prices.linf_tables.items()):
            words.add("tradeoff")
        return frozenset(words)


def _ranked_apart(table: FloatArray, reach: FloatArray) -> bool:
    """Whether some row of the two tables puts two levels in opposite orders."""
    first = np.sign(np.nan_to_num(table[:, :, None] - table[:, None, :]))
    second = np.sign(reach[:, :, None] - reach[:, None, :])
    return bool((first * second < 0).any())
