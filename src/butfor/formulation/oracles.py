"""The two oracles of searches: the compiled evaluator of a model that was read, and the estimator itself."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.errors import InputError
from butfor.estimator.prediction import Prediction
from butfor.formulation.margins import tightened
from butfor.model.linear import Linear
from butfor.model.questions import Model, evaluate
from butfor.model.scores import ScoreSet
from butfor.problem.oracle import AbstractOracle, Response, at_least_near_miss
from butfor.problem.problem import Problem
from butfor.problem.referee import Referee
from butfor.problem.targets.target import AbstractTarget
from butfor.space import frames


@dataclass(frozen=True, eq=False)
class ModelOracle(AbstractOracle):
    """The evaluator of the model. How far off a point is: the largest shortfall of a score, in the nearest set."""

    model: Model
    score_sets: tuple[ScoreSet, ...]
    examples: FloatArray

    def ask(self, points: FloatArray, rows: IntArray) -> Response:
        scores = evaluate(self.model, points)
        met = np.zeros(len(points), dtype=np.bool_)
        distance, offset = np.full(len(points), np.inf), np.full(len(points), np.inf)
        for score_set in self.score_sets:
            inside = score_set.holds(scores)
            met |= inside
            distance = np.minimum(distance, at_least_near_miss(inside, score_set.shortfall(scores)))
            offset = np.where(inside, np.minimum(offset, score_set.offset), offset)
        return Response(met, distance, offset)

    def of_examples(self, row: int) -> Response:
        return self._of_examples

    @cached_property
    def _of_examples(self) -> Response:
        """The same for every row."""
        return self.ask(self.examples, np.zeros(len(self.examples), dtype=np.intp))

    def take(self, rows: IntArray | slice) -> ModelOracle:
        if not any(score_set.per_row for score_set in self.score_sets):
            return self
        return replace(self, score_sets=tuple(score_set.take(rows) for score_set in self.score_sets))


def model_oracle(problem: Problem) -> ModelOracle:
    """The evaluator of a problem's model, with its margin and guard worked into the sets."""
    sets = tuple(_closed(score_set, problem) for score_set in problem.score_sets)
    none = np.empty((0, len(problem.space)))
    return ModelOracle(problem.model, sets, none if problem.referee is None else problem.referee.training.points)


def _closed(score_set: ScoreSet, problem: Problem) -> ScoreSet:
    """The set as a point must meet it: a little inside, where rounding decides about the boundary."""
    if isinstance(problem.model, Linear):
        return tightened(score_set, problem)
    if not problem.guard:
        return score_set
    return replace(score_set, b=score_set.b + problem.guard * (1 + np.abs(score_set.b)))


@dataclass(frozen=True, eq=False)
class EstimatorOracle(AbstractOracle):
    """The user's own estimator: points are written as rows of the user's kind, and it is asked.

    `before` is what it predicts for the rows of the problem. `tiled` and `known` keep what was asked before.
    """

    referee: Referee
    target: AbstractTarget
    before: Prediction
    tiled: dict[bytes, Prediction] = field(default_factory=dict)
    known: dict[int, Response] = field(default_factory=dict)

    @property
    def examples(self) -> FloatArray:  # type: ignore[override]
        """The training rows."""
        return self.referee.training.points

    def ask(self, points: FloatArray, rows: IntArray) -> Response:
        after = Prediction(self.referee.reading.source, self._written(points, rows))
        if self.referee.training.labels_follow_scores:
            after = after.assuming_labels_follow_scores()
        return self._response(self._tiled(rows), after)

    def of_examples(self, row: int) -> Response:
        if row not in self.known:
            after = self.referee.training.prediction
            self.known[row] = self._response(self.before.take(np.full(after.height, row)), after)
        return self.known[row]

    def take(self, rows: IntArray | slice) -> EstimatorOracle:
        return EstimatorOracle(self.referee, self.target, self.before.take(np.arange(self.before.height)[rows]))

    def _response(self, before: Prediction, after: Prediction) -> Response:
        met, distance = self.target.met(before, after), self.target.distance(before, after)
        if np.isnan(distance).any():
            raise InputError(
                f"the model answered NaN for {int(np.isnan(distance).sum())} of {after.height} rows.",
                "Numbers are needed.",
            )
        return Response(met, at_least_near_miss(met, distance), self.target.offsets(after, after.height))

    def _tiled(self, rows: IntArray) -> Prediction:
        """The factual rows, each as often as it is asked about; those of the last question are kept for the next."""
        key = rows.tobytes()
        if key not in self.tiled:
            self.tiled.clear()
            self.tiled[key] = self.before.take(rows)
        return self.tiled[key]

    @cached_property
    def _codes(self) -> FloatArray:
        """The factual rows, encoded."""
        return self.referee.space.encode(self.before.table)

    @cached_property
    def _plain(self) -> bool:
        """Whether the rows are float64 throughout, and no column is of levels or of single precision."""
        space = self.referee.space
        levels = any(feature.levels is not None or feature.single for feature in space.features)
        return not levels and frames.holds_floats(self.before.table, space.names)

    def _written(self, points: FloatArray, rows: IntArray) -> Any:
        """The rows with their values replaced by those of the points; plain numbers all at once, in a hundredth of the time."""
        space = self.referee.space
        if self._plain and not np.isnan(points).any():  # what stands for a missing value is the library's own
            return frames.of_floats(self.before.table, space.names, points)
        return space.decode(points, self._tiled(rows).table, self._codes[rows])
