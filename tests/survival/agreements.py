"""Whether the scores that a target asks for are those of the rows that meet it."""

from __future__ import annotations

import numpy as np

from butfor.estimator.prediction import Prediction
from butfor.importers.read import read
from butfor.model.questions import evaluate
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
            own = [part.take(np.array([at])) for part in sets]
            inside = np.any([part.holds(scores) for part in own], axis=0)
            edge = np.min([part.shortfall(scores) for part in own], axis=0) <= 1e-14 * (1 + np.abs(scores[:, 0]))
            start = before.take(np.full(len(scores), row))
            met = settled.met(start, after)
            near = settled.distance(start, after) <= 1e-9 * (1 + np.abs(scores[:, 0]))
            assert ((inside == met) | (near & ~met) | (edge & met)).all(), (settled, row)  # at its edge it is asked
            count += int(met.sum())
    return count
