"""What the search over the leaves is given: named arrays, without numba."""

from __future__ import annotations

from typing import NamedTuple

from butfor.arrays import FloatArray, IntArray


class Gates(NamedTuple):
    """The decisions: a row of unit norm each over the columns.

    Its score must reach `right` to go right, and its negative `left` to go left.
    """

    B: FloatArray
    right: FloatArray
    left: FloatArray


class LeafPaths(NamedTuple):
    """The decisions that lead to each leaf, one path after the other.

    Leaf i is reached through `gate[start[i]:start[i + 1]]`, `side` +1 right and -1 left, and costs `offset[i]` more.
    """

    start: IntArray
    gate: IntArray
    side: FloatArray
    offset: FloatArray


class Rows(NamedTuple):
    """What differs from row to row, a line each.

    `now` are the scores of the gates. Numbers move between `low` and `high`, on grids that begin at `first`. An option
    costs `price` (infinity: it is not allowed). `home` is the option of each group that the factual has.
    """

    now: FloatArray
    low: FloatArray
    high: FloatArray
    first: FloatArray
    price: FloatArray
    home: IntArray

    def take(self, rows: IntArray) -> Rows:
        """The same for some of the rows."""
        return Rows(
            self.now[rows], self.low[rows], self.high[rows], self.first[rows], self.price[rows], self.home[rows]
        )
