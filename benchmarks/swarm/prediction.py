"""A forest of 100 trees as a black box: the share of the time that is spent in its predictions, and what reading it saves."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import butfor as bf
from benchmarks.data import Table, table
from benchmarks.harness import SEED, Number

TABLES, ROWS, SHARE = ("magic", "breast"), 8, 0.8


class Timed:
    """A function that remembers how long it took."""

    def __init__(self, function: Any) -> None:
        self.function, self.seconds = function, 0.0

    def __call__(self, rows: Any) -> Any:
        begin = time.perf_counter()
        said = self.function(rows)
        self.seconds += time.perf_counter() - begin
        return said


def measure(smoke: bool) -> Iterator[Number]:
    """`predict_proba` on one thread, trees of full depth. Both give answers to the same rows with the same settings."""
    for name in TABLES[1:] if smoke else TABLES:
        found = table(name)
        if found is not None:
            yield from _measured(found, smoke)


def _measured(found: Table, smoke: bool) -> Iterator[Number]:
    """One forest: whole calls, the first of which, that compiles and asks about the training rows, is not counted."""
    X, trees = found.X, 5 if smoke else 100
    forest = RandomForestClassifier(trees, random_state=SEED, n_jobs=1).fit(X, found.y)
    rows = X.iloc[np.flatnonzero(forest.predict(X) == 0)[: 2 if smoke else ROWS]]
    timed = Timed(forest.predict_proba)
    asked, read = bf.Explainer(bf.black_box(timed, classes=forest.classes_), X), bf.Explainer(forest, X)
    swarm = bf.Swarm(iterations=5) if smoke else bf.Swarm()
    cases = {
        "black box": (asked, swarm), "black box, not polished": (asked, replace(swarm, polish=False)), "read": (read, swarm)
    }  # fmt: skip
    rival = {}
    for name, (explainer, settings) in cases.items():
        seconds, inside = [], []
        explainer.explain(rows, target=1, solver=settings)
        for _ in range(1 if smoke else 3):
            timed.seconds, begin = 0.0, time.perf_counter()
            answers = explainer.explain(rows, target=1, solver=settings)
            seconds.append(time.perf_counter() - begin)
            inside.append(timed.seconds)
        share = None if name == "read" else float(np.median(np.array(inside) / seconds))
        about = {
            "model": f"RF {trees}, full depth", "data": found.about, "rows": len(rows), "particles": swarm.particles,
            "iterations": swarm.iterations, "calls": answers[0].certificate.notes["calls"],
            "mean_cost": float(np.mean(answers.costs)), "share_in_prediction": share, "share_wanted": SHARE,
        }  # fmt: skip
        yield Number(f"{found.name}, {name}, whole call", seconds, "s", rival if name == "read" else {}, about)
        rival = rival or {"black box": float(np.median(seconds))}
