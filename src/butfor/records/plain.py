"""Values as JSON has them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """A value as JSON has it. Infinity, and what is no number, are None; other objects are written as text."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return [plain(one) for one in value] if isinstance(value, list) else str(value)
