"""How many other models agree that an answer meets its target."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.errors import InputError
from butfor.estimator.opening import open_source
from butfor.estimator.prediction import Prediction
from butfor.estimator.source import Source
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.problem.spec import from_spec
from butfor.problem.targets.target import AbstractTarget


def agreement(answers: Explanation | Explanations, models: Iterable[Any], own: Source) -> FloatArray:
    """The share of the models by whose prediction each answer meets its target; NaN where none was found."""
    listed = [answers] if isinstance(answers, Explanation) else list(answers)
    sources = list(models)
    if not sources:
        raise InputError("no model was given.", "At least one is needed.")
    return np.array([_share(one, sources, own) if one.found else np.nan for one in listed])


def _share(answer: Explanation, models: list[Any], own: Source) -> float:
    before = Prediction(own, answer.factual)
    target = from_spec(answer.question.spec["target"])
    assert isinstance(target, AbstractTarget)
    agree = []
    for model in models:
        source = open_source(model, answer.point)
        agree.append(target.met(before, Prediction(source, answer.point))[0])
    return float(np.mean(agree))
