"""The mean of several monotone functions, each of its own sum of scores: calibrated ensembles, and votes of unlike models.

The set of scores whose mean is large enough is curved, and need not be convex. On a box of sums, straight lines above
the functions hold it in a half-space (see docs/decisions/033-blends.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.model.float_order import last_number
from butfor.model.monotone import STEP_ROUNDINGS, Capped, Complement, Exponential, MonotoneFunction, Scaled
from butfor.model.scores import UNIT_DOUBLE, AbstractCurve, Doubt, ScoreSet, Softmax, all_of

SAMPLES = 129
"""At how many places a function is looked at to find a line above it."""

FIRM, PERHAPS, NOMINAL = 1, -1, 0
"""Scores that are surely in the set, scores that are perhaps, and those that are without regard to rounding."""


@dataclass(frozen=True, eq=False)
class Blend(AbstractCurve):
    """The scores whose weighted sum of functions, times `sign`, is at least `least`.

    - `rows` (members, scores): the sum that each function depends on is `rows[m] @ scores`;
    - `weights` (members): of either sign. Those of a mean add up to 1;
    - `off` (members): by how much each sum may be off;
    - `side`: whether the scores are surely in it, perhaps, or by our own numbers;
    - `below`, `above`: the estimator surely says no below `least - below`, and yes above `least + above`.
    """

    rows: FloatArray
    weights: FloatArray
    functions: tuple[MonotoneFunction, ...]
    least: float
    sign: float = 1.0
    off: FloatArray | float = 0.0
    side: int = NOMINAL
    below: float = 0.0
    above: float = 0.0

    def widened(self, doubt: Doubt) -> Blend:
        return self._moved(-self.below, doubt, PERHAPS)

    def tightened(self, doubt: Doubt) -> Blend:
        return self._moved(self.above, doubt, FIRM)

    def _moved(self, by: float, doubt: Doubt, side: int) -> Blend:
        off = np.abs(self.rows) @ doubt.scores
        return replace(self, least=self.least + by, off=off, side=side, below=0.0, above=0.0)

    def sums(self, scores: FloatArray) -> FloatArray:
        """The sum of each member (rows, members)."""
        return np.asarray(scores[..., : self.rows.shape[1]] @ self.rows.T)

    def excesses(self, scores: FloatArray) -> FloatArray:
        return self._excesses_of(self.sums(scores))

    def excesses_at(self, sums: FloatArray) -> FloatArray:
        """How far rows of sums are outside."""
        return self._excesses_of(sums)

    def excess_of(self, sums: FloatArray) -> float:
        """How far one row of sums is outside."""
        return float(self._excesses_of(sums))

    def _excesses_of(self, sums: FloatArray) -> FloatArray:
        parts = self.parts_of(sums)
        return np.asarray(self.least - (parts.sum(axis=-1) - self.side * self.rounding * self._size(parts)))

    def _size(self, parts: FloatArray) -> FloatArray:
        """The size of the numbers that are added up and compared."""
        return np.asarray(np.abs(parts).sum(axis=-1) + np.abs(self.weights).sum() + abs(self.least))

    def parts_of(self, sums: FloatArray) -> FloatArray:
        """What each member adds to the mean, for its sum."""
        return np.stack([self.part(m, sums[..., m]) for m in range(len(self.rows))], axis=-1)

    @property
    def ways(self) -> FloatArray:
        """The way in which each sum leads to the set: 1 if it should rise, -1 if it should fall."""
        up = [(self.sign * weight > 0) == f.rises for weight, f in zip(self.weights, self.functions, strict=True)]
        return np.where(up, 1.0, -1.0)

    def is_missed(self, low: FloatArray, high: FloatArray) -> bool:
        """Whether no sums between these ends are in the set."""
        best = self.parts_of(np.where(self.ways > 0, high, low))
        return bool(self.least > best.sum() + 3 * self.rounding * self._size(best))

    def half_space(self, low: FloatArray, high: FloatArray, at: FloatArray) -> tuple[FloatArray, float]:
        """`slopes` and `least`: `slopes @ sums >= least` holds for all sums between the ends that are in the set.

        It is as tight as possible at `at`.
        """
        lines = [self.line(m, *(float(end[m]) for end in (low, high, at))) for m in range(len(self.rows))]
        slopes, heights = (np.array(numbers) for numbers in zip(*lines, strict=True))
        size = self._size(heights) + float(np.abs(slopes) @ np.maximum(np.abs(low), np.abs(high)))
        spare = 2 * self.rounding * size + float(np.abs(slopes) @ np.broadcast_to(self.off, len(low)))
        return slopes, float(self.least - heights.sum() - spare)

    def rise(self, sums: FloatArray, step: FloatArray) -> FloatArray:
        """How much the mean rises with each sum, measured over some steps around them."""
        out = np.zeros(len(sums))
        for m in np.flatnonzero(step).tolist():
            before, after = self.part(m, np.array([sums[m] - step[m], sums[m] + step[m]]))
            out[m] = (after - before) / (2 * step[m])
        return out

    @property
    def rounding(self) -> float:
        """The rounding of the mean, and of that of the other class, with which it is compared."""
        unit = max(function.unit for function in self.functions)
        return 2 * (len(self.functions) + STEP_ROUNDINGS) * unit

    def part(self, member: int, sums: FloatArray) -> FloatArray:
        """What a member adds to the mean: at most (perhaps), or at least (firm)."""
        function, off = self.functions[member], np.broadcast_to(self.off, len(self.functions))[member]
        weight = self.sign * self.weights[member]
        if self.side == NOMINAL:
            return np.asarray(weight * function.at(sums))
        low, high = function.between(sums - off, sums + off)
        return np.asarray(weight * (high if (weight > 0) == (self.side == PERHAPS) else low))

    def level(self, sums: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray | None:
        """How far each sum may move on, within two ends, so that no member gives more, whatever rounding does.

        None if a member may give more at once, or if more of one may be less in all.
        """
        if self.weights.min() < 0:
            return None
        out, firm = np.where(self.ways > 0, high, low), replace(self, side=FIRM)
        for m, way in enumerate(self.ways.tolist()):
            given = firm.part(m, sums[m])

            def no_more(t: FloatArray, m: int = m, way: float = way, given: FloatArray = given) -> BoolArray:
                return np.asarray(self.part(m, way * t) <= given)

            if not no_more(way * sums[m]):
                return None
            if not no_more(way * out[m]):
                out[m] = way * last_number(no_more, way * float(sums[m]), way * float(out[m]))
        return out

    def is_level(self, scores: FloatArray, doubt: Doubt) -> bool:
        wide, sums = self.widened(doubt), self.sums(scores)
        return bool((wide.parts_of(sums) == replace(wide, side=FIRM).parts_of(sums)).all())

    def gaps(self, low: FloatArray, high: FloatArray, at: FloatArray) -> FloatArray:
        """How far the line of each member is above it at `at`."""
        out = np.empty(len(self.rows))
        for m in range(len(out)):
            slope, height = self.line(m, float(low[m]), float(high[m]), float(at[m]))
            out[m] = slope * at[m] + height - self.part(m, np.array([at[m]]))[0]
        return out

    def line(self, member: int, low: float, high: float, at: float) -> tuple[float, float]:
        """A line `slope * x + height` above what a member adds between `low` and `high`, and as low as possible at `at`.

        It is an edge of the hull of samples, each of which stands for its neighbours, too. Between two samples, a
        monotone function is no higher than the higher one.
        """
        if all(isinstance(step, Scaled | Complement) for step in self.functions[member].steps):
            ends = np.array([low, high])
            first, last = self.part(member, ends)
            return _through(low, float(first), high, float(last))
        x = _samples(low, high, at)
        y = self.part(member, x)
        y = np.maximum(y, np.maximum(np.append(y[1:], y[-1]), np.append(y[0], y[:-1])))
        slope, height = _edge_above(x, y, at)
        return slope, height + max(0.0, float((y - slope * x - height).max()))


@dataclass(frozen=True, eq=False)
class Blends(AbstractCurve):
    """The scores that lie in each of some sets, all of which are about the same sums."""

    each: tuple[Blend, ...]

    @classmethod
    def of(cls, curve: AbstractCurve | None) -> Blends:
        """One such set, or several."""
        assert isinstance(curve, Blend | Blends)
        return cls((curve,)) if isinstance(curve, Blend) else curve

    def widened(self, doubt: Doubt) -> Blends:
        return Blends(tuple(blend.widened(doubt) for blend in self.each))

    def tightened(self, doubt: Doubt) -> Blends:
        return Blends(tuple(blend.tightened(doubt) for blend in self.each))

    @property
    def rows(self) -> FloatArray:
        """The sum that each function depends on."""
        return self.each[0].rows

    @property
    def off(self) -> FloatArray:
        """By how much each sum may be off."""
        return np.broadcast_to(self.each[0].off, len(self.rows))

    @property
    def rounding(self) -> float:
        """The largest share of a sum by which it may be rounded."""
        return max(blend.rounding for blend in self.each)

    def excesses(self, scores: FloatArray) -> FloatArray:
        return np.asarray(np.max([blend.excesses(scores) for blend in self.each], axis=0))

    def sums(self, scores: FloatArray) -> FloatArray:
        """The sum of each member (rows, members)."""
        return self.each[0].sums(scores)

    def excesses_of(self, sums: FloatArray) -> FloatArray:
        """How far one row of sums is outside each set."""
        return np.array([blend.excess_of(sums) for blend in self.each])

    @property
    def ways(self) -> FloatArray:
        """The way in which each sum leads to each set (sets, members)."""
        return np.array([blend.ways for blend in self.each])

    def is_missed(self, low: FloatArray, high: FloatArray) -> bool:
        """Whether no sums between these ends are in one of the sets."""
        return any(blend.is_missed(low, high) for blend in self.each)

    def half_spaces(self, low: FloatArray, high: FloatArray, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The half-space of each set: see `Blend.half_space`."""
        slopes, least = zip(*(blend.half_space(low, high, at) for blend in self.each), strict=True)
        return np.array(slopes), np.array(least)

    def rises(self, sums: FloatArray, step: FloatArray) -> FloatArray:
        """How much each mean rises with each sum (sets, members)."""
        return np.array([blend.rise(sums, step) for blend in self.each])

    def gaps(self, low: FloatArray, high: FloatArray, at: FloatArray) -> FloatArray:
        """How far the lines of each member are above it at most."""
        return np.asarray(np.max([blend.gaps(low, high, at) for blend in self.each], axis=0))


def _samples(low: float, high: float, at: float) -> FloatArray:
    """Numbers from `low` to `high`, close together at both ends and around `at`."""
    near = np.geomspace(1e-9, 1.0, SAMPLES // 4)
    ends = np.concatenate([np.linspace(0.0, 1.0, SAMPLES), near, 1.0 - near])
    around = at + (high - low) * np.concatenate([-near, [0.0], near])
    return np.unique(np.clip(np.concatenate([low + (high - low) * ends, around]), low, high))


def _edge_above(x: FloatArray, y: FloatArray, at: float) -> tuple[float, float]:
    """The line through two points, one on each side of `at`, that is highest there: an edge of the hull of all."""
    right = int(np.clip(np.searchsorted(x, at, side="right"), 1, len(x) - 1)) if len(x) > 1 else 0
    if not right:
        return 0.0, float(y.max())
    slopes = (y[right:] - y[:right, None]) / (x[right:] - x[:right, None])
    i, j = np.unravel_index(np.argmax(y[:right, None] + slopes * (at - x[:right, None])), slopes.shape)
    return _through(float(x[i]), float(y[i]), float(x[right + j]), float(y[right + j]))


def _through(x: float, y: float, other: float, value: float) -> tuple[float, float]:
    """The line through two points, raised by its rounding."""
    slope = (value - y) / (other - x) if other > x else 0.0
    spare = 8 * UNIT_DOUBLE * (abs(y) + abs(value) + abs(slope) * (abs(x) + abs(other)))
    return slope, max(y - slope * x, value - slope * other) + spare


OUT_OF_ODDS = 2.0
"""From this share of what the odds of a class allow, another class alone decides, and it does not matter by how much."""


def odds_of_others(curve: Softmax, scores: int, *, below: bool = False) -> Blend:
    """The scores whose softmax gives a class at least (`below`: at most) a probability, as a sum of functions.

    P(l) >= p iff the sum of `exp(s_i - s_l)` over the other classes i is at most (1 - p) / p. At most p is no convex set, so
    no tangent holds it.
    """
    others = np.delete(np.arange(scores), curve.label)
    rows = np.eye(scores)[others]
    rows[:, curve.label] = -1.0
    allowed = float(np.log1p(-curve.p) - np.log(curve.p))
    share = MonotoneFunction((Scaled(1.0, -allowed), Exponential(), Capped(OUT_OF_ODDS)))
    less, more = -float(np.expm1(-curve.doubt)), float(np.expm1(curve.doubt))
    sign, spare = (1.0, (less, more)) if below else (-1.0, (more, less))
    return Blend(rows, np.ones(len(others)), (share,) * len(others), sign, sign, below=spare[0], above=spare[1])


def both(sets: Sequence[ScoreSet]) -> ScoreSet:
    """The scores in one set, or in each of two that may be about means of the same functions."""
    first, *others = sets
    if not others:
        return first
    scores = first.A.shape[1]
    curves = [part.curve for part in sets if part.curve is not None]
    plain = all_of(list(sets), scores)
    if len(curves) < 2:
        return replace(plain, curve=curves[0] if curves else None)
    sums = (odds_of_others(curve, scores) if isinstance(curve, Softmax) else curve for curve in curves)
    return replace(plain, curve=Blends(tuple(blend for curve in sums for blend in Blends.of(curve).each)))
