"""Every supported estimator, on plain numbers: the imported model says what the estimator says, at every cut and beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn import linear_model as lm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor

import butfor as bf
from butfor.model.linear import Linear
from butfor.model.trees import Trees
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.samples import FIRST_WINS, SKLEARN, amounts, labels, numbers
from tests.shorter import first

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

CV: dict[str, Any] = {"use_legacy_attributes": False, "l1_ratios": (0.0,)} if SKLEARN >= (1, 8) else {}
"""What keeps a newer scikit-learn from warning."""


def exponential() -> GradientBoostingClassifier:
    """Its score is half of the logarithm of its odds."""
    return GradientBoostingClassifier(loss="exponential", n_estimators=6, max_depth=2, random_state=0)


BINARY: dict[str, Callable[[], Any]] = {
    "logistic": lambda: lm.LogisticRegression(max_iter=200),
    "logistic without intercept": lambda: lm.LogisticRegression(fit_intercept=False, max_iter=200),
    "logistic with class weights": lambda: lm.LogisticRegression(class_weight="balanced", max_iter=200),
    "liblinear": lambda: lm.LogisticRegression(solver="liblinear", **({"l1_ratio": 1.0} if SKLEARN >= (1, 8) else {})),
    "logistic cv": lambda: lm.LogisticRegressionCV(Cs=3, cv=2, max_iter=100, scoring="accuracy", **CV),
    "ridge": lm.RidgeClassifier,
    "ridge cv": lm.RidgeClassifierCV,
    "svc": lambda: LinearSVC(max_iter=300),
    "svc hinge": lambda: LinearSVC(loss="hinge", fit_intercept=False, max_iter=300),
    "perceptron": lambda: lm.Perceptron(random_state=0),
    "discriminant": LinearDiscriminantAnalysis,
    "discriminant lsqr": lambda: LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2),
    "discriminant eigen": lambda: LinearDiscriminantAnalysis(solver="eigen", priors=[0.3, 0.7]),
    **{
        f"sgd {loss}": lambda loss=loss: lm.SGDClassifier(loss=loss, random_state=0)
        for loss in ("hinge", "log_loss", "modified_huber", "squared_hinge", "squared_error", "perceptron")
    },
    "sgd averaged": lambda: lm.SGDClassifier(average=True, random_state=0),
    "one against rest": lambda: OneVsRestClassifier(lm.LogisticRegression(max_iter=200)),
    "threshold": lambda: FixedThresholdClassifier(lm.LogisticRegression(max_iter=200), threshold=0.3, pos_label="yes"),
    "threshold of the first class": lambda: FixedThresholdClassifier(
        lm.LogisticRegression(max_iter=200), threshold=0.3, pos_label="no"
    ),
    "threshold of a score": lambda: FixedThresholdClassifier(
        LinearSVC(max_iter=300), threshold=0.4, pos_label="yes", response_method="decision_function"
    ),
    "threshold of a tree": lambda: FixedThresholdClassifier(
        DecisionTreeClassifier(max_depth=4, random_state=0), threshold=0.7, pos_label="yes"
    ),
    **{
        f"threshold of exponential boosting {how}": lambda inner=inner, label=label: FixedThresholdClassifier(
            inner(), threshold=0.2, pos_label=label, response_method="decision_function"
        )
        for how, inner, label in (
            ("alone", exponential, "yes"),
            ("of the first class", exponential, "no"),
            ("in a pipeline", lambda: make_pipeline(StandardScaler(), exponential()), "yes"),
            ("in a search", lambda: GridSearchCV(exponential(), {"max_depth": [1, 2]}, cv=2), "yes"),
        )
    },
    "tuned threshold of exponential boosting": lambda: TunedThresholdClassifierCV(
        exponential(), cv=2, thresholds=10, scoring="accuracy", response_method="decision_function"
    ),
    "calibrated search of exponential boosting": lambda: CalibratedClassifierCV(
        GridSearchCV(exponential(), {"max_depth": [1, 2]}, cv=2), cv=2, ensemble=False
    ),
    "tuned threshold": lambda: TunedThresholdClassifierCV(
        lm.LogisticRegression(max_iter=200), cv=2, thresholds=10, scoring="accuracy"
    ),
    "tuned threshold of a class": lambda: TunedThresholdClassifierCV(
        lm.LogisticRegression(max_iter=200), cv=2, thresholds=10, scoring=make_scorer(f1_score, pos_label="no")
    ),
    "grid": lambda: GridSearchCV(lm.LogisticRegression(max_iter=200), {"C": [0.1, 1.0]}, cv=2),
    "grid of pipelines": lambda: GridSearchCV(
        make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0)),
        {"decisiontreeclassifier__max_depth": [2, 4]},
        cv=2,
    ),
    "random search": lambda: RandomizedSearchCV(
        DecisionTreeClassifier(random_state=0), {"max_depth": [2, 3]}, n_iter=2, cv=2, random_state=0
    ),
}
SEVERAL: dict[str, Callable[[], Any]] = {
    "multinomial": lambda: lm.LogisticRegression(max_iter=200),
    "multinomial without intercept": lambda: lm.LogisticRegression(fit_intercept=False, max_iter=200),
    "ridge": lm.RidgeClassifier,
    "svc": lambda: LinearSVC(max_iter=300),
    "svc crammer singer": lambda: LinearSVC(multi_class="crammer_singer", max_iter=300),
    "sgd": lambda: lm.SGDClassifier(loss="log_loss", random_state=0),
    "sgd huber": lambda: lm.SGDClassifier(loss="modified_huber", random_state=0),
    "perceptron": lambda: lm.Perceptron(random_state=0),
    "discriminant": LinearDiscriminantAnalysis,
    "discriminant eigen": lambda: LinearDiscriminantAnalysis(solver="eigen"),
}
if FIRST_WINS:
    SEVERAL |= {
        "one against rest": lambda: OneVsRestClassifier(lm.LogisticRegression(max_iter=200)),
        "one against rest svc": lambda: OneVsRestClassifier(LinearSVC(max_iter=300)),
    }
AMOUNTS: dict[str, Callable[[], Any]] = {
    "least squares": lm.LinearRegression,
    "least squares positive": lambda: lm.LinearRegression(positive=True),
    "ridge": lambda: lm.Ridge(fit_intercept=False),
    "ridge cv": lm.RidgeCV,
    "lasso": lambda: lm.Lasso(alpha=0.01),
    "lasso cv": lambda: lm.LassoCV(cv=2, n_jobs=None),
    "elastic net": lambda: lm.ElasticNet(alpha=0.01),
    "elastic net cv": lambda: lm.ElasticNetCV(cv=2),
    "sgd": lambda: make_pipeline(StandardScaler(), lm.SGDRegressor(random_state=0)),
    "svr": lambda: LinearSVR(max_iter=300),
    "huber": lambda: make_pipeline(StandardScaler(), lm.HuberRegressor()),
    "bayes": lm.BayesianRidge,
}


@pytest.mark.parametrize("seed", first(1, range(2)))
@pytest.mark.parametrize("name", BINARY)
def test_two_classes(name, seed) -> None:
    rng = np.random.default_rng(seed)
    X = numbers(rng)
    check_importer(BINARY[name]().fit(X, labels(rng, X, 2)), X, rng)


@pytest.mark.shorter(4)
@pytest.mark.parametrize("seed", first(1, range(2)))
@pytest.mark.parametrize("name", SEVERAL)
def test_several_classes(name, seed) -> None:
    rng = np.random.default_rng(seed)
    X = numbers(rng)
    check_importer(SEVERAL[name]().fit(X, labels(rng, X, int(rng.integers(3, 5)))), X, rng)


class Unknown(lm.LogisticRegression):
    """A class whose link no table tells."""


class UnknownEach(lm.SGDClassifier):
    """The same, with one classifier per class."""


LINKS: dict[str, tuple[Callable[[], Any], str, str]] = {
    "logistic": (lambda: lm.LogisticRegression(max_iter=200), "logistic", "softmax"),
    "discriminant": (LinearDiscriminantAnalysis, "logistic", "softmax"),
    "sgd": (lambda: lm.SGDClassifier(loss="log_loss", random_state=0), "logistic", "ovr"),
    "sgd huber": (lambda: lm.SGDClassifier(loss="modified_huber", random_state=0), "none", "ovr"),
    "sgd hinge": (lambda: lm.SGDClassifier(loss="hinge", random_state=0), "none", "none"),
    "unknown": (lambda: Unknown(max_iter=200), "logistic", "softmax"),
    "unknown each": (lambda: UnknownEach(loss="log_loss", random_state=0), "logistic", "ovr"),
    "unknown huber": (lambda: UnknownEach(loss="modified_huber", random_state=0), "none", "ovr"),
}
"""Estimators, and their links for two classes and for several."""


@pytest.mark.parametrize("seed", first(1, range(4)))
@pytest.mark.parametrize(("width", "classes"), [(1, 3), (2, 4), (2, 6), (3, 3), (3, 2)])
@pytest.mark.parametrize("name", LINKS)
def test_the_link_is_known_whatever_the_scores(name, width, classes, seed) -> None:
    """Steep scores and more classes than columns: there, the two links may give the same probabilities."""
    rng = np.random.default_rng(seed)
    X = numbers(rng)[:, :width] * rng.choice([1.0, 30.0]) + rng.choice([0.0, 5.0])
    made, of_two, of_several = LINKS[name]
    model = made().fit(X, np.arange(len(X)) * classes // len(X))
    reading = check_importer(model, X, rng)
    assert reading.readout.link == (of_two if classes == 2 else of_several)


@pytest.mark.parametrize("loss", ["log_loss", "modified_huber"])
def test_one_against_the_rest_has_class_targets_and_says_why_it_has_no_others(loss) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2)) * 20
    y = (X[:, 0] > 0) + 2 * (X[:, 1] > 0)
    model = lm.SGDClassifier(loss=loss, random_state=0).fit(X, y)
    explainer = bf.Explainer(model, X)
    row = X[model.predict(X) == 0][:1]
    answer = explainer.explain(row, target=3)
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert model.predict(answer.point)[0] == 3
    with pytest.raises(bf.errors.UnsupportedProblemError, match="not a monotone function"):
        explainer.explain(row, target=bf.probability(3, at_least=0.6))


@pytest.mark.parametrize("seed", first(1, range(2)))
@pytest.mark.parametrize("name", AMOUNTS)
def test_regressors(name, seed) -> None:
    rng = np.random.default_rng(seed)
    X = numbers(rng)
    reading = check_importer(AMOUNTS[name]().fit(X, amounts(rng, X)), X, rng)
    assert isinstance(reading.model, Linear)


TREES: dict[str, dict[str, Any]] = {
    "grown full": {},
    "shallow": {"max_depth": 3},
    "pruned": {"ccp_alpha": 0.01},
    "few leaves": {"max_leaf_nodes": 6},
    "monotonic": {"monotonic_cst": [1, 0, -1, 0, 1], "max_depth": 5},
    "random features": {"max_features": 2, "max_depth": 5},
}


@pytest.mark.shorter(12)
@pytest.mark.parametrize("kind", [DecisionTreeClassifier, ExtraTreeClassifier])
@pytest.mark.parametrize("single", [False, True], ids=["float64", "float32"])
@pytest.mark.parametrize("missing", [False, True], ids=["known", "missing"])
@pytest.mark.parametrize("name", TREES)
def test_tree_classifiers(kind, name, missing, single) -> None:
    if missing and name == "monotonic":
        missing = False
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = numbers(rng, missing=missing, single=single)
        classes = 2 if name == "monotonic" else int(rng.integers(2, 5))
        weights = "balanced" if seed else None
        tree = kind(random_state=seed, class_weight=weights, **TREES[name]).fit(X, labels(rng, X, classes))
        reading = check_importer(tree, X, rng)
        assert isinstance(reading.model, Trees)
        takes = {True} if name != "monotonic" or SKLEARN >= (1, 9) else {False}
        assert {feature.missing for feature in reading.space} == takes


@pytest.mark.parametrize("kind", [DecisionTreeRegressor, ExtraTreeRegressor])
@pytest.mark.parametrize("missing", [False, True], ids=["known", "missing"])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_tree_regressors(kind, missing, criterion) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = numbers(rng, missing=missing and criterion == "squared_error", single=bool(seed))
        tree = kind(random_state=seed, max_depth=6, criterion=criterion).fit(X, amounts(rng, X))
        check_importer(tree, X, rng)


def test_a_tree_of_one_leaf() -> None:
    X = np.zeros((4, 2)) + np.arange(4)[:, None]
    check_importer(DecisionTreeClassifier().fit(X, np.ones(4)), X)


def test_float32_neighbours_of_a_threshold_go_where_the_estimator_sends_them() -> None:
    """A threshold in float32 is a whole interval of float64: its upper end is found exactly."""
    X = np.linspace(0.1, 0.7, 50)[:, None]
    tree = DecisionTreeClassifier(max_depth=1).fit(X, X[:, 0] > 0.33)
    reading = check_importer(tree, X)
    (cut,) = reading.model.cells[0].edges
    beside = np.array([[cut], [np.nextafter(cut, 1.0)]])
    assert tree.predict(beside).tolist() == [False, True]
    assert cut != tree.tree_.threshold[0]


class TestLogisticRegression(ImporterContract):
    seeds = range(3)

    def fitted(self, rng):
        X = numbers(rng)
        return lm.LogisticRegression(max_iter=200).fit(X, labels(rng, X, 3)), X


class TestDecisionTree(ImporterContract):
    seeds = range(3)

    def fitted(self, rng):
        X = numbers(rng, missing=True)
        return DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, labels(rng, X, 3)), X


class TestPipeline(ImporterContract):
    seeds = range(3)

    def fitted(self, rng):
        X = numbers(rng)
        return make_pipeline(StandardScaler(), lm.Ridge()).fit(X, amounts(rng, X)), X
