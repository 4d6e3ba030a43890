"""Whether a shift leads a row into a leaf of an oblique tree, by linear programs over the decisions on the way.

Let `z + A s` tell how firmly each decision is taken for the shift s, in units of what shifts can change in it. The leaf is
reached iff the largest `min_i (z + A s)_i` is not negative. For any weights w >= 0 that sum to 1, it is at most
`w z + max_s w A s`. So the weights of the program are a proof, whatever its rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.linear import Linear, evaluate_linear
from butfor.model.oblique import ObliqueTree, Path
from butfor.neighbours.ball import BallNorm
from butfor.neighbours.shifts import Shifts
from butfor.programs.growing import PRECISE_PROGRAM

TERMS_ROUNDING = 1e-13
"""The share of the size of its terms that rounding may change in a decision. Within that, it is not taken firmly."""

DEPTH_STEPS = 30
"""The largest number of steps to the depth within a round ball. A handful is usual."""

NO_WEIGHT = 1e-12
"""The share of the largest weight below which a weight is 0."""

NO_SHIFT = 1e-13
"""The residual of a least distance problem without a solution."""

PARTS_OF_SHIFTS = 200
"""Into how many parts the whole steps of a ball are divided before the rest is left undecided."""


class Reached(Enum):
    """Whether some shift leads into a leaf."""

    NO = 0
    """None does, firmly."""
    PERHAPS = 1
    """Rounding decides."""
    YES = 2
    """One does, firmly, or in whole steps that the tree itself was asked about."""


class WayIn(NamedTuple):
    """What is known about the way into a leaf.

    - `depth`: at most by so much can all decisions be taken at once;
    - `shift`: one that leads there, or nearly;
    - `weights` (decisions on the path): those that prove it, for scores that are not in units of their size.
    """

    reached: Reached
    depth: float
    shift: FloatArray
    weights: FloatArray


def size_of_terms(gates: Linear, far: FloatArray) -> FloatArray:
    """The largest sum of the sizes of the terms of each decision, for numbers of at most this size."""
    size = np.abs(gates.intercept) + gates.cancelled + gates.added_slope @ (far + np.abs(gates.centre))
    return np.asarray(size + gates.largest_step.sum(axis=1))


@dataclass(eq=False)
class LeafReach:
    """Tells for the leaves of a tree whether shifts of a point reach them.

    - `sums`: the score of each decision at the point;
    - `slopes`: how they rise with each feature;
    - `size`: what shifts can change in each, or its own size if they can change nothing;
    - `doubt`: how firmly each must be taken, in units of its size.
    """

    model: ObliqueTree
    point: FloatArray
    shifts: Shifts
    sums: FloatArray = field(init=False)
    slopes: FloatArray = field(init=False)
    size: FloatArray = field(init=False)
    doubt: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        gates, known = self.model.gates, ~np.isnan(self.point)
        self.sums = evaluate_linear(gates, self.point[None])[0]
        self.slopes = np.where(known, gates.slope, 0.0)
        change = (self.shifts.most(self.slopes) + self.shifts.most(-self.slopes)) / 2
        own = np.where(self.sums != 0, np.abs(self.sums), 1.0)
        self.size = np.where(change > 0, change, own)
        far = np.where(known, np.abs(self.point), 0.0) + np.maximum(-self.shifts.low, self.shifts.high)
        self.doubt = TERMS_ROUNDING * size_of_terms(gates, far) / self.size

    def into(self, path: Path) -> WayIn:
        """Whether some shift leads into the leaf at the end of a path."""
        at, size = path.gates, self.size[path.gates]
        scale = np.where(path.right, 1.0, -1.0) / size
        found = self._over_parts(path, scale * self.sums[at], scale[:, None] * self.slopes[at], self.doubt[at])
        return found._replace(weights=found.weights / size)

    def _over_parts(self, path: Path, z: FloatArray, A: FloatArray, doubt: FloatArray) -> WayIn:
        """As `into`, for `z + A s`. Shifts are divided at whole steps while they decide."""
        pending, best = [self.shifts], WayIn(Reached.NO, -np.inf, np.zeros(len(self.point)), np.zeros(len(z)))
        for _ in range(PARTS_OF_SHIFTS):
            if not pending:
                return best
            part = pending.pop()
            found = self._of_part(path, z, A, doubt, part)
            if found.reached is Reached.YES:
                return found
            if found.reached is Reached.PERHAPS and (j := self._steps_left(part, found.shift)) is not None:
                pending += part.parts(j, float(found.shift[j]))
            elif (found.reached.value, found.depth) > (best.reached.value, best.depth):
                best = found
        return best._replace(reached=Reached.PERHAPS)

    def _of_part(self, path: Path, z: FloatArray, A: FloatArray, doubt: FloatArray, shifts: Shifts) -> WayIn:
        """As `_over_parts`, for some of the shifts. Whole steps are perhaps not heeded."""
        alone = z + shifts.most(A)
        if not len(z):
            return WayIn(Reached.YES, np.inf, np.zeros(len(self.point)), z)
        if (alone + doubt).min() < 0:
            worst = int((alone + doubt).argmin())
            return WayIn(Reached.NO, float(alone[worst]), np.zeros(len(self.point)), np.eye(len(z))[worst])
        weights, shift = _deepest(z, A, shifts)
        depth = float(weights @ z + shifts.most((weights @ A)[None])[0])
        if depth < -float(weights @ doubt):
            return WayIn(Reached.NO, depth, shift, weights)
        inside, fixed = shifts.brought_in(shift), shifts.low == shifts.high
        if (z + A @ inside > doubt).all():
            return WayIn(Reached.YES, depth, inside, weights)
        if (fixed | (shifts.step > 0)).all() and self.model.leaf((self.point + inside)[None])[0] == path.node:
            return WayIn(Reached.YES, depth, inside, weights)
        if fixed.all():
            return WayIn(Reached.NO, depth, inside, weights)
        return WayIn(Reached.PERHAPS, depth, shift, weights)

    def _steps_left(self, shifts: Shifts, shift: FloatArray) -> int | None:
        """A feature that is shifted in whole steps and may still take several: the one furthest from a whole step."""
        open_steps = np.flatnonzero((shifts.step > 0) & (shifts.low < shifts.high))
        if not len(open_steps):
            return None
        share = shift[open_steps] / shifts.step[open_steps]
        return int(open_steps[np.abs(share - np.round(share)).argmax()])


def _deepest(z: FloatArray, A: FloatArray, shifts: Shifts) -> tuple[FloatArray, FloatArray]:
    """Weights whose proof is best, and a shift for which the least decision is taken by most."""
    moved = np.flatnonzero((shifts.low < shifts.high) & A.any(axis=0))
    shift = np.clip(0.0, shifts.low, shifts.high)
    if not len(moved) or len(z) == 1:
        alone = z + shifts.most(A)
        weights = np.eye(len(z))[int(alone.argmin())]
        return weights, _furthest(weights @ A, shifts)
    scale = np.maximum(np.abs(shifts.low), np.abs(shifts.high))[moved]
    norm = BallNorm.LINF if shifts.ball is None else shifts.ball.norm
    if norm is BallNorm.L2:
        weights, u = _deepest_in_ball(z, A[:, moved] * scale)
    else:
        ends = shifts.low[moved] / scale, shifts.high[moved] / scale
        fixed = A @ np.where(np.isin(np.arange(len(shift)), moved), 0.0, shift)
        weights, u = _deepest_by_program(z + fixed, A[:, moved] * scale, ends, sizes=norm is BallNorm.L1)
    shift[moved] = scale * u
    return weights, shift


def _deepest_by_program(
    z: FloatArray, A: FloatArray, ends: tuple[FloatArray, FloatArray], *, sizes: bool
) -> tuple[FloatArray, FloatArray]:
    """The largest `min_i (z + A u)_i` for u between two ends, perhaps with a sum of `sizes` of at most 1."""
    from scipy import optimize

    d = A.shape[1]
    rows, most = np.column_stack([-A, np.ones(len(z))]), z
    bounds = np.column_stack([np.append(ends[0], -np.inf), np.append(ends[1], np.inf)])
    cost = np.append(np.zeros(d), -1.0)
    if sizes:  # one more variable per shift
        unit, none = np.eye(d), np.zeros((d, 1))
        rows = np.vstack([
            np.pad(rows, ((0, 0), (0, d))), np.block([[unit, none, -unit], [-unit, none, -unit]]),
            np.append(np.zeros(d + 1), np.ones(d)),
        ])  # fmt: skip
        most, cost = np.concatenate([z, np.zeros(2 * d), [1.0]]), np.pad(cost, (0, d))
        bounds = np.vstack([bounds, np.tile([0.0, 1.0], (d, 1))])
    minimise: Any = optimize.linprog
    found = minimise(cost, rows, most, bounds=bounds, options=PRECISE_PROGRAM)
    if found.x is None:
        return _normal(np.ones(len(z))), np.clip(0.0, *ends)
    return _normal(np.maximum(-found.ineqlin.marginals[: len(z)], 0.0)), found.x[:d]


def _deepest_in_ball(z: FloatArray, A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same for u of a length of at most 1, by Newton's method on the depth t.

    The shortest u with `z + A u >= t` is a least distance problem (Lawson and Hanson, "Solving least squares problems",
    1974, chapter 23). Its multipliers w give a smaller t, at which `w z + |w A|` is the depth.
    """
    from scipy import optimize

    alone = z + np.linalg.norm(A, axis=1)
    weights, depth, u = np.eye(len(z))[int(alone.argmin())], float(alone.min()), np.zeros(A.shape[1])
    for _ in range(DEPTH_STEPS):
        price, _ = optimize.nnls(np.vstack([A.T, depth - z]), np.append(np.zeros(A.shape[1]), 1.0))
        left = 1.0 - float(price @ (depth - z))
        u = price @ A / left if left > NO_SHIFT else u  # no shift is as deep, however long
        better = _normal(price)
        lower = float(better @ z + np.linalg.norm(better @ A))
        if lower >= depth:
            break
        weights, depth = better, lower
    return weights, u / max(1.0, float(np.linalg.norm(u)))


def _normal(price: FloatArray) -> FloatArray:
    """Weights that sum to 1. Tiny ones are rounding."""
    price = np.where(price > NO_WEIGHT * price.max(), price, 0.0)
    return np.asarray(price / price.sum() if price.any() else np.full(len(price), 1 / len(price)))


def _furthest(slope: FloatArray, shifts: Shifts) -> FloatArray:
    """The shift by which a linear score rises most."""
    if shifts.ball is not None:
        return shifts.ball.worst_shift(-slope)
    return np.asarray(np.where(slope > 0, shifts.high, shifts.low))
