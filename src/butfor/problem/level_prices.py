"""The prices that a user gives for changes between the levels of a column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError, InputTypeError, number
from butfor.problem.prices import Price
from butfor.space.feature import Feature


def level_table(feature: Feature, price: Mapping[Any, float] | Price) -> FloatArray:
    """The prices (before, after) between the levels of a feature. "Missing" is the last one."""
    assert feature.levels is not None
    if not callable(price):
        _check_keys(feature, price)
    values = (*feature.levels, None)
    table = np.zeros((len(values), len(values)))
    for i, before in enumerate(values):
        for k, after in enumerate(values):
            if i != k:
                table[i, k] = _price(feature, price, before, after)
    if np.isnan(table).any() or (table < 0).any():
        raise InputError(f"the prices of {feature.name!r} hold a negative price or NaN.", "Prices must be at least 0.")
    return table


def _price(feature: Feature, price: Mapping[Any, float] | Price, before: Any, after: Any) -> float:
    """The price of one change; infinite if a table does not name it."""
    if callable(price):
        found: Any = price(before, after)
        found = found.item() if isinstance(found, np.ndarray) and found.size == 1 else found
    else:
        found = price.get((before, after), price.get(after, np.inf))
    if isinstance(found, float):  # a table has thousands, and the words below are long
        return found
    said = f"the price of {feature.name!r} from {before!r} to {after!r} is {found!r}."
    return number(found, said, "It must be a number of at least 0.")


def _check_keys(feature: Feature, price: Any) -> None:
    """Refuse a table that is none, or that names a level which the column does not have."""
    assert feature.levels is not None
    if not isinstance(price, Mapping):
        raise InputTypeError(
            f"the prices of {feature.name!r} are {price!r}.",
            "They must be a dict {(before, after): price} or {after: price}, or a callable price(before, after).",
        )
    for key in price:
        for level in key if isinstance(key, tuple) else (key,):
            if level is not None and level not in feature.levels:
                raise InputError(
                    f"the price table of {feature.name!r} names {level!r}.", f"Its values are {feature.describe()}."
                )
