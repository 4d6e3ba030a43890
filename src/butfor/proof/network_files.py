"""What butfor read of a network, as a file that the checker reads: weighted sums, and the layers that bend and mix them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.importers.read import Reading
from butfor.model.network import Layer, Network
from butfor.model.readout import AbstractReadout, Argmax, Sign, Value
from butfor.model.rounding import Extent
from butfor.model.scores import UNIT_DOUBLE
from butfor.proof.linear_files import Line, WeightedSums
from butfor.proof.model_files import BITS_OF_SUMS, AbstractInputs, ModelFile, Tells, hexes, weights_file

SUMS_OF_NETWORKS = ("value", "logistic", "score", "largest")
"""What the last sums of a network may be, as the checker calls it."""


def network_file(
    reading: Reading,
    readout: AbstractReadout,
    kind: str,
    extent: Extent,
    of: str,
    score: Callable[[Any], FloatArray],
    tells: Tells,
) -> tuple[ModelFile, AbstractInputs] | None:
    """The file of a network, in the order in which it computes, and its rows; None if no proof is made of its sums.

    - `readout`: what decides, without thresholds of one's own;
    - `extent`: the values that numbers may take;
    - `tells`: what `score` says.
    """
    model = reading.model
    assert isinstance(model, Network)
    how = model.computed
    columns, layers = (model.first, model.layers) if how is None else (how.columns, how.layers)
    kind, more = _last_sums(kind, readout)
    unit = max(reading.unit, model.unit)
    own = unit if how is None else UNIT_DOUBLE
    weighed = WeightedSums.of(columns, Line.of_scores(columns.scores), reading.space, extent, max(own, columns.unit))
    plain = isinstance(readout, Value | Sign | Argmax) and kind in SUMS_OF_NETWORKS
    if weighed is None or not plain or unit not in BITS_OF_SUMS:
        return None
    file = weights_file(
        of, kind, weighed.base, weighed.weights, score, off=weighed.off, tells=tells,
        more={"digits": BITS_OF_SUMS[unit], "layers": [_told(layer) for layer in (*layers, *more)]},
    )  # fmt: skip
    return file, weighed.inputs


def _last_sums(kind: str, readout: AbstractReadout) -> tuple[str, tuple[Layer, ...]]:
    """What the last sums are, and a layer for them: a softmax of two sums is the logistic function of their difference."""
    if isinstance(readout, Argmax) and readout.link == "softmax" and len(readout.classes) == 2:
        return "logistic", (Layer(np.ones(2), np.array([[-1.0, 1.0]]), np.zeros(1)),)
    return kind, ()


def _told(layer: Layer) -> dict[str, Any]:
    return {
        "leak": hexes(layer.leak.tolist()),
        "weight": hexes(layer.weight.tolist()),
        "base": hexes(layer.intercept.tolist()),
    }
