"""Numbers that a user gives by the names of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from butfor.arrays import FloatArray, plain
from butfor.errors import InputError, InputTypeError, number
from butfor.space.space import Space


def shown(weights: Any) -> str:
    """Weights as a user would write them."""
    return repr({name: plain(weight) for name, weight in weights.items()} if isinstance(weights, Mapping) else weights)


def per_column(given: Mapping[str, float] | None, space: Space, default: float, word: str) -> FloatArray:
    """A number for each feature, from those that are given by name."""
    out = np.full(len(space), default)
    if given is not None and not isinstance(given, Mapping):
        raise InputTypeError(f"{word}s={given!r} was given.", f"It must be a dict {{column: {word}}}.")
    for name, value in (given or {}).items():
        j = space.index(name)
        message = (f"the {word} of {name!r} is {value!r}.", f"A {word} must be finite and not negative.")
        out[j] = number(value, *message)
        if not np.isfinite(out[j]) or out[j] < 0:
            raise InputError(*message)
    return out
