"""The least concave function above units of a network over a box, as planes.

What a unit passes on, `max(z, leak z)` with `z = c + r @ v`, is convex in v, and from corner to corner of the box it is
supermodular. So its concave envelope is its Lovász extension: sort the features by their share of the way to the end at
which z is largest, and go there in this order (Tjandraatmadja et al., "The convex relaxation barrier, revisited",
NeurIPS 2020).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from butfor.arrays import FloatArray

ENVELOPE_ROUNDING = 1e-13
"""The share of the size of its terms by which a plane is raised, for the rounding of its sums."""


class Planes(NamedTuple):
    """One plane per unit: what the unit passes on is at most `offset + slope @ v`."""

    slope: FloatArray
    offset: FloatArray


def envelope(
    reach: FloatArray, constant: FloatArray, leak: FloatArray, low: FloatArray, high: FloatArray, at: FloatArray
) -> Planes:
    """For each unit (`reach`: units, variables) the plane of its envelope over the box that is lowest at a point."""
    wide = high - low
    share = np.clip((at - low) / np.where(wide > 0, wide, 1.0), 0.0, 1.0)
    rising = reach >= 0
    first = np.argsort(-np.where(rising, share, 1 - share), axis=1, kind="stable")
    start = constant + np.where(rising, reach * low, reach * high).sum(axis=1)
    z = start[:, None] + np.cumsum(np.take_along_axis(np.abs(reach) * wide, first, axis=1), axis=1)
    z = np.concatenate([start[:, None], z], axis=1)
    passed = np.maximum(z, leak[:, None] * z)
    gain = np.empty_like(reach)
    np.put_along_axis(gain, first, np.diff(passed, axis=1), axis=1)
    slope = np.where(rising, gain, -gain) / np.where(wide > 0, wide, 1.0)
    terms = np.abs(constant) + np.abs(reach) @ np.maximum(np.abs(low), np.abs(high))
    offset = passed[:, 0] - np.where(rising, slope * low, slope * high).sum(axis=1) + ENVELOPE_ROUNDING * terms
    return Planes(slope, offset)
