"""A lower bound on another sum of trees, as part of the model.

It becomes one more score of the model, and one more inequality in each set of scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from butfor.model.scores import ScoreSet
from butfor.model.trees import Trees, combined


def side_by_side(model: Trees, others: Sequence[Trees]) -> Trees:
    """All trees as one model. Its scores are those of the first model, then those of the others."""
    models, before = [model, *others], 0
    scores = sum(one.scores for one in models)
    padded = []
    for one in models:
        after = scores - before - one.scores
        value = np.pad(one.value, ((0, 0), (before, after)))
        padded.append(replace(one, value=value, base=np.pad(one.base, (before, after))))
        before += one.scores
    return combined(padded, [1.0] * len(padded))


def with_least(part: ScoreSet, scores: int, least: Sequence[float]) -> ScoreSet:
    """A set of `scores` scores, extended by further scores that must reach `least`."""
    more = len(least)
    A = np.zeros((len(part.A) + more, scores + more))
    A[: len(part.A), :scores] = part.A
    A[len(part.A) :, scores:] = np.eye(more)
    return replace(
        part,
        A=A,
        b=np.concatenate([part.b, np.broadcast_to(least, (*part.b.shape[:-1], more))], axis=-1),
        strict=np.append(part.strict, np.zeros(more, dtype=np.bool_)),
        curve=None if part.curve is None else part.curve.among(scores),
    )
