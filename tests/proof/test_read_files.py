"""Models whose own file no checker reads are proven of what butfor read of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import CategoricalNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import butfor as bf
from butfor.errors import UnsupportedModelError
from butfor.importers.read import read
from butfor.model.scores import UNIT_SINGLE
from butfor.proof.checker import checker
from tests.importers.samples import FIRST_WINS
from tests.proof.by_hand import case, number, tree
from tests.proof.cases import cases

SIZES = {"late": 6, "years": 7, "job": 3}


def whole_numbers(rows: int = 150) -> tuple[pd.DataFrame, np.ndarray]:
    """A table so small that every row can be tried."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({name: rng.integers(0, size, rows) for name, size in SIZES.items()})
    worth = X["years"] - 1.3 * X["late"] + 2 * (X["job"] == 1) + rng.normal(scale=0.5, size=rows)
    return X.assign(job=X["job"].map({0: "clerk", 1: "cook", 2: "judge"})), (worth > 0).astype(int).to_numpy()


def encoded(learner: Any) -> Any:
    steps = make_column_transformer((OneHotEncoder(sparse_output=False), ["job"]), remainder="passthrough")
    return make_pipeline(steps, learner)


def numbered(learner: Any) -> Any:
    return make_pipeline(make_column_transformer((OrdinalEncoder(), ["job"]), remainder="passthrough"), learner)


def sigmoid(learner: Any) -> Any:
    return CalibratedClassifierCV(learner, method="sigmoid", ensemble=False, cv=2)


def catboost() -> Any:
    from catboost import CatBoostClassifier

    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    return CatBoostClassifier(iterations=6, depth=3, cat_features=["job"], **quiet)


def explainable(interactions: int = 1) -> Any:
    glassbox = pytest.importorskip("interpret.glassbox")
    return glassbox.ExplainableBoostingClassifier(
        interactions=interactions, max_rounds=40, outer_bags=2, n_jobs=1, random_state=0
    )


MODELS: dict[str, Callable[[], Any]] = {
    "bagging": lambda: encoded(BaggingClassifier(DecisionTreeClassifier(max_depth=3), 5, random_state=0)),
    "ada": lambda: encoded(AdaBoostClassifier(n_estimators=6, random_state=0)),
    "isotonic": lambda: encoded(
        CalibratedClassifierCV(DecisionTreeClassifier(max_depth=3, random_state=0), method="isotonic", cv=2)
    ),
    "a sigmoid of a forest": lambda: encoded(sigmoid(RandomForestClassifier(5, max_depth=3, random_state=0))),
    "a sigmoid of boosting": lambda: encoded(sigmoid(GradientBoostingClassifier(n_estimators=8, random_state=0))),
    "a sigmoid of a tree": lambda: encoded(sigmoid(DecisionTreeClassifier(max_depth=3, random_state=0))),
    "a threshold of a sigmoid": lambda: encoded(
        FixedThresholdClassifier(sigmoid(HistGradientBoostingClassifier(max_iter=6)), threshold=0.6)
    ),
    "exponential": lambda: encoded(GradientBoostingClassifier(n_estimators=8, loss="exponential", random_state=0)),
    "a threshold": lambda: encoded(
        FixedThresholdClassifier(RandomForestClassifier(5, max_depth=3, random_state=0), threshold=0.7)
    ),
    "a threshold of sums": lambda: encoded(
        FixedThresholdClassifier(GradientBoostingClassifier(n_estimators=8, random_state=0), threshold=0.3)
    ),
    "categories": lambda: numbered(HistGradientBoostingClassifier(max_iter=6, categorical_features=[0])),
    "naive Bayes": lambda: numbered(CategoricalNB()),
    "CatBoost's categories": catboost,
    "an EBM": explainable,
}


def least(X: pd.DataFrame, row: pd.Series, met: Callable[[pd.DataFrame], np.ndarray]) -> float:
    """What the cheapest row costs by L1, of all rows there are. A level costs 1."""
    every = pd.DataFrame(list(product(range(6), range(7), ["clerk", "cook", "judge"])), columns=X.columns)
    cost = (every["late"] - row["late"]).abs() / 5 + (every["years"] - row["years"]).abs() / 6
    found = (cost + (every["job"] != row["job"]))[met(every)]
    return float(found.min()) if len(found) else np.inf


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", MODELS)
def test_every_row_is_tried(name: str, tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = MODELS[name]().fit(X, y)
    predicted = np.ravel(model.predict(X))
    rows = pd.concat([X[predicted == k].iloc[:3] for k in (0, 1)])
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows), model, tmp_path)
    assert proofs.verified == len(rows)
    for (_, row), one, was in zip(rows.iterrows(), proofs, [0] * 3 + [1] * 3, strict=True):
        cheapest = least(X, row, lambda every, was=was: np.ravel(model.predict(every)) != was)
        assert one.below == pytest.approx(cheapest, rel=1e-8)
    assert json.loads(next(tmp_path.glob("question-*")).read_text())["model"]["of"].startswith("what butfor read of a")


def test_values_are_those_of_the_estimator(tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = encoded(BaggingRegressor(DecisionTreeRegressor(max_depth=4), 5, random_state=0)).fit(X, y + X["years"] / 7)
    end = float(np.quantile(model.predict(X), 0.8)) - 0.01
    rows = X[model.predict(X) < end].iloc[:5]
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows, target=bf.value(at_least=end)), model, tmp_path)
    assert proofs.verified == 5
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):
        assert one.below == pytest.approx(least(X, row, lambda every: model.predict(every) >= end), rel=1e-8)


THREE_CLASSES: dict[str, Callable[[], Any]] = {
    "an EBM": lambda: explainable(interactions=0),
    "weights against the rest": lambda: encoded(OneVsRestClassifier(LogisticRegression())),
    "boosting against the rest": lambda: encoded(
        OneVsRestClassifier(GradientBoostingClassifier(n_estimators=5, random_state=0))
    ),
    "forests against the rest": lambda: encoded(
        OneVsRestClassifier(RandomForestClassifier(5, max_depth=3, random_state=0))
    ),
}


@pytest.mark.parametrize("name", THREE_CLASSES)
def test_three_classes(name: str, tmp_path: Path) -> None:
    if "rest" in name and not FIRST_WINS:
        pytest.skip("this version gives ties to the last class")
    X, _ = whole_numbers()
    y = np.digitize(X["years"] - 1.3 * X["late"], [-1.0, 2.0])
    model = THREE_CLASSES[name]().fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:4]
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows, target=bf.classes(2)), model, tmp_path)
    assert proofs.verified == 4
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):
        assert one.below == pytest.approx(least(X, row, lambda every: model.predict(every) == 2), rel=1e-8)


@pytest.mark.parametrize(
    "learner",
    [
        RandomForestClassifier(5, max_depth=4, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
        MLPClassifier((5,), solver="lbfgs", alpha=0.1, random_state=0),
    ],
)
def test_files_of_onnx_are_proven(learner: Any, tmp_path: Path) -> None:
    """In float32, as the file computes."""
    skl2onnx = pytest.importorskip("skl2onnx")
    X, y = whole_numbers()
    X, y = X[["late", "years"]].astype(np.float32), np.asarray(y).astype(int)
    model = learner.fit(X.to_numpy(), y)
    kind = skl2onnx.common.data_types.FloatTensorType([None, 2])
    file = tmp_path / "model.onnx"
    try:
        made = skl2onnx.convert_sklearn(model, initial_types=[("x", kind)])
    except ValueError:  # truth values among whole numbers
        pytest.skip("this onnx does not write what skl2onnx says with this protobuf")
    file.write_bytes(made.SerializeToString())
    rows = X[model.predict(X.to_numpy()) == 0].iloc[:4]
    answers = bf.Explainer(file, data=X).explain(rows)
    assert bf.prove(answers, file, tmp_path / "proofs").verified == 4


FLOAT32 = {
    "logits": lambda: LogisticRegression(max_iter=5000),
    "three classes": lambda: LogisticRegression(max_iter=5000),
    "values": lambda: Ridge(),
    "an intercept of float64": lambda: SGDClassifier(random_state=0),
    "a scaler of float32 before float64": lambda: LinearSVC(max_iter=100_000),
}


@pytest.mark.shorter(4)
@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("name", FLOAT32)
def test_sums_of_float32_are_proven(name: str, scaled: bool, tmp_path: Path) -> None:
    """The claim is lowered by what these sums are in doubt."""
    X, y = datasets.load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :6].astype("float32") / np.float32(1.0 if scaled else 20.0)
    label = np.digitize(X["mean radius"], np.quantile(X["mean radius"], [0.4, 0.7])) if name == "three classes" else y
    inner = FLOAT32[name]()
    model = (make_pipeline(StandardScaler(), inner) if scaled else inner).fit(X, label.astype("float32"))
    target = bf.value(at_least=0.8) if name == "values" else bf.classes(1.0)
    rows = X[model.predict(X) < 0.5].iloc[:3]
    answers = bf.Explainer(model, data=X).explain(rows, target=target)
    proofs = bf.prove(answers, model, tmp_path, time_limit=10)
    assert proofs.verified == 3
    for one, cost in zip(proofs, answers.costs, strict=True):
        assert cost * (1 - 1e-3) < one.below < cost


def test_coefficients_of_float32_add_up_in_float32_whatever_they_return() -> None:
    X, y = datasets.load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :6].astype("float32")
    model = SGDClassifier(random_state=0).fit(X, y)
    assert model.decision_function(X).dtype == np.float64
    assert read(model, X).unit == UNIT_SINGLE


def test_probabilities_of_recorded_rows_are_compared() -> None:
    """A sum that is another one than the probabilities say is not that of the model."""
    said = next(iter(cases("steps")))
    assert said.accepted()
    (inputs, given), *others = said.shared["recorded"]
    no, yes = map(float.fromhex, given["probabilities"])
    for p, accepted in (
        ([no, yes], True),
        ([no + 1e-12, yes - 1e-12], False),
        ([yes, no], False),
        ([no - 2.0, yes], False),
        ([no, yes, 0.0], False),
        ([no], False),
    ):
        recorded = [[inputs, {"probabilities": [x.hex() for x in p]}], *others]
        model, shared = checker().Model(said.kind, said.content.encode()), {**said.shared, "recorded": recorded}
        try:
            checker().recorded(checker().parsed(json.dumps(shared["recorded"])), model, shared["wanted"])
        except checker().Wrong:
            assert not accepted, p
        else:
            assert accepted, p


@pytest.mark.parametrize(
    ("told", "accepted"),
    [
        ({}, True),
        ({"off": [(0.4).hex()]}, True),
        ({"off": [(0.6).hex()]}, False),
        ({"off": [(-0.1).hex()]}, False),
        ({"off": []}, False),
        ({"digits": 24, "base": (2.0**23).hex()}, False),
        ({"digits": 53, "base": (2.0**23).hex()}, True),
        ({"digits": 23}, False),
        ({"digits": 54}, False),
    ],
)
def test_sums_may_be_off_by_what_the_file_says(told: dict[str, Any], accepted: bool) -> None:
    """Rows reach 1 more than the base, and half more than that is wanted."""
    step, base = tree((0, 0.0, 1, 2), 0.0, 1.0), float.fromhex(told.get("base", "0x0p0"))
    said = case("off", [step], [number(-1.0, 1.0)], 1.5 + base, 1.5, {"end": "score"})
    assert replace(said, content=json.dumps({**json.loads(said.content), **told})).accepted() == accepted


def test_sets_of_numbers_are_cuts(tmp_path: Path) -> None:
    """Trees that ask whether a number is in a bin."""
    from lightgbm import LGBMClassifier

    X, y = whole_numbers()
    bins = KBinsDiscretizer(5, encode="onehot-dense", strategy="uniform")
    steps = make_column_transformer((bins, ["late", "years"]), (OneHotEncoder(sparse_output=False), ["job"]))
    learner = LGBMClassifier(n_estimators=8, num_leaves=6, min_child_samples=3, n_jobs=1, verbose=-1)
    model = make_pipeline(steps.set_output(transform="pandas"), learner).fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:5]
    proofs = bf.prove(bf.Explainer(model, data=X).explain(rows), model, tmp_path)
    assert proofs.verified == 5
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):
        assert one.below == pytest.approx(least(X, row, lambda every: model.predict(every) == 1), rel=1e-8)


def test_a_class_of_ones_own_is_proven_as_it_was_read(tmp_path: Path) -> None:
    """What inherits all that it does is read, and its module has no version."""

    class Mine(RandomForestClassifier):
        pass

    Mine.__module__ = "nowhere"
    X, y = whole_numbers()
    model = encoded(Mine(5, max_depth=3, random_state=0)).fit(X, y)
    rows = X[model.predict(X) == 0].iloc[:2]
    assert bf.prove(bf.Explainer(model, data=X).explain(rows), model, tmp_path).verified == 2


def test_calibrated_probabilities_are_proven(tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = encoded(sigmoid(RandomForestClassifier(6, max_depth=4, random_state=0))).fit(X, y)
    chance = model.predict_proba(X)[:, 1]
    end = float(np.quantile(chance, 0.85)) - 0.003
    rows = X[chance < end].iloc[:4]
    proofs = bf.prove(
        bf.Explainer(model, data=X).explain(rows, target=bf.probability(1, at_least=end)), model, tmp_path
    )
    assert proofs.verified == 4
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):
        reached = least(X, row, lambda every: model.predict_proba(every)[:, 1] >= end)
        assert one.below == pytest.approx(reached, rel=1e-8)


def test_other_functions_of_sums_are_refused(tmp_path: Path) -> None:
    """What is no logit of trees, and no mean of shares: here shares of shares of shares."""
    from xgboost import XGBClassifier

    X, y = whole_numbers()
    boosted = XGBClassifier(n_estimators=5, max_depth=2, n_jobs=1)
    inner = CalibratedClassifierCV(boosted, method="sigmoid", ensemble=False, cv=2)
    model = encoded(CalibratedClassifierCV(inner, method="sigmoid", cv=2)).fit(X, y)
    answers = bf.Explainer(model, data=X).explain(X[model.predict(X) == 0].iloc[:1])
    with pytest.raises(UnsupportedModelError, match="a CalibratedClassifierCV: no proof is made of it yet"):
        bf.prove(answers, model, tmp_path / "none")
