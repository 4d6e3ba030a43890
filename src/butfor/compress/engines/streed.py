"""STreeD: optimal trees, by dynamic programming over separable objectives."""

from __future__ import annotations

import time
import warnings
from importlib import import_module
from typing import Any

import numpy as np

from butfor.compress.engines.grown import GrownTree, TreeTask
from butfor.compress.rates import inconsistency_rate
from butfor.compress.tree import Shape, planted
from butfor.errors import MissingExtraError


def grow(task: TreeTask) -> GrownTree:
    """The best tree of this depth, or the best one found in time. It gives no bound of its own.

    For each number of questions, STreeD finds the tree with the fewest wrong rows. The penalty of leaves is added here:
    its own objective with a penalty (1.4.0, "cost-complex-accuracy") was seen to miss the optimum by a row, because of
    its `use_task_lower_bound`.
    """
    try:
        library = import_module("pystreed")
    except ImportError:
        raise MissingExtraError(
            "kind='streed' was given, and pystreed is not installed.", "", 'Run: pip install "butfor[streed]"'
        ) from None
    begin = time.perf_counter()
    shape: Shape = task.most_frequent
    best, proven = _objective(shape, task), True
    least = inconsistency_rate(task.answers, task.codes)
    for questions in range(1, 2**task.depth):
        left = task.seconds - (time.perf_counter() - begin)
        if least + task.penalty * (questions + 1) >= best and task.penalty:
            break  # no tree of this many leaves can be better
        found, complete = _fewest_wrong(library, task, questions, left) if left > 0 else (None, False)
        proven = proven and complete
        if found is not None and (objective := _objective(found, task)) < best:
            shape, best = found, objective
        if not complete:
            break
    why = "STreeD searched all trees" if proven else f"STreeD stopped after {task.seconds:g} s"
    return GrownTree(shape, proven, 0.0, why)


def _fewest_wrong(library: Any, task: TreeTask, questions: int, seconds: float) -> tuple[Shape | None, bool]:
    """The tree of so many questions at most with the fewest wrong rows, and whether it is proven."""
    learner = library.STreeDClassifier(
        "accuracy", max_depth=min(task.depth, questions), max_num_nodes=questions, time_limit=seconds
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(task.answers.astype(np.intc), task.codes.astype(np.int32))
    if not learner.is_fitted():
        return None, False
    return _shape(learner.get_tree()), bool(learner.fit_result.is_optimal())


def _objective(shape: Shape, task: TreeTask) -> float:
    tree = planted(shape, task.answers, task.codes, task.classes)
    wrong = float(np.mean(tree.label[tree.reached(task.answers)] != task.codes))
    return wrong + task.penalty * len(tree.leaves)


def _shape(node: Any) -> Shape:
    if node.is_leaf_node():
        return int(node.label)
    return int(node.feature), _shape(node.left_child), _shape(node.right_child)
