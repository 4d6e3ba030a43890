"""ONNX files: every operator that is read says what onnxruntime says, and everything else is refused by name."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax
from sklearn.compose import make_column_transformer
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, RobustScaler, StandardScaler

import butfor as bf
from butfor.importers.read import read
from butfor.model.questions import evaluate
from butfor.model.readout import PROBABILITY_STEPS
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import why_unread
from tests.importers.samples import people
from tests.shorter import diagonal

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install butfor[onnx]")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install butfor[onnx]")
helper = onnx.helper

WIDTH = 4
TWO, THREE = ["no", "yes"], ["a", "b", "c"]
LAST = "y"


def rows(count: int = 120) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(count, WIDTH))


def weights(dtype: Any = np.float32) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    made = {
        "W": rng.normal(size=(WIDTH, WIDTH)), "V": rng.normal(size=(WIDTH, WIDTH)), "b": rng.normal(size=WIDTH),
        "one": rng.normal(size=(WIDTH, 1)), "two": rng.normal(size=(WIDTH, 2)), "three": rng.normal(size=(WIDTH, 3)),
        "wide": rng.normal(size=(2 * WIDTH, 1)), "mean": rng.normal(size=WIDTH), "variance": rng.random(WIDTH) + 0.1,
        "half": np.array(0.5), "unit": np.ones(1), "row": rng.normal(size=(1, WIDTH)),
    }  # fmt: skip
    return {name: np.asarray(value, dtype=dtype) for name, value in made.items()}


Step = tuple[str, Sequence[str], str] | tuple[str, Sequence[str], str, dict[str, Any]]


def file_of(
    *steps: Step, dtype: Any = np.float32, rows: Any = "rows", width: int | None = WIDTH, opset: int = 17
) -> bytes:
    """A file with these nodes over the input "x"; the last of them gives what it returns."""
    nodes = [
        helper.make_node(
            kind, list(given), [out], domain="ai.onnx.ml" if kind in ("Scaler", "ZipMap") else "", **dict(*rest)
        )
        for kind, given, out, *rest in steps
    ]
    known = weights(dtype) | {
        "ends": np.array([-1, WIDTH]),
        "line": np.array([-1]),
        "keep": np.array([0, 0]),
        "at": np.array(0),
    }
    read = {name for node in nodes for name in node.input}
    kind = onnx.TensorProto.FLOAT if dtype == np.float32 else onnx.TensorProto.DOUBLE
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", kind, [rows, width])],
        [helper.make_tensor_value_info(steps[-1][2], kind, None)],  # a shape that is not told
        [onnx.numpy_helper.from_array(value, name) for name, value in known.items() if name in read],
    )
    sets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=9).SerializeToString()


HIDDEN: tuple[Step, ...] = (("Gemm", ["x", "W", "b"], "z"), ("Relu", ["z"], "h"))
OPERATORS: dict[str, tuple[Step, ...]] = {
    "Gemm": HIDDEN,
    "Gemm with factors": (("Gemm", ["x", "W", "b"], "z", {"transB": 1, "alpha": 0.5, "beta": 2.0}), ("Relu", ["z"], "h")),
    "MatMul and Add": (("MatMul", ["x", "W"], "u"), ("Add", ["u", "b"], "z"), ("Relu", ["z"], "h")),
    "Add of a row": (("MatMul", ["x", "W"], "u"), ("Add", ["row", "u"], "z"), ("Relu", ["z"], "h")),
    "LeakyRelu": (("Gemm", ["x", "W", "b"], "z"), ("LeakyRelu", ["z"], "h", {"alpha": 0.3})),
    "LeakyRelu as it is": (("Gemm", ["x", "W", "b"], "z"), ("LeakyRelu", ["z"], "h")),
    "BatchNormalization": (
        ("Gemm", ["x", "W", "b"], "z"),
        ("BatchNormalization", ["z", "b", "mean", "mean", "variance"], "n", {"epsilon": 0.01}),
        ("Relu", ["n"], "h"),
    ),
    "constants": (
        ("Sub", ["x", "mean"], "u"), ("Div", ["u", "variance"], "v"), ("Mul", ["half", "v"], "w"), ("Neg", ["w"], "z"),
        ("Relu", ["z"], "h"),
    ),
    "from a constant": (("Sub", ["half", "x"], "z"), ("Relu", ["z"], "h")),
    "residual": (*HIDDEN, ("Add", ["h", "x"], "r"), ("Gemm", ["r", "V"], "q"), ("Relu", ["q"], "s"), ("Add", ["s", "r"], "t")),
    "shapes": (
        ("Flatten", ["x"], "f"), ("Reshape", ["f", "ends"], "g"), ("Reshape", ["g", "keep"], "k"), ("Identity", ["k"], "i"),
        ("Gemm", ["i", "W", "b"], "z"), ("Relu", ["z"], "h"),
    ),
    "shape of the input": (
        ("Shape", ["x"], "s"), ("Gather", ["s", "at"], "n"), ("Constant", [], "axes", {"value_ints": [0]}),
        ("Unsqueeze", ["n", "axes"], "m"), ("Concat", ["m", "line"], "t", {"axis": 0}), ("Reshape", ["x", "t"], "r"),
        ("Relu", ["r"], "h"),
    ),
    "Dropout": (*HIDDEN, ("Dropout", ["h"], "d")),
    "transposed weights": (("Transpose", ["W"], "T"), ("MatMul", ["x", "T"], "z"), ("Relu", ["z"], "h")),
}  # fmt: skip

ENDS: dict[str, tuple[tuple[Step, ...], list[str] | None]] = {
    "one score": ((("MatMul", ["h", "one"], LAST),), TWO),
    "one score without its axis": ((("MatMul", ["h", "one"], "s"), ("Reshape", ["s", "line"], LAST)), TWO),
    "two scores": ((("MatMul", ["h", "two"], LAST),), TWO),
    "three scores": ((("MatMul", ["h", "three"], LAST),), THREE),
    "sigmoid": ((("MatMul", ["h", "one"], "s"), ("Sigmoid", ["s"], LAST)), TWO),
    "both probabilities": (
        (
            ("MatMul", ["h", "one"], "s"), ("Sigmoid", ["s"], "p"), ("Sub", ["unit", "p"], "q"),
            ("Concat", ["q", "p"], LAST, {"axis": 1}),
        ),
        TWO,
    ),
    "softmax": ((("MatMul", ["h", "three"], "s"), ("Softmax", ["s"], LAST)), THREE),
    "log softmax": ((("MatMul", ["h", "two"], "s"), ("LogSoftmax", ["s"], LAST, {"axis": 1})), TWO),
    "a value": ((("MatMul", ["h", "one"], LAST),), None),
    "joined": ((("Concat", ["h", "x"], "j", {"axis": 1}), ("MatMul", ["j", "wide"], LAST)), TWO),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_is_read(name, dtype) -> None:
    steps = OPERATORS[name]
    file = file_of(*steps, ("MatMul", [steps[-1][2], "one"], LAST), dtype=dtype)
    model = bf.onnx_model(file, classes=TWO)
    reading = check_importer(model, rows())
    assert reading.unit == (UNIT_SINGLE if dtype == np.float32 else UNIT_DOUBLE)
    wanted = bf.onnx_model(file).predict(rows())
    close = 1e-5 if dtype == np.float32 else 1e-13
    assert evaluate(reading.model, rows())[:, 0] == pytest.approx(wanted, rel=close, abs=close)


@pytest.mark.parametrize("name", ENDS)
def test_every_end_is_read(name) -> None:
    steps, classes = ENDS[name]
    check_importer(bf.onnx_model(file_of(*HIDDEN, *steps), classes=classes), rows())


@pytest.mark.parametrize("name", ["fixed", "unnamed", "unknown width"])
def test_the_number_of_rows_may_be_fixed_or_open(name) -> None:
    given = {"fixed": {"rows": 3}, "unnamed": {"rows": None}, "unknown width": {"width": None}}[name]
    model = bf.onnx_model(file_of(*HIDDEN, ("MatMul", ["h", "one"], LAST), **given), classes=TWO)
    check_importer(model, rows())
    assert len(model.predict(rows(7))) == 7


SCALERS = {"standard": StandardScaler, "min max": MinMaxScaler, "max abs": MaxAbsScaler, "robust": RobustScaler}


@pytest.mark.shorter(6)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("zipmap", [True, False], ids=["dicts", "arrays"])
@pytest.mark.parametrize("scaler", SCALERS)
@pytest.mark.parametrize("classes", [TWO, THREE], ids=["two classes", "three classes"])
def test_what_skl2onnx_writes(classes, scaler, zipmap) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    X = rows().astype(np.float32)
    y = np.array(classes)[np.digitize(X[:, 0] + X[:, 1], [0.0, 0.8][: len(classes) - 1])]
    fitted = make_pipeline(SCALERS[scaler](), MLPClassifier((4, 3), max_iter=40, random_state=0)).fit(X, y)
    file = skl2onnx.to_onnx(fitted, X[:1], options={id(fitted): {"zipmap": zipmap}}).SerializeToString()
    model = bf.onnx_model(file, classes=classes)
    check_importer(model, X)
    assert (model.predict(X) == fitted.predict(X)).mean() > 0.98


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_what_skl2onnx_writes_of_regressors(dtype) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    X = rows().astype(dtype)
    fitted = make_pipeline(
        MaxAbsScaler(), MLPRegressor(hidden_layer_sizes=(4,), max_iter=40, random_state=0)
    ).fit(X, X[:, 0])  # fmt: skip
    check_importer(bf.onnx_model(skl2onnx.to_onnx(fitted, X[:1]).SerializeToString()), X)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("classes", "fixed"), diagonal([TWO, THREE, None], [False, True]), ids=str)
def test_what_torch_writes(classes, fixed) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnxscript")
    nn = torch.nn
    torch.manual_seed(0)
    hidden = (
        nn.Flatten(),
        nn.Linear(WIDTH, 5),
        nn.BatchNorm1d(5),
        nn.ReLU(),
        nn.Dropout(),
        nn.Linear(5, 4),
        nn.LeakyReLU(),
    )
    module = nn.Sequential(*hidden, nn.Linear(4, 3 if classes == THREE else 1)).eval()
    shapes = None if fixed else ({0: torch.export.Dim("rows")},)
    out = io.BytesIO()
    torch.onnx.export(module, (torch.zeros(2, WIDTH),), out, dynamo=True, dynamic_shapes=shapes, verbose=False)
    model = bf.onnx_model(out.getvalue(), classes=classes)
    check_importer(model, rows())
    same = bf.torch_model(module, classes=classes)
    assert (
        model.predict(rows()) == pytest.approx(same.predict(rows()), abs=1e-5) if classes is None
        else (model.predict(rows()) == same.predict(rows())).all()
    )  # fmt: skip


def test_a_file_behind_a_preprocessor_is_explained(tmp_path: Path) -> None:
    X = people()[["income", "job"]]
    before = make_column_transformer(
        (StandardScaler(), ["income"]), (OneHotEncoder(), ["job"]), sparse_threshold=0
    ).fit(X)
    width = before.transform(X).shape[1]
    rng = np.random.default_rng(0)
    held = {"A": rng.normal(size=(width, 3)), "B": rng.normal(size=(3, 1))}
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "A"], ["z"]), helper.make_node("Relu", ["z"], ["h"]),
            helper.make_node("MatMul", ["h", "B"], ["y"]),
        ],
        "network",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [None, width])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [None, 1])],
        [onnx.numpy_helper.from_array(value.astype(np.float32), name) for name, value in held.items()],
    )  # fmt: skip
    path = tmp_path / "network.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    model = bf.onnx_model(path, before=before)
    check_importer(model, X)
    row = X.iloc[[int(model.predict(X).argmin())]]
    answer = bf.Explainer(model, X).explain(row, target=bf.value(at_least=float(np.median(model.predict(X)))))
    assert answer.found
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))


GOOD = file_of(*HIDDEN, ("MatMul", ["h", "one"], LAST))


def test_ends_round_no_more_than_a_probability_may() -> None:
    z = np.linspace(-30, 30, 200_001).reshape(-1, 1)
    several = np.random.default_rng(0).normal(size=(50_000, 3)) * 5
    for X, kind, link in ((z, "Sigmoid", lambda z: np.hstack([expit(-z), expit(z)])), (several, "Softmax", softmax_of)):
        model = bf.onnx_model(
            file_of((kind, ["x"], LAST), width=X.shape[1]), classes=TWO if kind == "Sigmoid" else THREE
        )
        off = np.abs(model.predict_proba(X) - link(X.astype(np.float32).astype(np.float64))).max()
        assert off <= PROBABILITY_STEPS * UNIT_SINGLE


def softmax_of(z: np.ndarray) -> np.ndarray:
    return np.asarray(softmax(z, axis=1))


def changed(**fields: Any) -> bytes:
    model = onnx.load_model_from_string(GOOD)
    for name, value in fields.items():
        setattr(model, name, value)
    return model.SerializeToString()


def newer() -> bytes:
    model = onnx.load_model_from_string(GOOD)
    model.opset_import[0].version = 999
    return model.SerializeToString()


def elsewhere() -> bytes:
    model = onnx.load_model_from_string(GOOD)
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../secret.bin")
    return model.SerializeToString()


def with_weights(change: Callable[[np.ndarray], np.ndarray]) -> bytes:
    model = onnx.load_model_from_string(GOOD)
    tensor = model.graph.initializer[0]
    tensor.CopyFrom(onnx.numpy_helper.from_array(change(onnx.numpy_helper.to_array(tensor).copy()), tensor.name))
    return model.SerializeToString()


def two_of(part: str, *, open_ended: bool = False) -> bytes:
    model = onnx.load_model_from_string(GOOD)
    if open_ended:
        model.graph.input[0].type.tensor_type.shape.dim[1].Clear()
    more = getattr(model.graph, part).add()
    more.CopyFrom(getattr(model.graph, part)[0])
    more.name = "z" if part == "output" else "more"
    return model.SerializeToString()


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "nothing": (lambda: bf.onnx_model(b""), ValueError, "0 bytes is damaged or cut off"),
    "other bytes": (lambda: bf.onnx_model(b"\x89PNG" * 50), ValueError, "damaged or cut off"),
    "newer operators": (lambda: bf.onnx_model(newer()), ValueError, "operator set 999.*opset_version"),
    "newer format": (lambda: bf.onnx_model(changed(ir_version=99)), ValueError, "version 99.*opset_version"),
    "weights elsewhere": (lambda: bf.onnx_model(elsewhere()), ValueError, "another file.*external_data=False"),
    "NaN": (lambda: bf.onnx_model(with_weights(lambda w: w * np.nan)), ValueError, "hold NaN"),
    "half precision": (lambda: bf.onnx_model(with_weights(lambda w: w.astype(np.float16))), ValueError, "are float16"),
    "two precisions": (lambda: bf.onnx_model(with_weights(lambda w: w.astype(np.float64))), ValueError, "different types"),
    "a circle": (
        lambda: bf.onnx_model(file_of(("Identity", ["u"], "v"), ("Identity", ["v"], "u"), ("Add", ["x", "u"], LAST))),
        ValueError, "onnxruntime does not take",
    ),
    "several widths": (lambda: bf.onnx_model(two_of("input", open_ended=True)), ValueError, "how many columns they have"),
    "several heads": (lambda: bf.onnx_model(two_of("output")), ValueError, "several heads"),
    "no file": (lambda: bf.onnx_model(3), TypeError, "path of an ONNX file"),
    "too many classes": (lambda: bf.onnx_model(GOOD, classes=THREE), ValueError, "returns 1 numbers.*3 classes"),
    "column names": (lambda: bf.onnx_model(GOOD, columns=["a"]), ValueError, "reads 4 columns"),
    "several numbers": (lambda: bf.onnx_model(file_of(("Relu", ["x"], LAST))), ValueError, "returns 4 numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_clear_error(name) -> None:
    call, error, words = REFUSED[name]
    with pytest.raises(error, match=words) as raised:
        call()
    assert isinstance(raised.value, bf.ButforError)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_file_that_is_cut_off_is_a_clear_error(share, tmp_path: Path) -> None:
    path = tmp_path / "cut.onnx"
    path.write_bytes(GOOD[: int(share * len(GOOD))])
    with pytest.raises(bf.errors.InputError):
        bf.onnx_model(path)


def test_a_file_that_is_not_there_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        bf.onnx_model(tmp_path / "none.onnx")


def test_no_other_file_is_opened(tmp_path: Path, monkeypatch) -> None:
    """Weights may name any file of the machine: none is read."""
    (tmp_path / "secret.bin").write_bytes(np.ones(16, dtype=np.float32).tobytes())
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(bf.errors.InputError, match="no file but the one given"):
        bf.onnx_model(elsewhere())


UNREAD: dict[str, tuple[tuple[Step, ...], str]] = {
    "Tanh": ((("Tanh", ["x"], "h"), ("MatMul", ["h", "one"], LAST)), "the operator Tanh of the network cannot be read"),
    "product": ((("Mul", ["x", "x"], "h"), ("MatMul", ["h", "one"], LAST)), "two values of the network are multiplied"),
    "softmax inside": ((("Softmax", ["x"], "h"), ("MatMul", ["h", "one"], LAST)), "MatMul after the end"),
    "over rows": ((("Softmax", ["x"], "h", {"axis": 0}), ("MatMul", ["h", "one"], LAST)), "axis=0"),
    "weights first": ((("MatMul", ["W", "x"], "h"), ("MatMul", ["h", "one"], LAST)), "MatMul of other than weights"),
}


@pytest.mark.parametrize("name", sorted(UNREAD.keys() - {"weights first", "over rows"}))
def test_an_unknown_operator_is_named_and_the_swarm_searches(name) -> None:
    steps, words = UNREAD[name]
    model = bf.onnx_model(file_of(*steps), classes=TWO)
    assert words in why_unread(model, rows())
    answer = bf.Explainer(model, rows()).explain(rows()[:1], solver=bf.Swarm(calls=20))
    assert answer.certificate.status in (bf.Status.VALID, bf.Status.NOT_FOUND)


@pytest.mark.parametrize("name", ["weights first", "over rows"])
def test_what_mixes_rows_is_named(name) -> None:
    steps, words = UNREAD[name]
    assert words in why_unread(bf.onnx_model(file_of(*steps, rows=WIDTH), classes=TWO), rows())


def test_local_functions_are_written_out() -> None:
    """Exporters may put layers into functions of the file."""
    model = onnx.load_model_from_string(GOOD)
    body = [helper.make_node("Relu", ["u"], ["v"])]
    model.functions.append(
        helper.make_function("own", "Bend", ["u"], ["v"], body, [helper.make_opsetid("", 17)])
    )  # fmt: skip
    model.opset_import.append(helper.make_opsetid("own", 1))
    (node,) = (node for node in model.graph.node if node.op_type == "Relu")
    node.op_type, node.domain = "Bend", "own"
    check_importer(bf.onnx_model(model.SerializeToString(), classes=TWO), rows())


def test_names_of_columns_reach_the_explainer() -> None:
    X = pd.DataFrame(rows(), columns=list("wxyz"))
    model = bf.onnx_model(GOOD, classes=TWO, columns=list("zyxw"))
    assert [feature.name for feature in read(model, X).space] == list("zyxw")
