"""Checks of the arguments of the discretiser and of the surrogate."""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.errors import InputError, InputTypeError, number

SCALES = ("range", "std", "mad", "none")
"""What counts as one unit of a column, as in the costs."""


def share(name: str, value: Any) -> float:
    """A number from 0 to 1."""
    message = (f"{name}={value!r} was given.", "It must be a number from 0 to 1.")
    if not 0 <= number(_plain(value), *message) <= 1:
        raise InputError(*message)
    return float(value)


def weight(name: str, value: Any) -> float:
    """A finite number that is not negative."""
    message = (f"{name}={value!r} was given.", "It must be a finite number, 0 or more.")
    if not 0 <= number(_plain(value), *message) < np.inf:
        raise InputError(*message)
    return float(value)


def whole(name: str, value: Any, least: int) -> int:
    """A whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputTypeError(f"{name}={value!r} was given.", f"It must be a whole number, {least} or more.")
    if value < least:
        raise InputError(f"{name}={value!r} was given.", f"It must be {least} or more.")
    return int(value)


def one_of(name: str, value: Any, known: tuple[str, ...]) -> str:
    """One of a few words."""
    if value not in known:
        raise InputError(f"{name}={value!r} was given.", f"It must be one of {', '.join(map(repr, known))}.")
    return str(value)


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python."""
    return value.item() if isinstance(value, np.generic) else value
