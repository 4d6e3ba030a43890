"""The targets on survival by the names that users call. They check their arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.errors import InputError, InputTypeError, number, suggests
from butfor.model.survival.curves import Chance, MeanTime, QuantileTime, Quantity
from butfor.problem.targets.prototype import prototype_of
from butfor.problem.targets.risk import HazardRatio, RiskChange
from butfor.problem.targets.survival import SurvivalBeside, SurvivalChange, SurvivalReach


@suggests
def mean_gain(
    r: float, *, tail: float = 0.0, horizon: float | None = None, unit: str = "", prototype: Any = None
) -> SurvivalChange | SurvivalBeside:
    """The target that the mean time to the event rises by at least `r`.

    Choose it for a gain over what the model expects of the row now. The mean is the integral of the survival function S
    over [0, t_q], where t_q is the last time of the training data. It is a restricted mean, because nothing is known
    beyond t_q. A parametric model knows S for all times, and its mean is over all of them. If the model predicts a
    single time (IPCRidge), that time is used instead.

    - `tail`: so much time is added, over which S stays as it is at t_q;
    - `horizon`: ends the integral earlier;
    - `unit`: is written after times, such as "days";
    - `prototype`: a whole row, such as the typical one of a group (a table of one row, or a mapping of columns to values).
      The mean is then to exceed that of this row by `r`, which may be 0, and not that of the row as it is now.

    >>> mean_gain(90, unit="days")
    mean time to event up by at least 90 days
    >>> mean_gain(0, prototype={"age": 50, "treated": True})
    mean time to event at least that of the prototype
    """
    return _moved(_mean(tail, horizon), r, True, unit, prototype)


@suggests
def mean_loss(
    r: float, *, tail: float = 0.0, horizon: float | None = None, unit: str = "", prototype: Any = None
) -> SurvivalChange | SurvivalBeside:
    """The target that the mean time to the event falls by at least `r`. See `mean_gain`.

    >>> mean_loss(2, horizon=60, unit="months")
    mean time to event within 60 months down by at least 2 months
    """
    return _moved(_mean(tail, horizon), r, False, unit, prototype)


@suggests
def mean_at_least(time: float, *, tail: float = 0.0, horizon: float | None = None, unit: str = "") -> SurvivalReach:
    """The target that the mean time to the event is at least `time`.

    Choose it where the goal is a time, and not a gain. See `mean_gain` for the mean.

    >>> mean_at_least(400, unit="days")
    mean time to event at least 400 days
    """
    return SurvivalReach(_mean(tail, horizon), _positive("time", time), True, unit)


@suggests
def survival_at(
    t0: float, at_least: float | None = None, *, at_most: float | None = None, unit: str = ""
) -> SurvivalReach:
    """The target that the chance to outlast a time is at least (or at most) a given one.

    The chance is S(t0). Choose it where one date matters, such as five years after an operation.

    >>> survival_at(1825, at_least=0.6, unit="days")
    chance to outlast 1825 days at least 0.6
    """
    if (at_least is None) == (at_most is None):
        raise InputTypeError("bf.survival.survival_at needs at_least= or at_most=.", "Give exactly one of them.")
    given = at_most if at_least is None else at_least
    p = number(given, f"a chance of {given!r} was asked for.", "It must be a number in [0, 1].")
    if not 0 <= p <= 1:
        raise InputError(f"a chance of {p:g} was asked for.", "It must lie in [0, 1].")
    return SurvivalReach(Chance(_positive("t0", t0)), p, at_least is not None, unit)


@suggests
def survival_gain(t0: float, by: float, *, unit: str = "", prototype: Any = None) -> SurvivalChange | SurvivalBeside:
    """The target that the chance to outlast a time rises by at least `by`: S(t0) + by.

    Choose it where a time matters and not the mean, such as five years. With a `prototype`, the chance is to exceed
    that of this row. See `mean_gain`.

    >>> survival_gain(1825, by=0.1, unit="days")
    chance to outlast 1825 days up by at least 0.1
    """
    if number(by, f"by={by!r} was given.", "It must be a number in (0, 1].") > 1:
        raise InputError(f"by={by:g} was given.", "A chance rises by 1 at most.")
    return _moved(Chance(_positive("t0", t0)), by, True, unit, prototype)


@suggests
def median_gain(r: float, *, unit: str = "") -> SurvivalChange:
    """The target that the median time to the event rises by at least `r`.

    The median is inf {t: S(t) <= 1/2}. It is infinite if more than half outlast the last known time. Choose it when a
    few long survivors must not count.

    >>> median_gain(90, unit="days")
    median time to event up by at least 90 days
    """
    return SurvivalChange(QuantileTime(0.5), _positive("r", r), unit)


@suggests
def quantile_at_least(share: float, time: float, *, unit: str = "") -> SurvivalReach:
    """The target that a quantile of the time to the event is at least `time`.

    The quantile is the time by which this share has had the event: inf {t: S(t) <= 1 - share}. Choose it for goals such as
    a warranty: "three quarters last a year".

    >>> quantile_at_least(0.25, 365, unit="days")
    time by which 25 % have had the event at least 365 days
    """
    part = number(share, f"share={share!r} was given.", "It must be a number between 0 and 1.")
    if not 0 < part < 1:
        raise InputError(f"share={part:g} was given.", "It must lie between 0 and 1; 0.5 is the median.")
    return SurvivalReach(QuantileTime(part), _positive("time", time), True, unit)


@suggests
def risk_change(by: float) -> RiskChange:
    """The target that the risk score moves by at least `by`. -0.5 is down by 0.5.

    The risk score is what the model's `predict` returns; scores of different models have different scales. Choose it
    for models without survival functions, such as a survival SVM.

    >>> risk_change(-0.5)
    risk score down by at least 0.5
    """
    size = number(by, f"by={by!r} was given.", "It must be a number; below 0 means less risk.")
    if not np.isfinite(size) or size == 0:
        raise InputError(f"by={size:g} was given.", "It must be finite and not 0; below 0 means less risk.")
    return RiskChange(size)


@suggests
def hazard_ratio(at_most: float | None = None, *, at_least: float | None = None, prototype: Any = None) -> HazardRatio:
    """The target that the hazard is at most (or at least) a multiple of another.

    Choose it where risks are told relative to others, as in Cox models. The other hazard is that of `prototype`
    (default: of the row itself, as it is now). The prototype is a whole row: a table of one row, or a mapping of
    columns to values. The model must have proportional hazards: then the ratio is exp(score - score of the prototype)
    at all times.

    >>> hazard_ratio(at_most=0.5)
    hazard at most 0.5 times what it is now
    """
    if (at_most is None) == (at_least is None):
        raise InputTypeError("bf.survival.hazard_ratio needs at_most= or at_least=.", "Give exactly one of them.")
    ratio = _positive("the ratio", at_least if at_most is None else at_most)
    down = at_most is not None
    row = prototype_of(prototype)
    if not row and (ratio >= 1) == down:
        raise InputError(
            f"a hazard at {'most' if down else 'least'} {ratio:g} times what it is now was asked for.",
            "It already is.",
        )
    return HazardRatio(ratio, not down, row)


def _moved(quantity: Quantity, by: float, up: bool, unit: str, prototype: Any) -> SurvivalChange | SurvivalBeside:
    """A quantity that rises or falls by so much: from what it is now, or from that of a prototype."""
    row = prototype_of(prototype)
    if not row:
        size = _positive("by" if isinstance(quantity, Chance) else "r", by)
        return SurvivalChange(quantity, size if up else -size, unit)
    least = number(by, f"a difference of {by!r} was given.", "It must be a number of at least 0.")
    if not 0 <= least < np.inf:
        raise InputError(f"a difference of {by:g} was given.", "It must be finite and at least 0.")
    return SurvivalBeside(quantity, least, row, up, unit)


def _mean(tail: float, horizon: float | None) -> MeanTime:
    after = number(tail, f"tail={tail!r} was given.", "A tail must be a length of time.")
    if not 0 <= after < np.inf:
        raise InputError(f"tail={after:g} was given.", "A tail must be finite and at least 0.")
    if horizon is None:
        return MeanTime(after)
    if after:
        raise InputError(
            "tail= and horizon= were given.", "A horizon ends the time earlier, a tail adds to it.", "Give only one."
        )
    return MeanTime(0.0, _positive("horizon", horizon))


def _positive(name: str, given: Any) -> float:
    value = number(given, f"{name}={given!r} was given.", "It must be a positive number.")
    if not 0 < value < np.inf:
        raise InputError(f"{name}={value:g} was given.", "It must be a positive, finite number.")
    return value
