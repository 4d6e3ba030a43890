"""Which of many are drawn at random."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from butfor.arrays import IntArray
from butfor.errors import InputError


def drawn(count: int, sample: Any, seed: int) -> IntArray:
    """Some of `count`, in order: a random share or number of them (`sample`), or all of them."""
    if sample is None:
        return np.arange(count)
    message = (f"sample={sample!r} was given.", "It must be a share such as 0.1, or a whole number of at least 1.")
    if isinstance(sample, bool) or not isinstance(sample, int | float | np.number):
        raise InputError(*message)
    share = isinstance(sample, float | np.floating)
    if not (0 < sample <= 1 if share else sample >= 1):
        raise InputError(*message)
    size = math.ceil(sample * count) if share else min(int(sample), count)
    return np.sort(np.random.default_rng(seed).choice(count, size, replace=False))
