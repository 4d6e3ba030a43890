"""Whether a row and all its neighbours in a ball meet a target. The estimator is asked where that looks least likely."""

from __future__ import annotations

import numpy as np

from butfor.arrays import BoolArray, FloatArray
from butfor.estimator.prediction import Prediction
from butfor.model.ball import Ball
from butfor.model.network import Network
from butfor.model.questions import Model
from butfor.model.rounding import Extent, rounding
from butfor.model.scores import ScoreSet
from butfor.model.worst import worst_neighbours
from butfor.problem.constraints.constraint import Changes
from butfor.problem.referee import Referee


def stays_met(
    model: Model, score_sets: tuple[ScoreSet, ...], ball: Ball, change: Changes, referee: Referee, sampled: int
) -> bool:
    """Whether all neighbours of the only changed row lie in one score set.

    The exact adversary decides, up to what rounding may do. Its worst neighbours and `sampled` random ones are then
    predicted by the estimator itself. If there are no more than these, all are predicted, and nothing else decides.
    """
    point, asked = change.points[0], []
    if ball.count <= sampled:
        return _all_met_alone(change, referee, point + ball.shifts())
    for score_set in score_sets:
        if score_set.curve is not None:
            continue
        low, high = ball.low(point), ball.high(point)
        whole = np.zeros(len(point))
        extent = Extent(
            np.nan_to_num(point)[None], np.nan_to_num(low), np.nan_to_num(high), whole, whole, ball.radius > 0
        )
        spare = score_set.b - score_set.below - rounding(model, score_set.A, extent, referee.reading.unit)
        thresholds = np.ravel(spare).tolist()
        # the very worst neighbour of a network takes long, and one that was met does as well
        worst = worst_neighbours(model, score_set.A, point, ball, thresholds if isinstance(model, Network) else None)
        if all(found.score >= least for found, least in zip(worst, thresholds, strict=True)):
            asked = [found.point for found in worst]
            break
    else:
        return False
    rows = np.vstack([point, point + ball.sample(np.random.default_rng(0), sampled)])
    missed = rows[~_met(change, referee, rows)]
    return _all_met_alone(change, referee, np.vstack([*asked, missed]))


def _all_met_alone(change: Changes, referee: Referee, rows: FloatArray) -> bool:
    """Whether all rows meet the target, as changes of the only row: the last digits may depend on other rows."""
    return all(_met(change, referee, row[None])[0] for row in rows)


def _met(change: Changes, referee: Referee, rows: FloatArray) -> BoolArray:
    assert referee.target is not None
    after = Prediction(referee.reading.source, referee.written(rows))
    return referee.target.met(change.before.take(np.zeros(len(rows), dtype=np.intp)), after)
