"""Find the features that are worth moving. They tell most about whether the target is met."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import number
from butfor.problem.oracle import AbstractOracle
from butfor.problem.problem import Problem
from butfor.space.feature import Feature

BINS = 10

Telling = Callable[[FloatArray, BoolArray, Feature], float]
"""A function that says how much a column tells. The result is larger the more the column tells.

Its arguments are the column's encoded values (for a category, the position among its levels; NaN: missing), which
rows meet the target, and the column.
"""


def information_value(codes: FloatArray, met: BoolArray, feature: Feature | None = None) -> float:
    """How well a column distinguishes rows that meet the target from other rows. 0 is not at all.

    It is `sum_b (p_b - q_b) ln(p_b / q_b)`, the usual sum of weights of evidence (Siddiqi, Credit Risk Scorecards,
    2006). p_b is the share of the rows meeting the target that lie in bin b, and q_b the same for the other rows;
    half a row is added to each count. A number has ten bins of equal width between its outer fences (values beyond
    1.5 interquartile ranges are left out). A category has one bin per level. Missing values have their own bin.

    >>> x = np.arange(20.0)
    >>> information_value(x, x > 9) > information_value(x, x % 2 == 0)
    True
    """
    p, q = _shares(codes, met, feature)
    return float(np.sum((p - q) * np.log(p / q)))


def printed_information_value(codes: FloatArray, met: BoolArray, feature: Feature | None = None) -> float:
    """The same as eq. 16 of Shekhar et al. (CSDE 2023) prints it, without the logarithm: `sum_b (p_b - q_b) p_b / q_b`.

    Bins in which rows meet the target count far more in it than bins in which they do not.

    >>> x = np.arange(20.0)
    >>> printed_information_value(x, x > 9) > printed_information_value(x, x % 2 == 0)
    True
    """
    p, q = _shares(codes, met, feature)
    return float(np.sum((p - q) * p / q))


TELLING: dict[str, Telling] = {"information value": information_value, "as printed": printed_information_value}
"""The functions that have names."""


def _shares(codes: FloatArray, met: BoolArray, feature: Feature | None) -> tuple[FloatArray, FloatArray]:
    """The share of the rows meeting the target that lie in each bin, and that of the other rows."""
    bins = _binned(codes, feature)
    known = bins >= 0
    size = int(bins.max(initial=0)) + 1
    yes, no = (np.bincount(bins[known & of], minlength=size) for of in (met, ~met))
    used = yes + no > 0
    p, q = ((count[used] + 0.5) / (count[used] + 0.5).sum() for count in (yes, no))
    return p, q


def _binned(codes: FloatArray, feature: Feature | None) -> np.ndarray:
    """The bin of each value. -1 for an outlier."""
    lost = np.isnan(codes)
    if feature is not None and feature.levels is not None:
        return np.where(lost, len(feature.levels), codes).astype(np.intp)
    known = codes[~lost]
    if not len(known):
        return np.where(lost, BINS, 0)
    first, third = np.quantile(known, [0.25, 0.75])
    fence = 1.5 * (third - first) if third > first else np.inf
    inside = (codes >= first - fence) & (codes <= third + fence)
    low, high = known[inside[~lost]].min(), known[inside[~lost]].max()
    share = np.nan_to_num((codes - low) / ((high - low) or 1.0))
    bins = np.clip(np.floor(BINS * share), 0, BINS - 1).astype(np.intp)
    return np.where(lost, BINS, np.where(inside, bins, -1))


def most_telling(problem: Problem, oracle: AbstractOracle, count: int, telling: str | Telling) -> BoolArray:
    """For each row, the `count` features that tell most in the examples. All features if there are none."""
    features = problem.space.features
    out = np.ones(problem.factuals.shape, dtype=np.bool_)
    known: dict[bytes, BoolArray] = {}
    telling = TELLING[telling] if isinstance(telling, str) else telling
    for row in range(len(problem)):
        met = oracle.of_examples(row).met
        if not met.any() or met.all():
            continue
        key = met.tobytes()
        if key not in known:
            returned = [_value_of(telling, oracle.examples[:, j], met, feature) for j, feature in enumerate(features)]
            known[key] = np.zeros(len(features), dtype=np.bool_)
            known[key][np.argsort(-np.array(returned), kind="stable")[:count]] = True
        out[row] = known[key]
    return out


def _value_of(telling: Telling, codes: FloatArray, met: BoolArray, feature: Feature) -> float:
    """How much a column tells, checked."""
    returned = telling(codes, met, feature)
    message = f"Swarm(telling=...) returned {returned!r} for {feature.name!r}."
    return number(returned, message, "It must return a number, which is larger the more the column tells.")
