"""How well several answers to one row do in different respects, and which is the best in each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError, UnsupportedProblemError, choice
from butfor.estimator.prediction import Prediction
from butfor.explain.asking import Asking
from butfor.explain.surroundings import radii, surroundings
from butfor.explain.without import meant
from butfor.explanation.best import Best
from butfor.explanation.explanation import Explanation
from butfor.model.questions import is_read
from butfor.problem.constraints.names import robust
from butfor.problem.targets.classes import Probability
from butfor.problem.targets.names import as_target
from butfor.problem.targets.scale import scale_of
from butfor.problem.targets.target import AbstractTarget
from butfor.problem.targets.values import ValueIn
from butfor.solvers.solver import Budget
from butfor.space.space import Space

NEIGHBOURS = 5
"""How many rows of the data say whether an answer is like the data."""


def best(asking: Asking, answers: Iterable[Explanation], by: Sequence[str]) -> Best:
    """The best of the answers that were found, in each respect that the model allows."""
    unknown = [respect for respect in by if respect not in RESPECTS]
    if unknown or not by or isinstance(by, str):
        raise InputError(
            f"by={by!r} was given.",
            *choice("It must be a list of some of", next(iter(unknown), None), RESPECTS, repr),
        )
    found = sorted((answer for answer in answers if answer.found), key=lambda answer: answer.cost)
    if not found:
        raise InputError("no answer with a point was given.", "At least one is needed to choose from.")
    if any(not np.array_equal(one.factual_codes, found[0].factual_codes, equal_nan=True) for one in found):
        raise InputError("answers to several rows were given.", "They must be to one row.", "Choose a row.")
    if len({one.question.target for one in found}) > 1:
        raise InputError("answers to several targets were given.", "They must be to one target.")
    target = as_target(meant(found[0].question.spec["target"]), asking.reading.source)
    every = {respect: RESPECTS[respect](asking, found, target) for respect in by}
    marks = {respect: mark for respect, mark in every.items() if mark is not None}
    winners = {respect: int(np.argmax(mark)) for respect, mark in marks.items()}  # of equal ones, the cheapest
    kept = sorted(set(winners.values()))
    return Best(
        answers=tuple(found[i] for i in kept),
        places={respect: kept.index(winner) for respect, winner in winners.items()},
        marks={respect: tuple(np.abs(mark[kept]).tolist()) for respect, mark in marks.items()},
        compared=len(found),
        target=repr(target),
    )


def _costs(asking: Asking, answers: Sequence[Explanation], target: AbstractTarget) -> FloatArray:
    return -np.array([one.cost for one in answers])


def _changes(asking: Asking, answers: Sequence[Explanation], target: AbstractTarget) -> FloatArray:
    return -np.array([float(len(one.actions)) for one in answers])


def _certainties(asking: Asking, answers: Sequence[Explanation], target: AbstractTarget) -> FloatArray | None:
    sure = [_sureness(target, asking.predicted(one.point)) for one in answers]
    return None if None in sure else np.array(sure, dtype=np.float64)


def _likeness(asking: Asking, answers: Sequence[Explanation], target: AbstractTarget) -> FloatArray:
    space = asking.reading.space
    codes = np.where([feature.unread for feature in space], 0.0, np.array([one.point_codes for one in answers]))
    return -_distances(space, codes, asking.referee().training.points)


def _sureness(target: AbstractTarget, after: Prediction) -> float | None:
    """How far a prediction is on the wanted side; None if the model does not say."""
    if isinstance(target, Probability | ValueIn) and target.one_sided:
        scale, end = scale_of(target)
        return abs(float(scale.numbers(after)[0]) - end)
    if not after.source.classes or after.scores is None:
        return None
    second, first = np.sort(after.scores[0])[-2:]
    return float(first - second)


def _distances(space: Space, points: FloatArray, rows: FloatArray) -> FloatArray:
    """The mean distance of each point to the nearest rows of the data, in ranges; another level counts 1."""
    number = np.array([feature.levels is None for feature in space])
    ranges = np.array([feature.range for feature in space])
    with np.errstate(invalid="ignore"):
        apart = np.abs(points[:, None] - rows[None]) / ranges
    apart = np.where(number, apart, apart > 0)
    lost = np.isnan(points)[:, None] != np.isnan(rows)[None]
    total = np.where(lost, 1.0, np.nan_to_num(apart)).sum(axis=2)
    return np.asarray(np.sort(total, axis=1)[:, :NEIGHBOURS].mean(axis=1))


def _radii(asking: Asking, answers: Sequence[Explanation], target: AbstractTarget) -> FloatArray | None:
    """How far each answer can move in its numbers and still meet the target, as a share of their ranges; None if the model
    cannot say.
    """
    reading = asking.reading
    radius = radii(reading, whole_numbers=True)
    if not radius or not is_read(reading.model):
        return None
    try:
        around = [surroundings(one.point, target, asking.referee(), robust(radius)) for one in answers]
        return np.array([one.robustness(Budget()).radius for one in around])
    except (UnsupportedProblemError, InputError):
        return None


RESPECTS: dict[str, Callable[[Asking, Sequence[Explanation], AbstractTarget], FloatArray | None]] = {
    "cost": _costs,
    "number of changes": _changes,
    "certainty": _certainties,
    "similarity to the data": _likeness,
    "robustness": _radii,
}
"""Each respect, and the marks of answers in it: the higher, the better. None if the model does not say."""
