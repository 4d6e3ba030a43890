"""Models of survival, as readouts: how raw scores become survival functions, and what a wish for one means for the scores.

Every wish becomes one inequality on one raw score, so that no solver hears of survival.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from butfor.errors import UnsupportedProblemError
from butfor.model.readout import Link, Value
from butfor.model.scores import ScoreSet, at_least, everything, nothing
from butfor.model.survival_curves import (
    Chance,
    Curves,
    MeanTime,
    PredictedTimes,
    QuantileTime,
    Quantity,
    StepCurves,
    functional,
)
from butfor.model.trees import Trees
from butfor.space.frames import FloatArray

if TYPE_CHECKING:
    from butfor.model.ask import Model

INSIDE = 1e-12
"""The share of its size by which a wish is exceeded, where there is room: rounding in a sum over all times decides about less."""


VISIBLE = 1e-6
"""A chance of survival this small is missed by nobody."""

DIGITS = 1e-15
"""How close, as a share of its size, a threshold on the score comes to the last score that does."""


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

    @abstractmethod
    def sets(self, wish: Wish) -> list[ScoreSet]:
        """The scores of the model, put in `focus`, that fulfil the wish: a set a row."""

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

    def sets(self, wish: Wish) -> list[ScoreSet]:
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
        return quantity.of(self.curves(u))

    def sets(self, wish: Wish) -> list[ScoreSet]:
        return [self._set(bound, wish.up) for bound in self.bounds(wish).tolist()]

    def bounds(self, wish: Wish) -> FloatArray:
        """The last score, going from those that fulfil the wish, at which it still is; infinite if all or none do."""
        values, which = np.unique(wish.values, return_inverse=True)
        sign = 1.0 if wish.up else -1.0
        aimed = values + sign * INSIDE * (1 + np.abs(values))
        best = np.max(sign * self._at(wish.quantity, np.array(self.span)))
        aimed = np.where(sign * aimed <= best, aimed, values)  # the very best value cannot be exceeded

        def spare(u: FloatArray) -> FloatArray:
            return np.asarray(sign * (self._at(wish.quantity, u) - aimed))

        bad, good = self.span if self.rises == wish.up else self.span[::-1]
        return _border(spare, good, bad, len(values))[which]

    def _set(self, bound: float, up: bool) -> ScoreSet:
        high = self.rises == up
        if np.isinf(bound):
            return everything(1) if (bound < 0) == high else nothing(1)
        return at_least(np.array([1.0]), bound) if high else at_least(np.array([-1.0]), -bound)


def _border(spare: Callable[[FloatArray], FloatArray], good: float, bad: float, count: int) -> FloatArray:
    """Where `spare`, not below 0 from `good` on, falls below on the way to `bad`; all rows at once, on the side of `good`.

    Infinite with the sign of `bad` if it never does, of `good` if it always is. Regula falsi with halved weights
    (Illinois; Dowell and Jarratt, BIT 1971), and every fourth step a bisection, until the last digits.
    """
    yes, no = np.full(count, good), np.full(count, bad)
    above, below = spare(yes), spare(no)
    never, always = above < 0, below >= 0
    for step in range(200):
        with np.errstate(invalid="ignore", divide="ignore"):
            share = above / (above - below)
        share = np.where((share > 0) & (share < 1), share, 0.5) if step % 4 else np.full(count, 0.5)
        middle = yes + (no - yes) * share
        if np.all((np.abs(no - yes) <= DIGITS * (1 + np.abs(yes))) | never | always):
            break
        found = spare(middle)
        holds = found >= 0
        below = np.where(holds, below / 2, found)
        above = np.where(holds, found, above / 2)
        yes, no = np.where(holds, middle, yes), np.where(holds, no, middle)
    return np.where(never, np.copysign(np.inf, good), np.where(always, np.copysign(np.inf, bad), yes))


@dataclass(frozen=True, eq=False, kw_only=True)
class Hazards(Monotone):
    """Proportional hazards: S(t | u) = exp(-H_0(t) e^u), H_0 a step function with steps at `times`. It falls as u rises.

    D. R. Cox, "Regression models and life tables", 1972. `lost` says where the estimator's own baseline has rounded to 0.
    """

    times: FloatArray
    hazard: FloatArray
    lost: FloatArray = field(default_factory=lambda: np.empty(0))
    rises: ClassVar[bool] = False
    witness: ClassVar[Quantity | None] = MeanTime(tail=1.0)

    def curves(self, u: FloatArray) -> StepCurves:
        with np.errstate(invalid="ignore", over="ignore"):
            power = np.exp(u)[:, None] * self.hazard
        return StepCurves(self.times, np.exp(-np.where(self.hazard == 0, 0.0, power)))

    def bounds(self, wish: Wish) -> FloatArray:
        """As for any, but a quantile jumps from time to time: it is a threshold on S at one of them."""
        if not isinstance(wish.quantity, QuantileTime):
            return super().bounds(wish)
        out = np.empty(len(wish.values))
        level = 1.0 - wish.quantity.share
        for time in np.unique(wish.values):
            at = wish.values == time
            step = int(np.searchsorted(self.times, time, side="left" if wish.up else "right")) - 1
            out[at] = self._crossing(step, level, wish.up)
        return out

    def _crossing(self, step: int, level: float, up: bool) -> float:
        """The last score at which S on that step is above (`up`) or at most the level."""
        if step < 0:
            return np.inf  # S is 1 there: above every level whatever the score, and never at most it
        hazard = self.hazard[step : step + 1]

        def spare(u: FloatArray) -> FloatArray:
            outlasting = Hazards(times=self.times[:1], hazard=hazard).curves(u).survival[:, 0]
            return np.where(outlasting > level if up else outlasting <= level, 1.0, -1.0)

        good, bad = self.span if up else self.span[::-1]
        return float(_border(spare, good, bad, 1)[0])

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
            columns = [self.leaf_values(*functional(quantity, self.times)) for quantity in asked]
            self.known[asked] = replace(model, value=np.column_stack(columns), base=np.zeros(len(asked)))
        return self.known[asked]

    def sets(self, wish: Wish) -> list[ScoreSet]:
        linear = self._linear(wish)
        position = {quantity: k for k, quantity in enumerate(dict.fromkeys(linear))}
        sign = 1.0 if wish.up else -1.0
        rows = sign * np.eye(len(position))[[position[quantity] for quantity in linear]]
        levels, strict = wish.values, False
        if isinstance(wish.quantity, QuantileTime):
            levels, strict = np.full(len(rows), 1.0 - wish.quantity.share), wish.up
        return [at_least(row, sign * level, strict=strict) for row, level in zip(rows, levels, strict=True)]

    def _linear(self, wish: Wish) -> list[MeanTime | Chance]:
        """What is asked of each row, as something linear in S: that a quantile is late is that S is high just before."""
        if not isinstance(wish.quantity, QuantileTime):
            assert isinstance(wish.quantity, MeanTime | Chance)
            return [wish.quantity] * len(wish.values)
        side = "left" if wish.up else "right"
        steps = np.searchsorted(self.times, wish.values, side=side) - 1  # type: ignore[call-overload]
        return [Chance(float(self.times[k]) if k >= 0 else 0.0) for k in steps]
