"""ONNX files: opened, checked, and called by onnxruntime."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from butfor.errors import InputError


class OnnxSession:
    """Calls a graph by onnxruntime, in one thread. A session cannot be saved, so it is made again when it is needed."""

    def __init__(self, file: bytes) -> None:
        self.file = file
        self._session: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_session": None}

    def run(self, outputs: Sequence[str], rows: Mapping[str, NDArray[Any]], what: str) -> list[Any]:
        """These outputs for the rows of each input. `what` says in words what is given, if it is refused."""
        try:
            return list(self.started().run(list(outputs), dict(rows)))
        except InputError:
            raise
        except Exception as error:  # onnxruntime's own kinds of errors have no common class
            raise InputError(
                f"onnxruntime refuses {what} ({error}).".replace("\n", " "),
                "The graph must take a table with one row per case.",
                "Do columns or before=... give what it was trained on?",
            ) from None

    def started(self) -> Any:
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
            "Export the model again.",
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

    for tensor in tensors(graph):
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


def tensors(graph: Any) -> Iterator[Any]:
    """All constant numbers of a graph, wherever they stand."""
    yield from graph.initializer
    for node in graph.node:
        for one in node.attribute:
            if one.HasField("t") and one.name != "membership_values":  # NaN stands between sets there
                yield one.t
            for inner in (*([one.g] if one.HasField("g") else []), *one.graphs):
                yield from tensors(inner)


def producers(graph: Any) -> dict[str, Any]:
    """For each value that is computed, the node that computes it."""
    return {name: node for node in graph.node for name in node.output}


def settings(node: Any) -> dict[str, Any]:
    """The attributes of a node, by name."""
    from onnx.helper import get_attribute_value

    return {one.name: get_attribute_value(one) for one in node.attribute}
