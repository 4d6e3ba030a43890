"""Veritas beside our proofs of L-infinity: the smallest radius around a row in which an answer lies.

Both sides take every number as continuous, of range 1. Veritas halves an interval, and its two ends are a third opinion on our
bound. It is measured in this process.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd

import butfor as bf
from benchmarks.data import Table
from benchmarks.ensembles.exact import answers
from benchmarks.ensembles.models import Question, absent, ask
from benchmarks.ensembles.scale import Line, Scale, while_patient
from benchmarks.ensembles.scenarios import sizes
from benchmarks.ensembles.treecf import continuous
from benchmarks.harness import SEED, where

HALVINGS = 20
"""How often Veritas halves an interval of radii at most. It begins with the range, so a millionth of it is left."""

GUARD = 1e-6
"""How far Veritas goes beyond a threshold to be on its other side."""


def measure(scale: Scale) -> Iterator[Line]:
    """The sizes that treecf publishes times for, in the units of their ranges."""
    if why := absent("veritas", "xgboost"):
        yield {"kind": "left out", "why": why, **where()}
        return
    import veritas

    for table, name, estimator in sizes(scale):
        question = ask(of_range_one(table), estimator, scale.rows, continuous(table.X))
        about = {"kind": "row", "table": table.name, "model": name, "data": table.about, "leaves": question.leaves}
        asked = {"limit": scale.limit, "budget": scale.budget, "seed": SEED}
        for line in answers(question, scale, cost=bf.LInf()):
            yield {**about, "rival": "butfor", **line, **asked, **where()}
        with redirect_stdout(io.StringIO()):  # it compares its trees with the model aloud
            trees = veritas.get_addtree(question.model[-1])
        for row in while_patient(range(len(question.rows)), scale.rival_patience):
            line = {**about, "rival": "veritas", **_theirs(trees, question, row, scale)}
            yield {**line, **asked, "versions": {"veritas": version("dtai-veritas")}, **where()}


def of_range_one(table: Table) -> Table:
    """The table with numbers between 0 and 1 that single precision holds, as Veritas reads them."""
    X = (table.X - table.X.min()) / np.ptp(table.X.to_numpy(), axis=0)
    return replace(table, X=X.astype(np.float32).astype(np.float64))


def _theirs(trees: Any, question: Question, row: int, scale: Scale) -> Line:
    """What Veritas says of one row. Its answers are predicted by the model, and the cheapest is counted, by us."""
    import veritas

    point = question.rows.iloc[row].to_numpy(dtype=np.float32)
    begin = time.perf_counter()
    search = veritas.VeritasRobustnessSearch(
        point, 1.0, None, trees, num_steps=HALVINGS, max_time=scale.limit, search_guard=GUARD, silent=True
    )
    try:
        _, lower, upper = search.search()
    except ValueError:  # its box is so small that it has no width in single precision: what it knows by then counts
        _, lower, upper, _ = search.delta_log[-1]
    seconds = time.perf_counter() - begin
    found = pd.DataFrame(search.generated_examples, columns=list(question.table.X), dtype=np.float64)
    radii = np.abs(found - point).max(axis=1)
    valid = radii[question.model.predict(found) == 1] if len(found) else radii
    ends = {"cost": float(valid.min()) if len(valid) else None, "bound": float(lower), "radius": float(upper)}
    return {"row": int(question.rows.index[row]), **ends, "status": "BOUNDED", "seconds": seconds}
