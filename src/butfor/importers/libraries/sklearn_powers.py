"""scikit-learn's splines and powers of single columns. Before linear models, they are functions that may turn around."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.interpolate import PPoly

from butfor.arrays import FloatArray
from butfor.errors import UnsupportedModelError
from butfor.importers.fold.column import Column, Values, in_numbers, reached
from butfor.importers.libraries.sklearn_steps import refuse_half, working_type
from butfor.importers.registry import register_step


def splines(step: Any, columns: list[Column]) -> list[Column]:
    """SplineTransformer: each column as some pieces of polynomials."""
    if (
        step.extrapolation not in ("constant", "linear", "continue")
        or getattr(step, "handle_missing", "error") != "error"
    ):
        raise UnsupportedModelError(
            f"SplineTransformer(extrapolation={step.extrapolation!r}) cannot be folded into raw columns.",
            "It must be 'constant', 'linear' or 'continue', and refuse missing values.",
            "Fit it so, or let the swarm search.",
        )
    if step.degree == 1 and step.extrapolation == "linear" and len(columns) > 1:
        raise UnsupportedModelError(
            "SplineTransformer(degree=1, extrapolation='linear') gets several columns.",
            "scikit-learn raises its degree at the first one, and so computes the others otherwise.",
            "Give each column a SplineTransformer of its own, or another degree.",
        )
    refuse_half(step, columns)
    for column in columns:
        _check_affine(column)
    width = len(step.bsplines_[0].c[0]) - (not step.include_bias)
    kind, out = working_type(columns), []
    for i, column in enumerate(columns):
        one, spline = SplinesOfOne(step, i, kind), step.bsplines_[i]
        out += [
            column.map(
                partial(one.piece, k),
                affine=False,
                turns=True,
                bends=partial(reached, column, spline_bends(spline.t, spline.c[:, k], spline.k)),
                bent_by="SplineTransformer",
                refuses_missing=column.lacks_missing,
            )
            for k in range(width)
        ]
    return out


class SplinesOfOne:
    """The step as if it had been fitted on one column alone. Its pieces are asked for one by one, of the same numbers."""

    def __init__(self, step: Any, i: int, kind: np.dtype[Any]) -> None:
        self.kind, self.step, self.last = kind, copy(step), (b"", np.empty(0))
        self.step.__dict__.pop("feature_names_in_", None)
        self.step.n_features_in_, self.step.bsplines_ = 1, [step.bsplines_[i]]
        self.step.n_features_out_ = step.n_features_out_ // len(step.bsplines_)

    def piece(self, k: int, x: Values) -> Values:
        """Piece `k`, as the step computes it."""
        x = in_numbers(x)
        known, out = ~np.isnan(x), np.full(len(x), np.nan)
        if known.any():
            out[known] = self._pieces(x[known].astype(self.kind))[:, k]
        return out

    def _pieces(self, x: Values) -> Values:
        key, found = self.last
        if key != x.tobytes():
            pieces = self.step.transform(x[:, None])
            found = np.asarray(pieces.toarray() if hasattr(pieces, "toarray") else pieces)
            self.last = (x.tobytes(), found)
        return found


def spline_bends(knots: FloatArray, coef: FloatArray, degree: int) -> FloatArray:
    """Between which numbers a spline is convex, or concave: its knots, and where its second derivative is 0."""
    if degree < 3:
        return np.unique(knots)
    roots = PPoly.from_spline((knots, coef, degree)).derivative(2).roots()
    return np.unique(np.concatenate([knots, roots[np.isfinite(roots)]]))


def _check_affine(column: Column) -> None:
    """Splines and powers follow affine columns, bins or levels."""
    if column.table is None and column.edges is None and not column.affine:
        raise UnsupportedModelError(
            f"a column is bent twice: {column.bent_by or 'by a step of your own'}, and by splines or powers.",
            "It must be affine, binned, or levels.",
            "Leave one of the steps out, or let the swarm search.",
        )


def powers(step: Any, columns: list[Column]) -> list[Column]:
    """PolynomialFeatures, as long as it multiplies no column with another one."""
    if (np.count_nonzero(step.powers_, axis=1) > 1).any():
        raise UnsupportedModelError(
            "PolynomialFeatures multiplies columns and cannot be folded into raw columns.",
            "It must take powers of single columns.",
            "Give it one column at a time (ColumnTransformer), or let the swarm search.",
        )
    refuse_half(step, columns)
    return [_power(columns, row) for row in step.powers_]


def _power(columns: list[Column], row: FloatArray) -> Column:
    """One column to a power: 0 is the constant 1."""
    i = int(np.argmax(row))
    column, power = columns[i], int(row[i])
    _check_affine(column)
    if power == 1:
        return column
    multiplied = partial(_multiplied, power, working_type(columns))
    if not power:
        return replace(column.map(multiplied), edges=np.empty(0), slope=0.0)
    return column.map(
        multiplied,
        affine=False,
        turns=True,
        bends=partial(reached, column, [0.0]),
        bent_by="PolynomialFeatures",
        refuses_missing=column.lacks_missing,
    )


def _multiplied(power: int, kind: np.dtype[Any], x: Values) -> Values:
    """A product of equal factors, in the order of the step."""
    x = in_numbers(x).astype(kind)
    out = np.where(np.isnan(x), x, np.ones_like(x))
    for _ in range(power):
        out = out * x
    return out


register_step("SplineTransformer", splines)
register_step("PolynomialFeatures", powers)
