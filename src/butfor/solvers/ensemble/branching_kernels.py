"""Compiled: where to part the cells of a node."""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import kernel, part
from butfor.solvers.ensemble.block_kernels import block_of

AGREEMENT_GAP = 1e-12
"""A tree that would save less than this by another block is content with the one that the feature chose."""


@part
def vote(votes, marginal, ordered, pairs, block_start, blocks, x, first, last):  # type: ignore[no-untyped-def]
    """Let the trees of a feature vote against its own choice, cell `x`.

    The vote of a tree is what it would save elsewhere.
    Of an ordered feature it is for the cut between x and the nearest block that suits the tree; else it is for x.

    votes, marginal: as in `Work`
    pairs: the pairs of the feature, whose cells are `first` to `last - 1`
    block_start, blocks: as in `Reduced`
    """
    begin, end = blocks.begin, blocks.end
    for c in range(first, last + 1):
        votes[c] = 0.0
    for q in pairs:
        here = block_of(blocks, ordered, block_start[q], block_start[q + 1], x)
        gap = marginal[here]
        if gap < AGREEMENT_GAP:
            continue
        if not ordered:
            votes[x] += gap
            continue
        for away in range(1, block_start[q + 1] - block_start[q]):
            up, down = here + away, here - away
            if up < block_start[q + 1] and marginal[up] < AGREEMENT_GAP:
                votes[begin[up]] += gap
                break
            if down >= block_start[q] and marginal[down] < AGREEMENT_GAP:
                votes[end[down]] += gap
                break


@kernel
def branching(start, ordered, alive, x, potential, votes):  # type: ignore[no-untyped-def]
    """Where to branch after a sweep: a feature, and where to part its cells.

    It is where most is voted for and where leaving its choice costs the feature most, of which votes count more.
    An ordered feature is parted at a cut, before the cell that is returned; another one at that cell.
    The feature is -1 if no feature has a second cell left.

    start, ordered: as in `ReducedCells`
    alive, x, potential, votes: as in `Work`
    """
    best, feature, where = -1.0, -1, -1
    for j in range(len(ordered)):
        here, first, last = x[j], start[j], start[j + 1]
        beyond = np.inf
        if not ordered[j]:
            for c in range(first, last):
                if alive[c] and c != here:
                    beyond = min(beyond, potential[c] - potential[here])
            worth = (votes[here] + 1e-9) * np.sqrt(beyond + 1e-6)
            if beyond < np.inf and worth > best:
                best, feature, where = worth, j, here
            continue
        for c in range(last - 1, here, -1):
            if alive[c]:
                beyond = min(beyond, potential[c] - potential[here])
            worth = (votes[c] + 1e-9) * np.sqrt(beyond + 1e-6)
            if beyond < np.inf and worth > best:
                best, feature, where = worth, j, c
        beyond = np.inf
        for c in range(first, here):
            if alive[c]:
                beyond = min(beyond, potential[c] - potential[here])
            worth = (votes[c + 1] + 1e-9) * np.sqrt(beyond + 1e-6)
            if beyond < np.inf and worth > best:
                best, feature, where = worth, j, c + 1
    return feature, where
