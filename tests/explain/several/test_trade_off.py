"""Fronts of cost against changes and against a score agree with a count of all points."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeRegressor

import butfor as bf
from tests.explain.several.small_worlds import MODELS, world


@pytest.mark.parametrize("kind", sorted(MODELS))
@pytest.mark.parametrize("seed", range(5))
def test_cost_against_changes_agrees_with_a_count(kind, seed) -> None:
    here = world(kind, seed)
    front = here.explainer.cost_against_changes(here.row, 1, cost="L2")
    changed, cost = here.changed.sum(axis=1), here.costs(bf.L2())
    for most in range(1, 5):
        least = cost[here.met & (changed <= most)].min(initial=np.inf)
        if most >= min(front.numbers, default=5) - 1:
            assert front.cost_of(most) == pytest.approx((least, least))
        fitting = [answer.cost for number, answer in zip(front.numbers, front, strict=True) if number <= most]
        assert min(fitting, default=np.inf) == pytest.approx(least)
    assert front.complete
    assert list(front.numbers) == sorted(set(front.numbers), reverse=True)
    assert all(answer.certificate.status is bf.Status.PROVEN_OPTIMAL for answer in front)
    assert all(bf.check(answer, here.explainer.model).passed for answer in front)


@pytest.mark.parametrize("kind", sorted(MODELS))
@pytest.mark.parametrize("questions", [1, 3, 8, 60])
@pytest.mark.parametrize("seed", range(3))
def test_cost_against_score_agrees_with_a_count(kind, questions, seed) -> None:
    here = world(kind, seed)
    front = here.explainer.cost_against_score(here.row, bf.probability(1, 0.3), questions=questions)
    score, cost = here.probability, here.costs(bf.L1())
    for number, answer in zip(front.numbers, front, strict=True):
        assert answer.cost == pytest.approx(cost[score >= number - 1e-12].min())
        assert not (score[cost <= answer.cost - 1e-6] >= number).any()
    assert list(front.numbers) == sorted(front.numbers)
    assert [answer.cost for answer in front] == sorted(answer.cost for answer in front)
    for demand in np.linspace(0.3, score.max(), 40):
        low, high = front.cost_of(float(demand))
        assert low - 1e-6 <= cost[score >= demand].min() <= high + 1e-6
    if questions == 60 and kind != "linear":
        assert front.complete
        ends = cost[score >= 0.3].min(), cost[score >= score.max() - 1e-12].min()
        assert (front[0].cost, front[-1].cost) == pytest.approx(ends)


def test_the_cost_of_a_smaller_value() -> None:
    here = world("tree", 3)
    X = here.points[["a", "b", "c"]].drop_duplicates(ignore_index=True)
    model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, X["a"] + 2.0 * X["b"])
    value, cost = model.predict(X), (np.abs(X - X.iloc[-1]) / (X.max() - X.min())).sum(axis=1).to_numpy()
    front = bf.Explainer(model, X).cost_against_score(X.iloc[[-1]], bf.value(at_most=5.0))
    assert front.complete
    for number, answer in zip(front.numbers, front, strict=True):
        assert answer.cost == pytest.approx(cost[value <= number].min())
    assert front.numbers[-1] == pytest.approx(value.min())
    assert list(front.numbers) == sorted(front.numbers, reverse=True)


def test_a_score_that_cannot_be_reached() -> None:
    here = world("boosting", 1)
    front = here.explainer.cost_against_score(here.row, bf.probability(1, 0.3), up_to=1.0)
    assert front.numbers[-1] == pytest.approx(here.probability.max())
    assert front.cost_of(1.0) == (np.inf, np.inf)
    assert "provably no answer" in repr(front)
    front.plot()


def test_a_continuous_model_is_bounded_between_the_answers() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    model = LogisticRegression().fit(X, X["a"] + 0.5 * X["b"] > 0)
    explainer = bf.Explainer(model, X)
    row = X[~model.predict(X)].iloc[[0]]
    front = explainer.cost_against_score(row, bf.probability(True, 0.5), up_to=0.9, questions=10)
    assert len(front) == 10
    assert not front.complete
    for demand in (0.55, 0.61, 0.83):
        low, high = front.cost_of(demand)
        assert low - 1e-6 <= explainer.explain(row, target=bf.probability(True, demand)).cost <= high + 1e-6
    assert "bounds are proven" in repr(front)


def test_no_row_can_be_helped() -> None:
    here = world("forest", 0)
    stuck = {"constraints": [bf.fixed("a", "b", "c", "level")]}
    for front in (
        here.explainer.cost_against_changes(here.row, 1, **stuck),
        here.explainer.cost_against_score(here.row, bf.probability(1, 0.9), **stuck),
    ):
        assert len(front) == 0
        assert "provably no answer" in repr(front)
        front.plot()


def test_a_row_that_is_already_there() -> None:
    here = world("forest", 0)
    front = here.explainer.cost_against_changes(here.row, 0)
    assert front.numbers == (0,)
    assert "nothing" in repr(front)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"target": 1}, "at least, or at most"),
        ({"target": bf.probability(1, 0.5), "up_to": 0.4}, "beyond the target"),
        ({"target": bf.probability(1, 0.5), "up_to": 1.5}, "at most 1"),
        ({"target": bf.probability(1, 0.5), "up_to": "high"}, "must be a number"),
        ({"target": bf.probability(1, 0.5), "questions": 0}, "questions=0"),
    ],
)
def test_bad_input(arguments, words) -> None:
    here = world("tree", 0)
    with pytest.raises((bf.errors.InputError, bf.errors.InputTypeError), match=words):
        here.explainer.cost_against_score(here.row, **arguments)


def test_views() -> None:
    here = world("boosting", 3)
    front = here.explainer.cost_against_score(here.row, bf.probability(1, 0.3))
    frame = front.to_frame()
    assert list(frame["probability of 1"]) == list(front.numbers)
    assert list(frame["cost"]) == [answer.cost for answer in front]
    assert front._repr_html_().count("<tr>") == 1 + len(front)
    assert front.plot().get_xlabel() == "probability of 1"
    assert f"{front[0].cost:.4g}" in front.alt_text
    assert here.explainer.cost_against_changes(here.row, 1).plot().get_xlabel() == "changes, at most"
