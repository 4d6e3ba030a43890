"""How far the scores of a network are inside a score set, and where they go from a point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.linear import evaluate_linear
from butfor.model.network import Network
from butfor.model.scores import ScoreSet, Softmax


@dataclass(frozen=True, eq=False)
class WantedScores:
    """A score set that answers are looked for in, and the network whose scores must reach it."""

    model: Network
    A: FloatArray
    b: FloatArray
    curve: Softmax | None

    def spare(self, points: FloatArray) -> FloatArray:
        """How far the scores of each point are inside the set; negative outside."""
        values, _ = self._spare(points, gradient=False)
        return values

    def slopes(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The spare of each point, and how it rises with each number (points, features)."""
        return self._spare(points, gradient=True)

    def _spare(self, points: FloatArray, *, gradient: bool) -> tuple[FloatArray, FloatArray]:
        z, bends = evaluate_linear(self.model.first, points), []
        for layer in self.model.layers:
            bends.append(np.where(z > 0, 1.0, layer.leak))
            z = layer.intercept + (z * bends[-1]) @ layer.weight.T
        every = z @ self.A.T - self.b
        least = every.min(axis=1, initial=np.inf)
        rows = self.A[every.argmin(axis=1)] if len(self.A) else np.zeros_like(z)
        if self.curve is not None:
            for at, scores in enumerate(z):
                inside = -self.curve.excess(scores)
                if inside < least[at]:
                    least[at] = inside
                    rows[at] = self.curve.tangent(scores)[0]
        if not gradient:
            return least, rows
        for layer, bend in zip(self.model.layers[::-1], bends[::-1], strict=True):
            rows = (rows @ layer.weight) * bend
        return least, rows @ self.model.first.slope


def wanted_scores(model: Network, score_set: ScoreSet) -> WantedScores:
    """The goal of a score set. Strict inequalities need the least that floats tell apart."""
    size = np.abs(score_set.b) + 1e-3
    assert score_set.curve is None or isinstance(score_set.curve, Softmax)
    return WantedScores(
        model, score_set.A, score_set.b + np.where(score_set.strict, 1e-15 * size, 0.0), score_set.curve
    )
