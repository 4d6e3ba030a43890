"""Answers that several models accept at once, against plain enumeration of the cells of all of them."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import GradientBoostingClassifier, IsolationForest, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.solvers.outcome import Status
from tests.shorter import first

MODELS = {
    "linear": lambda seed: LogisticRegression(),
    "scaled": lambda seed: make_pipeline(StandardScaler(), LogisticRegression()),
    "tree": lambda seed: DecisionTreeClassifier(max_depth=3, random_state=seed),
    "forest": lambda seed: RandomForestClassifier(5, max_depth=3, random_state=seed),
    "boosting": lambda seed: GradientBoostingClassifier(n_estimators=5, max_depth=2, random_state=seed),
    "network": lambda seed: MLPClassifier((4,), solver="lbfgs", max_iter=300, random_state=seed),
}


def table(classes: int = 2, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    X, y = make_classification(
        120, 3, n_informative=3, n_redundant=0, n_classes=classes, n_clusters_per_class=1, flip_y=0.1, random_state=seed
    )
    return pd.DataFrame(np.round(X * 4) / 4, columns=list("abc")), y


def refitted(name: str, X: pd.DataFrame, y: np.ndarray, count: int, seed: int = 0) -> list:
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        at = rng.choice(len(X), len(X))
        found.append(MODELS[name](len(found)).fit(X.iloc[at], y[at]))
    return found


def unlike(X: pd.DataFrame, y: np.ndarray) -> list:
    """A tree, a linear model, and linear models over different bins."""
    bins = [make_pipeline(KBinsDiscretizer(n, encode="ordinal"), LogisticRegression()).fit(X, y) for n in (3, 4)]
    return [DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), LogisticRegression().fit(X, y), *bins]


@pytest.mark.shorter(1)
@pytest.mark.parametrize("rows", first(1, [range(4), range(4, 12)]))
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["tree", "forest", "boosting", "unlike"])
def test_agrees_with_enumeration_of_a_grid(name: str, classes: int, rows: range) -> None:
    """With steps declared, all admissible rows can be listed."""
    X, y = table(classes)
    own, *others = unlike(X, y) if name == "unlike" else refitted(name, X, y, 4, seed=classes)
    steps = {column: bf.Step(0.5) for column in X}
    X = np.round(X * 2) / 2
    explainer = bf.Explainer(own, X, space=steps)
    grid = pd.DataFrame(
        list(itertools.product(*(np.arange(X[c].min(), X[c].max() + 0.25, 0.5) for c in X))), columns=list("abc")
    )
    said = np.array([model.predict(grid) for model in (own, *others)])
    width = (X.max() - X.min()).to_numpy()
    proven = 0
    for row in rows:
        before = own.predict(X.iloc[[row]])[0]
        for target in ("other", 1 if before != 1 else 0):
            met = (said != before if target == "other" else said == target).all(axis=0)
            cost = (np.abs(grid.to_numpy() - X.iloc[row].to_numpy()) / width).sum(axis=1)
            truth = cost[met].min(initial=np.inf)
            found = explainer.explain(X.iloc[[row]], target=target, constraints=[bf.robust_to(others)]).only
            assert found.cost == pytest.approx(truth, abs=1e-6) if np.isfinite(truth) else not found.found
            proven += found.certificate.status in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)
    assert proven == 2 * len(rows)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", MODELS)
def test_all_models_accept_and_nothing_cheaper_is_known(name: str) -> None:
    X, y = table(seed=1)
    own, *others = refitted(name, X, y, 5)
    explainer, rows = bf.Explainer(own, X), X[own.predict(X) == 0].iloc[:4]
    constraint = bf.robust_to(others)
    answers = explainer.explain(rows, target=1, constraints=[constraint])
    assert all(status is Status.PROVEN_OPTIMAL for status in answers.statuses)
    assert (explainer.agreement(answers, others) == 1).all()
    rng = np.random.default_rng(0)
    low, width = X.min().to_numpy(), (X.max() - X.min()).to_numpy()
    for answer in answers:
        assert ("all constraints hold", True) in answer.certificate.checks
        x = answer.factual.to_numpy()[0]
        tried = x + rng.normal(size=(4000, 3)) * width * answer.cost * rng.choice([0.2, 0.5, 1.0], (4000, 1))
        tried = pd.DataFrame(np.clip(tried, low, low + width), columns=list("abc"))
        fine = np.all([model.predict(tried) == 1 for model in (own, *others)], axis=0)
        cost = (np.abs(tried.to_numpy() - x) / width).sum(axis=1)
        assert cost[fine].min(initial=np.inf) >= answer.cost - 1e-6


def test_regressors_and_probabilities() -> None:
    X, y = make_regression(150, 3, random_state=0)
    for make in (LinearRegression, lambda: RandomForestRegressor(5, max_depth=3, random_state=0)):
        own, other = make().fit(X[:100], y[:100]), make().fit(X[50:], y[50:])
        row, goal = X[own.predict(X) < 0][[0]], 20.0
        found = (
            bf.Explainer(own, X).explain(row, target=bf.value(at_least=goal), constraints=[bf.robust_to([other])]).only
        )
        assert found.certificate.status is Status.PROVEN_OPTIMAL
        assert min(own.predict(found.point)[0], other.predict(found.point)[0]) >= goal - 1e-9
    X, y = table()
    own, other = refitted("forest", X, y, 2)
    row = X[own.predict_proba(X)[:, 1] < 0.5].iloc[[0]]
    found = bf.Explainer(own, X).explain(row, target=bf.probability(1, 0.7), constraints=[bf.robust_to([other])]).only
    assert min(own.predict_proba(found.point)[0, 1], other.predict_proba(found.point)[0, 1]) >= 0.7


def test_a_model_that_was_fitted_again_is_read_again() -> None:
    """What an earlier question read of it is no longer what it predicts."""
    X, y = table()
    own = LogisticRegression().fit(X, y)
    explainer, row, fixed = bf.Explainer(own, X), X[own.predict(X) == 0].iloc[[0]], bf.fixed("a")
    other, usual = (
        LogisticRegression(C=1e6).fit(X, X.a > 2),
        IsolationForest(n_estimators=20, random_state=0).fit(X + 100),
    )
    lasting, plausible = bf.robust_to([other]), bf.plausible(usual)
    assert (
        explainer.explain(row, target=1, constraints=[lasting, fixed]).only.certificate.status
        is Status.PROVEN_INFEASIBLE
    )
    other.fit(X, y)
    assert (
        explainer.explain(row, target=1, constraints=[lasting, fixed]).only.certificate.status is Status.PROVEN_OPTIMAL
    )
    tree = bf.Explainer(MODELS["tree"](0).fit(X, y), X)
    assert tree.explain(row, target=1, constraints=[plausible]).only.certificate.status is Status.PROVEN_INFEASIBLE
    usual.fit(X)
    assert tree.explain(row, target=1, constraints=[plausible]).only.certificate.status is Status.PROVEN_OPTIMAL


def test_agreement_counts_models() -> None:
    X, y = table()
    own, *others = refitted("tree", X, y, 9)
    explainer, rows = bf.Explainer(own, X), X[own.predict(X) == 0].iloc[:3]
    answers = explainer.explain(rows, target=1)
    points = pd.concat([answer.point for answer in answers])
    assert np.allclose(explainer.agreement(answers, others), np.mean([m.predict(points) == 1 for m in others], axis=0))
    assert explainer.agreement(answers[0], others)[0] == explainer.agreement(answers, others)[0]
    far = explainer.explain(rows.iloc[[0]], target=1, constraints=[bf.fixed("a", "b", "c")])
    assert np.isnan(explainer.agreement(far, others)[0])
    with pytest.raises(ValueError, match="no model was given"):
        explainer.agreement(answers, [])


def test_what_cannot_be_kept_is_said() -> None:
    X, y = table()
    own, other = refitted("tree", X, y, 2)
    explainer, row = bf.Explainer(own, X), X.iloc[[0]]

    def ask(*constraints: object) -> None:
        explainer.explain(row, target="other", constraints=list(constraints))

    with pytest.raises(ValueError, match="says nothing"):
        bf.robust_to([])
    with pytest.raises(TypeError, match="a list of fitted models"):
        bf.robust_to([1])
    with pytest.raises(ValueError, match="does not read what the explained model reads"):
        ask(bf.robust_to([DecisionTreeClassifier().fit(X.rename(columns={"c": "d"}), y)]))
    with pytest.raises(ValueError, match="does not read what the explained model reads"):
        ask(bf.robust_to([DecisionTreeClassifier().fit(X[["a", "b"]], y)]))
    with pytest.raises(ValueError, match="predicts the classes"):
        ask(bf.robust_to([DecisionTreeClassifier().fit(X, np.where(y == 0, "no", "yes"))]))
    lost = X.iloc[[0]].assign(a=np.nan)
    with pytest.raises(ValueError, match="refuses missing values"):
        explainer.explain(lost, target=1, constraints=[bf.robust_to([GradientBoostingClassifier().fit(X, y)])])
    with pytest.raises(ValueError, match="must be trees or linear, or all networks"):
        ask(bf.robust_to(refitted("network", X, y, 1)))
    with pytest.raises(ValueError, match="for the explained model alone"):
        ask(bf.robust_to([other]), bf.robust(0.1))
    with pytest.raises(ValueError, match="cannot be read"):
        ask(bf.robust_to([bf.black_box(lambda rows: own.predict_proba(rows), classes=[0, 1])]))


def test_a_saved_answer_says_what_it_was_robust_to() -> None:
    X, y = table()
    own, other = refitted("tree", X, y, 2)
    answer = bf.Explainer(own, X).explain(X.iloc[[0]], constraints=[bf.robust_to([other])]).only
    again = bf.Explanation.from_json(answer.to_json())
    assert again.question.constraints == ("robust_to(1 model: DecisionTreeClassifier)",)
    assert "1 other model agrees" in answer.to_html()
