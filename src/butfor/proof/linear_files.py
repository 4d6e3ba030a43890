"""What butfor read of a weighted sum, as a file that the checker reads: weights of columns, and of their levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.importers.read import Reading
from butfor.model.linear import Linear
from butfor.model.rounding import Extent, rounding
from butfor.model.scores import UNIT_DOUBLE
from butfor.proof.model_files import (
    BITS_OF_SUMS,
    AbstractInputs,
    ColumnInputs,
    ModelFile,
    Tells,
    hexes,
    weights_file,
)
from butfor.space.space import Space

SUMS_OF_WEIGHTS = ("value", "logistic", "mean", "score", "largest", "leaves", "votes", "stack")
"""What weighted sums may be, as the checker calls it."""

FOLD_BLUR = 2.0**-44
"""By this share of all its terms a sum may be off besides its additions: what was folded into a weight is several roundings."""


@dataclass(frozen=True)
class MeanCurve:
    """What a mean makes of a sum x: weight times share(x), or x itself if it is straight.

    - `bend`: slope, shift, off; then it is share(slope share(x) + shift), and the line inside may be off by so much;
    - `knots`: points, between which are lines in place of the share outside, and what the estimator's may be off by.
    """

    weight: float
    straight: bool = False
    bend: tuple[float, float, float] | None = None
    knots: tuple[tuple[tuple[float, float], ...], float] | None = None

    @property
    def told(self) -> dict[str, Any]:
        """What a file says of it."""
        told: dict[str, Any] = {"weight": self.weight.hex()}
        if self.straight:
            told["straight"] = True
        if self.bend is not None:
            told["bend"] = hexes(self.bend)
        if self.knots is not None:
            points, off = self.knots
            told |= {"knots": [hexes(point) for point in points], "off": off.hex()}
        return told


@dataclass(frozen=True, eq=False)
class Line:
    """Sums of the scores of a model: `rows @ scores + shift`.

    - `size`: of what was added up for the shift;
    - `steps`: how many steps of the estimator lead from a score to a sum, at most; 0 if the sums are the scores;
    - `curves`: what a mean makes of each sum, if it is not the mean of their shares;
    - `ballots`: how much the vote of each sum counts, if they vote;
    - `end`: what a stack adds to its curves, and what that may be off by.
    """

    rows: FloatArray
    shift: FloatArray
    size: FloatArray
    steps: int = 0
    curves: tuple[MeanCurve, ...] = ()
    ballots: tuple[float, ...] = ()
    end: tuple[float, ...] = ()

    @property
    def told(self) -> dict[str, Any]:
        """What a file says of the curves, the votes, and the end."""
        its = {
            "curves": [curve.told for curve in self.curves],
            "ballots": hexes(self.ballots),
            "end": hexes(self.end),
        }
        return {key: own for key, own in its.items() if own}

    @classmethod
    def of_scores(cls, scores: int) -> Line:
        """The scores themselves."""
        return cls(np.eye(scores), np.zeros(scores), np.zeros(scores))


@dataclass(frozen=True, eq=False)
class WeighedInputs(ColumnInputs):
    """Numbers as they are, and what each level adds to each sum.

    - `adds`: for each column of levels, its place and what its cells add (sums, cells);
    - `known` (columns): the number that adds to each sum what a missing one adds; NaN if there is none.
    """

    model: Linear
    adds: tuple[tuple[int, FloatArray], ...]
    known: FloatArray

    def rows(self, table: Any) -> FloatArray:
        rows = super().rows(table)
        numbers = rows[:, : len(self.known)]
        rows[:, : len(self.known)] = np.where(np.isnan(numbers), self.known, numbers)
        return rows

    def of_levels(self, codes: FloatArray) -> list[FloatArray]:
        return [adds[:, self.model.cells[j].index(codes[:, j])].T for j, adds in self.adds]


def linear_file(
    reading: Reading,
    line: Line,
    kind: str,
    extent: Extent,
    of: str,
    score: Callable[[Any], FloatArray],
    tells: Tells,
    more: dict[str, Any] | None = None,
) -> tuple[ModelFile, AbstractInputs] | None:
    """The file of a weighted sum, and its rows; None if it has bins beside its slopes, or what follows is computed in float32.

    - `extent`: the values that numbers may take;
    - `tells`: what `score` says;
    - `more`: what is made of several sums, if that is more than the line says.
    """
    model = reading.model
    assert isinstance(model, Linear)
    unit = max(reading.unit, model.unit)
    followed = more is not None or line.steps > 0
    if any(curve.bend for curve in line.curves) or kind not in SUMS_OF_WEIGHTS or (followed and unit > UNIT_DOUBLE):
        return None
    weighed = WeightedSums.of(model, line, reading.space, extent, unit)
    if weighed is None or unit not in BITS_OF_SUMS:
        return None
    file = weights_file(
        of, kind, weighed.base, weighed.weights, score, off=weighed.off, tells=tells,
        more={"digits": BITS_OF_SUMS[unit], **line.told, **(more or {})},
    )  # fmt: skip
    return file, weighed.inputs


def folded_terms(model: Linear, extent: Extent) -> FloatArray:
    """How large the terms of each score are that become a base and weights, the centres among them."""
    slopes = model.added_slope @ (extent.far + np.abs(model.centre))
    return np.asarray(np.abs(model.intercept) + model.cancelled + slopes)


@dataclass(frozen=True, eq=False)
class WeightedSums:
    """Weighted sums (sums, features): where they start, by how much each may be off besides its additions, and their rows."""

    base: FloatArray
    weights: FloatArray
    off: FloatArray
    inputs: WeighedInputs

    @classmethod
    def of(cls, model: Linear, line: Line, space: Space, extent: Extent, unit: float) -> WeightedSums | None:
        """Lines of the scores of a model, computed with this unit roundoff; None if it has bins beside its slopes."""
        if any(space.features[j].levels is None for j in model.stepped_when_known):
            return None
        weights = line.rows @ model.slope
        base = line.rows @ model.intercept + line.shift - weights @ np.broadcast_to(model.centre, weights.shape[1])
        levels = [j for j, feature in enumerate(space) if feature.levels is not None]
        adds = [(j, line.rows @ model.steps[j]) for j in levels]
        met = [each if space.features[j].missing else each[:, :-1] for j, each in adds]  # the last is the missing level
        same = [(each == each[:, :1]).all(axis=1) for each in met]  # what all levels add is part of the base
        for (_, each), alike in zip(adds, same, strict=True):
            base = base + np.where(alike, each[:, 0], 0.0)
        of_levels = [np.diag(np.where(alike, 0.0, 1.0)) for alike in same]
        terms = folded_terms(model, extent) + model.largest_step.sum(axis=1)
        folded = FOLD_BLUR * (np.abs(line.rows) @ terms + line.size)
        off = folded + rounding(model, line.rows, extent, unit)
        known = _known(model, line, weights)
        return cls(base, np.hstack([weights, *of_levels]), off, WeighedInputs(space, model, tuple(adds), known))


def _known(model: Linear, line: Line, weights: FloatArray) -> FloatArray:
    """The number that adds to each sum what a missing one adds, for each column; NaN if there is none, or if it has levels."""
    missing = np.stack([line.rows @ steps[:, -1] for steps in model.steps], axis=1)
    each, place = np.abs(weights).argmax(axis=0), np.arange(weights.shape[1])
    slope = weights[each, place]
    moved = np.where(slope == 0, 0.0, missing[each, place] / np.where(slope == 0, 1.0, slope))
    near = np.abs(weights * moved - missing) <= FOLD_BLUR * np.abs(missing)
    return np.where(near.all(axis=0), moved + np.broadcast_to(model.centre, moved.shape), np.nan)
