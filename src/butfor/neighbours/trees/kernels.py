"""Compiled: branch and bound for the smallest sum of leaves in a box, depth first.

A box that is still to be searched has a list of the leaves that meet it, tree by tree, without the trees of which only
one leaf does. Its row nearest to the point is tried: of each leaf it is known in how many features that row is outside.
A part of the box differs from it in one feature, so one pass over the list makes the list of the part.
"""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import kernel, part

DONE, WANTS_ROOM, PAUSED = 0, 1, 2
"""How a call of `search` ends: no box is left, the arrays are full, or enough boxes were split."""

FROM, COUNT, IN_TREES, LEFT = 0, 1, 2, 3
"""Numbers of a box: where its list begins, how long it is, of how many trees, and whether some row may have less."""

FIXED_SUM, LEAST_SUM, TRIED_SUM = 0, 1, 2
"""Sums of a box: of the leaves that are not in its list, the least that any row may have, and that of the row tried."""

OPEN, TO_BEAT, IS_BEST = 0, 0, 1
"""In `count`, how many boxes are open. In `best`, what a row must have less than, and the least that a row has."""

BALL_ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""By how much a shift may exceed the radius of a ball, because of rounding: as `Ball.holds`."""


@kernel
def begin_search(leaves, boxes, count, best, where, low, high, base):  # type: ignore[no-untyped-def]
    """Open the box from `low` to `high`, and try its row nearest to the point."""
    n = 0
    row = np.empty(len(low))
    for j in range(len(low)):
        row[j] = clipped(leaves.point[j], low[j], high[j])
    for i in range(len(leaves.tree)):
        inside, out = True, 0
        for at in range(leaves.path[i], leaves.path[i + 1]):
            j = leaves.feature[at]
            b, e = leaves.begin[j, i], leaves.end[j, i]
            if b > high[j] or e < low[j]:
                inside = False
                break
            if b > row[j] or e < row[j]:
                out += 1
        if inside:
            boxes.leaf[n], boxes.out[n] = i, out
            n += 1
    boxes.low[0], boxes.high[0] = low, high
    boxes.numbers[0, FROM], boxes.sums[0, FIXED_SUM] = 0, base
    measure(leaves, boxes, 0, n, leaves.tree[-1] + 1)
    keep_if_less(leaves, boxes, 0, best, where)
    count[OPEN] = 1


@kernel
def search(leaves, boxes, count, best, where, ball, some, most):  # type: ignore[no-untyped-def]
    """Split open boxes, the last one first, until none is left that may have less than the best row.

    - `leaves`: a `LeafLists`; `boxes`: `OpenBoxes`; `where`: the best row; `ball`: a `RoundBall`;
    - `some`: whether any row will do that has less than what was asked for;
    - `most`: the largest number of boxes to split.
    """
    for _ in range(most):
        while count[OPEN] > 0 and not worth(boxes, count[OPEN] - 1, best):
            count[OPEN] -= 1
        if some and best[IS_BEST] < np.inf:
            count[OPEN] = 0
        if count[OPEN] == 0:
            return DONE
        box = count[OPEN] - 1
        lower, upper = box + 1, box + 2
        first, n = boxes.numbers[box, FROM], boxes.numbers[box, COUNT]
        if upper >= len(boxes.numbers) or first + 3 * n > len(boxes.leaf):
            return WANTS_ROOM
        split_box(leaves, boxes, box)
        for one in (lower, upper):
            if inside(ball, leaves.point, boxes.low[one], boxes.high[one]):
                keep_if_less(leaves, boxes, one, best, where)
            else:
                boxes.numbers[one, LEFT] = 0
        near, far = lower, upper
        if boxes.sums[far, LEAST_SUM] < boxes.sums[near, LEAST_SUM]:
            near, far = far, near
        to = first
        for one in (far, near):
            if worth(boxes, one, best):
                move(boxes, one, box, to)
                to += boxes.numbers[box, COUNT]
                box += 1
        count[OPEN] = box
    return PAUSED


@kernel
def merged(leaves, chosen, low, high, most):  # type: ignore[no-untyped-def]
    """Some leaves of a sum of trees, with pairs of trees as one tree each. Its leaves are where two leaves meet in a box.

    The smallest of them is at least the sum of the smallest of both trees. The pairs are those where it lies above that
    by most.

    - `leaves`: a `LeafLists`; `chosen`: the numbers of the leaves;
    - `most`: how many pairs of leaves two trees may have.

    Returns the arrays of a `LeafLists`.
    """
    first = begins(leaves, chosen)
    partner = partners(leaves, chosen, first, most)
    sizes, asked = np.zeros(len(first) - 1, np.intp), 0
    for a in range(len(partner)):
        for one in range(first[a], first[a + 1]):
            for other in range(*others(first, partner, a, one)):
                i, k = chosen[one], chosen[other]
                if meet(leaves, i, k):
                    sizes[a] += 1
                    asked += leaves.path[i + 1] - leaves.path[i] + leaves.path[k + 1] - leaves.path[k]
    n, d = sizes.sum(), len(low)
    tree, value, path = np.empty(n, np.intp), np.empty(n), np.zeros(n + 1, np.intp)
    feature, begin, end = np.empty(asked, np.intp), np.empty((d, n)), np.empty((d, n))
    at, to, trees = 0, 0, 0
    for a in range(len(partner)):
        for one in range(first[a], first[a + 1]):
            for other in range(*others(first, partner, a, one)):
                i, k = chosen[one], chosen[other]
                if not meet(leaves, i, k):
                    continue
                tree[at], value[at] = trees, leaves.value[i] + (leaves.value[k] if i != k else 0.0)
                for j in range(d):
                    begin[j, at] = max(leaves.begin[j, i], leaves.begin[j, k])
                    end[j, at] = min(leaves.end[j, i], leaves.end[j, k])
                    if begin[j, at] > low[j] or end[j, at] < high[j]:
                        feature[to] = j
                        to += 1
                at += 1
                path[at] = to
        trees += sizes[a] > 0
    return tree, value, path, feature[:to].copy(), begin, end, leaves.step, leaves.point


@part
def begins(leaves, chosen):  # type: ignore[no-untyped-def]
    """Where the leaves of each tree begin among some leaves, and at last their number."""
    first = np.zeros(len(chosen) + 1, np.intp)
    trees = 0
    for k in range(1, len(chosen)):
        if leaves.tree[chosen[k]] != leaves.tree[chosen[k - 1]]:
            trees += 1
            first[trees] = k
    first[trees + 1] = len(chosen)
    return first[: trees + 2]


@part
def others(first, partner, tree, leaf):  # type: ignore[no-untyped-def]
    """Which leaves to pair a leaf of a tree with: those of its partner. It is that of the partner's turn, if that comes first."""
    if partner[tree] == tree:
        return leaf, leaf + 1
    if partner[tree] < tree:
        return 0, 0
    return first[partner[tree]], first[partner[tree] + 1]


@part
def partners(leaves, chosen, first, most):  # type: ignore[no-untyped-def]
    """The partner of each tree. A tree that is to stay as it is has itself."""
    trees = len(first) - 1
    smallest, rise = np.empty(trees, np.intp), np.zeros(trees * trees)
    for a in range(trees):
        smallest[a] = chosen[first[a] + leaves.value[chosen[first[a] : first[a + 1]]].argmin()]
    for a in range(trees):
        for b in range(a + 1, trees):
            few = (first[a + 1] - first[a]) * (first[b + 1] - first[b]) <= most
            if few and not meet(leaves, smallest[a], smallest[b]):
                least = np.inf
                for one in range(first[a], first[a + 1]):
                    for other in range(first[b], first[b + 1]):
                        both = leaves.value[chosen[one]] + leaves.value[chosen[other]]
                        if both < least and meet(leaves, chosen[one], chosen[other]):
                            least = both
                if least < np.inf:
                    rise[a * trees + b] = least - leaves.value[smallest[a]] - leaves.value[smallest[b]]
    partner = np.arange(trees)
    for pair in np.argsort(-rise):
        a, b = pair // trees, pair % trees
        if rise[pair] <= 0:
            break
        if partner[a] == a and partner[b] == b:
            partner[a], partner[b] = b, a
    return partner


@part
def meet(leaves, i, k):  # type: ignore[no-untyped-def]
    """Whether a row can be in two leaves."""
    for at in range(leaves.path[i], leaves.path[i + 1]):
        j = leaves.feature[at]
        if leaves.begin[j, i] > leaves.end[j, k] or leaves.begin[j, k] > leaves.end[j, i]:
            return False
    return True


@part
def worth(boxes, box, best):  # type: ignore[no-untyped-def]
    """Whether a box may have a row with less than the best one, other than the one that was tried."""
    return boxes.numbers[box, LEFT] and boxes.sums[box, LEAST_SUM] < best[TO_BEAT]


@part
def move(boxes, box, to, first):  # type: ignore[no-untyped-def]
    """Make a box the one with number `to`, and let its list begin at `first`. Neither is after where it was."""
    before, n = boxes.numbers[box, FROM], boxes.numbers[box, COUNT]
    for k in range(n):
        boxes.leaf[first + k], boxes.out[first + k] = boxes.leaf[before + k], boxes.out[before + k]
    boxes.low[to], boxes.high[to] = boxes.low[box], boxes.high[box]
    boxes.numbers[to], boxes.sums[to] = boxes.numbers[box], boxes.sums[box]
    boxes.numbers[to, FROM] = first


@part
def split_box(leaves, boxes, box):  # type: ignore[no-untyped-def]
    """Make the next two boxes the two parts of a box, on both sides of an end of the leaf that it is to be split at."""
    low, high = boxes.low[box], boxes.high[box]
    leaf, j = elected(leaves, boxes, box)
    x = clipped(leaves.point[j], low[j], high[j])
    step = leaves.step[j]
    if leaves.begin[j, leaf] > x:
        above = leaves.begin[j, leaf]
        below = above - step if step > 0 else np.nextafter(above, -np.inf)
    else:
        below = leaves.end[j, leaf]
        above = below + step if step > 0 else np.nextafter(below, np.inf)
    first, n = boxes.numbers[box, FROM], boxes.numbers[box, COUNT]
    to, trees = first + n, boxes.numbers[box, IN_TREES]
    for one, lowest, highest in ((box + 1, low[j], below), (box + 2, above, high[j])):
        boxes.low[one], boxes.high[one] = low, high
        boxes.low[one, j], boxes.high[one, j] = lowest, highest
        boxes.numbers[one, FROM], boxes.sums[one, FIXED_SUM] = to, boxes.sums[box, FIXED_SUM]
        measure(leaves, boxes, one, listed(leaves, boxes, first, n, to, j, lowest, highest, x), trees)
        to += boxes.numbers[one, COUNT]


@part
def elected(leaves, boxes, box):  # type: ignore[no-untyped-def]
    """A leaf and a feature to split a box in. Each tree votes with what it would save by its smallest leaf.

    It votes for the features in which the row is outside of that leaf: up or down. The leaf is that of the tree which
    would save most of those that voted for the elected side.
    """
    d = len(leaves.point)
    votes, most, chosen = np.zeros(2 * d), np.zeros(2 * d), np.zeros(2 * d, dtype=np.intp)
    k, last = boxes.numbers[box, FROM], boxes.numbers[box, FROM] + boxes.numbers[box, COUNT]
    while k < last:
        tree, lowest, here = leaves.tree[boxes.leaf[k]], boxes.leaf[k], np.inf
        while k < last and leaves.tree[boxes.leaf[k]] == tree:
            leaf = boxes.leaf[k]
            if leaves.value[leaf] < leaves.value[lowest]:
                lowest = leaf
            if boxes.out[k] == 0:
                here = leaves.value[leaf]
            k += 1
        lost = here - leaves.value[lowest]
        if lost <= 0:
            continue
        for at in range(leaves.path[lowest], leaves.path[lowest + 1]):
            j = leaves.feature[at]
            x = clipped(leaves.point[j], boxes.low[box, j], boxes.high[box, j])
            if leaves.begin[j, lowest] > x or leaves.end[j, lowest] < x:
                side = 2 * j + (leaves.begin[j, lowest] > x)
                votes[side] += lost
                if lost > most[side]:
                    most[side], chosen[side] = lost, lowest
    side = votes.argmax()
    return chosen[side], side // 2


@part
def listed(leaves, boxes, first, n, to, j, low, high, before):  # type: ignore[no-untyped-def]
    """Write the leaves of a list that meet a part of its box, from `low` to `high` in feature `j`. Returns their number.

    In that feature, the row of the box was at `before`.
    """
    made, x = to, clipped(leaves.point[j], low, high)
    for k in range(first, first + n):
        leaf = boxes.leaf[k]
        begin, end = leaves.begin[j, leaf], leaves.end[j, leaf]
        if begin <= high and end >= low:
            out = boxes.out[k]
            if begin > before or end < before:
                out -= 1
            if begin > x or end < x:
                out += 1
            boxes.leaf[made], boxes.out[made] = leaf, out
            made += 1
    return made - to


@part
def measure(leaves, boxes, box, n, trees):  # type: ignore[no-untyped-def]
    """The numbers and sums of a box whose list has `n` leaves of so many `trees`. Those with a single leaf leave it.

    If a tree has none, then no point of the grid is in the box.
    """
    first = boxes.numbers[box, FROM]
    fixed, least, tried = boxes.sums[box, FIXED_SUM], 0.0, 0.0
    k, kept, seen, several, left = first, first, 0, 0, 0
    while k < first + n:
        tree, begun = leaves.tree[boxes.leaf[k]], kept
        smallest, here = np.inf, np.inf
        while k < first + n and leaves.tree[boxes.leaf[k]] == tree:
            value = leaves.value[boxes.leaf[k]]
            smallest = min(smallest, value)
            if boxes.out[k] == 0:
                here = value
            boxes.leaf[kept], boxes.out[kept] = boxes.leaf[k], boxes.out[k]
            kept, k = kept + 1, k + 1
        seen += 1
        if kept == begun + 1:
            kept, fixed = begun, fixed + smallest
            continue
        least, tried, several = least + smallest, tried + here, several + 1
        if here > smallest:
            left = 1
    if seen < trees:
        fixed, left = np.inf, 0
    boxes.numbers[box, COUNT], boxes.numbers[box, IN_TREES], boxes.numbers[box, LEFT] = kept - first, several, left
    boxes.sums[box, FIXED_SUM], boxes.sums[box, LEAST_SUM], boxes.sums[box, TRIED_SUM] = (
        fixed,
        fixed + least,
        fixed + tried,
    )


@part
def keep_if_less(leaves, boxes, box, best, where):  # type: ignore[no-untyped-def]
    """Keep the row of a box that was tried, if it has less than the best one."""
    if boxes.sums[box, TRIED_SUM] < best[TO_BEAT]:
        best[TO_BEAT], best[IS_BEST] = boxes.sums[box, TRIED_SUM], boxes.sums[box, TRIED_SUM]
        for j in range(len(where)):
            where[j] = clipped(leaves.point[j], boxes.low[box, j], boxes.high[box, j])


@part
def inside(ball, point, low, high):  # type: ignore[no-untyped-def]
    """Whether the row of a box that is nearest to the point lies in the ball: as `Ball.holds`."""
    if ball.power == 0:
        return True
    size = 0.0
    for j in range(len(ball.radius)):
        if ball.radius[j] > 0 and point[j] == point[j]:
            share = abs(clipped(point[j], low[j], high[j]) - point[j]) / ball.radius[j]
            size += share if ball.power == 1 else share * share
    return (size if ball.power == 1 else np.sqrt(size)) <= 1 + BALL_ROUNDING


@part
def clipped(x, low, high):  # type: ignore[no-untyped-def]
    """The number between `low` and `high` that is nearest to x. What is missing stays missing."""
    return low if x < low else high if x > high else x
