"""What JSON holds: plain values, and errors in words."""

from __future__ import annotations

import math
from typing import Any

from butfor.errors import ButforError

Json = dict[str, Any]


def finite(number: float | None) -> float | None:
    """A number as JSON has it: infinity and what is no number are null."""
    return None if number is None or not math.isfinite(number) else float(number)


def refused(error: ButforError) -> Json:
    """An error as JSON: what was given, what is needed, what to do."""
    return {"kind": type(error).__name__, "given": error.given, "needed": error.needed, "remedy": error.remedy}
