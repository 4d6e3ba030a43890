"""Encoders and imputers of category_encoders and feature-engine."""

from __future__ import annotations

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
from tests.importers.samples import TEXT, people

MODELS = {
    "forest": lambda: RandomForestClassifier(4, max_depth=3, random_state=0),
    "linear": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
}

pytestmark = pytest.mark.filterwarnings("ignore")


def step(library: str, name: str, **given: Any) -> Any:
    home = pytest.importorskip(library if library == "category_encoders" else f"{library}.encoding")
    return getattr(home, name)(**given)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("library", "name"), [(library, name) for library, names in BY_LEVEL.items() for name in names]
)
def test_encoders(library, name, model) -> None:
    X = people()
    y = (X["age"] > 45).astype(int)
    reading = check_importer(make_pipeline(step(library, name), MODELS[model]()).fit(X, y), X)
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


def test_imputers_logarithms_and_dropped_columns() -> None:
    imputation = pytest.importorskip("feature_engine.imputation")
    transformation = pytest.importorskip("feature_engine.transformation")
    selection = pytest.importorskip("feature_engine.selection")
    X = people(lost=("income",)).drop(columns=TEXT).assign(age=lambda X: X["age"].astype(float))
    X["income"] = X["income"].abs() + 20_000.0
    y = (X["age"] > 45).astype(int)
    steps = [
        imputation.MeanMedianImputer(variables=["income"]),
        transformation.LogTransformer(variables=["income"]),
        transformation.LogCpTransformer(variables=["age"], C=3),
        selection.DropFeatures(["owns"]),
    ]
    check_importer(make_pipeline(*steps, MODELS["forest"]()).fit(X, y), X)
    words = people(lost=("job",)).drop(columns=["town", "owns"])
    filled = make_pipeline(
        imputation.CategoricalImputer(variables=["job"]), step("feature_engine", "OrdinalEncoder"), MODELS["forest"]()
    )
    check_importer(filled.fit(words, y), words)


def test_steps_that_make_several_columns_are_refused_and_searched() -> None:
    X = people()
    y = (X["age"] > 45).astype(int)
    fitted = make_pipeline(step("category_encoders", "BinaryEncoder"), MODELS["forest"]()).fit(X, y)
    assert "BinaryEncoder cannot be folded" in why_unread(fitted, X)
    assert bf.Explainer(fitted, X).explain(X.iloc[[0]], solver=bf.Swarm(iterations=20)).certificate.solver
    assert isinstance(X, pd.DataFrame)
    assert np.isfinite(X["age"]).all()
