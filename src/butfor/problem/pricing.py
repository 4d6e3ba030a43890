"""The prices of a question: those of its cost, where what follows from other columns costs nothing."""

from __future__ import annotations

from collections.abc import Iterable

from butfor.problem.costs import AbstractCost, price
from butfor.problem.prices import Prices
from butfor.space.space import Space


def price_beside(cost: AbstractCost, space: Space, following: Iterable[str]) -> Prices:
    """The prices of a cost, where columns that follow from others change for nothing."""
    columns = [space.index(name) for name in following]
    prices = price(cost, space)
    return prices.without(columns) if columns else prices
