"""The hypercube in which particles fly, and its conversion to points and back.

It has one coordinate per number or rank, one per level of a category, and one for "missing".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.formulation.choices import choices_of
from butfor.model.grid_points import digits_of, grid_down, grid_up
from butfor.problem.problem import Problem
from butfor.solvers.swarm.kernels import decode
from butfor.solvers.swarm.layout import FREE, GROUP, MISSING, NUMBER, RANK, SINGLE, STAY, Layout, Plan
from butfor.space.feature import Feature
from butfor.space.space import same

BATCH = 4_000_000
"""How many coordinates of positions are held in memory at once."""


@dataclass(frozen=True, eq=False)
class Hypercube:
    """The admissible points of n rows, as positions. Every position decodes to an admissible point.

    - `kind`, `first`, `vanish`, `place`, `allowed`: see `Layout`;
    - `start`, `low`, `high` (n, features): where a number starts, and the smallest and largest value it may move to;
    - `width` (features): the unit of the coordinate;
    - `free`, `missing` (n, features): whether the feature may move, and whether it may be missing;
    - `lower`, `upper` (n, coordinates): the bounds of the positions that are searched.
    """

    problem: Problem
    kind: IntArray
    first: IntArray
    vanish: IntArray
    place: IntArray
    start: FloatArray
    low: FloatArray
    high: FloatArray
    width: FloatArray
    free: BoolArray
    missing: BoolArray
    allowed: BoolArray
    lower: FloatArray
    upper: FloatArray

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return int(self.first[-1])

    @cached_property
    def owner(self) -> IntArray:
        """The feature of each coordinate."""
        return np.repeat(np.arange(len(self.kind)), np.diff(self.first))

    @cached_property
    def impossible(self) -> BoolArray:
        """Which rows have a feature with no admissible value."""
        domain = self.problem.domain
        stuck = ~domain.stay & ~self.missing & (self.low > self.high)
        for j in np.flatnonzero(self.kind != NUMBER):
            stuck[:, j] = ~self.allowed[:, self.place[j] : self.place[j + 1]].any(axis=1)
        return np.asarray(stuck.any(axis=1))

    @cached_property
    def home(self) -> FloatArray:
        """The positions of the factuals."""
        return self.encode(self.problem.factuals, np.arange(len(self.problem)))

    def encode(self, points: FloatArray, rows: IntArray) -> FloatArray:
        """Positions that decode to these points. If a point is not admissible, they decode to a near one."""
        out = np.zeros((len(points), self.size))
        for j in range(len(self.kind)):
            i, value = int(self.first[j]), points[:, j]
            gone = np.isnan(value)
            if self.kind[j] == GROUP:
                last = int(self.first[j + 1]) - 1
                out[np.arange(len(out)), np.where(gone, last, i + np.nan_to_num(value)).astype(np.intp)] = 1.0
                continue
            out[:, i] = np.where(gone, 0.0, (value - self.start[rows, j]) / self.width[j])
            if self.vanish[j] >= 0:
                out[:, self.vanish[j]] = gone
        return out

    @cached_property
    def _layout(self) -> Layout:
        domain = self.problem.domain
        digits = [digits_of(*grid) for grid in zip(domain.step.tolist(), domain.anchor.tolist(), strict=True)]
        return Layout(self.kind, self.first, self.vanish, self.place, self.allowed, np.array(digits).reshape(-1, 3))

    @cached_property
    def _plan(self) -> Plan:
        domain, n = self.problem.domain, len(self.problem)
        x = domain.factuals
        widths, steps, anchors = (np.tile(row, (n, 1)) for row in (self.width, domain.step, domain.anchor))
        still = ~self.free | (self.low > self.high)
        least, greatest = np.where(still, x, self.low), np.where(still, x, self.high)
        outside = domain.stay & ((x < least) | (x > greatest))
        plain = domain.reals() & ~domain.single & (self.vanish < 0) & ~outside.any(axis=0)
        return Plan(
            table=np.stack([x, self.start, self.low, self.high, widths, steps, anchors], axis=2),
            flag=(FREE * self.free + STAY * domain.stay + MISSING * self.missing + SINGLE * domain.single).astype(
                np.int8
            ),
            start=self.start,
            width=self.width,
            least=least,
            greatest=greatest,
            special=np.flatnonzero(~plain),
        )

    def decode(self, positions: FloatArray, rows: IntArray) -> FloatArray:
        """The admissible points nearest to positions (m, size), as changes of the given rows."""
        return np.asarray(decode(positions, rows, self._layout, self._plan, self.problem.most_changes))

    def nearest(self, points: FloatArray, rows: IntArray) -> FloatArray:
        """The admissible points nearest to points (m, features), as changes of the given rows."""
        out = np.empty_like(points)
        for at in self.batches(len(points)):
            out[at] = self.decode(self.encode(points[at], rows[at]), rows[at])
        return out

    def batches(self, count: int) -> list[slice]:
        """So many positions in parts that memory holds."""
        many = max(1, BATCH // self.size)
        return [slice(at, at + many) for at in range(0, count, many)]

    def scaled(self, position: FloatArray) -> FloatArray:
        """Positions scaled so that their distances make sense: a group counts as one feature."""
        return position * np.where(self.kind == GROUP, np.sqrt(0.5), 1.0)[self.owner]

    def reach(self, cost: FloatArray) -> FloatArray:
        """How far each coordinate alone may go from home for a given `cost` (m,).

        Returns (m, size). It is infinite for coordinates that are not numbers.
        """
        prices = self.problem.prices
        spare = cost[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.minimum(spare / prices.l1, np.minimum(np.sqrt(spare / prices.l2), spare / prices.linf))
        far = np.where(np.isnan(far), np.inf, far) / self.width
        out = np.full((len(cost), self.size), np.inf)
        numbers = np.flatnonzero(self.kind == NUMBER)
        out[:, self.first[numbers]] = far[:, numbers]
        return out

    def shrink(self, rows: IntArray, cost: FloatArray) -> None:
        """Restrict these rows to the box around the ball of `cost` about the factual."""
        reach = self.reach(cost)
        known = self.home[rows]
        self.lower[rows] = np.minimum(np.maximum(self.lower[rows], known - reach), self.upper[rows])
        self.upper[rows] = np.maximum(np.minimum(self.upper[rows], known + reach), self.lower[rows])


def hypercube(problem: Problem, active: BoolArray | None = None, box: FloatArray | None = None) -> Hypercube:
    """The hypercube of a problem.

    - `active` (n, d): the features that may move (default: all);
    - `box` (n, d): how far a number may move from the factual (default: no limit).
    """
    domain, features = problem.domain, problem.space.features
    n, d = problem.factuals.shape
    kind = np.array([_kind(feature) for feature in features], dtype=np.intp)
    sizes = [_size(feature, int(k)) for feature, k in zip(features, kind, strict=True)]
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    slots = [0 if f.levels is None else len(f.levels) + f.missing for f in features]
    place = np.concatenate([[0], np.cumsum(slots)]).astype(np.intp)
    start = np.where(np.isnan(problem.factuals), domain.typical, problem.factuals)
    low, high, missing = np.zeros((n, d)), np.zeros((n, d)), np.zeros((n, d), dtype=np.bool_)
    allowed = np.zeros((n, int(place[-1])), dtype=np.bool_)
    room = np.zeros((n, d), dtype=np.bool_)
    for j in range(d):
        choices = choices_of(problem, j)
        missing[:, [j]] = choices.missing
        if kind[j] == NUMBER:
            low[:, [j]], high[:, [j]] = choices.ends
            if box is not None:
                grid = float(domain.step[j]), float(domain.anchor[j])
                low[:, j], high[:, j] = _boxed(low[:, j], high[:, j], start[:, j], box[:, j], *grid)
            room[:, j] = (low[:, j] <= high[:, j]) | domain.missing[:, j]
        else:
            mask = np.isfinite(choices.price(choices.levels))[:, : slots[j]]
            allowed[:, place[j] : place[j + 1]] = mask
            room[:, j] = mask.sum(axis=1) > domain.stay[:, j]
    free = room if active is None else room & (active | ~domain.stay)
    width = np.array(
        [f.range if k == NUMBER else max(1.0, len(f.levels or ()) - 1) for f, k in zip(features, kind, strict=True)],
        dtype=np.float64,
    )
    lower, upper = np.zeros((n, int(first[-1]))), np.zeros((n, int(first[-1])))
    for j in range(d):
        at = slice(int(first[j]), int(first[j + 1]))
        upper[:, at] = free[:, [j]]
        if kind[j] != GROUP:
            ends = (low[:, j], high[:, j]) if kind[j] == NUMBER else (np.zeros(n), np.full(n, width[j]))
            lower[:, first[j]] = np.where(free[:, j], (np.minimum(ends[0], start[:, j]) - start[:, j]) / width[j], 0.0)
            upper[:, first[j]] = np.where(free[:, j], (np.maximum(ends[1], start[:, j]) - start[:, j]) / width[j], 0.0)
    vanish = np.where([feature.missing for feature in features], first[1:] - 1, -1)
    cube = Hypercube(
        problem, kind, first, vanish, place, start, low, high, width, free, missing, allowed, lower, upper
    )  # fmt: skip
    still = ~free[:, cube.owner]
    cube.lower[still] = cube.upper[still] = cube.home[still]
    return cube


def around(box: float | Mapping[str, float] | None, problem: Problem) -> FloatArray | None:
    """How far each number may go from its factual value (n, d). `box` is a setting of the swarm."""
    if box is None:
        return None
    features = problem.space.features
    share = np.array([box.get(f.name, np.inf) if isinstance(box, Mapping) else box for f in features])
    low, width = np.array([f.low for f in features]), np.array([f.range for f in features])
    scaled = np.nan_to_num(np.abs(problem.factuals - low) / width, nan=1.0)
    with np.errstate(invalid="ignore"):
        far = share * scaled * width
    return np.where(np.isnan(far), np.inf, far)


def _kind(feature: Feature) -> int:
    if feature.levels is None:
        return NUMBER
    return RANK if (feature.ordered or len(feature.levels) == 2) and not feature.missing else GROUP


def _size(feature: Feature, kind: int) -> int:
    if kind == GROUP:
        return len(feature.levels or ()) + feature.missing
    return 2 if kind == NUMBER and feature.missing else 1


def _boxed(
    low: FloatArray, high: FloatArray, start: FloatArray, box: FloatArray, step: float, anchor: float
) -> tuple[FloatArray, FloatArray]:
    """The ends of a range, moved to at most `box` from the start. On a grid they are grid points."""
    first, last = start - box, start + box
    if step:
        first, last = grid_up(first, step, anchor), grid_down(last, step, anchor)
    return np.where(first > low, first, low), np.where(last < high, last, high)


def moved(before: FloatArray, after: FloatArray) -> BoolArray:
    """Which features changed."""
    return ~same(before, after)
