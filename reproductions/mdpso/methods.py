"""Everybody's answers to one case: the swarm in several settings, the plain rivals, and DiCE."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import butfor as bf
from benchmarks.rivals import frame, work
from benchmarks.swarm.plain import PLAIN, Field
from butfor.problem.cost import AbstractCost
from reproductions.mdpso.sets import Case

COST = bf.MAD() + 1.5 * bf.L0()
"""What the swarm minimises: proximity, and a price for each change."""

PARTICLES, ITERATIONS = 50, 100
POINTS = 50_000
"""Points a plain rival may ask about for a row."""

DICE = ("random", "genetic")
LIMIT = 60.0
"""Seconds that DiCE has for a row."""


@dataclass(frozen=True, eq=False)
class Answered:
    """What a method gave with one seed: a table of answers a row (or butfor's own), and the seconds a row."""

    method: str
    seed: int
    answers: Any
    seconds: float
    about: dict[str, Any]


def swarms(smoke: bool) -> dict[str, tuple[bf.Swarm, AbstractCost, bool]]:
    """The swarm's rows: its settings, its cost, and whether it may read the model."""
    size = {"particles": 10, "iterations": 5} if smoke else {"particles": PARTICLES, "iterations": ITERATIONS}
    default = bf.Swarm(**size)
    return {
        "swarm, black box": (default, COST, False),
        "swarm, model read": (default, COST, True),
        "swarm, cheapest, black box": (replace(default, choice="own"), COST, False),
        "swarm, cheapest, model read": (replace(default, choice="own"), COST, True),
        "swarm as printed, not polished": (replace(bf.Swarm.printed(), polish=False, **size), COST, False),
    }


def of_swarms(case: Case, k: int, seeds: int, smoke: bool) -> Iterator[Answered]:
    """The swarm with several seeds; all rows are asked together, after one call that compiles."""
    asked = bf.black_box(case.model.predict_proba, classes=case.model.classes_)
    explainers = {False: bf.Explainer(asked, case.of.X), True: bf.Explainer(case.model, case.of.X)}
    for name, (swarm, cost, reads) in swarms(smoke).items():
        ask = explainers[reads]
        ask.explain(case.rows, target=1, k=k, cost=cost, solver=replace(swarm, iterations=2, polish=False))
        for seed in range(seeds):
            begin = time.perf_counter()
            found = ask.explain(case.rows, target=1, k=k, cost=cost, solver=swarm, seed=seed)
            each = (time.perf_counter() - begin) / len(case.rows)
            yield Answered(name, seed, found, each, {"cost": repr(cost), "swarm": repr(swarm)})


def of_plain(case: Case, k: int, seeds: int) -> Iterator[Answered]:
    """The plain rivals; those that draw nothing once."""
    space = bf.Explainer(case.model, case.of.X).space

    def ask(points: np.ndarray[Any, Any]) -> Any:
        rows = case.of.X.iloc[np.zeros(len(points), dtype=int)].reset_index(drop=True)
        return case.model.predict_proba(space.decode(points, rows))[:, 1]

    data, factuals = space.encode(case.of.X), space.encode(case.rows)
    for name, rival in PLAIN.items():
        for seed in range(1 if name in ("nearest rows", "FACE k-NN") else seeds):
            field, rng, begin = Field(space, data, ask), np.random.default_rng(seed), time.perf_counter()
            found = [_table(case, space, rival(field, factual, k, rng, POINTS)) for factual in factuals]
            yield Answered(name, seed, found, (time.perf_counter() - begin) / len(factuals), {"points": POINTS})


def _table(case: Case, space: bf.Space, points: np.ndarray[Any, Any]) -> pd.DataFrame:
    rows = case.of.X.iloc[np.zeros(len(points), dtype=int)].reset_index(drop=True)
    return space.decode(points, rows)


def of_dice(case: Case, k: int, seeds: int, python: Path) -> Iterator[Answered]:
    """DiCE's methods in their own environment; a row without an answer in time is one without answers."""
    for seed in range(seeds):
        job = {
            "model": case.model, "X": case.of.X, "y": case.of.y, "rows": case.rows, "answers": k, "seed": seed,
            "rivals": [f"dice_{method}" for method in DICE], "limit": LIMIT, "patience": np.inf,
        }  # fmt: skip
        lines = list(work(python, job))
        versions = next(line["versions"] for line in lines if "versions" in line)
        for method in DICE:
            its = [line for line in lines if line.get("rival") in (f"dice_{method}", "all")]
            found = {line["row"]: frame(line["points"], case.of.X) for line in its if line.get("points")}
            answers = [found.get(row) for row in range(len(case.rows))]
            seconds = float(np.mean([line["seconds"] for line in its if "seconds" in line] or [np.nan]))
            status = [line["status"] + line.get("why", "") for line in its]
            yield Answered(f"DiCE {method}", seed, answers, seconds, {"status": status, "versions": versions})
