"""A probability at most, or between two: against enumeration with the estimator itself, and what is refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.problem.spec import from_spec, to_spec
from tests.shorter import diagonal

TREES = {"max_depth": 2, "random_state": 0}
KINDS = {
    "linear": (2, LogisticRegression()),
    "tree of three": (3, DecisionTreeClassifier(**TREES)),
    "forest of three": (3, RandomForestClassifier(4, **TREES)),
    "boosting": (2, GradientBoostingClassifier(n_estimators=5, **TREES)),
    "calibrated": (2, CalibratedClassifierCV(RandomForestClassifier(4, **TREES), cv=2)),
    "vote": (2, VotingClassifier([("a", LogisticRegression()), ("b", DecisionTreeClassifier(**TREES))], voting="soft")),
    "linear of three": (3, LogisticRegression()),
    "boosting of three": (3, GradientBoostingClassifier(n_estimators=5, **TREES)),
    "network of three": (3, MLPClassifier((3,), alpha=1.0, solver="lbfgs", max_iter=2000, random_state=0)),
    "network": (2, MLPClassifier((3,), solver="lbfgs", max_iter=2000, random_state=0)),
}
EVERY = pd.DataFrame(list(product(range(5), repeat=3)), columns=list("abc"))


@pytest.mark.shorter(2)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("kind", "seed"), diagonal(KINDS, range(4)))
def test_agrees_with_enumeration(kind, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.integers(0, 5, (80, 3)), columns=list("abc"))
    score = X.a + rng.normal() * X.b - X.c + rng.normal(size=80)
    classes, model = KINDS[kind]
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]))
    explainer = bf.Explainer(model.fit(X, y), X, space={name: bf.Integer(0, 4) for name in X})
    low, high = np.sort(rng.choice(model.predict_proba(EVERY)[:, 1], 2, replace=False)).tolist()
    row = X.iloc[[0]]
    for target in (bf.probability(1, at_most=low), bf.probability(1, between=(low, high))):
        if target.at_most >= 1 or (target.at_most == 0 and kind != "tree of three"):
            continue
        answer = explainer.explain(row, target=target).only
        best = explainer.explain(row, target=target, constraints=[bf.candidates(EVERY)]).only
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.cost == pytest.approx(best.cost, abs=1e-9)
        chance = model.predict_proba(answer.point)[0, 1]
        assert target.at_least <= chance <= target.at_most


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "one of at_least="),
        ({"at_least": 0.2, "at_most": 0.4}, "between="),
        ({"at_least": 0.2, "between": (0.1, 0.4)}, "one of at_least="),
        ({"between": 0.4}, "two numbers"),
        ({"between": (0.1, 0.2, 0.3)}, "two numbers"),
        ({"at_most": "low"}, "must be a number"),
    ],
)
def test_what_is_no_probability_is_a_type_error(given, words):
    with pytest.raises((bf.errors.InputTypeError, bf.errors.InputError), match=words):
        bf.probability("yes", **given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"between": (0.6, 0.4)}, "must not exceed"),
        ({"at_most": 1.2}, "from 0 to 1"),
        ({"at_most": 20}, "Did you mean 0.2"),
        ({"at_most": -0.1}, "from 0 to 1"),
        ({"at_most": 1}, "Every row has one"),
        ({"between": (0.4, float("nan"))}, "from 0 to 1"),
    ],
)
def test_bad_numbers_are_refused(given, words):
    X = np.arange(40.0)[:, None]
    explainer = bf.Explainer(LogisticRegression().fit(X, X[:, 0] > 20), X)
    with pytest.raises(bf.errors.InputError, match=words):
        explainer.explain(X[[0]], target=bf.probability(True, **given))


def test_a_softmax_is_0_only_by_rounding():
    X = np.arange(60.0)[:, None]
    explainer = bf.Explainer(LogisticRegression().fit(X, np.repeat([0, 1, 2], 20)), X)
    with pytest.raises(bf.errors.UnsupportedProblemError, match=r"0 only by rounding.*bf\.black_box"):
        explainer.explain(X[[30]], target=bf.probability(1, at_most=0.0))


def test_it_is_kept_in_a_spec_and_old_ones_are_read():
    for target in (bf.probability("a", at_most=0.2), bf.probability("a", between=(0.2, 0.3))):
        assert from_spec(to_spec(target)) == target
    old = {key: value for key, value in to_spec(bf.probability("a", 0.7)).items() if key != "at_most"}
    assert from_spec(old) == bf.probability("a", 0.7)


def test_the_score_is_about_the_end_that_is_missed():
    X = np.arange(40.0)[:, None]
    model = LogisticRegression().fit(X, X[:, 0] > 20)
    answer = bf.Explainer(model, X).explain(X[[39]], target=bf.probability(True, between=(0.3, 0.4))).only
    assert (answer.score.threshold, answer.score.up) == (0.4, False)
    assert 0.3 <= answer.score.after <= 0.4


def test_an_end_of_one_is_none():
    """Votes with a weight below 0 add up to more than 1, and other sums may by their last digit."""
    members = [(str(depth), DecisionTreeClassifier(max_depth=depth, random_state=0)) for depth in (2, 1)]
    y = (EVERY["a"] >= 3) & (EVERY["b"] > 0)
    model = VotingClassifier(members, voting="soft", weights=[1.5, -0.5]).fit(EVERY, y)
    chance = model.predict_proba(EVERY)[:, 1]
    assert chance.max() > 1.05
    (rows,) = np.nonzero(chance < 0.2)
    for target in (bf.probability(True, at_least=0.9), bf.probability(False, at_most=0.1)):
        answers = bf.Explainer(model, data=EVERY).explain(EVERY.iloc[[rows[0], int(np.argmax(chance))]], target=target)
        found = model.predict_proba(answers[0].point)[0, 1]
        assert found >= 0.9
        assert (answers[1].certificate.cost, answers[1].certificate.status) == (0, bf.Status.PROVEN_OPTIMAL)
