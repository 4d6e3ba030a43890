"""The largest reach of a row, in proofs about trees: which shares of it prove most."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray

LEFT_OF_SHARES = 1 - 2.0**-40
"""Shares add up to at most this, so that rounding never makes those of thousands of columns more than 1."""

NO_GAP = 1e-12
"""A mixture of two cells is as good as one of them if it costs less by no more than this share of the claim."""


class Rise(NamedTuple):
    """How the bound of a column rises with its share.

    reach: how fast; far: for which further share; cell, following: the best cell there, and the next one, counted in the
        column; -1 if there is none
    """

    reach: float
    far: float
    column: int
    cell: int
    following: int


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
        dearer, _ = question.taxed([0] * len(question.limits), ones, ({}, 0), {})
        each = zip(dearer, question.price, strict=True)
        reach = [0 if a is None or b is None else a - b for row, own in each for a, b in zip(row, own, strict=True)]
        self.reach: FloatArray = np.array([float(x / question.bound) for x in reach])

    def best(self, alive: BoolArray, cost: FloatArray) -> BestShares:
        """The best shares, if the cells cost so much, in claims, without them."""
        rises = list[Rise]()
        cells = [self._rise(j, alive, cost, rises) for j in range(len(self.start) - 1)]
        shares, saved, left, largest = np.zeros(len(cells)), 0.0, 1.0, 0.0
        ties = dict[int, tuple[int, int]]()
        for rise in sorted(rises, key=lambda one: -one.reach):
            given, largest, j = min(rise.far, left), rise.reach, rise.column
            shares[j], saved, left = shares[j] + given, saved + rise.reach * given, left - given
            cells[j] = rise.cell
            if given == rise.far and rise.following >= 0:
                cells[j], ties[j] = rise.following, (rise.cell, rise.following)
            if left <= 0:
                break
        gaps = {j: shares[j] * (largest - self.reach[int(self.start[j]) + after]) for j, (_, after) in ties.items()}
        most = max(gaps, key=gaps.__getitem__, default=-1)
        tied = (most, *ties[most]) if most >= 0 and gaps[most] > NO_GAP else None
        return BestShares(shares * LEFT_OF_SHARES, saved, cells, tied)

    def _rise(self, j: int, alive: BoolArray, cost: FloatArray, rises: list[Rise]) -> int:
        """Tell how the bound of a column rises with its share. Returns its best cell at none."""
        mine = slice(int(self.start[j]), int(self.start[j + 1]))
        living, reach = alive[mine], self.reach[mine]
        own = np.where(living, cost[mine], np.inf)
        best = at = int(np.lexsort((reach, own))[0])
        share, following = 0.0, at
        while reach[at] > 0 and following >= 0:
            less = np.flatnonzero(living & (reach < reach[at]))
            turns = (own[less] - own[at]) / (reach[at] - reach[less])
            following = int(less[np.lexsort((reach[less], turns))[0]]) if len(less) else -1
            until = float(turns.min(initial=np.inf))
            rises.append(Rise(float(reach[at]), until - share, j, at, following))
            at, share = following, until
        return best
