"""Compiled: proofs that no point of a box meets the half-spaces."""

from __future__ import annotations

import numpy as np

from butfor.compiled.kernel import kernel
from butfor.solvers.oblique.polytope.columns import FARKAS_ROUNDING, HALF_SPACE_ROUNDING


@kernel
def impossible(need, columns, box, mix, push):  # type: ignore[no-untyped-def]
    """Whether no point of the box meets a mix of the half-spaces (Farkas).

    `push` is B' mix.
    """
    lack, size = 0.0, 0.0
    for i in range(len(mix)):
        lack += mix[i] * need[i]
        size += mix[i] * (1.0 + abs(need[i]))
    for j in range(len(columns.up)):
        lack -= push[j] * (box.high[j] if push[j] > 0.0 else box.low[j])
    for k in range(len(columns.group) - 1):
        lack -= _largest(columns, box, k, push)
    return lack > FARKAS_ROUNDING * size


@kernel
def out_of_reach(spaces, columns, box):  # type: ignore[no-untyped-def]
    """Whether some half-space lies beyond the reach of all columns together."""
    B, need = spaces.B, spaces.need
    for i in range(len(B)):
        reach, size = 0.0, 1.0
        for j in range(len(columns.up)):
            part = B[i, j] * (box.high[j] if B[i, j] > 0.0 else box.low[j])
            reach += part
            size += abs(part)
        for k in range(len(columns.group) - 1):
            part = _largest(columns, box, k, B[i])
            reach += part
            size += abs(part)
        if reach < need[i] - HALF_SPACE_ROUNDING * size:
            return True
    return False


@kernel
def _largest(columns, box, k, push):  # type: ignore[no-untyped-def]
    """The largest push among the options alive of group k."""
    top = -np.inf
    for v in range(columns.group[k], columns.group[k + 1]):
        if box.alive[v]:
            top = max(top, push[len(columns.up) + v])
    return top
