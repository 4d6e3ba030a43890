"""Targets on classes: one of several, any other, with prices, or with a probability."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from scipy.special import softmax

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError, UnsupportedProblemError, choice
from butfor.estimator.prediction import LEAST, Prediction
from butfor.estimator.source import Source
from butfor.model.blend import both
from butfor.model.readout import AbstractReadout
from butfor.problem.targets.class_scores import class_scores, number_of_class
from butfor.problem.targets.score import Score, scores_of
from butfor.problem.targets.target import AbstractTarget, Group


@dataclass(frozen=True)
class Classes(AbstractTarget):
    """See `classes`."""

    labels: tuple[Any, ...]

    def __repr__(self) -> str:
        return " or ".join(str(label) for label in self.labels)

    def validate(self, source: Source) -> None:
        _check_labels(source, self.labels)

    def part_of(self, prediction: Prediction) -> Classes:
        return Classes((prediction.labels[0],))

    def scores(self, before: Prediction, after: Prediction | None) -> list[Score | None]:
        return class_scores(before, after, lambda label, now: label in self.labels)

    def measured(self, prediction: Prediction, output: Any) -> FloatArray | None:
        return number_of_class(prediction, output)

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

    def lacking(self, before: Prediction, after: Prediction) -> FloatArray:
        if after.scores is None:
            return super().lacking(before, after)
        return _lacking(after.scores, np.array([label in self.labels for label in after.source.classes]))


@dataclass(frozen=True)
class Other(AbstractTarget):
    """Any class but the one predicted now. See `other`."""

    def __repr__(self) -> str:
        return "any other class"

    def validate(self, source: Source) -> None:
        if not source.predicts_classes:
            raise _classless(source, "target='other' (the default) was given")

    def scores(self, before: Prediction, after: Prediction | None) -> list[Score | None]:
        return class_scores(before, after, lambda label, now: bool(label != now))

    def measured(self, prediction: Prediction, output: Any) -> FloatArray | None:
        return number_of_class(prediction, output)

    def groups(self, readout: AbstractReadout, before: Prediction) -> list[Group]:
        known = list(readout.classes)
        now = np.array([known.index(label) for label in before.labels], dtype=np.intp)
        return [(np.flatnonzero(now == k), readout.other_sets(int(k))) for k in np.unique(now)]

    def met(self, before: Prediction, after: Prediction) -> BoolArray:
        return np.array([a != b for a, b in zip(after.labels, before.labels, strict=True)], dtype=np.bool_)

    def distance(self, before: Prediction, after: Prediction) -> FloatArray:
        if after.scores is None:
            return super().distance(before, after)
        return _behind(after.scores, self._wanted(before, after))

    def lacking(self, before: Prediction, after: Prediction) -> FloatArray:
        if after.scores is None:
            return super().lacking(before, after)
        return _lacking(after.scores, self._wanted(before, after))

    def _wanted(self, before: Prediction, after: Prediction) -> BoolArray:
        """Which classes (rows, classes) would do."""
        return np.array([[label != now for label in after.source.classes] for now in before.labels])


@dataclass(frozen=True)
class ClassCosts(AbstractTarget):
    """See `class_costs`."""

    costs: tuple[tuple[Any, float], ...]

    def __repr__(self) -> str:
        return ", ".join(f"{label} at {cost:g}" for label, cost in self.costs)

    def validate(self, source: Source) -> None:
        _check_labels(source, tuple(label for label, _ in self.costs))
        for label, cost in self.costs:
            if not np.isfinite(cost) or cost < 0:
                raise InputError(
                    f"the class {label!r} was given the cost {cost!r}.",
                    "Class costs must be finite and at least 0.",
                )

    def part_of(self, prediction: Prediction) -> Classes:
        return Classes((prediction.labels[0],))

    def scores(self, before: Prediction, after: Prediction | None) -> list[Score | None]:
        return class_scores(before, after, lambda label, now: label in dict(self.costs))

    def measured(self, prediction: Prediction, output: Any) -> FloatArray | None:
        return number_of_class(prediction, output)

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

    def priced(self, factor: float) -> ClassCosts:
        return ClassCosts(tuple((label, factor * cost) for label, cost in self.costs))

    def distance(self, before: Prediction, after: Prediction) -> FloatArray:
        return self._classes.distance(before, after)

    def lacking(self, before: Prediction, after: Prediction) -> FloatArray:
        return self._classes.lacking(before, after)

    @property
    def _classes(self) -> Classes:
        return Classes(tuple(label for label, _ in self.costs))


@dataclass(frozen=True)
class Probability(AbstractTarget):
    """See `probability`."""

    label: Any
    at_least: float = 0.0
    at_most: float = 1.0

    def __repr__(self) -> str:
        return f"{self.label} with probability {self._ends}"

    @property
    def one_sided(self) -> bool:
        """Whether it has one end only."""
        return self.at_least == 0 or self.at_most == 1

    @property
    def _ends(self) -> str:
        if self.at_most == 1:
            return f"at least {self.at_least:g}"
        return f"at most {self.at_most:g}" if self.at_least == 0 else f"from {self.at_least:g} to {self.at_most:g}"

    def validate(self, source: Source) -> None:
        _check_labels(source, (self.label,))
        self._check_ends()
        if not hasattr(source.estimator, "predict_proba"):
            raise InputError(
                f"{type(source.estimator).__name__} gives no probabilities.", "", "Ask for a class, or use bf.margin."
            )
        if not source.classes:
            raise InputError(
                f"{type(source.estimator).__name__} does not say of which classes its probabilities are.",
                "They are needed.",
                "Explain bf.black_box(model.predict_proba, classes=[...]) instead, with the classes in their order.",
            )

    def _check_ends(self) -> None:
        ends = {"at least": self.at_least, "at most": self.at_most}
        for word, end in ends.items():
            share = end / 100
            if not 0 <= end <= 1:
                raise InputError(
                    f"a probability of {word} {end!r} was asked for.",
                    "It must be from 0 to 1.",
                    f"Did you mean {share:g}?" if 0 < share <= 1 else "",
                )
        if self.at_least > self.at_most:
            raise InputError(
                f"a probability {self._ends} was asked for.", "The lower end must not exceed the upper one."
            )
        if (self.at_least, self.at_most) == (0.0, 1.0):
            raise InputError(
                "a probability from 0 to 1 was asked for.", "Every row has one.", "Ask for more than 0, or less than 1."
            )

    def scores(self, before: Prediction, after: Prediction | None) -> list[Score | None]:
        """Of two ends, the score is about the one that the row lies beyond."""
        was, now = self._found(before), None if after is None else self._found(after)
        up = (was <= self.at_most) & (self.at_least > 0)
        return scores_of([self._name] * before.height, was, now, np.where(up, self.at_least, self.at_most), up)

    @property
    def _name(self) -> str:
        return f"probability of {self.label}"

    def _found(self, prediction: Prediction) -> FloatArray:
        """The probability of the class, for each row."""
        return np.asarray(prediction.probabilities[:, list(prediction.source.classes).index(self.label)])

    def measured(self, prediction: Prediction, output: Any) -> FloatArray | None:
        return self._found(prediction)

    def groups(self, readout: AbstractReadout, before: Prediction) -> list[Group]:
        label = list(readout.classes).index(self.label)
        try:
            ends = [readout.probability_sets(label, self.at_least)] if self.at_least > 0 else []
            ends += [readout.probability_sets(label, self.at_most, below=True)] if self.at_most < 1 else []
        except ValueError as error:
            raise UnsupportedProblemError(
                f"the target {self!r} cannot be solved exactly:",
                f"{error}.",
                "To have it searched, explain bf.black_box(model.predict_proba, classes=model.classes_).",
            ) from None
        return [(np.arange(len(before.probabilities)), tuple(both(pair) for pair in product(*ends)))]

    def met(self, before: Prediction, after: Prediction) -> BoolArray:
        return np.asarray(self.lacking(before, after) == 0)

    def distance(self, before: Prediction, after: Prediction) -> FloatArray:
        found = self._found(after)
        short = np.log(max(self.at_least, LEAST)) - np.log(np.maximum(found, LEAST))
        over = np.log(max(1 - self.at_most, LEAST)) - np.log(np.maximum(1 - found, LEAST))
        return np.where(self.met(before, after), 0.0, np.maximum(0.0, np.maximum(short, over)))

    def lacking(self, before: Prediction, after: Prediction) -> FloatArray:
        """An end of 0 or 1 is none: what an estimator calls a probability may lie beyond by its last digits."""
        found = self._found(after)
        short = self.at_least - found if self.at_least > 0 else np.zeros(len(found))
        over = found - self.at_most if self.at_most < 1 else np.zeros(len(found))
        return np.maximum(0.0, np.maximum(short, over))


def _behind(scores: FloatArray, wanted: BoolArray) -> FloatArray:
    """How far the best wanted class is behind the best class, for each row."""
    return np.asarray(scores.max(axis=1) - np.where(wanted, scores, -np.inf).max(axis=1))


def _lacking(scores: FloatArray, wanted: BoolArray) -> FloatArray:
    """Half of what the best wanted class lacks to the probability of the best class: of two classes, 1/2 - P(wanted).

    Scores of a decision function are read as logarithms of odds.
    """
    return _behind(np.asarray(softmax(scores, axis=1)), wanted) / 2


def _classless(source: Source, given: str) -> InputError:
    """An error that says which target to use for a model without classes."""
    if source.survives:
        kind, remedy = "a model of survival", "Use bf.survival.mean_gain(...) or another of bf.survival."
    elif source.seem_probabilities:
        kind = "a model that predicts numbers between 0 and 1"
        remedy = (
            "If they are probabilities, use target=bf.value(at_least=0.5), or explain "
            f"bf.black_box({source.as_function}, classes=[0, 1]) in place of the model."
        )
    else:
        kind, remedy = "a regressor", "Use bf.value(at_least=..., at_most=...) or bf.relative_change(...)."
    return InputError(f"{given} for {kind}.", "It has no classes.", remedy)


def _check_labels(source: Source, labels: tuple[Any, ...]) -> None:
    if labels and not source.predicts_classes:
        raise _classless(source, f"the target {labels[0]!r} was given")
    unknown = [label for label in labels if source.classes and label not in source.classes]
    if unknown or not labels:
        raise InputError(
            f"the target {(unknown or ['(none)'])[0]!r} is not a class of the model.",
            *choice("Its classes are", unknown[0] if unknown else None, source.classes, repr),
        )
