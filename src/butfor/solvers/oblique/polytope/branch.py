"""Compiled: branch and bound over one polytope.

It branches on numbers that the relaxation leaves between grid points, and on groups that it leaves between options.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from butfor.compiled.kernel import inlined, kernel
from butfor.solvers.oblique.polytope.columns import AS_GOOD_AS_WHOLE, BRANCH_SAVING, ON_POINT, RAISE
from butfor.solvers.oblique.polytope.dual import price_of_point
from butfor.solvers.oblique.polytope.empty import out_of_reach
from butfor.solvers.oblique.polytope.mend import mend
from butfor.solvers.oblique.polytope.narrow import narrow
from butfor.solvers.oblique.polytope.nodes import doubled, in_hand, lowest_of, put, space_for, take_line, write_line
from butfor.solvers.oblique.polytope.one_column import number_at, point_below
from butfor.solvers.oblique.polytope.relax import relax
from butfor.solvers.oblique.polytope.whole import keeps, nearest_whole, undecided

FIRST_NODES = 32
"""Open nodes that there is space for at first; doubled when it runs out."""


class Traits(NamedTuple):
    """What the columns of a box are.

    Real columns leave room to raise `need` by `lift`. Some columns may be `whole`. Prices that are not strictly convex
    ask for a `proximal` term.
    """

    lift: float
    whole: bool
    proximal: bool


@kernel
def cheapest(spaces, columns, root, lam, cut, most, point):  # type: ignore[no-untyped-def]
    """The cheapest point of a polytope, its numbers and options in the box `root`.

    Returns the bound, and the cost of the `point` found: infinity if none is below `cut`. `lam` starts the
    multipliers and keeps those of the root. At most `most` nodes are looked at. The likelier child of a node is taken
    next. Where that line ends, the open node with the lowest bound is.
    """
    m, n = spaces.B.shape
    traits = _traits(columns, root)
    node = in_hand(root, lam, n)
    nodes = space_for(FIRST_NODES if traits.whole else 1, m, len(columns.up), len(root.price))
    count, looked, bound, best, lowest = 0, 0, -np.inf, np.inf, np.inf
    while True:
        looked += 1
        limit = min(cut, best * (1.0 - BRANCH_SAVING))
        solved, which = False, -1
        if bound < limit and out_of_reach(spaces, columns, node.box):
            bound = np.inf
        if bound < limit:
            raised, solved = relax(spaces, traits.lift, columns, node.box, traits.proximal, node.lam, node.x, limit)
            bound = max(bound, raised)
        if looked == 1:
            put(lam, node.lam)
        if bound < limit:
            best, bound, which = _decide(spaces, columns, root, traits, node, solved, bound, best, cut, point)
        if which >= 0 and looked < most:
            if count + 2 > len(nodes.bound):
                nodes = doubled(nodes)
            _branch(nodes, count, columns, node, bound, which)
            count += 2
            at = count - 1
        else:
            lowest = min(lowest, bound)
            at = lowest_of(nodes.bound, count)
        if not count:
            return lowest if best == np.inf else min(lowest, best), best
        count -= 1
        bound = take_line(nodes, at, count, node)


# `inline`: a private step that is used once is compiled with its caller, which takes less time.
@inlined
def _traits(columns, root):  # type: ignore[no-untyped-def]
    """What the columns of a box are."""
    real, whole, proximal = False, len(root.price) > 0, len(root.price) > 0
    for j in range(len(columns.up)):
        number = number_at(columns, root, j)
        real = real or (number.step == 0.0 and number.low < number.high)
        whole = whole or number.step > 0.0
        proximal = proximal or number.square == 0.0
    return Traits(RAISE if real else 0.0, whole, proximal)


@inlined
def _decide(spaces, columns, root, traits, node, solved, bound, best, cut, point):  # type: ignore[no-untyped-def]
    """From the relaxed point of a node to whole ones; then narrow its box.

    The cheapest whole point is kept as `point`. Returns the best cost, the bound that stays behind if the node is
    left here, and the column to branch on (-1: none).
    """
    limit = min(cut, best * (1.0 - BRANCH_SAVING))
    away, which = nearest_whole(columns, node.box, node.x, node.rounded)
    settled = solved and away <= AS_GOOD_AS_WHOLE
    if (settled or traits.lift == 0.0) and keeps(spaces, node.rounded):
        cost = price_of_point(columns, root, node.rounded)
        if cost < limit:
            best = cost
            put(point, node.rounded)
        if settled:
            return best, bound, -1
    if traits.whole:
        cost = mend(spaces, traits.lift, columns, root, node.rounded)
        if cost < min(cut, best):
            best = cost
            put(point, node.rounded)
            limit = min(cut, best * (1.0 - BRANCH_SAVING))
        narrow(spaces, columns, node.box, node.lam, node.pull, limit)
    if away <= AS_GOOD_AS_WHOLE:
        which = undecided(columns, node.box, node.x)
    if which < 0 and traits.lift == 0.0:
        bound = np.inf  # a single point was left, and it has been judged
    return best, bound, which


@inlined
def _branch(nodes, count, columns, node, bound, which):  # type: ignore[no-untyped-def]
    """Add both children of the node in hand, the likelier one last."""
    numbers = len(columns.up)
    for at in range(count, count + 2):
        write_line(nodes, at, node, bound)
    if which < numbers:
        x, number = node.x[which], number_at(columns, node.box, which)
        split = point_below(number, x, ON_POINT)
        if split >= number.high - 0.5 * number.step:
            split -= number.step
        rest = split + number.step
        below, above = (count + 1, count) if x - split <= 0.5 * number.step else (count, count + 1)
        nodes.high[below, which], nodes.x[below, which] = split, min(max(x, number.low), split)
        nodes.low[above, which], nodes.x[above, which] = rest, min(max(x, rest), number.high)
        return
    for g in range(len(columns.group) - 1):
        if columns.group[g] <= which - numbers < columns.group[g + 1]:
            for v in range(columns.group[g], columns.group[g + 1]):
                nodes.alive[count if v == which - numbers else count + 1, v] = False
