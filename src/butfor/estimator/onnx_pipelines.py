"""Whole pipelines in ONNX files, with typed columns and models of ONNX-ML. onnxruntime computes what they predict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from butfor.errors import InputError, InputTypeError
from butfor.estimator.networks import ROWS_AT_ONCE, class_array
from butfor.estimator.onnx_files import OnnxSession, opened, producers, settings
from butfor.space import frames

ML = "ai.onnx.ml"
"""The domain of the operators that are no networks."""

ONNX_PASSES = ("Identity", "Cast", "Reshape", "Flatten", "Squeeze", "ZipMap")
"""Operators that pass labels and numbers on."""

PIPELINE_OPERATORS = (
    "TreeEnsembleClassifier",
    "TreeEnsembleRegressor",
    "TreeEnsemble",
    "LinearClassifier",
    "LinearRegressor",
    "OneHotEncoder",
    "LabelEncoder",
    "Imputer",
    "Normalizer",
    "Binarizer",
    "FeatureVectorizer",
    "ArrayFeatureExtractor",
)
"""Operators of ONNX-ML that no network has. What reads them is a pipeline, and not a network."""


SUMMING = ("LinearClassifier", "LinearRegressor", "MatMul", "Gemm")
"""Operators of sums, which no number enters without its fraction. Trees know on which side of a threshold it is."""


class TableInput(NamedTuple):
    """One input of a graph: some columns of the table, in one type (text: object)."""

    name: str
    kind: np.dtype[Any]
    width: int | None


def table_inputs(graph: Any) -> tuple[TableInput, ...]:
    """The inputs of a graph, each a table of one type."""
    return tuple(_table_input(one) for one in entries(graph))


def entries(graph: Any) -> list[Any]:
    """The inputs of a graph that are no constants."""
    constants = {tensor.name for tensor in graph.initializer}
    return [one for one in graph.input if one.name not in constants]


def _table_input(entry: Any) -> TableInput:
    sizes = [int(one.dim_value) for one in entry.type.tensor_type.shape.dim]
    kind: np.dtype[Any] | None = _KINDS.get(_type_name(entry))
    if kind is None or (entry.type.tensor_type.HasField("shape") and len(sizes) != 2):
        raise InputError(
            f"the input {entry.name!r} of the ONNX file is {_type_name(entry).lower()} of {len(sizes)} dimensions.",
            f"It must be a table (one row per case) of {', '.join(_KINDS).lower()}.",
            "Convert the model with one input per column, or with one table of numbers.",
        )
    return TableInput(entry.name, kind, (sizes[1] or None) if sizes else None)


def _type_name(entry: Any) -> str:
    import onnx

    return str(onnx.TensorProto.DataType.Name(entry.type.tensor_type.elem_type))


_KINDS: dict[str, np.dtype[Any]] = {
    "FLOAT": np.dtype(np.float32),
    "DOUBLE": np.dtype(np.float64),
    "INT64": np.dtype(np.int64),
    "INT32": np.dtype(np.int32),
    "BOOL": np.dtype(np.bool_),
    "STRING": np.dtype(object),
}


LABELS = ("STRING", "INT64", "INT32", "BOOL")
"""The types of outputs that are labels. All others are numbers."""


class Heads(NamedTuple):
    """What a graph returns: the name of its labels, and that of its numbers (values, scores or probabilities)."""

    labels: str | None
    numbers: str | None


def heads(graph: Any) -> Heads:
    """The outputs of a graph. There may be one of labels and one of numbers."""
    labels = [one.name for one in graph.output if _type_name(one) in LABELS]
    numbers = [one.name for one in graph.output if one.name not in labels]
    if len(labels) > 1 or len(numbers) > 1 or not labels + numbers:
        raise InputError(
            f"the ONNX file has several heads: {[one.name for one in graph.output]}.",
            "One output of labels and one of numbers may be there.",
            "Convert one model at a time, and its probabilities as one table (options={'zipmap': False}).",
        )
    return Heads(*(name[0] if name else None for name in (labels, numbers)))


def needed(graph: Any, *outputs: str | None) -> Iterator[Any]:
    """The nodes that some outputs depend on, in their order."""
    made, found, ahead = producers(graph), set(), [name for name in outputs if name]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += made[name].input if name in made else []
    return (node for node in graph.node if found & set(node.output))


def is_pipeline_graph(graph: Any) -> bool:
    """Whether a graph reads typed columns, returns labels, or holds models of ONNX-ML, unlike a network."""
    inputs = entries(graph)
    if len(inputs) > 1 or any(_type_name(one) not in ("FLOAT", "DOUBLE") for one in inputs):
        return True
    if any(_type_name(one) in LABELS for one in graph.output):
        return True
    ends = [source_of(graph, one.name) for one in graph.output]
    return any(node.domain == ML and node.op_type in PIPELINE_OPERATORS for node in graph.node) or any(
        node is not None and node.op_type == "Exp" for node in ends
    )


def source_of(graph: Any, output: str | None) -> Any:
    """The node that computes an output, seen through what only passes it on; None if there is none."""
    made = producers(graph)
    node = made.get(output or "")
    for _ in graph.node:  # a damaged graph may turn in a circle
        if node is None or node.op_type not in ONNX_PASSES:
            break
        node = made.get(node.input[0])
    return node


def graph_classes(graph: Any) -> list[Any] | None:
    """The classes of a graph as it tells them itself: at its labels, or at its probabilities; None if it does not."""
    from onnx import numpy_helper

    outputs = [one.name for one in graph.output]
    labels = [source_of(graph, name) for name in outputs]
    for node in (*labels, *(node for node in needed(graph, *outputs) if node.op_type == "ZipMap")):
        told = {} if node is None else settings(node)
        for name in ("classlabels_strings", "classlabels_ints", "classlabels_int64s"):
            if told.get(name):
                return [_text(one) for one in told[name]]
        if node is not None and node.op_type == "ArrayFeatureExtractor":
            listed = [one for one in graph.initializer if one.name == node.input[0]]
            if listed:
                return [_text(one) for one in np.ravel(numpy_helper.to_array(listed[0])).tolist()]
    return None


def _text(one: Any) -> Any:
    return one.decode() if isinstance(one, bytes) else one


def _gives_probabilities(graph: Any, numbers: str | None) -> bool:
    """Whether the numbers of a classifier are probabilities, and not scores."""
    if numbers is None:
        return False
    node = source_of(graph, numbers)
    told = {} if node is None else settings(node)
    if node is None or node.op_type in ("LinearRegressor", "TreeEnsembleRegressor", "TreeEnsemble"):
        return False
    if told.get("post_transform") == b"PROBIT":
        return False
    if node.op_type == "TreeEnsembleClassifier":
        weights = np.asarray(told.get("class_weights") or [0.0])
        chances = told.get("post_transform", b"NONE") in (b"LOGISTIC", b"SOFTMAX", b"SOFTMAX_ZERO")
        several = len(graph_classes(graph) or ()) > 2 or len({*told.get("class_ids", [])}) > 1
        return bool((weights >= 0).all()) or (chances and (several or told["post_transform"] == b"LOGISTIC"))
    if node.op_type == "LinearClassifier":
        if len(told.get("intercepts", ())) == 1:
            return told.get("post_transform") == b"LOGISTIC"
        return told.get("post_transform", b"NONE") in (b"LOGISTIC", b"SOFTMAX", b"SOFTMAX_ZERO")
    made = producers(graph)
    zipped = made.get(numbers)
    ends = ("Sigmoid", "Softmax", "Normalizer", "Concat", "Div")
    return node.op_type in ends or (zipped is not None and zipped.op_type == "ZipMap")


class _OnnxPipeline:
    """Calls a graph whose inputs are typed columns.

    - `inputs`: what the graph reads, in its order;
    - `feature_names_in_`: the columns, if each input is one column, or if they were named.
    """

    def __init__(self, file: bytes, columns: Sequence[str] | None) -> None:
        self.file, self._session = file, OnnxSession(file)
        graph = opened(file).graph
        self._session.started()  # it refuses what is no graph, before anyone walks through it
        self.inputs, self.heads = table_inputs(graph), heads(graph)
        end = source_of(graph, self.heads.numbers)
        self._hides = end is None or settings(end).get("post_transform") == b"PROBIT"  # NaN for other reasons, too
        self._cuts_off = not any(node.op_type in SUMMING for node in graph.node)
        fixed = {int(dim.dim_value) for one in entries(graph) for dim in one.type.tensor_type.shape.dim[:1]} - {0}
        self.block = min(fixed, default=ROWS_AT_ONCE)
        widths = [one.width for one in self.inputs]
        if None in widths and len(widths) > 1:
            raise InputError(
                f"some of the {len(widths)} inputs of the ONNX file do not say how many columns they have.",
                "Each must say it, if there are several.",
                "Convert it with types such as FloatTensorType([None, 1]).",
            )
        if columns is None and len(widths) > 1 and set(widths) == {1}:
            columns = [one.name for one in self.inputs]
        if columns is not None:
            self.feature_names_in_ = np.array([str(name) for name in columns], dtype=object)
        count = len(columns or ()) if None in widths else sum(width or 0 for width in widths)
        if columns is not None and len(columns) != count:
            raise InputError(
                f"columns={list(columns)!r} were given.", f"The ONNX file reads {count} columns.", "Name each once."
            )
        if count:
            self.n_features_in_ = count

    def __repr__(self) -> str:
        listed = ", ".join(f"{one.name} ({_name(one.kind)})" for one in self.inputs[:6])
        return f"<{type(self).__name__} that reads {listed}{', ...' if len(self.inputs) > 6 else ''}>"

    def _get_tags(self) -> dict[str, bool]:
        return {"allow_nan": True}

    def returned(self, X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """The labels and the numbers of the graph for a table, asked block by block. What it does not return is empty."""
        given, height = self._given(X)
        wanted = [head for head in self.heads if head is not None]
        found = []
        for at in range(0, max(height, 1), self.block):
            rows = {name: _filled(values[at : at + self.block], self.block) for name, values in given.items()}
            found.append([in_table(out, np.dtype(np.float32)) for out in self._session.run(wanted, rows, "these rows")])
        asked = dict(zip(wanted, (np.concatenate(blocks)[:height] for blocks in zip(*found, strict=True)), strict=True))
        labels, numbers = (np.empty((height, 0)) if head is None else asked[head] for head in self.heads)
        lost = [np.isnan(values).any(axis=1) for values in given.values() if values.dtype.kind == "f"]
        gone = np.any(lost, axis=0) if lost else np.zeros(height, dtype=np.bool_)
        if (gone & (self._hides or np.isnan(numbers).reshape(height, -1).any(axis=1))).any():
            raise InputError("a missing value reaches the model.", "It needs numbers.", "Fill it before.")
        return labels, numbers

    def _given(self, X: Any) -> tuple[dict[str, NDArray[Any]], int]:
        """The columns as each input takes them."""
        X = frames.as_table(X.toarray() if hasattr(X, "toarray") else X)
        names = getattr(self, "feature_names_in_", None)
        if names is not None and not frames.is_array(X):
            X = frames.select(X, tuple(names))
        own = frames.names(X)
        count = getattr(self, "n_features_in_", len(own))
        if len(own) != count:
            raise InputError(f"rows of {len(own)} columns were given.", f"The ONNX file reads {count}.")
        given, at = {}, 0
        for one in self.inputs:
            width = count if one.width is None else one.width
            listed = [typed(X, own[j], j, one.kind, cuts_off=self._cuts_off) for j in range(at, at + width)]
            given[one.name], at = np.column_stack(listed), at + width
        return given, frames.height(X)


def _name(kind: np.dtype[Any]) -> str:
    return "text" if kind.kind == "O" else str(kind)


def typed(table: Any, name: str, position: int, kind: np.dtype[Any], *, cuts_off: bool) -> NDArray[Any]:
    """A column in the type of an input. Only floats may miss a value. Whole numbers lose their fraction, or are refused."""
    if kind.kind == "O":
        held = frames.values(table, name, position)
        wrong = [value for value in held if not isinstance(value, str)]
        if wrong:
            raise InputTypeError(
                f"column {name!r} holds {wrong[0]!r}.",
                "The ONNX file reads text there.",
                "Fill missing values, and write numbers as text." if wrong[0] is None else "Write it as text.",
            )
        return np.array(held, dtype=object)
    numbers = frames.numbers(table, name, position)
    if kind.kind != "f" and np.isnan(numbers).any():
        raise InputError(
            f"column {name!r} misses a value.",
            "The ONNX file reads whole numbers there.",
            "Fill it, or convert the model with floats.",
        )
    broken = numbers != np.trunc(numbers)
    if kind.kind == "i" and not cuts_off and broken.any():
        raise InputError(
            f"column {name!r} holds {float(numbers[broken][0])!r}.",
            "The ONNX file reads whole numbers there.",
            "Round it, and declare the column: bf.Explainer(..., space={" + repr(name) + ": bf.Integer()}).",
        )
    with np.errstate(over="ignore"):
        return numbers.astype(kind)


def _filled(values: NDArray[Any], size: int) -> NDArray[Any]:
    """A block of this size: some rows, of which the last is repeated. Without any row, it is made of nothing."""
    if not len(values):
        return np.full((size, values.shape[1]), "" if values.dtype == object else 0, dtype=values.dtype)
    return np.concatenate([values, np.repeat(values[-1:], size - len(values), axis=0)])


def in_table(found: Any, kind: np.dtype[Any]) -> NDArray[Any]:
    """What onnxruntime returned, as an array. ZipMap makes a dict from classes to probabilities for each row."""
    if isinstance(found, list):
        return np.array([list(row.values()) for row in found], dtype=kind)
    return np.asarray(found)


class OnnxPipelineRegressor(_OnnxPipeline):
    """A pipeline in an ONNX file that predicts values."""

    _estimator_type = "regressor"

    def check(self) -> None:
        """Refuse a file that does not predict one value per row."""
        if self.heads.numbers is None or self.heads.labels is not None:
            raise InputError(
                "the ONNX file returns labels, and does not tell its classes.", "", "Name them: classes=[...]."
            )

    def predict(self, X: Any) -> NDArray[Any]:
        """The values."""
        _, found = self.returned(X)
        if found.ndim == 2 and found.shape[1] != 1:
            raise InputError(
                f"the ONNX file returns {found.shape[1]} numbers per row.",
                "One value is needed.",
                "If they are classes, name them: bf.onnx_model(path, classes=[...]). Otherwise convert one model per value.",
            )
        return found.ravel()


class OnnxPipelineClassifier(_OnnxPipeline):
    """A pipeline in an ONNX file that predicts classes.

    - `classes_`: what they are called;
    - `told`: how the file itself calls them.
    """

    def __init__(self, file: bytes, columns: Sequence[str] | None, classes: Sequence[Any]) -> None:
        super().__init__(file, columns)
        self.classes_ = class_array(classes)
        told = graph_classes(opened(file).graph)
        self.told = list(classes) if told is None else told

    def check(self) -> None:
        """Refuse classes that are not as many as the file has."""
        if len(self.told) != len(self.classes_):
            raise InputError(
                f"{len(self.classes_)} classes were given.", f"The ONNX file has {len(self.told)}: {self.told}."
            )

    def predict(self, X: Any) -> NDArray[Any]:
        """The classes: the labels of the file, or those of its largest numbers if it has none."""
        labels, numbers = self.returned(X)
        if self.heads.labels is None:
            return np.asarray(self.classes_[np.argmax(self._checked(numbers), axis=1)])
        at = {label: k for k, label in enumerate(self.told)}
        return np.asarray(self.classes_[[at[label] for label in labels.ravel().tolist()]])

    def _checked(self, numbers: NDArray[Any]) -> NDArray[Any]:
        if numbers.ndim != 2 or numbers.shape[1] != len(self.classes_):
            raise InputError(
                f"the ONNX file returns numbers of shape {numbers.shape[1:]} per row.",
                f"One for each of the {len(self.classes_)} classes is needed.",
            )
        return numbers


class OnnxPipelineProbabilities(OnnxPipelineClassifier):
    """The same, of a file that tells probabilities."""

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """The probability of each class, as onnxruntime computes it in float32."""
        return self._checked(self.returned(X)[1])


def onnx_pipeline(file: bytes, graph: Any, classes: Sequence[Any] | None, columns: Sequence[str] | None) -> Any:
    """The pipeline in an ONNX file. It knows its classes itself, if it has any."""
    told = graph_classes(graph) if classes is None else list(classes)
    if told is None:
        return OnnxPipelineRegressor(file, columns)
    chances = _gives_probabilities(graph, heads(graph).numbers)
    return (OnnxPipelineProbabilities if chances else OnnxPipelineClassifier)(file, columns, told)
