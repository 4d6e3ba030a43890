"""Divide the score of an answer among its changes. The model is asked once, about subsets of the changes."""

from __future__ import annotations

import numpy as np

from butfor.errors import InputError
from butfor.estimator.prediction import Prediction
from butfor.explanation.consequences import acted
from butfor.explanation.contributions import Contributions
from butfor.explanation.cost_parts import cost_parts, prices_of
from butfor.explanation.explanation import Explanation
from butfor.explanation.shapley import coalitions
from butfor.importers.read import Reading
from butfor.problem.spec import from_spec
from butfor.problem.targets.target import AbstractTarget
from butfor.space import frames
from butfor.space.space import same


def contributions_of(answer: Explanation, reading: Reading, seed: int) -> Contributions:
    """What each change contributes, by asking the estimator about subsets of the changes in one call."""
    if answer.space.names != reading.space.names:
        raise InputError(
            "an answer about other columns was given.",
            f"The model reads {list(reading.space.names)[:8]}.",
            "Use the explainer of the model that was explained.",
        )
    if answer.point_codes is None:
        raise InputError("an answer without a point was given.", "Only changes that were found contribute.")
    start, end = answer.factual_codes, answer.point_codes
    changed = np.flatnonzero(~same(start, end))
    sets = coalitions(len(changed), seed)
    points = np.repeat(start[None], len(sets.members), axis=0)
    points[:, changed] = np.where(sets.members, end[changed], start[changed])
    tiled = frames.take(answer.factual, np.zeros(len(points), dtype=np.intp))
    table = answer.space.decode(points, tiled, np.broadcast_to(start, points.shape))
    scores = target_of(answer).measured(Prediction(reading.source, table), answer.after)
    prices, own = prices_of(answer.question, answer.space), acted(answer.question, answer.space, start[None], end[None])
    return Contributions(
        answer,
        score=None if scores is None else sets.weights @ scores,
        cost=None if prices is None else cost_parts(prices, start[None], own, seed)[0, changed],
        rule=sets.rule,
        points=len(points),
    )


def target_of(answer: Explanation) -> AbstractTarget:
    """The target of an answer, which must hold it as data."""
    try:
        target = from_spec(answer.question.spec["target"])
    except LookupError:
        target = None
    if not isinstance(target, AbstractTarget):
        raise InputError("the answer does not hold its target as data.", "It says what the model is asked about.")
    return target
