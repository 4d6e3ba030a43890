"""feature-engine's steps for numbers and gaps, read as they compute."""

from __future__ import annotations

import pickle
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, PolynomialFeatures, StandardScaler

import butfor as bf
from butfor.model.additive import Additive
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import why_unread
from tests.importers.samples import people
from tests.shorter import diagonal

pytest.importorskip("feature_engine")
pytestmark = pytest.mark.filterwarnings("ignore")

HOMES = ("imputation", "discretisation", "outliers", "transformation", "scaling", "selection", "wrappers")


def step(name: str, **given: Any) -> Any:
    homes = (import_module(f"feature_engine.{home}") for home in HOMES)
    return next(getattr(home, name) for home in homes if hasattr(home, name))(**given)


def forest() -> Any:
    return RandomForestClassifier(4, max_depth=3, random_state=0)


def numbers(*, single: bool = False) -> tuple[pd.DataFrame, np.ndarray]:
    """Positive numbers, a number of either sign and a share, far enough from where functions end."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "pay": 20 + rng.lognormal(3, 1, 150).clip(0, 100).round(2),
            "debt": rng.normal(1, 2, 150).round(1),
            "share": 0.2 + 0.6 * rng.random(150).round(2),
            "years": rng.integers(5, 30, 150),
        }
    )
    y = (X["pay"] + 5 * X["debt"] + 30 * X["share"] + X["years"] + 5 * rng.normal(size=150) > 85).astype(int)
    return (X.astype({"pay": np.float32, "share": np.float32}) if single else X), y.to_numpy()


BENDING = {
    "LogTransformer": {"variables": ["pay", "years"]},
    "LogCpTransformer": {"variables": ["pay"], "C": 2},
    "PowerTransformer": {"variables": ["pay", "years"]},
    "ArcSinhTransformer": {"variables": ["pay", "debt"]},
    "ArcsinTransformer": {"variables": ["share"]},
    "BoxCoxTransformer": {"variables": ["pay", "years"]},
    "YeoJohnsonTransformer": {"variables": ["pay", "debt", "years"]},
    "Winsorizer": {"capping_method": "iqr", "tail": "both", "fold": 0.5, "variables": ["pay", "debt", "years"]},
    "ArbitraryOutlierCapper": {"max_capping_dict": {"pay": 60, "years": 20}, "min_capping_dict": {"debt": -0.5}},
}
STRAIGHT = {
    "MeanNormalizationScaler": {"variables": ["pay", "debt", "years"]},
    "EqualWidthDiscretiser": {"bins": 5, "variables": ["pay", "years"]},
    "EqualFrequencyDiscretiser": {"q": 4, "variables": ["pay", "debt", "years"]},
    "GeometricWidthDiscretiser": {"bins": 4, "variables": ["pay"]},
    "ArbitraryDiscretiser": {"binning_dict": {"years": [-np.inf, 5, 12, np.inf], "debt": [-np.inf, 0.5, np.inf]}},
    "DecisionTreeDiscretiser": {"regression": False, "variables": ["pay", "years"], "cv": 2, "random_state": 0},
}
SELECTING = {
    "DropFeatures": {"features_to_drop": ["share"]},
    "DropConstantFeatures": {"tol": 0.9},
    "DropCorrelatedFeatures": {"threshold": 0.1},
    "SmartCorrelatedSelection": {"threshold": 0.1},
    "SelectBySingleFeaturePerformance": {"estimator": LogisticRegression(), "cv": 2, "threshold": 0.55},
    "RecursiveFeatureElimination": {"estimator": RandomForestClassifier(3, random_state=0), "cv": 2},
}


@pytest.mark.shorter(4)
@pytest.mark.parametrize(("name", "single"), diagonal([*BENDING, *STRAIGHT, *SELECTING], [False, True]))
def test_before_trees(name, single) -> None:
    X, y = numbers(single=single)
    given = (BENDING | STRAIGHT | SELECTING)[name]
    check_importer(make_pipeline(step(name, **given), forest()).fit(X, y), X)


@pytest.mark.shorter(4)
@pytest.mark.parametrize("name", [*STRAIGHT, *SELECTING])
def test_before_a_linear_model(name) -> None:
    X, y = numbers()
    given = (STRAIGHT | SELECTING)[name]
    check_importer(make_pipeline(step(name, **given), StandardScaler(), LogisticRegression()).fit(X, y), X)


@pytest.mark.shorter(4)
@pytest.mark.parametrize("name", BENDING)
def test_a_linear_model_after_a_bent_column_is_read(name) -> None:
    X, y = numbers()
    model = make_pipeline(step(name, **BENDING[name]), StandardScaler(), LogisticRegression()).fit(X, y)
    explainer = pickle.loads(pickle.dumps(bf.Explainer(model, X)))
    assert type(explainer.reading.model) is Additive
    answer = explainer.explain(X[model.predict(X) == 0].iloc[[0]])
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert model.predict(answer.point)[0] == 1


@pytest.mark.parametrize("output", ["prediction", "bin_number"])
@pytest.mark.parametrize("precision", [None, 2])
def test_small_trees_as_bins(output, precision) -> None:
    X, _ = numbers()
    given = {"bin_output": output, "precision": precision, "cv": 2, "random_state": 0, "scoring": "r2"}
    bins = step("DecisionTreeDiscretiser", regression=True, variables=["pay", "debt"], **given)
    amount = X["pay"] + X["debt"] * 3
    check_importer(make_pipeline(bins, RandomForestRegressor(4, max_depth=3, random_state=0)).fit(X, amount), X)


def test_gaps() -> None:
    X = people(lost=("income", "job"))
    y = (X["age"] > 45).astype(int)
    steps = [
        step("AddMissingIndicator", variables=["income"]),
        step("EndTailImputer", variables=["income"]),
        step("CategoricalImputer", variables=["job"]),
        import_module("feature_engine.encoding").OrdinalEncoder(),
    ]
    reading = check_importer(make_pipeline(*steps, forest()).fit(X, y), X)
    assert {name for name in X if reading.space[name].missing} >= {"income", "job"}
    few = X.drop(columns=["job", "town"])
    for name, given in {
        "MeanMedianImputer": {"variables": ["income"]},
        "ArbitraryNumberImputer": {"arbitrary_number": -1, "variables": ["income"]},
    }.items():
        check_importer(make_pipeline(step(name, **given), forest()).fit(few, y), few)


def test_ends_with_gaps_before_boosting() -> None:
    """Winsorizer may leave missing values as they are."""
    X = people(lost=("income",)).drop(columns=["job", "town"])
    y = (X["age"] > 45).astype(int)
    ends = step("Winsorizer", variables=["income", "age"], tail="both", fold=1, missing_values="ignore")
    boosting = HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=3)
    assert check_importer(make_pipeline(ends, boosting).fit(X, y), X).space["income"].missing


@pytest.mark.parametrize(
    "inner",
    [StandardScaler(), OneHotEncoder(sparse_output=False), SelectKBest(k=2), KBinsDiscretizer(3, encode="ordinal")],
)
def test_a_wrapped_transformer(inner) -> None:
    X = people().drop(columns=["job"])
    y = (X["age"] > 45).astype(int)
    variables = ["town"] if isinstance(inner, OneHotEncoder) else ["age", "income", "rooms"]
    X = X if isinstance(inner, OneHotEncoder) else X.drop(columns=["town"])
    check_importer(
        make_pipeline(step("SklearnTransformerWrapper", transformer=inner, variables=variables), forest()).fit(X, y), X
    )


def test_what_cannot_be_folded_is_named() -> None:
    X, y = numbers()
    refused = {
        "ReciprocalTransformer": step("ReciprocalTransformer", variables=["pay"]),
        "PowerTransformer(exp=2)": step("PowerTransformer", exp=2, variables=["debt"]),
        "add_indicators": step("Winsorizer", add_indicators=True, variables=["pay"]),
        "PolynomialFeatures": step("SklearnTransformerWrapper", transformer=PolynomialFeatures(), variables=["pay"]),
        "hold all numbers": step("ArbitraryDiscretiser", binning_dict={"years": [0, 10, 100]}),
    }
    for reason, one in refused.items():
        assert reason in why_unread(make_pipeline(one, forest()).fit(X, y), X)


@pytest.mark.parametrize("name", ["EqualFrequencyDiscretiser", "Winsorizer", "YeoJohnsonTransformer"])
def test_answers_are_the_cheapest_of_all(name) -> None:
    """Every row is tried with the estimator."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 9, size=(120, 3)), columns=list("abc"))
    y = ((X["a"] * X["b"] + 2 * X["c"] + rng.normal(size=120)) > 22).astype(int)
    given = {"q": 3} if name == "EqualFrequencyDiscretiser" else {}
    fitted = make_pipeline(step(name, variables=["a", "b"], **given), forest()).fit(X, y)
    every = pd.DataFrame(np.stack(np.meshgrid(*[np.arange(9)] * 3), axis=-1).reshape(-1, 3), columns=list("abc"))
    explainer, label = bf.Explainer(fitted, X), fitted.predict(every)
    for start in range(6):
        row = X.iloc[[start]]
        cost = ((every - row.to_numpy()).abs() / 8).sum(axis=1)
        answer = explainer.explain(row, cost=bf.L1(scale="range"))
        assert answer.cost == pytest.approx(cost[label != fitted.predict(row)[0]].min(), abs=1e-6)
