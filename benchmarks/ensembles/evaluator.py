"""The compiled evaluator against `predict_proba` of a scikit-learn forest, both on one thread."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import butfor as bf
from benchmarks.data import table
from benchmarks.ensembles.models import forest
from benchmarks.ensembles.scale import Line, Scale
from benchmarks.harness import Number, seconds
from butfor.arrays import FloatArray
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
        deep = "full depth" if depth is None else f"depth {depth}"
        for rows, wish in WISHES.items():
            some = np.ascontiguousarray(np.resize(X, (rows, X.shape[1])))
            theirs, ours = _compared(model, X, some, 1 if scale.shrink > 1 else 15)
            about = {"model": f"RF {scale.trees(100)} x {deep}", "data": found.about, "rows": rows, "wish": wish}
            name = f"{about['model']}, {rows} rows"
            yield {"kind": "summary", **Number(name, ours, "s", {"predict_proba": median(theirs)}, about).record()}


def _compared(
    model: RandomForestClassifier, X: FloatArray, some: FloatArray, repeats: int
) -> tuple[list[float], list[float]]:
    """The seconds of scikit-learn and of ours, and proof that both say the same."""
    read = bf.Explainer(model, data=X).reading.model
    assert isinstance(read, Trees)
    mean = evaluate_trees(read, some) / len(model.estimators_)
    assert np.allclose(mean, model.predict_proba(some), rtol=0, atol=1e-9)
    theirs = seconds(lambda: model.predict_proba(some), repeats)
    return theirs, seconds(lambda: evaluate_trees(read, some), repeats)
