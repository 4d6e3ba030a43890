"""Answers that look like the data: an isolation forest as a constraint, exactly."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.audit.recheck import check
from butfor.importers.libraries.sklearn_isolation import PathLengths
from butfor.importers.read import read_plausibility
from butfor.testing.importer_contract import check_importer


@pytest.fixture(scope="module")
def table():
    """Whole numbers, so that brute force can try everything; two of them go together."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 9, 300)
    frame = pd.DataFrame({"a": a, "b": np.clip(a + rng.integers(-1, 2, 300), 0, 8), "c": rng.integers(0, 5, 300)})
    return frame, (frame.a + frame.b + frame.c > 9).astype(int)


MODELS = (
    RandomForestClassifier(12, max_depth=3, random_state=0),
    GradientBoostingClassifier(n_estimators=12, max_depth=2, random_state=0),
    DecisionTreeClassifier(max_depth=4, random_state=0),
)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_cheapest_plausible_answer_is_that_of_brute_force(table, model) -> None:
    X, y = table
    forest = IsolationForest(n_estimators=15, max_samples=64, random_state=0).fit(X)
    explainer = bf.Explainer(model.fit(X, y), data=X)
    rows = X[model.predict(X) == 0].iloc[:12]
    binding = 0
    lengths = PathLengths(forest)
    for least in np.quantile(lengths.predict(X), (0.3, 0.7, 0.95)):
        asked = [bf.plausible(forest, path_length=float(least))]
        found = explainer.explain(rows, target=1, constraints=asked)
        truth = explainer.explain(rows, target=1, constraints=asked, solver="brute_force")
        free = explainer.explain(rows, target=1)
        assert found.statuses == truth.statuses
        assert np.allclose(found.costs, truth.costs, rtol=1e-6, atol=1e-6)
        for answer in found:
            if answer.found:
                assert lengths.predict(answer.point)[0] >= least - 1e-9
        binding += int((found.costs > free.costs + 1e-9).sum())
    assert binding > 3, "plausibility hardly ever mattered"


def test_path_lengths_are_those_of_the_forest(table) -> None:
    X, _ = table
    for forest in (
        IsolationForest(n_estimators=10, random_state=0),
        IsolationForest(
            n_estimators=10, max_samples=50, max_features=2, bootstrap=True, contamination=0.1, random_state=1
        ),
        make_pipeline(StandardScaler(), IsolationForest(n_estimators=10, random_state=2)),
    ):
        check_importer(PathLengths(forest.fit(X)), X)
    reading, border = read_plausibility(forest, bf.Explainer(MODELS[2].fit(X, X.a > 4), data=X).space, X)
    inlier = forest.predict(X) == 1
    assert np.array_equal(reading.source.values(X) > border, inlier)


def test_categories_go_through_the_forests_own_pipeline() -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"job": rng.choice(["a", "b", "c"], 200, p=[0.6, 0.35, 0.05]), "n": rng.integers(0, 6, 200)})
    y = ((X.job != "a") & (X.n > 2)).astype(int)
    model = make_pipeline(OneHotEncoder(), RandomForestClassifier(10, max_depth=3, random_state=0)).fit(X, y)
    forest = make_pipeline(OneHotEncoder(), IsolationForest(n_estimators=25, random_state=0)).fit(X)
    explainer = bf.Explainer(model, data=X)
    row = X[(model.predict(X) == 0)].iloc[[0]]
    free = explainer.explain(row, target=1)
    least = float(PathLengths(forest).predict(free.point)[0]) + 1e-6
    answer = explainer.explain(row, target=1, constraints=[bf.plausible(forest, path_length=least)])
    assert not answer.found or PathLengths(forest).predict(answer.point)[0] >= least - 1e-9
    assert answer.cost >= free.cost


def test_a_real_row_must_be_plausible_too(table) -> None:
    X, y = table
    forest = IsolationForest(n_estimators=15, random_state=0).fit(X)
    explainer = bf.Explainer(MODELS[0].fit(X, y), data=X)
    least = float(np.quantile(PathLengths(forest).predict(X), 0.8))
    answer = explainer.explain(X.iloc[[3]], constraints=[bf.candidates(X), bf.plausible(forest, path_length=least)])
    assert answer.found
    assert PathLengths(forest).predict(answer.point)[0] >= least


def test_too_much_is_impossible_and_blamed(table) -> None:
    X, y = table
    forest = IsolationForest(n_estimators=5, random_state=0).fit(X)
    explainer = bf.Explainer(MODELS[0].fit(X, y), data=X)
    answer = explainer.explain(X.iloc[[0]], constraints=[bf.fixed("c"), bf.plausible(forest, path_length=99.0)])
    assert answer.certificate.status is bf.Status.PROVEN_INFEASIBLE
    assert answer.certificate.conflict == ("plausible(IsolationForest, path_length=99.0)",)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (IsolationForest(), bf.errors.NotFittedError, "Call fit first"),
        (RandomForestClassifier(), bf.errors.InputTypeError, "takes a fitted IsolationForest"),
        ("a forest", bf.errors.InputTypeError, "takes a fitted IsolationForest"),
    ],
)
def test_what_is_no_fitted_forest_is_refused(table, given, error, words) -> None:
    X, y = table
    with pytest.raises(error, match=words):
        bf.Explainer(MODELS[2].fit(X, y), data=X).explain(X.iloc[[0]], constraints=[bf.plausible(given)])


def test_what_cannot_be_kept_is_refused(table) -> None:
    X, y = table
    forest = IsolationForest(n_estimators=5, random_state=0).fit(X)
    with pytest.raises(bf.errors.UnsupportedProblemError, match="linear model"):
        bf.Explainer(LogisticRegression().fit(X, y), data=X).explain(X.iloc[[0]], constraints=[bf.plausible(forest)])
    with pytest.raises(bf.errors.InputError, match="finite number"):
        bf.Explainer(MODELS[2].fit(X, y), data=X).explain(
            X.iloc[[0]], constraints=[bf.plausible(forest, path_length=np.nan)]
        )
    other = IsolationForest(n_estimators=5).fit(X[["a", "b"]])
    with pytest.raises(bf.errors.InputError, match="reads the columns"):
        bf.Explainer(MODELS[2].fit(X, y), data=X).explain(X.iloc[[0]], constraints=[bf.plausible(other)])


def test_a_check_asks_the_forest_that_it_is_given_and_says_where_it_has_none(table) -> None:
    X, y = table
    model = MODELS[0].fit(X, y)
    forest = IsolationForest(n_estimators=15, random_state=0).fit(X)
    least = float(np.quantile(PathLengths(forest).predict(X), 0.8))
    explainer, row = bf.Explainer(model, data=X), X[model.predict(X) == 0].iloc[[0]]
    asked = [bf.plausible(forest, path_length=least)]
    answer = bf.Explanation.from_json(explainer.explain(row, target=1, constraints=asked).to_json())

    alone = {found.name: found for found in check(answer, model).checks}
    assert alone["all constraints hold"].passed is None
    assert repr(asked[0]) in alone["all constraints hold"].words
    assert alone[f"no answer costs less than {answer.cost:.6g}"].passed is None

    told = check(answer, model, models=[forest])
    assert all(found.passed is True for found in told.checks), told
    assert "by the forest that was given" in repr(told)

    stranger = IsolationForest(n_estimators=15, random_state=0).fit(X[X.a < 3])
    assert PathLengths(stranger).predict(answer.point)[0] < least
    assert not check(answer, model, models=[stranger]).passed
