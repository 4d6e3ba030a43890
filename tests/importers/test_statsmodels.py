"""Results of statsmodels: the importers' contract, formulas of both engines, and what a probability is asked for."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import butfor as bf
from butfor.errors import FidelityError, InputError
from butfor.importers.libraries import statsmodels_results
from butfor.model.black_box import BlackBox
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.checks import why_unread
from tests.shorter import first

sm = pytest.importorskip("statsmodels.api")
formulas = pytest.importorskip("statsmodels.formula")
smf = pytest.importorskip("statsmodels.formula.api")
OrderedModel = pytest.importorskip("statsmodels.miscmodels.ordinal_model").OrderedModel

pytestmark = pytest.mark.filterwarnings("ignore:the model does not read:UserWarning")

LINKS = sm.families.links
FAMILIES = {
    "logit": (sm.families.Binomial, LINKS.Logit, "chosen"),
    "probit": (sm.families.Binomial, LINKS.Probit, "chosen"),
    "cloglog": (sm.families.Binomial, LINKS.CLogLog, "chosen"),
    "poisson": (sm.families.Poisson, LINKS.Log, "count"),
    "gaussian": (sm.families.Gaussian, LINKS.Identity, "value"),
    "gamma": (sm.families.Gamma, LINKS.Log, "size"),
}


def people(rng: np.random.Generator, rows: int = 250) -> pd.DataFrame:
    table = pd.DataFrame(
        {
            "x": rng.normal(size=rows),
            "z": rng.uniform(1, 5, rows),
            "town": rng.choice(list("abc"), rows),
            "member": rng.random(rows) > 0.5,
            "visits": rng.integers(0, 4, rows),
        }
    )
    score = table.x + 0.8 * table.z - 3 + 1.2 * (table.town == "a") + 0.7 * rng.normal(size=rows)
    return table.assign(
        value=score,
        chosen=(score > 0).astype(int),
        count=rng.poisson(np.exp(0.3 * score.clip(-3, 3))),
        size=np.exp(0.3 * score) * rng.gamma(5, 0.2, rows),
        kind=np.where(score < -0.5, "few", np.where(score < 0.7, "some", "many")),
    )


class Contract(ImporterContract):
    """All but the refusal of what is not fitted: results are what a fit returns, and cannot be cloned."""

    seeds = range(2)
    test_refuses_what_is_not_fitted = None  # type: ignore[assignment]


def asked(results):
    """The results, after they have been asked for their coefficients: they remember the names of these from then on."""
    results.params  # noqa: B018
    return results


class TestArrays(Contract):
    def fitted(self, rng):
        table = people(rng)
        rows = np.column_stack([np.ones(len(table)), table.x, table.z])
        return asked(sm.OLS(table.value.to_numpy(), rows).fit()), rows


class TestWeighted(Contract):
    def fitted(self, rng):
        table = people(rng)
        rows = sm.add_constant(table[["x", "z", "visits"]])
        return asked(sm.WLS(table.value, rows, weights=rng.uniform(0.5, 2, len(rows))).fit()), rows


class TestGeneralLeastSquares(Contract):
    def fitted(self, rng):
        table = people(rng, 60)
        rows = sm.add_constant(table[["x", "z"]])
        return asked(sm.GLS(table.value, rows, sigma=rng.uniform(0.5, 2, len(rows))).fit()), rows


class TestLogit(Contract):
    def fitted(self, rng):
        table = people(rng)
        rows = sm.add_constant(table[["x", "z"]])
        return asked(sm.Logit(table.chosen, rows).fit(disp=0)), rows


class TestProbit(Contract):
    def fitted(self, rng):
        table = people(rng)
        return asked(smf.probit("chosen ~ x + C(town)", data=table).fit(disp=0)), table[["x", "town"]]


class TestMultinomial(Contract):
    def fitted(self, rng):
        table = people(rng)
        rows = sm.add_constant(table[["x", "z"]])
        return asked(sm.MNLogit(table.kind, rows).fit(disp=0)), rows


@pytest.mark.parametrize("name", FAMILIES)
def test_generalized_linear_models(name):
    family, link, answer = FAMILIES[name]
    table = people(np.random.default_rng(1))
    rows = sm.add_constant(table[["x", "z"]])
    check_importer(sm.GLM(table[answer], rows, family=family(link())).fit(), rows)


@pytest.mark.parametrize("engine", ["patsy", "formulaic"])
@pytest.mark.parametrize(
    "right",
    first(
        3,
        [
            "x + np.log(z) + C(town)",
            "0 + C(town) + np.log1p(z * 3) + I(x ** 2)",
            "town + member + C(visits) + I(x / 10)",
            "x + I(z - 1) + C(town, {treatment}('b'))",
            "C(town, {sum}) + Q('x')",
        ],
    ),
)
def test_formulas(right, engine, monkeypatch):
    pytest.importorskip(engine)
    if engine == "formulaic" and (not hasattr(formulas, "options") or "Q(" in right):
        pytest.skip("statsmodels before 0.15 knows patsy only, and formulaic has no Q")
    if hasattr(formulas, "options"):
        monkeypatch.setattr(formulas.options, "formula_engine", engine)
    words = {"treatment": "Treatment", "sum": "Sum"}
    if engine == "formulaic":
        words = {"treatment": "contr.treatment", "sum": "contr.sum"}
    table = people(np.random.default_rng(2))
    right = right.format(**words)
    check_importer(smf.ols(f"value ~ {right}", data=table).fit(), table)
    check_importer(smf.logit(f"chosen ~ {right}", data=table).fit(disp=0), table.drop(columns=["value", "chosen"]))


@pytest.mark.parametrize(
    ("right", "why"),
    [
        ("x * z", "It multiplies columns"),
        ("x + np.sin(z)", "np.sin(z). It is not known"),
        ("x + I(3 - z)", "It must rise"),
        ("x + np.log(z) + C(town):x", "It multiplies columns"),
        ("x + center(z)", "center(z). It is not known"),
    ],
)
def test_other_terms_are_refused_in_words(right, why):
    table = people(np.random.default_rng(3))
    assert why in why_unread(smf.ols(f"value ~ {right}", data=table).fit(), table)


def test_interactions_are_searched():
    table = people(np.random.default_rng(3))
    results = smf.ols("value ~ x * z", data=table).fit()
    explainer = bf.Explainer(results, table)
    wanted = bf.value(at_least=float(results.predict(table).iloc[0]) + 0.5)
    answer = explainer.explain(table.iloc[[0]], target=wanted, solver=bf.Swarm(particles=20, iterations=10))
    assert answer.certificate.status is bf.Status.VALID


@pytest.mark.filterwarnings("ignore:The Sqrt link function")
def test_a_link_that_is_not_read_is_named():
    table = people(np.random.default_rng(4))
    rows = sm.add_constant(table[["x"]])
    results = sm.GLM(table["count"], rows, family=sm.families.Poisson(LINKS.Sqrt())).fit()
    assert "the link Sqrt" in why_unread(results, rows)


def ordered(table: pd.DataFrame, right: list[str] | str, distr: Any = "logit") -> Any:
    """An ordered model on columns, or by a formula."""
    kind = pd.Series(pd.Categorical(table.kind, ["few", "some", "many"], ordered=True), table.index)
    if isinstance(right, list):
        return asked(OrderedModel(kind, table[right], distr=distr).fit(disp=0, method="bfgs"))
    named = f"kind ~ {right}"
    return asked(OrderedModel.from_formula(named, table.assign(kind=kind), distr=distr).fit(disp=0, method="bfgs"))


class TestOrderedLogit(Contract):
    def fitted(self, rng):
        table = people(rng)
        return ordered(table, ["x", "z"]), table[["x", "z"]]


class TestOrderedProbit(Contract):
    def fitted(self, rng):
        table = people(rng)
        return ordered(table, ["x", "z"], "probit"), table[["x", "z"]]


def test_ordered_classes_by_a_formula():
    table = people(np.random.default_rng(4))
    check_importer(ordered(table, "x + np.log(z) + C(town)"), table[["x", "z", "town"]])


@pytest.mark.long
def test_ordered_classes_may_be_numbers():
    table = people(np.random.default_rng(5))
    results = asked(OrderedModel(table.visits.to_numpy(), table[["x", "z"]].to_numpy()).fit(disp=0, method="bfgs"))
    assert check_importer(results, table[["x", "z"]].to_numpy()).readout.classes == (0, 1, 2, 3)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("seed", first(2, range(12)))
def test_ordered_classes_agree_with_enumeration(seed):
    rng = np.random.default_rng(seed)
    table = people(rng)
    table["x"] = rng.integers(0, 9, len(table))
    score = 0.6 * table.x + 0.8 * (table.town == "a") + 0.5 * table.visits - 3 + rng.logistic(size=len(table))
    table["kind"] = np.where(score < -1, "few", np.where(score < 1.5, "some", "many"))
    results = ordered(table, "x + visits + C(town)", ["logit", "probit"][seed % 2])
    every = pd.DataFrame(list(product(range(9), range(4), "abc")), columns=["x", "visits", "town"])
    given = np.asarray(results.predict(every))
    explainer = bf.Explainer(results, table[["x", "visits", "town"]])
    few, some, many = given.T
    none, low, high, most = (float(np.quantile(some, q)) for q in (0.1, 0.5, 0.8, 0.9))
    targets = [
        ("some", given.argmax(axis=1) == 1),
        (bf.probability("some", at_least=most), some >= most),
        (bf.probability("some", at_most=none), some <= none),
        (bf.probability("some", between=(low, high)), (some >= low) & (some <= high)),
        (bf.probability("few", at_most=0.05), few <= 0.05),
        (bf.probability("many", at_least=0.7), many >= 0.7),
    ]
    for target, meets in targets:
        for at in np.flatnonzero(~meets)[[0, -1]].tolist():
            row = every.iloc[[at]]
            answer = explainer.explain(row, target=target).only
            listed = explainer.explain(row, target=target, constraints=[bf.candidates(every[meets])]).only
            assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
            assert answer.cost == pytest.approx(listed.cost)
            assert meets[(every == answer.point.iloc[0]).all(axis=1).to_numpy()].all()


def test_any_other_class_of_ordered_ones_is_proven():
    table = people(np.random.default_rng(5))
    results = ordered(table, ["x", "z"])
    rows = table[["x", "z"]].iloc[[int(np.asarray(results.predict(table[["x", "z"]]))[:, 1].argmax())]]
    answer = bf.Explainer(results, table[["x", "z"]]).explain(rows).only
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert answer.after in ("few", "many")


def test_a_probability_that_a_middle_class_never_has_is_proven_impossible():
    table = people(np.random.default_rng(5))
    results = ordered(table, ["x", "z"])
    answer = bf.Explainer(results, table[["x", "z"]]).explain(
        table[["x", "z"]].iloc[[0]], target=bf.probability("some", at_least=0.99)
    )
    assert answer.only.certificate.status is bf.Status.PROVEN_INFEASIBLE


def test_ordered_classes_of_another_distribution_are_searched():
    from scipy.stats import gumbel_r

    table = people(np.random.default_rng(5))
    assert "the distribution gumbel_r" in why_unread(ordered(table, ["x", "z"], gumbel_r), table[["x", "z"]])


def test_a_probability_is_a_value_and_proven():
    table = people(np.random.default_rng(6))
    rows = sm.add_constant(table[["x", "z"]])
    results = sm.Logit(table.chosen, rows).fit(disp=0)
    row = rows.iloc[[int(np.argmin(results.predict(rows)))]]
    answer = bf.Explainer(results, rows).explain(row, target=bf.value(at_least=0.8))
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert float(results.predict(answer.point).iloc[0]) >= 0.8
    assert float(answer.point["const"].iloc[0]) == 1.0  # the constant is no column that moves
    with pytest.raises(InputError, match="predicts numbers between 0 and 1"):
        bf.Explainer(results, rows).explain(row, target=1)


@pytest.mark.parametrize("seed", first(2, range(12)))
def test_formulas_agree_with_enumeration(seed):
    rng = np.random.default_rng(seed)
    table = people(rng)
    table["z"] = rng.integers(1, 9, len(table))
    results = smf.probit("chosen ~ np.log(z) + I(visits ** 2) + C(town)", data=table).fit(disp=0)
    rows = table[["z", "visits", "town"]]
    every = pd.DataFrame(list(product(range(1, 9), range(4), "abc")), columns=rows.columns)
    wanted = float(np.quantile(results.predict(every), rng.uniform(0.5, 0.95)))
    explainer = bf.Explainer(results, rows)
    answer = explainer.explain(rows.iloc[[0]], target=bf.value(at_least=wanted))
    listed = explainer.explain(rows.iloc[[0]], target=bf.value(at_least=wanted), constraints=[bf.candidates(every)])
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert answer.cost == pytest.approx(listed.cost)


def test_several_choices_keep_their_labels():
    table = people(np.random.default_rng(7))
    rows = sm.add_constant(table[["x", "z"]])
    for kinds in (table.kind, table.visits):
        results = sm.MNLogit(kinds, rows).fit(disp=0)
        answer = bf.Explainer(results, rows).explain(rows.iloc[[0]])
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.after in kinds.tolist()


def test_data_without_the_constant_is_told_so():
    table = people(np.random.default_rng(8))
    results = sm.OLS(table.value, sm.add_constant(table[["x"]])).fit()
    with pytest.raises(InputError, match="lacks the columns \\['const'\\]"):
        bf.Explainer(results, table[["x"]])


def test_a_wrong_importer_is_caught(monkeypatch):
    monkeypatch.setitem(statsmodels_results.RESPONSES, "Logit", statsmodels_results.Normal())
    table = people(np.random.default_rng(9))
    rows = sm.add_constant(table[["x", "z"]])
    with pytest.raises(FidelityError):
        check_importer(sm.Logit(table.chosen, rows).fit(disp=0), rows)


def test_what_is_not_known_stays_a_black_box():
    table = people(np.random.default_rng(10))
    rows = sm.add_constant(table[["x"]])
    results = sm.NegativeBinomial(table["count"], rows).fit(disp=0)
    reading = bf.Explainer(results, rows)
    assert isinstance(reading.reading.model, BlackBox)
