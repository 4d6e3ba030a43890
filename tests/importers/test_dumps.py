"""Models in files that butfor reads itself: their library's own predictions to the last bit, and what is refused in words."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import butfor as bf
from butfor.estimator import files
from butfor.estimator.dumps.lightgbm_dump import lightgbm_in_file
from butfor.estimator.dumps.ubjson import read_ubjson
from butfor.estimator.dumps.xgboost_dump import LINKED_OBJECTIVES_OF_XGBOOST, xgboost_in_file
from butfor.testing.importer_contract import check_importer
from tests.importers.samples import answers, categories, numbers, people
from tests.shorter import first

SAVED = Path(__file__).parent / "files"
"""Models that older versions of XGBoost saved, with what these predicted."""


@pytest.fixture
def alone(monkeypatch):
    """No library of boosted trees is installed."""
    monkeypatch.setattr(files, "_library", lambda name: None)


@pytest.fixture
def file(tmp_path):
    def written(ending: str, held: str | bytes) -> str:
        path = tmp_path / f"model{ending}"
        path.write_bytes(held.encode() if isinstance(held, str) else held)
        return str(path)

    return written


def around(rng: np.random.Generator, X: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Rows of the data, rows on the thresholds, and their neighbours in both types of number."""
    met = thresholds[np.abs(thresholds) < 1e38]  # CatBoost puts one behind all numbers, for what is missing
    hit = np.concatenate([X, rng.choice(met, size=(300, X.shape[1]))])
    single = hit.astype(np.float32)
    beside = [np.nextafter(single, np.float32(end)).astype(np.float64) for end in (-np.inf, np.inf)]
    return np.concatenate([hit, np.nextafter(hit, -np.inf), np.nextafter(hit, np.inf), *beside])


def wished(rng: np.random.Generator, X: np.ndarray, objective: str) -> np.ndarray:
    """What a model of this objective may learn."""
    score = np.nan_to_num(X[:, 0]) / (1 + np.nanmax(np.abs(X[:, 0]))) + rng.normal(size=len(X)) * 0.3
    if objective.startswith(("multi", "binary")):
        return np.digitize(score, [0.0] if objective.startswith("binary") else [-0.2, 0.2])
    if objective in ("reg:logistic", "cross_entropy"):
        return 1 / (1 + np.exp(-score))
    return np.round(3 * np.exp(score)) + 1


XGBOOST = (
    *("binary:logistic", "multi:softprob", "reg:squarederror", "reg:absoluteerror", "reg:logistic"),
    *("count:poisson", "reg:gamma", "reg:tweedie"),
)
LIGHTGBM = (
    *("binary", "multiclass", "multiclassova", "regression", "regression_l1"),
    *("poisson", "gamma", "tweedie", "cross_entropy"),
)


@pytest.mark.parametrize("seed", first(1, range(20)))
@pytest.mark.parametrize("objective", XGBOOST)
def test_sums_of_xgboost_to_the_last_bit(objective, seed) -> None:
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(seed)
    X = numbers(rng, missing=True)
    given = {"objective": objective, "max_depth": int(rng.integers(1, 6)), "nthread": 1, "subsample": 0.7}
    given |= {"num_parallel_tree": int(rng.integers(1, 3)), **({"num_class": 3} if "multi" in objective else {})}
    booster = xgboost.train(given, xgboost.DMatrix(X, wished(rng, X, objective)), int(rng.integers(1, 30)))
    ours = xgboost_in_file(read_ubjson(bytes(booster.save_raw("ubj"))))
    rows = around(rng, X, ours.booster.nodes.threshold)
    table = xgboost.DMatrix(rows)
    margin = booster.predict(table, output_margin=True).reshape(len(rows), -1)
    assert margin.dtype == ours.booster.sums(rows).dtype
    starts = [ours.booster.base]
    if objective in LINKED_OBJECTIVES_OF_XGBOOST:  # a logarithm, which C libraries round by themselves
        starts += [np.nextafter(starts[0], np.float32(end)) for end in (-np.inf, np.inf)]
    assert any(np.array_equal(replace(ours.booster, base=start).sums(rows), margin) for start in starts)
    predicted = booster.predict(table)
    assert np.abs(ours.answers(rows) - predicted).max() <= 3 * np.spacing(np.abs(predicted).max())
    again = xgboost_in_file(json.loads(booster.save_raw("json")))
    assert np.array_equal(again.answers(rows), ours.answers(rows))
    check_importer(ours, X, rng)


KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "zero is missing": {"zero_as_missing": True},
    "missing is zero": {"use_missing": False},
    "forest": {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6},
    "lines": {"linear_tree": True, "linear_lambda": 0.1},
}


@pytest.mark.shorter(3)
@pytest.mark.parametrize("seed", first(1, range(20)))
@pytest.mark.parametrize("objective", LIGHTGBM)
def test_sums_of_lightgbm_to_the_last_bit(objective, seed) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(seed)
    X = numbers(rng, missing=True)
    for kind in KINDS.values():
        if "linear_tree" in kind and objective == "regression_l1":
            continue  # LightGBM refuses it
        given = {
            "objective": objective,
            "num_leaves": int(rng.integers(2, 16)),
            "num_threads": 1,
            "verbose": -1,
            **kind,
        }
        given |= {"min_data_in_leaf": 2, "cat_smooth": 1, "min_data_per_group": 5, "sigmoid": 1.7}
        given |= {"num_class": 3} if objective.startswith("multi") else {"reg_sqrt": objective == "regression"}
        train = lightgbm.Dataset(X, wished(rng, X, objective), categorical_feature=[1], params={"verbose": -1, **kind})
        booster = lightgbm.train(given, train, int(rng.integers(1, 20)))
        ours = lightgbm_in_file(booster.model_to_string())
        rows = around(rng, X, ours.booster.nodes.threshold)
        rows[::7, 4], rows[::9, 0] = -1e-35, 0.0
        sums = booster.predict(rows, raw_score=True).reshape(len(rows), -1)
        assert np.array_equal(ours.booster.sums(rows), sums)
        predicted = booster.predict(rows)
        assert np.abs(ours.answers(rows) - predicted).max() <= 4 * np.spacing(np.abs(predicted).max())
        check_importer(ours, X, rng)


CATBOOST: dict[str, dict[str, Any]] = {
    "two classes": {},
    "several classes": {"loss_function": "MultiClass"},
    "one against rest": {"loss_function": "MultiClassOneVsAll"},
    "values": {"loss_function": "RMSE"},
    "any trees": {"grow_policy": "Lossguide", "max_leaves": 9},
    "any trees, several classes": {"loss_function": "MultiClass", "grow_policy": "Depthwise"},
}


@pytest.mark.parametrize("seed", first(1, range(20)))
@pytest.mark.parametrize("kind", CATBOOST)
def test_sums_of_catboost_to_the_last_bit(kind, seed, file, alone) -> None:
    catboost = pytest.importorskip("catboost")
    rng = np.random.default_rng(seed)
    X = numbers(rng, missing=True)
    several, values = "several" in kind or "rest" in kind, kind == "values"
    y = wished(rng, X, "reg" if values else "multi" if several else "binary")
    y = y if values else np.array(["none", "some", "all"])[y]
    given = {"iterations": int(rng.integers(1, 20)), "depth": int(rng.integers(1, 6)), "thread_count": 1, "verbose": 0}
    maker = catboost.CatBoostRegressor if values else catboost.CatBoostClassifier
    model = maker(**given, **CATBOOST[kind], nan_mode=str(rng.choice(["Min", "Max"])), allow_writing_files=False).fit(
        X, y
    )
    path = file(".json", "")
    model.save_model(path, format="json")
    ours = files.from_file(path)
    rows = around(rng, X, ours.booster.nodes.threshold)
    assert np.array_equal(
        ours.booster.sums(rows), model.predict(rows, prediction_type="RawFormulaVal").reshape(len(rows), -1)
    )
    assert np.array_equal(ours.predict(rows), np.ravel(model.predict(rows)))
    path = file(".cbm", "")
    model.save_model(path)
    assert np.array_equal(files.from_file(path).booster.sums(rows), ours.booster.sums(rows))
    if not values:
        assert np.allclose(ours.predict_proba(rows), model.predict_proba(rows), rtol=1e-13, atol=1e-300)
        assert ours.classes_.tolist() == model.classes_.tolist()
    check_importer(ours, X, rng)


def test_what_is_left_to_catboost(file, alone) -> None:
    catboost = pytest.importorskip("catboost")
    X = people()[["age", "job"]]
    y = answers(people()) == "yes"
    quiet = {"iterations": 2, "verbose": 0, "allow_writing_files": False}
    path = file(".json", "")
    means = {"cat_features": ["job"], "one_hot_max_size": 1, "simple_ctr": "BinarizedTargetMeanValue"}
    catboost.CatBoostClassifier(**quiet, **means).fit(X, y).save_model(path, format="json")
    with pytest.raises(
        bf.errors.UnsupportedModelError, match=r"without catboost: .*TargetMeanValue'.*butfor\[catboost\]"
    ):
        files.from_file(path)
    model = catboost.CatBoostClassifier(**quiet).fit(X[["age"]], y)
    model.set_probability_threshold(0.3)
    model.save_model(path, format="json")
    with pytest.raises(bf.errors.UnsupportedModelError, match=r"decides at the probability 0\.3"):
        files.from_file(path)


def test_bad_cbm_is_refused_in_words(file, alone) -> None:
    catboost = pytest.importorskip("catboost")
    X = numbers(np.random.default_rng(0))
    path = file(".cbm", "")
    quiet = {"iterations": 2, "depth": 2, "verbose": 0, "allow_writing_files": False}
    catboost.CatBoostRegressor(**quiet).fit(X, X[:, 0]).save_model(path)
    whole = Path(path).read_bytes()
    for end in range(1, len(whole), 97):
        with pytest.raises(bf.errors.InputError, match=r"cannot be read .*(whole|begin with CBM1)"):
            files.from_file(file(".cbm", whole[:end]))
    with pytest.raises(bf.errors.InputError, match="several models"):
        files.from_file(file(".cbm", 2 * whole))
    with pytest.raises(bf.errors.UnsupportedModelError, match=r"'FlabuffersModel_v9' of CatBoost"):
        files.from_file(file(".cbm", whole.replace(b"Model_v1", b"Model_v9")))
    rng = np.random.default_rng(0)
    for _ in range(200):  # a file with changed bytes is refused in words, or is another model
        changed = bytearray(whole)
        for at in rng.integers(8, len(whole), 3):
            changed[at] = rng.integers(256)
        try:
            files.from_file(file(".cbm", bytes(changed)))
        except (bf.errors.InputError, bf.errors.UnsupportedModelError):
            continue


@pytest.mark.parametrize("version", ["1.6.2", "2.1.4", "3.0.5"])
def test_what_older_versions_of_xgboost_saved(version, alone) -> None:
    stem = str(SAVED / f"xgboost-{version}")
    told = json.loads(Path(f"{stem}-answers.json").read_text())
    ours = files.from_file(f"{stem}-classes.ubj")
    rows = np.array(told["classes"]["rows"], dtype=np.float64)
    assert np.abs(ours.predict_proba(rows) - told["classes"]["answers"]).max() < 1e-7
    assert len(ours.booster.nodes.roots) == 2 * 3 * (told["classes"]["best"] + 1)
    ours, told = files.from_file(f"{stem}-categories.json"), told["categories"]
    words = pd.Categorical(told["k"], categories=["v", "u", "x", "w"])
    rows = pd.DataFrame({"a": np.array(told["a"], dtype=np.float64), "k": words})
    assert np.array_equal(ours.predict(rows), np.array(told["answers"], dtype=np.float32))
    check_importer(ours, rows)
    with pytest.raises(bf.errors.InputError, match=r"'k' holds text.*before 3\.1.*CategoricalDtype"):
        ours.predict(rows.astype({"k": str}))


def test_categories_of_a_table(alone, file) -> None:
    xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    X = categories(("income", "job"))
    y = (answers(people(rows=200)) == "yes").astype(int)
    some = {"max_cat_to_onehot": 1, "n_estimators": 8, "n_jobs": 1}
    model = xgboost.XGBClassifier(**some, enable_categorical=True).fit(X, y)
    ours = xgboost_in_file(json.loads(model.get_booster().save_raw("json")))
    assert np.array_equal(ours.predict_proba(X), model.predict_proba(X))
    other = lightgbm.LGBMClassifier(**some, min_child_samples=3, min_data_per_group=3, cat_smooth=1, verbose=-1).fit(
        X, y
    )
    theirs = lightgbm_in_file(other.booster_.model_to_string())
    assert np.allclose(theirs.predict_proba(X), other.predict_proba(X), rtol=1e-14)
    text = X.astype({"job": object, "town": object})
    for one in (ours, theirs):
        check_importer(one, X)
        assert np.array_equal(one.predict_proba(text), one.predict_proba(X))
    with pytest.raises(bf.errors.InputError, match=r"'king', which is no category .* It knows"):
        ours.predict(X.assign(job="king"))
    unsure = replace(theirs.booster, infos=["none"] * X.shape[1])
    with pytest.raises(bf.errors.InputError, match=r"2 columns of categories or text.*trained on 3"):
        unsure.sums(X.astype({"code": int}))


def test_a_regressor_with_a_logistic_objective_predicts_a_probability(alone, file) -> None:
    xgboost = pytest.importorskip("xgboost")
    X = numbers(np.random.default_rng(0))
    model = xgboost.XGBRegressor(objective="binary:logistic", n_estimators=4).fit(X, X[:, 0] > 0)
    path = file(".json", bytes(model.get_booster().save_raw("json")))
    model.save_model(path)
    ours = files.from_file(path)
    assert np.array_equal(ours.predict(X), model.predict(X))
    for one in (ours, model):
        check_importer(one, X)


SCRIPT = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("xgboost", "lightgbm", "catboost", "flatbuffers"):
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Blocked())
import pandas as pd
import butfor as bf
from butfor.cli.commands import app
from typer.testing import CliRunner

for path in sys.argv[2:]:
    X = pd.read_csv(sys.argv[1])
    answer = bf.Explainer(path, data=X).explain(X.iloc[[0]], target="other")
    print(answer.certificate.status.name, repr(float(answer.cost)))
command = CliRunner().invoke(app, ["explain", path, sys.argv[1], "--row", "0"])
assert command.exit_code == 0 and "proven optimal" in command.output, command.output
"""


@pytest.mark.long
def test_no_library_is_needed(tmp_path) -> None:
    xgboost, lightgbm, catboost = (pytest.importorskip(name) for name in ("xgboost", "lightgbm", "catboost"))
    X = people(rows=200)[["age", "income", "job"]].astype({"job": "category"})
    y = (answers(people(rows=200)) == "yes").astype(int)
    paths = [str(tmp_path / name) for name in ("one.ubj", "other.txt", "third.cbm")]
    model = xgboost.XGBClassifier(n_estimators=5, max_depth=3, enable_categorical=True, n_jobs=1).fit(X, y)
    other = lightgbm.LGBMClassifier(n_estimators=5, min_child_samples=3, min_data_per_group=3, n_jobs=1, verbose=-1)
    other.fit(X, y)
    model.save_model(paths[0])
    other.booster_.save_model(paths[1])
    third = catboost.CatBoostClassifier(
        iterations=5, depth=3, cat_features=["job"], verbose=0, allow_writing_files=False, thread_count=1
    ).fit(X, y)
    third.save_model(paths[2])
    X.to_csv(tmp_path / "rows.csv", index=False)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "rows.csv"), *paths], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    costs = [bf.Explainer(one, X).explain(X.iloc[[0]], target="other").cost for one in (model, other, third)]
    assert [line.split() for line in done.stdout.splitlines()] == [["PROVEN_OPTIMAL", repr(cost)] for cost in costs]


def tiny(**given: Any) -> Any:
    """A saved model of XGBoost, as JSON is read."""
    xgboost = pytest.importorskip("xgboost")
    X = np.random.default_rng(0).normal(size=(60, 2))
    given = {"objective": "reg:squarederror", "max_depth": 2, **given}
    booster = xgboost.train(given, xgboost.DMatrix(X, X[:, 0] > 0), 2)
    return json.loads(booster.save_raw("json"))


def changed(saved: Any, *path: Any, to: Any) -> str:
    inside = saved
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = to
    return json.dumps(saved)


FOREST = ("learner", "gradient_booster", "model")
BAD_JSON: dict[str, tuple[Any, tuple[str, ...], type[Exception]]] = {
    "cut off": (lambda: json.dumps(tiny())[:-100], ("cannot be read", "whole file"), bf.errors.InputError),
    "several": (lambda: 2 * json.dumps(tiny()), ("Extra data", "one model"), bf.errors.InputError),
    "a list of models": (lambda: json.dumps([tiny(), tiny()]), ("list of 2", "save_model"), bf.errors.InputError),
    "lightgbm": (lambda: '{"tree_info": []}', ("dump_model of LightGBM", "'model.txt'"), bf.errors.InputError),
    "no model": (lambda: '{"a": 1}', ("no model of XGBoost or CatBoost",), bf.errors.InputError),
    "of settings": (lambda: '{"learner": {}, "version": [3, 2, 0]}', ("lacks 'attributes'",), bf.errors.InputError),
    "linear": (
        lambda: json.dumps(tiny(booster="gblinear", max_depth=None)),
        ("without xgboost", "'gblinear'", 'pip install "butfor[xgboost]"'),
        bf.errors.UnsupportedModelError,
    ),
    "dart": (lambda: json.dumps(tiny(booster="dart", rate_drop=0.9)), ("'dart'",), bf.errors.UnsupportedModelError),
    "dropout, as XGBoost 3.4 tells it": (
        lambda: changed(tiny(), *FOREST, "weight_drop", to=[1.0, 0.5]),
        ("'dart'", "All weights must be 1"),
        bf.errors.UnsupportedModelError,
    ),
    "objective": (
        lambda: json.dumps(tiny(objective="binary:hinge")),
        ("'binary:hinge'", "known objectives are"),
        bf.errors.UnsupportedModelError,
    ),
    "too old": (lambda: changed(tiny(), "version", to=[1, 3, 0]), ("1.3.0", "1.6"), bf.errors.UnsupportedModelError),
    "too new": (lambda: changed(tiny(), "version", to=[9, 0, 0]), ("9.0.0",), bf.errors.UnsupportedModelError),
    "fewer trees": (
        lambda: changed(tiny(), *FOREST, "trees", to=[tiny()["learner"]["gradient_booster"]["model"]["trees"][0]]),
        ("has 1 trees, but says that it has 2",),
        bf.errors.InputError,
    ),
    "a circle": (
        lambda: changed(tiny(), *FOREST, "trees", 0, "left_children", 0, to=0),
        ("no trees",),
        bf.errors.InputError,
    ),
    "a node that is not there": (
        lambda: changed(tiny(), *FOREST, "trees", 1, "right_children", 0, to=9999),
        ("no trees",),
        bf.errors.InputError,
    ),
}


@pytest.mark.filterwarnings("ignore:.*is deprecated:UserWarning")  # boosters, by XGBoost 3.4
@pytest.mark.parametrize("name", BAD_JSON)
def test_bad_json_is_refused_in_words(name, file, alone) -> None:
    make, words, error = BAD_JSON[name]
    with pytest.raises(error) as raised:
        files.from_file(file(".json", make()))
    assert all(word in str(raised.value) for word in words), raised.value


def test_bad_ubjson_is_refused_in_words(file, alone) -> None:
    xgboost = pytest.importorskip("xgboost")
    X = np.random.default_rng(0).normal(size=(60, 2))
    whole = bytes(xgboost.train({"max_depth": 2}, xgboost.DMatrix(X, X[:, 0]), 2).save_raw("ubj"))
    for end in range(1, len(whole), 101):
        with pytest.raises(bf.errors.InputError, match="cannot be read"):
            files.from_file(file(".ubj", whole[:end]))
    with pytest.raises(bf.errors.InputError, match="One model in a file"):
        files.from_file(file(".ubj", 2 * whole))
    for ending, held, right in (
        (".json", whole, ".ubj"),
        (".txt", whole, ".ubj"),
        (".ubj", b'{"learner": 1}', ".json"),
    ):
        with pytest.raises(bf.errors.InputError, match=rf"ends in \{right}: rename it"):
            files.from_file(file(ending, held))


def text(**given: Any) -> str:
    """A saved model of LightGBM."""
    lightgbm = pytest.importorskip("lightgbm")
    X = np.random.default_rng(0).normal(size=(60, 2))
    data = lightgbm.Dataset(X, X[:, 0], params={"verbose": -1, **given})
    given = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 5, **given}
    return str(lightgbm.train(given, data, 3).model_to_string())


BAD_TEXT: dict[str, tuple[Any, tuple[str, ...], type[Exception]]] = {
    "cut off": (lambda: text()[:900], ("no line 'end of trees'", "whole"), bf.errors.InputError),
    "several": (lambda: 2 * text(), ("2 models", "One model"), bf.errors.InputError),
    "no model": (lambda: "hello", ("first line must be 'tree'",), bf.errors.InputError),
    "version": (
        lambda: text().replace("version=v4", "version=v9"),
        ("'v9'", "v3 and v4"),
        bf.errors.UnsupportedModelError,
    ),
    "objective": (
        lambda: text().replace("objective=regression", "objective=mine"),
        ("without lightgbm", "'mine'", 'pip install "butfor[lightgbm]"'),
        bf.errors.UnsupportedModelError,
    ),
    "no line": (
        lambda: text(linear_tree=True).replace("leaf_coeff=", "leaf_coeff=1 "),
        ("a leaf that is no line", "unchanged"),
        bf.errors.InputError,
    ),
    "a line of another column": (
        lambda: text(linear_tree=True).replace("leaf_features=0", "leaf_features=7"),
        ("a leaf of other columns", "unchanged"),
        bf.errors.InputError,
    ),
    "fewer trees": (
        lambda: text().replace("\nTree=2", "\nNotree=2"),
        ("has 2 trees, but says that it has 3",),
        bf.errors.InputError,
    ),
    "fewer leaves": (lambda: text().replace("num_leaves=", "num_leaves=1"), ("cannot be read",), bf.errors.InputError),
}


@pytest.mark.parametrize("name", BAD_TEXT)
def test_bad_text_is_refused_in_words(name, file, alone) -> None:
    make, words, error = BAD_TEXT[name]
    with pytest.raises(error) as raised:
        files.from_file(file(".txt", make()))
    assert all(word in str(raised.value) for word in words), raised.value


@pytest.mark.long  # skops imports all of scikit-learn
def test_skops_loads_what_it_trusts(file) -> None:
    io = pytest.importorskip("skops.io")
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import FunctionTransformer

    X = numbers(np.random.default_rng(0))
    y = X[:, 1] > 3
    model = LogisticRegression(max_iter=10_000).fit(X, y)
    path = file(".skops", io.dumps(model))
    assert np.array_equal(files.from_file(path).predict(X), model.predict(X))
    path = file(".skops", io.dumps(FunctionTransformer(helper)))
    with pytest.raises(
        bf.errors.InputTypeError, match=r"does not trust: tests\.importers\.test_dumps\.helper.*trusted=\["
    ):
        files.from_file(path)
    with pytest.raises(bf.errors.InputError, match="cannot be read"):
        files.from_file(file(".skops", b"hello"))


def helper(X: Any) -> Any:
    return X


@pytest.mark.parametrize("unknown", [[], ["mine.Step"]])
def test_what_skops_is_asked(unknown, file, monkeypatch) -> None:
    asked = SimpleNamespace(get_untrusted_types=lambda data: unknown, loads=lambda data: data.decode())
    monkeypatch.setitem(sys.modules, "skops", SimpleNamespace(io=asked))
    monkeypatch.setitem(sys.modules, "skops.io", asked)
    path = file(".skops", b"held")
    if not unknown:
        assert files.from_file(path) == "held"
        return
    with pytest.raises(bf.errors.InputTypeError, match=r"does not trust: mine\.Step.*trusted=\['mine.Step'\]"):
        files.from_file(path)


def test_skops_that_is_not_installed(file, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(bf.errors.MissingExtraError, match=r'skops.*pip install "butfor\[skops\]"'):
        files.from_file(file(".skops", b"PK"))
