"""ydf: forests, CART and boosting, with levels, flags and missing values; what is refused, and answers by enumeration."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import butfor as bf
from butfor.importers.libraries.ydf_forests import adapt
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import why_unread
from tests.shorter import first

ydf = pytest.importorskip("ydf")

LEVELS = ("x", "y", "z", "w")


def rows(seed: int, *, missing: bool = False, count: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    made = pd.DataFrame(
        {
            "a": np.round(rng.normal(size=count), 2),
            "b": rng.integers(0, 9, count).astype(float),
            "c": rng.choice(LEVELS, count),
        }
    )
    made["c"] = made["c"].astype(object)
    if missing:
        for name in made.columns:
            made.loc[rng.choice(count, 20, replace=False), name] = None if name == "c" else np.nan
    return made


def target(X: pd.DataFrame, classes: int) -> np.ndarray:
    score = X["a"].fillna(0.3) + X["b"].fillna(4) / 4 + (X["c"] == "x") - (X["c"] == "w")
    if classes == 1:
        return score.to_numpy()
    cuts = np.quantile(score, np.arange(1, classes) / classes)
    return np.array(["low", "middle", "high"][:classes])[np.searchsorted(cuts, score)]


LEARNERS: dict[str, dict[str, Any]] = {
    "RandomForest": {"num_trees": 5, "max_depth": 4},
    "RandomForest of shares": {"num_trees": 5, "max_depth": 4, "winner_take_all": False},
    "GradientBoostedTrees": {"num_trees": 6, "max_depth": 3, "validation_ratio": 0.0},
    "Cart": {"max_depth": 4, "validation_ratio": 0.1},
}


def trained(name: str, X: pd.DataFrame, classes: int, **more: Any) -> Any:
    settings = {**LEARNERS[name], **more}
    if classes == 1:
        settings.pop("winner_take_all", None)
    task = ydf.Task.REGRESSION if classes == 1 else ydf.Task.CLASSIFICATION
    learner = getattr(ydf, f"{name.split()[0]}Learner")(
        label="label", task=task, min_examples=3, random_seed=1, **settings
    )
    return learner.train(X.assign(label=target(X, classes)), verbose=0)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("classes", [1, 2, 3])
@pytest.mark.parametrize("name", LEARNERS)
def test_it_predicts_what_ydf_predicts(name: str, classes: int, missing: bool) -> None:
    for seed in first(1, range(4)):
        X = rows(seed if isinstance(seed, int) else 0, missing=missing)
        model = trained(name, X, classes)
        check_importer(model, X)
        check_importer(pickle.loads(pickle.dumps(adapt(model))), X)


@pytest.mark.parametrize("name", LEARNERS)
def test_answers_are_those_of_enumeration(name: str) -> None:
    X = rows(7)
    X["a"] = np.round(X["a"])
    model = trained(name, X, 2)
    sides = (np.arange(-3.0, 4.0), np.arange(0.0, 9.0), LEVELS)
    cells = pd.DataFrame(list(product(*sides)), columns=["a", "b", "c"])
    said = adapt(model).predict(cells) == "middle"
    explainer = bf.Explainer(model, X, space={"a": bf.Integer(-3, 3), "b": bf.Integer(0, 8)})
    for start in np.flatnonzero(~said)[::29][:6]:
        row = cells.iloc[start]
        cost = abs(cells["a"] - row["a"]) / 6 + abs(cells["b"] - row["b"]) / 8 + (cells["c"] != row["c"])
        answer = explainer.explain(cells.iloc[[start]], target="middle").only
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.cost == pytest.approx(cost[said].min(), abs=1e-9)


def test_oblique_splits_are_searched_and_told() -> None:
    X = rows(3)
    model = trained("GradientBoostedTrees", X, 2, split_axis="SPARSE_OBLIQUE")
    assert "NumericalSparseObliqueCondition" in why_unread(model, X)
