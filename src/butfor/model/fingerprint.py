"""A hash of what a model computes. Equal models have the same hash in every process."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from butfor.model.questions import Model, arrays_to_hash, is_read


def fingerprint(model: Model, classes: tuple[Any, ...]) -> str:
    """The hash as text. Empty for a model that was not read."""
    if not is_read(model):
        return ""
    digest = hashlib.sha256(repr(classes).encode())
    for array in arrays_to_hash(model):
        digest.update(str(array.shape).encode())
        digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return digest.hexdigest()[:16]
