"""STreeD: optimal trees, by dynamic programming over separable objectives."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np

from butfor.compress.engines.grown import GrownTree, TreeTask
from butfor.compress.tree import Shape
from butfor.errors import MissingExtraError


def grow(task: TreeTask) -> GrownTree:
    """The best tree of this depth, or the best one found in time. It gives no bound of its own."""
    try:
        library = import_module("pystreed")
    except ImportError:
        raise MissingExtraError(
            "kind='streed' was given, and pystreed is not installed.", "", 'Run: pip install "butfor[streed]"'
        ) from None
    learner = library.STreeDClassifier(
        "cost-complex-accuracy", max_depth=task.depth, cost_complexity=min(task.penalty, 1.0), time_limit=task.seconds
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(task.answers.astype(np.intc), task.codes.astype(np.int32))
    if not learner.is_fitted():
        return GrownTree(task.most_frequent, False, 0.0, f"STreeD found no tree in {task.seconds:g} s")
    proven = bool(learner.fit_result.is_optimal())
    why = "STreeD searched all trees" if proven else f"STreeD stopped after {task.seconds:g} s"
    return GrownTree(_shape(learner.get_tree()), proven, 0.0, why)


def _shape(node: Any) -> Shape:
    if node.is_leaf_node():
        return int(node.label)
    return int(node.feature), _shape(node.left_child), _shape(node.right_child)
