"""What cannot be asked is refused early: what was given, what is needed, what to do."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytest.importorskip("sksurv", reason="scikit-survival is not installed: pip install butfor[survival]")

from sklearn.linear_model import LinearRegression, LogisticRegression
from sksurv.linear_model import CoxPHSurvivalAnalysis

import butfor as bf
from tests.survival.samples import CURVED, HAZARDS, LEAVES, RISKS, TIMES, own_mean, weibull

S = bf.survival
X, y = weibull()


def refused(model, target, error=bf.errors.InputError) -> str:
    with pytest.raises(error) as found:
        bf.Explainer(model, data=X).explain(X[[0]], target=target)
    return str(found.value)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: S.mean_gain(-3), "r=-3"),
        (lambda: S.mean_gain(np.nan), "r=nan"),
        (lambda: S.mean_gain("10"), "r='10'"),
        (lambda: S.mean_gain(1, tail=-1), "tail=-1"),
        (lambda: S.mean_gain(1, horizon=0), "horizon=0"),
        (lambda: S.mean_gain(1, tail=5, horizon=10), "ends the time"),
        (lambda: S.survival_at(100), "at_least= or at_most="),
        (lambda: S.survival_at(100, 0.5, at_most=0.6), "at_least= or at_most="),
        (lambda: S.survival_at(100, 1.5), "1.5"),
        (lambda: S.survival_at(-1, 0.5), "t0=-1"),
        (lambda: S.survival_gain(100, 1.5), "A chance rises by 1 at most"),
        (lambda: S.survival_gain(100, 0), "by=0"),
        (lambda: S.survival_gain(100), "'by'"),
        (lambda: S.mean_gain(-1, prototype={"x0": 1.0}), "a difference of -1"),
        (lambda: S.mean_gain(0), "r=0"),
        (lambda: S.quantile_at_least(1.0, 10), "share=1"),
        (lambda: S.risk_change(0), "by=0"),
        (lambda: S.hazard_ratio(), "at_most= or at_least="),
        (lambda: S.hazard_ratio(-1.0), "-1"),
        (lambda: S.hazard_ratio(1.0), "It already is"),
        (lambda: S.hazard_ratio(0.5, prototype=X[:2]), "2 rows"),
    ],
)
def test_targets(make, said) -> None:
    with pytest.raises(bf.ButforError, match=re.escape(said)):
        make()


@pytest.mark.parametrize("name", ["cox", "forest", "boosting"])
def test_the_admissible_range_of_a_change_is_named(name) -> None:
    model = CURVED[name]().fit(X, y)
    now, times = own_mean(model, X[:1])[0], model.unique_times_
    assert f"(0, {times[-1] - now:.6g}]" in refused(model, S.mean_gain(times[-1] - now + 0.1))
    assert f"(0, {now - times[0]:.6g}]" in refused(model, S.mean_loss(now - times[0] + 0.1))
    assert "tail=" in refused(model, S.mean_gain(times[-1]))
    most = times[-1] + 70.0 - own_mean(model, X[:1], tail=70.0)[0]
    assert f"(0, {most:.6g}]" in refused(model, S.mean_gain(most + 0.1, tail=70.0))
    most = 250.0 - own_mean(model, X[:1], horizon=250.0)[0]
    assert f"(0, {most:.6g}]" in refused(model, S.mean_gain(most + 0.1, horizon=250.0))
    longer = bf.Explainer(model, data=X).explain(X[[0]], target=S.mean_gain(times[-1] - now - 1e-6))
    assert longer.certificate.status is bf.Status.PROVEN_INFEASIBLE


def test_a_change_that_some_rows_admit_is_no_error() -> None:
    model = HAZARDS["cox"]().fit(X, y)
    now = own_mean(model, X)
    order = np.argsort(now)
    r = float(model.unique_times_[-1] - np.median(now))
    answers = bf.Explainer(model, data=X).explain(X[[order[0], order[-1]]], target=S.mean_gain(r))
    assert answers[1].certificate.status is bf.Status.PROVEN_INFEASIBLE


@pytest.mark.parametrize("name", ["cox", "forest"])
def test_times_beyond_the_last_one_known(name) -> None:
    model = CURVED[name]().fit(X, y)
    last = model.unique_times_[-1]
    for target in (S.survival_at(last + 1, 0.5), S.quantile_at_least(0.5, last + 1)):
        assert f"up to {last:g}" in refused(model, target)
    assert "tail=1" in refused(model, S.mean_gain(1, horizon=last + 1))
    assert refused(model, S.median_gain(last))


def test_an_infinite_median() -> None:
    late = y.copy()
    late["dead"] = (y["days"] < np.quantile(y["days"], 0.2)) & y["dead"]
    model = HAZARDS["cox"]().fit(X, late)
    healthy = X[[np.argmin(model.predict(X))]]
    with pytest.raises(bf.errors.InputError, match="infinite"):
        bf.Explainer(model, data=X).explain(healthy, target=S.median_gain(1))
    late_enough = bf.Explainer(model, data=X).explain(healthy, target=S.quantile_at_least(0.5, 100.0))
    assert late_enough.cost == 0
    assert late_enough.before == np.inf


@pytest.mark.parametrize("name", list(RISKS))
def test_models_without_survival_functions(name) -> None:
    model = RISKS[name]().fit(X, y)
    said = refused(model, S.mean_gain(10), bf.errors.UnsupportedProblemError)
    assert {"machine": "ranks", "coxnet without a baseline": "fit_baseline_model=True"}.get(
        name, "low_memory=False"
    ) in said
    assert "mean time to event" in said


def test_models_of_times() -> None:
    model = TIMES["ridge"]().fit(X, y)
    assert "no survival function" in refused(model, S.survival_at(100, 0.5))
    assert "no survival function" in refused(model, S.median_gain(10))
    assert "horizon" in refused(model, S.mean_gain(10, horizon=100))
    assert "gives no risk score" in refused(model, S.risk_change(-1))
    assert "bf.survival.mean_gain" in refused(model, bf.value(at_least=3))


def test_models_of_something_else() -> None:
    assert "predicts no survival" in refused(LinearRegression().fit(X, y["days"]), S.mean_gain(10))
    assert "predicts no survival" in refused(LogisticRegression().fit(X, y["dead"]), S.mean_gain(10))
    assert "gives no risk score" in refused(LinearRegression().fit(X, y["days"]), S.risk_change(1))


@pytest.mark.parametrize("name", ["forest", "machine"])
def test_hazard_ratios_need_proportional_hazards(name) -> None:
    model = (LEAVES | RISKS)[name]().fit(X, y)
    assert "proportional hazards" in refused(model, S.hazard_ratio(0.5), bf.errors.UnsupportedProblemError)


@pytest.mark.parametrize("target", [S.mean_gain(1.0), S.survival_at(1.0, 0.5), S.quantile_at_least(0.5, 1.0)], ids=repr)
def test_times_that_are_not_positive(target) -> None:
    at_once = y.copy()
    at_once["days"] = 0.0
    assert "positive" in refused(HAZARDS["cox"]().fit(X, at_once), target)


@pytest.mark.parametrize("table", [y, y["days"]])
def test_outcomes_are_no_rows(table) -> None:
    model = HAZARDS["cox"]().fit(X, y)
    with pytest.raises(bf.errors.InputError, match="Rows must be given as a table"):
        bf.Explainer(model, data=table)
    with pytest.raises(bf.errors.InputError, match="Rows must be given as a table"):
        bf.Explainer(model, data=X).explain(table[:1], target=S.mean_gain(1.0))


@pytest.mark.parametrize(("prototype", "said"), [({"x0": 1.0}, "lacks"), ({"nonsense": 1.0}, "nonsense")])
def test_prototypes(prototype, said) -> None:
    assert said in refused(HAZARDS["cox"]().fit(X, y), S.hazard_ratio(0.5, prototype=prototype))


def test_a_baseline_that_has_rounded_to_zero_is_noticed() -> None:
    shifted = X - 40.0  # far from 0, where scikit-survival's baseline stands
    model = CoxPHSurvivalAnalysis().fit(shifted, y)
    if (model.baseline_survival_.y > 0).all():
        shifted = X + 40.0
        model = CoxPHSurvivalAnalysis().fit(shifted, y)
    assert (model.baseline_survival_.y == 0).any()
    with pytest.warns(RuntimeWarning, match="StandardScaler"):
        answer = bf.Explainer(model, data=shifted).explain(shifted[[0]], target=S.survival_at(100.0, 0.5))
    assert answer.certificate.status in (bf.Status.PROVEN_OPTIMAL, bf.Status.PROVEN_INFEASIBLE)


@pytest.mark.parametrize("target", ["other", 1])
def test_a_class_is_no_question_to_a_model_of_survival(target) -> None:
    said = refused(CURVED["cox"]().fit(X, y), target)
    assert "given for a model of survival. It has no classes. Use bf.survival" in said


def test_what_is_around_a_row_that_misses_the_target_names_its_quantity() -> None:
    model = HAZARDS["cox"]().fit(X, y)
    now = float(own_mean(model, X[[0]])[0])
    for ask in (bf.Explainer(model, data=X).region, bf.Explainer(model, data=X).robustness):
        with pytest.raises(bf.errors.InputError, match=re.escape(f"the model predicts {str(now)[:10]}")):
            ask(X[[0]], S.mean_at_least(now + 1))
