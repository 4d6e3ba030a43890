"""Cox-Weibull times, as in the paper on counterfactuals of survival models, and what is asked of a forest on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.arrays import FloatArray


def outcome(event: Any, time: Any) -> Any:
    """What scikit-survival is fitted on."""
    return np.array(
        list(zip(np.asarray(event, dtype=bool), np.asarray(time, dtype=float), strict=True)),
        dtype=[("event", bool), ("time", float)],
    )


def cox_weibull(rows: int, columns: int, seed: int) -> tuple[FloatArray, Any]:
    """x and b uniform on [0, 1], T = (-ln xi / (1e-5 exp(-x b)))^(1/2), an event with probability 0.9.

    The recipe is printed with exp(+x b), with which the numbers printed beside it cannot come about; with the minus they do.
    """
    rng = np.random.default_rng(seed)
    X, b = rng.random((rows, columns)), rng.random(columns)
    time = (-np.log(rng.random(rows)) / (1e-5 * np.exp(-X @ b))) ** 0.5
    return X, outcome(rng.random(rows) < 0.9, time)


def means(times: FloatArray, curves: FloatArray) -> FloatArray:
    """The mean times of step functions, up to the last time."""
    return np.asarray(times[0] + curves[:, :-1] @ np.diff(times))
