"""Everybody's answers to one case: the swarm in several settings, the plain rivals, and DiCE."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

import butfor as bf
from benchmarks.rivals import Answered, dice
from benchmarks.swarm.plain import DRAWS_NOTHING, PLAIN, answered
from butfor.problem.costs import AbstractCost
from reproductions.mdpso.sets import Case

COST = bf.MAD() + 1.75 * bf.L0()
"""What the swarm minimises: proximity, and a price for each change (chosen on COMPAS, with other seeds than the table's)."""

PARTICLES, ITERATIONS, ACTIVE = 50, 100, 40
"""The paper's particles and iterations, and how many features may move, those of the greatest information value."""

POINTS = 50_000
"""Points a plain rival may ask about for a row."""

WRITTEN = bf.Gower() + bf.L0()
"""The objective (3) without its first term, which `pull` weighs."""

PULL, COLUMNS, BOX = 100.0, 8, 0.2
"""What a probability that lacks to the target counts beside it, and the hyper-parameters h and epsilon of algorithm 1.

The paper names none of them. With a pull of 1, no change pays for itself: the first term is at most 1/2.
"""

DICE = ("random", "genetic")
LIMIT = 60.0
"""Seconds that DiCE has for a row."""


@dataclass(frozen=True, eq=False)
class Measured:
    """What a method gave with one seed."""

    method: str
    seed: int
    found: Answered


Wanted = Callable[[str, int], bool]
"""Whether a method's line with a seed is wanted: it may be known from a run that was stopped."""


def swarms(columns: int, smoke: bool) -> dict[str, tuple[bf.Swarm, AbstractCost, bool]]:
    """The swarm's rows: its settings, what it minimises, and whether it may read the model."""
    size = {"particles": 10, "iterations": 5} if smoke else {"particles": PARTICLES, "iterations": ITERATIONS}
    default = bf.Swarm(**size, active=ACTIVE if columns > ACTIVE else None)
    cheapest, drawn = replace(default, choice="own"), replace(default, choice="random", polish=False)
    printed = replace(drawn, draws=bf.Swarm.printed().draws)
    written = replace(printed, active=min(COLUMNS, columns), telling="as printed", box=BOX, pull=PULL)
    return {
        "swarm, black box": (default, COST, False),
        "swarm, model read": (default, COST, True),
        "swarm, cheapest, black box": (cheapest, COST, False),
        "swarm, cheapest, model read": (cheapest, COST, True),
        "swarm, a random one of each cluster, not polished": (drawn, COST, False),
        "swarm, update as printed, not polished": (printed, COST, False),
        "swarm, algorithm 1 as written": (written, WRITTEN, False),
    }


def of_swarms(case: Case, k: int, seeds: int, smoke: bool, wanted: Wanted) -> Iterator[Measured]:
    """The swarm with several seeds; all rows are asked together, after one call that compiles."""
    asked = bf.black_box(case.model.predict_proba, classes=case.model.classes_)
    explainers = {False: bf.Explainer(asked, case.of.X), True: bf.Explainer(case.model, case.of.X)}
    for name, (swarm, cost, reads) in swarms(case.of.X.shape[1], smoke).items():
        ask, left = explainers[reads], [seed for seed in range(seeds) if wanted(name, seed)]
        if left:
            ask.explain(case.rows, target=1, k=k, cost=cost, solver=replace(swarm, iterations=2, polish=False))
        for seed in left:
            begin = time.perf_counter()
            found = ask.explain(case.rows, target=1, k=k, cost=cost, solver=swarm, seed=seed)
            each = (time.perf_counter() - begin) / len(case.rows)
            points = [[one.point for one in found if one.row == row and one.found] for row in range(len(case.rows))]
            answers = [pd.concat(some) if some else None for some in points]
            about = {"cost": repr(cost), "swarm": repr(swarm)}
            yield Measured(name, seed, Answered(answers, [each] * len(answers), about=about))


def of_plain(case: Case, k: int, seeds: int, wanted: Wanted) -> Iterator[Measured]:
    """The plain rivals; those that draw nothing once."""
    for name in PLAIN:
        for seed in range(1 if name in DRAWS_NOTHING else seeds):
            if wanted(name, seed):
                yield Measured(name, seed, answered(name, case.model, case.of.X, case.rows, k, seed, POINTS))


def of_dice(case: Case, k: int, seeds: int, python: Path, wanted: Wanted) -> Iterator[Measured]:
    """DiCE's methods in their own environment."""
    for seed in range(seeds):
        left = tuple(method for method in DICE if wanted(f"DiCE {method}", seed))
        found = dice(python, case.model, (case.of.X, case.of.y), case.rows, k, seed, LIMIT, left) if left else {}
        yield from (Measured(f"DiCE {method}", seed, one) for method, one in found.items())
