"""A rival that tries to be robust: descent on the score of the worst neighbour, for networks that are differentiable.

After Dominguez-Olmedo, Karimi and Schölkopf, "On the adversarial robustness of causal algorithmic recourse" (ICML 2022),
without causes: no column moves another one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float64]

PENALTIES = (1.0, 0.1, 0.01, 0.001)
"""What a unit of cost counts beside the score. The first with an answer is the cheapest."""

STEPS, STEP = 400, 0.02
SHIFTS, SHIFT = 5, 0.4
"""How often the worst neighbour is moved, and how far each time, as a share of the radius."""


class Score:
    """The score of an `MLPClassifier` of two classes with ReLU: the logit of class 1."""

    def __init__(self, model: Any) -> None:
        self.weights, self.offsets = model.coefs_, model.intercepts_

    def __call__(self, x: Row) -> float:
        for weight, offset in zip(self.weights[:-1], self.offsets[:-1], strict=True):
            x = np.maximum(x @ weight + offset, 0)
        return float((x @ self.weights[-1] + self.offsets[-1])[0])

    def slope(self, x: Row) -> Row:
        """The gradient, by the chain rule."""
        open_ = []
        for weight, offset in zip(self.weights[:-1], self.offsets[:-1], strict=True):
            x = np.maximum(x @ weight + offset, 0)
            open_.append(x > 0)
        slope = self.weights[-1][:, 0]
        for weight, units in zip(reversed(self.weights[:-1]), reversed(open_), strict=True):
            slope = weight @ (slope * units)
        return np.asarray(slope)


def worst_shift(score: Score, x: Row, radius: float) -> Row:
    """A shift in the round ball under which the score is low, by some steps downhill."""
    shift = np.zeros(len(x))
    for _ in range(SHIFTS):
        slope = score.slope(x + shift)
        shift = shift - SHIFT * radius * slope / max(float(np.linalg.norm(slope)), 1e-12)
        shift *= min(1.0, radius / max(float(np.linalg.norm(shift)), 1e-12))
    return shift


def by_descent(score: Score, row: Row, radius: float) -> Row | None:
    """The cheapest point on the way whose worst neighbour, as far as it is found, has class 1; None if there is none.

    Each step goes down `log(1 + exp(-score(x + s))) + penalty |x - row|`, where s is the worst shift around x.
    """
    for penalty in PENALTIES:
        best, least, x = None, np.inf, row.copy()
        for _ in range(STEPS):
            near = x + worst_shift(score, x, radius)
            height, cost = score(near), float(np.abs(x - row).sum())
            if height > 0 and cost < least:
                best, least = x, cost
            pull = -score.slope(near) / (1 + np.exp(np.clip(height, -50, 50))) + penalty * np.sign(x - row)
            x = np.clip(x - STEP * pull, 0, 1)
        if best is not None:
            return best
    return None
