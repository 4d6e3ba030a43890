"""What JSON holds: plain values, and errors in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from butfor.errors import ButforError

Json = dict[str, Any]


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value)


def finite(number: float | None) -> float | None:
    """A number as JSON has it: infinity and what is no number are null."""
    return None if number is None or not math.isfinite(number) else float(number)


def refused(error: ButforError) -> Json:
    """An error as JSON: what was given, what is needed, what to do."""
    return {"kind": type(error).__name__, "given": error.given, "needed": error.needed, "remedy": error.remedy}
