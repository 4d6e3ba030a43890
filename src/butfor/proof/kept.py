"""That an answer keeps what is wanted in its whole box: no row of the box gets anything else."""

from __future__ import annotations

from typing import Any

import numpy as np

from butfor.estimator.prediction import Prediction
from butfor.neighbours.ball import BallNorm
from butfor.proof.asked import ProofQuestion
from butfor.proof.model_files import hexes

KEPT_SHARE = 1 - 2.0**-30
"""In this share of a radius of real numbers, answers are proven to keep what is wanted: at the very end, rounding decides."""


def opposite(asked: ProofQuestion, i: int) -> dict[str, Any] | None:
    """What the rows around an answer must not get; None if there is no answer, no box around it, or if that is no single end."""
    found, ball = asked.claim.stated.found, asked.ball
    if ball is None or ball.norm is not BallNorm.LINF or i not in found:
        return None
    wanted, source = asked.wanted[i], asked.claim.reading.source
    if "either" in wanted:
        return None
    if wanted["of"][0] == "class":
        at = np.flatnonzero(found == i)
        (own,) = Prediction(source, asked.claim.stated.points).take(at).labels
        others = [k for k, label in enumerate(source.classes) if label != own]
        return {"of": ["class", others[0] if len(others) == 1 else others], "label": f"not {own}"}
    if {"at least", "at most"} <= wanted.keys():
        return None
    key, other = ("at least", "at most") if "at least" in wanted else ("at most", "at least")
    beyond = np.nextafter(float.fromhex(wanted[key]), -np.inf if key == "at least" else np.inf)
    return {"of": wanted["of"], other: float(beyond).hex(), **{k: v for k, v in wanted.items() if k == "label"}}


def box(asked: ProofQuestion, i: int) -> list[dict[str, Any]]:
    """The answer, column by column, and what it may be shifted to, at no price."""
    point, ball, free = asked.answer_at(i), asked.ball, [(0.0).hex()] * 3
    assert point is not None
    assert ball is not None
    radius = np.where(ball.step > 0, ball.radius, ball.radius * KEPT_SHARE)
    shifted = (radius > 0) & ~np.isnan(point)
    low, high = np.where(shifted, point - radius, 1.0), np.where(shifted, point + radius, 0.0)
    told = list[dict[str, Any]]()
    for j, (value, inputs) in enumerate(zip(point.tolist(), asked.inputs, strict=True)):
        if inputs is not None:
            level = asked.level_of(j, value)
            told.append({"now": level, "prices": [free[0] if k == level else None for k in range(len(inputs))]})
            continue
        (now,), ends = hexes([value]), hexes([low[j], high[j]])
        told.append({"now": now, "least": ends[0], "most": ends[1], "stay": True, "price": free})
    return told
