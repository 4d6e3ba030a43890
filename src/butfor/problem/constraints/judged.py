"""Constraints that a model decides: distance to boundaries, or similarity to the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError, UnsupportedProblemError, number
from butfor.estimator.dropped import look_up_read
from butfor.estimator.prediction import Prediction
from butfor.importers.read import Reading, read_plausibility
from butfor.model.black_box import BlackBox
from butfor.model.blend import Blend, Blends
from butfor.model.clearance import check_boundaries, stays_clear
from butfor.model.questions import Model, evaluate, is_read, kind_of, score_count
from butfor.model.side_by_side import side_by_side, with_least
from butfor.model.trees import Trees
from butfor.problem.constraints.constraint import AskedModel, Changes, Searched
from butfor.problem.constraints.demanded import Demanded
from butfor.problem.problem import Problem
from butfor.problem.referee import Referee
from butfor.space.space import Space


@dataclass(frozen=True)
class Margin(Demanded):
    """See `margin`."""

    eps: float

    def __repr__(self) -> str:
        return f"margin({self.eps!r})"

    def validate(self, space: Space) -> None:
        if not (np.isfinite(self.eps) and self.eps >= 0):
            raise InputError(f"{self!r} was given.", "A margin must be finite and not negative.")

    def holds(self, changes: Changes, referee: Referee) -> BoolArray:
        """Which changes end at least `eps` inside every deciding boundary. None if the target is not known."""
        reading, target = referee.reading, referee.target
        if isinstance(reading.model, BlackBox):
            raise UnsupportedProblemError(
                "a margin was asked for, but the model is a black box.",
                "Boundaries are known only of models that butfor reads.",
                f"Leave the margin out. The model was not read because {reading.model.why}",
            )
        fine = np.zeros(len(changes), dtype=np.bool_)
        if target is not None:
            model = target.focus(reading, changes.before).model
            for rows, score_sets in target.groups(reading.readout, changes.before):
                fine[rows] = stays_clear(model, reading.space, changes.points[rows], score_sets, self.eps)
        return fine

    def enter(self, problem: Problem, referee: Referee) -> Problem:
        if self.eps:
            check_boundaries(problem.model, problem.score_sets)
        return problem.with_demands(margin=max(problem.demands.margin, self.eps))


@dataclass(frozen=True, eq=False)
class Plausible(Demanded, Searched):
    """See `plausible`."""

    forest: Any
    path_length: float | None

    of_point = True
    adds_scores = True
    asks_models = True

    def __repr__(self) -> str:
        setting = "" if self.path_length is None else f", path_length={self.path_length!r}"
        return f"plausible({type(self.forest).__name__}{setting})"

    def validate(self, space: Space) -> None:
        if self.path_length is not None and not np.isfinite(
            number(self.path_length, repr(self), "It must be a number.")
        ):
            raise InputError(f"{self!r} was given.", "The average path length must be a finite number.")
        look_up_read(self.forest, space)

    def holds(self, changes: Changes, referee: Referee) -> BoolArray:
        """Which changes the user's own forest finds plausible. Its sums may differ in the last digits."""
        reading, least = self._read(referee)
        return np.asarray(reading.source.values(changes.after.table) >= least_by_any_sum(least))

    def admits(self, points: FloatArray, referee: Referee) -> BoolArray:
        reading, least = self._read(referee)
        return np.asarray(evaluate(reading.model, points)[:, 0] >= least)

    def enter(self, problem: Problem, referee: Referee) -> Problem:
        """Add the path length as one more score of the model. Every score set gets its least value."""
        if not is_read(problem.model):
            return problem.with_judged(self)
        reading, least = self._read(referee)
        if any(isinstance(score_set.curve, Blend | Blends) for score_set in problem.score_sets):
            raise _not_kept("a mean of functions of several sums")
        model = referee.once(
            (id(problem.model), id(reading)), lambda: (problem.model, reading, _beside(problem.model, reading))
        )
        count = score_count(problem.model)
        sets = tuple(with_least(score_set, count, [least]) for score_set in problem.score_sets)
        return replace(problem, model=model[2], score_sets=sets)

    def asked(self, referee: Referee, before: Prediction) -> list[AskedModel]:
        """The forest. It must say at least so much, in whatever order it adds up."""
        reading, least = self._read(referee)
        return [AskedModel(reading, None, least_by_any_sum(least))]

    def _read(self, referee: Referee) -> tuple[Reading, float]:
        """The forest over the model's columns, and the least path length that is enough."""
        reading, border = referee.reading_of(
            self.forest, lambda: read_plausibility(self.forest, referee.space, referee.reading.sample)
        )
        return reading, border if self.path_length is None else float(self.path_length)


def least_by_any_sum(least: float) -> float:
    """What a path length is at least if a sum of its parts, in some order, is."""
    return least - 1e-9 * (1 + abs(least))


def _beside(model: Model, forest: Reading) -> Trees:
    if not isinstance(model, Trees) or not isinstance(forest.model, Trees):
        raise _not_kept(f"a {kind_of(model)} model")
    return side_by_side(model, [forest.model])


def _not_kept(model: str) -> UnsupportedProblemError:
    return UnsupportedProblemError(
        f"bf.plausible was given for {model}.",
        "It can be kept exactly only for trees and sums of trees.",
        "Search among real rows with bf.candidates, or without proof: bf.black_box(model.predict_proba, classes).",
    )
