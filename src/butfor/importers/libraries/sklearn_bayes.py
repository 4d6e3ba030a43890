"""scikit-learn's naive Bayes: each class adds up what single columns say of it.

Counts and levels make linear models, and normal distributions sums of squares. Of two classes, one score is the difference.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.additive import additive_over
from butfor.importers.fold.column import Column, Values, in_numbers, last_where
from butfor.importers.registry import Imported, register_importer
from butfor.model.additive import Additive
from butfor.model.linear import Linear
from butfor.model.readout import AbstractReadout, Argmax, Sign


def read_counts(bayes: Any, columns: list[Column]) -> Imported:
    """MultinomialNB and ComplementNB: weights of classes over counts."""
    prior = np.zeros(len(bayes.classes_)) if type(bayes).__name__ == "ComplementNB" else bayes.class_log_prior_
    return _added_up(bayes, columns, bayes.feature_log_prob_, prior)


def read_bernoulli(bayes: Any, columns: list[Column]) -> Imported:
    """BernoulliNB: weights of classes over numbers that are above a threshold, or not."""
    if bayes.binarize is not None:
        columns = [_above(column, float(bayes.binarize)) for column in columns]
    absent = np.log1p(-np.exp(bayes.feature_log_prob_))
    return _added_up(bayes, columns, bayes.feature_log_prob_ - absent, bayes.class_log_prior_ + absent.sum(axis=1))


def _above(column: Column, threshold: float) -> Column:
    """Whether a column is above a threshold."""
    edges = column.edges
    if column.table is None and edges is None:
        edges = last_where(column, lambda x: x <= threshold, 1)
    above = partial(_exceeds, threshold)
    return replace(column.map(above), edges=edges, slope=0.0, refuses_missing=column.lacks_missing)


def _exceeds(threshold: float, x: Values) -> Values:
    x = in_numbers(x)
    return np.where(np.isnan(x), np.nan, x > threshold)


def read_levels(bayes: Any, columns: list[Column]) -> Imported:
    """CategoricalNB: each class has a number for each level."""
    told = [
        _told(column, own[k])
        for k in range(len(bayes.classes_))
        for column, own in zip(columns, bayes.feature_log_prob_, strict=True)
    ]
    coef = np.repeat(np.eye(len(bayes.classes_)), len(columns), axis=1)
    return _added_up(bayes, told, coef, bayes.class_log_prior_)


def _told(column: Column, numbers: FloatArray) -> Column:
    """What a class says of each level. The estimator drops the digits of a number."""
    edges = column.edges
    if column.table is None and edges is None:
        whole = np.arange(1, len(numbers), dtype=np.float64)
        edges = last_where(column, lambda x: x < whole, len(whole))
    looked_up = partial(_looked_up_in, numbers)
    return replace(column.map(looked_up), edges=edges, slope=0.0, refuses_missing=column.lacks_missing)


def _looked_up_in(numbers: FloatArray, x: Values) -> Values:
    x = in_numbers(x)
    known = np.clip(np.nan_to_num(x), 0, len(numbers) - 1).astype(np.intp)
    return np.where(np.isnan(x), np.nan, numbers[known])


def read_normal(bayes: Any, columns: list[Column]) -> Imported:
    """GaussianNB: squares of the distances to the means of each class, in units of its variances."""
    away = [
        _away(column, mean, variance)
        for means, variances in zip(bayes.theta_, bayes.var_, strict=True)
        for column, mean, variance in zip(columns, means, variances, strict=True)
    ]
    coef = np.repeat(-0.5 * np.eye(len(bayes.classes_)), len(columns), axis=1)
    constant = np.log(bayes.class_prior_) - 0.5 * np.log(2 * np.pi * bayes.var_).sum(axis=1)
    return _added_up(bayes, away, coef, constant)


def _away(column: Column, mean: np.floating[Any], variance: np.floating[Any]) -> Column:
    """The squared distance of a column to a mean, in the precision of both. It turns around at the mean, and is convex."""
    if column.table is None and column.edges is None and not column.affine:
        raise UnsupportedModelError(
            f"GaussianNB squares a column that is bent already: {column.bent_by or 'by a step of your own'}.",
            "It must be affine, binned, or levels.",
            "Leave the step out, or let the swarm search.",
        )
    squared = partial(_squared, mean, variance)
    return column.map(squared, affine=False, turns=True, bends=_nowhere, refuses_missing=column.lacks_missing)


def _nowhere() -> FloatArray:
    return np.empty(0)


def _squared(mean: np.floating[Any], variance: np.floating[Any], x: Values) -> Values:
    return np.asarray((in_numbers(x) - mean) ** 2 / variance)


def _added_up(bayes: Any, columns: list[Column], coef: FloatArray, constant: FloatArray) -> Imported:
    """The model of the log-likelihoods of all classes, or of the difference of two."""
    classes = tuple(bayes.classes_.tolist())
    if len(classes) != 2:
        return additive_over(columns, coef, constant), Argmax(classes, "softmax")
    model = additive_over(columns, coef[1:] - coef[:1], constant[1:] - constant[:1])
    both = np.abs(constant).sum(keepdims=True)
    readout: AbstractReadout = Sign(classes, "logistic")
    if isinstance(model, Additive):
        return replace(model, line=_from_two(model.line, columns, coef, both)), readout
    return _from_two(model, columns, coef, both), readout


def _from_two(line: Linear, columns: list[Column], coef: FloatArray, constant: FloatArray) -> Linear:
    """A difference of two sums, each of which the estimator rounds."""
    each = [additive_over(columns, np.abs(one)[None], np.zeros(1)) for one in coef]
    parts = [one.line if isinstance(one, Additive) else one for one in each]
    slope = sum(np.abs(part.slope) for part in parts) - np.abs(line.slope)
    steps = sum(np.abs(step).max(axis=1) for part in parts for step in part.steps)
    middle = sum(np.abs(part.intercept) for part in parts)
    return replace(line, cancelled=constant + middle + steps, cancelled_slope=slope, folded=True)


register_importer("BernoulliNB", read_bernoulli)
register_importer("CategoricalNB", read_levels)
register_importer("GaussianNB", read_normal)
for name in ("ComplementNB", "MultinomialNB"):
    register_importer(name, read_counts)
