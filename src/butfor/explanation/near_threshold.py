"""How many answers of a batch are only just across the border."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from butfor.problem.targets.class_scores import SCORE_NAMES
from butfor.problem.targets.score import Score

NEAR_THRESHOLD = 0.01
"""Within which difference of probabilities an answer lies near the threshold."""

TOLD_NEAR = "{near} of {all} answers lie within {distance} of the threshold; safety= asks for more"


def near_threshold(target: Mapping[str, Any], scores: Iterable[Score | None]) -> tuple[int, int]:
    """How many of these scores of answers lie near the probability at which the model decides, and of how many.

    None count if the user named the threshold. Values have a unit of their own, in which near means nothing.
    """
    if target.get("kind") not in ("Classes", "Other", "ClassCosts"):
        return 0, 0
    kind = f"{SCORE_NAMES['predict_proba']} "
    beyond = [score.beyond for score in scores if score is not None and score.of.startswith(kind)]
    known = [one for one in beyond if one is not None]
    return sum(one <= NEAR_THRESHOLD for one in known), len(known)
