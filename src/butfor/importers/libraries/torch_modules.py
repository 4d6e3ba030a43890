"""PyTorch modules whose units are piecewise linear, read from the graph of torch.fx."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from butfor.errors import UnsupportedModelError
from butfor.estimator.boosters import known_classes
from butfor.estimator.networks import End
from butfor.estimator.torch_modules import TORCH_SHAPES, TorchClassifier, TorchRegressor, operator_name, traced
from butfor.importers.fold.column import Column
from butfor.importers.fold.operators import ALL_ROWS, Ended, Operators, imported, network_width, unknown
from butfor.importers.fold.sums import Sums
from butfor.importers.registry import Imported, register_importer

SHAPE = object()
"""In place of the shape of a table of numbers."""


def read_network(network: Any, columns: list[Column]) -> Imported:
    """A module that was wrapped by `torch_model`."""
    operators = Operators(network_width(network, columns), single=network.single)
    return imported(returned(network.module, operators), operators, columns, known_classes(network))


def returned(module: Any, operators: Operators) -> Sums | Ended:
    """What a module returns, written down."""
    graph = traced(module)
    (last,) = (node for node in graph.nodes if node.op == "output")
    (wanted,) = last.args
    needed = _needed(wanted)
    values: dict[Any, Any] = {}
    for node in graph.nodes:
        if node in needed:
            values[node] = _value(module, node, values, operators)
    found: Sums | Ended = values[wanted]
    return found


def _needed(node: Any) -> set[Any]:
    """The nodes that one depends on, and itself."""
    found: set[Any] = set()
    ahead = [node]
    while ahead:
        one = ahead.pop()
        if one not in found:
            found.add(one)
            ahead += one.all_input_nodes
    return found


def _value(module: Any, node: Any, values: Mapping[Any, Any], operators: Operators) -> Any:
    """The value of one node: numbers of the network, a constant, or something of a shape."""
    from torch.fx.node import map_arg

    if node.op == "placeholder":
        return node.args[0] if node.args else operators.tape.inputs
    if node.op == "get_attr":
        return _array(attrgetter(node.target)(module))
    name = operator_name(module, node)
    args, kwargs = (map_arg(given, values.__getitem__) for given in (node.args, node.kwargs))
    if node.op == "call_module":
        part = module.get_submodule(node.target)
        kwargs = {key: getattr(part, key, None) for key in SETTINGS.get(name, ())}
    ended = any(isinstance(one, Ended) for one in args) and name not in TORCH_SHAPES
    if name not in TORCH_OPERATORS or ended:
        where = f" ({node.target})" if node.op == "call_module" else ""
        raise unknown(f"{name}{where}{' after the end' if ended else ''}", TORCH_OPERATORS)
    return TORCH_OPERATORS[name](operators, *args, **{key: _array(value) for key, value in kwargs.items()})


def _array(value: Any) -> Any:
    """A tensor as an array; anything else as it is."""
    return value.detach().numpy() if hasattr(value, "detach") else value


def _linear(to: Operators, input: Sums, weight: Any, bias: Any = None) -> Sums:
    return to.linear(input, _array(weight), _array(bias))


def _relu(to: Operators, input: Sums, inplace: bool = False) -> Sums:
    return to.bent(input, 0.0)


def _leaky(to: Operators, input: Sums, negative_slope: float = 0.01, inplace: bool = False) -> Sums:
    return to.bent(input, negative_slope)


def _norm(
    to: Operators, input: Sums, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Sums:  # fmt: skip
    if running_mean is None or training:
        raise UnsupportedModelError(
            "a batch norm has no running statistics.", "What it does must not depend on the other rows.",
            "Train it with track_running_stats=True.",
        )  # fmt: skip
    mean, variance, factor, shift = map(_array, (running_mean, running_var, weight, bias))
    return to.normalised(input, mean, variance, eps, factor, shift)


def _dropout(to: Operators, input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    if training and p:
        raise UnsupportedModelError(
            "a dropout is random also in eval mode.", "What the module says must not be random.",
            "Write dropout(x, p, training=self.training).",
        )  # fmt: skip
    return input


def _add(to: Operators, input: Any, other: Any, *, alpha: float = 1.0) -> Sums:
    return to.plus(input, other if alpha == 1 else to.times(other, alpha))


def _subtract(to: Operators, input: Any, other: Any, *, alpha: float = 1.0) -> Sums:
    return to.minus(input, other if alpha == 1 else to.times(other, alpha))


def _flatten(to: Operators, input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    return _reshaped(to, input, *((ALL_ROWS, -1) if start_dim == 1 else (-1,)))


def _reshaped(to: Operators, input: Any, *shape: Any) -> Any:
    listed = len(shape) == 1 and isinstance(shape[0], list | tuple)
    return to.reshaped(input, tuple(shape[0]) if listed else shape)


def _same(to: Operators, input: Any, *others: Any, **settings: Any) -> Any:
    return input


def _as_single(to: Operators, input: Any) -> Any:
    if not to.single:
        raise unknown("float in a module of float64", TORCH_OPERATORS)
    return input


def _joined(to: Operators, tensors: Any, dim: int = 0) -> Sums:
    if dim not in (1, -1) or not all(isinstance(one, Sums) for one in tensors):
        raise unknown(f"cat(dim={dim})", TORCH_OPERATORS)
    return to.tape.stacked(list(tensors))


def _size(to: Operators, input: Sums, dim: int | None = None) -> Any:
    return SHAPE if dim is None else ALL_ROWS if dim == 0 else input.width


def _attribute(to: Operators, input: Any, name: str) -> Any:
    if name != "shape":
        raise unknown(f"getattr({name})", TORCH_OPERATORS)
    return SHAPE


def _item(to: Operators, input: Any, at: Any) -> Any:
    if input is not SHAPE or at != 0:
        raise unknown(f"getitem({at})", TORCH_OPERATORS)
    return ALL_ROWS


def _ended(end: End) -> Callable[..., Ended]:
    def operator(to: Operators, input: Sums, dim: int | None = None, *others: Any, dtype: Any = None) -> Ended:
        if dim not in (None, 1, -1) or dtype is not None:
            raise unknown(f"{end}(dim={dim}, dtype={dtype})", TORCH_OPERATORS)
        return Ended(input, end)

    return operator


SETTINGS = {
    "linear": ("weight", "bias"),
    "leakyrelu": ("negative_slope",),
    "batchnorm1d": ("running_mean", "running_var", "weight", "bias", "eps"),
    "dropout": ("training",),
    "flatten": ("start_dim", "end_dim"),
    "softmax": ("dim",),
    "logsoftmax": ("dim",),
}
"""What a module of this name holds, by the names under which its function takes it."""

TORCH_OPERATORS: dict[str, Callable[..., Any]] = {
    "linear": _linear,
    "relu": _relu,
    "leakyrelu": _leaky,
    "batchnorm1d": _norm,
    "batchnorm": _norm,
    "dropout": _dropout,
    "add": _add,
    "iadd": _add,
    "sub": _subtract,
    "isub": _subtract,
    "mul": lambda to, input, other: to.times(input, other),
    "imul": lambda to, input, other: to.times(input, other),
    "div": lambda to, input, other: to.divided(input, other),
    "truediv": lambda to, input, other: to.divided(input, other),
    "neg": lambda to, input: to.times(input, -1.0),
    "flatten": _flatten,
    "view": _reshaped,
    "reshape": _reshaped,
    "squeeze": _same,
    "identity": _same,
    "contiguous": _same,
    "float": _as_single,
    "cat": _joined,
    "concat": _joined,
    "size": _size,
    "getattr": _attribute,
    "getitem": _item,
    "sigmoid": _ended(End.SIGMOID),
    "softmax": _ended(End.SOFTMAX),
    "logsoftmax": _ended(End.LOG_SOFTMAX),
}
"""For each operator, by its name in small letters, what is written down for it. Arguments are named as torch names them."""

register_importer(TorchClassifier, read_network)
register_importer(TorchRegressor, read_network)
