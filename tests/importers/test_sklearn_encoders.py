"""Numbers that reach an encoder of scikit-learn: codes, among them some that it does not know, and bins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler

import butfor as bf
from butfor.testing.importer_contract import check_importer
from tests.importers.checks import why_unread
from tests.importers.samples import QUANTILES, SKLEARN


def target_encoder() -> Any:
    from sklearn.preprocessing import TargetEncoder

    return TargetEncoder()


NEEDS_TARGETS = pytest.mark.skipif(SKLEARN < (1, 4), reason="this scikit-learn's encoder knows two classes only")
LENIENT: dict[str, Callable[[], Any]] = {
    "one hot": lambda: OneHotEncoder(handle_unknown="ignore"),
    "rare levels": lambda: OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=60, sparse_output=False),
    "ordinal": lambda: OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
}
BEFORE: dict[str, Callable[[], Any]] = {
    "bins": lambda: KBinsDiscretizer(4, encode="ordinal", **QUANTILES),
    "even bins": lambda: KBinsDiscretizer(5, encode="ordinal", strategy="uniform"),
    "bins of what is scaled": lambda: make_pipeline(
        StandardScaler(), KBinsDiscretizer(4, encode="ordinal", **QUANTILES)
    ),
    "bins of what is filled": lambda: make_pipeline(
        SimpleImputer(), KBinsDiscretizer(4, encode="ordinal", **QUANTILES)
    ),
}
LAST: dict[str, Callable[[], Any]] = {
    "forest": lambda: RandomForestClassifier(4, max_depth=4, random_state=0),
    "linear": lambda: LogisticRegression(max_iter=300),
}


def coded(kind: Any = np.int64) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"code": rng.choice([1, 2, 3, 5], 300).astype(kind), "age": rng.normal(40, 9, 300)})
    return X, (X["age"] + 9 * (X["code"] == 3) + rng.normal(0, 2, 300) > 43).to_numpy()


def piped(step: Any, last: Any, column: str = "code") -> Any:
    return make_pipeline(make_column_transformer((step, [column]), remainder="passthrough"), last)


def check_answers(model: Any, X: pd.DataFrame, y: np.ndarray, space: dict[str, Any] | None = None) -> None:
    """The estimator takes the answers, and no row of a grid costs less."""
    explainer = bf.Explainer(model, data=X, space=space)
    codes, ages = sorted(set(X["code"])), np.linspace(X["age"].min(), X["age"].max(), 300)
    grid = pd.DataFrame({"code": np.repeat(codes, len(ages)), "age": np.tile(ages, len(codes))}).astype(X.dtypes)
    taken = model.predict(grid)
    rows = X[~model.predict(X)].iloc[[0, -1]]
    for answer, (_, row) in zip(explainer.explain(rows, target=True), rows.iterrows(), strict=True):
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert model.predict(answer.point)[0]
        cost = (grid["code"] != row["code"]) + (grid["age"] - row["age"]).abs() / (ages[-1] - ages[0])
        assert answer.cost <= cost[taken].min() + 1e-6


@pytest.mark.parametrize("kind", [np.int64, np.float64, np.float32])
@pytest.mark.parametrize("name", LENIENT)
def test_a_code_that_the_encoder_does_not_know_is_a_level(name, kind) -> None:
    X, y = coded(kind)
    for last in LAST.values():
        model = piped(LENIENT[name](), last()).fit(X, y)
        more = X.assign(code=X["code"].where(X.index != 7, 7).where(X.index != 9, 11))
        reading = check_importer(model, more)
        assert set(reading.space["code"].levels) == {1, 2, 3, 5, 7, 11}
        check_answers(model, more, y)


@NEEDS_TARGETS
def test_a_code_that_a_target_encoder_does_not_know_is_a_level() -> None:
    X, y = coded()
    model = piped(target_encoder(), LAST["forest"]()).fit(X, y)
    assert 7 in check_importer(model, X.assign(code=X["code"].where(X.index != 7, 7))).space["code"].levels


def test_a_code_that_native_categories_do_not_know_is_a_level() -> None:
    X, y = coded()
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features=[0]).fit(X, y)
    more = X.assign(code=X["code"].where(X.index != 7, 7))
    assert 7 in check_importer(model, more).space["code"].levels


@pytest.mark.parametrize("make", [OneHotEncoder, OrdinalEncoder])
def test_a_strict_encoder_refuses_a_code_that_it_does_not_know(make) -> None:
    X, y = coded()
    model = piped(make(), LAST["forest"]()).fit(X, y)
    with pytest.raises(bf.errors.InputError, match=r"encoder does not know 7, which column 'code' holds"):
        bf.Explainer(model, data=X.assign(code=X["code"].where(X.index != 7, 7)))


@pytest.mark.parametrize("last", LAST)
@pytest.mark.parametrize("first", BEFORE)
@pytest.mark.parametrize("encoder", [OneHotEncoder, OrdinalEncoder, pytest.param(target_encoder, marks=NEEDS_TARGETS)])
def test_bins_of_a_number_are_encoded(encoder, first, last) -> None:
    X, y = coded()
    lost = X.assign(age=X["age"].where(X.index % 9 > 0)) if "filled" in first else X
    model = piped(make_pipeline(BEFORE[first](), encoder()), LAST[last](), "age").fit(lost, y)
    reading = check_importer(model, lost)
    assert reading.space["age"].levels is None
    assert reading.space["age"].missing == ("filled" in first)
    check_answers(model, X, y, {"code": bf.Categorical([1, 2, 3, 5])})


def test_a_bin_that_held_no_row_is_one_that_a_strict_encoder_refuses() -> None:
    X, y = coded()
    apart = X.assign(age=np.where(X["age"] > 40, X["age"] + 200, X["age"]))
    strict, lenient = (
        piped(make_pipeline(BEFORE["even bins"](), OneHotEncoder(handle_unknown=how)), LAST["forest"](), "age")
        for how in ("error", "ignore")
    )
    assert "refuses rows in the bin 1, which held none" in why_unread(strict.fit(apart, y), apart)
    check_importer(lenient.fit(apart, y), apart)


def test_numbers_that_another_step_has_changed_are_no_levels() -> None:
    X, y = coded()
    model = piped(make_pipeline(StandardScaler(), OneHotEncoder()), LAST["forest"]()).fit(X, y)
    assert "OneHotEncoder gets numbers that another step has changed" in why_unread(model, X)
    filled = piped(make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()), LAST["forest"]())
    table = X.assign(code=X["code"].where(X.index % 9 > 0))
    assert check_importer(filled.fit(table, y), table).space["code"].levels == (1, 2, 3, 5)


@pytest.mark.parametrize("unit", ["ns", "us"])
@pytest.mark.parametrize("kind", ["datetime64", "timedelta64"])
@pytest.mark.parametrize("name", ["one hot", "ordinal", "strict"])
def test_categories_may_be_times(name, kind, unit) -> None:
    X, _ = coded()
    times = (X["code"].to_numpy() * 10**15).astype(f"{kind}[ns]").astype(f"{kind}[{unit}]")
    X["code"] = pd.Categorical(pd.Series(times))
    y = (X["code"] != X["code"].cat.categories[1]).to_numpy()
    model = piped(OneHotEncoder() if name == "strict" else LENIENT[name](), LAST["forest"]()).fit(X, y)
    check_importer(model, X)
    explainer = bf.Explainer(model, data=X)
    assert list(explainer.space["code"].levels) == X["code"].cat.categories.tolist()
    answer = explainer.explain(X[~model.predict(X)].iloc[[0]], target=True).only
    assert answer.point is not None
    assert model.predict(answer.point).tolist() == [True]
