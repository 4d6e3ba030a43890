"""Networks in ONNX files with the interface of an estimator. onnxruntime computes what they predict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
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

ONNX_ENDS = {"Sigmoid": End.SIGMOID, "Softmax": End.SOFTMAX, "LogSoftmax": End.LOG_SOFTMAX, "ZipMap": End.SOFTMAX}
"""What the numbers of a graph are, by its last operator. All other operators give scores."""

ONNX_SHAPES = ("Flatten", "Reshape", "Squeeze", "Identity", "Dropout", "Cast")
"""Operators that pass the numbers on."""


class _Onnx(AbstractNetwork):
    """Calls a graph by onnxruntime, in one thread."""

    _session: Any

    def __init__(self, file: bytes, columns: Sequence[str] | None) -> None:
        self.file, self._session = file, None
        graph = opened(file).graph
        self._started()  # it refuses what is no graph, before anyone walks through it
        entry, output = the_input(graph), the_output(graph)
        self._entry, self._output = entry.name, output
        rows, width = table_shape(entry)
        self.block = rows or self.block
        super().__init__(columns, width, _end(graph, output), single=_in_single(graph, entry))

    def __getstate__(self) -> dict[str, Any]:
        """A session cannot be saved. It is made again when it is needed."""
        return {**vars(self), "_session": None}

    def returned(self, rows: NDArray[Any]) -> NDArray[Any]:
        try:
            (found,) = self._started().run([self._output], {self._entry: rows})
        except Exception as error:  # onnxruntime's own kinds of errors have no common class
            raise InputError(
                f"onnxruntime refuses rows of {rows.shape[1]} numbers ({error}).".replace("\n", " "),
                "The graph must take a table with one row per case.",
                "Do columns or before=... give what it was trained on?",
            ) from None
        if isinstance(found, list):  # what ZipMap makes: a dict from classes to probabilities for each row
            return np.array([list(row.values()) for row in found], dtype=rows.dtype)
        return np.asarray(found)

    def _started(self) -> Any:
        """The session of onnxruntime."""
        if self._session is None:
            import onnxruntime

            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.log_severity_level = 4  # what it logs as an error, it raises, too
            try:
                self._session = onnxruntime.InferenceSession(self.file, options, providers=["CPUExecutionProvider"])
            except Exception as error:  # the same
                raise InputError(
                    f"onnxruntime does not take the ONNX file ({error}).".replace("\n", " "),
                    f"This is onnxruntime {onnxruntime.__version__}.",
                    "Update it, or export the network for an older operator set (opset_version=...).",
                ) from None
        return self._session


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
    """A network in an ONNX file (or its bytes) as a model. onnxruntime computes what it predicts, in one thread.

    - `classes`: the classes in the order of its outputs. One output speaks for the second of two. Without classes it
      is a regressor;
    - `columns`: the names of the columns that it reads, in its order. With `before`, those of the preprocessor;
    - `before`: a fitted preprocessor. What it returns goes to the network, as numbers of its type.

    A graph that ends in Softmax, LogSoftmax or Sigmoid returns probabilities; any other returns scores. Networks of ReLU
    units as `torch.onnx`, skl2onnx and tf2onnx write them are read and answered exactly; the swarm searches through all
    others. `pip install "butfor[onnx]"` installs what it needs.
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
    columns = None if before is not None else columns
    network: Any = OnnxRegressor(held, columns) if classes is None else OnnxClassifier(held, columns, classes)
    return behind(before, network)


def opened(file: bytes) -> Any:
    """The model in the bytes of an ONNX file, checked, with its local functions written out."""
    import onnx
    from google.protobuf.message import DecodeError
    from onnx.inliner import inline_local_functions

    try:
        model = onnx.load_model_from_string(file)
    except DecodeError:
        model = onnx.ModelProto()
    if not model.graph.node:
        raise InputError(
            f"the ONNX file of {len(file)} bytes is damaged or cut off.",
            "A whole file is needed.",
            "Export the network again.",
        )
    _check_sets(model)
    _check_weights(model.graph)
    return inline_local_functions(model) if model.functions else model


def _check_sets(model: Any) -> None:
    """Refuse operator sets that the installed library does not know yet."""
    import onnx

    newest = onnx.defs.onnx_opset_version()
    if model.ir_version > onnx.IR_VERSION:
        raise InputError(
            f"the ONNX file is of version {model.ir_version}.",
            f"onnx {onnx.__version__} knows the versions up to {onnx.IR_VERSION}.",
            "Update onnx and onnxruntime, or export the network with an older opset_version.",
        )
    for one in model.opset_import:
        if one.domain in ("", "ai.onnx") and one.version > newest:
            raise InputError(
                f"the ONNX file needs operator set {one.version}.",
                f"onnx {onnx.__version__} knows the sets up to {newest}.",
                "Update onnx and onnxruntime, or export the network with an older opset_version.",
            )


def _check_weights(graph: Any) -> None:
    """Refuse weights in other files, in half precision, and NaN."""
    import onnx

    for tensor in _tensors(graph):
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            raise InputError(
                f"the weights {tensor.name!r} lie in another file.",
                "butfor reads no file but the one given.",
                "Save the network in one file (torch.onnx.export(..., external_data=False)).",
            )
        kind = onnx.TensorProto.DataType.Name(tensor.data_type)
        if kind not in ("FLOAT", "DOUBLE") and ("FLOAT" in kind or "INT4" in kind):
            raise InputError(
                f"the weights {tensor.name!r} are {kind.lower()}.",
                "They must be float32 or float64.",
                "Export the network before it is made smaller.",
            )
        if kind in ("FLOAT", "DOUBLE") and not np.isfinite(onnx.numpy_helper.to_array(tensor)).all():
            raise InputError(
                f"the weights {tensor.name!r} hold NaN or infinity.", "They must be numbers.", "Train it again."
            )


def _tensors(graph: Any) -> Iterator[Any]:
    yield from graph.initializer
    for node in graph.node:
        for one in node.attribute:
            if one.HasField("t"):
                yield one.t
            for inner in (*([one.g] if one.HasField("g") else []), *one.graphs):
                yield from _tensors(inner)


def the_input(graph: Any) -> Any:
    """The only input of a graph: a table of numbers."""
    import onnx

    constants = {tensor.name for tensor in graph.initializer}
    inputs = [one for one in graph.input if one.name not in constants]
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


def producers(graph: Any) -> dict[str, Any]:
    """For each value that is computed, the node that computes it."""
    return {name: node for node in graph.node for name in node.output}


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

    kinds = {tensor.data_type for tensor in _tensors(graph)} & {onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE}
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
