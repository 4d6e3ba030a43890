"""What stands behind a problem about actions, and its cases: in each, it is settled which events happen.

In one case, the values of a row are an affine function of its actions. So the model can be read as one of actions, and what is
left is an ordinary problem. The cheapest answer of all cases is the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.model.black_box import BlackBox
from butfor.model.following import Following, NotComposedError, composed
from butfor.model.questions import Model, is_read
from butfor.model.scores import ScoreSet
from butfor.problem.acted.translated import ActedSearched, acted_witnesses
from butfor.problem.constraints.constraint import Relation
from butfor.problem.constraints.follows import Consequences
from butfor.problem.constraints.implications import Event
from butfor.problem.constraints.of_values import OfValues, ValuesKept
from butfor.problem.constraints.relations import Apart, LinearRelation
from butfor.problem.decimals import printed
from butfor.problem.demands import Demands
from butfor.problem.domain import Domain
from butfor.problem.held import held
from butfor.problem.whole import Whole
from butfor.problem.witnesses import Witnesses

MOST_EVENTS = 6
"""Of how many events it is settled whether they happen, in every combination."""

Fields = dict[str, Any]
"""What differs from one problem to another."""


@dataclass(frozen=True, eq=False)
class Acting:
    """The consequences, and the problem about values: its model, score sets, demands and witnesses."""

    consequences: Consequences
    model: Model
    score_sets: tuple[ScoreSet, ...]
    demands: Demands
    witnesses: Witnesses

    def take(self, rows: IntArray | slice) -> Acting:
        """The same for some of the rows of the problem."""
        return replace(
            self,
            score_sets=tuple(score_set.take(rows) for score_set in self.score_sets),
            demands=self.demands.take(rows),
            witnesses=self.witnesses.take(rows),
        )


def about_actions(whole: Whole, consequences: Consequences) -> Fields:
    """What differs from a problem about values, if it is asked about actions: the model is asked point by point."""
    demands, asked = whole.demands, acted_witnesses(whole.witnesses, consequences, whole.factuals)
    judged = tuple(ActedSearched(one, consequences, whole.factuals[0]) for one in demands.judged)
    why = "some columns follow from others" if is_read(whole.model) else whole.model.why  # type: ignore[union-attr]
    return {
        "model": BlackBox(why),
        "score_sets": (),
        "demands": replace(demands, judged=judged),
        "witnesses": replace(asked, oracle=asked.oracle or asked.examples),
        "acting": Acting(consequences, whole.model, whole.score_sets, demands, whole.witnesses),
    }


def cases_of(whole: Whole, acting: Acting) -> Iterator[Fields]:
    """The problems of the only row in which it is settled which events happen, as what differs from the whole.

    Raises `NotComposedError` if the model cannot be read as one of actions.
    """
    consequences = acting.consequences
    _refuse(whole, acting)
    for happens, domain in _settled(whole, consequences.events, whole.domain):
        case = _Case(whole, acting, consequences.settled(happens), domain)
        if case.possible:
            yield case.fields()


def _refuse(whole: Whole, acting: Acting) -> None:
    """Refuse what no case can hold."""
    consequences, space = acting.consequences, whole.space
    touched = [*consequences.effects, *consequences.causes]
    if not is_read(acting.model):
        raise NotComposedError("the model could not be read")
    if whole.demands.margin or whole.demands.ball is not None:
        raise NotComposedError("a margin and a ball are about values, and not about actions")
    if whole.domain.missing[:, touched].any():
        raise NotComposedError("a column that others follow from, or that follows from others, may become missing")
    if len(consequences.events) > MOST_EVENTS:
        raise NotComposedError(f"more than {MOST_EVENTS} events have consequences")
    if any(space.index(event.name) in consequences.effects for event in consequences.events):
        raise NotComposedError("an event with consequences is itself about a column that follows from others")


def _settled(whole: Whole, events: tuple[Event, ...], domain: Domain) -> Iterator[tuple[dict[Event, bool], Domain]]:
    """Which events happen, in every combination, and what may be done then."""
    if not events:
        yield {}, domain
        return
    event, *others = events
    j, row = whole.space.index(event.name), whole.factuals[0]

    def happens(told: bool, values: FloatArray) -> BoolArray:
        after = np.repeat(row[None], len(values), axis=0)
        after[:, j] = values
        return np.asarray(event.holds(whole.space, np.repeat(row[None], len(values), axis=0), after) == told)

    for told in (False, True):
        inside = held(domain, j, partial(happens, told))
        if _is_open(inside, j):
            for rest, within in _settled(whole, tuple(others), inside):
                yield {event: told, **rest}, within


def _is_open(domain: Domain, j: int) -> bool:
    """Whether the only row may have any value of a column."""
    some = domain.levels[j].any() if j in domain.levels else domain.low[0, j] <= domain.high[0, j]
    return bool(some or domain.stay[0, j] or domain.missing[0, j])


class _Case:
    """The problem of the only row where it is settled which events happen."""

    def __init__(self, whole: Whole, acting: Acting, consequences: Consequences, domain: Domain) -> None:
        self.whole, self.acting, self.consequences = whole, acting, consequences
        self.row, self.relations = whole.factuals[0], list[Relation]()
        self.domain = domain
        self.following = self._following()
        for relation in whole.relations:
            self._keep(relation)
        self.following = self._following()

    @property
    def possible(self) -> bool:
        """Whether anything may be done at all."""
        return all(_is_open(self.domain, j) for j in range(len(self.row)))

    def fields(self) -> Fields:
        """What differs from the whole problem."""
        acting, whole = self.acting, self.whole
        return {
            "model": composed(acting.model, self.following),
            "score_sets": acting.score_sets,
            "domain": self.domain,
            "relations": tuple(self.relations),
            "witnesses": acted_witnesses(acting.witnesses, acting.consequences, whole.factuals),
            "acting": None,
        }

    def _following(self) -> Following:
        d, space = len(self.row), self.whole.space
        matrix, shift = np.eye(d), np.zeros(d)
        effects = [j for j in self.consequences.effects if not np.isnan(self.row[j])]
        for j in effects:
            for rule in self.consequences.of(j):
                i = space.index(rule.cause)
                if isinstance(rule.of, Event):
                    shift[j] += float(rule.gain(space, self.row[None], self.row[None])[0])
                elif not np.isnan(self.row[i]):
                    matrix[j] += rule.by * matrix[i]
                    shift[j] += rule.by * shift[i]
        ends = np.stack([self.domain.low[0], self.domain.high[0], self.row])
        ends = np.where(np.isfinite(ends) & (ends[0] <= ends[1]) | (np.arange(3) == 2)[:, None], ends, np.nan)
        start = np.broadcast_to(self.row, (1, d))
        return Following(
            start=self.row,
            matrix=matrix,
            shift=shift,
            effects=tuple(effects),
            free=self.domain.movable,
            low=np.fmin.reduce(ends, axis=0),
            high=np.fmax.reduce(ends, axis=0),
            step=self.domain.step,
            anchor=self.domain.anchor,
            values=lambda points: self.consequences.values(np.broadcast_to(start, points.shape), points),
        )

    def _keep(self, relation: Relation) -> None:
        """Keep a relation: as it is about actions, by the domain, or as one between numbers."""
        if isinstance(relation, ValuesKept):
            ends = relation.values(self.row[None])
            for j in self.following.effects:
                self._keep_between(j, float(ends.low[0, j]), float(ends.high[0, j]), bool(ends.stay[0, j]))
        elif isinstance(relation, OfValues) and isinstance(relation.relation, LinearRelation):
            known = relation.relation
            weights = np.zeros(len(self.row))
            for name, weight in known.weights:
                weights[self.whole.space.index(name)] = weight
            self._relate(weights, known.sense, printed(known.bound))
        elif not isinstance(relation, Apart):  # it is parted before, as the domain
            self.relations.append(relation)

    def _keep_between(self, j: int, low: float, high: float, stay: bool) -> None:
        """Keep the value of a column between two ends. It may stay what it is, if that is beyond them."""
        x = float(self.row[j])
        if stay and not low <= x <= high:
            raise NotComposedError("a value that follows from others may stay outside of its range")
        movers = self.following.movers(j)
        if len(movers) <= 1:
            p = int(movers[0]) if len(movers) else j
            value = partial(self.following.along, j, p)
            self.domain = held(self.domain, p, lambda y: np.isnan(y) | (value(y) >= low))
            self.domain = held(self.domain, p, lambda y: np.isnan(y) | (value(y) <= high))
            return
        weights = np.zeros(len(self.row))
        weights[j] = 1.0
        ends = self._reach(j)
        if ends[1] > high:
            self._relate(weights, "<=", printed(high))
        if ends[0] < low:
            self._relate(weights, ">=", printed(low))

    def _reach(self, j: int) -> tuple[float, float]:
        """Between which ends a value lies, whatever is done."""
        moved = self.following.matrix[j] * np.stack([self.following.low, self.following.high])
        moved = np.where(self.following.free, moved, self.following.matrix[j] * np.nan_to_num(self.row))
        base = float(self.following.offset[j])
        return base + float(moved.min(axis=0).sum()), base + float(moved.max(axis=0).sum())

    def _relate(self, weights: FloatArray, sense: Any, bound: Fraction) -> None:
        """Keep a relation between values, as one between actions: those of columns that may be acted on."""
        following, space = self.following, self.whole.space
        of_actions = weights @ following.matrix
        read = np.flatnonzero(weights)
        rest = bound - sum(
            (printed(float(weights[j])) * printed(float(self.row[j])) for j in read.tolist()), Fraction()
        )
        rest -= sum(
            (printed(float(weights[j])) * printed(float(following.shift[j])) for j in read.tolist()), Fraction()
        )
        at = [int(i) for i in np.flatnonzero(of_actions) if following.free[i]]
        told = {i: printed(float(f"{of_actions[i]:.15g}")) for i in at}
        rest += sum((told[i] * printed(float(self.row[i])) for i in at), Fraction())
        if not at:
            fine = {"<=": rest >= 0, ">=": rest <= 0, "==": rest == 0}[sense]
            self.domain = self.domain if fine else self._nothing()
            return
        self.relations.append(LinearRelation(tuple((space.names[i], float(told[i])) for i in at), sense, float(rest)))

    def _nothing(self) -> Domain:
        """A domain in which nothing is possible."""
        kept = self.domain.without_moves(np.ones(len(self.row), dtype=np.bool_))
        return replace(kept, stay=np.zeros_like(kept.stay))
