"""OCEAN and DiCE on the same fitted models and rows, in an environment of their own; their costs are counted by us.

OCEAN knows no whole numbers on a scale of ours, so we answer its question once more: every number continuous.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import butfor as bf
from benchmarks.baselines import distance
from benchmarks.data import Table, table
from benchmarks.ensembles.exact import answers, small
from benchmarks.ensembles.models import ENSEMBLES, FOREST, Ensemble, Question, ask
from benchmarks.ensembles.scale import Line, Scale
from benchmarks.harness import SEED, where
from benchmarks.rivals import environment, frame, named, work

COMPARED = ENSEMBLES[:2]
"""The models of scikit-learn; OCEAN reads the forest of the two."""


def measure(scale: Scale) -> Iterator[Line]:
    """The rivals' answers beside ours."""
    python, why = environment(named())
    if python is None:
        yield {"kind": "left out", "why": why, **where()}
        return
    for name in scale.tables:
        found = table(name)
        for ensemble in COMPARED if found is not None else ():
            yield from _compared(found, ensemble, scale, python)


def _compared(of: Table, ensemble: Ensemble, scale: Scale, python: Path) -> Iterator[Line]:
    about = {"kind": "row", "table": of.name, "model": ensemble.name}
    few = small(scale, scale.rival_rows, scale.limit)
    estimator = ensemble.make(scale.trees(ensemble.trees))
    ours = ask(of, estimator, few.rows)
    questions = [("butfor", ours)]
    if ensemble is FOREST:
        questions.append(("butfor, numbers continuous", ask(of, estimator, few.rows, _continuous(of.X))))
    for name, question in questions:
        for line in answers(question, few):
            yield {**about, "rival": name, **line, **where()}
    rivals = [*(["ocean"] if ensemble is FOREST else []), "dice_random", "dice_genetic"]
    versions: Line = {}
    for line in _work(python, ours, rivals, scale):
        if "versions" in line:
            versions = line["versions"]
            continue
        if "points" in line:
            line.update(cheapest(ours, line["row"], line.pop("points")))
        if "row" in line:
            line["row"] = int(ours.rows.index[line["row"]])
        yield {**about, **line, **where(), "versions": versions}


def _continuous(X: pd.DataFrame) -> dict[str, Any]:
    return {name: bf.Continuous() for name in X if _kind(X[name]) == "number"}


def _kind(column: pd.Series[Any]) -> str:
    if not pd.api.types.is_numeric_dtype(column):
        return "level"
    return "binary" if set(column.unique()) <= {0, 1} else "number"


def _columns(question: Question) -> list[tuple[Any, ...]]:
    """For every column that the trees read: its raw name, its kind, low end or level, and range."""
    X, model = question.table.X, question.model
    numbers = [
        (name, _kind(X[name]), float(X[name].min()), float(np.ptp(X[name]))) for name in X if _kind(X[name]) != "level"
    ]
    if len(model) == 1:
        return numbers
    texts = [name for name in X if _kind(X[name]) == "level"]
    levels = model[0].named_transformers_["levels"].categories_
    return [(name, "level", level, 1.0) for name, known in zip(texts, levels, strict=True) for level in known] + numbers


def _work(python: Path, question: Question, rivals: list[str], scale: Scale) -> Iterator[Line]:
    rows, model = question.rows, question.model
    job = {
        "model": model,
        "X": question.table.X,
        "y": question.table.y,
        "rows": rows,
        "encoded": np.asarray(rows if len(model) == 1 else model[:-1].transform(rows), dtype=np.float64),
        "columns": _columns(question),
        "rivals": rivals,
        "answers": 4,
        "seed": SEED,
        "limit": scale.limit,
        "patience": scale.rival_patience,
    }
    return work(python, job)


def cheapest(question: Question, row: int, points: list[list[Any]]) -> Line:
    """The best of a rival's answers that the model puts in the desired class."""
    X, space = question.table.X, question.explainer.space
    if not points:
        return {"cost": None, "valid": 0, "given": 0}
    table = frame(points, X)
    valid = question.model.predict(table) == 1
    cost = distance(space, space.encode(question.rows.iloc[[row]])[0], space.encode(table), 1)
    best = float(cost[valid].min()) if valid.any() else None
    return {"cost": best, "valid": int(valid.sum()), "given": len(points)}
