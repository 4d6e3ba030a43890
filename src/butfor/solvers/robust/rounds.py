"""What all searches in rounds do: tell how far they are, and stop when no better answer can come."""

from __future__ import annotations

from butfor.log import LOG
from butfor.solvers.outcome import to_beat


def tell_round(number: int, bound: float, cost: float) -> None:
    """One more round is over: no robust answer costs less than `bound`, and the best so far costs `cost`."""
    LOG.debug("robust answer, round %d: %.6g is the best so far, and none costs less than %.6g", number, cost, bound)


def is_closed(bound: float, ceiling: float) -> bool:
    """Whether a bound proves that no row is better than one that costs the ceiling."""
    return bound >= to_beat(ceiling, 1 / 2)


class OutOfTimeError(Exception):
    """The time ended before a ball was judged. Nothing may be said of it."""
