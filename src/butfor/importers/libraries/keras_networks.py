"""Keras models whose units are piecewise linear, read from the graph that Keras wrote down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from butfor.arrays import FloatArray
from butfor.estimator.boosters import known_classes
from butfor.estimator.keras_models import (
    KERAS_ENDS,
    KERAS_SAME,
    KerasClassifier,
    KerasRegressor,
    function_name,
    output_of,
)
from butfor.importers.fold.column import Column
from butfor.importers.fold.operators import Ended, Operators, imported, network_width, unknown
from butfor.importers.fold.sums import Sums
from butfor.importers.registry import Imported, register_importer

LEAK = 0.2
"""The slope below 0 of Keras's function leaky_relu."""


def read_network(network: Any, columns: list[Column]) -> Imported:
    """A model that was wrapped by `keras_model`."""
    operators = Operators(network_width(network, columns), single=network.single)
    found = _returned(network.model, operators, operators.tape.inputs)
    return imported(found, operators, columns, known_classes(network))


def _returned(model: Any, to: Operators, start: Sums | Ended) -> Sums | Ended:
    """What a model returns for what reaches it, written down."""
    known: dict[Any, Sums | Ended] = {_made_by(model.inputs[0]): start}

    def value(tensor: Any) -> Sums | Ended:
        key = _made_by(tensor)
        if key not in known:
            layer, place, _ = tensor._keras_history
            known[key] = _after(layer, [value(one) for one in layer._inbound_nodes[place].input_tensors], to)
        return known[key]

    return value(output_of(model))


def _made_by(tensor: Any) -> tuple[int, int, int]:
    """The layer that makes a tensor, at which of its calls, and which of its results it is."""
    layer, place, result = tensor._keras_history
    return id(layer), int(place), int(result)


def _after(layer: Any, given: list[Sums | Ended], to: Operators) -> Sums | Ended:
    """What leaves a layer."""
    name = type(layer).__name__
    if name in KERAS_SAME and _is_kerass(layer):
        return given[0]
    if any(isinstance(one, Ended) for one in given):
        raise unknown(f"{name} ({layer.name}) after the end", KERAS_LAYERS)
    sums = [one for one in given if isinstance(one, Sums)]
    if name in ("Sequential", "Functional") and _is_kerass(layer):
        return _returned(layer, to, sums[0])
    if name not in KERAS_LAYERS or not _is_kerass(layer):
        raise unknown(f"{name} ({layer.name})", KERAS_LAYERS)
    return _bent(layer, KERAS_LAYERS[name](layer, sums, to), to)


def _is_kerass(layer: Any) -> bool:
    """Whether a layer is Keras's own, and not another of the same name."""
    return type(layer).__module__.partition(".")[0] == "keras"


def _bent(layer: Any, x: Sums, to: Operators) -> Sums | Ended:
    """The function at the end of a layer."""
    name = function_name(layer)
    if name in KERAS_ENDS:
        return Ended(x, KERAS_ENDS[name])
    if name not in ("", "relu", "leaky_relu"):
        raise unknown(f"{name} ({layer.name})", KERAS_LAYERS)
    return to.bent(x, LEAK if name == "leaky_relu" else 0.0) if name else x


def _dense(layer: Any, given: list[Sums], to: Operators) -> Sums:
    if getattr(layer, "quantization_mode", None):
        raise unknown(f"Dense of few bits ({layer.name})", KERAS_LAYERS)
    out = to.linear(given[0], _array(layer.kernel).T, None)
    return to.plus(out, _array(layer.bias)) if layer.use_bias else out


def _relu(layer: Any, given: list[Sums], to: Operators) -> Sums:
    if layer.max_value is not None or layer.threshold:
        raise unknown(f"ReLU(max_value={layer.max_value}, threshold={layer.threshold})", KERAS_LAYERS)
    return to.bent(given[0], float(layer.negative_slope))


def _norm(layer: Any, given: list[Sums], to: Operators) -> Sums:
    if layer.axis not in (-1, 1):
        raise unknown(f"BatchNormalization(axis={layer.axis})", KERAS_LAYERS)
    factor = _array(layer.gamma) if layer.scale else None
    shift = _array(layer.beta) if layer.center else None
    mean, variance = _array(layer.moving_mean), _array(layer.moving_variance)
    return to.normalised(given[0], mean, variance, float(layer.epsilon), factor, shift)


def _added(layer: Any, given: list[Sums], to: Operators) -> Sums:
    out = given[0]
    for one in given[1:]:
        out = to.plus(out, one)
    return out


def _joined(layer: Any, given: list[Sums], to: Operators) -> Sums:
    if layer.axis not in (-1, 1):
        raise unknown(f"Concatenate(axis={layer.axis})", KERAS_LAYERS)
    return to.tape.stacked(given)


def _array(weight: Any) -> FloatArray:
    import keras

    return np.asarray(keras.ops.convert_to_numpy(weight), dtype=np.float64)


KERAS_LAYERS: dict[str, Callable[[Any, list[Sums], Operators], Sums]] = {
    "Dense": _dense,
    "Activation": lambda layer, given, to: given[0],
    "Softmax": lambda layer, given, to: given[0],
    "ReLU": _relu,
    "LeakyReLU": lambda layer, given, to: to.bent(given[0], float(layer.negative_slope)),
    "BatchNormalization": _norm,
    "Add": _added,
    "Subtract": lambda layer, given, to: to.minus(*given),
    "Concatenate": _joined,
    "Rescaling": lambda layer, given, to: to.plus(to.times(given[0], layer.scale), layer.offset),
}
"""For each layer, by its class, what is written down for it."""

register_importer(KerasClassifier, read_network)
register_importer(KerasRegressor, read_network)
