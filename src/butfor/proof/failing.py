"""Why a claim is not proven."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from butfor.proof.checker import checker


class CheaperError(Exception):
    """The claim is false, as far as sums tell: these cells or numbers, one for each column, cost less and reach the goal.

    numbers: of columns that relations are about, the number in the cell
    """

    def __init__(self, chosen: Sequence[Any], numbers: Mapping[int, float] | None = None) -> None:
        super().__init__()
        self.chosen, self.numbers = chosen, numbers or {}


class TooWideError(CheaperError):
    """Cells are too wide for a claim about curves: at these numbers of columns they would have to end."""

    def __init__(self, chosen: Sequence[Any], ends: Mapping[int, set[float]]) -> None:
        super().__init__(chosen)
        self.ends = ends


class BesideError(Exception):
    """What is missing of the claim is only what numbers beside a grid are spared: no more than a share of it is proven."""

    def __init__(self, share: float) -> None:
        super().__init__(share)
        self.share = share


class UnprovenError(Exception):
    """The time is over, the claim is too bold by less than sums tell, or the checker does not take it, as words say."""


@contextmanager
def taken() -> Iterator[None]:
    """What is asked in here is not proven if the checker does not take it, such as numbers that are larger than it counts."""
    try:
        yield
    except checker().Wrong as wrong:
        raise UnprovenError(f"the checker does not take it: {wrong}") from None
