"""One explainer, asked by several threads at once: each gets the answer that it would get alone."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import butfor as bf

THREADS, QUESTIONS = 6, 18
RNG = np.random.default_rng(5)
TABLE = pd.DataFrame(RNG.normal(size=(200, 4)), columns=[*"abcd"])
WANTED = (TABLE["a"] + TABLE["b"] * TABLE["c"] > 0.4).to_numpy()

MODELS: dict[str, Any] = {
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "line": make_pipeline(StandardScaler(), LogisticRegression()),
    "forest": RandomForestClassifier(8, max_depth=3, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=8, max_depth=3, random_state=0),
    "network": MLPClassifier((4,), random_state=0, max_iter=3000, tol=1e-3),
}


def bodies() -> list[dict[str, float]]:
    """The rows as requests hold them."""
    return [json.loads(TABLE.iloc[place].to_json()) for place in range(QUESTIONS)]


@pytest.mark.shorter(1)
@pytest.mark.parametrize("name", MODELS)
def test_threads_share_an_explainer(name: str) -> None:
    explainer = bf.Explainer(MODELS[name].fit(TABLE, WANTED), TABLE)
    rules = [["between a:-2:2"], [bf.fixed("b")], [bf.at_most_changes(2)]]

    def ask(place: int) -> bf.Explanation:
        row = explainer.row(bodies()[place])
        return explainer.explain(row, constraints=rules[place % 3], progress=False).only

    with ThreadPoolExecutor(THREADS) as threads:
        together = [*threads.map(ask, range(QUESTIONS))]
    alone = [ask(place) for place in range(QUESTIONS)]
    assert together == alone
    assert {one.certificate.status for one in alone} <= {bf.Status.PROVEN_OPTIMAL, bf.Status.PROVEN_INFEASIBLE}


def test_a_searched_model_is_shared_too() -> None:
    explainer = bf.Explainer(lambda rows: (rows[:, 0] + rows[:, 1] ** 2 > 0.4).astype(int), TABLE.to_numpy())

    def ask(place: int) -> bf.Explanation:
        return explainer.explain(TABLE.to_numpy()[[place]], seed=place).only

    with ThreadPoolExecutor(THREADS) as threads:
        together = [*threads.map(ask, range(6))]
    assert together == [ask(place) for place in range(6)]
    assert all(one.found for one in together)


def test_a_time_limit_in_one_thread_is_no_limit_in_another() -> None:
    model = RandomForestClassifier(60, max_depth=7, random_state=0).fit(TABLE, WANTED)
    explainer = bf.Explainer(model, TABLE)
    explainer.explain(TABLE.iloc[[0]])  # what is compiled first is waited for by all

    def ask(place: int) -> bf.Explanation:
        return explainer.explain(TABLE.iloc[[place]], time_limit=1e-4 if place % 2 else None).only

    with ThreadPoolExecutor(4) as threads:
        found = [*threads.map(ask, range(6))]
    assert all(one.certificate.status.settled for one in found[::2])
