"""What a program costs at least: what HiGHS says of it, and what is proven."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from butfor.compiled.clock import now


class CostClaim:
    """What HiGHS says that a program costs at least.

    It may steer a search: which round is the last, or whether another place is looked at. So what it says is no number that
    could be handed out. The only number is what `proven` derives, once, when a bound is to be told.

    >>> claim = CostClaim(3.0, lambda: 2.0)
    >>> claim.reaches(2.5), claim.proven(), claim.holds
    (True, 2.0, False)
    """

    def __init__(self, said: float, derive: Callable[[], float], until: float = np.inf) -> None:
        """`derive` has time `until` then."""
        self._said, self._derive, self._until = said, derive, until
        self._own: float | None = None
        self._parts: tuple[CostClaim, ...] = (self,)
        self.late = False
        """Whether the time was over when it was derived."""

    @staticmethod
    def of(bound: float) -> CostClaim:
        """A bound that is proven already."""
        return CostClaim(bound, lambda: bound)

    @property
    def is_none(self) -> bool:
        """Whether it is said that there is no point at all."""
        return self._said == np.inf

    @property
    def holds(self) -> bool:
        """Whether what is proven reaches what is said."""
        return self.proven() >= self._said

    def reaches(self, cost: float) -> bool:
        """Whether it is said that nothing costs less."""
        return self._said >= cost

    def proven(self) -> float:
        """A bound of our own, up to what is said if that is a number."""
        if self._own is None:
            self._own = self._derive()
            self.late = now() > self._until
        return self._own

    def higher(self, later: CostClaim) -> CostClaim:
        """The one of two claims that says more; the later one of equals."""
        return self if self._said > later._said else later

    def and_no_less(self, other: CostClaim) -> CostClaim:
        """What is said if both parts of something cost so much."""
        parts = (*self._parts, *other._parts)  # side by side: nested, hundreds of them would be too deep
        both = CostClaim(
            min(self._said, other._said), lambda: min(part.proven() for part in parts), min(self._until, other._until)
        )
        both._parts = parts
        return both
