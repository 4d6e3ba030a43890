"""The models that a PMML file holds, as numbers, and the estimators that ask them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.arrays import FloatArray
from butfor.errors import InputError, UnsupportedModelError
from butfor.estimator.boosters import AbstractNativeClassifier, AbstractNativeRegressor
from butfor.estimator.dumps.dump import softmax
from butfor.estimator.pmml.fields import BENDING_STEPS, Field, Read, inputs
from butfor.estimator.pmml.predicates import Known, Predicate, Question, truth
from butfor.model.median import Median
from butfor.model.monotone import AbstractStep, ComplementaryLogLog, Exponential, Logistic, Normal
from butfor.model.nodes import Nodes, leaves_added
from butfor.space import frames

LINK_STEPS: dict[str, AbstractStep] = {
    "exp": Exponential(),
    "logit": Logistic(),
    "probit": Normal(),
    "cloglog": ComplementaryLogLog(),
}
"""What is made of a sum, by the name of the link."""


@dataclass(frozen=True)
class Characteristic:
    """A characteristic of a scorecard: what is usual, and for each attribute its points, its code and its predicate."""

    name: str
    baseline: float
    attributes: tuple[tuple[float, str], ...]
    predicates: tuple[Predicate, ...]


@dataclass(frozen=True)
class Reasons:
    """What gives reason codes: how far the points of each characteristic lie below what is usual, or above."""

    characteristics: tuple[Characteristic, ...]
    above: bool


@dataclass(frozen=True, eq=False)
class InPmml(ABC):
    """A model of a PMML file.

    - `fields`: the columns that it takes; `reads`: what it reads of them;
    - `refused`: the numbers of the columns that must not be missing;
    - `classes`: what is predicted; empty for a number;
    - `link`: what is made of the sums.
    """

    fields: tuple[Field, ...]
    reads: tuple[Read, ...]
    refused: tuple[int, ...]
    classes: tuple[Any, ...]
    link: str | None

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [field.name for field in self.fields]

    def read(self, table: Any) -> FloatArray:
        """What is read of each row."""
        columns = inputs(self.fields, frames.opened(frames.as_table(table)))
        for j in self.refused:
            if np.isnan(columns[j]).any():
                raise InputError(
                    f"column {self.fields[j].name!r} lacks a value.",
                    "The model in the file predicts nothing without it.",
                )
        found = [read.after(columns[read.field]) for read in self.reads]
        for read in self.reads:
            undefined = read.undefined(columns[read.field])
            if undefined.any():
                raise InputError(
                    f"column {self.fields[read.field].name!r} holds {float(columns[read.field][undefined][0])!r}.",
                    f"{' and '.join(name for name, _ in read.steps if name in BENDING_STEPS)} in the file are not defined there.",
                )
        return np.column_stack(found)

    @abstractmethod
    def sums(self, X: FloatArray) -> FloatArray:
        """The scores, of what is read."""

    def answers(self, table: Any) -> NDArray[Any]:
        """What is predicted: a number, the probability of the second class, or those of all classes."""
        sums = self.sums(self.read(table))
        if self.link == "softmax":
            return softmax(sums)
        if self.link is not None:
            return np.asarray(LINK_STEPS[self.link].at(sums[:, 0]))
        return self.shares(sums) if self.classes else sums[:, 0]

    def shares(self, sums: FloatArray) -> FloatArray:
        """Probabilities, of sums that are counted."""
        return sums


@dataclass(frozen=True, eq=False)
class SumOfTrees(InPmml):
    """A sum of trees.

    - `total`: what the shares of the classes add up to;
    - `single`: whether the file asks for float32;
    - `reasons`: of a scorecard.
    """

    _: KW_ONLY
    nodes: Nodes
    base: FloatArray
    total: float = 1.0
    single: bool = False
    reasons: Reasons | None = None

    def sums(self, X: FloatArray) -> FloatArray:
        return leaves_added(self.nodes, X, self.base.astype(np.float32 if self.single else np.float64))

    def answers(self, table: Any) -> NDArray[Any]:
        return super().answers(table).astype(np.float32 if self.single else np.float64)

    def shares(self, sums: FloatArray) -> FloatArray:
        return sums / self.total


@dataclass(frozen=True, eq=False)
class MedianOfTrees(SumOfTrees):
    """A weighted median of trees, each of which has a score of its own: `weights` (trees).

    It is the first of the predictions, in their order, up to which lies half of the weight.
    """

    weights: FloatArray

    def answers(self, table: Any) -> NDArray[Any]:
        return Median(weights=self.weights).sums(self.sums(self.read(table)))


@dataclass(frozen=True, eq=False)
class WeightedSum(InPmml):
    """Weighted sums of what is read: `weights` (scores, reads), `base` (scores)."""

    _: KW_ONLY
    weights: FloatArray
    base: FloatArray

    def sums(self, X: FloatArray) -> FloatArray:
        return self.base + X @ self.weights.T


class PmmlClassifier(AbstractNativeClassifier):
    """A model of a PMML file that predicts classes."""

    booster: InPmml

    def __init__(self, model: InPmml) -> None:
        super().__init__(model, model.names, len(model.fields), model.classes)

    def answers(self, X: Any) -> NDArray[Any]:
        return self.booster.answers(X)


class PmmlRegressor(AbstractNativeRegressor):
    """A model of a PMML file that predicts a number: a regression, or the points of a scorecard."""

    booster: InPmml

    def __init__(self, model: InPmml) -> None:
        super().__init__(model, model.names, len(model.fields))

    def answers(self, X: Any) -> NDArray[Any]:
        return self.booster.answers(X)

    def reason_codes(self, X: Any, most: int = 4) -> list[list[str]]:
        """The reason codes of each row, the weightiest first, as its scorecard defines them.

        A characteristic whose points are at most its baseline (or at least, as the file says) gives the code of its attribute.
        """
        model = self.booster
        if not isinstance(model, SumOfTrees) or model.reasons is None:
            raise UnsupportedModelError(
                "the model in the file has no reason codes.", "A Scorecard with baseline scores and codes has them."
            )
        return [_codes(model.reasons, row, most) for row in model.read(X)]


def _codes(reasons: Reasons, row: FloatArray, most: int) -> list[str]:
    """The codes of one row: of what is read of it."""
    found = []
    for one in reasons.characteristics:
        k = next(k for k, predicate in enumerate(one.predicates) if _holds(predicate, row))
        points, code = one.attributes[k]
        found.append((points - one.baseline if reasons.above else one.baseline - points, code))
    ordered = sorted((one for one in found if one[0] >= 0), key=lambda one: -one[0])
    return list(dict.fromkeys(code for _, code in ordered))[:most]


def _holds(predicate: Predicate, row: FloatArray) -> bool:
    """Whether a predicate is true for a row."""
    state: dict[int, Known] = {j: Known(lost=bool(np.isnan(x))) for j, x in enumerate(row.tolist())}
    while True:
        found = truth(predicate, state)
        if isinstance(found, bool | None):
            return found is True
        state[found.read] = state[found.read].told(found, _answer(found, row))


def _answer(question: Question, row: FloatArray) -> bool:
    x = row[question.read]
    return bool(x <= question.last) if hasattr(question, "last") else int(x) in question.levels  # type: ignore[union-attr]


def pmml_estimator(model: InPmml) -> PmmlClassifier | PmmlRegressor:
    """A model of a PMML file as an estimator."""
    return PmmlClassifier(model) if model.classes else PmmlRegressor(model)
