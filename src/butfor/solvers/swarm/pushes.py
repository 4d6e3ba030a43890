"""All ways to push one feature of a point, each a step that a search may try."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.solvers.swarm.hypercube import Hypercube
from butfor.solvers.swarm.kernels import GROUP, NUMBER


@dataclass(frozen=True, eq=False)
class Pushes:
    """All ways to push one feature: a number up or down by a share of what it may, a rank or category to a value."""

    feature: IntArray
    coordinate: IntArray
    share: FloatArray
    code: IntArray

    @classmethod
    def of(cls, cube: Hypercube, shares: FloatArray) -> Pushes:
        """Those of a hypercube; numbers are pushed by `shares` of what they may."""
        rows: list[tuple[int, int, float, int]] = []
        for j, kind in enumerate(cube.kind.tolist()):
            i, codes = int(cube.first[j]), range(int(cube.place[j + 1] - cube.place[j]))
            if kind == NUMBER:
                rows += [(j, i, sign * push, -1) for push in shares.tolist() for sign in (1.0, -1.0)]
            else:
                rows += [(j, i + code * (kind == GROUP), 0.0, code) for code in codes]
        feature, coordinate, share, code = np.array(rows, dtype=np.float64).T
        return cls(feature.astype(np.intp), coordinate.astype(np.intp), share, code.astype(np.intp))

    def able(self, cube: Hypercube, rows: IntArray) -> BoolArray:
        """Those that each of the rows may make."""
        slot = np.where(self.code < 0, cube.allowed.shape[1], cube.place[self.feature] + self.code)
        allowed = np.pad(cube.allowed, ((0, 0), (0, 1)), constant_values=True)
        return np.asarray(cube.free[rows][:, self.feature] & allowed[rows][:, slot])

    def pushed(
        self, cube: Hypercube, rows: IntArray, positions: FloatArray, reach: FloatArray, which: IntArray, push: IntArray
    ) -> FloatArray:
        """The positions of `which` of some climbers of these rows, with one push each; numbers no farther than `reach`."""
        out, at, row = positions[which], np.arange(len(which)), rows[which]
        feature, i, code = self.feature[push], self.coordinate[push], self.code[push]
        kind, lower, upper = cube.kind[feature], cube.lower[row, i], cube.upper[row, i]
        group = np.flatnonzero(kind == GROUP)
        out[group] = np.where(cube.owner == feature[group, None], 0.0, out[group])
        far = self.share[push] * np.minimum(reach[which, i], upper - lower)
        number = np.clip(out[at, i] + far, lower, upper)
        rank = (code - cube.start[row, feature]) / cube.width[feature]
        out[at, i] = np.where(kind == GROUP, 1.0, np.where(kind == NUMBER, number, rank))
        return out
