"""The most memory that a process takes which explains a row of 500 trees of 64 leaves, all told."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import joblib

from benchmarks.data import table
from benchmarks.ensembles.models import Question, ask, boosting, forest
from benchmarks.ensembles.scale import Line, Scale
from benchmarks.harness import SEED, fresh, where

WISH = 500.0
"""Megabytes."""

ROWS = 4000
"""Of the largest table; more rows change the leaves, and not how many there are."""

# Not getrusage, which counts what the parent held when it forked.
CODE = """
import sys
import joblib
def most():
    lines = open("/proc/self/status").read().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
model, X, row = joblib.load(sys.argv[1])
loaded = most()
import butfor as bf
bf.Explainer(model, data=X).explain(row, time_limit=float(sys.argv[2]))
print(loaded, most())
"""


def measure(scale: Scale) -> Iterator[Line]:
    """A forest and boosting; only where the system tells of memory as Linux does."""
    if not Path("/proc/self/status").exists():
        yield {"kind": "left out", "why": "this system has no /proc/self/status", **where()}
        return
    found = ("magic" in scale.tables and table("magic")) or table("breast")
    assert found is not None
    drawn = found.X.sample(min(ROWS, len(found.X)), random_state=SEED).index
    part = replace(found, X=found.X.loc[drawn], y=found.y.loc[drawn])
    for make, name in ((forest, "RF"), (boosting, "GB")):
        trees = scale.trees(500)
        question = ask(part, make(trees, None, max_leaf_nodes=64), 1)
        loaded, most = held(question, min(scale.limit, 20.0))
        yield {
            "kind": "summary", "name": f"{name} {trees} x 64 leaves", "value": most, "unit": "MB", "wish": WISH,
            "before_butfor": loaded, "leaves": question.leaves, "data": f"{found.about}; {len(part.X)} rows drawn", **where(),
        }  # fmt: skip


def held(question: Question, limit: float) -> tuple[float, float]:
    """The megabytes of a process that has loaded the model and the table, and the most that it held when it was done."""
    with tempfile.TemporaryDirectory() as place:
        path = str(Path(place) / "model.joblib")
        joblib.dump((question.model, question.table.X, question.rows.iloc[[0]]), path)
        _, (loaded, most) = fresh(CODE, path, str(limit))
    return loaded, most
