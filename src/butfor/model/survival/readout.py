"""Models of survival, as readouts: how raw scores become survival functions.

A wish for a survival function becomes one inequality on one raw score, so that solvers need not know about survival.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from butfor.arrays import FloatArray, IntArray
from butfor.errors import UnsupportedProblemError
from butfor.model.readout import Link, Value
from butfor.model.survival.curves import (
    Chance,
    Curves,
    MeanTime,
    PredictedTimes,
    QuantileTime,
    Quantity,
    StepCurves,
    functional,
)
from butfor.model.survival.roots import border
from butfor.model.trees import Trees

if TYPE_CHECKING:
    from butfor.model.questions import Model

BLOCK = 64
"""How many survival functions are computed together. They fit into the processor's cache."""

VISIBLE = 1e-6
"""Chances of survival below this do not matter."""

KEPT = 8
"""For how many questions the trees are kept with the values of the question in their leaves."""


@dataclass(frozen=True)
class Wish:
    """The wish that a quantity is at least (`up`) or at most a value. Rows may have different values."""

    quantity: Quantity
    values: FloatArray
    up: bool


@dataclass(frozen=True, eq=False)
class Survival(Value):
    """How the score of a model of survival is read. The score follows from the estimator's `predict`."""

    link: Link = "none"

    witness: ClassVar[Quantity | None] = None
    """A quantity that is right only if the whole survival function is. It is compared with the estimator's."""
    proportional: bool = False
    """Whether hazards are proportional to exp(score)."""
    score_words: ClassVar[str] = "risk score"
    """What the score is, in words."""

    @abstractmethod
    def needs(self, wish: Wish) -> tuple[FloatArray, FloatArray, bool]:
        """The scores that fulfil the wish, as `A, b, strict`.

        Scores s of the model in `focus` fulfil it for row i iff `A[i] s >= b[i]` (`>` if strict). If `b[i]` is
        infinite, none or all of them do.
        """

    @abstractmethod
    def value(self, quantity: Quantity, scores: FloatArray) -> FloatArray:
        """The quantity, from the scores of the model that `focus` returns for it."""

    def focus(self, model: Model, wish: Wish) -> Model:
        """The model whose scores `needs` is about."""
        return model

    def doubt(self, scores: FloatArray) -> str:
        """A warning about the survival functions for these scores; empty if they are fine."""
        return ""


@dataclass(frozen=True, eq=False, kw_only=True)
class RiskOnly(Survival):
    """A risk score without survival functions. `why` and `remedy` say what is missing."""

    why: str
    remedy: str

    def needs(self, wish: Wish) -> tuple[FloatArray, FloatArray, bool]:
        raise self.refusal(wish.quantity)

    def value(self, quantity: Quantity, scores: FloatArray) -> FloatArray:
        raise self.refusal(quantity)

    def refusal(self, quantity: Quantity) -> UnsupportedProblemError:
        """An error for a target that needs survival functions."""
        return UnsupportedProblemError(
            f"the {quantity!r} was asked for, but {self.why}.", "A survival function is needed.", self.remedy
        )


class Monotone(Survival):
    """One score u on which every quantity depends monotonically. A wish becomes a threshold on u."""

    rises: ClassVar[bool]
    span: ClassVar[tuple[float, float]] = (-700.0, 700.0)
    """Between these scores nothing overflows. Beyond them, survival is 1 or 0 anyway."""

    @abstractmethod
    def curves(self, u: FloatArray) -> Curves:
        """The survival functions for some scores."""

    def value(self, quantity: Quantity, scores: FloatArray) -> FloatArray:
        return self._at(quantity, scores[:, 0])

    def _at(self, quantity: Quantity, u: FloatArray) -> FloatArray:
        parts = np.array_split(u, 1 + len(u) // BLOCK)
        return np.concatenate([quantity.of(self.curves(part)) for part in parts])

    def needs(self, wish: Wish) -> tuple[FloatArray, FloatArray, bool]:
        sign = 1.0 if self.rises == wish.up else -1.0
        return np.full((len(wish.values), 1), sign), sign * self.bounds(wish), False

    def bounds(self, wish: Wish) -> FloatArray:
        """The last score that still fulfils the wish, for each row. Infinite if all or none do."""
        values, which = np.unique(wish.values, return_inverse=True)
        sign = 1.0 if wish.up else -1.0
        bad, good = self.span if self.rises == wish.up else self.span[::-1]

        def held(u: FloatArray) -> FloatArray:
            return sign * self._at(wish.quantity, u)

        return border(held, sign * values, good, bad)[which]


@dataclass(frozen=True, eq=False, kw_only=True)
class Hazards(Monotone):
    """Proportional hazards: S(t | u) = exp(-H_0(t) e^u). It falls as u rises.

    - `times` (times): the steps of H_0;
    - `hazard` (times): H_0 at these times;
    - `lost`: H_0 at those times where the estimator's own baseline survival was rounded to 0.

    D. R. Cox, "Regression models and life tables", 1972.
    """

    times: FloatArray
    hazard: FloatArray
    lost: FloatArray = field(default_factory=lambda: np.empty(0))
    proportional: bool = True
    rises: ClassVar[bool] = False
    witness: ClassVar[Quantity | None] = MeanTime(tail=1.0)

    def curves(self, u: FloatArray) -> StepCurves:
        with np.errstate(over="ignore"):
            return StepCurves(self.times, np.exp(-np.exp(np.clip(u, *self.span))[:, None] * self.hazard))

    def bounds(self, wish: Wish) -> FloatArray:
        """As in `Monotone`, except for quantiles, which jump from time to time.

        A wish for a quantile is a threshold on S = exp(-H_0 e^u) at one of the times.
        """
        if not isinstance(wish.quantity, QuantileTime):
            return super().bounds(wish)
        hazard = np.append(0.0, self.hazard)[steps(self.times, wish) + 1]
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(-np.log(1.0 - wish.quantity.share) / hazard))

    def doubt(self, scores: FloatArray) -> str:
        moderate = len(self.lost) > 0 and bool((np.exp(scores.min()) * self.lost < -np.log(VISIBLE)).any())
        if not moderate:
            return ""
        return (
            "the baseline survival function was rounded to 0 at times that these rows would outlast: scikit-survival "
            "computes S as S0 ** exp(score), where S0 is S at x = 0. Its own curves are wrong there. Fit the model on "
            "centred columns (StandardScaler)."
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class LogTime(Monotone):
    """A model that predicts one time, exp(score)."""

    rises: ClassVar[bool] = True
    score_words: ClassVar[str] = "logarithm of the time"

    def curves(self, u: FloatArray) -> PredictedTimes:
        return PredictedTimes(np.exp(u))

    def score_of(self, predicted: FloatArray) -> FloatArray:
        return np.log(predicted)


@dataclass(frozen=True, eq=False, kw_only=True)
class LeafCurves(Survival):
    """A survival tree or forest. S is the mean of the curves of the leaves.

    So every quantity that is linear in S is a sum over leaves. `leaf_values(c, w)` returns `c + S w` for every node,
    divided by the number of trees, with the trees in the order of the model.
    """

    times: FloatArray
    leaf_values: Callable[[float, FloatArray], FloatArray]
    known: dict[Hashable, Trees] = field(default_factory=dict)
    witness: ClassVar[Quantity | None] = MeanTime(tail=1.0)

    def value(self, quantity: Quantity, scores: FloatArray) -> FloatArray:
        return scores[:, 0]

    def focus(self, model: Model, wish: Wish) -> Model:
        """The same trees with the wanted quantities in their leaves, one score for each."""
        if not isinstance(model, Trees):
            return model
        wanted = self.wanted(wish)
        if wanted not in self.known:
            if len(self.known) == KEPT:
                self.known.clear()
            asked = [functional(quantity, self.times) for quantity in wanted]
            value = np.column_stack([self.leaf_values(*each) for each in asked])
            several = len(model.roots) > 1  # the curves of one tree are its leaves', and `weighed` like them
            self.known[wanted] = replace(
                model,
                value=value,
                base=np.zeros(len(wanted)),
                folded=several,
                summed=several * max(int(np.count_nonzero(weights)) for _, weights in asked),
            )
        return self.known[wanted]

    def needs(self, wish: Wish) -> tuple[FloatArray, FloatArray, bool]:
        linear = self._linear(wish)
        position = {quantity: k for k, quantity in enumerate(self.wanted(wish))}
        sign = 1.0 if wish.up else -1.0
        A = sign * np.eye(len(position))[[position[quantity] for quantity in linear]]
        if not isinstance(wish.quantity, QuantileTime):
            return A, sign * wish.values, False
        return A, np.full(len(A), sign * (1.0 - wish.quantity.share)), wish.up

    def wanted(self, wish: Wish) -> tuple[MeanTime | Chance, ...]:
        """The scores of the model in `focus`."""
        return tuple(dict.fromkeys(self._linear(wish)))

    def _linear(self, wish: Wish) -> list[MeanTime | Chance]:
        """What is wanted of each row, as a quantity that is linear in S.

        That a quantile is late means that S is high just before.
        """
        if not isinstance(wish.quantity, QuantileTime):
            assert isinstance(wish.quantity, MeanTime | Chance)
            return [wish.quantity] * len(wish.values)
        at = steps(self.times, wish)
        return [Chance(float(self.times[k]) if k >= 0 else 0.0) for k in at]


def steps(times: FloatArray, wish: Wish) -> IntArray:
    """For each row, the step of S that decides a wish for a quantile.

    It is the last step that begins before the wanted time; if the quantile is to be early, the last that begins at or
    before it. -1 means before the first time, where S is 1.
    """
    return np.asarray(np.searchsorted(times, wish.values, side="left" if wish.up else "right") - 1)
