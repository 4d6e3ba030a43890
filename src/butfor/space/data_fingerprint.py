"""A hash of the values of a table. Equal tables have the same hash, in every library and in every process."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from butfor.space import frames

HASHED_AS_NUMBERS = ("float", "float32", "int", "bool")
"""The types whose values are hashed as numbers. A whole number is the same in each."""


def data_fingerprint(table: Any) -> str:
    """The hash as text. The order of rows and columns counts; labels of rows do not."""
    digest, frame = hashlib.sha256(), frames.opened(table)
    for position, name in enumerate(frames.names(table)):
        digest.update(json.dumps(name).encode())
        digest.update(_column(frame, name, position))
    return digest.hexdigest()[:16]


def _column(frame: Any, name: str, position: int) -> bytes:
    """The values of a column. All missing values are the same, and 0 has no sign."""
    if frames.dtype(frame, name) in HASHED_AS_NUMBERS:
        numbers = frames.numbers(frame, name, position) + 0.0
        return np.where(np.isnan(numbers), np.nan, numbers).astype("<f8").tobytes()
    return json.dumps(frames.values(frame, name, position), default=str).encode()
