"""What is told of a search for a robust answer, in the log."""

from __future__ import annotations

from butfor.log import LOG


def tell_round(number: int, bound: float, cost: float) -> None:
    """One more round is over: no robust answer costs less than `bound`, and the best so far costs `cost`."""
    LOG.debug("robust answer, round %d: %.6g is the best so far, and none costs less than %.6g", number, cost, bound)
