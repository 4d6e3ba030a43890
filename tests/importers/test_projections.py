"""Steps that add columns up with weights: read before every kind of model, and the answers those of the estimator."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA, FactorAnalysis, FastICA, IncrementalPCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, PowerTransformer, StandardScaler
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.importers.fold.column import Column
from butfor.importers.fold.linear import linear_over
from butfor.importers.fold.projected import projected
from butfor.model.linear import Linear
from butfor.model.network import Network
from butfor.model.oblique import ObliqueTree
from butfor.model.oblique_forest import ObliqueForest
from butfor.model.projections import Projections, over_features
from butfor.model.questions import ModelKind, evaluate, kind_of
from butfor.model.rounding import Extent, rounding
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.checks import why_unread
from tests.importers.samples import NUMBERS, TEXT, answers, people
from tests.shorter import diagonal, first

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

STEPS: dict[str, Callable[[], Any]] = {
    "components": lambda: PCA(2),
    "whitened": lambda: PCA(3, whiten=True),
    "batches": lambda: IncrementalPCA(2),
    "singular": lambda: TruncatedSVD(2, random_state=0),
    "independent": lambda: FastICA(2, random_state=0),
    "factors": lambda: FactorAnalysis(2),
    "random": lambda: GaussianRandomProjection(3, random_state=0),
    "random and sparse": lambda: SparseRandomProjection(3, random_state=0),
    "discriminants": LinearDiscriminantAnalysis,
    "discriminants by eigenvalues": lambda: LinearDiscriminantAnalysis(solver="eigen"),
    "metric": lambda: NeighborhoodComponentsAnalysis(2, max_iter=5, random_state=0),
    "of components": lambda: make_pipeline(PCA(3), StandardScaler(), PCA(2)),
    "side by side": lambda: make_union(PCA(1), TruncatedSVD(2, random_state=0), "passthrough"),
}
MODELS: dict[str, tuple[type, Callable[[], Any]]] = {
    "linear": (Linear, lambda: LogisticRegression(max_iter=500)),
    "network": (Network, lambda: MLPClassifier((4,), tol=10.0, n_iter_no_change=3, random_state=0)),
    "tree": (ObliqueTree, lambda: DecisionTreeClassifier(max_depth=4, random_state=0)),
    "forest": (ObliqueForest, lambda: RandomForestClassifier(4, max_depth=3, random_state=0)),
    "boosting": (ObliqueForest, lambda: GradientBoostingClassifier(n_estimators=3, random_state=0)),
    "histogram": (ObliqueForest, lambda: HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5)),
}


def table(seed: int = 0, classes: int = 2) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(90, 4)) * [1, 5, 0.1, 30] + [0, 2000, 3, -9], columns=list("abcd"))
    score = X.rank().to_numpy() @ [1.0, -1.0, 1.0, 0.5]
    return X, np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))


class TestTrees(ImporterContract):
    seeds = range(2)

    def fitted(self, rng):
        X, y = table(int(rng.integers(99)))
        return make_pipeline(StandardScaler(), PCA(2), DecisionTreeClassifier(max_depth=4, random_state=0)).fit(X, y), X


@pytest.mark.parametrize(("step", "model", "kind"), diagonal(STEPS, MODELS, [np.float64, np.float32]))
def test_steps(step, model, kind) -> None:
    X, y = table(classes=3)
    X = X.astype(kind)
    of, make = MODELS[model]
    reading = check_importer(make_pipeline(StandardScaler(), STEPS[step](), make()).fit(X, y), X)
    assert type(reading.model) is of


@pytest.mark.shorter(3)
@pytest.mark.parametrize("model", MODELS)
def test_beside_other_columns(model) -> None:
    """Levels and flags are added up, too, dense and sparse, and what is not added up is read as it is."""
    X = people()
    of, make = MODELS[model]
    columns = make_column_transformer(
        (make_pipeline(StandardScaler(), PCA(1)), NUMBERS),
        (make_pipeline(OneHotEncoder(), TruncatedSVD(2, random_state=0)), TEXT),
        (StandardScaler(), NUMBERS), (OneHotEncoder(), TEXT), remainder="passthrough",
    )  # fmt: skip
    reading = check_importer(make_pipeline(columns, make()).fit(X, answers(X)), X)
    assert type(reading.model) is of


def test_trees_of_sums_stand_beside_a_linear_model() -> None:
    X, y = table()
    after = make_pipeline(PCA(2), DecisionTreeClassifier(max_depth=2))
    vote = VotingClassifier([("a", LogisticRegression()), ("b", after)], voting="soft")
    assert kind_of(check_importer(make_pipeline(StandardScaler(), vote).fit(X, y), X).model) is ModelKind.OBLIQUE_MIXED


def test_a_median_of_trees_of_sums_is_a_vote() -> None:
    X, _ = table()
    X = X.round()
    model = make_pipeline(PCA(2), AdaBoostRegressor(n_estimators=3, random_state=0)).fit(X, X.a - X.d)
    check_importer(model, X)
    goal = float(np.quantile(model.predict(X), 0.8))
    answer = bf.Explainer(model, X).explain(X.iloc[[0]], target=bf.value(at_least=goal))
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL


def test_bent_columns_are_added_up_before_no_tree_and_bent_sums_are_read_by_trees() -> None:
    X, y = table()
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    check_importer(make_pipeline(PCA(2), PowerTransformer(), tree).fit(X, y), X)
    assert "not affine" in why_unread(make_pipeline(PowerTransformer(), PCA(2), tree).fit(X, y), X)


BINS = make_pipeline(PCA(2), KBinsDiscretizer(3, strategy="uniform"))
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "bins before trees": (lambda: make_pipeline(BINS, DecisionTreeClassifier(max_depth=2)), "bins of a sum of columns"),
    "bins before linear models": (lambda: make_pipeline(BINS, LogisticRegression()), "bins of a sum of columns"),
    "levels": (
        lambda: make_pipeline(PCA(1), OneHotEncoder(handle_unknown="ignore"), LogisticRegression()), "an encoder of levels"
    ),
    "predictions": (
        lambda: StackingClassifier(
            [("a", LogisticRegression()), ("b", DecisionTreeClassifier(max_depth=2))],
            make_pipeline(PCA(1), LogisticRegression()), cv=2,
        ), "predictions of other models",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_says_so(name) -> None:
    make, why = REFUSED[name]
    X, y = table()
    assert why in why_unread(make().fit(X, y), X)


def test_votes_and_bags_of_pipelines() -> None:
    X, y = table()
    lines = [("a", LogisticRegression()), ("b", make_pipeline(StandardScaler(), PCA(2), LogisticRegression()))]
    assert type(check_importer(VotingClassifier(lines, voting="soft").fit(X, y), X).model) is Linear
    with_components = make_pipeline(PCA(2), BaggingClassifier(DecisionTreeClassifier(max_depth=2), 3, random_state=0))
    assert type(check_importer(with_components.fit(X, y), X).model) is ObliqueForest


def test_partial_least_squares() -> None:
    X, y = table(classes=5)
    check_importer(PLSRegression(2).fit(X, y), X)


# Answers


def whole(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Three columns of few whole numbers, so that every combination can be asked about."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 7, size=(120, 3)), columns=list("abc"))
    return X, (X["a"] - X["b"] + (X["c"] - 3) ** 2 / 2 + rng.normal(size=120) > 1.5).to_numpy().astype(int)


def cheapest(explainer: bf.Explainer, estimator: Any, row: pd.DataFrame, X: pd.DataFrame) -> float:
    """The least cost over all combinations, by the estimator itself and the rule of L1: shares of the ranges."""
    every = pd.DataFrame(list(product(*(range(X[c].min(), X[c].max() + 1) for c in X))), columns=list(X))
    range_of = np.array([explainer.space[c].range for c in X])
    cost = (np.abs(every.to_numpy() - row.to_numpy()) / range_of).sum(axis=1)
    return float(cost[estimator.predict(every) == 1].min(initial=np.inf))


@pytest.mark.shorter(3)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", first(2, range(12)))
def test_answers_are_the_cheapest_of_all_combinations(model, seed) -> None:
    X, y = whole(seed)
    _, make = MODELS[model]
    step = [PCA(2), PCA(3, whiten=True), GaussianRandomProjection(2, random_state=seed)][seed % 3]
    estimator = make_pipeline(StandardScaler(), step, make()).fit(X, y)
    explainer = bf.Explainer(estimator, X)
    rows = X[estimator.predict(X) == 0].iloc[:3]
    for answer, (_, row) in zip(explainer.explain(rows, target=1), rows.iterrows(), strict=True):
        least = cheapest(explainer, estimator, row.to_frame().T, X)
        some = bf.Status.PROVEN_OPTIMAL if least < np.inf else bf.Status.PROVEN_INFEASIBLE
        assert answer.certificate.status is some
        assert not answer.found or answer.cost == pytest.approx(least, abs=1e-6)


# Rounding


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_what_cancels_out_counts_for_the_rounding(seed, kind) -> None:
    """Weights of a million nearly cancel: the estimator's sums are off by far more than those of what is left."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 3)).astype(kind)
    weight = 1e6 * rng.normal(size=3)
    weights, coef = np.stack([weight, weight + rng.normal(size=3)]).astype(kind), np.array([1.0, -1.0], dtype=kind)
    projections = Projections(3)
    single = kind == np.float32
    columns = [Column(j, single=single, projections=projections) for j in range(3)]
    sums = projected(columns, weights, np.zeros(2), single=single)
    model = over_features(linear_over(sums, coef, np.zeros(1)), projections)
    theirs, ours = (X @ weights.T) @ coef, evaluate(model, X.astype(np.float64))[:, 0]
    ends = X.min(axis=0).astype(float), X.max(axis=0).astype(float)
    extent = Extent(ends[0][None], *ends, np.zeros(3), np.zeros(3), np.ones(3, dtype=bool))
    unit = UNIT_SINGLE if single else UNIT_DOUBLE
    bare = Linear(model.intercept, model.slope, model.cells, model.steps)
    short, enough = (float(rounding(one, np.eye(1), extent, unit)[0]) for one in (bare, model))
    assert short < np.abs(theirs - ours).max() <= enough
