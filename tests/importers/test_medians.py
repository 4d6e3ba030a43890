"""AdaBoost of regressors: the weighted median of trees, read and proven."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import AdaBoostRegressor
from sklearn.tree import DecisionTreeRegressor

import butfor as bf
from butfor.model.median import Median
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.samples import amounts, numbers
from tests.shorter import first


class TestAdaBoostRegressor(ImporterContract):
    seeds = range(3)

    def fitted(self, rng):
        X = numbers(rng)
        return AdaBoostRegressor(n_estimators=int(rng.integers(1, 12)), random_state=0).fit(X, amounts(rng, X)), X


@pytest.mark.shorter(2)
@pytest.mark.parametrize("starts", first(1, [range(1), range(1, 3)]), ids=str)
@pytest.mark.parametrize("trees", [1, 2, 7, 12])
def test_answers_are_the_cheapest_of_all(trees, starts) -> None:
    """Every row is tried with the estimator, for values that some row has, and beside them."""
    rng = np.random.default_rng(trees)
    X = pd.DataFrame(rng.integers(0, 4, size=(60, 3)), columns=list("abc"))
    model = AdaBoostRegressor(DecisionTreeRegressor(max_depth=2), n_estimators=trees, random_state=0)
    model.fit(X, X["a"] + X["b"] * X["c"] + rng.normal(size=60))
    assert isinstance(check_importer(model, X, rng).readout, Median)
    every = pd.DataFrame(np.stack(np.meshgrid(*[np.arange(4)] * 3), axis=-1).reshape(-1, 3), columns=list("abc"))
    explainer, given = bf.Explainer(model, X), model.predict(every)
    for start, aim in product(starts, np.quantile(given, (0.1, 0.5, 0.8, 1.0), method="nearest")):
        row = X.iloc[[start]]
        cost = (np.abs(every - row.to_numpy()) / 3).sum(axis=1).to_numpy()
        now = float(model.predict(row)[0])
        for target, met in (
            (bf.value(at_least=aim), given >= aim),
            (bf.value(at_least=np.nextafter(aim, np.inf)), given > aim),
            (bf.value(at_most=aim), given <= aim),
            (bf.value(at_least=aim - 0.5, at_most=aim + 0.25), (given >= aim - 0.5) & (given <= aim + 0.25)),
            (bf.relative_change(0.1), given >= now + 0.1 * abs(now)),
            (bf.relative_change(-0.2), given <= now - 0.2 * abs(now)),
        ):
            answer = explainer.explain(row, target=target, cost=bf.L1(scale="range"))
            assert answer.cost == pytest.approx(cost[met].min(initial=np.inf), abs=1e-6), (start, target)
            assert answer.certificate.status in (bf.Status.PROVEN_OPTIMAL, bf.Status.PROVEN_INFEASIBLE)


def test_many_rows_with_goals_of_their_own() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc"))
    model = AdaBoostRegressor(n_estimators=10, random_state=0).fit(X, X["a"] - X["b"] + 0.1 * rng.normal(size=80))
    rows = X.iloc[:10]
    answers = bf.Explainer(model, X).explain(rows, target=bf.relative_change(0.1))
    now = model.predict(rows)
    for answer, before in zip(answers, now, strict=True):
        if answer.found:
            assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
            assert model.predict(answer.point)[0] >= before + 0.1 * abs(before)


def test_the_only_tree_may_have_no_weight() -> None:
    """The first tree was so bad that boosting ended. It predicts all the same."""
    X = pd.DataFrame({"a": [2, 1, 2], "b": [125, 125, 126]})
    model = AdaBoostRegressor(n_estimators=1, random_state=0).fit(X, [7.1e-10, 1.01e-09, 2e-10])
    assert not model.estimator_weights_.any()
    said = model.predict(X)
    asked = {"target": bf.value(at_least=float(said[0])), "constraints": [bf.between("b", 126, 126)]}
    answer = bf.Explainer(model, X).explain(X.iloc[[0]], **asked).only
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    check_importer(model, X, np.random.default_rng(0))
