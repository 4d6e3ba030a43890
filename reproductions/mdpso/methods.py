"""Everybody's answers to one case: the swarm in several settings, the plain rivals, and DiCE."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

import butfor as bf
from benchmarks.rivals import Answered, dice
from benchmarks.swarm.plain import PLAIN, answered
from reproductions.mdpso.sets import Case

COST = bf.MAD() + 1.75 * bf.L0()
"""What the swarm minimises: proximity, and a price for each change (chosen on COMPAS, with other seeds than the table's)."""

PARTICLES, ITERATIONS, ACTIVE = 50, 100, 40
"""The paper's particles and iterations, and how many features may move, those of the greatest information value."""

POINTS = 50_000
"""Points a plain rival may ask about for a row."""

DICE = ("random", "genetic")
LIMIT = 60.0
"""Seconds that DiCE has for a row."""


@dataclass(frozen=True, eq=False)
class Measured:
    """What a method gave with one seed."""

    method: str
    seed: int
    found: Answered


def swarms(columns: int, smoke: bool) -> dict[str, tuple[bf.Swarm, bool]]:
    """The swarm's rows: its settings, and whether it may read the model."""
    size = {"particles": 10, "iterations": 5} if smoke else {"particles": PARTICLES, "iterations": ITERATIONS}
    default = bf.Swarm(**size, active=ACTIVE if columns > ACTIVE else None)
    printed = replace(default, draws=bf.Swarm.printed().draws, polish=False)
    return {
        "swarm, black box": (default, False),
        "swarm, model read": (default, True),
        "swarm, cheapest, black box": (replace(default, choice="own"), False),
        "swarm, cheapest, model read": (replace(default, choice="own"), True),
        "swarm as printed, not polished": (printed, False),
    }


def of_swarms(case: Case, k: int, seeds: int, smoke: bool) -> Iterator[Measured]:
    """The swarm with several seeds; all rows are asked together, after one call that compiles."""
    asked = bf.black_box(case.model.predict_proba, classes=case.model.classes_)
    explainers = {False: bf.Explainer(asked, case.of.X), True: bf.Explainer(case.model, case.of.X)}
    for name, (swarm, reads) in swarms(case.of.X.shape[1], smoke).items():
        ask = explainers[reads]
        ask.explain(case.rows, target=1, k=k, cost=COST, solver=replace(swarm, iterations=2, polish=False))
        for seed in range(seeds):
            begin = time.perf_counter()
            found = ask.explain(case.rows, target=1, k=k, cost=COST, solver=swarm, seed=seed)
            each = (time.perf_counter() - begin) / len(case.rows)
            points = [[one.point for one in found if one.row == row and one.found] for row in range(len(case.rows))]
            answers = [pd.concat(some) if some else None for some in points]
            about = {"cost": repr(COST), "swarm": repr(swarm)}
            yield Measured(name, seed, Answered(answers, [each] * len(answers), about=about))


def of_plain(case: Case, k: int, seeds: int) -> Iterator[Measured]:
    """The plain rivals; those that draw nothing once."""
    for name in PLAIN:
        for seed in range(1 if name in ("nearest rows", "FACE k-NN") else seeds):
            yield Measured(name, seed, answered(name, case.model, case.of.X, case.rows, k, seed, POINTS))


def of_dice(case: Case, k: int, seeds: int, python: Path) -> Iterator[Measured]:
    """DiCE's methods in their own environment."""
    for seed in range(seeds):
        found = dice(python, case.model, (case.of.X, case.of.y), case.rows, k, seed, LIMIT, DICE)
        yield from (Measured(f"DiCE {method}", seed, one) for method, one in found.items())
