"""The paper's data sets, its questions on them, and models of both kinds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sksurv.ensemble import RandomSurvivalForest
from sksurv.linear_model import CoxPHSurvivalAnalysis

import butfor as bf
from benchmarks.data import folder
from benchmarks.harness import SEED
from benchmarks.survival.data import cox_weibull, means, outcome
from butfor.arrays import FloatArray

TIMES = ["txtime", "crtime", "rltime"]
SHARE = 0.4
"""How much of what the training rows reach is asked for."""

ROWS = 2
"""How many rows are asked about, in each direction."""


@dataclass(frozen=True, eq=False)
class Survivors:
    """Rows, their outcomes, and what there is to know of them."""

    name: str
    X: FloatArray
    y: Any
    columns: tuple[str, ...]
    about: str


@dataclass(frozen=True, eq=False)
class Question:
    """One row, and by how much its mean time is to change."""

    of: Survivors
    kind: Literal["cox", "forest"]
    model: Any
    explainer: bf.Explainer
    row: int
    theta: int
    r: float

    @property
    def x(self) -> FloatArray:
        """The factual, as a table of one row."""
        return self.of.X[[self.row]]

    @property
    def target(self) -> Any:
        """What is asked."""
        return bf.survival.mean_gain(self.r) if self.theta > 0 else bf.survival.mean_loss(self.r)

    def means(self, points: FloatArray) -> FloatArray:
        """The mean times of points, by the model's own functions."""
        parts = np.array_split(points, 1 + len(points) // 4000)
        times = (self.model[-1] if self.kind == "cox" else self.model).unique_times_
        return np.concatenate([means(times, self.model.predict_survival_function(p, return_array=True)) for p in parts])


def survivors(smoke: bool) -> Iterator[Survivors]:
    """Synthetic sets with 2 and 20 columns; Stanford2 and both arms of Myeloid where their files are."""
    rows = 120 if smoke else 1000
    for d in (2, 20):
        X, y = cox_weibull(rows, d, SEED)
        yield Survivors(f"synthetic, d = {d}", X, y, tuple(f"x{j}" for j in range(d)), f"{rows} rows, seed {SEED}")
    if (folder() / "stanford2.csv").exists():
        found = pd.read_csv(folder() / "stanford2.csv").dropna()
        X = found[["age", "t5"]].to_numpy(dtype=np.float64)
        yield Survivors(
            "Stanford2", X, outcome(found["event"], found["time"]), ("age", "t5"), f"{len(X)} complete rows"
        )
    if (folder() / "myeloid.csv").exists():
        found = pd.read_csv(folder() / "myeloid.csv")
        for arm in ("A", "B"):
            some = found[found["trt"] == arm]
            X = some[TIMES].fillna(some[TIMES].median()).to_numpy(dtype=np.float64)
            lost = int(some[TIMES].isna().sum().sum())
            about = f"{len(X)} rows; {lost} missing times replaced by medians"
            yield Survivors(f"Myeloid, arm {arm}", X, outcome(some["event"], some["time"]), tuple(TIMES), about)


def questions(of: Survivors, kind: Literal["cox", "forest"], smoke: bool) -> Iterator[Question]:
    """The first rows, by chance, whose mean can move at least a tenth of its spread in that direction."""
    trees = 10 if smoke else 250
    # scikit-survival's Cox model computes from a baseline at x = 0, which rounds to 0 if that is far away: so it is centred
    centred = make_pipeline(StandardScaler(with_std=False), CoxPHSurvivalAnalysis())
    model = centred if kind == "cox" else RandomSurvivalForest(trees, random_state=SEED)
    model.fit(of.X, of.y)
    space = {name: bf.Continuous() for name in (f"x{j}" for j in range(of.X.shape[1]))}
    explainer = bf.Explainer(model, data=of.X, space=space)
    every = Question(of, kind, model, explainer, 0, 1, 1.0).means(of.X)
    order = np.random.default_rng(SEED).permutation(len(of.X))
    for theta in (1, -1):
        reach = theta * ((every.max() if theta > 0 else every.min()) - every)
        able = [int(row) for row in order if reach[row] > 0.1 * every.std()]
        for row in able[: 1 if smoke else ROWS]:
            yield Question(of, kind, model, explainer, row, theta, float(SHARE * reach[row]))
