"""PyTorch modules with the interface of an estimator."""

from __future__ import annotations

import inspect
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

TORCH_ENDS = {"sigmoid": End.SIGMOID, "softmax": End.SOFTMAX, "logsoftmax": End.LOG_SOFTMAX}
"""What the numbers of a module are, by its last operator. All other operators give scores."""

TORCH_SHAPES = ("flatten", "view", "reshape", "squeeze", "identity", "dropout", "contiguous")
"""Operators that pass the numbers on."""


class _Torch(AbstractNetwork):
    """Calls a module."""

    def __init__(
        self, module: Any, columns: Sequence[str] | None, end: End, width: int | None, *, single: bool
    ) -> None:
        self.module = module
        super().__init__(columns, width, end, single=single)

    def returned(self, rows: NDArray[Any]) -> NDArray[Any]:
        import torch

        check_mode(self.module)
        check_precision()
        with torch.inference_mode(), torch.autocast("cpu", enabled=False):
            try:
                found = self.module(torch.from_numpy(rows))
            except (RuntimeError, TypeError, IndexError) as error:
                raise InputError(
                    f"the module refuses rows of {rows.shape[1]} numbers ({error}).".replace("\n", " "),
                    "It must take a table with one row per case.",
                    "Do columns or before=... give what it was trained on?",
                ) from None
        return np.asarray(found.numpy())


class TorchRegressor(_Torch, AbstractNetworkRegressor):
    """A PyTorch module that predicts values."""


class TorchClassifier(_Torch, AbstractNetworkClassifier):
    """A PyTorch module that predicts classes."""

    def __init__(self, module: Any, columns: Any, end: End, width: int | None, classes: Any, *, single: bool) -> None:
        super().__init__(module, columns, end, width, single=single)
        self.classes_ = class_array(classes)


def torch_model(
    module: Any, *, classes: Sequence[Any] | None = None, columns: Sequence[str] | None = None, before: Any = None
) -> Any:
    """A PyTorch module as a model. The module itself is called, in eval mode and without gradients.

    `bf.Explainer` needs it, because a module does not say what its numbers are.

    - `classes`: the classes in the order of its outputs. One output speaks for the second of two. Without classes it
      is a regressor;
    - `columns`: the names of the columns that it reads, in its order. With `before`, those of the preprocessor;
    - `before`: a fitted preprocessor. What it returns goes to the module, as numbers of the module's type.

    A module that ends in Softmax, LogSoftmax or Sigmoid returns probabilities; any other returns scores. Modules of
    linear layers with ReLU or LeakyReLU, BatchNorm1d, Dropout and residual additions are read and answered exactly; the
    swarm searches through all others. `pip install "butfor[torch]"` installs what it needs.
    """
    check_module(module)
    graph = traced(module)
    width, single = first_width(module), check_weights(module)
    columns = None if before is not None else columns
    end = _end(module, graph)
    network: Any = (
        TorchRegressor(module, columns, end, width, single=single)
        if classes is None
        else TorchClassifier(module, columns, end, width, classes, single=single)
    )
    return behind(before, network)


def check_module(module: Any, door: str = "bf.torch_model") -> None:
    """Refuse what is no module, and a module that is being trained."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError("PyTorch is not installed.", "", 'Run: pip install "butfor[torch]"') from None
    if not isinstance(module, torch.nn.Module):
        name = module.__name__ if isinstance(module, type) else type(module).__name__
        raise InputTypeError(f"{name} was given to {door}.", "A torch.nn.Module is needed.")
    check_mode(module)


def check_mode(module: Any) -> None:
    """Refuse a module in training mode: its dropout is random, and its batch norm depends on the other rows."""
    if module.training or any(part.training for part in module.modules()):
        raise InputError("the module is in training mode.", "It must be in eval mode.", "Call module.eval() first.")


def check_precision() -> None:
    """Refuse products of float32 that have fewer digits than float32: the derived doubt would not hold."""
    import torch

    if torch.get_float32_matmul_precision() != "highest":
        raise InputError(
            f"PyTorch was told to multiply in {torch.get_float32_matmul_precision()!r} precision.",
            "Proofs need all digits of float32.",
            "Call torch.set_float32_matmul_precision('highest') first.",
        )


def check_weights(module: Any) -> bool:
    """Whether the weights are float32 (else float64). Other types, other devices and NaN are refused."""
    import torch

    weights = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    held = {name: weight for name, weight in weights.items() if weight.is_floating_point()}
    for name, weight in held.items():
        if weight.dtype not in (torch.float32, torch.float64):
            raise InputError(
                f"the weights {name!r} are {str(weight.dtype).removeprefix('torch.')}.",
                "They must be float32 or float64.",
                "Call module.float() first.",
            )
        if weight.device.type != "cpu":
            raise InputError(
                f"the weights {name!r} lie on {weight.device}.", "They must be on the CPU.", "Call module.cpu()."
            )
        if not bool(torch.isfinite(weight).all()):
            raise InputError(f"the weights {name!r} hold NaN or infinity.", "They must be numbers.", "Train it again.")
    kinds = {weight.dtype for weight in held.values()}
    if len(kinds) > 1:
        raise InputError("some weights are float32 and some float64.", "They must be alike.", "Call module.float().")
    return torch.float64 not in kinds


def first_width(module: Any) -> int | None:
    """How many numbers the first layer reads; None if the layers do not tell."""
    for part in module.modules():
        for name in ("in_features", "num_features"):
            if isinstance(getattr(part, name, None), int):
                return int(getattr(part, name))
    return None


def traced(module: Any) -> Any:
    """The module's operators, as a graph of torch.fx. A module whose operators depend on the row is refused."""
    import torch.fx

    fixed = {
        name: one.default
        for name, one in inspect.signature(module.forward).parameters.items()
        if one.default is not inspect.Parameter.empty
    }
    try:
        graph = torch.fx.Tracer().trace(module, concrete_args=fixed)
    except Exception as error:
        raise UnsupportedModelError(
            f"{type(module).__name__} cannot be traced ({type(error).__name__}: {error}).",
            "What it does must not depend on the row: no if, no loop over numbers that it computes.",
            "Write it without, or give a function of rows to bf.black_box(function, classes=[...]).",
        ) from None
    if [node.op for node in graph.nodes].count("placeholder") != 1 + len(fixed):
        raise InputError(f"{type(module).__name__} takes several inputs.", "One is needed: a table of numbers.")
    return graph


def _end(module: Any, graph: Any) -> End:
    """What the numbers are that the module returns."""
    (node,) = (node for node in graph.nodes if node.op == "output")
    (found,) = node.args
    if not hasattr(found, "op"):
        raise InputError(
            f"the module returns a {type(found).__name__} of several heads.",
            "It must return one tensor.",
            "Wrap it in a module that returns the one to explain.",
        )
    while operator_name(module, found) in TORCH_SHAPES and found.args:
        found = found.args[0]
    return TORCH_ENDS.get(operator_name(module, found), End.SCORES)


def operator_name(module: Any, node: Any) -> str:
    """The name of a node's operator, in small letters without underscores: "logsoftmax" for each of its spellings."""
    if node.op == "call_module":
        name = type(module.get_submodule(node.target)).__name__
    elif node.op == "call_function":
        name = node.target.__name__
    else:
        name = str(node.target) if node.op == "call_method" else node.op
    return name.lower().replace("_", "")
