"""The tables and models that the benchmarks share."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from benchmarks.harness import ROOT, SEED

ADULT_LEVELS = {
    "workclass": 7, "education": 16, "marital_status": 7, "occupation": 14, "relationship": 6, "race": 5, "sex": 2,
    "native_country": 41,
}  # fmt: skip


def folder() -> Path:
    """Where the CSV files are: the environment variable BUTFOR_DATA, or shared/data beside the checkout."""
    return Path(os.environ.get("BUTFOR_DATA", ROOT.parent / "shared" / "data"))


def read(name: str) -> tuple[pd.DataFrame, pd.Series[Any], int]:
    """A table with the rows that miss a value left out, its target, and how many rows that were."""
    whole = pd.read_csv(folder() / name)
    full = whole.dropna(ignore_index=True)
    return full.drop(columns="target"), full["target"], len(whole) - len(full)


def adult(smoke: bool = False) -> tuple[pd.DataFrame, pd.Series[Any], str]:
    """Adult's 12 raw columns, the target, and what it is; a generated table of that shape where there is no file."""
    if smoke or not (folder() / "adult.csv.gz").exists():
        return adult_like(2000 if smoke else 45222)
    X, y, dropped = read("adult.csv.gz")
    return without_copies(X), y, f"Adult, {len(X)} complete rows ({dropped} left out)"


def adult_with_copies(smoke: bool = False) -> tuple[pd.DataFrame, pd.Series[Any], str]:
    """The same with both columns on education: the number repeats the level."""
    if smoke or not (folder() / "adult.csv.gz").exists():
        X, y, data = adult_like(2000 if smoke else 45222)
        return X.assign(education_num=X["education"].str.removeprefix("education-").astype(int)), y, data
    X, y, dropped = read("adult.csv.gz")
    return X.drop(columns="fnlwgt"), y, f"Adult with education_num, {len(X)} complete rows ({dropped} left out)"


def education_implied(X: pd.DataFrame) -> list[Any]:
    """What belongs to each level of education, and to no other: two implications per level."""
    number = X.groupby("education")["education_num"].first().to_dict()
    ends = [(level, end) for level, k in number.items() for end in ({"low": k}, {"high": k})]
    return [bf.implies(bf.allowed("education", [level]), bf.between("education_num", **end)) for level, end in ends]


def without_copies(X: pd.DataFrame) -> pd.DataFrame:
    """Adult without the sampling weight, which is no feature, and the number that repeats the education."""
    return X.drop(columns=["fnlwgt", "education_num"])


def adult_like(rows: int) -> tuple[pd.DataFrame, pd.Series[Any], str]:
    """A generated table with the columns, kinds and numbers of levels of Adult, and a noisy rule as target."""
    rng = np.random.default_rng(SEED)
    X = pd.DataFrame(
        {
            "age": rng.integers(17, 91, rows),
            **{
                name: np.array([f"{name}-{level}" for level in range(count)], dtype=object)[
                    np.minimum(rng.geometric(0.35, rows) - 1, count - 1)
                ]
                for name, count in ADULT_LEVELS.items()
            },
            "capital_gain": np.where(rng.random(rows) < 0.08, rng.integers(100, 100_000, rows), 0),
            "capital_loss": np.where(rng.random(rows) < 0.05, rng.integers(150, 4357, rows), 0),
            "hours_per_week": np.clip(np.round(rng.normal(40, 12, rows)), 1, 99).astype(np.int64),
        }
    )
    score = (
        0.04 * X["age"]
        + 0.05 * X["hours_per_week"]
        + 1.5 * (X["capital_gain"] > 5000)
        + (X["education"] == "education-2")
        - (X["occupation"] == "occupation-0")
        + (X["marital_status"] == "marital_status-1")
        + rng.normal(0, 1, rows)
    )
    y = pd.Series(np.where(score > np.quantile(score, 0.75), ">50K", "<=50K"), name="target")
    return X, y, f"generated like Adult, {rows} rows"


def pipeline(X: pd.DataFrame, model: Any) -> Pipeline:
    """`model` behind a one-hot encoder for the text columns; without text columns, in a pipeline of its own."""
    texts = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    numbers = [name for name in X if name not in texts]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    kinds = [("levels", encoder, texts), ("numbers", "passthrough", numbers)]
    return Pipeline([("columns", ColumnTransformer(kinds)), ("model", model)] if texts else [("model", model)])


def adult_tree(X: pd.DataFrame, y: pd.Series[Any]) -> Pipeline:
    """CART of depth 12 on Adult."""
    return pipeline(X, DecisionTreeClassifier(max_depth=12, random_state=SEED)).fit(X, y)


def adult_linear(X: pd.DataFrame, y: pd.Series[Any]) -> Pipeline:
    """Logistic regression on Adult."""
    return pipeline(X, make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))).fit(X, y)


def hundred(rows: int) -> tuple[pd.DataFrame, LogisticRegression]:
    """100 continuous columns, and logistic regression on them."""
    X, y = make_classification(rows, 100, n_informative=40, random_state=SEED)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(100)])
    return frame, LogisticRegression(max_iter=1000).fit(frame, y)


@dataclass(frozen=True, eq=False)
class Table:
    """A table for classification; `y` is 1 for the class one would rather be in. `about` says how it was prepared."""

    name: str
    X: pd.DataFrame
    y: pd.Series[Any]
    about: str


@dataclass(frozen=True)
class Source:
    """How a CSV file becomes a table: its undesired class, and the columns left out and why."""

    file: str
    undesired: Any
    without: tuple[str, ...] = ()
    why: str = ""


SOURCES = {
    "adult": Source(
        "adult.csv.gz", "<=50K", ("fnlwgt", "education_num"), "a sampling weight, and the education a second time"
    ),
    "compas": Source(
        "compas.csv",
        1,
        ("age_cat", "decile_score", "score_text"),
        "the age a second time, and what the COMPAS tool itself said",
    ),
    "german": Source("german_credit.csv", "bad"),
    "pima": Source("pima.csv", 1),
    "banknote": Source("banknote.csv", 1),
    "ionosphere": Source("ionosphere.csv", "bad", ("x02",), "a constant"),
    "spambase": Source("spambase.csv.gz", "spam"),
    "magic": Source("magic.csv.gz", "h"),
}
"""The CSV files of BUTFOR_DATA that the ensembles are measured on."""

TABLES = (*SOURCES, "breast")
"""Those, and scikit-learn's breast cancer, which is always there."""


def table(name: str) -> Table | None:
    """A table by name, complete rows only; nothing where its file is absent."""
    if name == "breast":
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        X.columns = X.columns.str.replace(" ", "_")  # as LightGBM would
        return Table(name, X, y, f"scikit-learn's breast cancer, {len(X)} rows x {X.shape[1]}; undesired: malignant")
    source = SOURCES[name]
    if not (folder() / source.file).exists():
        return None
    X, target, dropped = read(source.file)
    X = X.drop(columns=list(source.without))
    about = f"{source.file}, {len(X)} rows x {X.shape[1]}; undesired: target {source.undesired}"
    if dropped:
        about += f"; {dropped} rows that miss a value left out"
    if source.without:
        about += f"; without {', '.join(source.without)} ({source.why})"
    return Table(name, X, (target != source.undesired).astype(int), about)
