"""The data sets, the model of each that validates best, and the rows that are asked about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data import folder, pipeline
from benchmarks.harness import SEED
from butfor.datasets import loans

ROWS, ANSWERS = 5, 5


@dataclass(frozen=True, eq=False)
class DataSet:
    """A table; `y` is 1 for the class that is wanted. `paper` is what Table II says of MD-PSO there."""

    name: str
    X: pd.DataFrame
    y: pd.Series[Any]
    about: str
    paper: dict[str, float]


@dataclass(frozen=True, eq=False)
class Case:
    """A data set with one of its models, the accuracy of all of them, and the rows asked about."""

    of: DataSet
    kind: str
    model: Pipeline
    accuracy: dict[str, float]
    """On the rows of validation; that of the chosen model on the test rows is `test`."""
    rows: pd.DataFrame


SOURCES = {
    "COMPAS": ("compas.csv", 0, "wanted: does not recidivate; all 13 columns of the file", (1.0, 0.2629, 0.1230)),
    "Hill-Valley": ("hill_valley_noise.csv", 1, "with noise; wanted: hill (1)", (1.0, 0.0700, 0.6440)),
    "Arrhythmia": (
        "arrhythmia.csv",
        1,
        "wanted: normal, against all else; {missing} missing values replaced by medians; the 17 constant columns kept",
        (0.6, 0.9989, 0.0865),
    ),
    "LSVT": ("lsvt_voice.csv", "acceptable", "wanted: acceptable", (0.8, 1.7859, 0.3933)),
}
"""The file of each, the class wanted, what is to say, and the paper's coverage, proximity and sparsity of MD-PSO."""


def data_sets(smoke: bool) -> Iterator[DataSet]:
    """Those whose files are there; a made-up table of loans for the smoke test."""
    if smoke:
        X, y = loans.load(300)
        yield DataSet("loans", X.fillna(0.0), (y == "approved").astype(int), "made up", {})
        return
    for name, (file, wanted, about, paper) in SOURCES.items():
        if (folder() / file).exists():
            whole = pd.read_csv(folder() / file)
            X, y = whole.drop(columns="target"), (whole["target"] == wanted).astype(int)
            missing = int(X.isna().sum().sum())
            if missing:
                X = X.fillna(X.median())
            said = about.format(missing=missing)
            numbers = dict(zip(("coverage", "proximity", "sparsity"), paper, strict=True))
            yield DataSet(name, X, y, f"{len(X)} rows x {X.shape[1]}; {said}", numbers)


def models(smoke: bool) -> dict[str, Any]:
    """The paper's three kinds, as scikit-learn has them by default, on standardised columns where scale matters."""
    return {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=10_000)),
        "MLP": make_pipeline(StandardScaler(), MLPClassifier(max_iter=2000, random_state=SEED)),
        "random forest": RandomForestClassifier(10 if smoke else 100, random_state=SEED),
    }


def case(of: DataSet, smoke: bool, kind: str | None = None) -> Case:
    """Trained on 60 % of the rows, chosen on 20 %, asked about the rest: rows that the model puts in the class not wanted."""
    rest, test = train_test_split(np.arange(len(of.X)), test_size=0.2, random_state=SEED, stratify=of.y)
    train, validation = train_test_split(rest, test_size=0.25, random_state=SEED, stratify=of.y.iloc[rest])
    fitted = {
        name: pipeline(of.X, model).fit(of.X.iloc[train], of.y.iloc[train]) for name, model in models(smoke).items()
    }
    accuracy = {
        name: float(model.score(of.X.iloc[validation], of.y.iloc[validation])) for name, model in fitted.items()
    }
    kind = kind or max(accuracy, key=accuracy.__getitem__)
    model = fitted[kind]
    accuracy["test"] = float(model.score(of.X.iloc[test], of.y.iloc[test]))
    drawn = np.random.default_rng(SEED).permutation(test)
    undesired = drawn[model.predict(of.X.iloc[drawn]) == 0]
    return Case(of, kind, model, accuracy, of.X.iloc[undesired[: 2 if smoke else ROWS]])
