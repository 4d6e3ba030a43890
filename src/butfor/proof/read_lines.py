"""The sums that a decision is about, as lines of the scores that were read, and what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from butfor.arrays import FloatArray
from butfor.model.blended import Blended, Voted
from butfor.model.interpolated import Interpolated
from butfor.model.linear import Linear
from butfor.model.linked import Calibrated
from butfor.model.monotone import Jump, Logistic, MonotoneFunction, Scaled
from butfor.model.readout import AbstractReadout, MeanValue
from butfor.model.rounding import FURTHER_STEPS
from butfor.model.stacked import END_ROUNDINGS, Stacked
from butfor.proof.linear_files import Line, MeanCurve

STEPS_OF_A_MEAN = 2
"""Each value is weighed, and what they add up to is divided by the weights."""

Start = tuple[float, float, float]
"""The line before all else: its slope, its shift, and the size of what is added for it."""


def line_of(readout: AbstractReadout, scores: int) -> Line | None:
    """The sums that a readout is about, lines of scores, and their curves in a mean; None if it has other functions."""
    if isinstance(readout, Voted):
        return _vote_lines(readout)
    if isinstance(readout, MeanValue):
        return Line(readout.weights[None], np.zeros(1), np.zeros(1), STEPS_OF_A_MEAN)
    if isinstance(readout, Calibrated):
        rows, weights, chances = readout.row[None], [1.0], [readout.chances[1]]
    elif isinstance(readout, Blended):
        rows, weights, chances = readout.rows, readout.weights.tolist(), [second for _, second in readout.chances]
    else:
        return Line.of_scores(scores)
    line = _curved(rows, weights, chances)
    if line and isinstance(readout, Calibrated) and line.curves[0].knots:
        return None  # an end of the one sum says the same, also beside others (`one_sum`)
    return line and (replace(line, curves=()) if {*line.curves} == {MeanCurve(weights[0])} else line)


def _curved(rows: FloatArray, weights: Sequence[float], functions: Sequence[MonotoneFunction]) -> Line | None:
    """Lines of scores, and the curves that functions make of them; None if they are others."""
    each = [_curve_of(function, weight) for function, weight in zip(functions, weights, strict=True)]
    found = [one for one in each if one is not None]
    if len(found) < len(each):
        return None
    slope, shift, size = np.array([start for start, _ in found]).T
    steps = 1 + max(len(function.steps) for function in functions)
    return Line(slope[:, None] * rows, shift, size, steps, tuple(curve for _, curve in found))


def stack_line(readout: Stacked, size: FloatArray) -> Line | None:
    """The curves of what members hand to a linear end, which adds them up; None if they are others.

    `size` (scores): of the largest sums.
    """
    end = readout.end
    assert isinstance(end, Linear)
    weights, kept = end.slope[0], np.flatnonzero(end.slope[0])
    centre = np.broadcast_to(end.centre, weights.shape)
    if not len(kept):
        return None
    line = _curved(readout.rows[kept], weights[kept].tolist(), [readout.functions[k] for k in kept.tolist()])
    if line is None:
        return None
    most = [max([1.0, *(abs(y) for _, y in curve.knots[0])]) if curve.knots else 1.0 for curve in line.curves]
    reach = np.where([curve.straight for curve in line.curves], np.abs(line.rows) @ size + line.size, most)
    terms = float(
        np.abs(end.intercept[0])
        + np.broadcast_to(end.cancelled, 1)[0]
        + np.abs(weights[kept]) @ (reach + np.abs(centre[kept]))
    )
    off = 2 * (END_ROUNDINGS + len(kept)) * readout.unit * terms
    return replace(line, end=(float(end.intercept[0] - weights @ centre), off))


def _vote_lines(readout: Voted) -> Line | None:
    """The sums that are votes for class 1 where they are above 0."""
    ends = [second.steps[0] for _, second in readout.chances]
    edges = np.array([end.at_least for end in ends if isinstance(end, Jump)])
    ballots = tuple((readout.weights * readout.total).tolist())
    return Line(readout.rows, -edges, np.abs(edges), 1, ballots=ballots) if len(edges) == len(ends) else None


def _curve_of(chance: MonotoneFunction, weight: float) -> tuple[Start, MeanCurve] | None:
    """What a function makes of a sum; None if it is another.

    It is a line, a share of a line, or the share of a line of that. Lines between knots may stand in place of the last share.
    """
    lines, knots = [(1.0, 0.0, 0.0)], None
    for step in chance.steps:
        if knots is not None:
            return None
        if isinstance(step, Scaled):
            slope, shift, size = lines[-1]
            size = abs(step.factor) * size + abs(step.shift)
            lines[-1] = step.factor * slope, step.factor * shift + step.shift, size
        elif isinstance(step, Logistic):
            lines.append((1.0, 0.0, 0.0))
        elif isinstance(step, Interpolated):
            lines.append((1.0, 0.0, 0.0))
            knots = tuple(zip(step.x.tolist(), step.y.tolist(), strict=True)), step.off_at_most(chance.unit)
        else:
            return None
    start, *bent = lines
    *inside, rest = bent or [(1.0, 0.0, 0.0)]
    if rest != (1.0, 0.0, 0.0) or len(inside) > 1:
        return None
    if not inside:
        return start, MeanCurve(weight, straight=not bent, knots=knots)
    (slope, shift, size), off = inside[0], 2 * (FURTHER_STEPS + len(chance.steps)) * chance.unit
    off *= abs(slope) + size
    if slope < 0:  # share(x) is 1 - share(-x)
        start, slope, shift = (-start[0], -start[1], start[2]), -slope, shift + slope
    return start, MeanCurve(weight, bend=(slope, shift, off), knots=knots)
