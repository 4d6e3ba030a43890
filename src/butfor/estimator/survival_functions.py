"""A function that returns survival functions on a grid of times, with the interface of an estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError, InputTypeError, suggests
from butfor.estimator.functions import AbstractFunction
from butfor.model.survival.curves import StepCurves


class SurvivalFunction(AbstractFunction):
    """A function of rows that returns S at some times, one column per time.

    Its `predict` is the mean time up to the last of them.
    """

    predicts = "survival"
    _predict_risk_score = False

    def __init__(self, function: Callable[[Any], Any], times: FloatArray) -> None:
        super().__init__(function)
        self.times = times

    def survival_curves(self, X: Any) -> StepCurves:
        """The survival functions, checked."""
        found = self.numbers(X, (len(self.times),))
        if (found < 0).any() or (found > 1).any() or (np.diff(found, axis=1) > 1e-9).any():
            raise InputError(
                "the model returned survival functions that leave [0, 1] or rise.",
                "S(t) is the chance to outlast t, so it falls from 1 towards 0.",
                "Return one column per time, in the order of the times.",
            )
        return StepCurves(self.times, found)

    def predict(self, X: Any) -> FloatArray:
        return self.survival_curves(X).mean(0.0, None)


@suggests
def black_box(function: Callable[[Any], Any], times: Sequence[float]) -> SurvivalFunction:
    """A function of rows that returns survival functions, as a model.

    The function returns S(t) with one column for each of `times`. S is 1 before the first time and stays constant
    between two times. Choose it for a model of survival that butfor cannot read. The swarm then searches for the
    answers.

    >>> model = black_box(lambda X: np.exp(-np.outer(X[:, 0], [1.0, 2.0])), times=[1.0, 2.0])
    >>> model.predict(np.array([[0.0], [1.0]])).round(2).tolist()
    [2.0, 1.37]
    """
    if not callable(function):
        raise InputTypeError(
            f"{type(function).__name__} was given to bf.survival.black_box.", "A function of rows is needed."
        )
    try:
        grid = np.asarray(times, dtype=np.float64)
    except (TypeError, ValueError):  # not numbers
        grid = np.empty(0)
    if (
        grid.ndim != 1
        or not len(grid)
        or not np.isfinite(grid).all()
        or (grid <= 0).any()
        or (np.diff(grid) <= 0).any()
    ):
        raise InputError(
            f"times={times!r} was given.", "Times must be positive and rise, and there must be at least one."
        )
    return SurvivalFunction(function, grid)
