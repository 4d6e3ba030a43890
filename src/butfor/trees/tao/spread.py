"""The unit in which a column is measured, so that its own unit makes no difference."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray


def centre_and_spread(X: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The mean of each column, and the fourth root of the mean fourth power of the distance from it.

    The fourth power makes a column that is nearly constant (a rare category, a pixel at the edge) wider than its
    standard deviation says. Otherwise its few rows could be told apart at a low penalty. A constant column has spread 1.
    """
    centre = np.average(X, axis=0, weights=weight)
    gap = np.abs(X - centre)
    most = gap.max(axis=0)
    flat = (X[0] == X).all(axis=0) | (most == 0)
    share = np.divide(gap, most, out=np.zeros_like(gap), where=~flat)  # powers of shares cannot overflow
    spread = most * np.average(share**4, axis=0, weights=weight) ** 0.25
    return centre, np.where(flat, 1.0, spread)
