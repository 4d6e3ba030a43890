"""Shapley values: what each of several changes contributes, on average over all orders in which they can be made.

Reference: Shapley, "A value for n-person games" (1953). With v(S) what the changes S achieve together, change i
contributes the mean of v(S + i) - v(S), where S are the changes before i in a random order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray

MOST_EXACT = 10
"""Of more changes than this, not every subset is asked about, but those along some random orders."""


@dataclass(frozen=True, eq=False)
class Coalitions:
    """Sets of changes to ask about, and how the contributions follow from what is found.

    - `members` (sets, changes): which changes each set makes; the first set makes none, the last one all;
    - `weights` (changes, sets): the contributions are `weights @ values`. They add up to last minus first;
    - `rule`: how they were chosen, in words.
    """

    members: BoolArray
    weights: FloatArray
    rule: str


def coalitions(changes: int, seed: int = 0) -> Coalitions:
    """Every subset of up to `MOST_EXACT` changes, or the subsets along random orders of more."""
    return every_subset(changes) if changes <= MOST_EXACT else some_orders(changes, seed)


def every_subset(changes: int) -> Coalitions:
    """All 2^k subsets. The contributions are exact.

    >>> parts = every_subset(2)
    >>> (parts.weights @ [0.0, 1.0, 2.0, 6.0]).tolist()
    [2.5, 3.5]
    """
    sets = np.arange(2**changes)
    members = (sets[:, None] >> np.arange(changes) & 1).astype(np.bool_)
    size = members.sum(axis=1)
    orders = np.cumprod([1.0, *range(1, changes + 1)])  # orders[m] = m!
    weights = np.zeros((changes, len(sets)))
    for i in range(changes):
        without = np.flatnonzero(~members[:, i])
        share = orders[size[without]] * orders[changes - 1 - size[without]] / orders[changes]
        weights[i, without] -= share
        weights[i, without + 2**i] += share
    return Coalitions(members, weights, f"Shapley value over all {len(sets)} subsets of the changes")


def some_orders(changes: int, seed: int) -> Coalitions:
    """The subsets along random orders, each order with its reverse. At most 2^`MOST_EXACT` subsets are asked about."""
    rng = np.random.default_rng(seed)
    pairs = max(1, 2**MOST_EXACT // (2 * changes))
    there = [rng.permutation(changes) for _ in range(pairs)]
    orders = [*there, *(order[::-1] for order in there)]
    members, weights = [np.zeros(changes, dtype=np.bool_)], np.zeros((changes, len(orders) * (changes - 1) + 2))
    for order in orders:
        before, grown = 0, np.zeros(changes, dtype=np.bool_)
        for place, i in enumerate(order.tolist(), 1):
            grown[i] = True
            after = weights.shape[1] - 1 if place == changes else len(members)
            if place < changes:
                members.append(grown.copy())
            weights[i, after] += 1 / len(orders)
            weights[i, before] -= 1 / len(orders)
            before = after
    members.append(np.ones(changes, dtype=np.bool_))
    rule = f"Shapley value estimated from {len(orders)} random orders of the changes (seed {seed})"
    return Coalitions(np.array(members), weights, rule)
