"""How much the searches for one row do at once, and in which turns."""

from __future__ import annotations

from typing import NamedTuple


class Effort(NamedTuple):
    """How long `ascend` raises a bound at once.

    sweeps: how many sweeps at most
    step: the largest share of itself by which a rate changes
    gain: sweeps that close less than this share of what is missing are idle
    """

    sweeps: int
    step: float
    gain: float


NEAR_LEAVES, NEAR_SHARES = 5_000, (0.125, 0.25, 0.5)
"""An ensemble of more than so many leaves is first searched in these shares of the cells, the cheapest ones."""

ROOT_EFFORT, NODE_EFFORT = Effort(5, 0.3, 0.002), Effort(8, 0.1, 0.15)
"""At the root of the search, and in a node."""

POLISH_SHARE = 1 / 4
"""The share of the time in which the first row is polished. What is left is for bounds."""

ROOT_BURSTS, ZOOM_BURSTS = 40, 1
"""How often bounds are raised before branching: at the root, and at the root of the search within a node."""

ROOT_GAIN = 0.05
"""At the root bounds are raised as long as that closes this share of what is missing."""

BRANCH_SHARE, AGAIN_GAIN = 6, 0.01
"""Branching looks at so many times as many leaves as all bounds on all rows before it, and then these are raised further.

That ends where it closes less than such a share of what is missing.
"""

NODE_GAP = 1e-9
"""A node whose bound comes this close to the best row (relative to 1 + cost, in coins) is done, and that is its bound.

It is far above the rounding of messages, so that rows that cost the same are not told apart.
"""

ZOOM_SHARE, ZOOM_LEAVES = 0.6, 100
"""A node that reaches less than this share of the leaves is searched in an ensemble of its own.

It must be an ensemble of more than so many leaves.
"""


BOXES_PER_STEP = 20
"""So many boxes take about as long as one bound by messages."""

FEW_CHANGES, SOME_CHANGES = 3, 5
"""If at most so many features may change, boxes are as strong as messages, or nearly so."""

LONG_START, MIDDLE_START, SHORT_START = 1_000_000, 300_000, 30_000
"""So many looks at leaves are given to the boxes first."""


def head_start(changes: float, known: bool) -> int:
    """About how many looks at leaves boxes are given first, if so many features may change and a row is known or not."""
    if changes <= FEW_CHANGES or not known:
        return LONG_START
    return MIDDLE_START if changes <= SOME_CHANGES else SHORT_START
