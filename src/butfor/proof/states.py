"""What a prover has said, what it would like to say, and what is left for it to do."""

from __future__ import annotations

from typing import NamedTuple

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.proof.arrays import Taxed, Worth
from butfor.proof.lists import Whole


class Spread(NamedTuple):
    """The points that stand for cells in the search: where in its table, for which cell, and at what price, in claims."""

    place: IntArray
    cell: IntArray
    price: FloatArray


class State(NamedTuple):
    """What the checker knows, and after how many steps."""

    message: Whole
    worth: Worth
    toll: int
    taxed: Taxed
    lines: int


class WishedState(NamedTuple):
    """What the search would like the state to be, in shares of the claim."""

    message: FloatArray
    rates: FloatArray
    toll: float
    tax: FloatArray
    shares: FloatArray


class Pending(NamedTuple):
    """A box that is left: the way to the goals, its cells and leaves, its depth, and what was wished for in the box around it."""

    way: int
    alive: BoolArray
    leaf: BoolArray
    depth: int
    wish: WishedState
