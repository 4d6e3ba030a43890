"""Text that is missing as None, as NaN, as a null of polars or arrow: what the estimator makes of it is what is read."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, TargetEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.space import frames
from butfor.testing.importer_contract import check_importer
from tests.importers.samples import SKLEARN
from tests.shorter import diagonal

IMPUTERS: dict[str, Any] = {
    "left": None,
    "frequent": SimpleImputer(strategy="most_frequent"),
    "constant": SimpleImputer(strategy="constant", fill_value="unknown"),
    "none": SimpleImputer(missing_values=None, strategy="most_frequent"),
}
ENCODERS: dict[str, Any] = {
    "one-hot": OneHotEncoder(handle_unknown="ignore"),
    "one-hot, strict": OneHotEncoder(),
    "ordinal": OrdinalEncoder(),
    "ordinal, lenient": OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
    "target": TargetEncoder(cv=2),
}
KINDS = ["None", "NaN", "str", "category", "polars", "arrow"]
MIXED = "both None and NaN"


def table(kind: str) -> tuple[Any, np.ndarray]:
    """Jobs and ages; every job is missing about one time in six. The answer depends on whether it is."""
    rng = np.random.default_rng(0)
    job = rng.choice(["nurse", "cook", "smith"], 160).astype(object)
    lost, age = rng.random(160) < 0.17, rng.integers(18, 70, 160).astype(float)
    y = ((job == "nurse") * 15 + lost * 25 + age > 55).astype(int)
    if kind == MIXED:
        job[lost] = [None if at % 2 else np.nan for at in range(lost.sum())]
    else:
        job[lost] = np.nan if kind in ("NaN", "str", "category") else None
    if kind == "polars":
        return pl.DataFrame({"job": job.tolist(), "age": age}), y
    if kind == "arrow":
        return pa.table({"job": job.tolist(), "age": age}), y
    X = pd.DataFrame({"job": pd.Series(job, dtype=object), "age": age})
    if kind == "category" or (kind == "str" and int(pd.__version__.split(".")[0]) > 2):
        X = X.astype({"job": kind})
    return X, y


def pipeline(imputer: str, encoder: str, X: Any, y: np.ndarray) -> Any:
    first = IMPUTERS[imputer]
    steps = [ENCODERS[encoder]] if first is None else [first, ENCODERS[encoder]]
    columns = make_column_transformer((make_pipeline(*steps), ["job"]), ("passthrough", ["age"]))
    rows = X.to_pandas() if isinstance(X, pa.Table) else X
    return make_pipeline(columns, DecisionTreeClassifier(max_depth=3, random_state=0)).fit(rows, y)


@pytest.mark.shorter(1)
@pytest.mark.parametrize(("kind", "encoder"), diagonal(KINDS, ENCODERS))
def test_every_way_to_be_missing_is_read(kind, encoder) -> None:
    if kind == "polars" and SKLEARN < (1, 8):
        pytest.skip("this scikit-learn passes no polars frame through a ColumnTransformer")
    X, y = table(kind)
    for imputer in IMPUTERS:
        if imputer == "none" and kind not in ("None", "polars"):
            continue  # scikit-learn refuses NaN there
        model = pipeline(imputer, encoder, X, y)
        check_importer(model, X)
        explainer = bf.Explainer(model, X)
        for row in (0, int(np.flatnonzero(np.isnan(explainer.space.encode(X)[:, 0]))[0])):
            answer = explainer.explain(frames.take(X, [row]), target="other")
            assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL


@pytest.mark.shorter(1)
@pytest.mark.parametrize("kind", ["None", "NaN"])
def test_answers_are_the_cheapest_of_all(kind) -> None:
    X, y = table(kind)
    lost = None if kind == "None" else np.nan
    every = pd.DataFrame(list(product(["nurse", "cook", "smith", lost], range(18, 70))), columns=["job", "age"])
    every = every.astype({"job": object, "age": float})
    every.loc[every["job"].isna(), "job"] = lost
    for imputer, encoder in product(("left", "frequent", "constant"), ("one-hot", "ordinal")):
        model = pipeline(imputer, encoder, X, y)
        said = model.predict(every)
        for start in range(3):
            row = X.iloc[[start]]
            other = ~((every["job"] == row["job"].iloc[0]) | (every["job"].isna() & row["job"].isna().iloc[0]))
            cost = other * 1.0 + (every["age"] - row["age"].iloc[0]).abs() / 52
            known = every["job"].notna() | row["job"].isna().iloc[0]
            met = (said != model.predict(row)[0]) & known
            answer = bf.Explainer(model, X, space={"age": bf.Integer(18, 70)}).explain(
                row, target="other", cost=bf.L1(scale="range")
            )
            assert answer.cost <= cost[met].min() + 1e-6


@pytest.mark.parametrize("encoder", ["one-hot", "one-hot, strict"])
def test_two_kinds_in_one_column_are_named_with_the_line_that_helps(encoder) -> None:
    X, y = table(MIXED)
    model = pipeline("constant", encoder, X, y)
    with pytest.raises(bf.errors.FidelityError) as caught:
        bf.Explainer(model, X)
    message = str(caught.value)
    assert "'job' holds NaN in row" in message
    assert "None in row" in message
    line = "X['job'] = X['job'].fillna(np.nan)"
    assert line in message
    exec(line, {"X": X, "np": np})
    bf.Explainer(model, X)


def test_one_row_of_another_kind_among_thousands_is_found() -> None:
    """It is no accident of the sample whether two kinds are noticed."""
    X, y = table("NaN")
    model = pipeline("constant", "one-hot", X, y)
    lost = pd.Series([None, np.nan] * 52, dtype=object)
    told = model.predict_proba(pd.DataFrame({"job": lost, "age": np.repeat(np.arange(18.0, 70.0), 2)}))[:, 1]
    many = pd.concat([X[X["job"].notna()]] * 20, ignore_index=True)
    many.loc[7, "job"], many.loc[1001, "job"] = np.nan, None
    many.loc[1001, "age"] = 18.0 + np.abs(told[::2] - told[1::2]).argmax()
    with pytest.raises(bf.errors.FidelityError, match=r"NaN in row 7 and None in row 1001"):
        bf.Explainer(model, many)


def test_rows_that_the_estimator_refuses_are_told_where() -> None:
    X, y = table("NaN")
    model = pipeline("left", "one-hot, strict", X, y)
    row = X.iloc[[0]].copy()
    row["job"] = pd.Series([None], index=row.index, dtype=object)
    with pytest.raises(bf.errors.InputError, match=r"Row 0 of them holds None in column 'job'") as caught:
        bf.Explainer(model, X).explain(row, target="other")
    line = "X['job'] = X['job'].astype(object).where(X['job'].notna(), np.nan)"
    assert line in str(caught.value)
    exec(line, {"X": row, "np": np})
    bf.Explainer(model, X).explain(row, target="other")


FLAGS: dict[str, list[Any]] = {"true and false": [True, False], "whole numbers": [1, 2, 3]}


@pytest.mark.shorter(2)
@pytest.mark.parametrize(
    ("kind", "encoder"), diagonal(["None", "NaN", "polars", "arrow"], ["one-hot", "one-hot, strict", "ordinal"])
)
@pytest.mark.parametrize("held", FLAGS)
def test_other_levels_are_read_in_every_way_to_be_missing(held, kind, encoder) -> None:
    if kind in ("polars", "arrow") and SKLEARN < (1, 8):
        pytest.skip("this scikit-learn passes no polars frame through a ColumnTransformer")
    text, y = table("polars" if kind in ("polars", "arrow") else kind)
    job = frames.as_held(text, "job", 0)
    lost = float("nan") if kind == "NaN" else None
    flag = [lost if frames.is_missing(one) else FLAGS[held][("nurse", "cook", "smith").index(one) % 2] for one in job]
    age = frames.values(text, "age", 1)
    if kind in ("None", "NaN"):
        X = pd.DataFrame({"job": pd.Series(flag, dtype=object), "age": age})
    else:
        X = pl.DataFrame({"job": flag, "age": age})
        X = X.to_arrow() if kind == "arrow" else X
    for imputer in ("left", "frequent"):
        model = pipeline(imputer, encoder, X, y)
        explainer = bf.Explainer(model, X)
        check_importer(model, X)
        for row in (0, int(np.flatnonzero(np.isnan(explainer.space.encode(X)[:, 0]))[0])):
            answer = explainer.explain(frames.take(X, [row]), target="other")
            assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
