"""Neighbours and Gaussian kernels: they are searched, and the bound on the cost is never too high."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PowerTransformer, StandardScaler
from sklearn.svm import SVC, NuSVC

import butfor as bf
from butfor.importers.read import read
from butfor.model.barrier import GaussianKernel
from butfor.model.black_box import BlackBox
from butfor.model.questions import evaluate

EVERY = pd.DataFrame(
    [(a, b, c, w) for a, b, c, w in product(range(6), range(6), range(4), "xyz")], columns=["a", "b", "c", "word"]
)
MODELS = {
    "one neighbour": lambda: KNeighborsClassifier(1),
    "three neighbours": lambda: KNeighborsClassifier(3),
    "four neighbours": lambda: KNeighborsClassifier(4),
    "kernel": lambda: SVC(gamma=0.3, C=2),
    "other kernel": lambda: NuSVC(nu=0.3, gamma=0.1),
}


def some(seed: int, classes: int, rows: int = 50) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = EVERY.iloc[rng.integers(0, len(EVERY), rows)].reset_index(drop=True)
    score = X["a"] + X["b"] - X["c"] + 2 * (X["word"] == "x") + 0.5 * rng.normal(size=rows)
    ends = np.quantile(score, np.arange(1, classes) / classes)
    return X, np.array(["low", "middle", "high"])[np.digitize(score, ends) * (3 - classes if classes == 2 else 1)]


def scaled(model: Any) -> Any:
    columns = make_column_transformer((StandardScaler(), ["a", "b", "c"]), (OneHotEncoder(), ["word"]))
    return make_pipeline(columns.set_params(sparse_threshold=0), model)


def changes(row: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """How far each number moves, in ranges, and whether the word changes."""
    moves = (EVERY[["a", "b", "c"]] - row[["a", "b", "c"]].to_numpy()).abs() / [5, 5, 3]
    return moves.to_numpy(), (EVERY["word"] != row["word"].iloc[0]).to_numpy()


QUICK = bf.Swarm(particles=10, iterations=0, polish=False)

COSTS = {
    "L1": (lambda: bf.L1(scale="range"), lambda moves, word: moves.sum(axis=1) + word),
    "L2": (lambda: bf.L2(scale="range"), lambda moves, word: (moves**2).sum(axis=1) + word),
    "L0": (lambda: bf.L0(), lambda moves, word: (moves > 0).sum(axis=1) + word),
    "L0 and L1": (
        lambda: 0.5 * bf.L0() + bf.L1(scale="range"),
        lambda moves, word: moves.sum(axis=1) + word + 0.5 * ((moves > 0).sum(axis=1) + word),
    ),
}


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("name", MODELS)
def test_the_bound_is_never_above_the_cheapest_of_all(name, cost) -> None:
    """Every row is tried with the estimator."""
    bounded = 0
    for seed, classes in ((0, 2), (1, 2), (2, 2 if "kernel" in name else 3)):
        X, y = some(seed, classes)
        model = scaled(MODELS[name]()).fit(X, y)
        explainer, label = bf.Explainer(model, X), model.predict(EVERY)
        for start in range(3):
            row = X.iloc[[start]]
            made, priced = COSTS[cost]
            least = priced(*changes(row))[label != model.predict(row)[0]].min()
            answer = explainer.explain(row, cost=made(), solver=QUICK)[0]
            assert answer.certificate.bound <= least + 1e-9
            bounded += answer.certificate.bound > 0
    assert bounded >= 4


@pytest.mark.parametrize("label", ["low", "high"])
def test_targets_on_classes_and_probabilities(label) -> None:
    X, y = some(3, 3)
    model = scaled(KNeighborsClassifier(5)).fit(X, y)
    explainer, given = bf.Explainer(model, X), model.predict_proba(EVERY)
    at = list(model.classes_).index(label)
    targets = {
        label: model.predict(EVERY) == label,
        bf.probability(label, at_least=0.6): given[:, at] >= 0.6,
        bf.probability(label, at_least=1.0): given[:, at] >= 1.0,
    }
    bounds = []
    for (target, met), start in product(targets.items(), range(4)):
        moves, word = changes(X.iloc[[start]])
        answer = explainer.explain(X.iloc[[start]], target=target, cost=bf.L1(scale="range"), solver=QUICK)[0]
        bounds.append(answer.certificate.bound)
        assert answer.certificate.bound <= (moves.sum(axis=1) + word)[met].min(initial=np.inf) + 1e-9
    assert max(bounds) > 0.2


def test_an_answer_is_within_a_known_gap() -> None:
    X, y = some(0, 2)
    model = GridSearchCV(scaled(KNeighborsClassifier()), {"kneighborsclassifier__n_neighbors": [1, 3]}, cv=2).fit(X, y)
    rng = np.random.default_rng(0)
    numbers = X.assign(a=X["a"] + rng.random(len(X)), b=X["b"] + rng.random(len(X)))
    model.fit(numbers, y)
    answers = bf.Explainer(model, numbers).explain(numbers.iloc[:8])
    assert all(str(answer.certificate.solver).startswith("swarm") for answer in answers)
    assert bf.Status.WITHIN_GAP in {answer.certificate.status for answer in answers}


@pytest.mark.parametrize(
    "model",
    [
        CalibratedClassifierCV(KNeighborsClassifier(3), cv=2),
        BaggingClassifier(KNeighborsClassifier(3), n_estimators=3, random_state=0),
        VotingClassifier([("a", KNeighborsClassifier(3)), ("b", SVC())]),
        KNeighborsClassifier(3, weights="distance"),
        KNeighborsClassifier(3, metric="manhattan"),
        SVC(kernel="poly"),
        make_pipeline(PCA(2), KNeighborsClassifier(3)),
        make_pipeline(PowerTransformer(), KNeighborsClassifier(3)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_is_not_the_estimator_itself_has_no_bound(model) -> None:
    """A bound of neighbours says nothing about what is made of them."""
    X, y = some(0, 2)
    found = read(model.fit(X[["a", "b", "c"]], y), X[["a", "b", "c"]]).model
    assert isinstance(found, BlackBox)
    assert found.barrier is None


@pytest.mark.parametrize("model", [SVC(gamma=0.3), NuSVC(gamma="auto")])
def test_the_sum_of_gaussians_is_the_decision(model) -> None:
    X, y = some(0, 2)
    fitted = scaled(model).fit(X, y)
    reading = read(fitted, X)
    assert isinstance(reading.model, BlackBox)
    barrier = reading.model.barrier
    assert isinstance(barrier, GaussianKernel)
    z = evaluate(barrier.inputs, reading.space.encode(X))
    far = np.linalg.norm(barrier.rows - z[:, None], axis=2)
    sums = barrier.intercept + np.exp(-barrier.gamma * far**2) @ barrier.weight
    np.testing.assert_allclose(sums, fitted.decision_function(X), atol=1e-9)
    assert [barrier.around(row).labels[0] for row in z] == fitted.predict(X).tolist()
