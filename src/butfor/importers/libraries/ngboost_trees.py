"""NGBoost: each parameter of a distribution is a sum of scikit-learn's trees. What is read is its mean.

(Duan et al. 2020, "NGBoost: natural gradient boosting for probabilistic prediction".)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from butfor.errors import UnsupportedModelError
from butfor.importers.fold.column import Column
from butfor.importers.fold.leaves import ends_of_sum
from butfor.importers.fold.nodes import trees_over
from butfor.importers.libraries.sklearn_tree import AXIS_ALIGNED_TREES, grown
from butfor.importers.registry import Imported, register_importer
from butfor.model.blended import BlendedValue
from butfor.model.linked import Linked
from butfor.model.monotone import AbstractStep, Exponential, Logistic, MonotoneFunction, Scaled
from butfor.model.nodes import in_score
from butfor.model.readout import Argmax, Sign, Value
from butfor.model.trees import Trees


class MeanOf(NamedTuple):
    """The mean of a distribution: of how many of its parameters, and how."""

    parameters: int
    readout: Callable[[Trees], Value]


def _one(*steps: AbstractStep) -> MeanOf:
    """A function of the first parameter."""
    return MeanOf(1, lambda _: Linked(function=MonotoneFunction(steps)) if steps else Value())


def _difference(step: AbstractStep) -> MeanOf:
    """A function of the difference of two parameters, of which the library computes two functions first."""
    steps = (Scaled(1.0), step, Scaled(1.0))
    return MeanOf(2, lambda _: Linked(function=MonotoneFunction(steps), weights=np.array([1.0, -1.0])))


def _log_normal(model: Trees) -> Value:
    """The logarithm of the mean is `m + s^2 / 2`, and the parameters are m and log(s)."""
    _, largest = ends_of_sum(model, np.array([0.0, 1.0]))
    spread = MonotoneFunction((Scaled(2.0), Exponential(), Scaled(0.5)))
    return BlendedValue(
        function=MonotoneFunction((Exponential(), Scaled(1.0))),
        rows=np.eye(2),
        shares=np.ones(2),
        members=(MonotoneFunction((Scaled(1.0),)), spread),
        weights=np.array([1.0, float(np.exp(2 * largest))]),
    )


MEANS_OF_NGBOOST: dict[str, MeanOf] = {
    "Normal": _one(),
    "NormalFixedVar": _one(),
    "Laplace": _one(),
    "TFixedDf": _one(),
    "TFixedDfFixedVar": _one(),
    "Exponential": _one(Exponential()),
    "Poisson": _one(Exponential()),
    "HalfNormal": _one(Exponential(), Scaled(float(np.sqrt(2 / np.pi)))),
    "Gamma": _difference(Exponential()),
    "Beta": _difference(Logistic()),
    "LogNormal": MeanOf(2, _log_normal),
}
"""Distributions whose mean is a function of one parameter, of a difference, or of a sum of functions of two."""


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
            f"the mean of the distribution {name} of NGBoost is no sum of functions that never turn around.",
            f"Its distribution must be one of {', '.join(MEANS_OF_NGBOOST)}.",
            "Fit one of these, or let the swarm search.",
        )
    mean = MEANS_OF_NGBOOST[name]
    model = _sums(boosting, columns, {k: k for k in range(mean.parameters)}, mean.parameters)
    return model, mean.readout(model)


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
            f"NGBoost over {type(other).__name__} cannot be read.",
            "Its base learners must be trees.",
            "Let the swarm search.",
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
