"""Cost against changes and against a score agree with a count of all points, and against a radius with single questions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier, IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import butfor as bf
from tests.explain.several.small_worlds import MODELS, world
from tests.shorter import first, unless


@pytest.mark.shorter(3)
@pytest.mark.parametrize("kind", sorted(MODELS))
@pytest.mark.parametrize("seed", first(2, range(5)))
def test_cost_against_changes_agrees_with_a_count(kind, seed) -> None:
    here = world(kind, seed)
    trade = here.explainer.trade_off(here.row, 1, against="changes", cost="L2")
    changed, cost = here.changed.sum(axis=1), here.costs(bf.L2())
    for most in range(1, 5):
        least = cost[here.met & (changed <= most)].min(initial=np.inf)
        if most >= min(trade.numbers, default=5) - 1:
            assert trade.cost_of(most) == pytest.approx((least, least))
        fitting = [answer.cost for number, answer in zip(trade.numbers, trade, strict=True) if number <= most]
        assert min(fitting, default=np.inf) == pytest.approx(least)
    assert trade.complete
    assert list(trade.numbers) == sorted(set(trade.numbers), reverse=True)
    assert all(answer.certificate.status is bf.Status.PROVEN_OPTIMAL for answer in trade)
    assert all(bf.check(answer, here.explainer.model).passed for answer in trade)


@pytest.mark.shorter(5)
@pytest.mark.parametrize("kind", sorted(MODELS))
@pytest.mark.parametrize("questions", [1, 3, 8, 60])
@pytest.mark.parametrize("seed", first(1, range(3)))
def test_cost_against_score_agrees_with_a_count(kind, questions, seed) -> None:
    here = world(kind, seed)
    trade = here.explainer.trade_off(here.row, bf.probability(1, 0.3), against="score", questions=questions)
    score, cost = here.probability, here.costs(bf.L1())
    for number, answer in zip(trade.numbers, trade, strict=True):
        assert answer.cost == pytest.approx(cost[score >= number - 1e-12].min())
        assert not (score[cost <= answer.cost - 1e-6] >= number).any()
    assert list(trade.numbers) == sorted(trade.numbers)
    assert [answer.cost for answer in trade] == sorted(answer.cost for answer in trade)
    for demand in np.linspace(0.3, score.max(), 40):
        low, high = trade.cost_of(float(demand))
        assert low - 1e-6 <= cost[score >= demand].min() <= high + 1e-6
    if questions == 60 and kind != "linear":
        assert trade.complete
        ends = cost[score >= 0.3].min(), cost[score >= score.max() - 1e-12].min()
        assert (trade[0].cost, trade[-1].cost) == pytest.approx(ends)


def test_the_cost_of_a_smaller_value() -> None:
    here = world("tree", 3)
    X = here.points[["a", "b", "c"]].drop_duplicates(ignore_index=True)
    model = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, X["a"] + 2.0 * X["b"])
    value, cost = model.predict(X), (np.abs(X - X.iloc[-1]) / (X.max() - X.min())).sum(axis=1).to_numpy()
    trade = bf.Explainer(model, X).trade_off(X.iloc[[-1]], bf.value(at_most=5.0), against="score")
    assert trade.complete
    for number, answer in zip(trade.numbers, trade, strict=True):
        assert answer.cost == pytest.approx(cost[value <= number].min())
    assert trade.numbers[-1] == pytest.approx(value.min())
    assert list(trade.numbers) == sorted(trade.numbers, reverse=True)


def test_a_score_that_cannot_be_reached() -> None:
    here = world("boosting", 1)
    trade = here.explainer.trade_off(here.row, bf.probability(1, 0.3), against="score", up_to=1.0)
    assert trade.numbers[-1] == pytest.approx(here.probability.max())
    assert trade.cost_of(1.0) == (np.inf, np.inf)
    assert "provably no answer" in repr(trade)
    trade.plot()


def test_a_continuous_model_is_bounded_between_the_answers() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    model = LogisticRegression().fit(X, X["a"] + 0.5 * X["b"] > 0)
    explainer = bf.Explainer(model, X)
    row = X[~model.predict(X)].iloc[[0]]
    trade = explainer.trade_off(row, bf.probability(True, 0.5), against="score", up_to=0.9, questions=10)
    assert len(trade) == 10
    assert not trade.complete
    for demand in (0.55, 0.61, 0.83):
        low, high = trade.cost_of(demand)
        assert low - 1e-6 <= explainer.explain(row, target=bf.probability(True, demand)).cost <= high + 1e-6
    assert "bounds are proven" in repr(trade)


def test_no_row_can_be_helped() -> None:
    here = world("forest", 0)
    stuck = {"constraints": [bf.fixed("a", "b", "c", "level")]}
    for trade in (
        here.explainer.trade_off(here.row, 1, against="changes", **stuck),
        here.explainer.trade_off(here.row, bf.probability(1, 0.9), against="score", **stuck),
    ):
        assert len(trade) == 0
        assert "provably no answer" in repr(trade)
        trade.plot()


def test_a_row_that_is_already_there() -> None:
    here = world("forest", 0)
    trade = here.explainer.trade_off(here.row, 0, against="changes")
    assert trade.numbers == (0,)
    assert "nothing" in repr(trade)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"target": 1}, "at least, or at most"),
        ({"target": bf.probability(1, 0.5), "up_to": 0.4}, "beyond the target"),
        ({"target": bf.probability(1, 0.5), "up_to": 1.5}, "from 0 to 1"),
        ({"target": bf.probability(1, 0.5), "up_to": "high"}, "must be a number"),
        ({"target": bf.probability(1, 0.5), "questions": 0}, "questions=0"),
        ({"target": 1, "against": "number"}, "'changes', 'radius', 'score'"),
        ({"target": 1, "against": "changes", "radii": [0.1]}, "belongs to against='radius'"),
        ({"target": 1, "against": "radius", "questions": 3}, "belongs to against='score'"),
        *[
            ({"target": 1, "against": "radius", "radii": one}, "radii")
            for one in ([], [-0.1], [np.nan], ["x"], 0.1, "0.1")
        ],
    ],
)
def test_bad_input(arguments, words) -> None:
    here = world("tree", 0)
    with pytest.raises((bf.errors.InputError, bf.errors.InputTypeError), match=words):
        here.explainer.trade_off(here.row, **{"against": "score"} | arguments)


def test_views() -> None:
    here = world("boosting", 3)
    trade = here.explainer.trade_off(here.row, bf.probability(1, 0.3), against="score")
    frame = trade.to_frame()
    assert list(frame["probability of 1"]) == list(trade.numbers)
    assert list(frame["cost"]) == [answer.cost for answer in trade]
    assert trade._repr_html_().count("<tr>") == 1 + len(trade)
    assert trade.plot().get_xlabel() == "probability of 1"
    assert f"{trade[0].cost:.4g}" in trade.alt_text
    assert here.explainer.trade_off(here.row, 1, against="changes").plot().get_xlabel() == "changes, at most"


FITTED = {
    "linear": LogisticRegression(),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": RandomForestClassifier(8, max_depth=3, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=10, max_depth=2, random_state=0),
}
RADII = [0.0, 0.01, 0.03, 0.06, 0.1, 5.0]


@pytest.mark.shorter(1)
@pytest.mark.parametrize("rows", first(1, [range(1), range(1, 4)]), ids=str)
@pytest.mark.parametrize("name", FITTED)
def test_cost_against_radius_is_what_single_questions_answer(name: str, rows: range) -> None:
    X, y = make_classification(200, 4, random_state=0)
    X = pd.DataFrame(X, columns=list("abcd"))
    model = FITTED[name].fit(X, y)
    explainer = bf.Explainer(model, X)
    for row in rows:
        one = X[model.predict(X) == 0].iloc[[row]]
        trade = explainer.trade_off(one, 1, against="radius", radii=RADII, constraints=["fixed d"])
        singles = [
            explainer.explain(one, 1, constraints=[bf.fixed("d"), *([bf.robust(radius)] if radius else [])]).only
            for radius in RADII
        ]
        for radius, single in zip(RADII, singles, strict=True):
            low, high = trade.cost_of(radius)
            assert high == pytest.approx(single.cost, abs=2e-6)
            assert low == pytest.approx(min(single.cost, single.certificate.bound), abs=2e-6)
        for number, answer in zip(trade.numbers, trade, strict=True):
            assert answer.cost == pytest.approx(singles[RADII.index(number)].cost, abs=2e-6)
        assert list(trade.numbers) == sorted(trade.numbers)
        for small, large in pairwise(RADII):
            low, high = trade.cost_of((small + large) / 2)
            assert trade.cost_of(small)[0] <= low <= high <= trade.cost_of(large)[1]
        assert trade.cost_of(5.0) == (np.inf, np.inf) or name == "linear"


@pytest.mark.parametrize(("seconds", "depth"), unless([(0.3, 4), (1.0, 4)], [(0.3, 3), (0.3, 4), (1.0, 4)]))
def test_what_is_known_of_one_radius_is_passed_on(seconds: float, depth: int) -> None:
    X, y = make_classification(300, 6, n_redundant=0, random_state=1)
    X = pd.DataFrame(X, columns=list("abcdef"))
    model = RandomForestClassifier(40, max_depth=depth, random_state=0).fit(X, y)
    row = X[model.predict(X) == 0].iloc[[0]]
    trade = bf.Explainer(model, X).trade_off(row, 1, against="radius", time_limit=seconds)
    ends = np.array([trade.cost_of(radius) for radius in (0.0, 0.01, 0.02, 0.05, 0.1)])
    assert (ends[:-1] <= ends[1:]).all()
    assert (ends[:, 0] <= ends[:, 1]).all()


def test_cost_against_radius_as_table_text_and_picture() -> None:
    X, y = make_classification(100, 4, random_state=0)
    X = pd.DataFrame(X, columns=list("abcd"))
    model = FITTED["tree"].fit(X, y)
    trade = bf.Explainer(model, X).trade_off(
        X[model.predict(X) == 0].iloc[[0]], 1, against="radius", radii=[0.02, 0, 5.0, 0.02]
    )
    table = trade.to_frame()
    assert set(table["radius"]) <= {0, 0.02}
    assert list(table["cost"]) == [answer.cost for answer in trade]
    assert "With a radius of 5 or beyond, there is provably no answer." in repr(trade)
    ax = trade.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("radius in ranges", "least cost")


def test_a_radius_beside_other_models_or_a_forest_of_outliers_is_refused_as_it_is_alone() -> None:
    X, y = make_classification(200, 4, random_state=0)
    X = pd.DataFrame(X, columns=list("abcd"))
    model = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, y)
    explainer, row = bf.Explainer(model, X), X[model.predict(X) == 0].iloc[[0]]
    likely = bf.plausible(IsolationForest(n_estimators=20, random_state=0).fit(X))
    with pytest.raises(bf.errors.UnsupportedProblemError, match="kept for the explained model alone"):
        explainer.explain(row, 1, constraints=[likely, bf.robust(0.02)])
    with pytest.raises(bf.errors.UnsupportedProblemError, match="kept for the explained model alone"):
        explainer.trade_off(row, 1, against="radius", radii=[0, 0.02], constraints=[likely])


def test_rules_about_a_column_that_the_model_drops() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300), "region": rng.choice(["n", "s"], 300)})
    model = make_pipeline(ColumnTransformer([("kept", "passthrough", ["a", "b"])]), LogisticRegression())
    explainer = bf.Explainer(model.fit(X, X.a + X.b > 0), X)
    row, rules = X[~model.predict(X)].iloc[[0]], [bf.allowed("region", ["n", "s"])]
    asked = {"target": bf.probability(True, 0.5), "against": "score", "questions": 3}
    ruled, plain = explainer.trade_off(row, **asked, constraints=rules), explainer.trade_off(row, **asked)
    np.testing.assert_allclose([one.cost for one in ruled.answers], [one.cost for one in plain.answers], rtol=1e-9)
