"""Regressors of a transformed target: every inverse that never turns around, and what is said of the others."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    AdaBoostRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
    VotingRegressor,
)
from sklearn.linear_model import PoissonRegressor, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeRegressor

import butfor as bf
from butfor.importers.read import read
from butfor.model.linked import Linked
from butfor.model.own_function import looked_at
from butfor.model.scores import UNIT_SINGLE
from butfor.testing.importer_contract import ImporterContract, check_importer
from tests.importers.checks import why_unread
from tests.shorter import diagonal

COLUMNS = list("abc")
EVERY = pd.DataFrame(list(product(range(5), repeat=3)), columns=COLUMNS).astype(float)


def ten_to(x: np.ndarray) -> np.ndarray:
    return 10.0**x


def less_one(x: np.ndarray) -> np.ndarray:
    return np.exp(x) - 1


TARGETS: dict[str, dict[str, Any]] = {
    "exp": {"func": np.log, "inverse_func": np.exp},
    "expm1": {"func": np.log1p, "inverse_func": np.expm1},
    "a power of 10": {"func": np.log10, "inverse_func": ten_to},
    "exp - 1": {"func": np.log1p, "inverse_func": less_one},
    "identity": {},
    "falling": {"func": np.negative, "inverse_func": np.negative},
    "standard": {"transformer": StandardScaler()},
    "range": {"transformer": MinMaxScaler()},
    "power": {"transformer": PowerTransformer()},
    "box-cox": {"transformer": PowerTransformer("box-cox")},
    "uniform": {"transformer": QuantileTransformer(n_quantiles=20)},
    "normal": {"transformer": QuantileTransformer(n_quantiles=20, output_distribution="normal")},
    "function": {"transformer": FunctionTransformer(np.log, np.exp)},
    "two": {"transformer": make_pipeline(FunctionTransformer(np.log, np.exp), StandardScaler())},
}
REGRESSORS: dict[str, Any] = {
    "line": Ridge(),
    "tree": DecisionTreeRegressor(max_depth=4, random_state=0),
    "forest": RandomForestRegressor(10, max_depth=3, random_state=0),
    "vote": VotingRegressor([("a", Ridge()), ("b", DecisionTreeRegressor(max_depth=3, random_state=0))]),
    "pipeline": make_pipeline(make_column_transformer((OneHotEncoder(), ["a"]), remainder="passthrough"), Ridge()),
}


def prices(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = EVERY.iloc[rng.integers(len(EVERY), size=150)].reset_index(drop=True)
    y = np.exp(0.3 * X["a"] - 0.4 * X["b"] + 0.1 * X["b"] * X["c"] + 0.2 * rng.normal(size=len(X)) + 3)
    return X, y.to_numpy()


def transformed(target: str, regressor: Any, X: Any, y: np.ndarray) -> Any:
    return TransformedTargetRegressor(regressor, **TARGETS[target]).fit(X, y)


@pytest.mark.shorter(2)
@pytest.mark.parametrize(("target", "regressor"), diagonal(TARGETS, REGRESSORS))
def test_answers_are_the_cheapest_of_all(target, regressor) -> None:
    X, y = prices(0)
    model = transformed(target, REGRESSORS[regressor], X, y)
    assert isinstance(check_importer(model, X).readout, Linked)
    explainer, given = bf.Explainer(model, X), model.predict(EVERY)
    row = X.iloc[[0]]
    moves = np.abs(EVERY - row.to_numpy()) / 4
    if regressor == "pipeline":
        moves["a"] = (moves["a"] > 0) * 1.0  # its levels have no order
    cost = moves.sum(axis=1).to_numpy()
    for aim in np.quantile(given, (0.1, 0.7, 0.95), method="nearest"):
        for wanted, met in ((bf.value(at_least=aim), given >= aim), (bf.value(at_most=aim), given <= aim)):
            answer = explainer.explain(row, target=wanted, cost=bf.L1(scale="range"))
            assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
            assert answer.certificate.bound <= cost[met].min() + 1e-9
            assert answer.cost == pytest.approx(cost[met].min(), abs=1e-6)


class TestTransformed(ImporterContract):
    seeds = range(3)

    def fitted(self, rng):
        X = rng.normal(size=(150, 3)) * [1.0, 10.0, 100.0]
        y = np.exp(X[:, 0] + X[:, 1] / 20 + 5)
        return transformed("expm1", GradientBoostingRegressor(n_estimators=10, random_state=0), X, y), X


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # far away, the estimator predicts NaN
@pytest.mark.parametrize("target", ["exp", "standard", "power", "normal"])
def test_real_numbers_are_read_at_every_cut_and_moved_exactly(target) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.normal(size=(150, 3)), columns=COLUMNS)
        y = np.exp(X["a"] + X["b"] + 5).to_numpy()
        model = transformed(target, Ridge(), X, y)
        check_importer(model, X, rng)
        aim = float(np.quantile(model.predict(X), 0.9))
        row = X.iloc[[int(np.argsort(model.predict(X))[40])]]
        answer = bf.Explainer(model, X).explain(row, target=bf.value(at_least=aim))
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert aim <= model.predict(answer.point)[0] <= aim * (1 + 1e-6)


def test_both_ends_and_changes_relative_to_the_value() -> None:
    X, y = prices(1)
    model = transformed("expm1", REGRESSORS["forest"], X, y)
    explainer, now = bf.Explainer(model, X), model.predict(X)
    rows = X.iloc[np.argsort(now)[:5]]
    for answer, before in zip(explainer.explain(rows, target=bf.relative_change(0.25)), np.sort(now), strict=False):
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert model.predict(answer.point)[0] >= 1.25 * before
    low, high = np.quantile(now, (0.5, 0.7))
    inside = explainer.explain(rows.iloc[[0]], target=bf.value(at_least=low, at_most=high))
    assert low <= model.predict(inside.point)[0] <= high


def test_float32_inside_counts() -> None:
    xgboost = pytest.importorskip("xgboost")
    for objective in ("reg:squarederror", "count:poisson"):
        X, y = prices(0)
        model = transformed("exp", xgboost.XGBRegressor(n_estimators=20, n_jobs=1, objective=objective), X, y)
        assert check_importer(model, X).unit == UNIT_SINGLE
        answer = bf.Explainer(model, X).explain(X.iloc[[0]], target=bf.relative_change(0.2))
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL


def test_inside_and_around_others() -> None:
    X, y = prices(0)
    for model in (
        make_pipeline(StandardScaler(), TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp)),
        GridSearchCV(
            TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=np.exp), {"regressor__alpha": [1, 9]}
        ),
        TransformedTargetRegressor(PoissonRegressor(), transformer=MinMaxScaler()),
        TransformedTargetRegressor(
            TransformedTargetRegressor(Ridge(), transformer=StandardScaler()), func=np.log, inverse_func=np.exp
        ),
    ):
        check_importer(model.fit(X, y), X)


def test_missing_values_reach_the_regressor() -> None:
    X, y = prices(0)
    X.loc[::7, "b"] = np.nan
    model = transformed("exp", HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5, random_state=0), X, y)
    reading = check_importer(model, X)
    assert all(feature.missing for feature in reading.space)


def square(x: np.ndarray) -> np.ndarray:
    return x**2


def ranked(x: np.ndarray) -> np.ndarray:
    return np.argsort(np.argsort(x, axis=0), axis=0) * 1.0


@pytest.mark.parametrize("regressor", ["line", "tree"])
def test_a_square_is_read_where_it_does_not_turn_around(regressor) -> None:
    """Leaves of a tree are roots of prices, which are positive. A line may fall below 0."""
    X, y = prices(0)
    model = TransformedTargetRegressor(REGRESSORS[regressor], func=np.sqrt, inverse_func=square).fit(X, y)
    if regressor == "tree":
        check_importer(model, X)
        return
    assert "turns around" in why_unread(model, X)
    answer = bf.Explainer(model, X).explain(X.iloc[[0]], target=bf.relative_change(0.2), time_limit=1.0)
    assert "turns around" in answer.certificate.solver


def test_what_cannot_be_read_is_named() -> None:
    X, y = prices(0)
    odd = TransformedTargetRegressor(Ridge(), func=np.log, inverse_func=ranked, check_inverse=False).fit(X, y)
    assert "not one of single numbers" in why_unread(odd, X)
    median = transformed("exp", AdaBoostRegressor(n_estimators=3, random_state=0), X, y)
    assert "no function of one sum" in why_unread(median, X)


def test_functions_are_looked_at_between_two_numbers() -> None:
    assert looked_at(np.sin, -1.5, 1.5).rises
    assert not looked_at(np.cos, 0.1, 3.0).rises
    assert looked_at(np.sin, -1.5, 2.0) is None
    assert looked_at(np.log, -np.inf, np.inf).low == 0
    assert looked_at(lambda x: 1 / x, -1.0, 1.0) is None


def test_beyond_where_it_was_looked_at_anything_is_possible() -> None:
    function = looked_at(np.exp, 0.0, 1.0)
    low, high = function.between(np.array([-1.0, 0.5, 2.0]), np.array([-1.0, 0.5, 2.0]), 2.0**-53)
    assert low[0] == -np.inf
    assert high[2] == np.inf
    assert low[1] <= np.exp(0.5) <= high[1] <= np.exp(0.5) * (1 + 1e-14)


def test_the_doubt_covers_every_neighbour() -> None:
    """Between ends a few ulps apart, no value of the function lies outside what is said of it."""
    for call, x in product((np.exp, np.expm1, less_one, ten_to), (-3.0, -1e-9, 1e-9, 0.3, 12.0)):
        function = looked_at(call, -50.0, 50.0)
        near = x + np.spacing(abs(x)) * np.arange(-40, 41)
        low, high = function.between(near[:1], near[-1:], 2.0**-53)
        assert ((low <= call(near)) & (call(near) <= high)).all()


def test_a_reading_of_the_inner_regressor_alone_is_caught(monkeypatch) -> None:
    from butfor.importers import registry

    X, y = prices(0)
    model = transformed("exp", Ridge(), X, y)
    monkeypatch.setitem(
        registry._models,
        TransformedTargetRegressor,
        lambda outer, columns: registry.read_model(outer.regressor_, columns),
    )
    with pytest.raises(bf.errors.FidelityError, match="disagrees"):
        read(model, X)
