"""Estimators whose class is that of the largest probability are asked for the probabilities alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import butfor as bf
from butfor.estimator import forests
from butfor.estimator.likeliest import ALWAYS, NEARLY_TIED, NEVER, doubted_within
from butfor.estimator.opening import open_source
from butfor.estimator.prediction import Prediction

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.integers(0, 4, (300, 3)).astype(float), columns=["a", "b", "c"])  # many rows are alike: ties
CLASSES = {
    "text": np.array(["low", "middle", "high"])[RNG.integers(0, 3, 300)],
    "numbers": RNG.integers(0, 2, 300),
    "bool": RNG.random(300) < 0.5,
}


class Stubborn(DecisionTreeClassifier):
    """A tree that always predicts its first class."""

    def predict(self, X: Any, check_input: bool = True) -> Any:
        return np.repeat(self.classes_[:1], len(X))


class Sharpened(DecisionTreeClassifier):
    """A tree whose probabilities are those of other classes than its labels."""

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        return super().predict_proba(X)[:, ::-1]


class Reversed(RandomForestClassifier):
    """A forest with other probabilities. Its labels follow them, because it has them from there."""

    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X)[:, ::-1]


TREE = DecisionTreeClassifier(max_depth=2, random_state=0)
KNOWN = {
    "tree": TREE,
    "random tree": ExtraTreeClassifier(max_depth=3, random_state=0),
    "forest": RandomForestClassifier(4, max_depth=2, random_state=0),
    "forest on threads": RandomForestClassifier(4, max_depth=2, random_state=0, n_jobs=2),
    "random trees": ExtraTreesClassifier(5, random_state=0),
    "bag": BaggingClassifier(TREE, 4, random_state=0),
    "calibrated": CalibratedClassifierCV(TREE, cv=3),
    "pipeline": make_pipeline(StandardScaler(), TREE),
    "search": GridSearchCV(TREE, {"max_depth": [1, 2]}, cv=3),
    "pipeline in a search": GridSearchCV(make_pipeline(StandardScaler(), TREE), {}, cv=3),
    "reversed": Reversed(4, max_depth=2, random_state=0),
}
BY_SCORES = {
    "boosting": GradientBoostingClassifier(n_estimators=3, random_state=0),
    "exponential boosting": GradientBoostingClassifier(n_estimators=3, loss="exponential", random_state=0),
    "histogram boosting": HistGradientBoostingClassifier(max_iter=3),
    "line": LogisticRegression(),
    "line in a pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "network": MLPClassifier((4,), max_iter=2000, random_state=0),
}
UNKNOWN = {
    "vote": VotingClassifier([("tree", TREE), ("line", LogisticRegression())]),
    "neighbours": KNeighborsClassifier(),
    "machine": SVC(),
    "stubborn": Stubborn(max_depth=2),
    "stubborn in a pipeline": make_pipeline(StandardScaler(), Stubborn(max_depth=2)),
    "sharpened": Sharpened(max_depth=2),
}


def boosted(library: str, **settings: Any) -> Any:
    module = pytest.importorskip(library)
    if library == "xgboost":
        return module.XGBClassifier(n_estimators=3, max_depth=2, **settings)
    return module.LGBMClassifier(n_estimators=3, num_leaves=4, verbose=-1, **settings)


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("name", KNOWN)
def test_the_labels_are_those_of_the_estimator(name, classes) -> None:
    model = KNOWN[name].fit(X, CLASSES[classes])
    assert doubted_within(model) == NEVER
    prediction = Prediction(open_source(model, X), X)
    assert prediction.labels == model.predict(X).tolist()
    assert {type(label) for label in prediction.labels} == {type(label) for label in model.predict(X).tolist()}
    assert prediction.take(np.array([5, 2])).labels == model.predict(X.iloc[[5, 2]]).tolist()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_so_are_those_of_boosting(library, classes) -> None:
    y, wide = RNG.integers(0, classes, 300), X.loc[X.index.repeat(20)].reset_index(drop=True)
    model = boosted(library).fit(X, y)
    assert doubted_within(model) == NEVER
    assert Prediction(open_source(model, wide), wide).labels == model.predict(wide).tolist()


def test_a_tie_of_xgboost_is_the_first_class() -> None:
    model = boosted("xgboost", base_score=0.5, reg_alpha=1e9).fit(X, CLASSES["numbers"])
    prediction = Prediction(open_source(model, X), X)
    assert (prediction.probabilities == 0.5).all()
    assert prediction.labels == model.predict(X).tolist()
    assert set(prediction.labels) == {0}


def test_an_objective_of_ones_own_is_not_known() -> None:
    softmax = boosted("xgboost", objective="multi:softmax").fit(X, RNG.integers(0, 3, 300))
    assert doubted_within(softmax) == ALWAYS
    own = boosted("lightgbm", objective=lambda y, score: (score - y, np.ones(len(y)))).fit(X, CLASSES["numbers"])
    assert doubted_within(own) == ALWAYS


@pytest.mark.parametrize("name", UNKNOWN)
def test_others_are_asked_for_their_labels(name) -> None:
    model = UNKNOWN[name].fit(X, CLASSES["numbers"])
    assert doubted_within(model) == ALWAYS
    assert Prediction(open_source(model, X), X).labels == model.predict(X).tolist()


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("name", BY_SCORES)
def test_where_scores_decide_the_labels_are_those_of_the_estimator(name, classes) -> None:
    if name == "exponential boosting" and classes == "text":
        pytest.skip("it is for two classes")
    model = BY_SCORES[name].fit(X, CLASSES[classes])
    assert doubted_within(model) == NEARLY_TIED
    near = X + RNG.normal(size=X.shape)
    for table in (X, near):
        assert Prediction(open_source(model, X), table).labels == model.predict(table).tolist()


def tied(name: str) -> tuple[Any, pd.DataFrame]:
    """A model all of whose probabilities are equal, and rows."""
    y = CLASSES["numbers"]
    if name == "line":
        model = LogisticRegression().fit(X, y)
        model.coef_, model.intercept_ = 0 * model.coef_, np.array([1e-17])  # the score is above 0
        return model, X
    model = GradientBoostingClassifier(n_estimators=1, init="zero", max_depth=1, random_state=0)
    return model.fit(np.zeros((4, 3)), [0, 1, 0, 1]), pd.DataFrame(np.zeros((2, 3)), columns=X.columns)


@pytest.mark.parametrize("name", ["line", "boosting"])
def test_a_tie_of_probabilities_is_decided_by_the_estimator(name) -> None:
    model, table = tied(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # boosting was fitted without names
        prediction = Prediction(open_source(model, table), table)
        assert np.ptp(prediction.probabilities) == 0
        assert prediction.labels == model.predict(table).tolist() == [1] * len(table)  # and not the first class


def test_a_tuned_threshold_and_a_method_of_ones_own_are_not_passed_over() -> None:
    tuned = TunedThresholdClassifierCV(TREE, cv=3).fit(X, CLASSES["numbers"])
    assert doubted_within(tuned) == ALWAYS
    own = DecisionTreeClassifier(max_depth=2).fit(X, CLASSES["numbers"])
    assert doubted_within(own) == NEVER
    own.predict = lambda rows: np.ones(len(rows), dtype=int)  # type: ignore[method-assign]
    assert doubted_within(own) == ALWAYS
    assert set(Prediction(open_source(own, X), X).labels) == {1}


def test_several_outputs_are_refused_in_words() -> None:
    model = DecisionTreeClassifier(max_depth=2).fit(X, np.column_stack([CLASSES["numbers"], CLASSES["numbers"]]))
    assert doubted_within(model) == ALWAYS
    with pytest.raises(bf.errors.UnsupportedModelError, match="2 outputs"):
        bf.Explainer(model, X)


def test_an_explanation_asks_a_forest_twice(monkeypatch) -> None:
    model = RandomForestClassifier(10, max_depth=3, random_state=0).fit(X, CLASSES["numbers"])
    explainer, asked = bf.Explainer(model, X), []
    mean = forests._mean
    monkeypatch.setattr(forests, "_mean", lambda forest, X: asked.append(len(X)) or mean(forest, X))
    refused = X[model.predict(X) == 0].iloc[[0]]
    asked.clear()
    assert explainer.explain(refused, target=1)[0].found
    assert asked == [1, 1]  # the row as it is, and the answer
