"""How far the swarm's answers are from the proven optimum of the exact solver, forest by forest; and what polishing does."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import butfor as bf
from benchmarks.data import pipeline, table
from benchmarks.harness import SEED, Number

TABLES = ("breast", "pima", "ionosphere", "german", "compas")
DEPTH, ROWS, LIMIT = 6, 20, 60.0


def measure(smoke: bool) -> Iterator[Number]:
    """RF 100 of depth 6, rows in the undesired class; those that the exact solver proves are compared."""
    for name in TABLES[:1] if smoke else TABLES:
        found = table(name)
        if found is None:
            continue
        forest = RandomForestClassifier(5 if smoke else 100, max_depth=DEPTH, random_state=SEED)
        model = pipeline(found.X, forest).fit(found.X, found.y)
        explainer = bf.Explainer(model, found.X)
        undesired = np.flatnonzero(model.predict(found.X) == 0)
        rows = found.X.iloc[np.random.default_rng(SEED).permutation(undesired)[: 2 if smoke else ROWS]]
        explainer.explain(rows.iloc[:1], target=1, solver=bf.Swarm(iterations=2))  # compiles
        begin = time.perf_counter()
        optimum = explainer.explain(rows, target=1, time_limit=LIMIT * len(rows))
        exact = (time.perf_counter() - begin) / len(rows)
        proven = np.array([one.certificate.status is bf.Status.PROVEN_OPTIMAL for one in optimum])
        best = optimum.costs[proven]
        for words, swarm in {"polished": bf.Swarm(), "not polished": bf.Swarm(polish=False)}.items():
            begin = time.perf_counter()
            answers = explainer.explain(rows, target=1, solver=swarm)
            each = (time.perf_counter() - begin) / len(rows)
            gap = answers.costs[proven] / best - 1
            about = {
                "model": f"RF 100 x depth {DEPTH}", "data": found.about, "rows": int(proven.sum()), "exact_seconds": exact,
                "found": float(answers.found.mean()), "gap_mean": float(gap.mean()), "gap_median": float(np.median(gap)),
                "gap_most": float(gap.max()), "optimal": float((gap < 1e-6).mean()),
            }  # fmt: skip
            yield Number(f"{name}, {words}, a row", [each], "s", {}, about)
