"""Compiled loops: find the leaves of each row, and add up their values.

The decisions and the order of the sums are those of the plain definition, so the results are equal to the bit. The
outer loop is over trees, so that the nodes of one tree stay in the cache while all rows go down.
"""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import kernel


@kernel
def add_leaves(roots, feature, cut, member, missing_left, left, right, value, sets, X, index, out):  # type: ignore[no-untyped-def]
    """Add to each row of `out` the values of its leaves. Missing values and sets of cells are allowed.

    - `sets` (sets, cells): cell k goes left in node i iff `sets[member[i], k]`;
    - `index` (rows, features): the cells of the rows;
    - all others: see `Trees`.
    """
    rows, scores = out.shape
    for root in roots:
        for row in range(rows):
            node = root
            j = feature[node]
            while j >= 0:
                x = X[row, j]
                if member[node] >= 0:
                    goes_left = sets[member[node], index[row, j]]
                elif x <= cut[node]:
                    goes_left = True
                else:
                    goes_left = x != x and missing_left[node]
                node = left[node] if goes_left else right[node]
                j = feature[node]
            for s in range(scores):
                out[row, s] += value[node, s]


@kernel
def add_leaves_of_numbers(roots, sure, feature, cut, child, value, X, out):  # type: ignore[no-untyped-def]
    """As `add_leaves`, if every node has a cut and no value is missing. Four rows at a time, without branches.

    The children of node i are `child[2 * i]` and `child[2 * i + 1]`; a leaf is its own child. After `sure[t]` steps,
    most rows have reached their leaf in tree t. Node numbers are unsigned, because a number that may be negative
    would be checked at every step.
    """
    rows, scores = out.shape
    one, two, zero = np.uint32(1), np.uint32(2), np.uint32(0)
    for t in range(len(roots)):
        for row in range(0, rows - 3, 4):
            a = b = c = d = roots[t]
            steps, moving = sure[t], True
            while moving:
                for _ in range(steps):
                    a = child[two * a + (zero if X[row, feature[a]] <= cut[a] else one)]
                    b = child[two * b + (zero if X[row + 1, feature[b]] <= cut[b] else one)]
                    c = child[two * c + (zero if X[row + 2, feature[c]] <= cut[c] else one)]
                    d = child[two * d + (zero if X[row + 3, feature[d]] <= cut[d] else one)]
                moving = child[two * a] != a or child[two * b] != b or child[two * c] != c or child[two * d] != d
                steps = 2
            for s in range(scores):
                out[row, s] += value[a, s]
                out[row + 1, s] += value[b, s]
                out[row + 2, s] += value[c, s]
                out[row + 3, s] += value[d, s]
        for row in range(rows - rows % 4, rows):
            a = roots[t]
            while child[two * a] != a:
                a = child[two * a + (zero if X[row, feature[a]] <= cut[a] else one)]
            for s in range(scores):
                out[row, s] += value[a, s]
