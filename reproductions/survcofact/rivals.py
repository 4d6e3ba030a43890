"""What the paper compares with, its swarm and random points; and the nearest points found without butfor."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np

import butfor as bf
from butfor.arrays import FloatArray, IntArray
from butfor.estimator.prediction import Prediction
from butfor.model.questions import evaluate
from reproductions.survcofact.sets import Question

BATCH = 4000
"""Random points evaluated together."""


def swarm(smoke: bool) -> bf.Swarm:
    """The paper's settings: 2,000 particles, 1,000 rounds, constriction (0.729, 1.4945, 1.4945), nothing polished."""
    weights = (0.729, 1.4945, 1.4945, 0.0)
    return bf.Swarm(20 if smoke else 2000, 10 if smoke else 1000, polish=False, weights=weights)


def as_written(smoke: bool) -> bf.Swarm:
    """The same by the paper's letter: started in its ball and pulled back into it, with the penalty (18) of 1e6."""
    return replace(swarm(smoke), ball=True, pull=1e6)


def nearest_row(question: Question) -> float:
    """The distance of the nearest training row that meets the target: the radius of the paper's ball."""
    of = question.of
    gain = question.theta * (question.means(of.X) - question.means(question.x)[0])
    return float(np.linalg.norm(of.X[gain >= question.r] - question.x, axis=1).min())


def best_of_random(question: Question, points: int, radius: float) -> float:
    """The nearest of so many points drawn from the ball that meets the target; those farther than the best are not asked."""
    rng = np.random.default_rng(0)
    reading = question.explainer.reading
    before = Prediction(reading.source, question.x)
    model = question.target.focus(reading, before).model
    goal = question.means(question.x)[0] + question.theta * question.r
    low, high = _ranges(question)
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
    low, high = _ranges(question)
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


def swept(question: Question, distance: float) -> float:
    """The distance of the nearest point that meets the target, if it is not beyond this, by a look at every cell of the trees.

    Leaf values are added over boxes of cells at their corners and summed along each axis; what seems near enough is asked of
    the model itself. Nothing of butfor is used. For two or three columns. Trees read float32, so edges are met to its last digit.
    """
    x, trees = question.x[0], [tree.tree_ for tree in question.model.estimators_]
    radius = distance + np.finfo(np.float32).eps * np.linalg.norm(question.of.X, axis=1).max()
    low, high = (np.clip(side, *_ranges(question)) for side in (x - radius, x + radius))
    cut = np.concatenate([np.stack([tree.feature, tree.threshold], axis=1) for tree in trees])
    edges = [np.unique(cut[(cut[:, 0] == j) & (cut[:, 1] >= low[j]) & (cut[:, 1] < high[j]), 1]) for j in range(len(x))]
    nearest = [
        np.clip(x[j], np.append(low[j], _above(edge)), np.append(_below(edge), high[j])) for j, edge in enumerate(edges)
    ]
    mean = _corners(trees, question.model.unique_times_, edges, high)
    for axis in range(len(x)):
        mean = np.cumsum(mean, axis=axis)
    mean = mean[(slice(-1),) * len(x)]
    goal = question.means(question.x)[0] + question.theta * question.r
    cells = np.argwhere(question.theta * (mean - goal) >= -1e-9 * abs(goal))
    points = np.stack([values[index] for values, index in zip(nearest, cells.T, strict=True)], axis=1)
    found = np.linalg.norm(points - x, axis=1)
    order = np.argsort(found)
    for some in np.split(order, range(100, len(order), 100)) if len(order) else ():
        met = question.theta * (question.means(points[some]) - goal) >= 0
        if met.any():
            return float(found[some][met].min())
    return float("inf")


def _below(edge: FloatArray) -> FloatArray:
    """The largest float32 that is not above."""
    near = edge.astype(np.float32)
    return np.where(near > edge, np.nextafter(near, np.float32(-np.inf)), near).astype(np.float64)


def _above(edge: FloatArray) -> FloatArray:
    """The smallest float32 that is above."""
    return np.nextafter(_below(edge).astype(np.float32), np.float32(np.inf)).astype(np.float64)


def _ranges(question: Question) -> tuple[FloatArray, FloatArray]:
    return question.of.X.min(axis=0), question.of.X.max(axis=0)


def _corners(trees: list[Any], times: FloatArray, edges: list[FloatArray], high: FloatArray) -> FloatArray:
    """The mean time of each leaf, with the sign that makes sums along the axes add it to the cells of the leaf and no others."""
    out = np.zeros([len(edge) + 2 for edge in edges])
    whole = (np.zeros(len(edges), dtype=int), np.array([len(edge) + 1 for edge in edges]))
    for tree in trees:
        value = (times[0] + tree.value[:, :-1, 1] @ np.diff(times)) / len(trees)
        pending = [(0, *whole)]
        while pending:
            node, first, last = pending.pop()
            if (first >= last).any():
                continue
            j = tree.feature[node]
            if j < 0:
                for corner in itertools.product((0, 1), repeat=len(edges)):
                    at = tuple(np.where(corner, last, first))
                    out[at] += value[node] * (-1) ** sum(corner)
                continue
            at = tree.threshold[node]
            left = whole[1][j] if at >= high[j] else np.searchsorted(edges[j], at, side="right")
            pending.append((tree.children_left[node], first, _with(last, j, min(last[j], left))))
            pending.append((tree.children_right[node], _with(first, j, max(first[j], left)), last))
    return out


def _with(indices: IntArray, j: int, value: int) -> IntArray:
    out = indices.copy()
    out[j] = value
    return out
