"""What the model should say instead: each target becomes a union of sets of raw scores, and is judged by the estimator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.errors import InputError, InputTypeError, UnsupportedProblemError, number
from butfor.estimator.source import Source
from butfor.importers.read import Reading
from butfor.model.readout import AbstractReadout
from butfor.model.scores import ScoreSet, at_least, each_at_least, everything
from butfor.model.survival.curves import Curves
from butfor.space import frames

Group = tuple[IntArray, tuple[ScoreSet, ...]]

LEAST = 1e-300
"""Probabilities below this are not told apart."""


@dataclass(eq=False)
class Prediction:
    """What the estimator says of the rows of a table; asked once, when first needed."""

    source: Source
    table: Any

    @cached_property
    def labels(self) -> list[Any]:
        """The classes."""
        return self.source.labels(self.table)

    @cached_property
    def values(self) -> FloatArray:
        """The values of a regressor."""
        return self.source.values(self.table)

    @cached_property
    def probabilities(self) -> FloatArray:
        """The probabilities, a column a class."""
        return self.source.probabilities(self.table)

    @cached_property
    def curves(self) -> Curves:
        """The survival functions of a model of survival."""
        return self.source.curves(self.table)

    @cached_property
    def scores(self) -> FloatArray | None:
        """By how much the estimator prefers each class: logarithms of probabilities, or decisions; None if it says neither."""
        if self.source.judges_by == "predict_proba":
            return np.asarray(np.log(np.maximum(self.probabilities, LEAST)))
        return self.source.decisions(self.table) if self.source.judges_by else None

    def take(self, rows: IntArray) -> Prediction:
        """The same for some of the rows (a row may be taken twice), without asking again."""
        if np.array_equal(rows, np.arange(frames.height(self.table))):
            return self
        some = Prediction(self.source, frames.take(self.table, rows))
        known = self.__dict__
        if "labels" in known:
            some.__dict__["labels"] = [self.labels[row] for row in rows]
        for name in ("values", "probabilities"):
            if name in known:
                some.__dict__[name] = known[name][rows]
        if "curves" in known:
            some.__dict__["curves"] = self.curves.take(rows)
        return some

    def said(self) -> list[Any]:
        """Labels or values, as plain Python values."""
        return (
            self.labels
            if self.source.classes or not hasattr(self.source.estimator, "predict")
            else self.values.tolist()
        )


class AbstractTarget(ABC):
    """What is wanted. Immutable; prints in words."""

    @abstractmethod
    def check(self, source: Source) -> None:
        """Raise a clear error if the estimator can never be asked that."""

    def settled(self, readout: AbstractReadout, before: Prediction) -> AbstractTarget:
        """The target with what it leaves open settled by the model; a clear error if no row could ever meet it."""
        return self

    def focus(self, reading: Reading, before: Prediction) -> Reading:
        """The reading with the model whose raw scores `groups` speaks of, where the scores hang on what is asked."""
        return reading

    def said(self, prediction: Prediction) -> list[Any]:
        """What the estimator says, as far as it bears on the target: plain Python values."""
        return prediction.said()

    @abstractmethod
    def groups(self, readout: AbstractReadout, before: Prediction) -> list[Group]:
        """Rows that share a union of score sets, with that union."""

    @abstractmethod
    def met(self, before: Prediction, after: Prediction) -> BoolArray:
        """Which rows of `after` the estimator itself says to meet the target, `before` being their factuals."""

    def offsets(self, after: Prediction, rows: int) -> FloatArray:
        """What the answer costs beyond its changes."""
        return np.zeros(rows)

    def distance(self, before: Prediction, after: Prediction) -> FloatArray:
        """How far each prediction is from what is wanted, 0 where it is met: what a search by trial follows."""
        return np.where(self.met(before, after), 0.0, 1.0)


@dataclass(frozen=True)
class Classes(AbstractTarget):
    """See `classes`."""

    labels: tuple[Any, ...]

    def __repr__(self) -> str:
        return " or ".join(str(label) for label in self.labels)

    def check(self, source: Source) -> None:
        _check_labels(source, self.labels)

    def groups(self, readout: AbstractReadout, before: Prediction) -> list[Group]:
        known = list(readout.classes)
        sets = tuple(part for label in self.labels for part in readout.class_sets(known.index(label)))
        return [(np.arange(len(before.labels)), sets)]

    def met(self, before: Prediction, after: Prediction) -> BoolArray:
        return np.array([label in self.labels for label in after.labels], dtype=np.bool_)

    def distance(self, before: Prediction, after: Prediction) -> FloatArray:
        if after.scores is None:
            return super().distance(before, after)
        return _behind(after.scores, np.array([label in self.labels for label in after.source.classes]))


@dataclass(frozen=True)
class Other(AbstractTarget):
    """Any class but the one predicted now. See `other`."""

    def __repr__(self) -> str:
        return "any other class"

    def check(self, source: Source) -> None:
        if hasattr(source.estimator, "predict") and not source.classes:
            raise _classless(source, "target='other' (the default) was given")

    def groups(self, readout: AbstractReadout, before: Prediction) -> list[Group]:
        known = list(readout.classes)
        now = np.array([known.index(label) for label in before.labels], dtype=np.intp)
        return [(np.flatnonzero(now == k), readout.other_sets(int(k))) for k in np.unique(now)]

    def met(self, before: Prediction, after: Prediction) -> BoolArray:
        return np.array([a != b for a, b in zip(after.labels, before.labels, strict=True)], dtype=np.bool_)

    def distance(self, before: Prediction, after: Prediction) -> FloatArray:
        if after.scores is None:
            return super().distance(before, after)
        known = after.source.classes
        return _behind(after.scores, np.array([[label != now for label in known] for now in before.labels]))


@dataclass(frozen=True)
class ClassCosts(AbstractTarget):
    """See `class_costs`."""

    costs: tuple[tuple[Any, float], ...]

    def __repr__(self) -> str:
        return ", ".join(f"{label} at {cost:g}" for label, cost in self.costs)

    def check(self, source: Source) -> None:
        _check_labels(source, tuple(label for label, _ in self.costs))
        for label, cost in self.costs:
            if not np.isfinite(cost) or cost < 0:
                raise InputError(
                    f"the class {label!r} was given the cost {cost!r}.", "Class costs are finite, at least 0."
                )

    def groups(self, readout: AbstractReadout, before: Prediction) -> list[Group]:
        known = list(readout.classes)
        sets = tuple(
            replace(part, offset=cost) for label, cost in self.costs for part in readout.class_sets(known.index(label))
        )
        return [(np.arange(len(before.labels)), sets)]

    def met(self, before: Prediction, after: Prediction) -> BoolArray:
        named = {label for label, _ in self.costs}
        return np.array([label in named for label in after.labels], dtype=np.bool_)

    def offsets(self, after: Prediction, rows: int) -> FloatArray:
        cost = dict(self.costs)
        return np.array([cost.get(label, np.inf) for label in after.labels])

    def distance(self, before: Prediction, after: Prediction) -> FloatArray:
        return Classes(tuple(label for label, _ in self.costs)).distance(before, after)


@dataclass(frozen=True)
class Probability(AbstractTarget):
    """See `probability`."""

    label: Any
    at_least: float

    def __repr__(self) -> str:
        return f"{self.label} with probability at least {self.at_least:g}"

    def check(self, source: Source) -> None:
        _check_labels(source, (self.label,))
        if not 0 < self.at_least <= 1:
            raise InputError(
                f"a probability of at least {self.at_least!r} was asked.", "It lies above 0 and at most 1."
            )
        if not hasattr(source.estimator, "predict_proba"):
            raise InputError(
                f"{type(source.estimator).__name__} gives no probabilities.", "", "Ask for a class, or use bf.margin."
            )

    def groups(self, readout: AbstractReadout, before: Prediction) -> list[Group]:
        label = list(readout.classes).index(self.label)
        try:
            sets = readout.probability_sets(label, self.at_least)
        except ValueError as error:
            raise UnsupportedProblemError(f"the target {self!r} cannot be solved exactly:", f"{error}.") from None
        return [(np.arange(len(before.probabilities)), sets)]

    def met(self, before: Prediction, after: Prediction) -> BoolArray:
        label = list(after.source.classes).index(self.label)
        return np.asarray(after.probabilities[:, label] >= self.at_least)

    def distance(self, before: Prediction, after: Prediction) -> FloatArray:
        found = after.probabilities[:, list(after.source.classes).index(self.label)]
        return np.asarray(np.maximum(0.0, np.log(self.at_least) - np.log(np.maximum(found, LEAST))))


@dataclass(frozen=True)
class ValueIn(AbstractTarget):
    """See `value`."""

    low: float
    high: float

    def __repr__(self) -> str:
        if np.isinf(self.high):
            return f"at least {self.low:g}"
        return f"at most {self.high:g}" if np.isinf(self.low) else f"from {self.low:g} to {self.high:g}"

    def check(self, source: Source) -> None:
        _check_regressor(source, "bf.value")
        if np.isnan(self.low) or np.isnan(self.high) or self.low > self.high:
            raise InputError(f"a value {self!r} was asked.", "The lower end must not exceed the upper.")

    def groups(self, readout: AbstractReadout, before: Prediction) -> list[Group]:
        return [(np.arange(len(before.values)), (_interval(self.low, self.high),))]

    def met(self, before: Prediction, after: Prediction) -> BoolArray:
        return np.asarray((after.values >= self.low) & (after.values <= self.high))

    def distance(self, before: Prediction, after: Prediction) -> FloatArray:
        return np.maximum(0.0, np.maximum(self.low - after.values, after.values - self.high))


@dataclass(frozen=True)
class RelativeChange(AbstractTarget):
    """See `relative_change`."""

    by: float

    def __repr__(self) -> str:
        return f"{'up' if self.by > 0 else 'down'} by {abs(self.by):.0%}"

    def check(self, source: Source) -> None:
        _check_regressor(source, "bf.relative_change")
        if not np.isfinite(self.by) or self.by == 0:
            raise InputError(
                f"a relative change of {self.by!r} was asked.", "It is a share: 0.2 is 20 % up, -0.2 down."
            )

    def _threshold(self, before: Prediction) -> FloatArray:
        return before.values + self.by * np.abs(before.values)

    def groups(self, readout: AbstractReadout, before: Prediction) -> list[Group]:
        wanted, sign = self._threshold(before), 1.0 if self.by > 0 else -1.0
        return [(np.arange(len(wanted)), (each_at_least(np.array([sign]), sign * wanted),))]

    def met(self, before: Prediction, after: Prediction) -> BoolArray:
        wanted = self._threshold(before)
        return np.asarray(after.values >= wanted if self.by > 0 else after.values <= wanted)

    def distance(self, before: Prediction, after: Prediction) -> FloatArray:
        short = self._threshold(before) - after.values
        return np.maximum(0.0, short if self.by > 0 else -short)


def _behind(scores: FloatArray, wanted: BoolArray) -> FloatArray:
    """How far the best wanted class is behind the best of all, for each row of scores."""
    return np.asarray(scores.max(axis=1) - np.where(wanted, scores, -np.inf).max(axis=1))


def _interval(low: float, high: float) -> ScoreSet:
    ends = [(1.0, low)] if np.isfinite(low) else []
    ends += [(-1.0, -high)] if np.isfinite(high) else []
    if not ends:
        return everything(1)
    if len(ends) == 1:
        return at_least(np.array([ends[0][0]]), ends[0][1])
    return ScoreSet(np.array([[1.0], [-1.0]]), np.array([low, -high]), np.zeros(2, dtype=np.bool_))


def _classless(source: Source, given: str) -> InputError:
    """What to ask instead of a class where there are none."""
    if source.survives:
        kind, use = "a model of survival", "bf.survival.mean_gain(...) or another of bf.survival"
    else:
        kind, use = "a regressor", "bf.value(at_least=..., at_most=...) or bf.relative_change(...)"
    return InputError(f"{given} for {kind}.", "It has no classes.", f"Use {use}.")


def _check_labels(source: Source, labels: tuple[Any, ...]) -> None:
    if hasattr(source.estimator, "predict") and not source.classes:
        raise _classless(source, f"the target {labels[0]!r} was given")
    unknown = [label for label in labels if source.classes and label not in source.classes]
    if unknown or not labels:
        raise InputError(
            f"the target {(unknown or ['(none)'])[0]!r} is no class of the model.",
            f"Its classes are {', '.join(map(repr, source.classes))}.",
        )


def _check_regressor(source: Source, word: str) -> None:
    if source.classes:
        raise InputError(
            f"{word} was given for a classifier.", "", "Ask for a class, or use bf.probability(label, at_least)."
        )
    if source.says_time:
        raise InputError(
            f"{word} was given for a model of survival.", "", "Use bf.survival.mean_gain or mean_at_least."
        )


def as_target(given: Any, source: Source) -> AbstractTarget:
    """What the user wrote as a target: a label, "other", a collection of labels, label costs, or a target."""
    if isinstance(given, AbstractTarget):
        target = given
    elif isinstance(given, str) and given == "other":
        if "other" in source.classes:
            raise InputError(
                "target='other' is ambiguous: the model has a class 'other'.",
                "",
                "Use bf.other() for any other class, bf.classes('other') for that one.",
            )
        target = Other()
    elif isinstance(given, Mapping):
        target = class_costs(given)
    elif isinstance(given, Collection) and not isinstance(given, str | bytes):
        target = Classes(tuple(given))
    else:
        target = Classes((given.item() if isinstance(given, np.generic) else given,))
    target.check(source)
    return target


def classes(*labels: Any) -> Classes:
    """The target that one of these classes is predicted; `target=["a", "b"]` says the same.

    >>> classes("gold", "silver")
    gold or silver
    """
    if not labels:
        raise InputError("bf.classes() was given no class.", "Name at least one.")
    return Classes(labels)


def other() -> Other:
    """The target that any class but the present one is predicted, the cheapest; the default.

    `target="other"` says the same, unless the model has a class of that name.

    >>> other()
    any other class
    """
    return Other()


def class_costs(costs: Mapping[Any, float]) -> ClassCosts:
    """The target that one of these classes is predicted, each at a cost that is added to that of the changes.

    Choose it when some classes are better than others. What is minimised is cost of the changes + cost of the class; a
    class that is not named is no answer. `target={"gold": 0, "silver": 0.2}` says the same.

    >>> class_costs({"gold": 0, "silver": 0.2})
    gold at 0, silver at 0.2
    """
    return ClassCosts(
        tuple(
            (label, number(cost, f"the class {label!r} was given the cost {cost!r}.", "A cost is a number."))
            for label, cost in costs.items()
        )
    )


def probability(label: Any, at_least: float) -> Probability:
    """The target that a class is given at least this probability: an answer that is more than just across the border.

    Taken where the probabilities follow from the scores: the logistic function, softmax, and the leaves of a tree.

    >>> probability("approved", at_least=0.8)
    approved with probability at least 0.8
    """
    return Probability(label, float(at_least))


def value(at_least: float = -np.inf, at_most: float = np.inf) -> ValueIn:
    """The target that a regressor predicts a value in an interval, ends included.

    >>> value(at_least=100.0)
    at least 100
    """
    if np.isinf(at_least) and np.isinf(at_most):
        raise InputTypeError("bf.value() was given no end.", "Give at_least=, at_most= or both.")
    return ValueIn(float(at_least), float(at_most))


def relative_change(by: float) -> RelativeChange:
    """The target that a regressor's prediction moves by at least this share of its size: 0.2 is 20 % up, -0.2 down.

    >>> relative_change(-0.2)
    down by 20%
    """
    return RelativeChange(float(by))
