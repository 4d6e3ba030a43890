"""What it costs that a value becomes missing, or known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from butfor.errors import InputError, suggests
from butfor.problem.costs import Term
from butfor.problem.prices import Prices
from butfor.problem.weights import per_column, shown
from butfor.space.space import Space


@suggests
@dataclass(frozen=True)
class Missing(Term):
    """What it costs that a value becomes missing (`lost`), or a missing one known (`found`), whatever other terms say.

    Without it, L1, L2 and L0 charge their weight for either, as for a change by a whole range. Choose it if finding something
    out is cheap, or if leaving it out is not. Each is a number for all columns that may be missing, or one per column.
    That a value may become missing at all is allowed by `bf.may_be_missing`.

    >>> from butfor import L1
    >>> L1() + Missing(found={"savings": 0.1})
    L1() + Missing(found={'savings': 0.1})
    """

    comes_last: ClassVar[bool] = True

    lost: float | Mapping[str, float] | None = None
    found: float | Mapping[str, float] | None = None

    def add_to(self, prices: Prices, weight: float, space: Space) -> Prices:
        """Prices in place of those of other terms."""
        if self.lost is None and self.found is None:
            raise InputError("bf.Missing() was given.", "It needs lost=, found=, or both.")
        lost, found = (
            {j: weight * price for j, price in self._each(word, given, space).items()}
            for word, given in (("lost", self.lost), ("found", self.found))
        )
        return prices.with_missing(lost, found)

    def _each(self, word: str, given: float | Mapping[str, float] | None, space: Space) -> dict[int, float]:
        """The price of each column that has one."""
        able = [feature.name for feature in space.features if feature.missing]
        if given is None:
            return {}
        if not able:
            raise InputError(
                f"bf.Missing({word}={given!r}) was given.",
                "No column takes missing values.",
                "Leave it out, or give data with missing values.",
            )
        named = given if isinstance(given, Mapping) else dict.fromkeys(able, given)
        priced = per_column(named, space, 0.0, "price")
        never = [name for name in named if str(name) not in able]
        if never:
            raise InputError(
                f"bf.Missing({word}=...) has a price for {', '.join(map(repr, never))}.",
                "The model, or the space, takes no missing values there.",
                f"The columns that may be missing are {', '.join(able)}.",
            )
        return {space.index(name): float(priced[space.index(name)]) for name in named}

    def __repr__(self) -> str:
        given = {"lost": self.lost, "found": self.found}
        listed = (f"{word}={shown(price)}" for word, price in given.items() if price is not None)
        return f"Missing({', '.join(listed)})"
