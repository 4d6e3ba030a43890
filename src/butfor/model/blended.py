"""Readouts of two classes whose probabilities are means of several functions, and votes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.model.blend import FIRM, PERHAPS, Blend
from butfor.model.monotone import MonotoneFunction
from butfor.model.readout import AbstractReadout, Link
from butfor.model.scores import UNIT_DOUBLE, ScoreSet


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
