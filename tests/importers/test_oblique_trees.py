"""TAO's trees and trees handed in as arrays, alone and behind a pipeline's steps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import AdaBoostClassifier, AdaBoostRegressor, BaggingClassifier, BaggingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.errors import FidelityError
from butfor.model.oblique import ObliqueTree
from butfor.testing.importer_contract import ImporterContract, check_importer
from butfor.trees import ObliqueTreeClassifier, ObliqueTreeRegressor, TAOClassifier, TAORegressor
from tests.importers.checks import why_unread
from tests.shorter import first


class TestTAOClassifier(ImporterContract):
    seeds = range(4)

    def fitted(self, rng):
        X = rng.normal(size=(200, 3))
        y = rng.choice(["a", "b", "c"], 200)
        return TAOClassifier(3, alpha=0.1, max_iter=100, tol=0.1).fit(X, y), X


class TestTAORegressor(ImporterContract):
    seeds = range(4)

    def fitted(self, rng):
        X = np.round(rng.normal(size=(200, 3)))
        return TAORegressor(3, split="axis", max_iter=100, tol=0.1).fit(X, X[:, 0] * X[:, 1]), X


def test_behind_a_pipeline_with_categories():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {"age": rng.integers(18, 80, 300), "job": rng.choice(["a", "b", "c"], 300), "pay": rng.normal(size=300)}
    )
    y = (data.age > 40) ^ (data.job == "a")
    steps = make_column_transformer((OneHotEncoder(), ["job"]), (StandardScaler(), ["age", "pay"]))
    reading = check_importer(make_pipeline(steps, TAOClassifier(4, alpha=0.1, tol=0.1)).fit(data, y), data)
    assert isinstance(reading.model, ObliqueTree)
    assert reading.space["job"].levels == ("a", "b", "c")


def test_a_single_leaf():
    X = np.arange(6.0).reshape(3, 2)
    reading = check_importer(TAOClassifier(alpha=100.0).fit(X, ["a", "a", "b"]), X)
    assert len(reading.model.paths) == 1


@pytest.mark.parametrize("seed", first(2, range(5)))
def test_arrays(seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(-2, 3, (7, 2)).astype(float)  # whole weights on whole rows: many scores are exactly 0
    bias, left, right = rng.integers(-2, 3, 7), [1, 2, -1, -1, 5, -1, -1], [4, 3, -1, -1, 6, -1, -1]
    X = rng.integers(-3, 4, (100, 2)).astype(float)
    shares = rng.dirichlet(np.ones(3), 7)
    check_importer(ObliqueTreeClassifier(weights, bias, left, right, shares, ["x", "y", "z"]), X)
    check_importer(ObliqueTreeRegressor(weights, bias, left, right, rng.normal(size=7)), X)


TREE = TAOClassifier(3, init="random", alpha=0.3, warm_up=5, tol=0.1, random_state=0)


class TestBagging(ImporterContract):
    """Some trees see only some of the columns."""

    seeds = range(3)

    def fitted(self, rng):
        X = rng.normal(size=(200, 4))
        y = rng.choice(["a", "b", "c"], 200)
        return BaggingClassifier(TREE, 5, max_features=0.7, bootstrap_features=True, random_state=0).fit(X, y), X


class TestBaggingOfRegressors(ImporterContract):
    seeds = range(3)

    def fitted(self, rng):
        X = np.round(rng.normal(size=(150, 3)))
        tree = TAORegressor(3, init="random", alpha=0.3, warm_up=5, tol=0.1, random_state=0)
        return BaggingRegressor(tree, 3, random_state=0).fit(X, X[:, 0] * X[:, 1]), X


class TestAdaBoost(ImporterContract):
    """Of two classes, and of three."""

    seeds = range(4)

    def fitted(self, rng):
        X = rng.normal(size=(150, 3))
        y = rng.choice(["a", "b", "c"][: int(rng.integers(2, 4))], 150)
        return AdaBoostClassifier(TREE, n_estimators=4, random_state=0).fit(X, y), X


class TestAdaBoostOfRegressors(ImporterContract):
    seeds = range(2)

    def fitted(self, rng):
        X = rng.normal(size=(150, 3))
        tree = TAORegressor(2, init="random", alpha=0.3, warm_up=5, tol=0.1, random_state=0)
        return AdaBoostRegressor(tree, n_estimators=3, random_state=0).fit(X, X[:, 0] * X[:, 1]), X


def test_bagged_trees_of_a_single_leaf():
    X = np.random.default_rng(0).normal(size=(40, 2))
    bagged = BaggingClassifier(TAOClassifier(2, alpha=1e4), 3, random_state=0).fit(X, X[:, 0] > 0)
    reading = check_importer(bagged, X)
    assert [len(tree.paths) for tree in reading.model.trees] == [1, 1, 1]


def test_a_tree_of_another_library_with_the_same_name_is_refused():
    class TAOClassifier(DecisionTreeClassifier):
        pass

    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(FidelityError, match="or butfor's oblique trees"):
        check_importer(AdaBoostClassifier(TAOClassifier(max_depth=1), n_estimators=2).fit(X, X[:, 0] > 0.5), X)


@pytest.mark.parametrize("encode", ["onehot-dense", "ordinal"])
def test_bins_are_read_and_proven(encode) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 12, size=(200, 2)).astype(float)
    y = X[:, 0] // 3 + X[:, 1] // 4 > 3
    bins = KBinsDiscretizer(4, encode=encode, strategy="uniform")
    model = make_pipeline(bins, TAOClassifier(2, init="random", alpha=0.1, random_state=0)).fit(X, y)
    check_importer(model, X)
    every = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), axis=-1).reshape(-1, 2)
    said = model.predict(every)
    explainer = bf.Explainer(model, X)
    for row in X[~model.predict(X)][:5]:
        answer = explainer.explain(row[None], target=True, solver="oblique_exact")
        assert answer.certificate.status.name == "PROVEN_OPTIMAL"
        assert answer.cost == pytest.approx((np.abs(every - row) / 11).sum(axis=1)[said].min(), abs=1e-6)


@pytest.mark.parametrize("step", [PowerTransformer(), QuantileTransformer(n_quantiles=9), FunctionTransformer(np.exp)])
def test_what_bends_a_column_before_several_of_them_is_named(step) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = make_pipeline(step, BaggingClassifier(TREE, 3, random_state=0)).fit(X, X.sum(axis=1) > 0)
    assert "several oblique trees follow a step that bends a column" in why_unread(model, X)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("cost", ["L1", "L2", "LInf"])
def test_answers_of_bagged_oblique_trees_are_no_dearer_than_a_grid(cost):
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(300, 2))
    y = (X[:, 0] + X[:, 1] > 1.2) | (X[:, 0] - X[:, 1] > 0.5)
    bagged = BaggingClassifier(TREE, 5, random_state=0).fit(X, y)
    side = np.linspace(0, 1, 401)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    grid = grid[bagged.predict(grid)]
    explainer = bf.Explainer(bagged, data=X, space={"x0": bf.Continuous(0, 1), "x1": bf.Continuous(0, 1)})
    for row in X[~bagged.predict(X)][:5]:
        answer = explainer.explain(row[None], target=True, cost=cost)
        moved = np.abs(grid - row)
        least = {"L1": moved.sum(axis=1), "L2": (moved**2).sum(axis=1), "LInf": moved.max(axis=1)}[cost].min()
        assert answer.certificate.status.name == "PROVEN_OPTIMAL"
        assert bagged.predict(answer.point)[0]
        step = {"L1": 1 / 200, "L2": (2 * least**0.5 + 1 / 200) / 200, "LInf": 1 / 400}[cost]
        assert least - step <= answer.cost <= least + 1e-6
