"""What a record says of where an answer comes from: the libraries of the model, the data, and what the user notes."""

import json
from datetime import date
from importlib.metadata import packages_distributions, version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.errors import InputError, InputTypeError
from butfor.records.schema import check_agreement
from butfor.space.data_fingerprint import data_fingerprint
from butfor.verdict.versions import library_versions, versions_of

X = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=list("abc"))
BAD = (X["a"] + X["b"] > 0).astype(int)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, BAD)
ROWS = X[BAD == 0].iloc[:3]
META = {"case": 4711, "by": "Zoë", "notes": [1.5, None, True, {"deep": "<u>"}]}
SAVED = Path(__file__).parent / "saved"


def answers(model=TREE, data=X, rows=ROWS, **options):
    return bf.Explainer(model, data=data).explain(rows, target=1, **options)


def booster(name):
    library = pytest.importorskip(name)
    if name == "xgboost":
        return library.train({"objective": "binary:logistic"}, library.DMatrix(X, BAD), 3)
    if name == "lightgbm":
        return library.train({"objective": "binary", "verbose": -1}, library.Dataset(X, BAD), 3)
    return library.CatBoostClassifier(iterations=3, verbose=0, allow_writing_files=False).fit(X, BAD)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "catboost"])
def test_the_library_of_the_model_is_in_every_record(name, tmp_path):
    found = answers(booster(name))
    installed = next(iter(packages_distributions()[name]))  # XGBoost is also installed as xgboost-cpu
    due = {**library_versions(), installed: version(installed)}
    assert found[0].certificate.versions == due
    assert json.loads(found[0].to_json())["versions"] == due
    found.to_jsonl(tmp_path / "all.jsonl")
    assert bf.load(tmp_path / "all.jsonl")[1].certificate.versions == due
    for page in (found.to_html(), found[0].to_html()):
        assert f"{installed} {version(installed)}" in page


class Weighing(TransformerMixin, BaseEstimator):
    """The user's own step, which holds a booster."""

    def __init__(self, inner):
        self.inner = inner


@pytest.mark.parametrize(
    "around",
    [
        lambda model: make_pipeline("passthrough", model),
        lambda model: CalibratedClassifierCV(make_pipeline(model), cv=2).fit(X, BAD),
        lambda model: GridSearchCV(model, {"max_depth": [2]}, cv=2).fit(X, BAD),
        lambda model: make_pipeline(Weighing([{"of": model}]), LogisticRegression()),
        lambda model: model.predict,
        lambda model: lambda rows: model.predict(rows),
        lambda model: bf.black_box(lambda rows: model.predict_proba(rows), classes=[0, 1]),
        lambda model: type("Own", (), {"predict": lambda self, rows: self.inner.predict(rows), "inner": model})(),
    ],
    ids=["pipeline", "calibrator", "search", "own step", "method", "lambda", "black box", "own class"],
)
def test_libraries_inside_are_found(around):
    lightgbm = pytest.importorskip("lightgbm")
    model = around(lightgbm.LGBMClassifier(n_estimators=2, verbose=-1).fit(X, BAD))
    assert versions_of(model)["lightgbm"] == version("lightgbm")


def test_a_network_names_its_library():
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Linear(3, 2)).eval()
    found = answers(bf.torch_model(module, classes=[0, 1]), X, X.iloc[[0]])
    assert found.certificate.versions["torch"] == version("torch")


def test_an_onnx_file_names_what_runs_it():
    pytest.importorskip("onnxruntime")
    convert = pytest.importorskip("skl2onnx")
    file = convert.to_onnx(
        LogisticRegression().fit(X.to_numpy(), BAD), X.to_numpy(np.float32)[:1], options={"zipmap": False}
    ).SerializeToString()
    found = answers(bf.onnx_model(file, classes=[0, 1]), X.to_numpy(), X.to_numpy()[:1])
    assert found.certificate.versions["onnxruntime"] == version("onnxruntime")


def test_a_model_of_scikit_learn_adds_nothing():
    assert versions_of(TREE) == library_versions()
    assert versions_of(lambda rows: rows[:, 0]) == library_versions()


def test_the_data_has_a_fingerprint():
    explainer = bf.Explainer(TREE, data=X)
    assert len(explainer.data_fingerprint) == 16
    found = answers()
    assert found.data_fingerprint == found[0].data_fingerprint == explainer.data_fingerprint
    other = X.copy()
    other.iloc[5, 1] = np.nextafter(other.iloc[5, 1], 1)
    assert bf.Explainer(TREE, data=other).data_fingerprint != explainer.data_fingerprint
    assert bf.Explainer(TREE, data=other).fingerprint == explainer.fingerprint


TABLE = pd.DataFrame(
    {
        "x": [0.5, np.nan, -1.0],
        "n": [1, 2, 3],
        "t": ["a", None, "c"],
        "b": [True, False, True],
        "k": pd.Categorical(["u", "v", "u"]),
    }
)


def test_equal_tables_have_the_same_fingerprint_in_every_library():
    due = data_fingerprint(TABLE)
    same = [
        TABLE.set_index(pd.Index([7, 8, 9])),
        TABLE.convert_dtypes(),
        TABLE.astype({"n": "float64", "x": "float32", "k": "object"}),
        TABLE.assign(x=[0.5, None, -1.0]),
    ]
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    same += [polars.from_pandas(TABLE), arrow.Table.from_pandas(TABLE)]
    assert {data_fingerprint(table) for table in same} == {due}
    numbers = TABLE[["x", "n"]]
    assert data_fingerprint(numbers.to_numpy()) == data_fingerprint(numbers.set_axis(["x0", "x1"], axis=1))


@pytest.mark.parametrize(
    "other",
    [
        TABLE.rename(columns={"x": "y"}),
        TABLE[["n", "x", "t", "b", "k"]],
        TABLE.iloc[::-1],
        TABLE.iloc[:2],
        TABLE.assign(t=["a", "", "c"]),
        TABLE.assign(n=["1", "2", "3"]),
    ],
    ids=["name", "columns", "rows", "length", "text", "type"],
)
def test_another_table_has_another_fingerprint(other):
    assert data_fingerprint(other) != data_fingerprint(TABLE)


def test_what_is_noted_is_kept_in_every_form(tmp_path):
    found = answers(meta=META)
    assert found.meta == found[0].meta == found[1:].meta == META
    found[0].to_json()
    (tmp_path / "one.json").write_text(found[0].to_json(), encoding="utf-8")
    (tmp_path / "all.json").write_text(found.to_json(), encoding="utf-8")
    found.to_jsonl(tmp_path / "all.jsonl")
    for name in ("one.json", "all.json", "all.jsonl"):
        again = bf.load(tmp_path / name)
        assert again == (found[0] if name == "one.json" else found)
        assert (again.meta, again.data_fingerprint) == (META, found.data_fingerprint)
        assert bf.check(again.only if name == "one.json" else again[0], TREE).passed
    for page in (found.to_html(), found[0].to_html()):
        assert "<dt>case</dt>" in page
        assert "4711" in page
        assert "Zoë" in page
        assert "&lt;u&gt;" in page
        assert "<u>" not in page
        assert found.data_fingerprint in page


def test_the_keys_of_what_is_noted_are_no_markup():
    assert "<i>" not in answers(meta={"<i>": 1})[0].to_html()


def test_nothing_is_noted_by_default():
    found = answers()
    assert found.meta == {}
    assert "meta" not in json.loads(found[0].to_json())
    assert "meta" not in json.loads(found.to_jsonl().splitlines()[0])


def test_what_is_noted_is_a_copy():
    noted = {"list": [1]}
    found = answers(meta=noted)
    noted["list"].append(2)
    assert found.meta == {"list": [1]}
    assert answers(meta={"p": np.float64(0.5), "n": np.int64(3), "t": (1, 2)}).meta == {"p": 0.5, "n": 3, "t": [1, 2]}


def itself():
    noted = {}
    noted["itself"] = noted
    return noted


@pytest.mark.parametrize(
    ("meta", "error", "words"),
    [
        ("case 4711", InputTypeError, r"meta='case 4711' was given\. It must be a dict"),
        ({1: "a"}, InputTypeError, r"meta has the key 1\..*Write '1'\."),
        ({"a": {None: 1}}, InputTypeError, r"meta\['a'\] has the key None\."),
        ({"when": date(2026, 1, 31)}, InputTypeError, r"meta\['when'\] is datetime\.date\(2026, 1, 31\)\..*str\(\.\.\.\)"),
        ({"p": [0.5, float("nan")]}, InputTypeError, r"meta\['p'\]\[1\] is nan\."),
        ({"x": np.zeros(2)}, InputTypeError, r"meta\['x'\] is array"),
        ({"s": {1}}, InputTypeError, r"meta\['s'\] is \{1\}\."),
        (itself(), InputError, "meta holds itself"),
    ],
)  # fmt: skip
def test_what_json_cannot_hold_is_refused_before_anything_is_searched(meta, error, words, monkeypatch):
    explainer = bf.Explainer(TREE, data=X)
    monkeypatch.setattr(TREE, "predict", lambda *_: pytest.fail("it was asked"))
    with pytest.raises(error, match=words):
        explainer.explain(ROWS, target=1, meta=meta)


@pytest.mark.parametrize("name", ["data_fingerprint", "meta"])
def test_a_changed_record_is_refused(name):
    found = answers(meta=META)
    for text in (found[0].to_json(), found.to_jsonl()):
        changed = text.replace(found.data_fingerprint if name == "data_fingerprint" else "4711", "4712")
        assert changed != text
        with pytest.raises(InputError, match="was changed since it was written"):
            bf.Explanations.from_json(changed)


@pytest.mark.parametrize(("name", "wrong"), [("data_fingerprint", 5), ("meta", [1]), ("meta", "x")])
def test_a_record_with_a_wrong_type_is_refused(name, wrong):
    data = json.loads(answers(meta=META)[0].to_json())
    del data["hash"]
    with pytest.raises(InputError, match=f"as {name}"):
        bf.Explanation.from_json(json.dumps({**data, name: wrong}))


def test_records_of_different_calls_are_not_read_together():
    both = [json.loads(answers(rows=ROWS.iloc[[0]], meta={"case": case}).to_json()) for case in (1, 2)]
    with pytest.raises(InputError, match=r"another (created|meta|hash)"):
        bf.Explanations.from_json(json.dumps(both))


def test_files_written_before_know_neither_data_nor_notes():
    one, many = bf.load(SAVED / "before-meta.json"), bf.load(SAVED / "before-meta.jsonl")
    assert (one.meta, one.data_fingerprint) == (many.meta, many.data_fingerprint) == ({}, "")
    assert one == many[2]
    then = [json.loads(line) for line in (SAVED / "before-meta.jsonl").read_text(encoding="utf-8").splitlines()]
    now = [json.loads(line) for line in many.to_jsonl().splitlines()]
    assert not {"meta", "data_fingerprint"} & now[0].keys()
    for old, new in zip(then, now, strict=True):
        check_agreement({name: old[name] for name in old.keys() - {"hash", "schema"}}, new)
    assert one.to_html()
    assert many.to_html()
