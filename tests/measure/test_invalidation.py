"""The share of noisy copies that a model refuses, against the probability that is known for linear models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.datasets import loans

COPIES = 20_000


def off(share: float) -> float:
    """Four standard errors."""
    return 4 * float(np.sqrt(share * (1 - share) / COPIES)) + 1e-9


def linear() -> tuple[LogisticRegression, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1, (200, 3)) * (1, 10, 100)
    return LogisticRegression(max_iter=10_000).fit(X, (X / (1, 10, 100)).sum(axis=1) > 1.5), X


@pytest.mark.parametrize("sigma", [0.05, {"x1": 0.7, "x2": 4.0}], ids=repr)
def test_linear_models(sigma) -> None:
    """`P(w (c + e) + b <= 0)` is a normal probability of the score over `sqrt(sum w_j^2 sigma_j^2)`."""
    model, X = linear()
    rows = X[~model.predict(X)][:5]
    explainer, judge = bf.Explainer(model, X), bf.measure.Judge(model, X, target=True)
    spread = np.array(
        [sigma * feature.range if isinstance(sigma, float) else sigma.get(feature.name, 0.0) for feature in judge.space]
    )
    seen = []
    for rules in ([], [bf.robust(0.02)], [bf.robust(0.05)]):
        answers = explainer.explain(rows, target=True, constraints=rules)
        points = np.asarray(answers.points)
        exact = norm.cdf(-model.decision_function(points) / np.linalg.norm(model.coef_[0] * spread))
        found = judge.invalidation(answers, rows, sigma, copies=COPIES)
        assert found.shape == (5,)
        assert found == pytest.approx(exact, abs=off(0.5))
        assert all(abs(one - truth) <= off(truth) for one, truth in zip(found, exact, strict=True))
        seen.append(found.mean())
    assert seen[0] == pytest.approx(0.5, abs=0.01), "the cheapest answers lie on the border"
    assert seen[0] > seen[1] > seen[2]


def test_a_robust_answer_is_refused_no_more_often_than_noise_leaves_its_ball() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 1, (300, 2))
    model = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, X[:, 0] * X[:, 1] > 0.3)
    rows, sigma = X[~model.predict(X)][:6], {"x0": 0.03, "x1": 0.02}
    radius = bf.noise.radius(sigma, probability=0.8)
    answers = bf.Explainer(model, X).explain(rows, target=True, constraints=[bf.robust(radius)])
    assert all(answer.found for answer in answers)
    found = bf.measure.Judge(model, X, target=True).invalidation(answers, rows, sigma, copies=COPIES)
    assert (found <= 0.2 + off(0.2)).all()
    assert (found > 0.05).any()


def test_the_seed_and_whole_numbers_and_forms_of_answers() -> None:
    X, y = loans.load()
    model = loans.pipeline().fit(X, y)
    judge = bf.measure.Judge(model, X, target="approved")
    rows = X[model.predict(X) == "rejected"].iloc[:2]
    answers = bf.Explainer(model, X).explain(rows, target="approved", k=2)
    sigma = {"income": 0.3, "months": 2.0}
    found = judge.invalidation(answers, rows, sigma, copies=500)
    assert found.shape == (4,)
    assert found.tolist() == judge.invalidation(answers, rows, sigma, copies=500).tolist()
    assert found.tolist() != judge.invalidation(answers, rows, sigma, copies=500, seed=1).tolist()
    tables = [answers[answers.rows == row].points for row in range(2)]
    assert found.tolist() == judge.invalidation(tables, rows, sigma, copies=500).tolist()
    same = judge.invalidation(answers, rows, {"income": 0.1}, copies=500)  # whole numbers stay as they are
    assert same.tolist() == [0.0] * 4
    assert judge.invalidation([None, tables[1]], rows, sigma, copies=500).tolist() == found[2:].tolist()


def test_what_is_said_about_bad_noise() -> None:
    X, y = loans.load()
    judge = bf.measure.Judge(loans.pipeline().fit(X, y), X, target="approved")
    for sigma, said in (
        ({"job": 1.0}, "which has levels"),
        ({"income": -1.0}, "finite and not negative"),
        ({"income": 0.0}, "above 0"),
        ({}, "must name a column"),
        ("wide", "must be a number"),
    ):
        with pytest.raises((bf.errors.InputError, bf.errors.InputTypeError), match=said):
            judge.invalidation(X.iloc[[0]], X.iloc[[0]], sigma)
    with pytest.raises(bf.errors.InputError, match="copies=0"):
        judge.invalidation(X.iloc[[0]], X.iloc[[0]], {"income": 1.0}, copies=0)
    whole = pd.DataFrame({"a": [0, 1, 2, 3]})
    counted = bf.measure.Judge(LogisticRegression().fit(whole, [0, 0, 1, 1]), whole, target=1)
    with pytest.raises(bf.errors.InputError, match="no column holds real numbers"):
        counted.invalidation(whole.iloc[[3]], whole.iloc[[0]], 0.1)
