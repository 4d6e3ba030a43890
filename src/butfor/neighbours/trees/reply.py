"""A reply of an adversary to all rows at once: each row is shifted by its own shift. It is a sum of trees again.

A shift of feature j by at most r_j can bring a number c up to a cut t iff c - r_j <= t, and beyond it iff c + r_j > t.
So a reply moves each cut t to any place between t - r_j and t + r_j: numbers up to that place go left. If the places
have the order of the cuts, one shifted number is on those sides of all cuts. A row that stays valid under all shifts
stays valid under each reply.

A reply also shows each level as one that it may be seen as: a row goes left where the level that is shown does.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.float_order import last_below
from butfor.model.trees import Trees
from butfor.neighbours.ball import Ball
from butfor.neighbours.slips import Slips
from butfor.neighbours.trees.counterpart import with_cuts


def reply(model: Trees, row: FloatArray, ball: Ball, point: FloatArray, worst: FloatArray) -> Trees:
    """The scores of the rows under a reply that brings one point to its worst neighbour.

    - `row`: the adversary makes the sum `row @ scores` small;
    - `ball`: the box around it is how far each feature may be shifted, and what its levels may slip to.

    At a cut near the point, all rows that can be shifted to the side of the worst neighbour are shifted there. A cheaper
    row beside the point then fails in the same way. At any other cut rows go to the side that is worse on average. All
    levels that may be seen as that of the worst neighbour are, and others as what is worst on average.
    """
    gain, radius = _means(model) @ row, ball.radius
    cut, inner = model.cut.copy(), (model.feature >= 0) & (model.member < 0)
    for j in np.flatnonzero(radius > 0):
        at = np.flatnonzero(inner & (model.feature == j))
        cuts, which = np.unique(cut[at], return_inverse=True)
        first, last = last_below(cuts, np.full(len(cuts), radius[j])), last_below(cuts, np.full(len(cuts), -radius[j]))
        right_is_better = np.bincount(which, gain[model.right[at]] - gain[model.left[at]], len(cuts)) > 0
        place = np.where(right_is_better, last, first)
        passed = cuts < worst[j]  # no cut, if the value is missing
        near = (first < point[j]) & (point[j] <= last)
        place = np.where(near, np.where(passed, first, last), place)
        count = int(passed.sum())
        below, above = np.minimum.accumulate(place[:count][::-1])[::-1], np.maximum.accumulate(place[count:])
        if not np.isnan(point[j]):  # the ball was rounded
            below, above = np.minimum(below, np.nextafter(point[j], -np.inf)), np.maximum(above, point[j])
        cut[at] = np.concatenate([below, above])[which]
    return _showing(with_cuts(model, cut), gain, ball.slips, worst)


def _showing(model: Trees, gain: FloatArray, slips: Slips, worst: FloatArray) -> Trees:
    """The trees for rows each of whose levels is shown as one that it may be seen as.

    - `gain` (nodes): the mean of the sum below each node.
    """
    member, sets = model.member.copy(), list(model.cell_sets)
    for j, may in slips.seen.items():
        at = np.flatnonzero((model.feature == j) & (model.member >= 0))
        if not len(at):
            continue
        inside = model.table[model.member[at], : len(may)]
        average = np.where(inside, gain[model.left[at], None], gain[model.right[at], None]).sum(axis=0)
        shown = slips.least(j, average)
        if not np.isnan(worst[j]):
            shown = np.where(may[:, int(worst[j])], int(worst[j]), shown)
        known, which = np.unique(member[at], return_inverse=True)
        member[at] = len(sets) + which
        sets += [model.cell_sets[one][shown] for one in known]
    used, which = np.unique(member[member >= 0], return_inverse=True)
    member[member >= 0] = which
    return replace(model, member=member, cell_sets=tuple(sets[one] for one in used))


@lru_cache(maxsize=16)
def _means(model: Trees) -> FloatArray:
    """The mean of the leaves below each node, where each child counts the same (nodes, scores)."""
    mean, order, waiting = model.value.copy(), list[int](), model.roots.tolist()
    while waiting:
        node = waiting.pop()
        if model.feature[node] >= 0:
            order.append(node)
            waiting += [int(model.left[node]), int(model.right[node])]
    for node in reversed(order):
        mean[node] = (mean[model.left[node]] + mean[model.right[node]]) / 2
    return mean
