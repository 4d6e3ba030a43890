"""A model that was read, asked like one that was not: its compiled evaluator and the sets of scores that are wanted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.margins import tightened
from butfor.model.linear import Linear
from butfor.model.questions import Model, evaluate
from butfor.model.scores import ScoreSet
from butfor.problem.oracle import AbstractOracle, Heard
from butfor.problem.problem import Problem

NEAR = 1e-12
"""How far off a point on an open boundary counts as being."""


@dataclass(frozen=True, eq=False)
class Evaluated(AbstractOracle):
    """The evaluator of the model. How far off a point is: the largest shortfall of a score, in the nearest set."""

    model: Model
    sets: tuple[ScoreSet, ...]
    examples: FloatArray

    def ask(self, points: FloatArray, rows: IntArray) -> Heard:
        scores = evaluate(self.model, points)
        met = np.zeros(len(points), dtype=np.bool_)
        distance, offset = np.full(len(points), np.inf), np.full(len(points), np.inf)
        for part in self.sets:
            inside = part.holds(scores)
            met |= inside
            distance = np.minimum(distance, np.where(inside, 0.0, np.maximum(_shortfall(part, scores), NEAR)))
            offset = np.where(inside, np.minimum(offset, part.offset), offset)
        return Heard(met, distance, offset)

    def of_examples(self, row: int) -> Heard:
        return self._of_examples

    @cached_property
    def _of_examples(self) -> Heard:
        """The same for every row."""
        return self.ask(self.examples, np.zeros(len(self.examples), dtype=np.intp))

    def rows(self, chosen: IntArray | slice | BoolArray) -> Evaluated:
        if not any(part.apart for part in self.sets):
            return self
        return replace(self, sets=tuple(part.rows(chosen) for part in self.sets))


def evaluated(problem: Problem, examples: FloatArray | None = None) -> Evaluated:
    """The evaluator of a problem's model, with its margin and guard worked into the sets."""
    none = np.empty((0, len(problem.space)))
    sets = tuple(_closed(part, problem) for part in problem.sets)
    return Evaluated(problem.model, sets, none if examples is None else examples)


def _closed(part: ScoreSet, problem: Problem) -> ScoreSet:
    """The set as a point must meet it: a little inside, where rounding decides about the boundary."""
    if isinstance(problem.model, Linear):
        return tightened(part, problem)
    return replace(part, b=part.b + problem.guard * (1 + np.abs(part.b))) if problem.guard else part


def _shortfall(part: ScoreSet, scores: FloatArray) -> FloatArray:
    """How far each row of scores lies outside a set."""
    short = np.max(part.b - scores @ part.A.T, axis=1, initial=0.0)
    if part.curve is not None:
        short = np.maximum(short, [part.curve.excess(row) for row in scores])
    return np.asarray(short)
