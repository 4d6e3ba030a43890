"""Rows in files have the types that the model was fitted on, and results hold whatever an answer says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.portfolio.rows import _of_csv
from butfor.space.arrow import from_arrow, sample_of, to_arrow


def shop(size: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "branch": rng.choice([101, 205, 309], size),
            "country": rng.choice(["NA", "DE", "FR"], size),
            "member": rng.choice(np.array([True, False, np.nan], dtype=object), size),
            "amount": rng.integers(0, 100, size),
        }
    )
    return X, (X["branch"] == 205) | (X["country"] == "NA") & (X["amount"] > 40) | (X["member"] == True)  # noqa: E712


def boosted(columns: list[str]) -> tuple[bf.Explainer, pd.DataFrame]:
    X, y = shop()
    X = X[[*columns, "amount"]].astype(dict.fromkeys(columns, "category"))
    return bf.Explainer(LGBMClassifier(n_estimators=10, verbose=-1, min_child_samples=5).fit(X, y), X), X


def encoded(columns: list[str]) -> tuple[bf.Explainer, pd.DataFrame]:
    X, y = shop()
    X = X[[*columns, "amount"]]
    encode = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), columns), remainder="passthrough")
    return bf.Explainer(make_pipeline(encode, DecisionTreeClassifier(max_depth=5)).fit(X, y), X), X


def written(rows: Any, kind: str, folder: Path) -> Any:
    """Rows as they come from elsewhere: what only pandas knows is not in the file."""
    if kind == "csv":
        rows.to_csv(folder / "rows.csv", index=False)
        return folder / "rows.csv"
    if kind == "frame":
        return rows
    plain = {name: pa.array(rows[name].tolist(), from_pandas=True) for name in rows}
    pq.write_table(pa.table(plain), folder / "rows.parquet")
    return folder / "rows.parquet"


@pytest.mark.parametrize("kind", ["csv", "frame", "plain"])
@pytest.mark.parametrize(
    ("make", "columns"),
    [
        (boosted, ["branch"]),
        (boosted, ["country"]),
        (boosted, ["branch", "country"]),
        (encoded, ["country"]),
        (encoded, ["member"]),
    ],
    ids=lambda given: getattr(given, "__name__", None) or "+".join(given),
)
def test_rows_from_files_are_those_of_the_frame(make: Any, columns: list[str], kind: str, tmp_path: Path) -> None:
    explainer, X = make(columns)
    rows = X.head(40)
    asked = explainer.explain(rows)
    made = list(explainer.portfolio(written(rows, kind, tmp_path), tmp_path / "out", n_jobs=1, rows_per_part=30))
    assert [(one.before, one.cost, one.certificate.status) for one in made] == [
        (one.before, one.cost, one.certificate.status) for one in asked
    ]
    assert [one.factual.iloc[0].astype(object).fillna("lost").tolist() for one in made] == [
        one.factual.iloc[0].astype(object).fillna("lost").tolist() for one in asked
    ]


def test_a_category_of_the_rows_that_the_data_lacks_stays_what_it_is() -> None:
    like = pd.DataFrame({"branch": pd.Categorical([101, 205]), "member": pd.Series([True, None], dtype=object)})
    table = to_arrow(pd.DataFrame({"branch": [205, 400], "member": [False, None]}))
    made = from_arrow(table, sample_of(like))
    assert made["branch"].tolist() == [205, 400]
    assert made["branch"].cat.categories.tolist() == [101, 205, 400]
    assert made["member"].tolist() == [False, None]


def test_types_in_a_file_of_csv_are_those_of_all_of_its_rows(tmp_path: Path) -> None:
    X, y = shop(300)
    X = X.assign(note="", case=np.arange(300).astype(str))
    model = make_pipeline(make_column_transformer(("passthrough", ["amount"])), DecisionTreeClassifier()).fit(X, y)
    explainer = bf.Explainer(model, X)
    many = pd.concat([X] * 400, ignore_index=True)
    many.loc[len(many) - 1, ["note", "case"]] = ["call back", "A12"]
    many.to_csv(tmp_path / "rows.csv", index=False)
    assert (tmp_path / "rows.csv").stat().st_size > 2 << 20
    found = pa.concat_tables(_of_csv(tmp_path / "rows.csv", explainer.space))
    assert found["case"][-1].as_py() == "A12"
    assert found["note"].to_pylist()[-2:] == [None, "call back"]
    assert found["amount"].type == pa.int64()


def test_results_hold_what_the_rows_could_not(tmp_path: Path) -> None:
    X = pd.DataFrame({"a": np.arange(600), "b": np.arange(600) % 7})
    explainer = bf.Explainer(DecisionTreeClassifier(random_state=0).fit(X, X["a"] > 303), X)
    rows = X.iloc[:50].astype({"a": "uint8"})
    made = explainer.portfolio(rows, tmp_path / "out", True, n_jobs=1)
    assert pl.read_parquet(made.results)["a"].to_list() == [304] * 50
    explainer.explain(rows, True).to_parquet(tmp_path / "a.parquet")
    assert bf.load(tmp_path / "a.parquet")[0].point["a"].item() == 304


def test_rows_with_a_column_that_is_called_id(tmp_path: Path) -> None:
    X, y = shop()
    X.insert(0, "id", range(1000, 1000 + len(X)))
    model = make_pipeline(make_column_transformer(("passthrough", ["amount"])), DecisionTreeClassifier()).fit(X, y)
    rows = X.head(3).set_axis(["x", "y", "z"])
    answers = bf.Explainer(model, X).explain(rows)
    answers.to_parquet(tmp_path / "a.parquet")
    found = pl.read_parquet(tmp_path / "a.parquet")
    assert found["id"].to_list() == ["x", "y", "z"]
    assert found["id (column)"].to_list() == [1000, 1001, 1002]
    assert bf.load(tmp_path / "a.parquet").costs.tolist() == answers.costs.tolist()


def test_the_first_file_may_be_empty(tmp_path: Path) -> None:
    explainer, X = encoded(["country"])
    (tmp_path / "rows").mkdir()
    for name, rows in (("0", X[:0]), ("1", X[:20])):
        named = rows.assign(number=[f"A{k}" for k in range(len(rows))])
        named.to_parquet(tmp_path / "rows" / f"{name}.parquet")
    made = explainer.portfolio(tmp_path / "rows", tmp_path / "out", where="amount > 30", id_column="number", n_jobs=1)
    assert len(list(made)) == (X["amount"][:20] > 30).sum()
