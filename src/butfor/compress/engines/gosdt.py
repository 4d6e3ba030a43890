"""GOSDT: optimal sparse trees, by branch and bound over sets of rows."""

from __future__ import annotations

import json
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from math import ceil
from typing import Any

import numpy as np

from butfor.compress.engines.grown import GrownTree, TreeTask
from butfor.compress.tree import Shape
from butfor.errors import MissingExtraError

SINGLE_ROUNDING = 1e-6
"""GOSDT computes its bounds in single precision."""


def grow(task: TreeTask) -> GrownTree:
    """The best tree of this depth, or the best one found in time with GOSDT's own bound."""
    try:
        library = import_module("gosdt")
    except ImportError:
        raise MissingExtraError(
            "kind='gosdt' was given, and gosdt is not installed.", "", 'Run: pip install "butfor[gosdt]"'
        ) from None
    if task.penalty >= np.mean(task.codes == task.most_frequent):  # GOSDT finds nothing where all objectives exceed 1
        return GrownTree(task.most_frequent, True, 0.0, "no leaf is right about as many rows as it costs")
    learner = library.GOSDTClassifier(
        regularization=task.penalty,
        allow_small_reg=True,
        depth_budget=task.depth,
        time_limit=max(1, ceil(task.seconds)),
    )
    with redirect_stdout(StringIO()):  # it prints its warnings; what they say is in the result
        learner.fit(task.answers, task.codes)
    found = learner.result_
    proven = found.status.name == "CONVERGED"
    ended = f"stopped after {task.seconds:g} s" if found.status.name == "TIMEOUT" else f"said {found.status.name}"
    why = "GOSDT searched all trees" if proven else f"GOSDT {ended}"
    return GrownTree(_shape(json.loads(found.model)[0]), proven, float(found.lowerbound) - SINGLE_ROUNDING, why)


def _shape(node: dict[str, Any]) -> Shape:
    if "prediction" in node:
        return int(node["prediction"])
    return int(node["feature"]), _shape(node["false"]), _shape(node["true"])
