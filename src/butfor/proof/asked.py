"""The question of answers in the words of the proof: columns as features of the model, prices, and what is claimed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.claim import Claim
from butfor.estimator.prediction import Prediction
from butfor.importers.read import Reading
from butfor.model.float_order import last_number
from butfor.neighbours.ball import Ball
from butfor.problem.constraints.constraint import JudgedConstraint
from butfor.problem.constraints.implications import At, Implication
from butfor.problem.constraints.relations import AtMost, LinearRelation
from butfor.problem.held import turn
from butfor.problem.prices import Prices
from butfor.problem.problem import Problem
from butfor.problem.question import Question
from butfor.proof.adversary import AbstractAdversary, CutMover, Shifter
from butfor.proof.asked_columns import AskedColumns
from butfor.proof.asked_prices import added_prices, form_of, reach_of_number
from butfor.proof.joint_files import OtherModel
from butfor.proof.model_files import AbstractInputs, ModelFile, hexes
from butfor.proof.one_sum import END_OF_NO_RANGE, OneSum
from butfor.proof.refused import refuse_ball, refuse_cost
from butfor.proof.wanted import is_curved, not_asked, wanted_of
from butfor.solvers.ensemble.limits import between_values, sum_columns
from butfor.solvers.outcome import Status
from butfor.verdict.case import Case

QUARTERED_AROUND = 12
"""So often ends around an answer come four times as close."""


class ProofQuestion(AskedColumns):
    """The question of some answers, as the checker reads it, and the file of their model with the rows for it.

    `reading`: what was read, with the scores that the target is about; `others`: the models that are asked besides;
    `one_sum`: the sum that the target is about, if the file holds that alone.
    """

    def __init__(
        self,
        claim: Claim,
        case: Case,
        reading: Reading,
        problem: Problem,
        file: ModelFile,
        given: AbstractInputs,
        others: Sequence[OtherModel] = (),
        one_sum: OneSum | None = None,
    ) -> None:
        super().__init__(claim, case, problem, file, given)
        self.reading, self.others, self.one_sum = reading, others, one_sum
        self.curved = any(is_curved(told, self.model.kind) for told in self.wanted)
        refuse_cost(self.problem, self.model, self.curved)

    def row(self, i: int) -> list[dict[str, Any]]:
        """What a row is, may become, and at what price, column by column."""
        each = [self._number(i, j) if inputs is None else self._level(i, j) for j, inputs in enumerate(self.inputs)]
        if self.problem.prices.is_largest or not self.problem.prices.has_linf:
            return each
        return [{**told, "reach": hexes(self._reach(i, j))} for j, told in enumerate(each)]

    def _reach(self, i: int, j: int) -> list[float]:
        """What a change of a column reaches, of which the largest is added: of each level, or of a number."""
        start, inputs = self.problem.factuals[i, j], self.inputs[j]
        if inputs is None:
            return reach_of_number(self.problem.prices, j, known=not np.isnan(start), lost=bool(self.lost[j]))
        own = self.problem.prices.linf_tables.get(j)
        return [0.0] * len(inputs) if own is None else own[self.level_of(j, start), : len(inputs)].tolist()

    @cached_property
    def prices(self) -> Prices:
        """The prices that are added up over columns."""
        return added_prices(self.problem, before_weights=bool(self.model.weights), lost=self.lost)

    @cached_property
    def form(self) -> dict[str, Any]:
        """A quadratic form of changes that is added to prices, if there is one."""
        return form_of(self.prices, self.problem.space, self.lost)

    def _number(self, i: int, j: int) -> dict[str, Any]:
        domain, prices = self.problem.domain, self.prices
        ends = np.clip([domain.low[i, j], domain.high[i, j]], -END_OF_NO_RANGE, END_OF_NO_RANGE).tolist()
        (now,), (lose, find) = hexes(self.problem.factuals[i, [j]]), prices.missing[:, j].tolist()
        price = [each[j] for each in (prices.l0, prices.l1, prices.l2)] if now else [find, 0.0, 0.0]
        if domain.single[j] and max(map(abs, ends)) < float(np.finfo(np.float32).max):
            ends = _single_ends(*ends)  # no end that no float32 has
        if not np.isfinite(price[0]):  # what may not become known
            price[0], ends = 0.0, [1.0, 0.0]
        told = {
            "now": now,
            "least": ends[0].hex(),
            "most": ends[1].hex(),
            "stay": bool(domain.stay[i, j]),
            "price": [float(one).hex() for one in price],
        }
        if now and domain.missing[i, j] and np.isfinite(lose):
            told["missing"] = lose.hex()
        if (ends := self._ends(i, j)) and not self.model.weights:
            told["ends"] = ends
        return told

    def _ends(self, i: int, j: int) -> list[str]:
        """Further ends of cells: where rules begin or end to hold.

        Of a column of relations, or one that is weighed beside trees, also around its own number, if it has one, and, on a
        grid of few, around each.
        """
        one, ends = self.problem.take(np.array([i])), list[float]()
        weighed = any(f in self.model.slopes for f in self.features[j])
        if weighed or j in sum_columns(self.problem) or j in self.form.get("columns", ()):
            between, own = between_values(one, j), one.factuals[0, [j]]
            ends = np.nextafter(own[~np.isnan(own), None], [-np.inf, np.inf]).ravel().tolist()
            ends += [] if between is None else between.tolist()
            ends += self._near_answer(i, j) if weighed and self.curved and between is None else []
        told = [x for rule in self.never(i) for k, *where in rule if k == j for x in where[:2] if x is not None]
        return [*map(float.hex, ends), *told]

    def _near_answer(self, i: int, j: int) -> list[float]:
        """Ends that are the closer together the nearer the answer is: a curve is no line, and what is cheaper is far from it."""
        answer, certificate = self.answer_at(i), self.claim.stated.certificates[i]
        near = self.problem.take(np.array([i])).within(certificate.cost)
        low, high = float(near.domain.low[0, j]), float(near.domain.high[0, j])
        x = low if answer is None else float(answer[j])
        if not low < high or np.isnan(x):
            return []
        away = (high - low) / 4.0 ** np.arange(1, QUARTERED_AROUND)
        ends = np.concatenate([x - away, x + away])
        return sorted({end for end in ends.tolist() if low < end < high})

    def never(self, i: int) -> list[list[list[Any]]]:
        """The rules of a row: in which sets columns never lie at once. A cause never comes without its consequence."""
        one, found = self.problem.take(np.array([i])), list[list[list[Any]]]()
        for relation in self.problem.relations_of(Implication):
            (cause, caused), (consequence, follows) = relation.parts(one.space, one.factuals[0])
            both: list[tuple[int, At]] = [(cause, caused), (consequence, partial(_otherwise, follows))]
            found.append([[j, *self._where(one, j, holds)] for j, holds in both])
        return found

    def _where(self, one: Problem, j: int, holds: At) -> list[Any]:
        """Where something holds of a column: the positions of levels, or above and at most which numbers, and if missing."""
        lost, levels = bool(self.lost[j]), self.problem.space.features[j].levels
        missing = lost and bool(holds(np.array([np.nan]))[0])
        if levels is not None:
            return [np.flatnonzero([*holds(np.arange(len(levels), dtype=np.float64)), *[missing] * lost]).tolist()]
        ends, own = np.array([-END_OF_NO_RANGE, END_OF_NO_RANGE]), one.factuals[0, j]
        first, last = holds(ends).tolist()
        if first == last:
            return [*([None, None] if first else [(0.0).hex()] * 2), missing]
        at = last_number(lambda x: holds(x) == first, *ends.tolist())
        between = turn(one.domain, j, holds)  # of a grid: so that it is in no doubt
        at = at if between == np.inf or (own <= at) != (own <= between) else between
        return [None if first else at.hex(), None if last else at.hex(), missing]

    def _level(self, i: int, j: int) -> dict[str, Any]:
        domain, size = self.problem.domain, self.problem.domain.levels[j].shape[1] + int(self.lost[j])
        now = self.level_of(j, self.problem.factuals[i, j])
        price = self.prices.tables[j][now, :size]
        may = np.append(domain.levels[j][i], domain.missing[i, j])[:size]
        may[now] = domain.stay[i, j]
        may &= np.isfinite(price)
        return {
            "now": now,
            "prices": [one.hex() if fine else None for one, fine in zip(price.tolist(), may.tolist(), strict=True)],
        }

    def level_of(self, j: int, code: float) -> int:
        """The position of a level. A missing one is the last."""
        return self.prices.tables[j].shape[0] - 1 if np.isnan(code) else int(code)

    @cached_property
    def wanted(self) -> list[dict[str, Any]]:
        """What is wanted of each row. Raises an error if no proof can say it."""
        target, before = self.case.question.target, self.case.before
        before_each = [before.take(np.array([i])) for i in range(len(self.claim))]
        if self.one_sum is not None:
            return [self.one_sum.wanted(one) for one in before_each]
        each = [wanted_of(target, self.reading, one, self.model.kind) for one in before_each]
        return [self._beside_others(told, one) for told, one in zip(each, before_each, strict=True)]

    def _beside_others(self, told: dict[str, Any], before: Prediction) -> dict[str, Any]:
        """What is wanted of a row, which the estimator predicts `before`, with what is wanted of other models."""
        if not self.others:
            return told
        if "either" in told:
            return {"either": [[cost, self._beside_others(one, before)] for cost, one in told["either"]]}
        return {**told, "others": [other.wanted(before) for other in self.others]}

    def said(self, i: int, table: Any) -> Any:
        """What the estimator says of rows of the table: for a row whose target the file is about, whether they have that."""
        if self.file.tells != "target":
            return self.file.score(self.given.given(table))
        prediction = Prediction(self.claim.reading.source, table)
        before = self.case.before.take(np.full(prediction.height, i))
        return self.case.question.target.met(before, prediction)

    def changes(self) -> int | None:
        """How many columns may change; None if that is not limited."""
        return min(self.problem.most_changes, len(self.columns)) if self.problem.relations_of(AtMost) else None

    def joining(self, i: int) -> dict[str, Any]:
        """What a row says of several columns at once: its relations, its rules, and its ball."""
        cost = "largest" if self.problem.prices.is_largest else ""
        ball, told = self.ball, dict[str, Any]()
        if ball is not None:
            told = {"norm": str(ball.norm), "radius": [x.hex() if x > 0 else None for x in ball.radius.tolist()]}
        relations, never = self.relations(i), self.never(i)
        return {"cost": cost, "form": self.form, "relations": relations, "never": never, "ball": told}

    @cached_property
    def ball(self) -> Ball | None:
        """The ball in which answers keep what is wanted, if there is one. Raises an error if no proof can say it."""
        for rule in balls(self.case.question):
            refuse_ball(rule, self.problem, self.model, self.lost, self.curved)
        return self.problem.demands.ball

    def adversary(self, i: int, columns: list[Any], until: float) -> AbstractAdversary | None:
        """Who finds neighbours that miss what is wanted of a row; None if there is no ball, or none but of weighted sums."""
        if self.ball is None or (self.model.weights and not self.model.layers):
            return None
        one, target = np.array([i]), self.case.question.target
        ((_, score_sets),) = target.groups(self.reading.readout, self.case.before.take(one))
        problem = self.problem.take(one).with_witnesses(unit=self.reading.unit)
        return (Shifter if self.model.layers else CutMover)(problem, score_sets, columns, until)

    def relations(self, i: int) -> list[dict[str, Any]]:
        """The relations of a row: sums of columns between two ends, give or take what rounding leaves open."""
        space, found = self.problem.space, list[dict[str, Any]]()
        near = self.problem.take(np.array([i])).within(self.claim.stated.certificates[i].cost)
        low, high, now = near.domain.low[0], near.domain.high[0], np.nan_to_num(near.factuals[0])
        ends = np.array([*np.where(low <= high, [low, high], now), now])  # what may not move stays what it is
        for one in self.problem.relations_of(LinearRelation):
            numbers, levels = one.of_numbers(space), one.of_levels(space)
            sizes = {j: float(abs(weight)) * np.nanmax(np.abs(ends[:, j])) for j, weight in numbers.items()}
            off = one.doubt(space, {**sizes, **{j: float(max(map(abs, its))) for j, its in levels.items()}})
            if not off < np.inf:
                raise not_asked(f"the constraint {one!r} of numbers without a range")
            told: list[list[Any]] = [[j, str(weight)] for j, weight in numbers.items()]
            told += [[j, [*map(str, its), *["0"] * bool(self.lost[j])]] for j, its in levels.items()]
            least, most = (None if end is None else str(end) for end in one.ends(space, self.problem.factuals[i]))
            found.append({"adds": told, "least": least, "most": most, "off": off.hex()})
        return found

    def answer(self, i: int) -> list[Any] | None:
        """The values of an answer."""
        point = self.answer_at(i)
        if point is None:
            return None
        return [
            hexes([value])[0] if inputs is None else self.level_of(j, value)
            for j, (value, inputs) in enumerate(zip(point, self.inputs, strict=True))
        ]

    def answer_at(self, i: int) -> FloatArray | None:
        """Where an answer is; None if there is none."""
        if i not in self.claim.stated.found:
            return None
        point = np.asarray(self.claim.answers.point_codes[i])
        return point if self.merging is None else self.merging.merge(point[None])[0]

    def why_not(self, i: int) -> str:
        """Why the bound of an answer is not proven; empty if it can be."""
        answers, certificate = self.claim.answers, self.claim.stated.certificates[i]
        if answers.ranks[i] > 1:
            return f"answer {answers.ranks[i]} to the row: only the cheapest is proven"
        if not certificate.bound > 0:
            if certificate.status is Status.PROVEN_OPTIMAL:
                return "the answer costs nothing" if certificate.cost == 0 else "the answer costs next to nothing"
            return f"nothing is claimed: {certificate.status.value}"
        return ""


def balls(question: Question) -> list[JudgedConstraint]:
    """The constraint about a ball, if there is one."""
    return [rule for rule in question.judged if rule.in_ball]


def _single_ends(low: float, high: float) -> list[float]:
    """The least and the largest float32 between two numbers; the first is above the last if there is none."""
    given = np.array([low, high])
    ends = given.astype(np.float32)
    beyond = np.array([ends[0] < given[0], ends[1] > given[1]])
    inward = np.array([np.inf, -np.inf], dtype=np.float32)
    low, high = np.where(beyond, np.nextafter(ends, inward), ends).tolist()
    return [low, high]


def _otherwise(holds: At, values: FloatArray) -> BoolArray:
    """Where something does not hold."""
    return ~holds(values)
