"""Readouts of two classes whose probabilities are means of several functions, and votes; values behind such means."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.model.blend import FIRM, PERHAPS, Blend, both
from butfor.model.linked import Linked
from butfor.model.monotone import MonotoneFunction
from butfor.model.readout import AbstractReadout, Link
from butfor.model.scores import UNIT_DOUBLE, ScoreSet, everything


@dataclass(frozen=True, eq=False)
class Blended(AbstractReadout):
    """Two classes. Their probabilities are means of monotone functions, each of its own sum of scores.

    - `rows` (members, scores), `weights` (members): see `Blend`;
    - `chances`: for each member, the probabilities of both classes. The first class wins a tie.
    """

    classes: tuple[Any, ...]
    rows: FloatArray
    weights: FloatArray
    chances: tuple[tuple[MonotoneFunction, MonotoneFunction], ...]
    link: Link = "none"
    unit: float = UNIT_DOUBLE

    def rounded(self, unit: float) -> Blended:
        chances = tuple((first.rounded(unit), second.rounded(unit)) for first, second in self.chances)
        return replace(self, chances=chances, unit=max(unit, self.unit))

    def _blend(self, label: int, least: float, sign: float = 1.0) -> Blend:
        return Blend(self.rows, self.weights, tuple(chance[label] for chance in self.chances), sign * least, sign)

    def _set(self, label: int, least: float, sign: float = 1.0) -> tuple[ScoreSet, ...]:
        width = self.rows.shape[1]
        curve = self._blend(label, least, sign)
        return (ScoreSet(np.zeros((0, width)), np.zeros(0), np.zeros(0, dtype=np.bool_), curve=curve),)

    def decide(self, scores: FloatArray) -> IntArray:
        given = self.probabilities(scores)
        return (given[:, 1] > given[:, 0]).astype(np.intp)

    def class_sets(self, label: int) -> tuple[ScoreSet, ...]:
        return self._set(label, float(np.nextafter(0.5, 1.0)) if label else 0.5)

    def probabilities(self, scores: FloatArray) -> FloatArray:
        return np.column_stack([-self._blend(label, 0.0).excesses(scores) for label in (0, 1)])

    def probabilities_between(self, scores: FloatArray, slack: FloatArray) -> tuple[FloatArray, FloatArray]:
        off = float(slack.max(initial=0.0)) * np.abs(self.rows).sum(axis=1)
        least, most = (
            np.column_stack(
                [-replace(self._blend(label, 0.0), off=off, side=side).excesses(scores) for label in (0, 1)]
            )
            for side in (FIRM, PERHAPS)
        )
        return least, most

    def probability_sets(
        self, label: int, p: float, *, below: bool = False, strict: bool = False
    ) -> tuple[ScoreSet, ...]:
        if strict:
            p = float(np.nextafter(p, -np.inf if below else np.inf))
        return self._set(label, p, -1.0 if below else 1.0)


@dataclass(frozen=True, eq=False)
class Voted(Blended):
    """Two classes, for each of which members vote. The first class wins a tie.

    `total` is the sum of all weights. If they are whole, so are the counts, and nothing is in doubt about a tie.
    """

    total: float = 1.0

    def class_sets(self, label: int) -> tuple[ScoreSet, ...]:
        weights = self.weights * self.total
        if not np.allclose(weights, np.round(weights), rtol=0, atol=1e-9):
            return super().class_sets(label)
        half = np.round(self.total) / 2
        needed = np.floor(half) + 1 if label else np.ceil(half)
        return self._set(label, float((needed - 0.5) / self.total))


@dataclass(frozen=True, eq=False, kw_only=True)
class BlendedValue(Linked):
    """A regressor whose prediction rises with a sum of monotone functions, each of its own sum of scores.

    - `rows` (members, scores), `shares` (members), `members`: the rows, weights and functions of a `Blend`;
    - `function`: what the prediction is of their sum;
    - `weights` (scores): how fast that sum changes at most with each score.
    """

    rows: FloatArray
    shares: FloatArray
    members: tuple[MonotoneFunction, ...]

    def rounded(self, unit: float) -> BlendedValue:
        members = tuple(member.rounded(unit) for member in self.members)
        return replace(self, function=self.function.rounded(unit), members=members, unit=max(unit, self.unit))

    def sums(self, scores: FloatArray) -> FloatArray:
        return -Blend(self.rows, self.shares, self.members, 0.0).excesses(scores)

    def output_at(self, row: FloatArray, total: float) -> None:
        return None

    def value_sets(self, low: float, high: float) -> tuple[ScoreSet, ...]:
        one = np.ones(1)
        ends = [self.function.score_set(one, low)] if np.isfinite(low) else []
        ends += [self.function.score_set(one, high, below=True)] if np.isfinite(high) else []
        return (both([self._curved(end) for end in ends]) if ends else everything(self.rows.shape[1]),)

    def _curved(self, end: ScoreSet) -> ScoreSet:
        """A threshold of the sum of functions, as a set of scores."""
        width, (sign,) = self.rows.shape[1], end.A.ravel().tolist() or (0.0,)
        if sign == 0.0:  # all sums, none, or nobody knows
            return replace(end, A=np.zeros((len(end.b), width)))
        curve = Blend(
            self.rows, self.shares, self.members, float(end.b[0]), sign,
            below=float(np.max(end.below)), above=float(np.max(end.above)),
        )  # fmt: skip
        return replace(everything(width), curve=curve)
