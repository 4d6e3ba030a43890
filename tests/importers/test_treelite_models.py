"""treelite: trees of several libraries, what is refused, files, and answers that enumeration confirms."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble

import butfor as bf
from butfor.importers.libraries.treelite_models import TreeliteRegressor, adapt, read_treelite
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import check_caught, why_unread
from tests.shorter import first

treelite = pytest.importorskip("treelite")


def rows(seed: int, *, missing: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 4))
    X[:, 3] = rng.integers(0, 6, 200)
    score = X[:, 0] + X[:, 1] * (X[:, 3] % 2) + 0.2 * rng.normal(size=200)
    if missing:
        X[:, :3][rng.random((200, 3)) < 0.1] = np.nan
    return X, score


def of_sklearn(name: str, seed: int, classes: int = 2) -> tuple[Any, np.ndarray]:
    kind = getattr(ensemble, name)
    X, score = rows(seed, missing=name.startswith("Hist"))
    given = {"max_iter": 8, "categorical_features": [3]} if name.startswith("Hist") else {"n_estimators": 7}
    y = score if "Regressor" in name else np.digitize(score, [-0.5, 0.6][: classes - 1])
    return treelite.sklearn.import_model(kind(random_state=seed, **given).fit(X, y)), X


FAMILIES = ("RandomForest", "ExtraTrees", "GradientBoosting", "HistGradientBoosting")


@pytest.mark.parametrize("seed", first(1, range(5)))
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", FAMILIES)
def test_classifiers_of_sklearn(name, classes, seed) -> None:
    check_importer(*of_sklearn(f"{name}Classifier", seed, classes), seed)


@pytest.mark.parametrize("name", FAMILIES)
def test_regressors_of_sklearn(name) -> None:
    check_importer(*of_sklearn(f"{name}Regressor", 0))


@pytest.mark.parametrize(
    "objective",
    ["binary:logistic", "multi:softprob", "reg:squarederror", "reg:logistic", "count:poisson", "binary:logitraw"],
)
def test_xgboost(objective) -> None:
    xgboost = pytest.importorskip("xgboost")
    X, score = rows(1, missing=True)
    y = np.digitize(score, [-0.5, 0.6]) if "multi" in objective else (score > 0).astype(int)
    settings = {"objective": objective, "num_class": 3} if "multi" in objective else {"objective": objective}
    kinds = ["q", "q", "q", "c"]
    rows_ = xgboost.DMatrix(X, y, feature_types=kinds, enable_categorical=True)
    booster = xgboost.train({**settings, "max_depth": 3}, rows_, 6)
    check_importer(treelite.frontend.from_xgboost(booster), X)


@pytest.mark.parametrize(
    "objective", ["binary", "multiclass", "multiclassova", "regression", "poisson", "reg_sqrt", "rf"]
)
def test_lightgbm(objective) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    X, score = rows(2, missing=True)
    several = objective.startswith("multi")
    y = np.digitize(score, [-0.5, 0.6]) if several else (score > 0).astype(int)
    settings: dict[str, Any] = {"objective": "binary" if objective == "rf" else objective, "sigmoid": 2.0}
    if objective == "rf":
        settings |= {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1}
    if objective == "reg_sqrt":
        settings |= {"objective": "regression", "reg_sqrt": True}
    settings |= {"num_class": 3} if several else {}
    data = lightgbm.Dataset(X, y, categorical_feature=[3], params={"min_data_per_group": 1, "cat_smooth": 0})
    booster = lightgbm.train({**settings, "num_leaves": 6, "verbose": -1, "max_cat_to_onehot": 1}, data, 5)
    check_importer(treelite.frontend.from_lightgbm(booster), X)


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "=="])
def test_each_way_of_asking(op, kind) -> None:
    X = np.random.default_rng(0).integers(-2, 3, (60, 2)) / [10, 1]
    model = built(op, kind)
    if op == "==":
        assert "equal to another" in why_unread(model, X)
    else:
        check_importer(model, X)


def built(op: str, kind: str = "float64", postprocessor: str = "identity") -> Any:
    """A model of two trees, with a mean and a start: one asks for a number, and one for a category."""
    build = treelite.model_builder
    made = build.ModelBuilder(
        threshold_type=kind,
        leaf_output_type=kind,
        metadata=build.Metadata(2, "kRegressor", True, 1, [1], (1, 1)),
        tree_annotation=build.TreeAnnotation(2, [0, 0], [0, 0]),
        postprocessor=build.PostProcessorFunc(postprocessor),
        base_scores=[0.3],
    )
    for tree in range(2):
        made.start_tree()
        made.start_node(0)
        if tree:
            made.categorical_test(
                1,
                default_left=True,
                category_list=[0, 2],
                category_list_right_child=True,
                left_child_key=1,
                right_child_key=2,
            )
        else:
            made.numerical_test(0, 0.1, default_left=True, opname=op, left_child_key=1, right_child_key=2)
        made.end_node()
        for leaf in (1, 2):
            made.start_node(leaf)
            made.leaf(0.7 * leaf - tree)
            made.end_node()
        made.end_tree()
    return made.commit()


def test_what_cannot_be_read_says_so() -> None:
    X, _ = rows(0)
    forest = ensemble.IsolationForest(n_estimators=4).fit(X)
    assert "exponential_standard_ratio" in why_unread(treelite.sklearn.import_model(forest), X)


def test_a_model_travels_and_is_read_from_a_file(tmp_path) -> None:
    model, X = of_sklearn("GradientBoostingClassifier", 0)
    path = tmp_path / "model.tl"
    model.serialize(path)
    row = X[[0]]
    found, same = (bf.Explainer(one, X).explain(row, target="other") for one in (model, path))
    assert found.cost == same.cost
    estimator = adapt(model)
    again = pickle.loads(pickle.dumps(estimator))
    assert np.array_equal(again.predict_proba(X), estimator.predict_proba(X))


def test_a_file_that_is_none(tmp_path) -> None:
    path = tmp_path / "model.tl"
    path.write_bytes(b"no model")
    with pytest.raises(bf.errors.InputError, match="cannot be read"):
        bf.Explainer(path, rows(0)[0])


def test_a_wrong_importer_is_caught(monkeypatch) -> None:
    def turned(estimator, columns):
        model, readout = read_treelite(estimator, columns)
        return replace(model, left=model.right, right=model.left), readout

    model, X = of_sklearn("RandomForestRegressor", 0)
    assert isinstance(adapt(model), TreeliteRegressor)
    check_caught(turned, adapt(model), X, monkeypatch)


@pytest.mark.parametrize("seed", first(1, range(5)))
def test_enumeration_finds_nothing_cheaper(seed) -> None:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 6, (200, 3)), columns=list("abc"))
    y = (X.a + X.b * (X.c > 2) + rng.normal(size=200) > 5).astype(int)
    fitted = ensemble.RandomForestClassifier(9, random_state=seed).fit(X.to_numpy(), y)
    model = treelite.sklearn.import_model(fitted)
    every = np.array(list(product(range(6), repeat=3)), dtype=float)
    chance = treelite.gtil.predict(model, every)[:, 0, 1]
    level = float((chance.max() + chance.min()) / 2)
    row = X[treelite.gtil.predict(model, X.to_numpy(dtype=float))[:, 0, 1] < level].iloc[[0]]
    answer = bf.Explainer(model, X).explain(row, target=bf.probability(1, at_least=level)).only
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert answer.cost == pytest.approx((np.abs(every[chance >= level] - row.to_numpy()).sum(axis=1) / 5).min())
