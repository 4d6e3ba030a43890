"""The data sets as the paper cuts them, and what it says of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from benchmarks.data import folder
from benchmarks.harness import SEED
from butfor.datasets import loans

LARGE = 5000
"""How many rows of a large set are used for training. The rest is external."""


@dataclass(frozen=True, eq=False)
class DataSet:
    """A binary table.

    - `p1`: the highest probability of rows that are asked about;
    - `outside`, `outside_y`: external rows, if there are any;
    - `paper`: what the paper says: the model's accuracy in percent, and seconds per fold with Gurobi;
    - `all_models`: whether a forest and a linear SVM are compressed, too.
    """

    name: str
    X: pd.DataFrame
    y: Any
    about: str
    p1: float = 1.0
    outside: pd.DataFrame | None = None
    outside_y: Any = None
    paper: dict[str, float] = field(default_factory=dict)
    all_models: bool = False


def data_sets(smoke: bool) -> Iterator[DataSet]:
    """Those whose files are there; a made-up table for the smoke test."""
    if smoke:
        X, y = loans.load(160)
        numbers, labels = X.select_dtypes("number").fillna(0.0), (y == "approved").to_numpy().astype(int)
        yield DataSet("loans", numbers, labels, "made up", all_models=True)
        return
    for make in (_boston, _arrhythmia, _ionosphere, _magic, _sensit, _stand_in):
        found = make()
        if found is not None:
            yield found


def _read(file: str) -> pd.DataFrame | None:
    return pd.read_csv(folder() / file) if (folder() / file).exists() else None


def _boston() -> DataSet | None:
    whole = _read("boston.csv")
    if whole is None:
        return None
    y = (whole.pop("target") >= 21.2).to_numpy().astype(int)
    return DataSet("Boston", whole, y, "medv >= 21.2", paper={"accuracy": 82.81, "seconds": 7.7}, all_models=True)


def _arrhythmia() -> DataSet | None:
    whole = _read("arrhythmia.csv")
    if whole is None:
        return None
    y = (whole.pop("target") != 1).to_numpy().astype(int)
    X = whole.loc[:, (whole.nunique() > 2) & whole.notna().all()]
    about = f"not normal against normal; the {X.shape[1]} columns without missing values and with more than two values"
    return DataSet("Arrhythmia", X, y, about, paper={"accuracy": 79.44, "seconds": 21.5})


def _ionosphere() -> DataSet | None:
    whole = _read("ionosphere.csv")
    if whole is None:
        return None
    y = (whole.pop("target") == "good").to_numpy().astype(int)
    X = whole.drop(columns=["x01", "x02"])
    return DataSet("Ionosphere", X, y, "x01 and x02 left out", paper={"accuracy": 91.46, "seconds": 8.2})


def _large(name: str, X: pd.DataFrame, y: Any, about: str, paper: dict[str, float]) -> DataSet:
    inside, outside = train_test_split(
        np.arange(len(X)), train_size=min(LARGE, len(X) * 4 // 5), random_state=SEED, stratify=y
    )
    said = f"{about}; {len(inside)} rows for training, {len(outside)} external"
    return DataSet(name, X.iloc[inside], y[inside], said, 0.7, X.iloc[outside], y[outside], paper)


def _magic() -> DataSet | None:
    whole = _read("magic.csv.gz")
    if whole is None:
        return None
    y = (whole.pop("target") == "g").to_numpy().astype(int)
    return _large("MAGIC", whole, y, "g against h", {"accuracy": 83.13, "seconds": 23.8})


def _sensit() -> DataSet | None:
    whole = _read("sensit_vehicle_subset.csv.gz")
    if whole is None:
        return None
    y = (whole.pop("target") == 1).to_numpy().astype(int)
    return _large("SensIT subset", whole, y, "a subset of other rows than the paper's", {})


def _stand_in() -> DataSet | None:
    made, y = make_classification(
        25000, 50, n_informative=12, n_redundant=10, n_clusters_per_class=4, flip_y=0.05, random_state=SEED
    )
    X = pd.DataFrame(made, columns=[f"v{j:02}" for j in range(50)])
    return _large("stand-in, 50 columns", X, y, "made up, in place of MiniBooNE, of which there is no copy", {})


def beyond(smoke: bool) -> Iterator[tuple[str, pd.DataFrame, Any]]:
    """Adult, German Credit and Spambase, with their categories as they are."""
    if smoke:
        X, y = loans.load(160)
        yield "loans", X.drop(columns="savings"), (y == "approved").to_numpy().astype(int)
        return
    for name, file, wanted in (
        ("Adult", "adult.csv.gz", ">50K"),
        ("German Credit", "german_credit.csv", "good"),
        ("Spambase", "spambase.csv.gz", "spam"),
    ):
        whole = _read(file)
        if whole is None:
            continue
        whole = whole.dropna(ignore_index=True)
        y = (whole.pop("target") == wanted).to_numpy().astype(int)
        yield name, whole.drop(columns=["fnlwgt", "education_num"], errors="ignore"), y
