"""What is left of a best-first search, and what it has proven by that. Each branch and bound keeps its nodes here."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count
from typing import Generic, NamedTuple, TypeVar

import numpy as np

N = TypeVar("N")


class _Open(NamedTuple, Generic[N]):
    """A node that is left. No two have the same order."""

    bound: float
    order: int
    node: N


class Frontier(Generic[N]):
    """The nodes that are left, the one with the lowest bound first.

    Everything that was not looked at lies in an open node, or in one that was settled. So nothing is below `lowest`, the
    least of their bounds. What is not below the `ceiling` is not worth a look: it is no better than what is known.
    The ceiling falls while a search goes on.

    >>> frontier = Frontier[str](ceiling=lambda: 5.0)
    >>> for bound, node in [(3.0, "b"), (1.0, "a"), (7.0, "c")]:
    ...     frontier.put(bound, node)
    >>> frontier.pop()
    (1.0, 'a')
    >>> frontier.settle(4.0)
    >>> frontier.lowest, frontier.is_open
    (3.0, True)
    >>> frontier.pop()
    (3.0, 'b')
    >>> frontier.lowest, frontier.is_open
    (4.0, False)
    """

    def __init__(self, ceiling: Callable[[], float], *, newest_first: bool = False) -> None:
        """`newest_first`: which one comes first of nodes with equal bounds."""
        self.ceiling = ceiling
        self.settled = np.inf
        self._open: list[_Open[N]] = []
        self._orders = count(0, -1 if newest_first else 1)

    def __len__(self) -> int:
        """How many nodes are left."""
        return len(self._open)

    def put(self, bound: float, node: N) -> None:
        """Add a node in which nothing is below a bound."""
        heapq.heappush(self._open, _Open(bound, next(self._orders), node))

    def pop(self) -> tuple[float, N]:
        """Take the node with the lowest bound. Whoever takes it puts back its parts, settles it, or has seen all of it."""
        bound, _, node = heapq.heappop(self._open)
        return bound, node

    def settle(self, bound: float) -> None:
        """Look no further into a node with this bound, although it may hold something better."""
        self.settled = min(self.settled, bound)

    @property
    def next_bound(self) -> float:
        """The lowest bound of a node that is left; infinite if none is."""
        return self._open[0].bound if self._open else np.inf

    @property
    def lowest(self) -> float:
        """What nothing is below, of all that was not looked at."""
        return min(self.next_bound, self.settled)

    @property
    def is_open(self) -> bool:
        """Whether a node is left that is worth a look."""
        return self.next_bound < self.ceiling()
