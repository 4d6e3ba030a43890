"""Models of the size that people have, on Adult: the waits, the gap that is left and the memory, on a few rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import butfor as bf
from benchmarks.data import Table, table
from benchmarks.ensembles.exact import answers, small, summary
from benchmarks.ensembles.memory import held
from benchmarks.ensembles.models import Ensemble, ask, forest, lightgbm, xgboost
from benchmarks.ensembles.scale import Line, Scale
from benchmarks.harness import where

BIGGER = (
    Ensemble("XGBoost 1000 x depth 8", lambda trees: xgboost(trees, 8), 1000, needs="xgboost"),
    Ensemble("LightGBM 2000 x 255 leaves", lambda trees: lightgbm(trees, 255), 2000, needs="lightgbm"),
    Ensemble("RF 500 x full depth", lambda trees: forest(trees, None), 500),
)
ROWS = 3


def measure(scale: Scale) -> Iterator[Line]:
    """Each model; breast cancer stands in where Adult is absent."""
    found = ("adult" in scale.tables and table("adult")) or table("breast")
    assert found is not None
    for ensemble in BIGGER:
        if ensemble.there:
            yield from _measured(found, ensemble, small(scale, ROWS, scale.limit))
        else:
            why = f"{ensemble.needs} is not installed"
            yield {"kind": "left out", "table": found.name, "model": ensemble.name, "why": why, **where()}


def _measured(of: Table, ensemble: Ensemble, scale: Scale) -> Iterator[Line]:
    question = ask(of, ensemble.make(scale.trees(ensemble.trees)), scale.rows)
    about: Line = {"table": of.name, "model": ensemble.name, "data": of.about, "leaves": question.leaves}
    begin = time.perf_counter()
    bf.Explainer(question.model, data=of.X)
    about["explainer_s"] = time.perf_counter() - begin
    lines = []
    for line in answers(question, scale):
        lines.append(line)
        yield {"kind": "row", **about, "limit": scale.limit, **line, **where()}
    if Path("/proc/self/status").exists():
        about["before_butfor_mb"], about["most_mb"] = held(question, scale.limit)
    yield {"kind": "summary", **summary(ensemble, lines, about, scale)}
