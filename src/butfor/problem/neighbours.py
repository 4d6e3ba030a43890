"""Whether rows and all their neighbours in a ball meet a target. The estimator is asked where that looks least likely."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from butfor.arrays import BoolArray, FloatArray, IntArray
from butfor.compiled.clock import now
from butfor.estimator.prediction import Prediction
from butfor.model.network import Network
from butfor.model.questions import Model, evaluate
from butfor.model.rounding import Extent, rounding
from butfor.model.scores import ScoreSet
from butfor.neighbours.ball import Ball
from butfor.neighbours.trees.search import Worst
from butfor.neighbours.worst import worst_neighbours
from butfor.problem.constraints.constraint import Changes, Neighbourhood
from butfor.problem.referee import Referee

FEW_NEIGHBOURS, MANY_NEIGHBOURS = 200, 10_000
"""About how many random neighbours the estimator is asked: in a search, or for each of many answers; for a single one."""

SAMPLING_SECONDS = 1.0
"""The estimator is asked about more than `FEW_NEIGHBOURS` for about as long as this."""

PREDICTED_AT_ONCE = 20_000
"""About how many rows the estimator is asked at once."""


class _Worst(NamedTuple):
    """The worst neighbours of a row in a score set, how far they lie inside of it, and whether rounding cannot matter."""

    neighbours: list[Worst]
    spare: list[float]
    surely: bool

    @property
    def nearest(self) -> FloatArray | None:
        """The one that lies least inside; None if that is not known."""
        least = int(np.argmin(self.spare)) if self.spare else -1
        return self.neighbours[least].point if least >= 0 and np.isfinite(self.spare[least]) else None


def neighbourhoods(
    model: Model, own: Sequence[tuple[ScoreSet, ...]], ball: Ball, changes: Changes, referee: Referee, sampled: int
) -> list[Neighbourhood]:
    """Whether all neighbours of each changed row lie in one of its `own` score sets.

    The exact adversary decides, up to what rounding may do. Its worst neighbours and `sampled` random ones are then
    predicted by the estimator itself. If there are only a few, all are predicted.
    """
    looked_at = [_worst(model, sets, ball, point, referee) for sets, point in zip(own, changes.points, strict=True)]
    worst = {i: found for i, found in enumerate(looked_at) if found is not None}
    if ball.count <= FEW_NEIGHBOURS:
        every = [np.unique(near, axis=0) for near in ball.around(changes.points)]
        met = [
            _all_met(changes, referee, i, near, surely=i in worst and worst[i].surely)
            and _in_one(model, own[i], ball, changes.points[i], referee)
            for i, near in enumerate(every)
        ]
        return [
            Neighbourhood(one, worst[i].nearest if i in worst else None, len(every[i])) for i, one in enumerate(met)
        ]
    fine, asked = np.isin(np.arange(len(changes)), list(worst)), np.zeros(len(changes), dtype=np.intp)
    known = np.array(list(worst), dtype=np.intp)
    for rows in np.array_split(known, 1 + len(known) * FEW_NEIGHBOURS // PREDICTED_AT_ONCE) if len(known) else []:
        points = changes.points[rows]
        rng, begin = np.random.default_rng(0), now()
        near = ball.some_around(rng, points, FEW_NEIGHBOURS)
        nearest = [
            np.vstack([point, *(one.point for one in worst[i].neighbours), some])
            for i, point, some in zip(rows.tolist(), points, near, strict=True)
        ]
        _refute(fine, changes, referee, rows, nearest)
        fits = int(FEW_NEIGHBOURS * SAMPLING_SECONDS / (now() - begin))
        more = max(0, min(fits, sampled - FEW_NEIGHBOURS))
        _refute(fine, changes, referee, rows, ball.some_around(rng, points, more))
        asked[rows] = FEW_NEIGHBOURS + more
    return [
        _told(worst[i], bool(fine[i]), int(asked[i]), changes, referee, i)
        if i in worst
        else Neighbourhood(False, None, 0)
        for i in range(len(changes))
    ]


def _worst(
    model: Model, score_sets: tuple[ScoreSet, ...], ball: Ball, point: FloatArray, referee: Referee
) -> _Worst | None:
    """The worst neighbours of a row, if all of them may lie in one of the sets."""
    for score_set, edge in zip(score_sets, _edges(model, score_sets, ball, point, referee), strict=True):
        if score_set.curve is not None:
            continue
        least = edge.lowest.tolist()
        # the very worst neighbour of a network takes long, and one that was met does as well
        found = worst_neighbours(model, score_set.A, point, ball, least if isinstance(model, Network) else None)
        spare = [one.score - b for one, b in zip(found, least, strict=True)]
        if min(spare, default=0.0) >= 0:
            return _Worst(found, spare, all(one.score > b for one, b in zip(found, edge.sure, strict=True)))
    return None


class Edge(NamedTuple):
    """Where a set of scores ends: sums `A s` below `lowest` surely miss it, and none above `sure` does."""

    A: FloatArray
    lowest: FloatArray
    sure: FloatArray


def in_one_set(model: Model, edges: Sequence[Edge], near: FloatArray) -> BoolArray:
    """Of which rows all neighbours (rows, neighbours, d) may lie in the same set of scores.

    If there is a single set, what the estimator says of each neighbour is enough.
    """
    if len(edges) == 1:
        return np.ones(len(near), dtype=np.bool_)
    scores = evaluate(model, near.reshape(-1, near.shape[2]))
    fine = np.zeros(len(near), dtype=np.bool_)
    for edge in edges:
        inside = np.asarray(scores @ edge.A.T >= edge.lowest)
        fine |= inside.reshape(len(near), -1).all(axis=1)
    return fine


def _in_one(model: Model, score_sets: Sequence[ScoreSet], ball: Ball, point: FloatArray, referee: Referee) -> bool:
    """The same of one row and its few neighbours in a ball."""
    return bool(in_one_set(model, _edges(model, score_sets, ball, point, referee), ball.around(point[None]))[0])


def _edges(model: Model, score_sets: Sequence[ScoreSet], ball: Ball, point: FloatArray, referee: Referee) -> list[Edge]:
    """The edges of score sets, as far as rounding may move them in the ball around a row."""
    whole, low, high = np.zeros(len(point)), np.nan_to_num(ball.low(point)), np.nan_to_num(ball.high(point))
    extent = Extent(np.nan_to_num(point)[None], low, high, whole, whole, ball.radius > 0)
    doubts = [rounding(model, one.A, extent, referee.reading.unit) for one in score_sets]
    return [
        Edge(one.A, np.ravel(one.b - one.below - doubt), np.ravel(one.b + one.above + doubt))
        for one, doubt in zip(score_sets, doubts, strict=True)
    ]


def _told(worst: _Worst, met: bool, asked: int, changes: Changes, referee: Referee, row: int) -> Neighbourhood:
    """What was found around a row. Where rounding may matter, the worst neighbours are predicted, each alone."""
    points = np.array([one.point for one in worst.neighbours])
    met = met and (worst.surely or _all_met_alone(changes, referee, row, points))
    return Neighbourhood(met, worst.nearest, asked)


def _refute(fine: BoolArray, changes: Changes, referee: Referee, rows: IntArray, around: Iterable[FloatArray]) -> None:
    """Rows with a neighbour that misses the target are not fine. One that seems to miss it is asked about alone."""
    near = list(around)
    whose, points = np.repeat(rows, [len(its) for its in near]), np.vstack(near)
    if not len(points):
        return
    missed = ~_met(changes, referee, whose, points)
    for row, point in zip(whose[missed].tolist(), points[missed], strict=True):
        fine[row] = fine[row] and _all_met_alone(changes, referee, row, point[None])


def _all_met(changes: Changes, referee: Referee, row: int, points: FloatArray, *, surely: bool) -> bool:
    """Whether all points meet the target, as changes of a row. Each is predicted alone, unless rounding surely cannot matter."""
    if surely:
        points = points[~_met(changes, referee, np.full(len(points), row), points)]
    return _all_met_alone(changes, referee, row, points)


def _all_met_alone(changes: Changes, referee: Referee, row: int, points: FloatArray) -> bool:
    """Whether all points meet the target, as changes of a row: the last digits may depend on other rows."""
    return all(_met(changes, referee, np.array([row]), point[None])[0] for point in points)


def _met(changes: Changes, referee: Referee, rows: IntArray, points: FloatArray) -> BoolArray:
    assert referee.target is not None
    after = Prediction(referee.reading.source, referee.written(points))
    return referee.target.met(changes.before.take(rows), after)
