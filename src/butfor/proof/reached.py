"""The largest reach of a row, in proofs about trees: which shares of it prove most."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray

LEFT_OF_SHARES = 1 - 2.0**-45
"""Shares add up to at most this, so that rounding never makes them more than 1."""


NO_GAP = 1e-12
"""A mixture of two cells is as good as one of them if it costs less by no more than this share of the claim."""


class BestShares(NamedTuple):
    """The shares that prove most.

    saved: how much more they prove than none; tied: a column, and two of its cells, counted in it, that are equally good; None
        if each column has one that is best
    cells (columns): the best cells, counted in their column
    """

    shares: FloatArray
    saved: float
    cells: list[int]
    tied: tuple[int, int, int] | None


class ReachedCells:
    """What the cells of columns reach, in claims.

    The largest reach of a row is at least the mean of reaches by any shares of 1. So each column has the bound
    min (price + share x reach) over its cells, a concave function of its share, and the best shares are found by giving each
    bit of them to the column that rises most with it.
    """

    def __init__(self, question: Any, cells: IntArray) -> None:
        self.start, ones = cells, [1] * len(question.columns)
        dearer, _ = question.taxed([0] * len(question.limits), ones, ({}, 0))
        each = zip(dearer, question.price, strict=True)
        reach = [0 if a is None or b is None else a - b for row, own in each for a, b in zip(row, own, strict=True)]
        self.reach: FloatArray = np.array([float(x / question.bound) for x in reach])

    def best(self, alive: BoolArray, cost: FloatArray) -> BestShares:
        """The best shares, if the cells cost so much, in claims, without them."""
        steps = list[
            tuple[float, float, int, int, int]
        ]()  # how fast a column rises, how far, the column, its cell, and the next
        cells = list[int]()
        for j, (a, b) in enumerate(pairwise(self.start.tolist())):
            own, reach = np.where(alive[a:b], cost[a:b], np.inf), self.reach[a:b]
            at, share = int(np.lexsort((reach, own))[0]), 0.0
            cells.append(at)
            while reach[at] > 0:
                less = np.flatnonzero(alive[a:b] & (reach < reach[at]))
                turns = (own[less] - own[at]) / (reach[at] - reach[less])
                following = int(less[np.lexsort((reach[less], turns))[0]]) if len(less) else -1
                until = float(turns.min(initial=np.inf))
                steps.append((float(reach[at]), until - share, j, at, following))
                if following < 0:
                    break
                at, share = following, until
        shares, saved, left, ties = np.zeros(len(cells)), 0.0, 1.0, dict[int, tuple[int, int]]()
        largest = 0.0
        for rise, far, j, at, following in sorted(steps, key=lambda step: -step[0]):
            given, largest = min(far, left), rise
            shares[j], saved, left = shares[j] + given, saved + rise * given, left - given
            cells[j] = at
            if given == far and following >= 0:
                cells[j], ties[j] = following, (at, following)
            if left <= 0:
                break
        gaps = {j: shares[j] * (largest - self.reach[int(self.start[j]) + after]) for j, (_, after) in ties.items()}
        most = max(gaps, key=gaps.__getitem__, default=-1)
        tied = (most, *ties[most]) if most >= 0 and gaps[most] > NO_GAP else None
        return BestShares(shares * LEFT_OF_SHARES, saved, cells, tied)
