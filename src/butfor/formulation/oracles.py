"""Who is asked about points: the evaluator of a model, or the estimator itself."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import InputError
from butfor.estimator.prediction import Prediction
from butfor.formulation.margins import tightened
from butfor.model.linear import Linear
from butfor.model.questions import Model, evaluate
from butfor.model.scores import ScoreSet
from butfor.problem.constraints.constraint import Changes, JudgedConstraint, all_hold
from butfor.problem.oracle import AbstractConfirmation, AbstractOracle, Response, at_least_near_miss
from butfor.problem.problem import Problem
from butfor.problem.referee import Referee
from butfor.problem.targets.target import AbstractTarget
from butfor.space import frames


@dataclass(frozen=True, eq=False)
class ModelOracle(AbstractOracle):
    """An oracle that evaluates the model.

    The distance of a point is the largest shortfall of a score, in the nearest score set.
    """

    model: Model
    score_sets: tuple[ScoreSet, ...]
    examples: FloatArray

    def ask(self, points: FloatArray, rows: IntArray) -> Response:
        return self._said(evaluate(self.model, points), rows)

    def of_examples(self, row: int) -> Response:
        return self._said(self._of_examples, np.full(len(self.examples), row, dtype=np.intp))

    @cached_property
    def _of_examples(self) -> FloatArray:
        """The scores of the examples. They are the same for every row."""
        return evaluate(self.model, self.examples)

    def _said(self, scores: FloatArray, rows: IntArray) -> Response:
        """What scores say, each as those of a change of its row."""
        met = np.zeros(len(scores), dtype=np.bool_)
        distance, offset = np.full(len(scores), np.inf), np.full(len(scores), np.inf)
        for score_set in (score_set.take(rows) for score_set in self.score_sets):
            inside = score_set.holds(scores)
            met |= inside
            distance = np.minimum(distance, at_least_near_miss(inside, score_set.shortfall(scores)))
            offset = np.where(inside, np.minimum(offset, score_set.offset), offset)
        return Response(met, distance, offset)

    def take(self, rows: IntArray | slice) -> ModelOracle:
        if not any(score_set.per_row for score_set in self.score_sets):
            return self
        return replace(self, score_sets=tuple(score_set.take(rows) for score_set in self.score_sets))


def model_oracle(problem: Problem) -> ModelOracle:
    """The oracle that evaluates a problem's model. The score sets include the problem's margin and guard."""
    sets = tuple(_closed(score_set, problem) for score_set in problem.score_sets)
    none = np.empty((0, len(problem.space)))
    known = problem.witnesses.examples
    return ModelOracle(problem.model, sets, none if known is None else known.examples)


def _closed(score_set: ScoreSet, problem: Problem) -> ScoreSet:
    """The score set that a point must meet. Scores of a linear model can reach its edge, where rounding decides."""
    if isinstance(problem.model, Linear) or problem.witnesses.guard:
        return tightened(score_set, problem)
    return score_set


@dataclass(frozen=True, eq=False)
class Confirmation(AbstractConfirmation):
    """Asks the estimator, and the constraints that only a model can judge."""

    oracle: EstimatorOracle
    judged: tuple[JudgedConstraint, ...]
    factuals: FloatArray

    def confirms(self, point: FloatArray, most: float) -> bool:
        return bool(self._takes(point[None], most)[0])

    def confirms_twins(self, point: FloatArray, most: float) -> bool:
        return bool(self._takes(np.stack([point, point]), most).any())

    def _takes(self, points: FloatArray, most: float) -> BoolArray:
        """Which points the estimator takes as answers to the first row, all asked about together."""
        at, target = np.zeros(len(points), dtype=np.intp), self.oracle.target
        after = Prediction(self.oracle.referee.reading.source, self.oracle.written(points, at))
        changes = Changes(self.factuals[at], points, self.oracle.before.take(at), after)
        met = target.met(changes.before, after) & (target.offsets(after, len(points)) <= most)
        return met & all_hold(self.judged, changes, self.oracle.referee) if met.any() else met

    def of_target(self) -> Confirmation:
        return replace(self, judged=()) if self.judged else self

    def take(self, rows: IntArray | slice) -> Confirmation:
        return replace(self, oracle=self.oracle.take(rows), factuals=self.factuals[rows])


@dataclass(frozen=True, eq=False)
class EstimatorOracle(AbstractOracle):
    """An oracle that calls the user's own estimator. Points are first written as rows of the user's kind.

    `before` is what the estimator predicts for the rows of the problem. `tiled` and `known` keep earlier results.
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
        return self._response(self._tiled(rows), self._predicted(points, rows))

    def of_examples(self, row: int) -> Response:
        if row not in self.known:
            after = self.referee.training.prediction
            self.known[row] = self._response(self.before.take(np.full(after.height, row)), after)
        return self.known[row]

    def take(self, rows: IntArray | slice) -> EstimatorOracle:
        return type(self)(self.referee, self.target, self.before.take(np.arange(self.before.height)[rows]))

    def _predicted(self, points: FloatArray, rows: IntArray) -> Prediction:
        return Prediction(self.referee.reading.source, self.written(points, rows))

    def _response(self, before: Prediction, after: Prediction) -> Response:
        met, distance = self.target.met(before, after), self.target.distance(before, after)
        if np.isnan(distance).any():
            raise InputError(
                f"the model returned NaN for {int(np.isnan(distance).sum())} of {after.height} rows.",
                "It must return numbers.",
            )

        def lacking() -> FloatArray:
            return at_least_near_miss(met, self.target.lacking(before, after))

        return Response(met, at_least_near_miss(met, distance), self.target.offsets(after, after.height), lacking)

    def _tiled(self, rows: IntArray) -> Prediction:
        """The factual row of each point. Those of the last call are kept for the next one."""
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
        """Whether all columns that are read are float64 and none has levels or single precision."""
        space = self.referee.space
        levels = any(feature.levels is not None or feature.single for feature in space.features)
        return not levels and frames.holds_floats(self.before.table, space.read)

    def written(self, points: FloatArray, rows: IntArray) -> Any:
        """The rows, with their values replaced by those of the points.

        Plain numbers are written all at once, which takes a hundredth of the time.
        """
        space = self.referee.space
        if self._plain and not np.isnan(points).any():  # each library has its own mark for a missing value
            return self._beside_unread(points, rows)
        return space.decode(points, self._tiled(rows).table, self._codes[rows])

    def _beside_unread(self, points: FloatArray, rows: IntArray) -> Any:
        """The numbers of the points as a table, with the columns of their rows that nothing reads."""
        space, table = self.referee.space, self.before.table
        if not space.unread or frames.is_array(table):
            return frames.of_floats(table, space.names, points)
        made = frames.of_floats(table, space.read, points[:, [not feature.unread for feature in space]])
        kept = {name: name for name in frames.names(table) if name in space.unread}
        return frames.beside(made, kept, self._tiled(rows).table) if kept else made


@dataclass(frozen=True, eq=False)
class InTerms(AbstractOracle):
    """An oracle that evaluates the model, and asks the estimator what points lack in the terms of the target."""

    model: AbstractOracle
    estimator: AbstractOracle

    @property
    def examples(self) -> FloatArray:  # type: ignore[override]
        return self.model.examples

    def ask(self, points: FloatArray, rows: IntArray) -> Response:
        return replace(self.model.ask(points, rows), lacking=self.estimator.ask(points, rows).lacking)

    def of_examples(self, row: int) -> Response:
        return replace(self.model.of_examples(row), lacking=self.estimator.of_examples(row).lacking)

    def take(self, rows: IntArray | slice) -> InTerms:
        return InTerms(self.model.take(rows), self.estimator.take(rows))


class HastyOracle(EstimatorOracle):
    """An oracle for searches that prove nothing. It saves half of the calls where labels seem to follow from scores.

    They seem to if they do in all training rows. A model with a threshold of its own may label other rows otherwise.
    """

    def _predicted(self, points: FloatArray, rows: IntArray) -> Prediction:
        after = super()._predicted(points, rows)
        return after.assuming_labels_follow_scores() if self.referee.training.labels_follow_scores else after
