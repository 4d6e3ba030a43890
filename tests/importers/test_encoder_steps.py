"""Encoders of category_encoders and feature-engine."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import butfor as bf
from butfor.importers.libraries.encoder_steps import BY_LEVEL
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import why_unread
from tests.importers.samples import people
from tests.shorter import diagonal

MODELS = {
    "forest": lambda: RandomForestClassifier(4, max_depth=3, random_state=0),
    "linear": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
}

GIVEN = {"DecisionTreeEncoder": {"regression": False, "cv": 2}}
"""What an encoder must be told."""

pytestmark = pytest.mark.filterwarnings("ignore")


def step(library: str, name: str, **given: Any) -> Any:
    home = pytest.importorskip(library if library == "category_encoders" else f"{library}.encoding")
    return getattr(home, name)(**given)


ENCODERS = [(library, name) for library, names in BY_LEVEL.items() for name in names if name != "RareLabelEncoder"]


@pytest.mark.shorter(4)
@pytest.mark.parametrize(("encoder", "model"), diagonal(ENCODERS, MODELS))
def test_encoders(encoder, model) -> None:
    library, name = encoder
    X = people()
    y = (X["age"] > 45).astype(int)
    reading = check_importer(make_pipeline(step(library, name, **GIVEN.get(name, {})), MODELS[model]()).fit(X, y), X)
    assert set(reading.space["town"].levels) == {"a", "b", "c"}


@pytest.mark.parametrize("name", ["TargetEncoder", "OrdinalEncoder", "WOEEncoder"])
def test_missing_levels(name) -> None:
    X = people(lost=("job",))
    y = (X["age"] > 45).astype(int)
    reading = check_importer(make_pipeline(step("category_encoders", name), MODELS["forest"]()).fit(X, y), X)
    assert reading.space["job"].missing


def test_numbers_as_levels() -> None:
    X = people()
    y = (X["age"] > 45).astype(int)
    encoder = step("category_encoders", "TargetEncoder", cols=["rooms", "job", "town"])
    reading = check_importer(make_pipeline(encoder, MODELS["forest"]()).fit(X, y), X)
    assert set(reading.space["rooms"].levels) == set(X["rooms"])
    answer = bf.Explainer(make_pipeline(encoder, MODELS["forest"]()).fit(X, y), X).explain(X.iloc[[0]])
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL


def test_rare_levels_then_an_encoder() -> None:
    """The words that stand for rare levels are levels of what follows."""
    X = people()
    y = (X["age"] > 45).astype(int)
    rare = step("feature_engine", "RareLabelEncoder", tol=0.2, n_categories=2)
    for after in (step("feature_engine", "MeanEncoder"), step("category_encoders", "OneHotEncoder")):
        reading = check_importer(make_pipeline(rare, after, MODELS["forest"]()).fit(X, y), X)
        assert reading.space["job"].levels == ("clerk", "nurse", "pilot", "smith")


def test_bins_then_an_encoder() -> None:
    """The usual scorecard: bins of numbers, and the weight of evidence of each."""
    discretisation = pytest.importorskip("feature_engine.discretisation")
    X = people().drop(columns=["owns", "rooms"])
    y = (X["income"] + 300 * X["age"] + 9000 * np.random.default_rng(0).normal(size=len(X)) > 45000).astype(int)
    bins = discretisation.EqualFrequencyDiscretiser(q=4, variables=["age", "income"], return_object=True)
    for after in ("WoEEncoder", "OrdinalEncoder", "MeanEncoder"):
        check_importer(make_pipeline(bins, step("feature_engine", after), MODELS["linear"]()).fit(X, y), X)


def test_steps_that_mix_columns_are_refused_and_searched() -> None:
    X = people()
    y = (X["age"] > 45).astype(int)
    fitted = make_pipeline(step("category_encoders", "HashingEncoder", max_process=1), MODELS["forest"]()).fit(X, y)
    assert "HashingEncoder cannot be folded" in why_unread(fitted, X)
    assert bf.Explainer(fitted, X).explain(X.iloc[[0]], solver=bf.Swarm(iterations=20)).certificate.solver


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", ["OneHotEncoder", "BinaryEncoder", "HelmertEncoder"])
def test_answers_over_encoded_levels_are_the_cheapest_of_all(name) -> None:
    """Every row is tried with the estimator."""
    X = people()[["job", "town", "rooms"]]
    rng = np.random.default_rng(0)
    y = ((X["job"] == "nurse") ^ (X["town"] == "a") ^ (X["rooms"] > 2) ^ (rng.random(len(X)) < 0.1)).astype(int)
    every = pd.DataFrame(list(product(["clerk", "nurse", "pilot", "smith"], "abc", range(1, 6))), columns=X.columns)
    for model in MODELS:
        fitted = make_pipeline(step("category_encoders", name), MODELS[model]()).fit(X, y)
        explainer, label = bf.Explainer(fitted, X), fitted.predict(every)
        for start in range(4):
            row = X.iloc[[start]]
            cost = (every != row.iloc[0])[["job", "town"]].sum(axis=1) + (
                every["rooms"] - row["rooms"].iloc[0]
            ).abs() / 4
            answer = explainer.explain(row, cost=bf.L1(scale="range"))
            assert answer.cost == pytest.approx(cost[label != fitted.predict(row)[0]].min(), abs=1e-6)
