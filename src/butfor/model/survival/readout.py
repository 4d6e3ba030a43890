"""Models of survival, as readouts: how raw scores become survival functions, and what a wish for one means for the scores.

Every wish becomes one inequality on one raw score, so that no solver hears of survival.
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

INSIDE = 1e-12
"""The share of its size by which a wish is exceeded, where there is room: rounding in a sum over all times decides about less."""
BLOCK = 64
"""So many survival functions at once stay in the processor's cache."""

VISIBLE = 1e-6
"""A chance of survival this small is missed by nobody."""

KEPT = 8
"""For how many questions the trees are kept with what was asked in their leaves."""


@dataclass(frozen=True)
class Wish:
    """That a quantity is at least (`up`) or at most a value, which may differ from row to row."""

    quantity: Quantity
    values: FloatArray
    up: bool


@dataclass(frozen=True, eq=False)
class Survival(Value):
    """How the score of a model of survival is read. The score is what the estimator's `predict` says."""

    link: Link = "none"

    witness: ClassVar[Quantity | None] = None
    """A quantity that comes out right only if the whole survival function is: what is compared with the estimator's."""
    proportional: bool = False
    """Whether hazards are proportional to e to the score."""

    @abstractmethod
    def needs(self, wish: Wish) -> tuple[FloatArray, FloatArray, bool]:
        """The scores s of the model, put in `focus`, that fulfil the wish, as `A, b, strict`: those with `A[i] s >= b[i]`

        (`>` if strict) for row i. With `b[i]` infinite, none or all do.
        """

    @abstractmethod
    def value(self, quantity: Quantity, scores: FloatArray) -> FloatArray:
        """The quantity, given the scores of the model put in `focus` for it."""

    def focus(self, model: Model, wish: Wish) -> Model:
        """The model whose scores `sets` speaks of."""
        return model

    def doubt(self, scores: FloatArray) -> str:
        """What is wrong with the survival functions of rows with these scores, if anything."""
        return ""


@dataclass(frozen=True, eq=False, kw_only=True)
class RiskOnly(Survival):
    """A risk score without survival functions; `why` and `remedy` say what is missing."""

    why: str
    remedy: str

    def needs(self, wish: Wish) -> tuple[FloatArray, FloatArray, bool]:
        raise self.refusal(wish.quantity)

    def value(self, quantity: Quantity, scores: FloatArray) -> FloatArray:
        raise self.refusal(quantity)

    def refusal(self, quantity: Quantity) -> UnsupportedProblemError:
        """What to tell who asks for more."""
        return UnsupportedProblemError(
            f"the {quantity!r} was asked, but {self.why}.", "A survival function is needed.", self.remedy
        )


class Monotone(Survival):
    """One score u on which every quantity depends monotonically: a wish is a threshold on u."""

    rises: ClassVar[bool]
    span: ClassVar[tuple[float, float]] = (-700.0, 700.0)
    """Between these scores nothing overflows; beyond them, survival has long been 1 or 0."""

    @abstractmethod
    def curves(self, u: FloatArray) -> Curves:
        """The survival functions at some scores."""

    def value(self, quantity: Quantity, scores: FloatArray) -> FloatArray:
        return self._at(quantity, scores[:, 0])

    def _at(self, quantity: Quantity, u: FloatArray) -> FloatArray:
        parts = np.array_split(u, 1 + len(u) // BLOCK)
        return np.concatenate([quantity.of(self.curves(part)) for part in parts])

    def needs(self, wish: Wish) -> tuple[FloatArray, FloatArray, bool]:
        sign = 1.0 if self.rises == wish.up else -1.0
        return np.full((len(wish.values), 1), sign), sign * self.bounds(wish), False

    def bounds(self, wish: Wish) -> FloatArray:
        """The last score, going from those that fulfil the wish, at which it still is: infinite if all or none do."""
        values, which = np.unique(wish.values, return_inverse=True)
        sign = 1.0 if wish.up else -1.0
        bad, good = self.span if self.rises == wish.up else self.span[::-1]

        def held(u: FloatArray) -> FloatArray:
            return sign * self._at(wish.quantity, u)

        aimed = sign * values + INSIDE * (1 + np.abs(values))
        aimed = np.where(aimed <= held(np.array([good]))[0], aimed, sign * values)  # the best cannot be exceeded
        return border(held, aimed, good, bad)[which]


@dataclass(frozen=True, eq=False, kw_only=True)
class Hazards(Monotone):
    """Proportional hazards: S(t | u) = exp(-H_0(t) e^u), H_0 a step function with steps at `times`. It falls as u rises.

    D. R. Cox, "Regression models and life tables", 1972. `lost` says where the estimator's own baseline has rounded to 0.
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
        """As for any, but a quantile jumps from time to time: it is a threshold on S = exp(-H_0 e^u) at one of them."""
        if not isinstance(wish.quantity, QuantileTime):
            return super().bounds(wish)
        hazard = np.append(0.0, self.hazard)[steps(self.times, wish) + 1]
        with np.errstate(divide="ignore"):
            bound = np.log(-np.log(1.0 - wish.quantity.share) / hazard)
        inside = np.where(np.isinf(bound), 0.0, INSIDE * (1 + np.abs(bound)))
        return np.asarray(bound - inside if wish.up else bound + inside)

    def doubt(self, scores: FloatArray) -> str:
        moderate = len(self.lost) > 0 and bool((np.exp(scores.min()) * self.lost < -np.log(VISIBLE)).any())
        if not moderate:
            return ""
        return (
            "the baseline survival function has rounded to 0 where these rows would survive: scikit-survival computes S as "
            "S0 ** exp(score) with S0 at x = 0. Its own curves are wrong there; fit on centred columns (StandardScaler)."
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class LogTime(Monotone):
    """A model that predicts one time, e to the score."""

    rises: ClassVar[bool] = True

    def curves(self, u: FloatArray) -> PredictedTimes:
        return PredictedTimes(np.exp(u))

    def score_of(self, predicted: FloatArray) -> FloatArray:
        return np.log(predicted)


@dataclass(frozen=True, eq=False, kw_only=True)
class LeafCurves(Survival):
    """A survival tree or forest: S is the mean of the curves of the leaves, so what is linear in S is a sum over leaves.

    `leaf_values(c, w)` says `c + S w` of every node, trees in the order of the model's, divided by their number.
    """

    times: FloatArray
    leaf_values: Callable[[float, FloatArray], FloatArray]
    known: dict[Hashable, Trees] = field(default_factory=dict)
    witness: ClassVar[Quantity | None] = MeanTime(tail=1.0)

    def value(self, quantity: Quantity, scores: FloatArray) -> FloatArray:
        return scores[:, 0]

    def focus(self, model: Model, wish: Wish) -> Model:
        """The same trees with the values asked for in their leaves: a score for each different one."""
        if not isinstance(model, Trees):
            return model
        asked = tuple(dict.fromkeys(self._linear(wish)))
        if asked not in self.known:
            if len(self.known) == KEPT:
                self.known.clear()
            columns = [self.leaf_values(*functional(quantity, self.times)) for quantity in asked]
            self.known[asked] = replace(model, value=np.column_stack(columns), base=np.zeros(len(asked)))
        return self.known[asked]

    def needs(self, wish: Wish) -> tuple[FloatArray, FloatArray, bool]:
        linear = self._linear(wish)
        position = {quantity: k for k, quantity in enumerate(dict.fromkeys(linear))}
        sign = 1.0 if wish.up else -1.0
        A = sign * np.eye(len(position))[[position[quantity] for quantity in linear]]
        if not isinstance(wish.quantity, QuantileTime):
            return A, sign * wish.values, False
        return A, np.full(len(A), sign * (1.0 - wish.quantity.share)), wish.up

    def _linear(self, wish: Wish) -> list[MeanTime | Chance]:
        """What is asked of each row, as something linear in S: that a quantile is late is that S is high just before."""
        if not isinstance(wish.quantity, QuantileTime):
            assert isinstance(wish.quantity, MeanTime | Chance)
            return [wish.quantity] * len(wish.values)
        at = steps(self.times, wish)
        return [Chance(float(self.times[k]) if k >= 0 else 0.0) for k in at]


def steps(times: FloatArray, wish: Wish) -> IntArray:
    """On which step S decides about a quantile: the last that begins before the time (or, if it is to be early, with it).

    -1 is before the first time, where S is 1.
    """
    return np.asarray(np.searchsorted(times, wish.values, side="left" if wish.up else "right") - 1)
