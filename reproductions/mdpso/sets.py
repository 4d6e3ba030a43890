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
    """A table; `y` is 1 for the class that is wanted. `paper` is what Table II says of each method there."""

    name: str
    X: pd.DataFrame
    y: pd.Series[Any]
    about: str
    paper: dict[str, dict[str, float]]


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
    "COMPAS": ("compas.csv", 0, "wanted: does not recidivate; all 13 columns of the file"),
    "Hill-Valley": ("hill_valley_noise.csv", 1, "with noise; wanted: hill (1)"),
    "Arrhythmia": (
        "arrhythmia.csv",
        1,
        "wanted: normal, against all else; {missing} missing values replaced by medians; the 17 constant columns kept",
    ),
    "LSVT": ("lsvt_voice.csv", "acceptable", "wanted: acceptable"),
}
"""The file of each, the class wanted, and what is to say."""

PRINTED = ("proximity", "sparsity", "diversity", "diversity / proximity", "coverage")
TABLE_II = {
    "COMPAS": {
        "DiCE random": (1.3992, 0.1999, 1.7163, 1.2266, 1.00),
        "DiCE genetic": (1.5537, 0.3571, 0.0437, 0.0281, 1.00),
        "growing spheres": (1.1109, 0.4464, 1.9586, 1.7630, 0.80),
        "FACE k-NN": (1.5928, 0.3714, 1.8357, 1.1525, 1.00),
        "FACE epsilon": (1.6795, 0.3828, 1.8725, 1.1149, 1.00),
        "MD-PSO": (0.2629, 0.1230, 0.2959, 1.1257, 1.00),
    },
    "Hill-Valley": {
        "DiCE random": (0.9079, 0.0633, 1.0800, 1.1895, 1.00),
        "DiCE genetic": (0.5047, 0.7227, 0.6890, 1.3651, 0.80),
        "growing spheres": (1.0040, 1.0000, 0.9864, 0.9824, 0.60),
        "FACE k-NN": (1.1806, 0.7980, 0.9885, 0.8372, 1.00),
        "FACE epsilon": (1.0022, 0.7976, 0.8417, 0.8398, 1.00),
        "MD-PSO": (0.0700, 0.6440, 0.0571, 0.8172, 1.00),
    },
    "Arrhythmia": {
        "DiCE random": (1.6771, 0.2159, 2.9967, 1.7868, 1.00),
        "DiCE genetic": (2.3337, 0.5269, 2.3836, 1.0213, 1.00),
        "growing spheres": (1.1168, 0.9962, 2.1829, 1.9546, 0.60),
        "FACE k-NN": (2.0494, 0.4188, 2.6015, 1.2693, 1.00),
        "FACE epsilon": (2.6416, 0.5075, 2.4496, 0.9273, 1.00),
        "MD-PSO": (0.9989, 0.0865, 1.0452, 1.0464, 0.60),
    },
    "LSVT": {
        "DiCE random": (1.4819, 0.1639, 2.7050, 1.8253, 0.80),
        "DiCE genetic": (2.1654, 0.8665, 2.3250, 1.0737, 0.80),
        "growing spheres": (1.0056, 0.9967, 1.6997, 1.6902, 0.60),
        "FACE k-NN": (1.7700, 0.7759, 2.1967, 1.2410, 1.00),
        "FACE epsilon": (2.3219, 0.9713, 2.1201, 0.9130, 1.00),
        "MD-PSO": (1.7859, 0.3933, 0.9527, 0.5334, 0.80),
    },
}
"""The numbers of the paper's Table II. Its column of normalised diversity is diversity / proximity, not eq. 15."""


def data_sets(smoke: bool) -> Iterator[DataSet]:
    """Those whose files are there; a made-up table of loans for the smoke test."""
    if smoke:
        X, y = loans.load(300)
        yield DataSet("loans", X.fillna(0.0), (y == "approved").astype(int), "made up", {})
        return
    for name, (file, wanted, about) in SOURCES.items():
        if (folder() / file).exists():
            whole = pd.read_csv(folder() / file)
            X, y = whole.drop(columns="target"), (whole["target"] == wanted).astype(int)
            missing = int(X.isna().sum().sum())
            if missing:
                X = X.fillna(X.median())
            said = about.format(missing=missing)
            numbers = {who: dict(zip(PRINTED, row, strict=True)) for who, row in TABLE_II[name].items()}
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
