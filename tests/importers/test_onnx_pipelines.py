"""Pipelines in ONNX files: what is read of them says what onnxruntime says, and answers are those of the original."""

from __future__ import annotations

import itertools
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LogisticRegression, PoissonRegressor, Ridge, RidgeClassifier, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import butfor as bf
from butfor.estimator.onnx_pipelines import OnnxPipelineClassifier
from butfor.importers.libraries import onnx_trees
from butfor.importers.read import read
from butfor.model.trees import Trees
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import why_unread
from tests.importers.converted import before, converted, table
from tests.importers.samples import answers
from tests.shorter import first

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install butfor[onnx]")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install butfor[onnx]")
RUNTIME = tuple(map(int, onnxruntime.__version__.split(".")[:2]))
helper, kinds = onnx.helper, onnx.TensorProto

pytestmark = pytest.mark.filterwarnings("ignore")
SMALL: dict[str, Any] = {"n_estimators": 8, "max_depth": 3, "random_state": 0}

CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "logistic": lambda: LogisticRegression(max_iter=300),
    "forest": lambda: RandomForestClassifier(**SMALL),
    "xgboost": lambda: pytest.importorskip("xgboost").XGBClassifier(**SMALL),
    "ridge": RidgeClassifier,
    "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(**SMALL),
    "boosting": lambda: GradientBoostingClassifier(**SMALL),
    "histograms": lambda: HistGradientBoostingClassifier(max_iter=8, max_depth=3, random_state=0),
    "network": lambda: MLPClassifier((4,), max_iter=500, random_state=0),
    "lightgbm": lambda: pytest.importorskip("lightgbm").LGBMClassifier(**SMALL, verbose=-1),
}
REGRESSORS: dict[str, Callable[[], Any]] = {
    "poisson": lambda: PoissonRegressor(max_iter=300),
    "histograms": lambda: HistGradientBoostingRegressor(max_iter=8, max_depth=3, random_state=0),
    "ridge": Ridge,
    "lasso": lambda: Lasso(0.1),
    "tree": lambda: DecisionTreeRegressor(max_depth=4, random_state=0),
    "forest": lambda: RandomForestRegressor(**SMALL),
    "boosting": lambda: GradientBoostingRegressor(**SMALL),
    "xgboost": lambda: pytest.importorskip("xgboost").XGBRegressor(**SMALL),
    "lightgbm": lambda: pytest.importorskip("lightgbm").LGBMRegressor(**SMALL, verbose=-1),
}


def labels(X: pd.DataFrame, count: int) -> np.ndarray:
    """Two answers in words, or three numbers."""
    return answers(X) if count == 2 else np.digitize(X["income"].fillna(30_000), [27_000, 34_000])


def amounts(X: pd.DataFrame) -> np.ndarray:
    return np.asarray(X["age"].fillna(40) / 10 + X["income"].fillna(30_000) / 10_000 + (X["job"] == "pilot"))


def fitted(estimator: Any, X: pd.DataFrame, y: np.ndarray, encoder: Any = None) -> Any:
    """The pipeline and its file."""
    other = type(estimator).__module__.startswith(("xgboost", "lightgbm"))
    if other:
        pytest.importorskip("onnxmltools")
        y = np.unique(y, return_inverse=True)[1] if y.dtype.kind in "UO" else y
    pipeline = make_pipeline(before(encoder, scaled=not other), estimator).fit(X, y)
    return pipeline, converted(pipeline, X)


def proven(model: Any, X: Any, row: Any, target: Any) -> Any:
    answer = bf.Explainer(model, X).explain(row, target=target)
    assert answer.certificate.status in (bf.Status.PROVEN_OPTIMAL, bf.Status.WITHIN_GAP), answer.certificate
    return answer


def check_same(pipeline: Any, file: bytes, X: Any, target: Callable[[Any, Any], Any], rows: int) -> None:
    """The answers of the file are proven, and cost what those of the original do, but for float32."""
    model = bf.onnx_model(file)
    check_importer(model, X)
    for at in range(rows):
        row = X.iloc[[at]]
        ours, theirs = (proven(one, X, row, target(one, row)) for one in (model, pipeline))
        assert ours.cost == pytest.approx(theirs.cost, rel=1e-3, abs=1e-5)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("several", [False, pytest.param(True, marks=pytest.mark.long)], ids=["two", "three"])
@pytest.mark.parametrize("name", first(3, CLASSIFIERS))
def test_classifiers_are_proven_as_the_originals_are(name, several) -> None:
    X = table(lost=("income",))
    pipeline, file = fitted(CLASSIFIERS[name](), X, labels(X, 3 if several else 2))
    assert bf.onnx_model(file).classes_.tolist() == pipeline.classes_.tolist()
    check_same(pipeline, file, X, lambda one, row: "other", 2)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", first(2, REGRESSORS))
def test_regressors_are_proven_as_the_originals_are(name) -> None:
    X = table(lost=("age",))
    pipeline, file = fitted(REGRESSORS[name](), X, amounts(X))
    target = bf.value(at_least=float(np.quantile(pipeline.predict(X), 0.8)) - 1e-4)  # no leaf's own value, in any type
    low = X[pipeline.predict(X) < np.quantile(pipeline.predict(X), 0.6)]
    model = bf.onnx_model(file)
    check_importer(model, X)
    ours, theirs = (proven(one, X, low.iloc[[0]], target) for one in (model, pipeline))
    assert ours.cost == pytest.approx(theirs.cost, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("name", ["logistic", "forest"])
def test_whole_numbers_that_are_declared_to_be_any(name) -> None:
    """The file cuts fractions off. Trees are read so, and a sum that does it is none."""
    X = table()
    _, file = fitted(CLASSIFIERS[name](), X, labels(X, 2))
    model, any_number = bf.onnx_model(file), {"rooms": bf.Continuous()}
    if name == "logistic":
        assert "Cast to whole numbers" in read(model, X, any_number).model.why
        with pytest.raises(ValueError, match=r"column 'rooms' holds 2.5.*whole numbers.*bf.Integer"):
            model.predict(X.assign(rooms=2.5))
    else:
        check_importer(model, X, space=any_number)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_random_pipelines(name, seed) -> None:
    X = table(seed, lost=("income", "age")[: seed % 3])
    encoder = [None, OrdinalEncoder(), OneHotEncoder(drop="first"), OneHotEncoder()][seed % 4]
    _, file = fitted(CLASSIFIERS[name](), X, labels(X, 2 + seed % 2), encoder)
    check_importer(bf.onnx_model(file), X, seed)


ENCODERS: dict[str, Callable[[], Any]] = {
    "ordinal": OrdinalEncoder,
    "unknown": lambda: OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    "one dropped": lambda: OneHotEncoder(drop="first"),
    "strict": OneHotEncoder,
}


@pytest.mark.parametrize("name", ENCODERS)
def test_encoders(name) -> None:
    X = table()
    _, file = fitted(DecisionTreeClassifier(max_depth=4, random_state=0), X, labels(X, 2), ENCODERS[name]())
    check_importer(bf.onnx_model(file), X)


STEPS: dict[str, tuple[Callable[[], Any], str]] = {
    "categories of whole numbers": (lambda: OneHotEncoder(handle_unknown="ignore"), "whole"),
    "codes of halves": (OrdinalEncoder, "halves"),
    "binarizer": (lambda: Binarizer(threshold=1.5), "any"),
    "strict categories of floats": (OneHotEncoder, "floats"),
    "codes of whole numbers": (OrdinalEncoder, "whole"),
    "clipped": (lambda: MinMaxScaler(clip=True), "any"),
    "robust": (RobustScaler, "any"),
    "largest": (MaxAbsScaler, "any"),
    "selection": (lambda: SelectKBest(k=2), "any"),
    "imputer": (lambda: SimpleImputer(strategy="median"), "missing"),
}


@pytest.mark.parametrize("name", first(3, STEPS))
def test_steps_over_one_table(name) -> None:
    make, kind = STEPS[name]
    rng = np.random.default_rng(0)
    whole, X = rng.integers(1, 6, (120, 3)), (rng.normal(size=(120, 3)) * 9).astype(np.float32)
    X = {"whole": whole, "floats": whole.astype(np.float32), "halves": (whole / 2).astype(np.float32)}.get(kind, X)
    if kind == "missing":
        X[rng.random(X.shape) < 0.1] = np.nan
    total = np.nan_to_num(X[:, :2]).sum(axis=1)
    y = (total > np.median(total)).astype(int)
    for last in (DecisionTreeClassifier(max_depth=4, random_state=0), LogisticRegression(max_iter=300)):
        if not (name == "clipped" and isinstance(last, LogisticRegression)):  # the model would be bent
            check_importer(bf.onnx_model(converted(make_pipeline(make(), last).fit(X, y), X, zipmap=False)), X)


def test_columns_of_several_types_side_by_side() -> None:
    """FeatureVectorizer takes floats and whole numbers, as older converters write it, and a truth is a number to trees."""
    said = trees(np.random.default_rng(0), "target", (0,))
    nodes = [
        helper.make_node("Cast", ["flag"], ["one"], to=kinds.FLOAT),
        helper.make_node("FeatureVectorizer", ["a", "b"], ["two"], domain="ai.onnx.ml", inputdimensions=[1, 1]),
        helper.make_node("Concat", ["one", "two"], ["x"], axis=1),
        helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1, **said),
    ]
    types = {"flag": kinds.BOOL, "a": kinds.DOUBLE, "b": kinds.DOUBLE}
    inputs = [helper.make_tensor_value_info(name, kind, [None, 1]) for name, kind in types.items()]
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    made = helper.make_model(helper.make_graph(nodes, "g", inputs, VALUE), opset_imports=sets, ir_version=9)
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"b": rng.normal(size=60), "flag": rng.random(60) < 0.5, "a": rng.normal(size=60)})
    reading = check_importer(bf.onnx_model(made.SerializeToString()), X)
    assert reading.source.names == ("flag", "a", "b")


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        *((name, dtype) for name in ("logistic", "forest", "boosting") for dtype in (np.float32, np.int64)),
        ("logistic", np.float64), ("forest", np.float64),
    ],
)  # fmt: skip
def test_one_table_of_numbers(name, dtype) -> None:
    """Before float64 skl2onnx writes other operators, and onnxruntime compares in float64."""
    X = (np.random.default_rng(0).normal(size=(120, 3)) * 9).astype(dtype)
    y = np.where(X[:, 0] + X[:, 1] > 3, "yes", "no")
    pipeline = make_pipeline(StandardScaler(), CLASSIFIERS[name]()) if dtype != np.int64 else CLASSIFIERS[name]()
    model = bf.onnx_model(converted(pipeline.fit(X, y), X, zipmap=False))
    reading = check_importer(model, X)
    assert model.classes_.tolist() == ["no", "yes"]
    assert reading.readout.link != "none"


def test_enumeration_of_a_small_table() -> None:
    """Every row that can be reached is asked of onnxruntime itself."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"a": rng.integers(0, 6, 80), "b": rng.integers(0, 5, 80), "job": rng.choice(list("xyz"), 80)})
    y = (X["a"] + 2 * (X["job"] == "x") - X["b"] + rng.normal(size=80) > 1).astype(int)
    steps = make_column_transformer((OneHotEncoder(), ["job"]), ("passthrough", ["a", "b"]), sparse_threshold=0)
    for estimator in (RandomForestClassifier(**SMALL), GradientBoostingClassifier(**SMALL), LogisticRegression()):
        model = bf.onnx_model(converted(make_pipeline(steps, estimator).fit(X, y), X))
        every = pd.DataFrame(itertools.product(range(6), range(5), list("xyz")), columns=list(X))
        met = every[model.predict(every) == 1]
        explainer = bf.Explainer(model, X)
        for row in X[model.predict(X) == 0].index[:3]:
            factual = X.loc[[row]]
            answer = explainer.explain(
                factual, target=1, cost=bf.L1(weights={"a": 1.0, "b": 1.0, "job": 1.5}, scale="none")
            )
            costs = (met["a"] - factual["a"].item()).abs() + (met["b"] - factual["b"].item()).abs()
            costs = costs + 1.5 * (met["job"] != factual["job"].item())
            assert answer.cost == pytest.approx(costs.min())
            assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL


def test_the_path_of_a_file_is_enough(tmp_path: Path) -> None:
    X = table()
    pipeline, file = fitted(LogisticRegression(max_iter=300), X, labels(X, 2))
    path = tmp_path / "model.onnx"
    path.write_bytes(file)
    explainer = bf.Explainer(str(path), X)
    now = pipeline.predict(X)
    answer = explainer.explain(X[now == "no"].iloc[[0]], target=bf.probability("yes", at_least=0.7))
    assert answer.certificate.status.found
    assert explainer.reading.source.classes == ("no", "yes")
    model = bf.onnx_model(path)
    assert "age (float32)" in repr(model)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    renamed = bf.onnx_model(path, classes=["reject", "accept"])
    assert set(renamed.predict(X)) == {"reject", "accept"}


# Tree ensembles as no converter writes them.

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT")


def file_of(operator: str, outputs: list[Any], kind: Any = kinds.FLOAT, version: int = 3, **said: Any) -> bytes:
    node = helper.make_node(operator, ["x"], [one.name for one in outputs], domain="ai.onnx.ml", **said)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", kind, [None, 3])], outputs)
    sets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", version)]
    return bytes(helper.make_model(graph, opset_imports=sets, ir_version=9).SerializeToString())


VALUE = [helper.make_tensor_value_info("y", kinds.FLOAT, None)]
LABEL = [helper.make_tensor_value_info("l", kinds.INT64, [None]), *VALUE]


def trees(
    rng: Any, of: str, ids: tuple[int, ...], modes: tuple[str, ...] = MODES, *, sign: str = "both"
) -> dict[str, Any]:
    """Three trees of three questions each, with what every leaf says of each id."""
    said: dict[str, list[Any]] = {}

    def add(**values: Any) -> None:
        for name, value in values.items():
            said.setdefault(name, []).append(value)

    whole = any(mode.endswith("EQ") and mode != "BRANCH_LEQ" for mode in modes)
    for tree, node in itertools.product(range(3), range(7)):
        leaf = node > 2
        add(
            nodes_treeids=tree, nodes_nodeids=node, nodes_featureids=0 if leaf else int(rng.integers(3)),
            nodes_modes="LEAF" if leaf else str(rng.choice(modes)),
            nodes_values=0.0 if leaf else float(rng.integers(1, 5)) if whole else float(rng.normal()),
            nodes_truenodeids=0 if leaf else 2 * node + 1, nodes_falsenodeids=0 if leaf else 2 * node + 2,
            nodes_missing_value_tracks_true=int(rng.integers(2)),
        )  # fmt: skip
        for one in ids if leaf else ():
            weight = float(rng.normal())
            weight = {"both": weight, "positive": abs(weight) / 4, "negative": -abs(weight)}[sign]
            add(**{f"{of}_treeids": tree, f"{of}_nodeids": node, f"{of}_ids": one, f"{of}_weights": weight})
    return said


def numbers(*, whole: bool = False) -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.integers(0, 6, (60, 3)).astype(float) if whole else np.round(rng.normal(size=(60, 3)), 2)


@pytest.mark.parametrize("modes", [MODES, ("BRANCH_EQ", "BRANCH_NEQ"), ("BRANCH_LEQ", "BRANCH_EQ")], ids=str)
@pytest.mark.parametrize("mean", ["SUM", "AVERAGE"])
@pytest.mark.parametrize("post", first(1, ["NONE", "LOGISTIC"]))
def test_every_question_of_a_tree(modes, mean, post) -> None:
    for seed in range(2):
        said = trees(np.random.default_rng(seed), "target", (0,), modes)
        file = file_of(
            "TreeEnsembleRegressor", VALUE, n_targets=1, aggregate_function=mean, post_transform=post, **said
        )
        check_importer(bf.onnx_model(file), numbers(whole=modes != MODES))


@pytest.mark.parametrize("double", [False, True], ids=["float32", "float64"])
def test_thresholds_are_compared_in_their_own_type(double) -> None:
    said = trees(np.random.default_rng(0), "target", (0,))
    for name in ("nodes_values", "target_weights") if double else ():
        values = said.pop(name)
        said[f"{name}_as_tensor"] = helper.make_tensor(name, kinds.DOUBLE, [len(values)], values)
    said |= {} if double else {"base_values": [0.5]}
    file = file_of("TreeEnsembleRegressor", VALUE, kinds.DOUBLE, n_targets=1, **said)
    check_importer(bf.onnx_model(file), numbers())


def check_end(file: bytes) -> None:
    """Some ends of one score are computed in another way by older runtimes. Such a file is refused there."""
    try:
        check_importer(bf.onnx_model(file), numbers())
    except bf.errors.FidelityError:
        if RUNTIME >= (1, 28):
            raise


@pytest.mark.parametrize("post", first(2, ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"]))
@pytest.mark.parametrize("ids", [(0,), (0, 1), (0, 1, 2)], ids=str)
@pytest.mark.parametrize("sign", first(2, ["both", "positive", "negative"]))
def test_every_end_of_a_classifier(post, ids, sign) -> None:
    """With leaves of one sign, onnxruntime compares with another number."""
    count = max(len(ids), 2)
    for base in ([], [0.1] if len(ids) == 1 else [0.1] * count if count > 2 else []):
        said = trees(np.random.default_rng(len(ids)), "class", ids, sign=sign)
        said |= {"base_values": base} if base else {}
        file = file_of(
            "TreeEnsembleClassifier", LABEL, post_transform=post, classlabels_int64s=list(range(count)), **said
        )
        check_end(file)


@pytest.mark.parametrize("post", first(2, ["LOGISTIC", "SOFTMAX", "NONE", "SOFTMAX_ZERO", "PROBIT"]))
@pytest.mark.parametrize(("scores", "opposite"), [(1, False), (2, False), (2, True), (3, False)])
def test_every_end_of_a_linear_classifier(post, scores, opposite) -> None:
    rng = np.random.default_rng(0)
    weight, start = rng.normal(size=(scores, 3)), rng.normal(size=scores)
    if opposite:
        weight[0], start[0] = -weight[1], -start[1]
    file = file_of(
        "LinearClassifier", LABEL, coefficients=weight.ravel().tolist(), intercepts=start.tolist(),
        post_transform=post, classlabels_ints=list(range(max(scores, 2))),
    )  # fmt: skip
    check_end(file)


def newer(rng: Any, *, targets: int = 1, members: bool = False, mean: int = 1, kind: Any = kinds.FLOAT) -> bytes:
    """A `TreeEnsemble`: two trees of three questions and four leaves each."""
    modes = [6 if members and node == 1 else int(rng.integers(4)) for _ in range(2) for node in range(3)]
    splits = rng.integers(1, 5, 6).astype(float) if members else rng.normal(size=6)
    leaves = rng.normal(size=8)
    more = {}
    if members:
        listed = [value for _ in range(2) for value in (*rng.choice(6, 2, replace=False).astype(float), np.nan)]
        more["membership_values"] = helper.make_tensor("m", kind, [len(listed)], listed)
    asked = helper.make_tensor("o", kinds.UINT8, [6], modes)
    shift = [(1, 0, 2, 0), (0, 1, 1, 1), (2, 1, 3, 1)]
    places = [(yes + (4 if a else 3) * t, a, no + (4 if b else 3) * t, b) for t in range(2) for yes, a, no, b in shift]
    yes, yes_leaf, no, no_leaf = (list(part) for part in zip(*places, strict=True))
    return file_of(
        "TreeEnsemble", [helper.make_tensor_value_info("y", kind, None)], kind, 5,
        tree_roots=[0, 3], nodes_featureids=rng.integers(3, size=6).tolist(), nodes_modes=asked,
        nodes_splits=helper.make_tensor("s", kind, [6], splits), nodes_truenodeids=yes, nodes_trueleafs=yes_leaf,
        nodes_falsenodeids=no, nodes_falseleafs=no_leaf, leaf_targetids=rng.integers(targets, size=8).tolist(),
        leaf_weights=helper.make_tensor("w", kind, [8], leaves), n_targets=targets, aggregate_function=mean,
        nodes_missing_value_tracks_true=rng.integers(2, size=6).tolist(), **more,
    )  # fmt: skip


@pytest.mark.parametrize("given", [{}, {"members": True}, {"mean": 0}, {"kind": kinds.DOUBLE}, {"targets": 3}], ids=str)
def test_the_newer_tree_ensemble(given) -> None:
    for seed in range(2):
        file = newer(np.random.default_rng(seed), **given)
        classes = list("abc") if given.get("targets") else None
        check_importer(bf.onnx_model(file, classes=classes), numbers(whole="members" in given))


def test_a_wrong_reading_is_caught(monkeypatch) -> None:
    """A reader that takes "less than" for "at most" is found out at the cuts."""
    said = trees(np.random.default_rng(0), "target", (0,), ("BRANCH_LT",))
    model = bf.onnx_model(file_of("TreeEnsembleRegressor", VALUE, n_targets=1, **said))
    right = onnx_trees.grown

    def wrong(*given: Any) -> Any:
        found = right(*given)
        return type(found)(**{**vars(found), "mode": [mode.replace("_LT", "_LEQ") for mode in found.mode]})

    check_importer(model, numbers())
    monkeypatch.setattr("butfor.importers.libraries.onnx_models.grown", wrong)
    with pytest.raises(bf.errors.FidelityError):
        check_importer(model, numbers())


# What is refused, and in which words.


@pytest.mark.parametrize(
    ("last", "words"),
    [(make_pipeline(Normalizer(), LogisticRegression()), "Normalizer"), (SGDClassifier(loss="log_loss"), "Exp.*node")],
    ids=["Normalizer", "own operators"],
)
def test_what_is_not_read_is_named_and_searched(last, words) -> None:
    X = np.random.default_rng(0).normal(size=(80, 3)).astype(np.float32)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = bf.onnx_model(converted(last.fit(X, y), X))
    why = why_unread(model, X)
    assert re.search(words, why)
    answer = bf.Explainer(model, X).explain(X[:1], solver=bf.Swarm(calls=20))
    assert answer.certificate.status in (bf.Status.VALID, bf.Status.NOT_FOUND)


def test_the_columns_must_be_those_of_the_file() -> None:
    X = table()
    _, file = fitted(DecisionTreeClassifier(max_depth=2), X, labels(X, 2))
    model = bf.onnx_model(file)
    with pytest.raises(bf.errors.InputError, match=r"lacks the columns \['income'\]"):
        read(model, X.drop(columns="income"))
    with pytest.raises(TypeError, match="data is an array, but the model was fitted on named columns"):
        read(model, X.to_numpy(dtype=object))
    with pytest.raises(TypeError, match="reads text"):
        read(model, X.assign(job=3, town=4))
    with pytest.raises(ValueError, match="holds 'much' where the model needs numbers"):
        read(model, X.assign(income="much"))
    with pytest.raises(ValueError, match=r"columns=\['a'\] were given.*reads 6 columns"):
        bf.onnx_model(file, columns=["a"])
    with pytest.raises(ValueError, match=r"3 classes were given.*has 2"):
        bf.onnx_model(file, classes=list("abc"))


@pytest.mark.parametrize("share", [0.2, 0.6, 0.95])
def test_a_file_that_is_cut_off(share, tmp_path: Path) -> None:
    X = table()
    _, file = fitted(DecisionTreeClassifier(max_depth=2), X, labels(X, 2))
    path = tmp_path / "cut.onnx"
    path.write_bytes(file[: int(share * len(file))])
    with pytest.raises(bf.errors.InputError):
        bf.Explainer(path, X)


def test_several_heads_are_refused() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    forest = RandomForestClassifier(**SMALL).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match=r"several heads.*one model at a time"):
        bf.onnx_model(converted(forest, X, zipmap="columns"))
    two = RandomForestRegressor(**SMALL).fit(X, X[:, :2])
    with pytest.raises(ValueError, match="2 numbers per row"):
        bf.Explainer(bf.onnx_model(converted(two, X)), X)


def test_whole_numbers_and_missing_values() -> None:
    """A column of whole numbers takes no missing value, and one of floats takes it where the pipeline fills it."""
    X = table(lost=("income",))
    _, file = fitted(GradientBoostingClassifier(**SMALL), X, labels(X, 2))
    model = bf.onnx_model(file)
    reading = read(model, X)
    assert {feature.name for feature in reading.space if feature.missing} == {"age", "income"}
    assert isinstance(reading.model, Trees)
    assert isinstance(model, OnnxPipelineClassifier)
    with pytest.raises(ValueError, match="column 'rooms' misses a value"):
        model.predict(X.assign(rooms=np.nan))
    with pytest.raises(TypeError, match="reads text there"):
        model.predict(X.assign(job=None))
