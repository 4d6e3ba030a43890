"""What the paper compares with: its swarm, random points, and for the Cox model the nearest point found without butfor."""

from __future__ import annotations

import numpy as np

import butfor as bf
from butfor.model.ask import evaluate
from butfor.problem.target import Prediction
from butfor.space.frames import FloatArray
from reproductions.survcofact.sets import Question

BATCH = 4000
"""Random points evaluated together."""


def swarm(smoke: bool) -> bf.Swarm:
    """The paper's settings: 2,000 particles, 1,000 rounds, constriction (0.729, 1.4945, 1.4945), nothing polished."""
    weights = (0.729, 1.4945, 1.4945, 0.0)
    return bf.Swarm(20 if smoke else 2000, 10 if smoke else 1000, polish=False, weights=weights)


def nearest_row(question: Question) -> float:
    """The distance of the nearest training row that meets the target: the radius of the paper's ball."""
    of = question.of
    gain = question.theta * (question.means(of.X) - question.means(question.x)[0])
    return float(np.linalg.norm(of.X[gain >= question.r] - question.x, axis=1).min())


def best_of_random(question: Question, points: int, radius: float) -> float:
    """The nearest of so many points drawn from the ball that meets the target; those farther than the best are not asked."""
    rng = np.random.default_rng(0)
    reading = question.explainer._reading
    before = Prediction(reading.source, question.x)
    model = question.target.focus(reading, before).model
    goal = question.means(question.x)[0] + question.theta * question.r
    low, high = question.of.X.min(axis=0), question.of.X.max(axis=0)
    d, best = question.x.shape[1], radius
    for _ in range(-(-points // BATCH)):
        step = rng.standard_normal((BATCH, d))
        step *= radius * (rng.random(BATCH) ** (1 / d) / np.linalg.norm(step, axis=1))[:, None]
        z = np.clip(question.x + step, low, high)
        distance = np.linalg.norm(z - question.x, axis=1)
        near = distance < best
        if near.any():
            met = question.theta * (evaluate(model, z[near])[:, 0] - goal) >= 0
            best = min([best, *distance[near][met]])
    return float(best)


def nearest_under_cox(question: Question) -> FloatArray:
    """The nearest point at which the model's own mean is the one wanted, by bisection along the path z = clip(x - l b).

    That path is where the nearest points of all half-spaces lie (Karush, Kuhn, Tucker); nothing of butfor is used.
    """
    low, high = question.of.X.min(axis=0), question.of.X.max(axis=0)
    goal = question.means(question.x)[0] + question.theta * question.r
    step = -question.theta * question.model[-1].coef_

    def at(reach: float) -> FloatArray:
        return np.clip(question.x + reach * step, low, high)

    near, far = 0.0, 1.0
    while question.theta * (question.means(at(far))[0] - goal) < 0:
        far *= 2
    for _ in range(200):
        middle = (near + far) / 2
        if question.theta * (question.means(at(middle))[0] - goal) >= 0:
            far = middle
        else:
            near = middle
    return at(far)
