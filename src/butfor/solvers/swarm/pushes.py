"""All ways to push one feature of a point. A search may try each as a step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.solvers.swarm.hypercube import Hypercube
from butfor.solvers.swarm.layout import GROUP, NUMBER


@dataclass(frozen=True, eq=False)
class Pushes:
    """All ways to push one feature. A number goes up or down, a rank or category to a value.

    - `feature`, `coordinate` (pushes): what is pushed;
    - `share` (pushes): for a number, the share of its largest possible push (negative: down);
    - `code` (pushes): for a rank or category, the value; -1 for a number.
    """

    feature: IntArray
    coordinate: IntArray
    share: FloatArray
    code: IntArray

    @classmethod
    def of(cls, cube: Hypercube, shares: FloatArray) -> Pushes:
        """The pushes in a hypercube. Numbers are pushed by `shares` of their largest possible push."""
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
        """Which pushes each of the rows may make (rows, pushes)."""
        slot = np.where(self.code < 0, cube.allowed.shape[1], cube.place[self.feature] + self.code)
        allowed = np.pad(cube.allowed, ((0, 0), (0, 1)), constant_values=True)
        return np.asarray(cube.free[rows][:, self.feature] & allowed[rows][:, slot])

    def pushed(
        self, cube: Hypercube, rows: IntArray, positions: FloatArray, reach: FloatArray, which: IntArray, push: IntArray
    ) -> FloatArray:
        """The positions of the climbers `which`, each after one push.

        A number is not pushed farther than `reach`.
        """
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
