"""Columns of float32 and float16: what the estimator rounds them to, and what can be proven then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import butfor as bf
from butfor.importers.read import read
from butfor.model.scores import UNIT_DOUBLE, UNIT_SINGLE
from butfor.solvers.outcome import LEFT_TO_FLOAT32, TOLERANCE, Status, statuses_of
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import why_unread
from tests.importers.samples import LINES_ARE_SINGLE, QUANTILES, SKLEARN
from tests.shorter import diagonal, first

SCALERS = [StandardScaler(), MinMaxScaler(), MaxAbsScaler(), RobustScaler()]


def line(columns: int, dtype: Any = np.float32, *before: Any, offset: float = 0.0) -> tuple[Any, pd.DataFrame]:
    rng = np.random.default_rng(columns)
    X = pd.DataFrame(rng.normal(offset, 10, (300, columns)), columns=[f"c{j}" for j in range(columns)]).astype(dtype)
    score = X.to_numpy(dtype=np.float64) @ rng.normal(size=columns)
    return make_pipeline(*before, LogisticRegression(max_iter=1000)).fit(X, score > np.median(score)), X


COSTS = [bf.L1(), bf.L2(), bf.LInf()]
BEFORE = [(), (StandardScaler(),), (MinMaxScaler(),)]


single = pytest.mark.skipif(not LINES_ARE_SINGLE, reason="this scikit-learn computes lines in float64")


@single
@pytest.mark.parametrize(("before", "cost"), diagonal(BEFORE, COSTS), ids=repr)
@pytest.mark.parametrize("columns", [2, 6, 20])
def test_lines_over_float32_are_proven(columns, before, cost) -> None:
    model, X = line(columns, np.float32, *before)
    rows = X[~model.predict(X)].iloc[:5]
    rng = np.random.default_rng(0)
    for i, answer in enumerate(bf.Explainer(model, X).explain(rows, target=True, cost=cost)):
        known = answer.certificate
        assert known.status is bf.Status.PROVEN_OPTIMAL
        assert answer.cost - known.bound <= (TOLERANCE + LEFT_TO_FLOAT32) * (known.coin + answer.cost)
        assert model.predict(answer.point)[0]
        # no row a little nearer than the bound is accepted by the estimator itself
        x = rows.iloc[[i]].to_numpy(dtype=np.float64)
        move = answer.point.to_numpy(dtype=np.float64) - x
        share = np.sqrt(known.bound / answer.cost) if isinstance(cost, bf.L2) else known.bound / answer.cost
        near = x + share * move * (1 - 1e-6 * rng.random((200, 1)))
        assert not model.predict(pd.DataFrame(near, columns=X.columns).astype(np.float32)).any()


@single
def test_a_quadratic_form_over_float32_is_proven() -> None:
    model, X = line(4)
    rows = X[~model.predict(X)].iloc[:6]
    for answer in bf.Explainer(model, X).explain(rows, target=True, cost=bf.Quadratic(np.linalg.inv(np.cov(X.T)))):
        known = answer.certificate
        assert known.status is bf.Status.PROVEN_OPTIMAL
        assert known.solver.startswith("interior_point:")  # by no program
        assert answer.cost - known.bound <= (TOLERANCE + LEFT_TO_FLOAT32) * (known.coin + answer.cost)
        assert model.predict(answer.point)[0]


@single
@pytest.mark.parametrize("cost", [bf.LInf(), bf.Quadratic(np.eye(4))], ids=["linf", "quadratic"])
def test_a_limit_that_is_no_float32_is_not_passed(cost) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 4)).astype(np.float32), columns=list("abcd"))
    model = LogisticRegression().fit(X, X.a + X.b + X.c - X.d > 0)
    for i in range(6):
        row = X[~model.predict(X)].iloc[[i]]
        limit = float(row.a.iloc[0]) + 0.1  # for some of the rows, its float32 lies above it
        constraints = [bf.between("a", -10, limit)]
        answer = bf.Explainer(model, X).explain(row, target=True, cost=cost, constraints=constraints).only
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert float(answer.point.a.iloc[0]) <= limit


@single
def test_what_rounding_leaves_open_is_told_and_checked(tmp_path) -> None:
    model, X = line(20)
    row = X[~model.predict(X)].iloc[[0]]
    answer = bf.Explainer(model, X).explain(row, target=True)
    known = answer.certificate
    gap = answer.cost - known.bound
    assert gap > TOLERANCE * (1 + answer.cost)
    assert known.evidence.left_open == pytest.approx(gap)
    assert f"no admissible change costs less than {known.bound:.6g}" in known.why
    assert "the rounding of the model decides" in known.why
    again = bf.Explanation.from_json(answer.to_json())
    assert again.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert bf.check(again, model).passed


def test_float64_leaves_nothing_open() -> None:
    model, X = line(20, np.float64)
    row = X[~model.predict(X)].iloc[[0]]
    known = bf.Explainer(model, X).explain(row, target=True).certificate
    assert known.status is bf.Status.PROVEN_OPTIMAL
    assert known.evidence.left_open is None


@single
def test_a_wide_gap_is_not_called_optimal() -> None:
    """Years around 2000 leave three digits of float32, and thirty terms lose more."""
    model, X = line(30, offset=2000.0)
    rows = X[~model.predict(X)].iloc[:5]
    for answer in bf.Explainer(model, X).explain(rows, target=True):
        assert answer.certificate.status is bf.Status.WITHIN_GAP
        assert answer.certificate.bound > 0
    cost, bound = np.ones(2), np.ones(2) - np.array([1e-4, 1e-2])
    assert statuses_of(cost, bound, left_open=cost - bound) == [Status.PROVEN_OPTIMAL, Status.WITHIN_GAP]
    assert statuses_of(cost, bound, left_open=np.full(2, np.nan)) == [Status.WITHIN_GAP, Status.WITHIN_GAP]


def test_whole_numbers_of_float32_leave_nothing_open() -> None:
    """The next whole number may be far away: a gap is not for the rounding of sums alone."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 9, (200, 4)), columns=list("abcd")).astype(np.float32)
    y = X @ [1.0, 2.0, -1.0, 0.5] > 10
    model = LogisticRegression().fit(X, y)
    grid = pd.DataFrame(np.stack(np.meshgrid(*[range(9)] * 4), -1).reshape(-1, 4), columns=X.columns).astype(np.float32)
    said = model.predict(grid)
    rows = X[~model.predict(X)].iloc[:5]
    for i, answer in enumerate(bf.Explainer(model, X).explain(rows, target=True, cost=bf.L1(scale="range"))):
        cheapest = (np.abs(grid - rows.iloc[[i]].to_numpy()) / 8).sum(axis=1)[said].min()
        assert answer.cost == pytest.approx(cheapest, abs=1e-6)
        assert answer.certificate.bound <= cheapest + 1e-6
        assert answer.certificate.evidence.left_open is None


@pytest.mark.parametrize("distribution", ["uniform", "normal"])
@pytest.mark.parametrize("seed", first(2, range(5)))
def test_quantiles_of_float32_are_read(seed, distribution) -> None:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(0, 3, (100, 2)), columns=["a", "b"]).astype(np.float32)
    step = QuantileTransformer(n_quantiles=30, output_distribution=distribution)
    tree = DecisionTreeRegressor(max_depth=3, random_state=0)
    check_importer(make_pipeline(step, tree).fit(X, X.a + 2 * X.b), X, rng)


@pytest.mark.parametrize("scaler", SCALERS, ids=lambda scaler: type(scaler).__name__)
def test_lines_over_scaled_float16_are_read(scaler) -> None:
    """The scaler works in float16 on the data, and in float32 on a row with more digits. The doubt covers both."""
    model, X = line(3, np.float16, scaler)
    check_importer(model, X)
    rows = X[~model.predict(X)].iloc[:5]
    exact = bf.Explainer(model, X.astype(np.float64)).explain(rows.astype(np.float64), target=True)
    for answer, ideal in zip(bf.Explainer(model, X).explain(rows, target=True), exact, strict=True):
        assert answer.certificate.status in (bf.Status.PROVEN_OPTIMAL, bf.Status.WITHIN_GAP)
        assert model.predict(answer.point)[0]
        assert 0 < answer.certificate.bound <= ideal.cost + 1e-6


def test_float16_beside_others_is_exact() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(100, 2)), columns=["a", "b"]).astype({"a": np.float16})
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, X.a + X.b > 0)
    reading = check_importer(model, X)
    assert reading.unit == UNIT_DOUBLE
    assert bf.Explainer(model, X).explain(X.iloc[[0]], target="other").certificate.status is bf.Status.PROVEN_OPTIMAL


@pytest.mark.parametrize(
    "step",
    [StandardScaler(), QuantileTransformer(n_quantiles=20), KBinsDiscretizer(4, **QUANTILES)],
    ids=lambda step: type(step).__name__,
)
def test_trees_after_float16_steps_are_named(step) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(100, 2)), columns=["a", "b"]).astype(np.float16)
    model = make_pipeline(step, DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, X.a + X.b > 0)
    assert "float32" in why_unread(model, X)
    check_importer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, X.a > 0), X)


def test_a_regressor_of_float32_keeps_its_unit() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(100, 2)), columns=["a", "b"]).astype(np.float32)
    assert read(Ridge().fit(X, X.a), X).unit == UNIT_SINGLE


@pytest.mark.shorter(5)
@pytest.mark.parametrize("beside", [None, "Float32", "float32", "boolean", "polars"])
@pytest.mark.parametrize("step", [*first(2, SCALERS), PowerTransformer()], ids=lambda step: type(step).__name__)
def test_float32_of_pandas_own_and_of_polars_is_scaled_as_float64(step, beside) -> None:
    """scikit-learn makes float64 of it before it computes, whether a value is missing or not."""
    rng = np.random.default_rng(1)
    x, other = rng.normal(size=(2, 120)).round(2)
    X = pd.DataFrame({"x": pd.array(np.where(rng.random(120) < 0.1, np.nan, x), dtype="Float32")})
    if beside == "polars":
        X = pl.from_pandas(X)
    elif beside is not None:
        X["other"] = pd.Series(other > 0 if beside == "boolean" else other).astype(beside)
    y = (x > 0.1) ^ (x > 0.8) ^ (x < -1)
    model = make_pipeline(SimpleImputer(), step, DecisionTreeClassifier(max_depth=4, random_state=0)).fit(X, y)
    for row, answer in enumerate(bf.Explainer(model, X).explain(X[:30])):
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        for change in answer.changes:
            if isinstance(change.before, float) and not np.isnan(change.before):
                nearer = np.nextafter(np.float32(change.after), np.float32(change.before))
                point = pd.DataFrame({name: answer.point[name].to_list() for name in answer.point.columns})
                point[change.name] = [nearer]
                again = (
                    pl.from_pandas(point, schema_overrides=X.schema) if beside == "polars" else point.astype(X.dtypes)
                )
                assert model.predict(again)[0] != answer.after, row


def test_what_is_passed_through_keeps_the_type_of_its_table() -> None:
    """A table of polars is float32 behind "passthrough". Of pandas' own types, that depends on how many there are."""
    rng = np.random.default_rng(1)
    x, other = rng.normal(size=(2, 120)).round(2)
    X = pd.DataFrame({"x": pd.array(x, dtype="Float32"), "other": pd.array(other, dtype="Float32")})
    y = (x > 0.1) ^ (other > 0.8)
    steps = ColumnTransformer([("all", "passthrough", ["x", "other"])]), StandardScaler()
    tree = make_pipeline(*steps, DecisionTreeClassifier(max_depth=4, random_state=0))
    assert "passed through" in why_unread(tree.fit(X, y), X)
    if SKLEARN >= (1, 8):
        held = pl.from_pandas(X)
        answers = bf.Explainer(tree.fit(held, y), held).explain(held[:30])
        assert {one.certificate.status for one in answers} == {bf.Status.PROVEN_OPTIMAL}
