"""Means and votes of a linear model and trees over real numbers: how long a row takes, and how many are proven in 10 s."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import butfor as bf
from benchmarks.harness import SEED, Number, main

ROWS, RIVAL_ROWS, LIMIT = 5, 3, 10.0
"""How many rows, how many of them HiGHS is asked about, and seconds for each."""


def models() -> dict[str, tuple[Any, Any]]:
    """Each model, and what is wanted of it."""
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    forest = RandomForestClassifier(10, max_depth=4, random_state=SEED)
    boosting = GradientBoostingClassifier(n_estimators=20, random_state=SEED)
    values = GradientBoostingRegressor(n_estimators=20, random_state=SEED)
    mean = VotingRegressor([("line", make_pipeline(StandardScaler(), LinearRegression())), ("trees", values)])
    return {
        "mean with boosting": (mean, bf.value(at_least=0.6)),
        "vote with a forest": (VotingClassifier([("line", scaled), ("trees", forest)], voting="soft"), bf.classes(1)),
        "vote with boosting": (VotingClassifier([("line", scaled), ("trees", boosting)], voting="soft"), bf.classes(1)),
    }


def measure(smoke: bool) -> Iterator[Number]:
    """Seconds of rows, each asked alone. HiGHS stands beside where it takes the question: that is where no mean is curved."""
    data = load_breast_cancer(as_frame=True)
    for columns in (4,) if smoke else (4, 8, 30):
        X, y = data.data.iloc[:, :columns], data.target
        for name, (model, target) in models().items():
            fitted = model.fit(X, y.astype(float) if "mean" in name else y)
            explainer = bf.Explainer(fitted, data=X)
            rows = X[fitted.predict(X) < 0.5].iloc[: 2 if smoke else ROWS]
            explainer.explain(rows.iloc[:1], target=target, time_limit=0.5)
            taken, proven, gaps = _asked(explainer, rows, target, 1.0 if smoke else LIMIT)
            about = {
                "data": f"breast cancer, {columns} columns",
                "proven": f"{proven} of {len(rows)}",
                "largest gap": max(gaps),
            }
            rival = {}
            if "mean" in name:
                theirs, _, _ = _asked(
                    explainer, rows.iloc[: 1 if smoke else RIVAL_ROWS], target, 1.0 if smoke else LIMIT, "milp"
                )
                rival = {"milp": sorted(theirs)[len(theirs) // 2]}
            yield Number(f"{name}, {columns} columns", taken, "s", rival, about, budget=f"{LIMIT:g} s a row")


def _asked(
    explainer: bf.Explainer, rows: pd.DataFrame, target: Any, limit: float, solver: str = "auto"
) -> tuple[list[float], int, list[float]]:
    """Seconds of each row, how many are proven, and the gaps."""
    taken, proven, gaps = list[float](), 0, list[float]()
    for i in range(len(rows)):
        begin = perf_counter()
        answer = explainer.explain(rows.iloc[[i]], target=target, time_limit=limit, solver=solver).only
        taken.append(perf_counter() - begin)
        certificate = answer.certificate
        proven += certificate.status is bf.Status.PROVEN_OPTIMAL
        gaps.append(round(1 - certificate.bound / certificate.cost, 4) if certificate.cost else 0.0)
    return taken, proven, gaps


if __name__ == "__main__":
    main({"lines_beside_trees": measure}, __doc__ or "")
