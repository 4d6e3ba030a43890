"""lifelines' fitters are read as they predict, and explained exactly."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("lifelines", reason="lifelines is not installed: pip install butfor[lifelines]")

from lifelines import CoxPHFitter, LogLogisticAFTFitter, LogNormalAFTFitter, WeibullAFTFitter
from scipy.integrate import quad

import butfor as bf
from butfor.importers import registry
from butfor.importers.builtin import load_builtin
from butfor.importers.libraries import lifelines_models
from butfor.importers.read import read
from butfor.model.black_box import BlackBox
from butfor.model.survival.curves import Chance, MeanTime, QuantileTime
from butfor.model.survival.laws import Accelerated, LogLogistic, LogNormal, Weibull, restricted
from butfor.testing.importer_contract import check_importer
from tests.survival.agreements import agreements

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

S, Status = bf.survival, bf.Status
FITTERS = {
    "cox": lambda: CoxPHFitter(penalizer=0.01),
    "weibull": WeibullAFTFitter,
    "log-normal": LogNormalAFTFitter,
    "log-logistic": LogLogisticAFTFitter,
}
LAW = {"weibull": Weibull, "log-normal": LogNormal, "log-logistic": LogLogistic}
LAWS = [Weibull(0.7), Weibull(2.5), LogNormal(0.8), LogLogistic(1.5), LogLogistic(1.0), LogLogistic(0.9)]


def trial(rows: int = 150, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"age": rng.integers(30, 80, rows), "crp": rng.gamma(2.0, 4.0, rows), "drug": rng.integers(0, 2, rows)}
    )
    scale = np.exp(5.5 - X["age"] / 60 - X["crp"] / 30 + 0.4 * X["drug"])
    return X.assign(days=scale * rng.weibull(2.0, rows) + 0.1, dead=rng.random(rows) < 0.8)


def fitted(name: str, **settings) -> tuple[object, pd.DataFrame]:
    data = trial()
    return FITTERS[name]().fit(data, "days", "dead", **settings), data[["age", "crp", "drug"]]


@pytest.mark.parametrize("name", list(FITTERS))
def test_is_read_as_it_predicts(name) -> None:
    model, X = fitted(name)
    check_importer(model, X)


@pytest.mark.parametrize("name", list(FITTERS))
@pytest.mark.parametrize("formula", ["crp + age", "drug + crp + age"])
def test_a_formula_in_another_order(name, formula) -> None:
    model, X = fitted(name, formula=formula)
    check_importer(model, X)


@pytest.mark.parametrize("name", list(FITTERS))
def test_scores_and_functions_agree(name) -> None:
    model, X = fitted(name)
    targets = [
        S.mean_gain(20.0),
        S.mean_loss(20.0, horizon=150.0),
        S.survival_at(90.0, 0.6),
        S.quantile_at_least(0.3, 80.0),
    ]
    if name == "cox":
        targets += [S.median_gain(15.0), S.risk_change(-0.3)]
    for target in targets:
        assert 0 < agreements(model, target, X, X.iloc[50:], rows=3) < 3 * 100


@pytest.mark.parametrize("name", list(FITTERS))
def test_answers_are_proven(name) -> None:
    model, X = fitted(name)
    explainer = bf.Explainer(model, data=X, space={"drug": bf.Integer()})
    answer = explainer.explain(X.iloc[[3]], target=S.mean_gain(20.0, unit="days"), constraints=[bf.fixed("age")])
    assert answer.certificate.status is Status.PROVEN_OPTIMAL
    assert answer.after >= answer.before + 20.0
    if name != "cox":
        assert answer.after == pytest.approx(float(model.predict_expectation(answer.point).iloc[0]))


@pytest.mark.parametrize("name", ["weibull", "log-normal", "log-logistic"])
def test_a_wrong_shape_is_caught(name, monkeypatch) -> None:
    model, X = fitted(name)

    def wrong(estimator, columns):
        form, _ = lifelines_models.read_accelerated(estimator, columns)
        shape = np.exp(model.params_[model._ancillary_parameter_name]["Intercept"])
        return form, Accelerated(law=LAW[name](1.001 * shape))

    load_builtin()
    monkeypatch.setitem(registry._models, lifelines_models._Accelerated, wrong)
    with pytest.raises(bf.errors.FidelityError):
        read(model, X)


@pytest.mark.parametrize("law", LAWS, ids=range(len(LAWS)))
def test_laws(law) -> None:
    for t in (0.01, 0.5, 2.0, 40.0):
        area = quad(lambda s: law.survival(np.array(s)), 0, t, limit=200)[0]
        assert law.integral(np.array(t)) == pytest.approx(area, rel=1e-7)
    assert law.survival(np.array(law.quantile(0.3))) == pytest.approx(0.7)
    if np.isfinite(law.mean):
        assert restricted(law, np.ones(1), 1e12)[0] == pytest.approx(law.mean, rel=1e-3)


def test_what_is_asked_is_what_the_fitter_says() -> None:
    model, X = fitted("weibull")
    curves = read(model, X).source.curves(X[:5])
    assert MeanTime().of(curves) == pytest.approx(model.predict_expectation(X[:5]).to_numpy())
    assert QuantileTime(0.9).of(curves) == pytest.approx(model.predict_percentile(X[:5], p=0.1).to_numpy())
    assert Chance(50.0).of(curves.take(np.array([4, 1]))) == pytest.approx(
        model.predict_survival_function(X.iloc[[4, 1]], times=[50.0]).to_numpy()[0]
    )
    within = [quad(lambda t, i=i: Chance(t).of(curves)[i], 0, 60.0)[0] for i in range(2)]
    assert MeanTime(horizon=60.0).of(curves)[:2] == pytest.approx(within, rel=1e-6)


def test_an_infinite_mean() -> None:
    data = trial()
    data["days"] = np.exp(8 * (np.log(data["days"]) - 4) + 4)
    model = LogLogisticAFTFitter().fit(data, "days", "dead")
    X = data[["age", "crp", "drug"]]
    explainer = bf.Explainer(model, data=X, space={"drug": bf.Integer()})
    with pytest.raises(bf.errors.InputError, match="infinite"):
        explainer.explain(X.iloc[[0]], target=S.mean_gain(10.0))
    assert explainer.explain(X.iloc[[0]], target=S.mean_gain(10.0, horizon=300.0)).found
    assert explainer.explain(X.iloc[[0]], target=S.median_gain(1.0)).found
    with pytest.raises(bf.errors.InputError, match="already extend to all times"):
        explainer.explain(X.iloc[[0]], target=S.mean_gain(10.0, tail=5.0))


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"strata": ["drug"]}, "strata"),
        ({"formula": "age + crp:drug"}, "formula"),
        ({"spline": True}, "baseline_estimation_method"),
    ],
)
def test_what_no_threshold_says_is_refused_with_the_reason(settings, why) -> None:
    data = trial()
    spline = settings.pop("spline", False)
    fitter = CoxPHFitter(baseline_estimation_method="spline", n_baseline_knots=3) if spline else CoxPHFitter()
    X = data[["age", "crp", "drug"]]
    fitter.fit(data, "days", "dead", **settings)
    model = read(fitter, X).model
    assert isinstance(model, BlackBox)
    assert why in model.why


def test_a_shape_that_depends_on_columns_is_refused() -> None:
    data = trial()
    fitter = WeibullAFTFitter().fit(data, "days", "dead", ancillary=data[["age"]])
    model = read(fitter, data[["age", "crp", "drug"]]).model
    assert isinstance(model, BlackBox)
    assert "shape" in model.why


def test_strata_are_searched_all_the_same() -> None:
    data = trial()
    fitter = CoxPHFitter(strata=["drug"]).fit(data, "days", "dead")
    X = data[["age", "crp", "drug"]]
    swarm = bf.Swarm(particles=20, iterations=10)
    explainer = bf.Explainer(fitter, data=X)
    answer = explainer.explain(X.iloc[[3]], target=S.mean_gain(10.0), constraints=[bf.fixed("drug")], solver=swarm)
    assert answer.certificate.status is Status.VALID
    assert answer.after >= answer.before + 10.0
