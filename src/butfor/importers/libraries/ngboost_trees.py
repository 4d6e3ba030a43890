"""NGBoost: each parameter of a distribution is a sum of scikit-learn's trees. Its first one, the mean, is what is read.

(Duan et al. 2020, "NGBoost: natural gradient boosting for probabilistic prediction".)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from butfor.errors import UnsupportedModelError
from butfor.importers.fold.column import Column
from butfor.importers.fold.nodes import trees_over
from butfor.importers.libraries.sklearn_tree import AXIS_ALIGNED_TREES, grown
from butfor.importers.registry import Imported, register_importer
from butfor.model.linked import value_behind
from butfor.model.monotone import AbstractStep, Exponential
from butfor.model.nodes import in_score
from butfor.model.readout import Argmax, Sign
from butfor.model.trees import Trees

MEANS_OF_NGBOOST: dict[str, AbstractStep | None] = {
    "Normal": None,
    "NormalFixedVar": None,
    "Laplace": None,
    "TFixedDf": None,
    "TFixedDfFixedVar": None,
    "Exponential": Exponential(),
    "Poisson": Exponential(),
}
"""Distributions whose mean is their first parameter, or a function of it alone."""


def read_classifier(boosting: Any, columns: list[Column]) -> Imported:
    """A sum for each class but the first, whose score is 0. Of two classes, the sign decides."""
    classes = tuple(boosting.classes_.tolist())
    if len(classes) == 2:
        return _sums(boosting, columns, {0: 0}, 1), Sign(classes, "logistic")
    places = {k - 1: k for k in range(1, len(classes))}
    return _sums(boosting, columns, places, len(classes)), Argmax(classes, "softmax")


def read_regressor(boosting: Any, columns: list[Column]) -> Imported:
    """The mean of the distribution."""
    kinds = boosting.Dist.__mro__  # what survival models know, too, is wrapped in a class of its own
    name = kinds[boosting.Dist.__name__ == "DistWithUncensoredScore"].__name__
    if name not in MEANS_OF_NGBOOST:
        raise UnsupportedModelError(
            f"the mean of the distribution {name} of NGBoost depends on several sums of trees.",
            f"Its distribution must be one of {', '.join(MEANS_OF_NGBOOST)}.",
            "Fit one of these (of the logarithm, in place of LogNormal), or let the swarm search.",
        )
    return _sums(boosting, columns, {0: 0}, 1), value_behind(MEANS_OF_NGBOOST[name])


def _sums(boosting: Any, columns: list[Column], places: dict[int, int], scores: int) -> Trees:
    """What trees make of some parameters. `places` says which score each parameter is."""
    steps = [
        (tree, reads, boosting.learning_rate * scale, places[k])
        for trees, reads, scale in zip(boosting.base_models, boosting.col_idxs, boosting.scalings, strict=True)
        for k, tree in enumerate(trees)
        if k in places
    ]
    other = next((tree for tree, *_ in steps if type(tree).__name__ not in AXIS_ALIGNED_TREES), None)
    if other is not None:
        raise UnsupportedModelError(
            f"NGBoost over {type(other).__name__} cannot be read.", "Its base learners must be trees.", ""
        )
    base = np.zeros(scores)
    for parameter, place in places.items():
        base[place] = np.ravel(boosting.init_params)[parameter]
    nodes = grown([tree for tree, *_ in steps], [reads for _, reads, *_ in steps])
    count = [tree.tree_.node_count for tree, *_ in steps]
    weight = np.repeat([weight for *_, weight, _ in steps], count)
    score = np.repeat([score for *_, score in steps], count)
    value = in_score(-weight * nodes.value[:, 0], score, scores)
    return trees_over(columns, replace(nodes, value=value), base, folded=True)


register_importer("ngboost.NGBClassifier", read_classifier)
register_importer("ngboost.NGBRegressor", read_regressor)
