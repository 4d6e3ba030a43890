"""The discretiser: a million rows transformed, another quantile, and counterfactuals of boosted stumps."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier

import butfor as bf
from benchmarks.harness import SEED, Number, main, seconds
from butfor.compress.search import weighted_cost

MEGABYTE = 1e6


def measure(smoke: bool) -> Iterator[Number]:
    """Seconds and memory of `transform`, of `set_quantile`, and of one counterfactual."""
    rows, columns = (2000 if smoke else 1_000_000), 20
    X, y = make_classification(rows, columns, n_informative=10, random_state=SEED)
    some = slice(0, 500 if smoke else 2000)
    model = GradientBoostingClassifier(n_estimators=100, max_depth=1, random_state=SEED).fit(X[some], y[some])
    disc = bf.compress.CounterfactualDiscretizer(model, quantile=0.0).fit(X[some], y[some])
    repeats = 1 if smoke else 5
    data = f"made up, {rows} x {columns}, {len(disc.thresholds_)} thresholds"
    yield Number("transform", seconds(lambda: disc.transform(X), repeats), "s", {"limit": 2.0}, {"data": data})

    tracemalloc.start()
    out = disc.transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    yield Number(
        "memory of transform, its output included", [peak / MEGABYTE], "MB", {"limit": 2 * out.nbytes / MEGABYTE},
        {"data": data, "output": out.nbytes / MEGABYTE},
    )  # fmt: skip

    quantiles = iter(np.tile([0.9, 0.2], repeats + 1).tolist())
    yield Number("another quantile", seconds(lambda: disc.set_quantile(next(quantiles)), repeats), "s", {"limit": 0.01})

    explainer, cost = bf.Explainer(model, data=X[some]), weighted_cost(0.1, 1.0, 0.0)
    right = X[some][model.predict(X[some]) == y[some]]
    yield from _counterfactuals("knapsack of the columns", explainer, right, cost, "auto", repeats)
    yield from _counterfactuals("the general search", explainer, right[:200], cost, "ensemble_branch_bound", repeats)


def _counterfactuals(
    name: str, explainer: bf.Explainer, rows: Any, cost: Any, solver: Any, repeats: int
) -> Iterator[Number]:
    """Seconds per row."""
    taken = seconds(lambda: explainer.explain(rows, cost=cost, solver=solver), repeats)
    yield Number(f"stumps, one counterfactual: {name}", [one / len(rows) for one in taken], "s", {"limit": 0.001})


if __name__ == "__main__":
    main({"compress": measure}, __doc__ or "")
