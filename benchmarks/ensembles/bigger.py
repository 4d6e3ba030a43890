"""Models of the size that people have, on Adult: the wait, the gap that is left and the memory, on a few rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.data import Table, table
from benchmarks.ensembles.exact import answers, small, summary
from benchmarks.ensembles.memory import held
from benchmarks.ensembles.models import Ensemble, ask, forest, xgboost
from benchmarks.ensembles.scale import Line, Scale
from benchmarks.harness import where

BIGGER = (
    Ensemble("XGBoost 1000 x depth 8", lambda trees: xgboost(trees, 8), 1000, needs="xgboost"),
    Ensemble("RF 500 x full depth", lambda trees: forest(trees, None), 500),
)
ROWS = 3


def measure(scale: Scale) -> Iterator[Line]:
    """Both models; breast cancer stands in where Adult is absent."""
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
    about = {"table": of.name, "model": ensemble.name, "data": of.about, "leaves": question.leaves}
    lines = []
    for line in answers(question, scale):
        lines.append(line)
        yield {"kind": "row", **about, "limit": scale.limit, **line, **where()}
    if Path("/proc/self/status").exists():
        about["before_butfor_mb"], about["most_mb"] = held(question, scale.limit)
    yield {"kind": "summary", **summary(ensemble, lines, about, scale)}
