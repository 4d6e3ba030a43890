"""A row is an answer if the estimator says so of that row alone, as it is handed out, and bounds hold in any company."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import RandomForestClassifier, VotingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.estimator.prediction import PartlyAlone, Prediction
from butfor.explain.beyond import moved_on
from butfor.importers.read import read
from butfor.solvers.outcome import answers_of
from butfor.verdict.verify import PREDICTION, verify


def single_numbers() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(5, 2, 90), "b": rng.normal(0, 1, 90), "c": rng.normal(-3, 4, 90)}
    X = pd.DataFrame(columns).astype("float32")
    return X, X.a - 1.7 * X.b + 0.3 * X.c


@pytest.mark.shorter(1)
@pytest.mark.parametrize("step", [FunctionTransformer(np.tanh), PolynomialFeatures(2)], ids=["tanh", "polynomial"])
def test_answers_of_a_search_are_accepted_alone(step: Any) -> None:
    X, y = single_numbers()
    model, wanted = make_pipeline(step, Ridge()).fit(X, y), float(np.quantile(y, 0.75))
    answers = bf.Explainer(model, data=X).explain(X[:12], target=bf.value(at_least=wanted))
    moved = [one for one in answers if one.cost > 0]
    assert len(moved) > 8
    assert all(one.found for one in moved)
    assert all(float(model.predict(one.point)[0]) >= wanted for one in moved)
    assert all(bf.check(one, model).passed for one in moved[:3])


class Drifting(ClassifierMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A sum that is a little larger in company than alone, as if a library added rows up in another order."""

    def __init__(self, drift: float = 1e-9, labels: bool = False) -> None:
        self.drift, self.labels = drift, labels

    def fit(self, X: Any, y: Any) -> Drifting:
        self.n_features_in_, self.feature_names_in_ = X.shape[1], np.array(X.columns, dtype=object)
        if self.labels:
            self.classes_ = np.array([0, 1])
        self.calls: list[int] = []
        return self

    def predict(self, X: Any) -> np.ndarray:
        self.calls.append(len(X))
        total = np.asarray(X, dtype=np.float64).sum(axis=1) + (self.drift if len(X) > 1 else 0.0)
        return (total >= 10.0).astype(int) if self.labels else total


@pytest.mark.parametrize("labels", [False, True], ids=["values", "labels only"])
@pytest.mark.parametrize("solver", ["auto", "swarm"])
def test_company_never_makes_an_answer(labels: bool, solver: str) -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.uniform(0, 9, 60), "b": rng.uniform(0, 9, 60)})
    model = Drifting(labels=labels).fit(X, None)
    target = 1 if labels else bf.value(at_least=10.0)
    rows = X[X.sum(axis=1) < 9.9][:6]
    answers = bf.Explainer(model, data=X).explain(rows, target=target, solver=solver)
    assert all(one.found for one in answers)
    for one in answers:
        assert target_met(model.predict(one.point)[0], labels)
        assert bf.check(one, model).passed


def test_an_answer_is_moved_on_where_that_costs_nothing() -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.uniform(0, 9, 60), "b": rng.uniform(0, 9, 60)})
    model = Drifting().fit(X, None)
    case = bf.Explainer(model, data=X)
    rows = X[(X.sum(axis=1) < 9.9) & (X["b"] > 2)][:3]
    asking = case._asking.case(rows, bf.value(at_least=10.0), bf.L0(), ())
    points = rows.assign(a=10.0 - 1e-12 - rows["b"]).to_numpy()  # enough in company, and too little alone
    outcome = answers_of(np.arange(3), points, np.ones(3), np.zeros(3))
    verdict = verify(asking, outcome)
    assert not verdict.passed[:, PREDICTION].any()
    moved, again = moved_on(outcome, verdict, asking)
    assert again.passed[:, PREDICTION].all()
    assert moved.cost.tolist() == [1.0, 1.0, 1.0]


def target_met(output: Any, labels: bool) -> bool:
    return bool(output == 1 if labels else output >= 10.0)


def test_rows_that_meet_the_target_in_company_only_are_changed() -> None:
    """The batch says that the second row needs nothing; the row that would be handed out is refused."""
    X = pd.DataFrame({"a": [1.0, 4.0, 9.0, 2.0], "b": [2.0, 6.0 - 1e-10, 8.0, 3.0]})
    model = Drifting().fit(X, None)
    assert model.predict(X)[1] >= 10.0 > model.predict(X.iloc[[1]])[0]
    answers = bf.Explainer(model, data=X).explain(X, target=bf.value(at_least=10.0))
    assert all(one.found and model.predict(one.point)[0] >= 10.0 for one in answers)
    assert answers[1].cost > 0 == answers[2].cost


def voting(seed: int) -> tuple[VotingRegressor, pd.DataFrame]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.integers(0, 9, 80), "b": rng.integers(0, 9, 80), "c": rng.integers(0, 5, 80)})
    members = [("r", Ridge()), ("l", LinearRegression())]
    return VotingRegressor(members).fit(X, X.a - 0.37 * X.b + rng.normal(size=80)), X


@pytest.mark.long
def test_a_tie_that_depends_on_company_lowers_the_bound() -> None:
    """A row is accepted in company, and refused alone. So nothing proves that more must change than leads to it."""
    ties = 0
    for seed in range(8):
        model, X = voting(seed)
        explainer, values = bf.Explainer(model, data=X), model.predict(X)
        for i in range(20):
            row, target = X.iloc[[i]], bf.value(at_least=float(values[i]))
            if model.predict(row)[0] >= values[i] or not 1 <= X["b"].iloc[i] <= 7:
                continue
            ties += 1
            here = explainer.explain(row, target=target).only
            assert here.certificate.bound <= 1e-6
            assert here.certificate.status is bf.Status.VALID
            away = explainer.explain(row.assign(b=row.b + 1), target=target, constraints=[bf.fixed("a", "c")]).only
            assert away.cost == pytest.approx(2 / 8)
            assert away.certificate.bound == pytest.approx(1 / 8)
            assert away.certificate.status is bf.Status.WITHIN_GAP
            assert model.predict(away.point)[0] >= values[i]
            assert bf.check(away, model).passed
    assert ties


@pytest.mark.long
@pytest.mark.parametrize("count", [3, 8])
def test_rows_that_are_accepted_in_company_only_are_changed_among_others(count: int) -> None:
    for seed in range(count):
        model, X = voting(seed)
        for i, wanted in enumerate(model.predict(X)[:6].tolist()):
            answers = bf.Explainer(model, data=X).explain(X[:6], target=bf.value(at_least=wanted))
            assert all(one.found and model.predict(one.point)[0] >= wanted for one in answers), (seed, i)


def test_enumeration_keeps_ties_of_company_in_its_bound() -> None:
    X = pd.DataFrame({"a": np.arange(12) % 6, "b": np.arange(12) % 5})
    model = Drifting(drift=0.5).fit(X, None)
    answer = bf.Explainer(model, data=X).explain({"a": 3, "b": 4}, target=bf.value(at_least=8.5)).only
    assert answer.certificate.solver.startswith("enumeration")
    assert model.predict(answer.point)[0] >= 8.5
    assert answer.cost == pytest.approx(2 / 5)
    assert answer.certificate.bound == pytest.approx(1 / 5)
    assert answer.certificate.status is bf.Status.WITHIN_GAP


def count_calls(model: Any, method: str, run: Callable[[], Any]) -> list[int]:
    """How many rows each call of a method had."""
    asked, original = list[int](), getattr(type(model), method)

    def counting(self: Any, X: Any) -> Any:
        asked.append(len(X))
        return original(self, X)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(model), method, counting)
        run()
    return asked


def test_trees_and_answers_that_rounding_cannot_touch_are_not_asked_alone() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    y = (X.a + X.b > 0).astype(int)
    for model in (DecisionTreeClassifier(max_depth=4, random_state=0), LogisticRegression(), RandomForestClassifier(5)):
        fitted = model.fit(X, y)
        explainer = bf.Explainer(fitted, data=X)
        explainer.explain(X[:40], target=1)
        asked = count_calls(fitted, "predict_proba", lambda: explainer.explain(X[:40], target=1))  # noqa: B023
        assert asked.count(1) <= 2, type(model)


def test_a_prediction_that_is_partly_alone() -> None:
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]})
    model = Drifting(drift=0.5).fit(X, None)
    found = PartlyAlone(Prediction(read(model, X).source, X), np.array([1]))
    assert found.values.tolist() == [2.5, 4.0, 6.5]
    assert found.take(np.array([1, 1, 0])).values.tolist() == [4.0, 4.0, 2.5]
    assert found.height == 3
    assert found.outputs() == [2.5, 4.0, 6.5]
