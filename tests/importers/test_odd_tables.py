"""Tables that are a little odd: unused categories, missing booleans in the first row, float16, members in disagreement."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, TargetEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import why_unread
from tests.importers.samples import people


def old(X: pd.DataFrame) -> np.ndarray:
    return (X["age"] > 45).astype(int).to_numpy()


@pytest.mark.parametrize("encoder", [OneHotEncoder(), OneHotEncoder(handle_unknown="ignore"), TargetEncoder()])
def test_unused_categories(encoder) -> None:
    """The type of a column may hold levels that no row has: the encoder decides."""
    X = people()[["job", "age"]]
    X["job"] = pd.Categorical(X["job"], categories=["clerk", "nurse", "pilot", "smith", "unused"])
    model = make_pipeline(
        make_column_transformer((encoder, ["job"]), remainder="passthrough", sparse_threshold=0),
        CalibratedClassifierCV(RandomForestClassifier(5, max_depth=3, random_state=0), ensemble=False, cv=2),
    )
    fitted = model.fit(X, old(X))
    check_importer(fitted, X)
    answer = bf.Explainer(fitted, X).explain(X.iloc[[0]])
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert answer.point["job"].iloc[0] != "unused"


def test_a_missing_boolean_in_the_first_row() -> None:
    X = people()[["age", "owns"]].astype({"owns": "boolean"})
    X.loc[X.index[0], "owns"] = pd.NA
    fitted = HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=3).fit(X, old(X))
    check_importer(fitted, X)
    assert bf.Explainer(fitted, X).explain(X.iloc[[0]]).certificate.status is bf.Status.PROVEN_OPTIMAL


@pytest.mark.parametrize(
    "make", [LogisticRegression, lambda: DecisionTreeClassifier(max_depth=3)], ids=["line", "tree"]
)
def test_float16(make) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 2)).astype(np.float16), columns=["a", "b"])
    y = (X["a"] > 0.1).astype(int)
    fitted = make().fit(X, y)
    check_importer(fitted, X)
    assert bf.Explainer(fitted, X).explain(X.iloc[[0]]).found


def test_members_fitted_on_other_columns_are_an_error_or_a_refusal() -> None:
    X = people()[["age", "income"]]
    vote = VotingClassifier(
        [("a", RandomForestClassifier(3, random_state=0)), ("b", HistGradientBoostingClassifier(max_iter=3))],
        voting="soft",
    ).fit(X, old(X))
    vote.estimators_[1] = HistGradientBoostingClassifier(max_iter=3).fit(X[["age"]], old(X))
    with pytest.raises(bf.InputError):
        bf.Explainer(vote, X)


def test_a_member_with_classes_in_another_order_is_refused() -> None:
    X = people()[["age", "income"]]
    model = CalibratedClassifierCV(RandomForestClassifier(3, random_state=0), cv=2).fit(X, old(X))
    model.calibrated_classifiers_[1].estimator.classes_ = np.array([1, 0])
    assert "in the same order" in why_unread(model, X)
