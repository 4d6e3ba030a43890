"""Whether the scores that a target asks for are those of the rows that meet it."""

from __future__ import annotations

import numpy as np

from butfor.estimator.prediction import Prediction
from butfor.importers.read import read
from butfor.model.questions import evaluate
from butfor.problem.targets.survival import OnCurves
from butfor.space import frames


def agreements(model, target, X, new, rows=20) -> int:
    """How many of the rows `new`, as changes of the first rows of X, meet the target; asserts that scores say the same."""
    reading = read(model, X)
    starts = frames.take(X, range(rows))
    before = Prediction(reading.source, starts)
    settled = target.settled(reading.readout, before)
    after = Prediction(reading.source, new)
    focused = settled.focus(reading, before)
    scores = evaluate(focused.model, reading.space.encode(new))
    count = 0
    for chosen, sets in settled.groups(focused.readout, before):
        for at, row in enumerate(chosen.tolist()):
            inside = np.any([part.take(np.array([at])).holds(scores) for part in sets], axis=0)
            start = before.take(np.full(len(scores), row))
            met = settled.met(start, after)
            near = _near(settled, start, after)
            assert ((inside == met) | near).all(), (settled, row)
            count += int(met.sum())
    return count


def _near(target, before, after):
    """Where rounding decides, and searches ask the estimator."""
    if not isinstance(target, OnCurves):
        return target.distance(before, after) <= 1e-9
    wanted, found = target.goal_of(before), target.quantity.of(after.curves)
    return np.isclose(found, wanted, rtol=1e-9, atol=1e-9)
