"""scikit-learn's perceptrons: every activation that is read, with and without hidden layers, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import butfor as bf
from butfor.importers.libraries.sklearn_networks import read_network
from butfor.model.linear import Linear
from butfor.model.network import Network
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.checks import SEVERAL, check_caught, why_unread
from tests.importers.samples import SKLEARN, amounts, labels, numbers

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

LAYERS: dict[str, tuple[int, ...]] = {"none": (), "one": (5,), "two": (4, 3), "three": (3, 3, 3)}
FEW = {"max_iter": 15, "random_state": 0}
ACTIVATION = pytest.mark.parametrize("activation", ["relu", "identity"])


@SEVERAL
@ACTIVATION
@pytest.mark.parametrize("layers", LAYERS)
def test_classifiers(layers, activation, several) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = numbers(rng, single=bool(seed))
        model = MLPClassifier(LAYERS[layers], activation=activation, **FEW).fit(X, labels(rng, X, 3 if several else 2))
        reading = check_importer(model, X, rng)
        assert reading.unit == (2.0**-24 if seed else 2.0**-53)
        assert isinstance(reading.model, Network if LAYERS[layers] else Linear)


@ACTIVATION
@pytest.mark.parametrize("layers", LAYERS)
def test_regressors(layers, activation) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = numbers(rng, single=bool(seed))
        model = MLPRegressor(hidden_layer_sizes=LAYERS[layers], activation=activation, **FEW).fit(X, amounts(rng, X))
        check_importer(model, X, rng)


@pytest.mark.parametrize("activation", ["tanh", "logistic"])
def test_a_network_that_is_not_piecewise_linear_is_named_and_searched(activation) -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng)
    model = make_pipeline(StandardScaler(), MLPClassifier((3,), activation=activation, solver="lbfgs", random_state=0))
    model.fit(X, labels(rng, X, 2))
    answer = bf.Explainer(model, X).explain(X[:1])
    assert answer.found
    assert model.predict(answer.point)[0] != model.predict(X[:1])[0]
    assert f"MLPClassifier(activation={activation!r}) is not piecewise linear" in why_unread(model, X)


def test_several_outputs_are_refused_by_name() -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng)
    both = np.column_stack([X[:, 1] > 0, X[:, 2] > 2])
    labelled = MLPClassifier((3,), **FEW).fit(X, both)
    valued = MLPRegressor(hidden_layer_sizes=(3,), **FEW).fit(X, both * 1.0)
    for model, words, target in (
        (labelled, "MLPClassifier predicts 2 labels at once", "other"),
        (valued, "MLPRegressor predicts 2 values at once", bf.value(at_least=0)),
    ):
        assert words in why_unread(model, X)
        with pytest.raises(bf.errors.UnsupportedModelError, match="2 outputs"):
            bf.Explainer(model, X).explain(X[:1], target=target)


def test_a_margin_from_a_network_is_refused() -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng)
    explainer = bf.Explainer(MLPClassifier((3,), **FEW).fit(X, labels(rng, X, 2)), X)
    with pytest.raises(bf.errors.UnsupportedProblemError, match=r"the model is a network.*bf.probability"):
        explainer.explain(X[:1], constraints=[bf.margin(0.1)])


@pytest.mark.skipif(SKLEARN < (1, 7), reason="this scikit-learn has one loss for perceptrons")
def test_a_regressor_of_rates_is_refused_by_name() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    model = MLPRegressor(loss="poisson", hidden_layer_sizes=(3,), **FEW).fit(X, np.abs(amounts(rng, X)))
    assert "predicts the exp of its last sum (loss='poisson')" in why_unread(model, X)


def _crooked(estimator: Any, columns: Any) -> Any:
    estimator.intercepts_[-1] = estimator.intercepts_[-1] + 1e-4
    try:
        return read_network(estimator, columns)
    finally:
        estimator.intercepts_[-1] = estimator.intercepts_[-1] - 1e-4


def _wrong_bend(estimator: Any, columns: Any) -> Any:
    estimator.activation = "identity"
    try:
        return read_network(estimator, columns)
    finally:
        estimator.activation = "relu"


@pytest.mark.parametrize("wrong", [_crooked, _wrong_bend])
def test_a_wrong_importer_is_caught(wrong: Callable[..., Any], monkeypatch) -> None:
    rng = np.random.default_rng(0)
    X = numbers(rng)
    check_caught(wrong, MLPClassifier((4,), **FEW).fit(X, labels(rng, X, 2)), X, monkeypatch)


class TestPerceptron(ImporterContract):
    seeds = range(3)

    def fitted(self, rng):
        X = numbers(rng)
        return make_pipeline(StandardScaler(), MLPClassifier((4, 3), **FEW)).fit(X, labels(rng, X, 3)), X
