"""Choose points from many valid ones: the cheapest, or the cheapest of each cluster. No two are equal."""

from __future__ import annotations

import numpy as np

from butfor.arrays import FloatArray, IntArray

LLOYD_ROUNDS = 25


def distinct(points: FloatArray, cost: FloatArray) -> IntArray:
    """The positions of the points with a finite cost, cheapest first, each point once."""
    order = np.argsort(cost, kind="stable")
    order = order[np.isfinite(cost[order])]
    if not len(order):
        return order
    _, first = np.unique(np.nan_to_num(points[order], nan=np.inf), axis=0, return_index=True)
    return np.asarray(order[np.sort(first)])


def best_of_each(owner: IntArray, value: FloatArray) -> IntArray:
    """For each owner, the position of its least value. Ordered by owner.

    >>> best_of_each(np.array([4, 2, 4]), np.array([3.0, 9.0, 1.0])).tolist()
    [1, 2]
    """
    order = np.lexsort((value, owner))
    return np.asarray(order[np.flatnonzero(np.diff(owner[order], prepend=-1))])


def cheapest_of_clusters(positions: FloatArray, cost: FloatArray, k: int, seed: int) -> IntArray:
    """The cheapest point of each of at most `k` clusters, cheapest first."""
    if len(cost) <= k:
        return np.argsort(cost, kind="stable")
    label = clusters(positions, k, seed)
    best = best_of_each(label, cost)
    return np.asarray(best[np.argsort(cost[best], kind="stable")])


def random_of_clusters(positions: FloatArray, cost: FloatArray, k: int, seed: int) -> IntArray:
    """A random point of each of at most `k` clusters, cheapest first."""
    if len(cost) <= k:
        return np.argsort(cost, kind="stable")
    drawn = best_of_each(clusters(positions, k, seed), np.random.default_rng(seed).random(len(cost)))
    return np.asarray(drawn[np.argsort(cost[drawn], kind="stable")])


def clusters(positions: FloatArray, k: int, seed: int) -> IntArray:
    """The cluster of each position, by k-means (Lloyd, 1982).

    It starts from k-means++ (Arthur and Vassilvitskii, 2007).

    >>> clusters(np.array([[0.0], [0.1], [5.0], [5.1]]), 2, seed=0).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    rng = np.random.default_rng(seed)
    centres = positions[[0]]
    for _ in range(1, k):
        gap = _squared(positions, centres).min(axis=1)
        total = gap.sum()
        pick = rng.choice(len(gap), p=gap / total) if total > 0 else rng.integers(len(gap))
        centres = np.vstack([centres, positions[pick]])
    label = np.argmin(_squared(positions, centres), axis=1)
    for _ in range(LLOYD_ROUNDS):
        for c in np.unique(label):
            centres[c] = positions[label == c].mean(axis=0)
        fresh = np.argmin(_squared(positions, centres), axis=1)
        if np.array_equal(fresh, label):
            break
        label = fresh
    return np.asarray(label)


def _squared(positions: FloatArray, centres: FloatArray) -> FloatArray:
    return np.asarray(((positions[:, None] - centres[None]) ** 2).sum(axis=2))
