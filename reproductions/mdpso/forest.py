"""One answer a row from a random forest: what the swarm finds, beside the proven optimum."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import butfor as bf
from reproductions.mdpso.methods import COST, ITERATIONS, PARTICLES
from reproductions.mdpso.sets import Case

LIMIT = 120.0
"""Seconds that the proof of a row may take."""


def gaps(case: Case, seeds: int, smoke: bool) -> Iterator[dict[str, Any]]:
    """A line a row and seed. A row whose optimum is not proven in time has its gap to the bound, and is not averaged."""
    explainer = bf.Explainer(case.model, case.of.X)
    swarm = bf.Swarm(10, 5) if smoke else bf.Swarm(PARTICLES, ITERATIONS)
    for cost in (COST, bf.L1()):
        optimum = []
        for n in range(len(case.rows)):
            begin = time.perf_counter()
            exact = explainer.explain(case.rows.iloc[[n]], target=1, cost=cost, time_limit=LIMIT)
            optimum.append((exact.certificate, time.perf_counter() - begin))
        for seed in range(seeds):
            begin = time.perf_counter()
            found = explainer.explain(case.rows, target=1, k=1, cost=cost, solver=swarm, seed=seed)
            each = (time.perf_counter() - begin) / len(case.rows)
            for n, (certificate, seconds) in enumerate(optimum):
                bound = float(certificate.bound)
                yield {
                    "kind": "gap", "method": repr(cost), "seed": seed, "row": int(case.rows.index[n]),
                    "proven": certificate.status is bf.Status.PROVEN_OPTIMAL, "bound": bound,
                    "cost": float(found.costs[n]), "gap": float(found.costs[n]) / bound - 1 if bound > 0 else None,
                    "seconds": each, "exact_seconds": seconds,
                }  # fmt: skip
