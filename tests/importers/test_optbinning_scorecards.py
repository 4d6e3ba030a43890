"""optbinning: binning processes in pipelines, scorecards, special codes, missing values, and enumeration of all bins."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

import butfor as bf
from butfor.errors import NotFittedError
from butfor.testing.importer_contract import check_importer
from tests.importers.samples import NUMBERS, TEXT, answers, people

optbinning = pytest.importorskip("optbinning")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::RuntimeWarning")


def process(X, **given):
    return optbinning.BinningProcess(list(X), categorical_variables=TEXT, **given)


def applicants(*, lost: bool = False):
    X = people(rows=300, lost=(*NUMBERS, *TEXT) if lost else ()).astype(dict.fromkeys(TEXT, object))
    return X.drop(columns="owns"), (answers(X) == "yes").astype(int)


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("codes", [None, [30, 40], {"retired": 66, "young": [18, 19]}])
def test_pipelines(lost, codes) -> None:
    X, y = applicants(lost=lost)
    check_importer(make_pipeline(process(X, special_codes=codes), LogisticRegression()).fit(X, y), X)


@pytest.mark.parametrize("says", [0, "empirical", -0.5])
def test_cards(says) -> None:
    X, y = applicants(lost=True)
    card = optbinning.Scorecard(process(X), LogisticRegression())
    check_importer(card.fit(X, y, metric_missing=says, metric_special=says), X)


def test_cards_of_values() -> None:
    X, _ = applicants()
    check_importer(optbinning.Scorecard(process(X), LinearRegression()).fit(X, X["income"] / 7 + X["age"]), X)


def test_metrics_of_single_columns() -> None:
    X, y = applicants(lost=True)
    own = {"age": {"metric": "event_rate", "metric_missing": "empirical"}, "job": {"metric_missing": 0.3}}
    check_importer(make_pipeline(process(X, binning_transform_params=own), LogisticRegression()).fit(X, y), X)


def test_a_card_that_is_not_fitted() -> None:
    X, _ = applicants()
    with pytest.raises(NotFittedError):
        bf.Explainer(optbinning.Scorecard(process(X), LogisticRegression()), X)


def test_every_choice_of_bins_confirms_the_answers() -> None:
    X, y = applicants()
    card = optbinning.Scorecard(process(X), LogisticRegression()).fit(X, y)
    explainer = bf.Explainer(card, X)
    rows = X[card.predict(X) == 0].iloc[:3]
    values = {name: [*X[name].unique()] for name in TEXT} | {"rooms": [*range(X["rooms"].min(), X["rooms"].max() + 1)]}
    for answer, (_, row) in zip(explainer.explain(rows, target=1), rows.iterrows(), strict=True):
        near = dict(values)
        for name in ("age", "income"):
            splits = card.binning_process_.get_binned_variable(name).splits
            below = np.ceil(splits) - 1 if name == "age" else np.nextafter(splits, -np.inf)
            near[name] = [row[name], *np.where(splits > row[name], np.ceil(splits) if name == "age" else splits, below)]
        every = _frame(X, near)
        taken = every[card.predict(every) == 1]
        numbers = ["age", "income", "rooms"]
        ranges = np.array([explainer.space[name].range for name in numbers])
        away = np.abs(taken[numbers].to_numpy(float) - row[numbers].to_numpy(float)) / ranges
        cost = away.sum(axis=1) + sum(taken[name] != row[name] for name in TEXT)
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.cost == pytest.approx(cost.min(), abs=1e-9)


def _frame(X, values):
    return pd.DataFrame(list(product(*(values[name] for name in X))), columns=list(X)).astype(
        dict.fromkeys(TEXT, object)
    )


@pytest.mark.parametrize("scaling", [None, "pdo_odds", "min_max"])
def test_points_of_a_card(scaling) -> None:
    X, y = applicants(lost=True)
    given = {
        None: {},
        "pdo_odds": {"pdo": 20, "odds": 2, "scorecard_points": 600},
        "min_max": {"min": 300, "max": 850},
    }
    card = optbinning.Scorecard(
        process(X), LogisticRegression(), scaling_method=scaling, scaling_method_params=given[scaling] or None,
        intercept_based=scaling == "min_max", rounding=scaling == "pdo_odds",
    ).fit(X, y)  # fmt: skip
    own = bf.Scorecard(card)
    np.testing.assert_allclose(own.predict(X), card.score(X), atol=1e-9)
    check_importer(own, X)
