"""Measures of a set of answers to one row, one number each.

`factual` and `answers` are tables of any kind, and `space` describes their columns. The measure of a set without
answers is NaN. A column with levels counts as categorical here, whether its levels are ordered or not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.errors import InputError
from butfor.measure.coded import distinct, encoded, one
from butfor.problem.costs import L1
from butfor.space.space import Space, same


def proximity(factual: Any, answers: Any, space: Space) -> float:
    """The mean move of the numbers, in median absolute deviations (MAD). Smaller is nearer.

    `1/(k d) sum_i sum_j |c_ij - x_j| / MAD_j` over k answers and the d columns of numbers (Mothilal, Sharma and Tan,
    FAT* 2020, who report its negative). As in `bf.MAD`, a MAD of zero is replaced by the column's range, and a number
    that becomes known or missing counts 1. Choose `bf.MAD()` as the cost to minimise it.

    >>> from butfor.space.infer import infer
    >>> space = infer([[0.0, 5.0], [1.0, 7.5], [2.0, 10.0]])
    >>> proximity([[0.0, 5.0]], [[2.0, 5.0], [2.0, 10.0]], space)
    1.5
    """
    return _mean(_gaps(one(factual, space), encoded(answers, space), space, "mad")[:, ~_levels(space)])


def categorical_proximity(factual: Any, answers: Any, space: Space) -> float:
    """The share of the categorical columns that change. Smaller is nearer.

    `1/(k d) sum_i sum_j [c_ij != x_j]` over k answers and the d columns with levels (Mothilal, Sharma and Tan, FAT*
    2020, who report 1 minus it).

    >>> from butfor.space.infer import infer
    >>> space = infer([["clerk", "rents"], ["nurse", "owns"]])
    >>> categorical_proximity([["clerk", "rents"]], [["nurse", "rents"], ["nurse", "owns"]], space)
    0.75
    """
    return _mean(_changed(factual, answers, space)[:, _levels(space)])


def sparsity(factual: Any, answers: Any, space: Space) -> float:
    """The share of all columns that change. Smaller is sparser.

    `1/(k d) sum_i sum_j [c_ij != x_j]` over k answers and all d columns. This is the scale of Table II of Shekhar et
    al. (CSDE 2023), where .1230 of 13 columns are 1.6. Mothilal, Sharma and Tan (FAT* 2020) report 1 minus it. Choose
    `bf.L0()` as the cost to minimise it.

    >>> from butfor.space.infer import infer
    >>> sparsity([[0, 0, 0, 0]], [[0, 0, 0, 1]], infer([[0, 0, 0, 0], [1, 1, 1, 1]]))
    0.25
    """
    return _mean(_changed(factual, answers, space))


def diversity(answers: Any, space: Space) -> float:
    """The mean distance of the answers from each other, over pairs and columns. Larger is more diverse.

    `2/(k (k-1) d) sum_{i<l} sum_j |c_ij - c_lj| / MAD_j` over the k distinct answers and all d columns; a pair of
    levels counts `[c_ij != c_lj]` (Mothilal, Sharma and Tan, FAT* 2020). An answer that is given twice counts once.
    The diversity of a single answer is 0.

    >>> from butfor.space.infer import infer
    >>> space = infer([[0.0, 5.0], [1.0, 7.5], [2.0, 10.0]])
    >>> diversity([[2.0, 5.0], [2.0, 10.0], [2.0, 10.0]], space)
    1.0
    """
    return _over_pairs(_distinct(answers, space), lambda row, rest: _gaps(row, rest, space, "mad").mean(axis=1).sum())


def normalised_diversity(factual: Any, answers: Any, space: Space) -> float:
    """How far answers lie from each other, for how far they lie from the factual. Larger is more diverse.

    `2/(k (k-1)) sum_{i<l} D(c_i, c_l) / (D(c_i, x) + D(c_l, x))` over the k distinct answers, where D is the distance of
    `diversity`: the mean over all columns (Shekhar et al., CSDE 2023, eq. 15). A pair without a change, whose quotient
    is 0/0, is left out. Answers that share half of their way have about 0.5, and those that share nothing have 1. Choose
    it to compare methods whose answers are not equally near. The column of that name in Table II of the paper is
    `diversity / proximity` instead, about twice as much.

    >>> from butfor.space.infer import infer
    >>> space = infer([[0.0, 5.0], [1.0, 7.5], [2.0, 10.0]])
    >>> normalised_diversity([[0.0, 5.0]], [[2.0, 5.0], [0.0, 10.0]], space)
    1.0
    >>> normalised_diversity([[0.0, 5.0]], [[1.0, 5.0], [2.0, 5.0]], space)
    0.3333333333333333
    """
    points = _distinct(answers, space)
    if len(points) < 2:
        return 0.0 if len(points) else float("nan")
    away = _gaps(one(factual, space), points, space, "mad").mean(axis=1)
    apart = [_gaps(points[[i]], points[i + 1 :], space, "mad").mean(axis=1) for i in range(len(points) - 1)]
    ways = np.concatenate([away[i] + away[i + 1 :] for i in range(len(points) - 1)])
    return _mean(np.concatenate(apart)[ways > 0] / ways[ways > 0])


def standardised_diversity(
    answers: Any, space: Space, constant: Literal["left out", "undefined"] = "left out"
) -> float:
    """The mean distance of the answers from each other, in standard deviations. Larger is more diverse.

    `2/(k (k-1) d) sum_{i<l} sum_j |c_ij - c_lj| / s_j`, where s_j is the standard deviation in the data; a pair of
    levels counts `[c_ij != c_lj]`. Choose it where median absolute deviations are zero, or to compare data sets. A column
    that is constant in the data has no spread. Such columns are left out, and not counted in d. With
    `constant="undefined"` the measure has no value then.

    >>> from butfor.space.infer import infer
    >>> space = infer([[0.0, 3.0], [2.0, 3.0]])
    >>> standardised_diversity([[0.0, 3.0], [2.0, 3.0]], space)
    2.0
    >>> standardised_diversity([[0.0, 3.0], [2.0, 3.0]], space, constant="undefined")
    nan
    """
    if constant not in ("left out", "undefined"):
        raise InputError(f"constant={constant!r} was given.", "It must be 'left out' or 'undefined'.")
    points = _distinct(answers, space)
    varies = np.array([len(f.levels) > 1 if f.levels is not None else f.std > 0 for f in space], dtype=np.bool_)
    if not varies.any() or (constant == "undefined" and not varies.all()):
        return float("nan")
    return _over_pairs(points, lambda row, rest: _gaps(row, rest, space, "std")[:, varies].mean(axis=1).sum())


def contradiction(factual: Any, answers: Any, space: Space) -> float:
    """The share of pairs of answers that contradict each other. Smaller is clearer advice.

    Two answers contradict each other if one raises a column that the other lowers: `2/(k (k-1)) sum_{i<l} [min_j
    (c_ij - x_j) (c_lj - x_j) < 0]` over the k distinct answers and the columns that are numbers or ordered levels. It
    is 0 for a single answer. Advice that says both "more" and "less" is hard to follow.

    >>> from butfor.space.infer import infer
    >>> space = infer([[0.0], [10.0]])
    >>> contradiction([[5.0]], [[4.0], [6.0], [7.0]], space)
    0.6666666666666666
    """
    points = _distinct(answers, space)
    ordered = np.array([feature.levels is None or feature.ordered for feature in space], dtype=np.bool_)
    moves = np.nan_to_num(points - one(factual, space))[:, ordered]
    return _over_pairs(moves, lambda row, rest: np.any(row * rest < 0, axis=1).sum())


def _distinct(answers: Any, space: Space) -> FloatArray:
    points = encoded(answers, space)
    return points[distinct(points)]


def _levels(space: Space) -> BoolArray:
    return np.array([feature.levels is not None for feature in space], dtype=np.bool_)


def _changed(factual: Any, answers: Any, space: Space) -> BoolArray:
    return ~same(one(factual, space), encoded(answers, space))


def _gaps(before: FloatArray, after: FloatArray, space: Space, scale: Literal["mad", "std"]) -> FloatArray:
    """How far apart values are.

    Numbers are measured in units of `scale`. Levels are 0 or 1 apart, and so are values of which only one is missing.
    """
    gaps = np.abs(after - before) / L1(scale=scale).widths(space)
    return np.where(_levels(space) | np.isnan(gaps), ~same(before, after), gaps)


def _mean(parts: FloatArray | BoolArray) -> float:
    return float(parts.mean()) if parts.size else float("nan")


def _over_pairs(rows: FloatArray, total: Callable[[FloatArray, FloatArray], Any]) -> float:
    """The mean over pairs of rows. `total` sums over the pairs of one row with each row after it."""
    if len(rows) < 2:
        return 0.0 if len(rows) else float("nan")
    return float(sum(total(rows[[i]], rows[i + 1 :]) for i in range(len(rows) - 1))) / (len(rows) * (len(rows) - 1) / 2)
