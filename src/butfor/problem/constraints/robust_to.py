"""Answers that stay valid when the model is trained again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from butfor.arrays import BoolArray
from butfor.errors import InputError, InputTypeError, UnknownColumnError, UnsupportedProblemError
from butfor.estimator.dropped import look_up_read
from butfor.estimator.prediction import Prediction
from butfor.importers.read import Reading, read_onto
from butfor.model.linear import Linear
from butfor.model.mixed import Mixed
from butfor.model.network import Network
from butfor.model.questions import Model, is_read, kind_of, score_count
from butfor.model.scores import ScoreSet
from butfor.model.side_by_side import in_both, side_by_side
from butfor.model.trees import Trees
from butfor.neighbours.networks.joint import alike, networks_side_by_side
from butfor.problem.constraints.constraint import AskedModel, Changes
from butfor.problem.constraints.demanded import Demanded
from butfor.problem.constraints.robust import CURVED, UNCURVED
from butfor.problem.problem import Problem
from butfor.problem.referee import Referee
from butfor.space.space import Space

MOST_SCORE_SETS = 64
"""In how many ways several models may meet a target together. Each way is a problem of its own."""


@dataclass(frozen=True, eq=False)
class RobustTo(Demanded):
    """See `robust_to`."""

    models: tuple[Any, ...]

    adds_scores = True
    asks_models = True
    survives = True

    def __repr__(self) -> str:
        kinds = sorted({type(model).__name__ for model in self.models})
        return f"robust_to({len(self.models)} {'models' if len(self.models) > 1 else 'model'}: {', '.join(kinds)})"

    def validate(self, space: Space) -> None:
        """What the models read is named. They themselves are read when the user's own is known."""
        for model in self.models:
            look_up_read(model, space)

    def holds(self, changes: Changes, referee: Referee) -> BoolArray:
        """Which changes meet the target by the prediction of every model. None if the target is not known."""
        fine = np.full(len(changes), referee.target is not None, dtype=np.bool_)
        for reading in self._read(referee) if referee.target is not None else ():
            assert referee.target is not None
            fine &= referee.target.met(changes.before, Prediction(reading.source, changes.after.table))
        return fine

    def enter(self, problem: Problem, referee: Referee) -> Problem:
        """All models become one. Its scores must lie in one of the sets of each model."""
        target, before = referee.target, Prediction(referee.reading.source, referee.written(problem.factuals))
        assert target is not None
        models, score_sets, unit = [problem.model], problem.score_sets, problem.witnesses.unit
        for reading in self._read(referee):
            _refuse_missing(problem, reading, self)
            aimed = target.focus(reading, before)
            groups = target.groups(aimed.readout, before)
            ways = [(first, second) for first, second in product(score_sets, groups[0][1])]
            if len(groups) > 1 or len(ways) > MOST_SCORE_SETS:
                raise UnsupportedProblemError(
                    f"{self!r} was given, and {len(self.models) + 1} models meet {target!r} in too many ways.",
                    f"At most {MOST_SCORE_SETS} are tried, and all rows must share them.",
                    "Ask for a single class, or for one row at a time.",
                )
            scores = sum(score_count(model) for model in models)
            score_sets = tuple(_in_both(first, second, scores, self) for first, second in ways)
            models.append(aimed.model)
            unit = max(unit, reading.unit)
        _, whole = referee.once(tuple(map(id, models)), lambda: (models, _as_one(models)))
        if whole is None:
            raise UnsupportedProblemError(
                f"{self!r} was given for a {kind_of(problem.model)} model.",
                "All models must be trees or linear, or all networks of the same depth.",
                "Leave out the models of other kinds.",
            )
        return replace(problem, model=whole, score_sets=score_sets).with_witnesses(unit=unit)

    def asked(self, referee: Referee, before: Prediction) -> list[AskedModel]:
        target = referee.target
        assert target is not None
        return [AskedModel(target.focus(reading, before), target) for reading in self._read(referee)]

    def _read(self, referee: Referee) -> list[Reading]:
        """The models over the columns of the user's own."""
        own = referee.reading
        return [referee.reading_of(model, partial(_read, self, i, own)) for i, model in enumerate(self.models)]


def _as_one(models: Sequence[Model]) -> Model | None:
    """All models as one that has all of their scores. None if that is not possible."""
    parts = [model for model in models if isinstance(model, Trees | Linear | Mixed)]
    if len(parts) == len(models):
        return side_by_side(parts[0], parts[1:])
    networks = [model for model in models if isinstance(model, Network)]
    return networks_side_by_side(networks) if len(networks) == len(models) and alike(networks) else None


def refits(models: Any) -> RobustTo:
    """The constraint for models as the user gave them."""
    given = [models] if hasattr(models, "predict") or not isinstance(models, Iterable) else list(models)
    for model in given:
        if not hasattr(model, "predict"):
            raise InputTypeError(
                f"bf.robust_to was given {type(model).__name__}.",
                "It takes a list of fitted models.",
                "Fit them first.",
            )
    if not given:
        raise InputError("bf.robust_to([]) says nothing.", "It must name at least one model.")
    return RobustTo(tuple(given))


def _read(constraint: RobustTo, i: int, own: Reading) -> Reading:
    """One of the models and its reading. It must read the same columns and predict the same classes as the user's own."""
    which = f"model {i} of {constraint!r}"
    try:
        reading = read_onto(constraint.models[i], own.space, own.data)
    except (InputError, UnknownColumnError) as error:
        raise InputError(
            f"{which} does not read what the explained model reads: {error}",
            f"That reads the columns {list(own.space.columns)}.",
            "Fit all models on the same columns.",
        ) from None
    if not is_read(reading.model):
        raise UnsupportedProblemError(
            f"{which} cannot be read: {getattr(reading.model, 'why', '')}",
            "Several models are kept at once only if all of them are read.",
            "Leave it out, and see with Explainer.agreement how often it agrees.",
        )
    if own.source.classes and not reading.source.classes:
        raise UnsupportedProblemError(
            f"{which} predicts no classes.", "All models must be classifiers of the same classes.", "Leave it out."
        )
    if set(reading.source.classes) != set(own.source.classes):
        raise InputError(
            f"{which} predicts the classes {list(reading.source.classes)}.",
            f"The explained model predicts {list(own.source.classes)}.",
            "Fit all models on rows of every class.",
        )
    return reading


def _refuse_missing(problem: Problem, reading: Reading, constraint: RobustTo) -> None:
    perhaps = np.isnan(problem.factuals) | problem.domain.missing
    lost = [feature.name for j, feature in enumerate(reading.space) if perhaps[:, j].any() and not feature.missing]
    if lost:
        raise InputError(
            f"{constraint!r} was given, and a value is or may become missing in {lost}.",
            "One of the models refuses missing values.",
            "Prepare the columns in the same way for all models.",
        )


def _in_both(first: ScoreSet, second: ScoreSet, scores: int, constraint: RobustTo) -> ScoreSet:
    if second.curve is not None:
        raise UnsupportedProblemError(
            f"{constraint!r} was given for a target with a curved boundary.",
            CURVED,
            UNCURVED,
        )
    return in_both(first, second, scores)
