"""The scores that a target asks for are those of the rows that, by the estimator's own functions, meet it."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("sksurv", reason="scikit-survival is not installed: pip install butfor[survival]")

import butfor as bf
from butfor.estimator.prediction import Prediction
from butfor.importers.read import read
from butfor.model.survival.curves import MeanTime, QuantileTime
from butfor.problem.spec import from_spec, to_spec
from butfor.problem.targets.survival import SurvivalChange, SurvivalReach
from butfor.records.schema import sealed
from tests.survival.agreements import agreements
from tests.survival.samples import CURVED, HAZARDS, RISKS, TIMES, weibull

S = bf.survival

MIDDLE = np.full((1, 3), 0.5)
TARGETS = [
    S.mean_gain(30.0),
    S.mean_gain(60.0, tail=200.0),
    S.mean_loss(25.0, horizon=300.0),
    S.mean_at_least(260.0),
    SurvivalReach(MeanTime(), 220.0, False),
    S.median_gain(20.0),
    SurvivalChange(QuantileTime(0.3), -20.0),
    S.quantile_at_least(0.4, 200.0),
    S.quantile_at_least(0.4, 1.0),
    SurvivalReach(QuantileTime(0.4), 200.0, False),
    S.survival_at(250.0, at_least=0.55),
    S.survival_at(250.0, at_most=0.4),
    S.survival_at(0.5, at_least=0.5),
    S.survival_at(0.5, at_most=0.5),
    S.survival_gain(250.0, by=0.1),
    S.mean_gain(10.0, prototype=MIDDLE),
    S.mean_loss(0.0, horizon=300.0, prototype=MIDDLE),
    S.survival_gain(250.0, by=0.0, prototype=MIDDLE),
    S.risk_change(-0.4),
    S.risk_change(0.4),
]


@pytest.mark.shorter(2)
@pytest.mark.parametrize("name", list(CURVED))
def test_scores_and_functions_agree(name) -> None:
    X, y = weibull()
    model = CURVED[name]().fit(X, y)
    new = np.random.default_rng(1).random((150, 3)) * 1.2 - 0.1
    counts = [agreements(model, target, X, new) for target in TARGETS]
    assert sum(0 < count < 20 * 150 for count in counts) >= 6, counts


@pytest.mark.parametrize("name", list(HAZARDS))
@pytest.mark.parametrize("target", [S.hazard_ratio(0.8), S.hazard_ratio(at_least=1.2)], ids=repr)
def test_hazard_ratios_are_those_of_hazards(name, target) -> None:
    X, y = weibull()
    model = HAZARDS[name]().fit(X, y)
    new = np.random.default_rng(1).random((60, 3))
    assert agreements(model, target, X, new)
    hazards = model.predict_cumulative_hazard_function(np.vstack([X[:1], new]), return_array=True)[:, -1]
    reading = read(model, X)
    met = target.met(Prediction(reading.source, X[np.zeros(60, dtype=int)]), Prediction(reading.source, new))
    ratio = hazards[1:] / hazards[0]
    assert (met == (ratio >= target.ratio if target.up else ratio <= target.ratio))[
        abs(ratio - target.ratio) > 1e-9
    ].all()


@pytest.mark.parametrize("name", list(TIMES))
def test_a_predicted_time_stands_for_the_mean(name) -> None:
    X, y = weibull()
    model = TIMES[name]().fit(X, y)
    new = np.random.default_rng(1).random((150, 3))
    low, high = np.quantile(model.predict(X), (0.2, 0.8))
    for target in (S.mean_gain((high - low) / 3), S.mean_loss((high - low) / 3), S.mean_at_least(high)):
        assert 0 < agreements(model, target, X, new) < 20 * 150


@pytest.mark.parametrize("name", list(RISKS))
def test_a_risk_may_change(name) -> None:
    X, y = weibull()
    model = RISKS[name]().fit(X, y)
    size = float(np.std(model.predict(X)))
    new = np.random.default_rng(1).random((150, 3))
    assert 0 < agreements(model, S.risk_change(-size / 2), X, new) < 20 * 150


def test_a_ratio_needs_no_baseline() -> None:
    X, y = weibull()
    model = RISKS["coxnet without a baseline"]().fit(X, y)
    answer = bf.Explainer(model, data=X).explain(X[[0]], target=S.hazard_ratio(0.8))
    assert model.predict(answer.point)[0] == pytest.approx(model.predict(X[:1])[0] + np.log(0.8))


@pytest.mark.parametrize("kind", [dict, np.array])
def test_a_ratio_to_a_prototype(kind) -> None:
    X, y = weibull()
    model = HAZARDS["cox"]().fit(X, y)
    row = X[[7]] if kind is np.array else {f"x{j}": value for j, value in enumerate(X[7])}
    target = S.hazard_ratio(1.0, prototype=row)
    explainer = bf.Explainer(model, data=X)
    riskier = int(np.argmax(model.predict(X)))
    answer = explainer.explain(X[[riskier]], target=target)
    assert model.predict(answer.point)[0] == pytest.approx(model.predict(X[[7]])[0])
    assert answer.before == pytest.approx(np.exp(model.predict(X[[riskier]]) - model.predict(X[[7]]))[0])
    assert answer.after == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["boosting", "boosting with dropout", "forest", "extra", "tree"])
def test_a_mean_that_some_rows_just_have_is_met_by_them(name) -> None:
    """Sums over trees take the same values in many places, so a goal that a model has said is met exactly elsewhere."""
    X, y = weibull()
    explainer = bf.Explainer(CURVED[name]().fit(X, y), data=X)
    means = np.array(explainer.explain(X, S.mean_at_least(1.0)).outputs_before)
    order = np.argsort(means)
    goal = float(means[order[len(order) // 2]])
    rows = X[order[:12]]
    goals = goal, goal - 1e-6, float(np.nextafter(goal, np.inf)), goal + 1e-6
    just, less, missed, more = (explainer.explain(rows, S.mean_at_least(wanted)) for wanted in goals)
    assert {*just.statuses, *missed.statuses} == {bf.Status.PROVEN_OPTIMAL}
    assert np.allclose(missed.costs, more.costs, rtol=1e-6), "they miss the next number, and nothing lies between"
    enough = np.array([after >= goal for after in less.outputs_after])
    assert enough.any()
    assert np.allclose(just.costs[enough], less.costs[enough], rtol=1e-6)


@pytest.mark.parametrize("kind", [dict, np.array])
@pytest.mark.parametrize("name", ["cox", "forest"])
def test_a_mean_beside_that_of_a_prototype(name, kind) -> None:
    """m(z) - m(x_p) >= r, with the means of the model's own survival functions."""
    X, y = weibull()
    model = CURVED[name]().fit(X, y)
    means = bf.Explainer(model, data=X).explain(X, S.mean_at_least(1.0)).outputs_before
    order = np.argsort(means)
    worst, typical = int(order[0]), int(order[len(order) // 2])
    row = X[[typical]] if kind is np.array else {f"x{j}": value for j, value in enumerate(X[typical])}
    explainer = bf.Explainer(model, data=X)
    answer = explainer.explain(X[[worst]], S.mean_gain(5.0, prototype=row)).only
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert answer.after >= means[typical] + 5.0 - 1e-9
    assert answer.score.threshold == pytest.approx(means[typical] + 5.0)
    assert "at least 5 above that of the prototype" in answer.question.target
    again = bf.Explanation.from_json(answer.to_json())
    assert str(again) == str(answer)
    assert bf.check(again, model).passed
    explicit = explainer.explain(X[[worst]], S.mean_at_least(float(means[typical]) + 5.0)).only
    assert answer.cost == pytest.approx(explicit.cost, rel=1e-6)


def test_what_the_prototype_has_is_computed_again_by_a_check() -> None:
    X, y = weibull()
    model = HAZARDS["cox"]().fit(X, y)
    riskier = int(np.argmax(model.predict(X)))
    answer = bf.Explainer(model, data=X).explain(X[[riskier]], S.mean_gain(5.0, prototype=X[[7]])).only
    record = json.loads(answer.to_json())
    target = record["question"]["spec"]["target"]
    target["base"] -= 50.0
    record["scored"]["threshold"] -= 50.0
    assert not bf.check(bf.Explanation.from_json(json.dumps(sealed(record))), model).passed


@pytest.mark.parametrize("target", [*TARGETS, S.hazard_ratio(0.5, prototype={"a": 1, "b": "x"})], ids=repr)
def test_targets_are_plain_data(target) -> None:
    again = from_spec(to_spec(target))
    assert again == target
    assert repr(again) == repr(target)


ALWAYS = [
    S.survival_at(5.0, at_least=0.0),
    S.survival_at(5.0, at_most=1.0),
    S.survival_at(1e-3, at_least=0.9),
    S.quantile_at_least(0.25, 1e-3),
]


@pytest.mark.parametrize("target", ALWAYS, ids=repr)
@pytest.mark.parametrize("name", ["cox", "boosting", "forest"])
def test_what_every_row_meets_is_met_by_all_neighbours(name, target) -> None:
    X, y = weibull()
    explainer = bf.Explainer(CURVED[name]().fit(X, y), data=X)
    answers = explainer.explain(X[:2], target, constraints=[bf.robust(0.05)])
    assert answers.costs.tolist() == [0.0, 0.0]
    assert {one.certificate.status for one in answers} == {bf.Status.PROVEN_OPTIMAL}
    if name == "cox":
        assert explainer.robustness(X[:1], target).radius == 1.0


@pytest.mark.parametrize(
    ("given", "moved"),
    [
        (S.mean_gain(10.0, prototype=MIDDLE), "at least 12.5 above that of the prototype"),
        (S.mean_loss(0.0, horizon=300.0, prototype=MIDDLE), "at most 2.5 below that of the prototype"),
        (S.hazard_ratio(at_least=1.2), "hazard at least 3.7 times what it is now"),
    ],
)
def test_a_threshold_is_moved_for_safety(given, moved) -> None:
    X, y = weibull()
    explainer = bf.Explainer(CURVED["cox"]().fit(X, y), data=X)
    assert explainer.explain(X[:1], given, safety=2.5).question.target.endswith(moved)
    with pytest.raises(bf.errors.InputError, match="Nothing is left of it"):
        explainer.explain(X[:1], S.hazard_ratio(0.8), safety=2.5)
