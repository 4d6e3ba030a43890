"""Compiled: the open nodes of a branch and bound, and the node in hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.compiled.kernel import inlined, kernel
from butfor.solvers.oblique.polytope.columns import Box


class OpenNodes(NamedTuple):
    """Nodes still to be looked at, a line each.

    `lam` and `x` are the multipliers and the point to start from.
    """

    low: FloatArray
    high: FloatArray
    alive: BoolArray
    lam: FloatArray
    x: FloatArray
    bound: FloatArray


class NodeInHand(NamedTuple):
    """The node that is looked at.

    `rounded` and `pull` are space for a whole point and for what multipliers pay.
    """

    box: Box
    lam: FloatArray
    x: FloatArray
    rounded: FloatArray
    pull: FloatArray


@kernel
def space_for(lines, m, numbers, options):  # type: ignore[no-untyped-def]
    """Space for so many nodes."""
    low, high, x = np.empty((lines, numbers)), np.empty((lines, numbers)), np.empty((lines, numbers + options))
    return OpenNodes(low, high, np.empty((lines, options), dtype=np.bool_), np.empty((lines, m)), x, np.empty(lines))


# `inline`: what is used once is compiled with its caller, which takes less time.
@inlined
def in_hand(root, lam, n):  # type: ignore[no-untyped-def]
    """The root in hand: numbers as near to 0 as possible, no option taken."""
    numbers, options = len(root.low), len(root.price)
    low, high, alive = np.empty(numbers), np.empty(numbers), np.empty(options, dtype=np.bool_)
    mult, x = np.empty(len(lam)), np.zeros(n)
    put(low, root.low)
    put(high, root.high)
    put(mult, lam)
    for j in range(numbers):
        x[j] = min(max(0.0, low[j]), high[j])
    for v in range(options):
        alive[v] = root.alive[v]
    return NodeInHand(Box(low, high, root.first, root.price, alive), mult, x, np.empty(n), np.empty(n))


@inlined
def lowest_of(bound, count):  # type: ignore[no-untyped-def]
    """Which of the open nodes has the lowest bound."""
    at = 0
    for i in range(1, count):
        if bound[i] < bound[at]:
            at = i
    return at


@inlined
def write_line(nodes, at, node, bound):  # type: ignore[no-untyped-def]
    """Write the node in hand into a line."""
    for j in range(len(node.box.low)):
        nodes.low[at, j], nodes.high[at, j] = node.box.low[j], node.box.high[j]
    for v in range(len(node.box.alive)):
        nodes.alive[at, v] = node.box.alive[v]
    for i in range(len(node.lam)):
        nodes.lam[at, i] = node.lam[i]
    for j in range(len(node.x)):
        nodes.x[at, j] = node.x[j]
    nodes.bound[at] = bound


@inlined
def take_line(nodes, at, last, node):  # type: ignore[no-untyped-def]
    """Take a line in hand, its place filled by the last; returns its bound."""
    bound = nodes.bound[at]
    for j in range(len(node.box.low)):
        node.box.low[j], node.box.high[j] = nodes.low[at, j], nodes.high[at, j]
        nodes.low[at, j], nodes.high[at, j] = nodes.low[last, j], nodes.high[last, j]
    for v in range(len(node.box.alive)):
        node.box.alive[v], nodes.alive[at, v] = nodes.alive[at, v], nodes.alive[last, v]
    for i in range(len(node.lam)):
        node.lam[i], nodes.lam[at, i] = nodes.lam[at, i], nodes.lam[last, i]
    for j in range(len(node.x)):
        node.x[j], nodes.x[at, j] = nodes.x[at, j], nodes.x[last, j]
    nodes.bound[at] = nodes.bound[last]
    return bound


@inlined
def doubled(nodes):  # type: ignore[no-untyped-def]
    """The same nodes with space for twice as many."""
    lines, m, numbers, options = len(nodes.bound), nodes.lam.shape[1], nodes.low.shape[1], nodes.alive.shape[1]
    more = space_for(2 * lines, m, numbers, options)
    for at in range(lines):
        for j in range(numbers):
            more.low[at, j], more.high[at, j] = nodes.low[at, j], nodes.high[at, j]
        for v in range(options):
            more.alive[at, v] = nodes.alive[at, v]
        for i in range(m):
            more.lam[at, i] = nodes.lam[at, i]
        for j in range(numbers + options):
            more.x[at, j] = nodes.x[at, j]
        more.bound[at] = nodes.bound[at]
    return more


@kernel
def put(into, values):  # type: ignore[no-untyped-def]
    """Copy a vector.

    Slices compile ten times as long, for the errors that they may raise.
    """
    for i in range(len(into)):
        into[i] = values[i]
