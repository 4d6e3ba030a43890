"""Of which answers proofs are made, without making them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from butfor.claim import claim_of, stated
from butfor.errors import ButforError
from butfor.explanation.explanations import Explanations
from butfor.proof.asking import asked_about


def why_none(answers: Explanations, model: Any, models: Iterable[Any] = ()) -> list[str]:
    """For each answer, why `prove` makes no proof of it; empty if it tries to."""
    try:
        claim = claim_of(stated(answers), model, models)
        asked = asked_about(claim)
        _ = asked.wanted, asked.ball
    except ButforError as error:
        return [error.given.rstrip(".")] * len(answers)
    return [asked.why_not(i) for i in range(len(claim))]
