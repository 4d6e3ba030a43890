"""skorch's estimators around PyTorch modules."""

from __future__ import annotations

import copy
from typing import Any

from butfor.errors import UnsupportedModelError
from butfor.estimator.boosters import known_classes
from butfor.estimator.networks import End
from butfor.estimator.torch_modules import check_weights
from butfor.importers.fold.column import Column
from butfor.importers.fold.operators import Ended, Operators, imported
from butfor.importers.fold.sums import Sums
from butfor.importers.libraries.torch_modules import returned
from butfor.importers.registry import Imported, register_importer

NONLINEARITIES = {"CrossEntropyLoss": End.SOFTMAX, "BCEWithLogitsLoss": End.SIGMOID}
"""What skorch applies to the module's numbers, by the criterion. Other criteria mean that they are as they should be."""


def read_classifier(net: Any, columns: list[Column]) -> Imported:
    """A classifier. skorch turns the module's scores into probabilities if its criterion asks for it."""
    if getattr(net, "threshold", 0.5) != 0.5:
        raise UnsupportedModelError(
            f"{type(net).__name__}(threshold={net.threshold}) decides by a threshold of its own.",
            "It must be 0.5.",
            "Put it into FixedThresholdClassifier instead, or let the swarm search.",
        )
    if net.predict_nonlinearity != "auto":
        raise UnsupportedModelError(
            f"{type(net).__name__}(predict_nonlinearity={net.predict_nonlinearity!r}) cannot be read.",
            "It must be 'auto'.",
            "Put it at the end of the module, or let the swarm search.",
        )
    found, to = _written(net, columns)
    criterion = type(net.criterion_).__name__
    end = NONLINEARITIES.get(criterion)
    if isinstance(found, Ended) == (end is not None):
        raise UnsupportedModelError(
            f"{type(net).__name__} with {criterion} gives no probabilities.",
            "CrossEntropyLoss and BCEWithLogitsLoss take scores, NLLLoss and BCELoss probabilities.",
            "Choose the criterion that fits the end of the module.",
        )
    return imported(found, to, columns, known_classes(net))


def read_regressor(net: Any, columns: list[Column]) -> Imported:
    """A regressor: the module's number is the prediction."""
    found, to = _written(net, columns)
    return imported(found, to, columns, ())


def _written(net: Any, columns: list[Column]) -> tuple[Sums | Ended, Operators]:
    """What the module returns, written down, and the operators that did it. It is read as skorch asks it: in eval mode."""
    module = copy.deepcopy(net.module_).eval()  # without validation rows, fit leaves the own one in training mode
    to = Operators(len(columns), single=check_weights(module))
    return returned(module, to), to


register_importer("skorch.NeuralNetClassifier", read_classifier)
register_importer("skorch.NeuralNetBinaryClassifier", read_classifier)
register_importer("skorch.NeuralNetRegressor", read_regressor)
