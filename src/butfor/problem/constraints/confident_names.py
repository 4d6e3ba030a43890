"""The constraint on true coefficients by the name that users call."""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.errors import InputTypeError, number, suggests
from butfor.problem.constraints.confident import Confident


@suggests
def confident(level: float = 0.95, *, covariance: Any = None) -> Confident:
    """The answer holds for the true coefficients of a linear model, at this level of confidence.

    The coefficients were estimated, and so they are unsure. Choose it if the next estimate, or the truth, should agree.
    The answer keeps `w'x - z sqrt(x' C x) >= t`: w are the coefficients, C is their covariance, t is the threshold of the
    score, and z is the quantile of `level` (1.645 for 0.95). If the estimate is normal around the true coefficients, their
    score of this row is on the wanted side with that confidence. It is about this one row, and about one side. The noise
    of a single outcome is not in it. The set is a second-order cone, and is proven by tangents and whole numbers (Duran
    and Grossmann, Mathematical Programming 36, 1986).

    - `level`: from 0.5, which asks nothing, to below 1;
    - `covariance` (coefficients, coefficients): that of the intercept and then of the columns that reach the model. Results
      of statsmodels know their own (`cov_params()`), in the order of their parameters.

    >>> confident(0.9)
    confident(0.9)
    """
    given = f"bf.confident({level!r}) was given."
    return Confident(
        number(level, given, "A level must be a number."), None if covariance is None else _rows(covariance, given)
    )


def _rows(covariance: Any, given: str) -> tuple[tuple[float, ...], ...]:
    """The rows of a table of numbers."""
    try:
        table = np.asarray(covariance, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2:
        raise InputTypeError(
            given, "covariance= takes a square table of numbers.", "Write covariance=results.cov_params()."
        )
    return tuple(map(tuple, table.tolist()))
