"""treecf beside our proofs: its heuristic and its exact search, on the sizes it publishes and with three free columns.

Both sides take every number as continuous, and price it as a share of its range. treecf is measured in this process.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

import butfor as bf
from benchmarks.data import Table
from benchmarks.ensembles.exact import answer, answers, small
from benchmarks.ensembles.models import Question, absent, ask
from benchmarks.ensembles.rivals import cheapest
from benchmarks.ensembles.scale import Line, Scale, while_patient
from benchmarks.ensembles.scenarios import adult_numbers, sizes
from benchmarks.harness import SEED, where

BACKENDS = ("genetic", "exact")
KEPT = {"sex", "race", "native_country", "capital_gain", "capital_loss", "relationship"}
"""The columns of Adult that stay: nobody can change them, or only by luck."""

ROWS = 2
"""Of Adult; each is asked about with every three of the other columns free."""
UNBLAMED = "butfor, conflicts=False"
"""treecf says that no change suffices, and not which fixed columns are to blame: the same question to us."""


def measure(scale: Scale) -> Iterator[Line]:
    """Every size, and then the triples."""
    if why := absent("treecf", "xgboost"):
        yield {"kind": "left out", "why": why, **where()}
        return
    for table, name, estimator in sizes(scale):
        yield from _size(table, name, estimator, scale)
    adult = adult_numbers()
    if adult is None:
        yield {"kind": "left out", "table": "adult as numbers", "why": "BUTFOR_DATA does not have its file", **where()}
    else:
        yield from _triples(adult, small(scale, ROWS, scale.limit))


def _size(table: Table, name: str, estimator: Any, scale: Scale) -> Iterator[Line]:
    """All columns free: our rows first, then the rival's, one backend after the other."""
    question = ask(table, estimator, scale.rows, continuous(table.X))
    about = {"table": table.name, "model": name, "data": table.about, "leaves": question.leaves, "free": "all"}
    for line in answers(question, scale):
        yield _line(line, about, scale, rival="butfor")
    explainer = rival(question)
    _theirs(explainer, question, 0, "genetic", scale)  # warms up
    for backend in BACKENDS:
        for row in while_patient(range(len(question.rows)), scale.rival_patience):
            yield _line(_theirs(explainer, question, row, backend, scale), about, scale, rival=f"treecf {backend}")


def _triples(table: Table, scale: Scale) -> Iterator[Line]:
    """Every three columns free, one after the other; often no change of them suffices."""
    estimator = HistGradientBoostingClassifier(class_weight="balanced", random_state=SEED)
    question = ask(table, estimator, scale.rows, continuous(table.X))
    about = {"table": table.name, "model": "HistGradientBoosting", "data": table.about, "leaves": question.leaves}
    for kept in ([], [bf.fixed([*table.X][1:])]):  # the second is impossible, so that blame is warm, too
        question.explainer.explain(question.warm_up, constraints=kept, time_limit=scale.limit / 10)
    for free in combinations([name for name in table.X if name not in KEPT], 3):
        fixed = [name for name in table.X if name not in free]
        explainer = rival(question, fixed)
        for row in range(len(question.rows)):
            asked = question.rows.iloc[[row]]
            for name, more in ((UNBLAMED, {"conflicts": False}), ("butfor", {})):
                ours = answer(question.explainer, asked, scale.limit, constraints=[bf.fixed(fixed)], **more)
                yield _line(ours | {"row": int(asked.index[0])}, about, scale, rival=name, free=", ".join(free))
            for backend in BACKENDS:
                line = _theirs(explainer, question, row, backend, scale)
                yield _line(line, about, scale, rival=f"treecf {backend}", free=", ".join(free))


def continuous(X: pd.DataFrame) -> dict[str, Any]:
    """Every column as real numbers."""
    return {name: bf.Continuous() for name in X}


def rival(question: Question, fixed: list[str] | None = None) -> Any:
    """treecf's explainer of the same model; its names of the columns are its own."""
    import treecf

    X = question.table.X
    asked = {"background": X.to_numpy(), "normalizers": np.ptp(X.to_numpy(), axis=0)}
    names = treecf.Explainer(question.model[-1], **asked).ir.feature_names
    held = [treecf.Freeze(names[X.columns.get_loc(name)]) for name in fixed or ()]
    return treecf.Explainer(question.model[-1], constraints=held, **asked)


def _theirs(explainer: Any, question: Question, row: int, backend: str, scale: Scale) -> Line:
    """treecf's answer to one row; its clock is the only budget of its exact search. Its cost is counted by us."""
    import treecf

    more = {"node_budget": 2**60} if backend == "exact" else {}
    target, point = treecf.Target.probability(range=(0.5, 1.0)), question.rows.iloc[row].to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where its time runs out; its word on the proof says the same
        begin = time.perf_counter()
        found = explainer.explain(point, target, backend=backend, time_budget_s=scale.limit, seed=SEED, **more)
        seconds = time.perf_counter() - begin
    points = [found.x_cf.tolist()] if isinstance(found, treecf.Counterfactual) else []
    return {
        "row": int(question.rows.index[row]),
        **cheapest(question, row, points),
        "bound": found.solver_stats.get("lower_bound"),
        "status": found.proof,
        "seconds": seconds,
    }


def _line(line: Line, about: Line, scale: Scale, **more: Any) -> Line:
    """A whole line; JSON knows no infinity, so an answer that is not there has no cost."""
    ends = {key: None if line[key] is None or np.isinf(line[key]) else line[key] for key in ("cost", "bound")}
    asked = {"limit": scale.limit, "budget": scale.budget, "seed": SEED, "versions": {"treecf": version("treecf")}}
    return {"kind": "row", **about, **more, **line, **ends, **asked, **where()}
