"""Tables that are a little odd: unused categories, missing booleans in the first row, float16, members in disagreement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.testing.importer_contract import check_importer
from butfor.trees import TAOClassifier
from tests.importers.checks import why_unread
from tests.importers.samples import people
from tests.shorter import first


def old(X: pd.DataFrame) -> np.ndarray:
    return (X["age"] > 45).astype(int).to_numpy()


def boosted(library: str, name: str, **given: Any) -> Callable[[], Any]:
    """A small model of a library of boosting, if that is installed."""
    return lambda: getattr(pytest.importorskip(library), name)(**given)


MODELS: dict[str, Callable[[], Any]] = {
    "linear": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "network": lambda: make_pipeline(
        StandardScaler(), MLPClassifier((4,), solver="lbfgs", max_iter=2000, random_state=0)
    ),
    "tree": lambda: DecisionTreeClassifier(max_depth=3, random_state=0),
    "oblique tree": lambda: TAOClassifier(max_depth=2, max_iter=2, random_state=0),
    "forest": lambda: RandomForestClassifier(4, max_depth=3, random_state=0),
    "gradient boosting": lambda: GradientBoostingClassifier(n_estimators=4, random_state=0),
    "histogram boosting": lambda: HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=3),
    "AdaBoost": lambda: AdaBoostClassifier(n_estimators=3, random_state=0),
    "XGBoost": boosted("xgboost", "XGBClassifier", n_estimators=4, max_depth=3, enable_categorical=True, n_jobs=1),
    "LightGBM": boosted("lightgbm", "LGBMClassifier", n_estimators=4, min_child_samples=3, verbose=-1, n_jobs=1),
    "CatBoost": boosted(
        "catboost", "CatBoostClassifier", iterations=4, depth=3, verbose=0, allow_writing_files=False, thread_count=1
    ),
    "calibrated": lambda: CalibratedClassifierCV(RandomForestClassifier(3, max_depth=2, random_state=0), cv=2),
    "vote": lambda: VotingClassifier(
        [("tree", DecisionTreeClassifier(max_depth=2)), ("line", LogisticRegression())], voting="soft"
    ),
}
"""One model of each family of importers."""

OWN_CATEGORIES = ("histogram boosting", "XGBoost", "LightGBM", "CatBoost")
OWN_GAPS = ("tree", "forest", "histogram boosting", "XGBoost", "LightGBM", "calibrated")
"""Families that read categories, or missing values in nullable columns, themselves."""


def check_answered(model: Any, X: pd.DataFrame) -> bf.Explanation:
    """A fitted model is read as it is, and the first row is answered for certain."""
    check_importer(model, X)
    answer = bf.Explainer(model, X).explain(X.iloc[[0]])[0]
    assert answer.certificate.status in (bf.Status.PROVEN_OPTIMAL, bf.Status.PROVEN_INFEASIBLE)
    return answer


def with_unused() -> pd.DataFrame:
    """People with a job that the type of the column knows, and no row has."""
    X = people()[["job", "age"]]
    return X.assign(job=pd.Categorical(X["job"], ["clerk", "nurse", "pilot", "smith", "unused"]))


def with_a_gap() -> pd.DataFrame:
    """People of whom the first is not known to own a house, in a nullable column."""
    X = people()[["age", "owns"]].astype({"owns": "boolean"})
    X.loc[X.index[0], "owns"] = pd.NA
    return X


SEEDED: dict[str, Any] = {"random_state": 0}
if TargetEncoder().random_state == "deprecated":  # since scikit-learn 1.9
    SEEDED = {"cv": KFold(3, shuffle=True, random_state=0)}


@pytest.mark.shorter(2)
@pytest.mark.parametrize("family", MODELS)
@pytest.mark.parametrize(
    "encoder", first(1, [OneHotEncoder(), OneHotEncoder(handle_unknown="ignore"), TargetEncoder(**SEEDED)])
)
def test_unused_categories(encoder, family) -> None:
    """The type of a column may hold levels that no row has: the encoder decides."""
    X = with_unused()
    columns = make_column_transformer((encoder, ["job"]), remainder="passthrough", sparse_threshold=0)
    answer = check_answered(make_pipeline(columns, MODELS[family]()).fit(X, old(X)), X)
    assert not answer.found or answer.point["job"].iloc[0] != "unused"


@pytest.mark.shorter(2)
@pytest.mark.parametrize("family", OWN_CATEGORIES)
def test_unused_categories_that_the_model_reads_itself(family) -> None:
    X = with_unused()
    model = MODELS[family]()
    check_answered((model.set_params(cat_features=["job"]) if family == "CatBoost" else model).fit(X, old(X)), X)


@pytest.mark.shorter(2)
@pytest.mark.parametrize("family", OWN_GAPS)
def test_a_missing_boolean_in_the_first_row(family) -> None:
    X = with_a_gap()
    check_answered(MODELS[family]().fit(X, old(X)), X)


@pytest.mark.shorter(2)
@pytest.mark.parametrize("family", MODELS)
def test_a_missing_boolean_that_is_filled(family) -> None:
    X = with_a_gap()
    filled = make_column_transformer((SimpleImputer(strategy="most_frequent"), ["owns"]), remainder="passthrough")
    check_answered(make_pipeline(filled, MODELS[family]()).fit(X, old(X)), X)


@pytest.mark.shorter(5)
@pytest.mark.parametrize("family", MODELS)
def test_float16(family) -> None:
    X = people()[["age", "income"]].assign(income=lambda X: (X["income"] / 1000).astype(np.float16))
    check_answered(MODELS[family]().fit(X, old(X)), X)


def test_members_fitted_on_other_columns_are_an_error_or_a_refusal() -> None:
    X = people()[["age", "income"]]
    vote = VotingClassifier(
        [("a", RandomForestClassifier(3, random_state=0)), ("b", HistGradientBoostingClassifier(max_iter=3))],
        voting="soft",
    ).fit(X, old(X))
    vote.estimators_[1] = HistGradientBoostingClassifier(max_iter=3).fit(X[["age"]], old(X))
    with pytest.raises(bf.errors.InputError):
        bf.Explainer(vote, X)


def test_a_member_with_classes_in_another_order_is_refused() -> None:
    X = people()[["age", "income"]]
    model = CalibratedClassifierCV(RandomForestClassifier(3, random_state=0), cv=2).fit(X, old(X))
    model.calibrated_classifiers_[1].estimator.classes_ = np.array([1, 0])
    assert "in the same order" in why_unread(model, X)
