"""Networks in ONNX files with the interface of an estimator. onnxruntime computes what they predict."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from butfor.errors import InputError, InputTypeError, MissingExtraError
from butfor.estimator.networks import (
    AbstractNetwork,
    AbstractNetworkClassifier,
    AbstractNetworkRegressor,
    End,
    behind,
    class_array,
)
from butfor.estimator.onnx_files import OnnxSession, opened, producers, tensors
from butfor.estimator.onnx_pipelines import entries, graph_classes, in_table, is_pipeline_graph, onnx_pipeline

ONNX_ENDS = {"Sigmoid": End.SIGMOID, "Softmax": End.SOFTMAX, "LogSoftmax": End.LOG_SOFTMAX, "ZipMap": End.SOFTMAX}
"""What the numbers of a graph are, by its last operator. All other operators give scores."""

ONNX_SHAPES = ("Flatten", "Reshape", "Squeeze", "Identity", "Dropout", "Cast")
"""Operators that pass the numbers on."""


class _Onnx(AbstractNetwork):
    """Calls a graph by onnxruntime."""

    def __init__(self, file: bytes, columns: Sequence[str] | None) -> None:
        self.file, self._session = file, OnnxSession(file)
        graph = opened(file).graph
        self._session.started()  # it refuses what is no graph, before anyone walks through it
        entry, output = the_input(graph), the_output(graph)
        self._entry, self._output = entry.name, output
        rows, width = table_shape(entry)
        self.block = rows or self.block
        super().__init__(columns, width, _end(graph, output), single=_in_single(graph, entry))

    def returned(self, rows: NDArray[Any]) -> NDArray[Any]:
        (found,) = self._session.run([self._output], {self._entry: rows}, f"rows of {rows.shape[1]} numbers")
        return in_table(found, rows.dtype)


class OnnxRegressor(_Onnx, AbstractNetworkRegressor):
    """An ONNX file that predicts values."""


class OnnxClassifier(_Onnx, AbstractNetworkClassifier):
    """An ONNX file that predicts classes."""

    def __init__(self, file: bytes, columns: Sequence[str] | None, classes: Sequence[Any]) -> None:
        super().__init__(file, columns)
        self.classes_ = class_array(classes)


def onnx_model(
    file: str | Path | bytes,
    *,
    classes: Sequence[Any] | None = None,
    columns: Sequence[str] | None = None,
    before: Any = None,
) -> Any:
    """A network or a converted pipeline in an ONNX file (or its bytes) as a model. onnxruntime predicts, in one thread.

    Choose it where `bf.Explainer` cannot take the path alone: for networks with classes, bytes, and preprocessors.

    - `classes`: the classes in the order of its outputs. One output speaks for the second of two. A pipeline knows them
      itself, and here they get other names. A network without classes is a regressor;
    - `columns`: the names of the columns that it reads, in its order. With `before`, those of the preprocessor;
    - `before`: a fitted preprocessor. What it returns goes to the file, as numbers of its type.

    A graph that ends in Softmax, LogSoftmax or Sigmoid returns probabilities; any other network returns scores. Networks of
    ReLU units as `torch.onnx`, skl2onnx and tf2onnx write them are read and answered exactly, and so are pipelines of
    scikit-learn, XGBoost and LightGBM as skl2onnx and onnxmltools write them; the swarm searches through all others.
    `pip install "butfor[onnx]"` installs what it needs.
    """
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(f"{error.name} is not installed.", "", 'Run: pip install "butfor[onnx]"') from None
    if not isinstance(file, str | Path | bytes):
        raise InputTypeError(
            f"{type(file).__name__} was given to bf.onnx_model.", "The path of an ONNX file, or its bytes, are needed."
        )
    held = file if isinstance(file, bytes) else Path(file).read_bytes()
    graph = opened(held).graph
    columns = None if before is not None else columns
    if is_pipeline_graph(graph):
        return behind(before, onnx_pipeline(held, graph, classes, columns))
    classes = graph_classes(graph) if classes is None else classes
    network: Any = OnnxRegressor(held, columns) if classes is None else OnnxClassifier(held, columns, classes)
    return behind(before, network)


def the_input(graph: Any) -> Any:
    """The only input of a graph: a table of numbers."""
    import onnx

    inputs = entries(graph)
    if len(inputs) != 1:
        raise InputError(
            f"the ONNX file has {len(inputs)} inputs: {[one.name for one in inputs]}.",
            "One is needed: a table of numbers.",
            "Export the network alone, and give its preprocessor: before=...",
        )
    kind = inputs[0].type.tensor_type.elem_type
    if kind not in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE):
        raise InputError(
            f"the ONNX file reads {onnx.TensorProto.DataType.Name(kind).lower()}.",
            "It must read float32 or float64.",
            "Export the network alone, and give its preprocessor: before=...",
        )
    return inputs[0]


def the_output(graph: Any) -> str:
    """The name of the output with numbers. skl2onnx puts the labels beside it."""
    import onnx

    numbers = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
    found = [
        one.name
        for one in graph.output
        if one.type.HasField("sequence_type") or one.type.tensor_type.elem_type in numbers
    ]
    if len(found) != 1:
        raise InputError(
            f"the ONNX file has several heads: {[one.name for one in graph.output]}.",
            f"One output of numbers is needed; {len(found)} of them are.",
            "Export a network that returns the one to explain.",
        )
    return str(found[0])


def table_shape(entry: Any) -> tuple[int, int | None]:
    """How many rows a graph takes at a time (0: any number), and how many numbers a row has (None: it does not tell)."""
    sizes = [int(one.dim_value) for one in entry.type.tensor_type.shape.dim]
    if entry.type.tensor_type.HasField("shape") and len(sizes) != 2:
        raise InputError(
            f"the ONNX file reads an array of {len(sizes)} dimensions.",
            "Two are needed: one row per case.",
            "Export the network for a table of numbers.",
        )
    return (sizes[0], sizes[1] or None) if sizes else (0, None)


def _in_single(graph: Any, entry: Any) -> bool:
    import onnx

    kinds = {tensor.data_type for tensor in tensors(graph)} & {onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE}
    kind = entry.type.tensor_type.elem_type
    if kinds - {kind}:
        raise InputError(
            "some numbers of the ONNX file are float32 and some float64.",
            "They must be alike.",
            "Export it in float32.",
        )
    return bool(kind == onnx.TensorProto.FLOAT)


def _end(graph: Any, output: str) -> End:
    """What the numbers are that a graph returns."""
    made = producers(graph)
    node = made.get(output)
    while node is not None and node.op_type in ONNX_SHAPES:
        node = made.get(node.input[0])
    if node is None:
        return End.SCORES
    if node.op_type == "Concat" and {End.SIGMOID} == {_end(graph, name) for name in node.input[-1:]}:
        return End.SOFTMAX  # the probabilities of both classes, made of one
    return ONNX_ENDS.get(node.op_type, End.SCORES)
