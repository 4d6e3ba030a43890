"""Parts of the rows that are held out in turn, to choose between starts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from butfor.arrays import BoolArray, FloatArray

PARTS = 3


def held_out(X: FloatArray, rng: np.random.RandomState) -> Iterator[BoolArray]:
    """Each random part of the rows, unless there are too few. Equal rows stay together.

    So a row of weight 2 is the same as two rows, and no row is held out while its copy is learnt from.
    """
    row = np.unique(X, axis=0, return_inverse=True)[1].reshape(-1)
    part = rng.permutation(int(row.max()) + 1)[row] % PARTS
    for k in range(PARTS):
        held = part == k
        if held.any() and not held.all():
            yield held
