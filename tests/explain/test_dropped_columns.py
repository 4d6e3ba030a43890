"""Columns that a pipeline drops first of all may hold anything: they are no part of the question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import butfor as bf


def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "number": [f"c{i}" for i in range(200)],
            "income": rng.normal(50, 15, 200).round(1),
            "day": pd.date_range("2020", periods=200),
            "debt": rng.gamma(2, 8, 200).round(1),
            "files": [[i] for i in range(200)],
            "job": rng.choice(["clerk", "nurse"], 200),
            "empty": np.nan,
        }
    )


def goes_well(X: pd.DataFrame) -> Any:
    return np.where(X["income"] - X["debt"] + 5 * (X["job"] == "nurse") > 35, "yes", "no")


def tree() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=4, random_state=0)


def named(last: Any) -> Pipeline:
    columns = [("numbers", StandardScaler(), ["income", "debt"]), ("texts", OneHotEncoder(), ["job"])]
    return make_pipeline(ColumnTransformer(columns), last)


MODELS: dict[str, Callable[[], Any]] = {
    "names": lambda: named(tree()),
    "positions": lambda: make_pipeline(
        ColumnTransformer([("texts", OrdinalEncoder(), [5]), ("numbers", "passthrough", [3, 1]), ("none", "drop", [0])]), tree()
    ),
    "a black box": lambda: named(SVC()),
    "a union": lambda: make_pipeline(
        FeatureUnion([("a", named("passthrough")), ("b", ColumnTransformer([("c", "passthrough", ["debt"])]))]), tree()
    ),
    "a pipeline in a pipeline": lambda: Pipeline([("nothing", "passthrough"), ("all", named(tree()))]),
    "a search": lambda: GridSearchCV(named(tree()), {"decisiontreeclassifier__max_depth": [3, 4]}, cv=2),
    "a threshold": lambda: FixedThresholdClassifier(named(tree()), threshold=0.6, pos_label="yes"),
    "a calibrated one": lambda: CalibratedClassifierCV(named(tree()), cv=2),
    "a vote": lambda: VotingClassifier([("a", named(tree())), ("b", named(DecisionTreeClassifier(max_depth=2)))]),
    "a stack": lambda: StackingClassifier([("a", named(tree()))], cv=2),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_they_hold_anything_and_stay_as_they_are(name) -> None:
    X = people()
    model = MODELS[name]().fit(X, goes_well(X))
    explainer = bf.Explainer(model, data=X)
    assert sorted(explainer.space.names) == ["debt", "income", "job"]
    later = X[model.predict(X) == "no"].iloc[[3]].assign(number="new", day=pd.Timestamp("2031-05-05"), empty="a word")
    answer = explainer.explain(later, target="yes").only
    assert model.predict(answer.point).tolist() == ["yes"]
    kept = ["number", "day", "files", "empty"]
    pd.testing.assert_frame_equal(answer.point[kept], later[kept])
    again = bf.Explanation.from_json(answer.to_json())
    assert again == answer
    assert bf.check(again, model).passed
    short = explainer.explain(later[["job", "income", "debt"]], target="yes").only
    assert short.cost == answer.cost


def test_a_row_from_a_request_needs_none_of_them() -> None:
    X = people()
    explainer = bf.Explainer(named(tree()).fit(X, goes_well(X)), data=X)
    row = explainer.row({"income": 20.0, "debt": 30.0, "job": "clerk"})
    assert explainer.explain(row, target="yes").only.found


def test_records_from_before_hold_them_and_are_checked(monkeypatch) -> None:
    X = people()[["number", "income", "debt", "job"]]
    model = named(tree()).fit(X, goes_well(X))
    monkeypatch.setattr("butfor.importers.read.without_dropped", lambda estimator, table: table)
    answer = bf.Explainer(model, data=X).explain(X[model.predict(X) == "no"].iloc[[0]], target="yes").only
    monkeypatch.undo()
    again = bf.Explanation.from_json(answer.to_json())
    assert "number" in again.point.columns
    assert bf.check(again, model).passed


def test_a_column_that_some_member_reads_is_read() -> None:
    X = people()[["income", "debt", "job"]]
    alone = make_pipeline(ColumnTransformer([("one", "passthrough", ["income"])]), tree())
    model = VotingClassifier([("all", named(tree())), ("one", alone)]).fit(X, goes_well(X))
    assert bf.Explainer(model, data=X).space.names == ("income", "debt", "job")


def test_the_end_of_a_stack_may_read_them() -> None:
    X = people()[["income", "debt"]]
    alone = make_pipeline(ColumnTransformer([("one", "passthrough", ["income"])]), tree())
    model = StackingClassifier([("one", alone)], tree(), cv=2, passthrough=True).fit(X, goes_well(people()))
    assert bf.Explainer(model, data=X).space.names == ("income", "debt")


def test_an_estimator_that_insists_on_them_gets_them() -> None:
    class Counting(Pipeline):
        def predict(self, X: Any) -> Any:
            assert X.shape[1] == 4
            return super().predict(X)

    X = people()[["income", "debt", "job"]].assign(late=np.arange(200) % 7)
    model = Counting(named(tree()).steps).fit(X, goes_well(X))
    explainer = bf.Explainer(model, data=X, on_mismatch="search")
    assert explainer.space.names == ("income", "debt", "job", "late")
    assert explainer.explain(X[model.predict(X) == "no"].iloc[[0]], target="yes").only.found
