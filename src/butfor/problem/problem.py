"""The problem that a solver is given.

It holds factual rows, a model, where its scores should lie, what changes cost and what they must respect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray, as_run
from butfor.model.black_box import BlackBox
from butfor.model.blend import Blend, Blends
from butfor.model.clearance import stays_clear
from butfor.model.computed import FreeLayout, OverComputed
from butfor.model.following import NotComposedError
from butfor.model.linear import Linear
from butfor.model.questions import Model, evaluate, kind_of
from butfor.model.rounding import grain, grain_at, rounding
from butfor.model.scores import Doubt, ScoreSet
from butfor.model.trees import Trees
from butfor.neighbours.ball import BallNorm
from butfor.problem.acted.acting import Acting, about_actions, cases_of
from butfor.problem.constraints.admissible import admissible, relations_of
from butfor.problem.constraints.computed import ComputedColumn, OnComputed, features_of
from butfor.problem.constraints.constraint import AbstractConstraint, Relation, Searched, among_each_other
from butfor.problem.constraints.follows import Consequences
from butfor.problem.constraints.linked import Combinations, counting
from butfor.problem.constraints.relations import AtMost, Fresh
from butfor.problem.constraints.restrictions import restrictions_in
from butfor.problem.cost_terms import terms_of
from butfor.problem.demands import NO_DEMANDS, Demands
from butfor.problem.domain import Domain
from butfor.problem.form import Form, ValueKind
from butfor.problem.merged.following import merging_of_nothing, obstacle
from butfor.problem.merged.merging import Merging, TooManyError
from butfor.problem.prices import Prices
from butfor.problem.witnesses import NO_WITNESSES, Witnesses
from butfor.space.space import Space

R = TypeVar("R", bound=Relation)


@dataclass(frozen=True, eq=False)
class Problem:
    """The task to find the cheapest admissible change for each of n rows.

    The rows share one space, one model and one union of score sets.

    - `score_sets`: the scores must lie in at least one of them;
    - `domain`: what each column may become; it respects every `Restriction`;
    - `relations`: the constraints on several columns;
    - `demands`: what an answer must respect beyond all this;
    - `witnesses`: who may be asked about an answer;
    - `acting`: what follows from one's actions (None: nothing does). Then all is about actions, and the model is asked.
    """

    space: Space
    model: Model
    factuals: FloatArray
    score_sets: tuple[ScoreSet, ...]
    prices: Prices
    domain: Domain
    relations: tuple[Relation, ...] = ()
    demands: Demands = NO_DEMANDS
    witnesses: Witnesses = NO_WITNESSES
    acting: Acting | None = None

    def __len__(self) -> int:
        return len(self.factuals)

    def relations_of(self, kind: type[R]) -> tuple[R, ...]:
        """The relations of one class."""
        return tuple(found for found in self.relations if isinstance(found, kind))

    def without_relations_of(self, *kinds: type[Relation]) -> Problem:
        """The same problem without the relations of some classes."""
        return replace(self, relations=tuple(found for found in self.relations if not isinstance(found, kinds)))

    @property
    def per_row(self) -> bool:
        """Whether some set of scores differs from row to row."""
        return any(score_set.per_row for score_set in self.score_sets)

    @property
    def limits(self) -> list[tuple[BoolArray, int]]:
        """For each relation that counts changes: which features it counts, and how many of them may change at most."""
        every = np.ones(len(self.space), dtype=np.bool_)
        fresh = [
            (np.array([name in found.names for name in self.space.names]), len(found.names) - 1)
            for found in self.relations_of(Fresh)
        ]
        return [*((every, found.count) for found in self.relations_of(AtMost)), *fresh]

    @property
    def together(self) -> tuple[tuple[str, ...], ...]:
        """The names of the columns that count as one change, group by group, and of those that count as none."""
        return counting(self.relations)

    @property
    def most_changes(self) -> int:
        """How many features may change."""
        return min([found.count for found in self.relations_of(AtMost)], default=len(self.space))

    def take(self, rows: IntArray | slice) -> Problem:
        """The same problem for some of the rows."""
        rows = as_run(rows)
        return replace(
            self,
            factuals=self.factuals[rows],
            score_sets=tuple(score_set.take(rows) for score_set in self.score_sets),
            domain=self.domain.take(rows),
            demands=self.demands.take(rows),
            witnesses=self.witnesses.take(rows),
            acting=self.acting and self.acting.take(rows),
        )

    def within(self, cost: float) -> Problem:
        """The same problem of a single row, about answers that cost at most so much. Its numbers move less far."""
        move, x = self.prices.farthest_move(cost), self.factuals
        low, high = np.fmax(self.domain.low, x - move), np.fmin(self.domain.high, x + move)
        return replace(self, domain=replace(self.domain, low=low, high=high))

    def of_neighbours(self) -> Problem:
        """The same problem about the neighbours of a row in the ball. They must meet the target, and nothing else.

        They may lie outside of the domain, as far as the ball reaches. There, numbers are larger, and so is their rounding.
        """
        assert self.demands.ball is not None
        return replace(self, domain=self.domain.reaching(self.demands.ball.radius), witnesses=self.witnesses.of_target)

    def with_relation(self, relation: Relation) -> Problem:
        """The same problem with one more relation."""
        return replace(self, relations=among_each_other((*self.relations, relation)))

    def with_demands(self, **demands: Any) -> Problem:
        """The same problem with other demands of these names."""
        return replace(self, demands=replace(self.demands, **demands))

    def with_witnesses(self, **witnesses: Any) -> Problem:
        """The same problem with other witnesses of these names."""
        return replace(self, witnesses=replace(self.witnesses, **witnesses))

    def with_judged(self, constraint: Searched) -> Problem:
        """The same problem with one more constraint that the referee must decide."""
        return self.with_demands(judged=(*self.demands.judged, constraint))

    def admits(self, points: FloatArray) -> BoolArray:
        """Which points lie in the domain and keep every relation."""
        fine = self.domain.admits(points)
        for relation in self.relations:
            fine = fine & relation.holds_between(self.space, self.factuals, points)
        return np.asarray(fine, dtype=np.bool_)

    def reached(self, score_set: ScoreSet, point: FloatArray) -> bool:
        """Whether a point is an answer to the only row of this problem.

        Its scores must lie in the set, it must be admissible, and it must keep the margin.
        """
        if not self.admits(point[None])[0] or not self.meets(score_set, point):
            return False
        return bool(stays_clear(self.model, self.space, point[None], (score_set,), self.demands.margin)[0])

    def meets(self, score_set: ScoreSet, point: FloatArray) -> bool:
        """Whether the estimator sees the scores of a point in the set. It is asked itself where rounding decides."""
        scores = evaluate(self.model, point[None])
        for doubt in self._doubts(score_set, point):
            if score_set.surely(scores, doubt)[0]:
                return True
            if not score_set.perhaps(scores, doubt)[0]:
                return False
        if self.witnesses.confirmation is None:
            return bool(score_set.holds(scores)[0])
        confirmed = self.witnesses.confirmation.confirms(point, score_set.offset)
        if not confirmed and not self.witnesses.guard and self._depends_on_company(score_set, point):
            self.note_refusal(float(self.prices.total(self.factuals[:1], point[None])[0]) + score_set.offset)
        return confirmed

    def note_refusal(self, cost: float) -> None:
        """Keep in mind that the estimator may take a point of this cost for the first row, although it refused it alone."""
        if self.witnesses.refusals is not None:
            self.witnesses.refusals.note(self.factuals[0], cost)

    def forget_refusals(self) -> None:
        """Forget it for the first row, which is looked at again."""
        if self.witnesses.refusals is not None:
            self.witnesses.refusals.forget(self.factuals[0])

    @property
    def judged_together(self) -> bool:
        """Whether other models have a say in what is an answer, so that a refusal need not be the estimator's."""
        confirmation = self.witnesses.confirmation
        return confirmation is not None and confirmation.of_target() is not confirmation

    def _depends_on_company(self, score_set: ScoreSet, point: FloatArray) -> bool:
        """Whether the estimator may take a point beside other rows that it refuses alone, because its sum is rounded.

        Sums without rounding are the same in any order. Trees are added up one after the other, whatever the other rows
        are, and only what is done with their sum may differ. So it is where functions of sums are level. What is read of
        several models together does not tell how one of them adds up.
        """
        assert self.witnesses.confirmation is not None
        target, most = self.witnesses.confirmation.of_target(), score_set.offset
        if score_set.curve is None and not all(doubt.rows.any() for doubt in self._doubts(score_set, point)):
            return False
        joint = self.judged_together
        if joint and target.confirms(point, most):
            return False
        curve, scores = score_set.curve, evaluate(self.model, point[None])[0]
        same = isinstance(self.model, Trees) or (curve is not None and curve.is_level(scores, self.doubt(score_set)))
        return not (same or joint) or target.confirms_twins(point, most)

    def doubt(self, score_set: ScoreSet) -> Doubt:
        """How far from its edges the rounding of sums decides whether a point lies in a score set."""
        return self._doubt(score_set, grain(self.model, score_set.A, self.domain.extent, self.witnesses.unit))

    def _doubts(self, score_set: ScoreSet, point: FloatArray) -> Iterable[Doubt]:
        """The doubt that holds for all points, and that of one: its terms may add up exactly where others do not."""
        yield self.doubt(score_set)
        yield self._doubt(score_set, grain_at(self.model, score_set.A, point, self.witnesses.unit))

    def _doubt(self, score_set: ScoreSet, size: FloatArray) -> Doubt:
        A, extent = score_set.A, self.domain.extent
        each = np.eye(A.shape[1] if score_set.curve is not None else 0, A.shape[1])
        sums, scores = (
            (1 + self.witnesses.guard) * rounding(self.model, some, extent, self.witnesses.unit) for some in (A, each)
        )
        return Doubt(np.where(size > 0, 0.0, sums), scores, size)

    @cached_property
    def merging(self) -> Merging:
        """How columns that belong together are merged. It raises `TooManyError` if they have too many combinations."""
        return Merging.of(self)

    @cached_property
    def merged(self) -> Problem:
        """The problem in which columns that belong together are one."""
        return self.merged_by(self.merging)

    @cached_property
    def freeing(self) -> Merging:
        """How columns that follow from others are left out."""
        return Merging(self, FreeLayout.of(len(self.space), features_of(self.relations_of(ComputedColumn), self.space)))

    @cached_property
    def freed(self) -> Problem:
        """The problem in which only free columns move. The others follow before anybody is asked."""
        return self.merged_by(self.freeing)

    def merged_by(self, merging: Merging) -> Problem:
        """The problem in which some columns are one."""
        return replace(
            self,
            space=merging.space,
            model=merging.model,
            factuals=merging.factuals,
            prices=merging.prices,
            domain=merging.domain,
            relations=merging.relations,
            demands=merging.demands,
            witnesses=merging.witnesses,
            acting=None,
        )

    def about_actions(self, consequences: Consequences) -> Problem:
        """The same problem about one's actions, from which values follow. Its domain and relations are about them already."""
        return replace(self, **about_actions(self, consequences))

    @property
    def cases(self) -> Iterator[Problem]:
        """The problems of the only row in which it is settled what follows. Each has a model of actions.

        Raises `NotComposedError` if there is none.
        """
        assert self.acting is not None
        return (replace(self, **case) for case in cases_of(self, self.acting))

    def form(self) -> Form:
        """The summary by which a solver is chosen."""
        return self._form

    def _merged_form(self) -> tuple[Form | None, str]:
        """The form of the problem in which linked columns are one, or why there is none."""
        if not self.relations_of(Combinations):
            return None, ""
        try:
            obstacle = self.merging.obstacle()
        except TooManyError as error:
            return None, str(error)
        return (None, obstacle) if obstacle else (self.merged.form(), "")

    def _placed_form(self) -> tuple[Form | None, str]:
        """The form of the problem in which columns are one with those that follow from them, or why there is none."""
        if not self.relations_of(ComputedColumn) and not isinstance(self.model, OverComputed):
            return None, ""
        why = obstacle(self)
        first = self.take(slice(0, 1))
        return (None, why) if why else (first.merged_by(merging_of_nothing(first)).form(), "")

    def _acted_forms(self) -> tuple[tuple[Form, ...], str]:
        """The forms of the cases of the first row, or why there are none."""
        if self.acting is None or not len(self):
            return (), ""
        try:
            return tuple(case.form() for case in self.take(slice(0, 1)).cases), ""
        except NotComposedError as error:
            return (), str(error)

    @cached_property
    def _form(self) -> Form:
        movable, (merged, unmerged) = self.domain.movable, self._merged_form()
        (placed, unplaced), (cases, uncased) = self._placed_form(), self._acted_forms()
        return Form(
            model=kind_of(self.model),
            inequalities=max((len(score_set.A) for score_set in self.score_sets), default=0),
            curved=any(score_set.curve is not None for score_set in self.score_sets),
            movable=frozenset(self._value_kinds(movable)),
            forced=bool((~self.domain.stay).any()),
            binned=isinstance(self.model, Linear)
            and any(movable[j] and len(cells.edges) for j, cells in enumerate(self.model.cells)),
            cost=terms_of(self.prices, movable & self.domain.missing.any(axis=0)),
            constraints=self.demands.kinds | {relation.kind for relation in self.relations},
            weighted_changes=bool(np.ptp(self.prices.l0[movable]) > 0) if movable.any() else False,
            blended=any(isinstance(score_set.curve, Blend | Blends) for score_set in self.score_sets),
            separable=isinstance(self.model, Trees) and self.model.separable,
            round_ball=self.demands.ball is not None and self.demands.ball.norm is not BallNorm.LINF,
            slips=self.demands.ball is not None and bool(self.demands.ball.slips),
            combinations=float(np.prod(self.domain.counts()[movable]))
            * (1 if self.demands.ball is None else self.demands.ball.count),
            unread=self.model.why if isinstance(self.model, BlackBox) else "",
            merged=merged,
            unmerged=unmerged,
            placed=placed,
            unplaced=unplaced,
            acted=self.acting is not None,
            cases=cases,
            uncased=uncased,
        )

    def _value_kinds(self, movable: BoolArray) -> Iterator[ValueKind]:
        """The kinds of values that the movable features have."""
        reals, lost = self.domain.reals(), np.any(np.isnan(self.factuals) | self.domain.missing, axis=0)
        for j in np.flatnonzero(movable & [not feature.unread for feature in self.space]).tolist():
            if self.space.features[j].levels is not None:
                yield ValueKind.LEVELS
            else:
                yield ValueKind.CONTINUOUS if reals[j] else ValueKind.WHOLE
                if lost[j]:
                    yield ValueKind.MISSING


def state(
    space: Space,
    model: Model,
    factuals: FloatArray,
    score_sets: tuple[ScoreSet, ...],
    prices: Prices,
    constraints: Iterable[AbstractConstraint],
) -> Problem:
    """The problem of some rows under constraints: restrictions narrow the domain, relations are listed.

    Constraints that a model must judge enter later, because they need the score sets (see `Demanded.enter`).
    """
    listed = tuple(constraints)
    relations = relations_of(space, listed)
    if any(constraint.following for constraint in listed):
        relations += tuple(map(OnComputed, restrictions_in(listed)))
    return Problem(space, model, factuals, score_sets, prices, admissible(space, factuals, listed), relations)
