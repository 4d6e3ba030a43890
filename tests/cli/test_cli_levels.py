"""The command reads a table as the model knows its levels: "NA" is Namibia if the model says so."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

import butfor as bf
from butfor.cli import app, files
from butfor.importers.known_levels import known_levels
from butfor.space.text_cells import with_levels
from tests.shorter import unless

WORDS = [
    "NA",
    "None",
    "",
    "01",
    "1",
    "True",
    "inf",
    "-inf",
    "nan",
    "null",
    "N/A",
    "<NA>",
    "1e5",
    "2024-01-01",
    " x ",
    "a,b",
]
ENDINGS = ["csv", "xlsx", "parquet", "feather"]
"""Levels that a reader of CSV takes for something else."""


def table(*levels: Any) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "country": [levels[k % len(levels)] for k in range(120)],
            "income": rng.normal(size=120).round(3),
            "age": rng.integers(20, 60, size=120),
        }
    )


def fitted(X: pd.DataFrame, odd: Any, first: Any = None) -> Any:
    """A tree that looks at the income of whoever has the odd level."""
    steps = [step for step in (first, OneHotEncoder(handle_unknown="ignore")) if step is not None]
    ready = make_column_transformer((make_pipeline(*steps), ["country"]), remainder="passthrough")
    wanted = np.where((X["country"] == odd) & (X["income"] < 0), "no", "yes")
    return make_pipeline(ready, DecisionTreeClassifier(random_state=0)).fit(X, wanted)


def asked(folder: Path, name: str, row: int, *more: str) -> Any:
    words = [
        "explain",
        str(folder / "m.joblib"),
        str(folder / name),
        "--row",
        str(row),
        "--target",
        "yes",
        "--json",
        *more,
    ]
    return CliRunner().invoke(app, words)


def refused(X: pd.DataFrame, odd: Any) -> int:
    """The first row with the odd level that the model rejects."""
    return int(np.flatnonzero((X["country"] == odd) & (X["income"] < 0))[0])


@pytest.mark.shorter(3)
@pytest.mark.parametrize(
    ("word", "ending"), unless(set(product(WORDS[2:], ["parquet", "feather"])), product(WORDS, ENDINGS))
)
def test_a_level_is_read_as_the_model_knows_it(word, ending, tmp_path) -> None:
    if word == "" and ending == "xlsx":
        pytest.skip("a sheet has no empty text")
    X = table("DE", "FR", word)
    model, row = fitted(X, word), refused(X, word)
    joblib.dump(model, tmp_path / "m.joblib")
    write = {"csv": X.to_csv, "xlsx": X.to_excel, "parquet": X.to_parquet, "feather": X.to_feather}[ending]
    write(tmp_path / f"x.{ending}", **({"index": False} if ending in ("csv", "xlsx") else {}))
    done = asked(tmp_path, f"x.{ending}", row)
    assert done.exit_code == 0, done.output
    answer = bf.Explanation.from_json(done.stdout)
    assert answer.columns()[0].before == word
    assert answer.before == "no"
    same = bf.Explainer(model, X).explain(X.iloc[[row]], target="yes")
    assert (answer.changes, answer.cost, answer.space) == (same.changes, same.cost, same[0].space)


@pytest.mark.parametrize("word", ["01", "1", "True", "inf"])
def test_levels_that_all_look_like_numbers(word, tmp_path) -> None:
    X = table(word, word + "0")
    joblib.dump(fitted(X, word), tmp_path / "m.joblib")
    X.to_csv(tmp_path / "x.csv", index=False)
    done = asked(tmp_path, "x.csv", refused(X, word))
    assert done.exit_code == 0, done.output
    assert bf.Explanation.from_json(done.stdout).space["country"].levels == (word, word + "0")


def test_an_empty_cell_is_missing_and_a_known_word_is_a_level(tmp_path) -> None:
    """Also if the model takes both."""
    X = table("DE", "NA", np.nan)
    joblib.dump(fitted(X, "NA"), tmp_path / "m.joblib")
    X.to_csv(tmp_path / "x.csv", index=False)
    row = refused(X, "NA")
    for at, value in ((row, "NA"), (2, None)):
        done = asked(tmp_path, "x.csv", at)
        assert done.exit_code == 0, done.output
        answer = bf.Explanation.from_json(done.stdout)
        assert answer.columns()[0].before == value
        assert answer.space["country"].missing


def test_an_empty_cell_is_the_empty_level_if_the_model_knows_one(tmp_path) -> None:
    """Even if it also knows missing values: a CSV cannot say which is meant, and a Parquet file can."""
    X = table("DE", "", np.nan)
    joblib.dump(fitted(X, ""), tmp_path / "m.joblib")
    X.to_csv(tmp_path / "x.csv", index=False)
    X.to_parquet(tmp_path / "x.parquet")
    row = refused(X, "")
    for name, at, value in (("x.csv", row, ""), ("x.csv", 2, ""), ("x.parquet", row, ""), ("x.parquet", 2, None)):
        done = asked(tmp_path, name, at)
        assert done.exit_code == 0, done.output
        assert bf.Explanation.from_json(done.stdout).columns()[0].before == value


def test_words_that_the_model_does_not_know_are_missing_as_before(tmp_path) -> None:
    X = table("DE", "FR", np.nan)
    joblib.dump(fitted(X, "FR", SimpleImputer(strategy="most_frequent")), tmp_path / "m.joblib")
    for word in ("NA", "None", "n/a", ""):
        X.to_csv(tmp_path / "x.csv", index=False, na_rep=word)
        done = asked(tmp_path, "x.csv", 2)
        assert done.exit_code == 0, done.output
        assert bf.Explanation.from_json(done.stdout).columns()[0].before is None


def test_the_training_table_and_the_options_are_read_in_the_same_way(tmp_path) -> None:
    X = table("DE", "FR", "NA")
    joblib.dump(fitted(X, "NA"), tmp_path / "m.joblib")
    X.to_csv(tmp_path / "all.csv", index=False)
    row = refused(X, "NA")
    X.iloc[[row]].to_csv(tmp_path / "x.csv", index=False)
    done = asked(
        tmp_path,
        "x.csv",
        0,
        "--training",
        str(tmp_path / "all.csv"),
        "-c",
        "allowed country:NA,DE",
        "-c",
        "fixed income",
    )
    assert done.exit_code == 0, done.output
    answer = bf.Explanation.from_json(done.stdout)
    assert [(c.name, c.before, c.after) for c in answer.changes] == [("country", "NA", "DE")]
    listed = CliRunner().invoke(app, ["space", str(tmp_path / "m.joblib"), str(tmp_path / "all.csv")])
    assert "DE, FR, NA" in listed.stdout


def test_columns_of_numbers_stay_numbers(tmp_path) -> None:
    """Also levels that are numbers."""
    X = table(3, 1, 2)
    joblib.dump(fitted(X, 3), tmp_path / "m.joblib")
    X.to_csv(tmp_path / "x.csv", index=False)
    read = files.read_table(tmp_path / "x.csv", joblib.load(tmp_path / "m.joblib"))
    pd.testing.assert_frame_equal(read, X, check_exact=False)


@pytest.mark.long
def test_the_command_itself(tmp_path) -> None:
    X = table("DE", "FR", "NA")
    joblib.dump(fitted(X, "NA"), tmp_path / "m.joblib")
    X.to_csv(tmp_path / "x.csv", index=False)
    command = [
        sys.executable,
        "-m",
        "butfor",
        "explain",
        "m.joblib",
        "x.csv",
        "--row",
        str(refused(X, "NA")),
        "--target",
        "yes",
    ]
    done = subprocess.run([*command, "-c", "fixed income"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "country      NA" in done.stdout


def test_known_levels_are_those_of_every_encoder() -> None:
    X = table("DE", "NA", np.nan).assign(size=lambda X: np.where(X["age"] > 40, "1", "01"))
    ready = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="constant", fill_value="none"), OneHotEncoder()), ["country"]),
        (OrdinalEncoder(), ["size"]),
        remainder="passthrough",
    )
    model = make_pipeline(ready, DecisionTreeClassifier()).fit(X, X["income"] > 0)
    assert known_levels(model, X) == {"country": ("DE", "NA", "none"), "size": ("01", "1")}
    assert known_levels(DecisionTreeClassifier().fit(X[["age"]], X["income"] > 0), X[["age"]]) == {}


def test_polars_reads_the_same(tmp_path) -> None:
    X = table("DE", "NA", "", "None")
    X.to_csv(tmp_path / "x.csv", index=False)
    cells = pl.read_csv(tmp_path / "x.csv", **files.AS_TEXT[".csv"]["polars"])
    read = with_levels(pl.read_csv(tmp_path / "x.csv"), cells, {"country": ("DE", "NA")})
    assert read["country"].to_list()[:4] == ["DE", "NA", None, None]
    assert read["age"].to_list() == X["age"].tolist()
