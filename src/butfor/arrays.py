"""The kinds of arrays that all layers pass on, and single values of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


def plain(value: Any) -> Any:
    """A value of numpy as Python's own, so that it prints as it is written; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value
