"""Proofs about trees and weighted numbers that are added up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor, VotingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler

import butfor as bf
from tests.proof.cases import read
from tests.proof.second import both_verify, second
from tests.proof.test_means import CONSTRAINTS, admitted
from tests.proof.test_read_files import encoded, least, whole_numbers

__all__ = ["second"]

BINS = KBinsDiscretizer(3, encode="onehot-dense", quantile_method="averaged_inverted_cdf")


def mean_of(*members: Any, weights: list[float] | None = None) -> Any:
    return VotingRegressor([(str(k), member) for k, member in enumerate(members)], weights=weights)


def in_bins(scaler: Any, learner: Any) -> Any:
    """A column in bins, beside one with a slope."""
    steps = (OneHotEncoder(sparse_output=False), ["job"]), (BINS, ["late"]), (scaler, ["years"])
    return make_pipeline(make_column_transformer(*steps), learner)


VALUES: dict[str, Callable[[], Any]] = {
    "a line and a forest": lambda: encoded(
        mean_of(LinearRegression(), RandomForestRegressor(4, max_depth=3, random_state=0))
    ),
    "a scaled line and boosting": lambda: encoded(
        mean_of(
            make_pipeline(StandardScaler(), Ridge()),
            GradientBoostingRegressor(n_estimators=5, random_state=0),
            weights=[2, 1],
        )
    ),
    "bins": lambda: in_bins("passthrough", LinearRegression()),
}
CLASSES: dict[str, Callable[[], Any]] = {
    "bins": lambda: in_bins("passthrough", LogisticRegression()),
    "scaled bins": lambda: in_bins(StandardScaler(), LogisticRegression()),
}


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("ends", [{"at_least": 0.6}, {"at_most": 0.4}, {"at_least": 0.45, "at_most": 0.6}])
@pytest.mark.parametrize("kind", VALUES)
def test_values_that_both_add_to(kind: str, ends: dict[str, float], name: str, second: Path, tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = VALUES[kind]().fit(X, y.astype(float))
    low, high = ends.get("at_least", -np.inf), ends.get("at_most", np.inf)
    rows = X[(model.predict(X) < low) | (model.predict(X) > high)].iloc[:4]
    answers = bf.Explainer(model, data=X).explain(rows, target=bf.value(**ends), constraints=CONSTRAINTS[name])
    proofs = bf.prove(answers, model, tmp_path / "proofs")
    for (_, row), one in zip(rows.iterrows(), proofs, strict=True):

        def met(every: pd.DataFrame, row: pd.Series = row) -> np.ndarray:
            said = model.predict(every)
            return np.asarray((said >= low) & (said <= high) & admitted(name, every, row))

        assert one.verified, one.words
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("kind", CLASSES)
def test_classes_that_both_decide(kind: str, name: str, second: Path, tmp_path: Path) -> None:
    X, y = whole_numbers()
    model = CLASSES[kind]().fit(X, y)
    predicted = model.predict(X)
    rows = pd.concat([X[predicted == k].iloc[:2] for k in (0, 1)])
    proofs = bf.prove(
        bf.Explainer(model, data=X).explain(rows, constraints=CONSTRAINTS[name]), model, tmp_path / "proofs"
    )
    for (_, row), one, was in zip(rows.iterrows(), proofs, (0, 0, 1, 1), strict=True):

        def met(every: pd.DataFrame, row: pd.Series = row, was: int = was) -> np.ndarray:
            return np.asarray((model.predict(every) != was) & admitted(name, every, row))

        assert one.verified, one.words
        assert one.below == pytest.approx(least(X, row, met), rel=1e-8)
    assert both_verify(second, [read(one.file) for one in proofs], tmp_path)
