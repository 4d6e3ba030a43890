"""`safety=`: the threshold of a target is moved, on its own scale; and batches say how many answers are only just across."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import butfor as bf

SIDE = np.arange(6.0)
X = pd.DataFrame({"a": np.repeat(SIDE, 6), "b": np.tile(SIDE, 6)})
CHANCE = 1 / (1 + np.exp(-(X["a"] + X["b"] - 5.3)))
Y = np.where(np.random.default_rng(3).random(36) < CHANCE, "yes", "no")
WHOLE = {"a": bf.Step(1.0, 0, 5), "b": bf.Step(1.0, 0, 5)}


def explainer(model: Any) -> bf.Explainer:
    return bf.Explainer(model.fit(X, Y), X, space=WHOLE)


MODELS = {
    "logistic": LogisticRegression(),
    "tree": DecisionTreeClassifier(min_samples_leaf=4, random_state=0),
    "own threshold": FixedThresholdClassifier(LogisticRegression(), threshold=0.3, response_method="predict_proba"),
}


@pytest.mark.shorter(3)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("target", [None, "yes", "no"])
def test_the_cheapest_row_that_is_beyond_the_threshold_by_so_much(name: str, target: str | None) -> None:
    asked, by, least = explainer(MODELS[name]), 0.13, 0.3 if name == "own threshold" else 0.5
    model, chances = asked.model, asked.model.predict_proba(X)
    ends = {"no": 1 - least + by, "yes": least + by}
    found = asked.explain(X, target, cost="L1", safety=by)
    for row, answer in enumerate(found):
        wanted = target or {"yes": "no", "no": "yes"}[model.predict(X.iloc[[row]])[0]]
        allowed = chances[:, list(model.classes_).index(wanted)] >= ends[wanted]
        cost = np.abs(X - X.iloc[row]).sum(axis=1)[allowed].min() / 5
        assert answer.cost == pytest.approx(cost, abs=1e-12)
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.score is not None
        assert answer.score.of == f"probability of {wanted}"
        assert answer.score.threshold == pytest.approx(ends[wanted])
    assert bf.check(found, model).passed


def test_a_row_that_is_only_just_across_is_not_enough() -> None:
    asked = explainer(LogisticRegression())
    got = asked.model.predict_proba(X)[:, 1]
    just = np.flatnonzero((got > 0.5) & (got < 0.7))
    assert len(just)
    assert not set(just) & set(asked.unmet(X, "yes"))
    assert set(just) <= set(asked.unmet(X, "yes", safety=0.2))


@pytest.mark.parametrize(
    ("given", "safety", "moved"),
    [
        (bf.probability("yes", 0.7), 0.1, "yes with probability at least 0.8"),
        (bf.probability("yes", at_most=0.3), 0.1, "yes with probability at most 0.2"),
        (bf.probability("yes", between=(0.2, 0.6)), 0.1, "yes with probability from 0.3 to 0.5"),
        ("other", 0.25, "any other class with probability at least 0.75"),
    ],
)
def test_probabilities(given: Any, safety: float, moved: str) -> None:
    assert explainer(LogisticRegression()).explain(X[:1], given, safety=safety).question.target == moved


@pytest.mark.parametrize(
    ("given", "moved"),
    [
        (bf.value(at_least=10), "at least 10.3"),
        (bf.value(at_most=5), "at most 4.7"),
        (bf.value(at_least=4, at_most=6), "from 4.3 to 5.7"),
        (bf.relative_change(0.2), "up by 50%"),
        (bf.relative_change(-0.2), "down by 50%"),
    ],
)
def test_values(given: Any, moved: str) -> None:
    model = DecisionTreeRegressor(random_state=0).fit(X, X["a"] + X["b"])
    assert bf.Explainer(model, X).explain(X[20:21], given, safety=0.3).question.target == moved


def test_records_and_second_looks_know_it() -> None:
    asked = explainer(FixedThresholdClassifier(LogisticRegression(), threshold=0.3, response_method="predict_proba"))
    answer = asked.explain(X[:1], safety=0.2)[0]
    read = bf.Explanation.from_json(answer.to_json())
    assert (
        read.question.target == "any other class: no with probability at least 0.9 or yes with probability at least 0.5"
    )
    assert bf.check(read, asked.model).passed
    assert "at least 50" in answer.to_letter(language="en") or "yes" in answer.to_letter(language="en")
    assert asked.without(answer, answer.changes[0].name).question.target == read.question.target


def test_menus_ladders_and_trade_offs_take_it() -> None:
    asked = explainer(LogisticRegression())
    row = X[:1]
    assert [option.cost for option in asked.menu(row, "yes", safety=0.1)] == [
        option.cost for option in asked.menu(row, bf.probability("yes", 0.6))
    ]
    rungs = asked.ladder(row, [bf.probability("yes", p) for p in (0.5, 0.7)], safety=0.1)
    assert [rung.question.target[-3:] for rung in rungs] == ["0.6", "0.8"]
    steps = asked.trade_off(row, "yes", against="changes", safety=0.1)
    assert min(one.cost for one in steps) == asked.explain(row, bf.probability("yes", 0.6))[0].cost


def test_rules_hold_it() -> None:
    rules = bf.rules({"target": "yes", "safety": 0.2})
    assert "safety 0.2" in repr(rules)
    assert bf.rules({"target": "yes", "safety": 0.2}).to_toml() == 'target = "yes"\nsafety = 0.2\n'
    asked = bf.Explainer(LogisticRegression().fit(X, Y), X, rules=rules)
    assert asked.explain(X[:1]).question.target == "yes with probability at least 0.7"
    with pytest.raises(bf.errors.InputError, match=r"the rules say safety 0\.2"):
        asked.explain(X[:1], safety=0.1)


@pytest.mark.parametrize(
    ("target", "safety", "words"),
    [
        (None, 0, "must be a positive number"),
        (None, -0.1, "must be a positive number"),
        (None, "much", "must be a positive number"),
        (None, float("nan"), "must be a positive number"),
        (None, True, "must be a positive number"),
        (None, 0.6, "Nothing is left of it"),
        (bf.probability("yes", 0.95), 0.06, "Nothing is left of it"),
        (bf.probability("yes", at_most=0.05), 0.06, "Nothing is left of it"),
        (bf.probability("yes", between=(0.4, 0.5)), 0.06, "Nothing is left of it"),
        (["yes", "no"], 0.1, "none of its own"),
        ({"yes": 0, "no": 0.2}, 0.1, "none of its own"),
    ],
)
def test_what_cannot_be_asked_for(target: Any, safety: Any, words: str) -> None:
    with pytest.raises(bf.errors.ButforError, match=words):
        explainer(LogisticRegression()).explain(X[:1], target, safety=safety)


def test_models_without_a_threshold_that_could_be_moved() -> None:
    flowers, kinds = load_iris(return_X_y=True, as_frame=True)
    several = bf.Explainer(DecisionTreeClassifier(max_depth=2).fit(flowers, kinds), flowers)
    with pytest.raises(bf.errors.UnsupportedProblemError, match="which of 3 classes wins depends on all of them"):
        several.explain(flowers[:1], safety=0.1)
    named = several.explain(flowers[:1], bf.probability(2, 0.5), safety=0.1)
    assert named.question.target == "2 with probability at least 0.6"
    with pytest.raises(bf.errors.UnsupportedProblemError, match="SVC does not decide by one"):
        explainer(SVC(kernel="linear")).explain(X[:1], safety=0.1)


def test_a_batch_says_how_many_answers_are_only_just_across() -> None:
    fine = {"a": bf.Continuous(0, 5), "b": bf.Continuous(0, 5)}
    asked = bf.Explainer(LogisticRegression().fit(X, Y), X, space=fine)
    found = asked.explain(X)
    assert found.near_threshold == (36, 36)
    assert found.summary.endswith("36 of 36 answers lie within 0.01 of the threshold; safety= asks for more")
    for other in (asked.explain(X, safety=0.1), asked.explain(X, bf.probability("yes", 0.5))):
        assert other.near_threshold == (0, 0)
        assert "threshold" not in other.summary
    whole = explainer(LogisticRegression()).explain(X, "yes")
    score = whole[whole.found & (whole.costs > 0)].scores
    near = sum(one is not None and one.after is not None and one.after - 0.5 <= 0.01 for one in score)
    assert whole.near_threshold == (near, len(score))
