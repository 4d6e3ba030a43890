"""Answers of a log, checked if they are of a model."""

from __future__ import annotations

from typing import Any

from butfor.audit.recheck import check_all
from butfor.audit.result import AllChecked
from butfor.claim import claim_of, stated
from butfor.explain.explainer import Explainer
from butfor.explanation.explanations import Explanations


def checked(answers: Explanations, explainer: Any, bounds: bool) -> AllChecked | None:
    """The checks of answers to one question; None if they are of another model, as far as its class and its fingerprint tell."""
    model = explainer.model if isinstance(explainer, Explainer) else explainer
    try:
        claim = claim_of(stated(answers[:1]), model)
        kind, now = type(claim.reading.source.estimator).__name__, claim.asking.fingerprint
    except Exception:  # a model that does not read such rows raises anything
        return None
    if answers.model not in ("", kind) or now != answers.certificates[0].fingerprint:
        return None
    return check_all(answers, model, bounds=bounds, progress=False)
