"""The compiled evaluator against `predict_proba` of a scikit-learn forest, both on one thread."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import butfor as bf
from benchmarks.data import table
from benchmarks.ensembles.models import forest
from benchmarks.ensembles.scale import Line, Scale
from benchmarks.harness import Number, seconds
from butfor.model.trees import Trees, evaluate_trees

WISHES = {2000: 3.0, 1: 100.0}
"""For so many rows, how many times faster we want to be."""


def measure(scale: Scale) -> Iterator[Line]:
    """Depths 5, 10 and unlimited; 2,000 rows and a single one."""
    found = ("magic" in scale.tables and table("magic")) or table("breast")
    assert found is not None
    X, y = found.X.to_numpy(dtype=np.float64), found.y.to_numpy()
    for depth in (5, 10, None):
        model = forest(scale.trees(100), depth).fit(X, y)
        read = bf.Explainer(model, data=X)._reading.model
        assert isinstance(read, Trees)
        for rows, wish in WISHES.items():
            some = np.ascontiguousarray(np.resize(X, (rows, X.shape[1])))
            repeats = 1 if scale.shrink > 1 else 15
            theirs = sorted(seconds(lambda some=some: model.predict_proba(some), repeats))[repeats // 2]
            ours = seconds(lambda some=some: evaluate_trees(read, some), repeats)
            name = f"RF {scale.trees(100)} x {'full depth' if depth is None else f'depth {depth}'}, {rows} rows"
            about = {"data": found.about, "rows": rows, "wish": wish}
            yield {"kind": "summary", **Number(name, ours, "s", {"predict_proba": theirs}, about).record()}
