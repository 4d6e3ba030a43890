"""ONNX graphs of networks whose units are piecewise linear."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from butfor.errors import UnsupportedModelError
from butfor.estimator.boosters import known_classes
from butfor.estimator.networks import End
from butfor.estimator.onnx_files import opened, settings
from butfor.estimator.onnx_graphs import OnnxClassifier, OnnxRegressor, table_shape, the_input, the_output
from butfor.estimator.onnx_pipelines import needed
from butfor.importers.fold.column import Column
from butfor.importers.fold.operators import ALL_ROWS, Ended, Operators, imported, network_width, unknown
from butfor.importers.fold.sums import Sums
from butfor.importers.registry import Imported, register_importer


@dataclass(frozen=True, eq=False)
class OneMinus:
    """1 minus a probability."""

    of: Ended


class GraphOperators(Operators):
    """Operators of a graph that takes a fixed number of rows at a time (0: any number). Shapes are tuples."""

    def __init__(self, width: int, rows: int, *, single: bool) -> None:
        super().__init__(width, single=single)
        self.rows = rows


def read_network(network: Any, columns: list[Column]) -> Imported:
    """A graph that was wrapped by `onnx_model`."""
    graph = opened(network.file).graph
    rows, _ = table_shape(the_input(graph))
    to = GraphOperators(network_width(network, columns), rows, single=network.single)
    found = returned(graph, to)
    if not isinstance(found, Sums | Ended):
        raise UnsupportedModelError("the ONNX file returns no sums.", "", "Let the swarm search.")
    return imported(found, to, columns, known_classes(network))


def returned(graph: Any, to: GraphOperators) -> Any:
    """What a graph returns, written down."""
    from onnx import numpy_helper

    values: dict[str, Any] = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    values[the_input(graph).name] = to.tape.inputs
    output = the_output(graph)
    for node in needed(graph, output):  # they are sorted
        values[node.output[0]] = written(operator_name(node), settings(node), values_of(node, values), to)
    return values[output]


def operator_name(node: Any) -> str:
    """The name of a node's operator, with its domain if that is not ONNX itself."""
    return str(node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}")


def values_of(node: Any, values: Mapping[str, Any]) -> list[Any]:
    """The inputs of a node; None for those that are left out."""
    return [values[one] if one else None for one in node.input]


def written(name: str, said: Mapping[str, Any], given: list[Any], to: GraphOperators) -> Any:
    """What one operator returns for these inputs."""
    if name not in ONNX_OPERATORS:
        raise unknown(name, ONNX_OPERATORS)
    if name not in AFTER_THE_END and any(isinstance(one, Ended | OneMinus) for one in given):
        raise unknown(f"{name} after the end", ONNX_OPERATORS)
    return ONNX_OPERATORS[name](to, said, *given)


def _gemm(to: GraphOperators, said: Mapping[str, Any], a: Any, b: Any, c: Any = None) -> Any:
    if not isinstance(a, Sums) or isinstance(b, Sums) or isinstance(c, Sums) or said.get("transA"):
        raise unknown("Gemm of other than weights", ONNX_OPERATORS)
    weight = said.get("alpha", 1.0) * (b if said.get("transB") else b.T).astype(np.float64)
    return to.linear(a, weight, None if c is None else np.ravel(said.get("beta", 1.0) * c.astype(np.float64)))


def _product(to: GraphOperators, said: Mapping[str, Any], a: Any, b: Any) -> Any:
    if not isinstance(a, Sums) or isinstance(b, Sums):
        raise unknown("MatMul of other than weights", ONNX_OPERATORS)
    return to.linear(a, b.T if b.ndim == 2 else b[None], None)


def _minus(to: GraphOperators, said: Mapping[str, Any], a: Any, b: Any) -> Any:
    if isinstance(b, Ended):
        if b.end is End.SIGMOID and np.size(a) == 1 and np.all(a == 1):
            return OneMinus(b)
        raise unknown("Sub after the end", ONNX_OPERATORS)
    return to.minus(a, b)


def _norm(
    to: GraphOperators, said: Mapping[str, Any], x: Sums, scale: Any, shift: Any, mean: Any, variance: Any
) -> Any:
    if said.get("training_mode"):
        raise unknown("BatchNormalization in training", ONNX_OPERATORS)
    return to.normalised(x, mean, variance, said.get("epsilon", float(np.float32(1e-5))), scale, shift)


def _scaler(to: GraphOperators, said: Mapping[str, Any], x: Sums) -> Any:
    if not to.single:
        raise unknown("ai.onnx.ml.Scaler of float64, which returns float32", ONNX_OPERATORS)
    return to.times(to.minus(x, np.array(said.get("offset", [0.0]))), np.array(said.get("scale", [1.0])))


def _cast(to: GraphOperators, said: Mapping[str, Any], x: Any) -> Any:
    from onnx import TensorProto

    if isinstance(x, Sums | Ended | OneMinus) and said["to"] != (
        TensorProto.FLOAT if to.single else TensorProto.DOUBLE
    ):
        raise unknown(f"Cast to {TensorProto.DataType.Name(said['to']).lower()}", ONNX_OPERATORS)
    return x


def _reshaped(to: GraphOperators, said: Mapping[str, Any], x: Any, shape: Any) -> Any:
    if not isinstance(x, Sums | Ended):
        return np.reshape(x, shape)
    width = (x.scores if isinstance(x, Ended) else x).width
    wanted = list(shape) if isinstance(shape, tuple) else np.ravel(shape).tolist()
    for at, own in enumerate((ALL_ROWS, width)[: len(wanted)]):  # 0 stands for the length as it is
        wanted[at] = own if wanted[at] == 0 or (own is ALL_ROWS and wanted[at] == to.rows) else wanted[at]
    return to.reshaped(x, tuple(wanted))


def _flatten(to: GraphOperators, said: Mapping[str, Any], x: Any) -> Any:
    if said.get("axis", 1) != 1:
        raise unknown(f"Flatten(axis={said['axis']})", ONNX_OPERATORS)
    return x


def _joined(to: GraphOperators, said: Mapping[str, Any], *parts: Any) -> Any:
    if all(isinstance(part, Sums) for part in parts) and said["axis"] in (1, -1):
        return to.tape.stacked(list(parts))
    first, last = parts[0], parts[-1]
    if len(parts) == 2 and isinstance(first, OneMinus) and first.of is last:
        return last  # the probabilities of both classes, made of one
    if all(isinstance(part, tuple | np.ndarray) for part in parts):
        return tuple(one for part in parts for one in (part if isinstance(part, tuple) else np.ravel(part).tolist()))
    raise unknown("Concat of other than numbers of the network", ONNX_OPERATORS)


def _gathered(to: GraphOperators, said: Mapping[str, Any], x: Any, at: Any) -> Any:
    if not isinstance(x, tuple) or np.size(at) != 1:
        raise unknown("Gather", ONNX_OPERATORS)
    return x[int(np.ravel(at)[0])] if np.ndim(at) == 0 else (x[int(at[0])],)


def _unsqueezed(to: GraphOperators, said: Mapping[str, Any], x: Any, axes: Any = None) -> Any:
    if isinstance(x, Sums | Ended | OneMinus | np.ndarray):
        raise unknown("Unsqueeze", ONNX_OPERATORS)
    return (x,)


def _constant(to: GraphOperators, said: Mapping[str, Any]) -> Any:
    from onnx import numpy_helper

    (value,) = said.values()
    return numpy_helper.to_array(value) if hasattr(value, "data_type") else np.asarray(value)


def _transposed(to: GraphOperators, said: Mapping[str, Any], x: Any) -> Any:
    if not isinstance(x, np.ndarray):
        raise unknown("Transpose of numbers of the network", ONNX_OPERATORS)
    return np.transpose(x, said.get("perm"))


def _same(to: GraphOperators, said: Mapping[str, Any], x: Any, *others: Any) -> Any:
    return x


def _ended(end: End) -> Callable[..., Ended]:
    def operator(to: GraphOperators, said: Mapping[str, Any], x: Sums) -> Ended:
        if said.get("axis", 1) not in (1, -1):
            raise unknown(f"{end}(axis={said['axis']})", ONNX_OPERATORS)
        return Ended(x, end)

    return operator


AFTER_THE_END = ("Identity", "Cast", "Reshape", "Flatten", "Squeeze", "Sub", "Concat", "ai.onnx.ml.ZipMap")
"""Operators that may follow Softmax and Sigmoid. They change no number."""

ONNX_OPERATORS: dict[str, Callable[..., Any]] = {
    "Gemm": _gemm,
    "MatMul": _product,
    "Add": lambda to, said, a, b: to.plus(a, b),
    "Sub": _minus,
    "Mul": lambda to, said, a, b: to.times(a, b),
    "Div": lambda to, said, a, b: to.divided(a, b),
    "Neg": lambda to, said, x: to.times(x, -1.0),
    "Relu": lambda to, said, x: to.bent(x, 0.0),
    "LeakyRelu": lambda to, said, x: to.bent(x, said.get("alpha", float(np.float32(0.01)))),
    "BatchNormalization": _norm,
    "ai.onnx.ml.Scaler": _scaler,
    "Flatten": _flatten,
    "Reshape": _reshaped,
    "Squeeze": _same,
    "Unsqueeze": _unsqueezed,
    "Identity": _same,
    "Dropout": _same,
    "Cast": _cast,
    "Concat": _joined,
    "Shape": lambda to, said, x: (ALL_ROWS, x.width),
    "Gather": _gathered,
    "Constant": _constant,
    "Transpose": _transposed,
    "Sigmoid": _ended(End.SIGMOID),
    "Softmax": _ended(End.SOFTMAX),
    "LogSoftmax": _ended(End.LOG_SOFTMAX),
    "ai.onnx.ml.ZipMap": _same,
}
"""For each operator, what is written down for it. It gets the node's attributes (float32), then its inputs."""

register_importer(OnnxClassifier, read_network)
register_importer(OnnxRegressor, read_network)
