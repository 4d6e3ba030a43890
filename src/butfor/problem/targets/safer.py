"""A target whose threshold is moved: answers that are more than just across the border."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import InputError, UnsupportedProblemError, number
from butfor.estimator.deciding import deciding_score
from butfor.estimator.prediction import Prediction
from butfor.estimator.source import Source
from butfor.model.readout import AbstractReadout
from butfor.problem.targets.class_scores import number_of_class
from butfor.problem.targets.classes import Classes, Other, Probability
from butfor.problem.targets.risk import HazardRatio, RiskChange
from butfor.problem.targets.score import Score
from butfor.problem.targets.survival import SurvivalBeside, SurvivalChange, SurvivalReach
from butfor.problem.targets.target import AbstractTarget, Group
from butfor.problem.targets.values import RelativeChange, ValueIn

Asked = Callable[[Probability, Prediction, Prediction], Any]
"""What is asked of a target about predictions before and after."""


@dataclass(frozen=True)
class OtherBeyond(AbstractTarget):
    """Of two classes the one that a row does not have, with at least a probability. `wanted`: that of either class."""

    wanted: tuple[Probability, Probability]

    def __repr__(self) -> str:
        ends = [one.at_least for one in self.wanted]
        if ends[0] == ends[1]:
            return f"any other class with probability at least {ends[0]:g}"
        return f"any other class: {' or '.join(map(repr, self.wanted))}"

    def of(self, label: Any) -> Probability:
        """What is wanted of a row that has this class."""
        return next(one for one in self.wanted if one.label != label)

    def validate(self, source: Source) -> None:
        for one in self.wanted:
            one.validate(source)

    def scores(self, before: Prediction, after: Prediction | None) -> list[Score | None]:
        found: list[Score | None] = [None] * before.height
        for rows, one in self._parts(before):
            some = one.scores(before.take(rows), None if after is None else after.take(rows))
            for row, score in zip(rows.tolist(), some, strict=True):
                found[row] = score
        return found

    def measured(self, prediction: Prediction, output: Any) -> FloatArray | None:
        return number_of_class(prediction, output)

    def groups(self, readout: AbstractReadout, before: Prediction) -> list[Group]:
        return [(rows, sets) for rows, one in self._parts(before) for _, sets in one.groups(readout, before.take(rows))]

    def met(self, before: Prediction, after: Prediction) -> BoolArray:
        return self._each(before, after, Probability.met) > 0

    def distance(self, before: Prediction, after: Prediction) -> FloatArray:
        return self._each(before, after, Probability.distance)

    def lacking(self, before: Prediction, after: Prediction) -> FloatArray:
        return self._each(before, after, Probability.lacking)

    def _parts(self, before: Prediction) -> list[tuple[IntArray, Probability]]:
        """The rows of each class, and what is wanted of them."""
        parts = [
            (np.flatnonzero([label != one.label for label in before.labels]).astype(np.intp), one)
            for one in self.wanted
        ]
        return [(rows, one) for rows, one in parts if len(rows)]

    def _each(self, before: Prediction, after: Prediction, asked: Asked) -> FloatArray:
        """What the target of each row says."""
        found = np.zeros(before.height)
        for rows, one in self._parts(before):
            found[rows] = asked(one, before.take(rows), after.take(rows))
        return found


@dataclass(frozen=True)
class AskedSafely:
    """A target as the user wrote it, and by how much more than it is asked for."""

    target: Any
    safety: float


def safety_of(safety: Any) -> float:
    """By how much a threshold is moved: a positive number."""
    told = (f"safety={safety!r} was given.", "It must be a positive number, by which the threshold is moved.")
    by = number(safety, *told)
    if not 0 < by < float("inf"):
        raise InputError(*told)
    return by


def safer(target: AbstractTarget, by: float, source: Source) -> AbstractTarget:
    """The target with its threshold moved by so much, on its own scale: up if it is a least, down if it is a most."""
    match target:
        case Other() if len(source.classes) == 2:
            first, second = (_of_class(target, by, source, label) for label in source.classes)
            return OtherBeyond((first, second))
        case Classes((label,)) if len(source.classes) == 2:
            return _of_class(target, by, source, label)
        case Probability(label, low, high):
            return _within(
                target, by, Probability(label, low and _sum(low, by), high if high == 1 else _sum(high, -by))
            )
        case ValueIn(low, high):
            return _within(target, by, ValueIn(_sum(low, by), _sum(high, -by)))
        case RelativeChange(change) | SurvivalChange(by=change) | RiskChange(change):
            return replace(target, by=_sum(change, by if change > 0 else -by))
        case SurvivalBeside(by=far):
            return replace(target, by=_sum(far, by))
        case HazardRatio(ratio, up):
            return _within(target, by, replace(target, ratio=_sum(ratio, by if up else -by)))
        case SurvivalReach(value=value, up=up):
            return replace(target, value=_sum(value, by if up else -by))
    raise UnsupportedProblemError(
        f"safety={by:g} was given with the target {str(target)!r}.",
        "It moves a threshold, and this target has none of its own"
        + (
            f": which of {len(source.classes)} classes wins depends on all of them." if len(source.classes) > 2 else "."
        ),
        "Use bf.probability(label, at_least=...), or bf.margin(...) as a constraint."
        if source.predicts_classes
        else "",
    )


def _of_class(target: AbstractTarget, by: float, source: Source, label: Any) -> Probability:
    """A class of two with a probability that is so much above the one at which the estimator decides for it."""
    second = deciding_score(source) if source.judges_by == "predict_proba" else None
    if second is None:
        raise UnsupportedProblemError(
            f"safety={by:g} was given with the target {str(target)!r}.",
            "It moves the probability at which a model decides, and "
            f"{type(source.estimator).__name__} does not decide by one.",
            "Use bf.margin(...) as a constraint.",
        )
    at = second if list(source.classes).index(label) == 1 else 1.0 - second
    return _within(target, by, Probability(label, _sum(at, by)))


T = TypeVar("T", Probability, ValueIn, HazardRatio)


def _within(target: AbstractTarget, by: float, moved: T) -> T:
    """The moved target, if something is left of it."""
    if isinstance(moved, Probability):
        possible = moved.at_most >= 0 and moved.at_least <= min(1, moved.at_most)
    elif isinstance(moved, HazardRatio):
        possible = moved.ratio > 0
    else:
        possible = moved.low <= moved.high
    if possible:
        return moved
    raise InputError(
        f"safety={by:g} was given with the target {str(target)!r}.", "Nothing is left of it then.", "Ask for less."
    )


def _sum(a: float, b: float) -> float:
    """Two numbers as the user wrote them, added: 0.7 and 0.1 are 0.8."""
    return float(Decimal(repr(float(a))) + Decimal(repr(float(b))))
