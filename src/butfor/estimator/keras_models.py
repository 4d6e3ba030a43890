"""Keras models with the interface of an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.errors import InputError, InputTypeError, MissingExtraError, UnsupportedModelError
from butfor.estimator.networks import (
    AbstractNetwork,
    AbstractNetworkClassifier,
    AbstractNetworkRegressor,
    End,
    behind,
    class_array,
)
from butfor.estimator.torch_modules import check_precision

KERAS_ENDS = {"sigmoid": End.SIGMOID, "softmax": End.SOFTMAX, "log_softmax": End.LOG_SOFTMAX}
"""What the numbers of a model are, by the last function of it. All others give scores."""

KERAS_SAME = (
    "Dropout", "GaussianDropout", "GaussianNoise", "AlphaDropout", "ActivityRegularization", "Identity", "Flatten",
)  # fmt: skip
"""Layers that pass numbers on, outside of training."""


class _Keras(AbstractNetwork):
    """Calls a model."""

    def __init__(self, model: Any, columns: Sequence[str] | None, end: End, width: int | None, *, single: bool) -> None:
        self.model = model
        super().__init__(columns, width, end, single=single)

    def returned(self, rows: NDArray[Any]) -> NDArray[Any]:
        import keras

        _check_types(self.model)
        _check_backend(self.model)
        return np.asarray(keras.ops.convert_to_numpy(self.model(rows, training=False)))


class KerasRegressor(_Keras, AbstractNetworkRegressor):
    """A Keras model that predicts values."""


class KerasClassifier(_Keras, AbstractNetworkClassifier):
    """A Keras model that predicts classes."""

    def __init__(self, model: Any, columns: Any, end: End, width: int | None, classes: Any, *, single: bool) -> None:
        super().__init__(model, columns, end, width, single=single)
        self.classes_ = class_array(classes)


def keras_model(
    model: Any, *, classes: Sequence[Any] | None = None, columns: Sequence[str] | None = None, before: Any = None
) -> Any:
    """A Keras model as a model. The Keras model itself is called, outside of training.

    `bf.Explainer` needs it, because a Keras model does not say what its numbers are.

    - `classes`: the classes in the order of its outputs. One output speaks for the second of two. Without classes it
      is a regressor;
    - `columns`: the names of the columns that it reads, in its order. With `before`, those of the preprocessor;
    - `before`: a fitted preprocessor. What it returns goes to the model, as float32.

    A model that ends in softmax or sigmoid returns probabilities; any other returns scores. Sequential and functional
    models of dense layers with ReLU, batch norm, dropout, sums and concatenations are read and answered exactly; the swarm
    searches through all others. Keras 3 is needed, with any of its backends.
    """
    _check_keras(model)
    last = output_of(model)
    _check_weights(model)
    width = _width(model)
    columns = None if before is not None else columns
    end = _end(last)
    network: Any = (
        KerasRegressor(model, columns, end, width, single=True)
        if classes is None
        else KerasClassifier(model, columns, end, width, classes, single=True)
    )
    return behind(before, network)


def _check_keras(model: Any) -> None:
    try:
        import keras
    except ImportError:
        raise MissingExtraError("Keras is not installed.", "", "Run: pip install keras") from None
    if not isinstance(model, keras.Model):
        name = model.__name__ if isinstance(model, type) else type(model).__name__
        raise InputTypeError(f"{name} was given to bf.keras_model.", "A keras.Model (of Keras 3) is needed.")


def output_of(model: Any) -> Any:
    """The tensor that a model returns, as Keras wrote it down. A model without a graph is refused."""
    outputs, given = getattr(model, "outputs", None), getattr(model, "inputs", None)
    if not outputs or not given:
        raise UnsupportedModelError(
            f"{type(model).__name__} has no graph of layers.",
            "It must be a keras.Sequential with an Input, or a functional model.",
            "Or give its predictions: bf.black_box(lambda X: model.predict(X, verbose=0), classes=[...]).",
        )
    if len(outputs) != 1 or len(given) != 1:
        raise InputError(
            f"{type(model).__name__} has {len(given)} inputs and {len(outputs)} outputs.",
            "One of each is needed: a table of numbers, and a number per class.",
        )
    return outputs[0]


def _width(model: Any) -> int:
    shape = tuple(model.inputs[0].shape)
    if len(shape) != 2 or shape[1] is None:
        raise InputError(
            f"the model takes an input of shape {shape}.", "It must take rows of numbers: (None, columns)."
        )
    return int(shape[1])


def _check_weights(model: Any) -> None:
    """Refuse all types but float32, and NaN. Backends compute what is called float64 partly in float32."""
    import keras

    _check_types(model)
    for weight in model.weights:
        if not np.isfinite(keras.ops.convert_to_numpy(weight)).all():
            raise InputError(
                f"the weights {weight.path!r} hold NaN or infinity.", "They must be numbers.", "Train it again."
            )


def _check_types(model: Any) -> None:
    """Refuse a model that computes, takes numbers or holds weights in another type than float32."""
    import keras

    layers = list(model._flatten_layers())
    kinds = {str(layer.compute_dtype) for layer in layers} | {str(weight.dtype) for weight in model.weights}
    kinds |= {str(tensor.dtype) for layer in layers for tensor in getattr(layer, "inputs", None) or ()}
    kinds.add(keras.config.floatx())
    if kinds != {"float32"}:
        raise InputError(
            f"the layers and Keras itself compute in {', '.join(sorted(kinds))}.", "All must be float32.",
            "Build and call the model after keras.config.set_floatx('float32') and set_dtype_policy('float32').",
        )  # fmt: skip


def _check_backend(model: Any) -> None:
    """Refuse products of few digits, and another processor, where the backend tells of them."""
    import keras

    if keras.backend.backend() != "torch":
        return
    check_precision()
    for weight in model.weights:
        if weight.value.device.type != "cpu":
            raise InputError(
                f"the weights {weight.path!r} lie on {weight.value.device}.", "They must be on the CPU.",
                "Load the model inside `with keras.device('cpu')`.",
            )  # fmt: skip


def function_name(layer: Any) -> str:
    """The name of the function at the end of a layer; "" if there is none, "another" for one that is not Keras's own."""
    import keras

    if type(layer).__name__ == "Softmax":
        return "softmax"
    function = getattr(layer, "activation", None)
    name = "" if function is None else getattr(function, "__name__", "another")
    if name in ("", "linear"):
        return ""
    return name if getattr(keras.activations, name, None) is function else "another"


def _end(tensor: Any) -> End:
    """What the numbers are that the model returns."""
    layer, place, _ = tensor._keras_history
    while type(layer).__name__ in KERAS_SAME:
        layer, place, _ = layer._inbound_nodes[place].input_tensors[0]._keras_history
    if hasattr(layer, "outputs") and layer.outputs:
        return _end(output_of(layer))
    return KERAS_ENDS.get(function_name(layer), End.SCORES)
