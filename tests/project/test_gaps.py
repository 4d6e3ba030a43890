"""What is not there, as docs/limits.md says it: tests that are expected to fail. One that passes is a line too many there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, IsolationForest, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, PowerTransformer

import butfor as bf

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "limits.md").read_text(encoding="utf-8")
X = np.random.default_rng(0).normal(size=(120, 3))
Y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
SEARCH = bf.Swarm(particles=10, iterations=10)


def proven(model: Any, *constraints: Any) -> None:
    """Assert that the model, fitted, gets a proven answer."""
    explainer = bf.Explainer(model.fit(X, Y), X)
    row = X[model.predict(X) == 0][:1]
    able = [solver for solver, yes in explainer.solvers(constraints=constraints) if yes and not solver.only_named]
    solver = SEARCH if able and not able[0].exact else "auto"  # a short search, if there is nothing but a search
    answer = explainer.explain(row, target=1, constraints=constraints, solver=solver).only
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL


def several_outputs() -> None:
    model = LinearRegression().fit(X, np.column_stack([Y, 1 - Y]))
    assert bf.Explainer(model, X).explain(X[:1], target=bf.value(at_least=2.0)).only.found


def dropped_dummies() -> None:
    """Two jobs of three, as after an encoder that drops the first level."""
    job = np.arange(120) % 3
    table = pd.DataFrame({"job_cook": job == 1, "job_nurse": job == 2, "x": X[:, 0]})
    assert bf.Explainer(FOREST.fit(table, Y), table).space.names == ("job", "x")


def network(activation: str) -> MLPClassifier:
    return MLPClassifier((3,), activation=activation, solver="lbfgs", max_iter=5000, alpha=0.1, random_state=0)


FOREST = RandomForestClassifier(4, max_depth=2, random_state=0)
UNPROVEN, REFUSED = AssertionError, bf.ButforError

GAPS: dict[str, tuple[str, type[Exception], Callable[[], None]]] = {
    "polynomial features": (
        "Steps that multiply columns", UNPROVEN, lambda: proven(make_pipeline(PolynomialFeatures(2), LogisticRegression()))
    ),
    "bent columns before oblique trees": (
        "Steps that bend a column", UNPROVEN,
        lambda: proven(
            make_pipeline(
                PowerTransformer(),
                BaggingClassifier(bf.trees.TAOClassifier(2, init="random", alpha=0.3, random_state=0), 3, random_state=0),
            )
        ),
    ),
    "dropped dummies": ("Dummies whose names do not begin alike", UNPROVEN, dropped_dummies),
    "several outputs": ("Regression models with several outputs", REFUSED, several_outputs),
    "tanh": ("Networks with other activations", UNPROVEN, lambda: proven(network("tanh"))),
    "logistic units": ("Networks with other activations", UNPROVEN, lambda: proven(network("logistic"))),
    "margins of networks": ("A margin of a network", REFUSED, lambda: proven(network("relu"), bf.margin(0.01))),
    "robust votes": (
        "A vote of trees and linear models", REFUSED,
        lambda: proven(VotingClassifier([("a", LogisticRegression()), ("b", FOREST)], voting="soft"), bf.robust(0.01)),
    ),
    "plausible answers of calibrated forests": (
        "Plausible answers of a calibrated forest", REFUSED,
        lambda: proven(
            CalibratedClassifierCV(FOREST, cv=2), bf.plausible(IsolationForest(n_estimators=5, random_state=0).fit(X))
        ),
    ),
}  # fmt: skip
"""By name: the words of the page, what happens instead, and what would be so."""


@pytest.mark.parametrize(
    ("words", "would"),
    [
        pytest.param(words, would, marks=pytest.mark.xfail(strict=True, raises=happens, reason=words), id=name)
        for name, (words, happens, would) in GAPS.items()
    ],
)
def test_a_gap_is_closed(words, would) -> None:
    would()


def test_the_page_names_every_gap() -> None:
    missing = PAGE.partition("## What is not there")[2]
    assert [words for words, _, _ in GAPS.values() if words not in missing] == []


def test_what_is_there_is_proven() -> None:
    """The same assertion for models that the page calls proven, so that it can be met at all."""
    proven(make_pipeline(LogisticRegression()))
    proven(network("relu"))
