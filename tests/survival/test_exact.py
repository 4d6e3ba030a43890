"""Answers are the cheapest there are: judged by other means, with the estimator's own survival functions."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sksurv", reason="scikit-survival is not installed: pip install butfor[survival]")

from scipy.optimize import minimize
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sksurv.ensemble import RandomSurvivalForest
from sksurv.tree import SurvivalTree

import butfor as bf
from butfor.audit.recheck import check
from butfor.importers.read import read
from butfor.model.questions import cuts
from tests.shorter import diagonal
from tests.survival.samples import CURVED, HAZARDS, LEAVES, own_mean, patients, weibull

S, Status = bf.survival, bf.Status


def continuous(X: np.ndarray) -> dict[str, bf.Continuous]:
    return {f"x{j}": bf.Continuous() for j in range(X.shape[1])}


@pytest.mark.parametrize("name", ["cox", "coxnet", "componentwise"])
@pytest.mark.parametrize("cost", [bf.L1(), bf.L2()], ids=repr)
def test_cox_against_a_general_optimiser(name, cost) -> None:
    X, y = weibull()
    model = HAZARDS[name]().fit(X, y)
    explainer = bf.Explainer(model, data=X, space=continuous(X))
    low, width = X.min(axis=0), np.ptp(X, axis=0)
    for x in X[:6]:
        answer = explainer.explain(x[None], target=S.mean_gain(25.0), cost=cost)
        assert answer.certificate.solver.startswith("linear_exact")
        if not answer.found:
            assert answer.certificate.status is Status.PROVEN_INFEASIBLE
            continue
        start = own_mean(model, x[None])[0]
        assert own_mean(model, answer.point)[0] - start == pytest.approx(25.0, abs=1e-9)
        power = 2 if isinstance(cost, bf.L2) else 1
        found = minimize(  # z = x + width (up - down), so that |z - x| is smooth
            lambda v, power=power: np.sum((v[:3] + v[3:]) ** power),
            np.full(6, 0.3),
            bounds=[
                *zip(np.zeros(3), (low + width - x) / width, strict=True),
                *zip(np.zeros(3), (x - low) / width, strict=True),
            ],
            constraints={
                "type": "ineq",
                "fun": lambda v, x=x, start=start: (
                    own_mean(model, (x + width * (v[:3] - v[3:]))[None])[0] - start - 25.0
                ),
            },
            method="SLSQP",
        )
        assert answer.cost <= found.fun + 1e-6
        assert answer.cost == pytest.approx(found.fun, rel=1e-3)


@pytest.mark.parametrize("name", [*LEAVES, "boosting"])
@pytest.mark.parametrize(
    "target",
    [S.mean_gain(30.0), S.mean_loss(30.0), S.survival_at(250.0, 0.6), S.quantile_at_least(0.4, 220.0)],
    ids=repr,
)
def test_trees_against_every_cell(name, target) -> None:
    """Three columns: the nearest point of every product of cells, asked of the estimator."""
    X, y = weibull()
    model = CURVED[name]().fit(X, y)
    explainer = bf.Explainer(model, data=X, space=continuous(X))
    reading = read(model, X, continuous(X))
    width = np.ptp(X, axis=0)
    edges = [cuts(reading.model, j) for j in range(3)]
    for x in X[:2]:
        answer = explainer.explain(x[None], target=target)
        assert answer.certificate.status in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)
        nearest = [nearest_values(e, value) for e, value in zip(edges, x, strict=True)]
        inside = [v[(v >= X[:, j].min()) & (v <= X[:, j].max())] for j, v in enumerate(nearest)]
        cells = np.array(list(itertools.product(*inside)))
        cost = (np.abs(cells - x) / width).sum(axis=1)
        cheaper = cells[cost < (answer.cost if answer.found else np.inf) - 1e-9]
        met = np.concatenate(
            [meets(model, target, x, part) for part in np.array_split(cheaper, 1 + len(cheaper) // 4000)]
        )
        assert not met.any()
        if answer.found:
            assert meets(model, target, x, answer.point).all()


def nearest_values(edges: np.ndarray, value: float) -> np.ndarray:
    """The value of each cell that is nearest to `value`."""
    lows, highs = np.append(-np.inf, np.nextafter(edges, np.inf)), np.append(edges, np.inf)
    return np.clip(value, lows, highs)


def meets(model, target, x, points) -> np.ndarray:
    """Whether points meet the target, by the library's own functions."""
    if not len(points):
        return np.zeros(0, dtype=bool)
    words = repr(target)
    if words.startswith("mean"):
        gain = own_mean_fast(model, points) - own_mean(model, x[None])[0]
        return gain >= 30.0 if target.up else gain <= -30.0
    S_ = model.predict_survival_function(points, return_array=True)
    if words.startswith("chance"):
        return S_[:, np.searchsorted(model.unique_times_, 250.0, side="right") - 1] >= 0.6
    fallen = S_ <= 0.6
    return ~fallen.any(axis=1) | (model.unique_times_[fallen.argmax(axis=1)] >= 220.0)


def own_mean_fast(model, points) -> np.ndarray:
    curves = model.predict_survival_function(points, return_array=True)
    times = model.unique_times_
    return times[0] + curves[:, :-1] @ np.diff(times)


@pytest.mark.parametrize("name", ["cox", "forest"])
def test_whole_numbers_and_categories_against_all_combinations(name) -> None:
    X, y = patients()
    X["crp"] = X["crp"].round().astype(int)
    codes = make_column_transformer((OneHotEncoder(drop="first"), ["stage", "drug"]), remainder="passthrough")
    model = make_pipeline(codes, CURVED[name]()).fit(X, y)
    explainer = bf.Explainer(model, data=X)
    ages = bf.within("age", 0.1)
    for row in range(3):
        x = X.iloc[[row]]
        answer = explainer.explain(x, target=S.mean_gain(80.0), constraints=[ages])
        age = int(x["age"].iloc[0])
        values = {
            "age": [a for a in range(X.age.min(), X.age.max() + 1) if abs(a - age) <= 0.1 * age],
            "crp": range(X.crp.min(), X.crp.max() + 1),
            "stage": ["I", "II", "III"],
            "drug": ["no", "yes"],
        }
        every = pd.DataFrame(itertools.product(*values.values()), columns=list(values))
        gain = mean_of(model, every) - mean_of(model, x)[0]
        cost = (every.stage != x.stage.iloc[0]) * 1.0 + (every.drug != x.drug.iloc[0])
        for name_ in ("age", "crp"):
            cost += (every[name_] - x[name_].iloc[0]).abs() / (X[name_].max() - X[name_].min())
        best = cost[gain >= 80.0].min() if (gain >= 80.0).any() else np.inf
        assert answer.cost == pytest.approx(best)
        assert answer.certificate.status in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)


def mean_of(model, table) -> np.ndarray:
    curves = model.predict_survival_function(table, return_array=True)
    times = model[-1].unique_times_
    return times[0] + curves[:, :-1] @ np.diff(times)


@pytest.mark.parametrize("name", ["cox", "boosting", "forest", "tree"])
def test_many_rows_at_once(name) -> None:
    """Rows whose goals differ are answered as they are alone; what a few cannot reach is proven, not raised."""
    X, y = weibull()
    model = CURVED[name]().fit(X, y)
    explainer = bf.Explainer(model, data=X, space=continuous(X))
    for target in (S.mean_gain(60.0), S.median_gain(60.0)):
        answers = explainer.explain(X[:5], target=target)
        assert explainer.explain(X[:5], target=target, n_jobs=2) == answers
        for row, answer in enumerate(answers):
            assert answer.certificate.status in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)
            if answer.found:
                assert answer.cost == pytest.approx(explainer.explain(X[[row]], target=target).cost, abs=1e-12)
                assert answer.after >= answer.before + 60.0


COSTS = [bf.L1(), bf.L2(), bf.LInf(), bf.L0(), bf.L1() + bf.L2()]


@pytest.mark.shorter(2)
@pytest.mark.parametrize(("cost", "rules"), diagonal(COSTS, [[], [bf.margin(0.02)], [bf.fixed("x0")]]), ids=repr)
def test_goals_of_many_rows_are_those_of_each(cost, rules) -> None:
    """Rows that reach their goal, that cannot, and whose goal nothing reaches, with thresholds of their own."""
    X, y = weibull()
    model = HAZARDS["cox"]().fit(X, y)
    explainer = bf.Explainer(model, data=X, space=continuous(X))
    rows = X[np.argsort(model.predict(X))[:: len(X) // 8]]
    found = set()
    for target in (S.mean_gain(120.0), S.median_gain(80.0), S.risk_change(-0.9), S.hazard_ratio(at_least=1.5)):
        answers = explainer.explain(rows, target=target, cost=cost, constraints=rules)
        alone = [explainer.explain(row[None], target=target, cost=cost, constraints=rules) for row in rows]
        for one, answer in zip(alone, answers, strict=True):
            assert answer.certificate.status is one.certificate.status
            assert answer.cost == pytest.approx(one.cost, abs=1e-9)
            found.add(answer.certificate.status)
    assert found == {Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE}


def test_a_thousand_goals_are_met_by_a_hair() -> None:
    X, y = weibull()
    model = HAZARDS["cox"]().fit(X, y)
    explainer = bf.Explainer(model, data=X, space=continuous(X))
    rows = X.min(axis=0) + np.random.default_rng(0).random((1000, 3)) * np.ptp(X, axis=0)
    answers = explainer.explain(rows, target=S.mean_gain(20.0), cost=bf.L2())
    reached = own_mean_fast(model, answers.points) - own_mean_fast(model, rows[answers.found])
    assert (reached >= 20.0 - 1e-10).all()
    assert reached == pytest.approx(np.full(len(reached), 20.0), abs=1e-8)
    assert set(answers.statuses) == {Status.PROVEN_OPTIMAL}


def test_a_checked_answer() -> None:
    X, y = patients()
    codes = make_column_transformer((OneHotEncoder(drop="first"), ["stage", "drug"]), remainder="passthrough")
    model = make_pipeline(codes, HAZARDS["cox"]()).fit(X, y)
    answer = bf.Explainer(model, data=X).explain(
        X.iloc[[4]], target=S.mean_gain(90.0, unit="days"), constraints=[bf.fixed("age"), bf.margin(0.001)]
    )
    assert (
        answer.question.target
        == f"mean time to event within {model[-1].unique_times_[-1]:g} days up by at least 90 days"
    )
    again = bf.Explanation.from_json(answer.to_json())
    assert again == answer
    checked = check(again, model)
    assert all(one.passed for one in checked.checks), checked
    bent = answer.to_json().replace(f'"after": {answer.after!r}', f'"after": {answer.after + 1!r}', 1)
    with pytest.raises(bf.ButforError, match="changed since it was written"):
        bf.Explanation.from_json(bent)
    bent = re.sub(r',\s*"hash": "[0-9a-f]*"', "", bent)
    assert not check(bf.Explanation.from_json(bent), model).passed


@pytest.mark.shorter(1)
@pytest.mark.parametrize(
    ("target", "fixed"),
    [
        (S.mean_gain(90.0, unit="days"), ["age"]),
        (S.survival_at(365.0, at_least=0.8), ["age"]),
        (S.mean_gain(90.0), list(patients()[0].columns)),
    ],
    ids=repr,
)
def test_a_batch_of_answers(target, fixed) -> None:
    X, y = patients()
    codes = make_column_transformer((OneHotEncoder(drop="first"), ["stage", "drug"]), remainder="passthrough")
    model = make_pipeline(codes, HAZARDS["cox"]()).fit(X, y)
    answers = bf.Explainer(model, data=X).explain(X.iloc[:6], target=target, constraints=[bf.fixed(*fixed)])
    again = bf.Explanations.from_jsonl(str(answers.to_jsonl()))
    assert again == answers
    assert repr(again) == repr(answers)
    assert again.to_html() == answers.to_html()
    assert again.to_json() == answers.to_json()
    assert [S.sentence(one) for one in again] == [S.sentence(one) for one in answers]
    assert check(again[:2], model).passed


def test_plausible_too() -> None:
    from sklearn.ensemble import IsolationForest

    X, y = weibull()
    model = LEAVES["forest"]().fit(X, y)
    seen = IsolationForest(n_estimators=10, random_state=0).fit(X)
    worst = X[[np.argmax(model.predict(X))]]
    answer = bf.Explainer(model, data=X).explain(worst, target=S.mean_gain(20.0), constraints=[bf.plausible(seen)])
    assert answer.certificate.status is Status.PROVEN_OPTIMAL
    assert own_mean(model, answer.point)[0] >= own_mean(model, worst)[0] + 20.0
    assert seen.predict(answer.point)[0] == 1


def test_the_swarm_takes_survival_too() -> None:
    X, y = weibull()
    model = LEAVES["forest"]().fit(X, y)
    explainer = bf.Explainer(model, data=X, space=continuous(X))
    exact = explainer.explain(X[[0]], target=S.mean_gain(30.0), cost=bf.L2())
    found = explainer.explain(X[[0]], target=S.mean_gain(30.0), cost=bf.L2(), solver="swarm", compare="exact")
    assert exact.cost - 1e-9 <= found.cost <= 3 * exact.cost
    assert found.certificate.bound == pytest.approx(exact.cost)


@pytest.mark.shorter(1)
@pytest.mark.parametrize("trees", [1, 2, 3])
def test_risks_that_a_leaf_has_exactly(trees) -> None:
    """The estimator adds a leaf's hazards up in another order for one row than for many: one ulp decides a sharp wish."""
    X, y = weibull(whole=True)
    for seed in range(3):
        settings = {"min_samples_leaf": 25, "max_features": 1, "random_state": seed}
        tree = SurvivalTree(**settings) if trees == 1 else RandomSurvivalForest(trees, **settings)
        model = tree.fit(X, y)
        assert bf.check(bf.Explainer(model, data=X).explain(X[:1], target=S.mean_gain(1e-3)), model).passed
        explainer = bf.Explainer(model, data=X, space={f"x{j}": bf.Integer() for j in range(3)})
        every = np.array(list(itertools.product(range(10), repeat=3)), dtype=float)
        cost = np.abs(every - X[0]).sum(axis=1) / 9.0
        now, known = model.predict(X[:1])[0], model.predict(every)
        for risk in np.unique(known.round(6))[np.unique(known.round(6)) < now - 1e-6]:
            near = every[known.round(6) <= risk][np.argsort(cost[known.round(6) <= risk])]
            wish = float(model.predict(near[:1])[0] - now)
            reached = next(point for point in near if model.predict(point[None])[0] - now <= wish)
            answer = explainer.explain(X[:1], target=S.risk_change(wish))
            assert answer.certificate.bound <= np.abs(reached - X[0]).sum() / 9.0 + 1e-9
