"""Prices that are far apart, before linear models: the bound comes from the multiplier, whatever the point is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import butfor as bf
from butfor.solvers.linear.kernels import rise, rise_at_once


@pytest.mark.parametrize("dear", [1e3, 1e8, 1e12, 1e16])
def test_a_cheap_rate_survives_the_end_of_a_dear_one(dear: float) -> None:
    X = pd.DataFrame([*np.eye(3).tolist(), [0, 0, 0], [0.5, 0.5, 0.5]], columns=list("abc"))
    model = LinearRegression().fit(X, X.sum(axis=1))
    model.coef_, model.intercept_ = np.ones(3), 0.0
    cost = bf.L1() + bf.L2(weights={"a": 1 / dear, "b": dear, "c": 2 * dear})
    answer = bf.Explainer(model, X).explain(X.iloc[[3]], target=bf.value(at_least=1.5), cost=cost).only
    assert answer.certificate.solver.startswith("linear_exact")
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    b, c = 1 / 3, 1 / 6  # where 2 dear b = 4 dear c, and a goes as far as it can
    assert answer.cost == pytest.approx(1.5 + 1 / dear + dear * b**2 + 2 * dear * c**2, rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_no_level_proves_more_than_the_worth_of_gains_that_suffice(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = 6
    cap, rate = rng.uniform(0, 2, (1, d)), 10.0 ** rng.uniform(-16, 16, d)
    start = rng.choice([0.0, 1e-3, 1.0, 1e9], d)
    need = rng.uniform(0, 0.9, 1) * cap.sum()
    gains, _, proven = rise(need, cap, start, rate, np.argsort(start))
    assert gains.sum() == pytest.approx(need[0])
    worth = (gains * (start + gains / (2 * rate))).sum()
    assert proven[0] == pytest.approx(worth, rel=1e-6)
    for _ in range(200):  # no other gains that suffice are worth less
        other = cap[0] * rng.uniform(0, 1, d) ** rng.choice([0.2, 1, 5])
        short = need[0] - other.sum()
        other = (
            other + (cap[0] - other) * short / (cap[0] - other).sum() if short > 0 else other * need[0] / other.sum()
        )
        assert (other * (start + other / (2 * rate))).sum() >= proven[0] * (1 - 1e-9)
    at_once = rise_at_once(need, cap, rate)
    again = rise(need, cap, np.zeros(d), rate, np.arange(d))
    assert at_once[1] == pytest.approx(again[1], rel=1e-9)
    assert at_once[2] == pytest.approx(again[2], rel=1e-9)


@pytest.mark.parametrize("weight", [1e-6, 1e-8, 1e-10])
def test_the_rounding_of_a_large_number_is_no_part_of_the_bound(weight: float) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 3)), columns=list("abd")).assign(d=lambda X: X.d + 1e6)
    y = X.a + X.b - (X.d - 1e6) > 0
    model = LogisticRegression(C=1e3).fit(X, y)
    row = X[~model.predict(X)].iloc[[0]]
    cost, explainer = bf.LInf(weights={"a": weight}), bf.Explainer(model, X)
    answer = explainer.explain(row, target=True, cost=cost).only
    other = explainer.explain(row, target=True, cost=bf.L1(weights={"a": weight})).only
    moved = (other.point - row).abs().iloc[0] / (X.max() - X.min())
    worth = (moved * [weight, 1, 1]).max()
    assert answer.certificate.bound <= worth * (1 + 1e-9)
