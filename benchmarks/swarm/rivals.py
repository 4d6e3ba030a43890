"""The swarm beside DiCE and the plain rivals on the same rows and model: processor seconds, valid answers, and their cost.

The cost is our default, counted by us for everybody: the sum of the changes as shares of their ranges, a changed category 1.
DiCE needs the variable RIVAL_PYTHON of the environment, a Python 3.12; without it, it is left out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import butfor as bf
from benchmarks.baselines import distance
from benchmarks.data import Table, pipeline, table
from benchmarks.harness import SEED, Number
from benchmarks.rivals import Answered, dice, environment, named
from benchmarks.swarm.plain import PLAIN, answered

TABLES, ROWS, LIMIT, POINTS = ("german", "compas", "pima"), 5, 20.0, 20_000
ANSWERS = (1, 5)
FASTER = 5
"""How many times faster than DiCE's genetic search the swarm is wanted to be, and cheaper."""


def measure(smoke: bool) -> Iterator[Number]:
    """A forest and a network a table, one answer a row and several; the swarm reads the forest, or only asks it."""
    python, _ = environment(None if smoke else named())
    for name in ("breast",) if smoke else TABLES:
        found = table(name)
        for kind, estimator in _estimators(smoke).items() if found is not None else ():
            model = pipeline(found.X, estimator).fit(found.X, found.y)
            undesired = np.flatnonzero(model.predict(found.X) == 0)
            rows = found.X.iloc[np.random.default_rng(SEED).permutation(undesired)[: 1 if smoke else ROWS]]
            for k in ANSWERS[:1] if smoke else ANSWERS:
                rivals = {one: answered(one, model, found.X, rows, k, SEED, POINTS) for one in PLAIN}
                if python:
                    said = dice(python, model, (found.X, found.y), rows, k, SEED, LIMIT)
                    rivals |= {f"DiCE {method}": one for method, one in said.items()}
                yield from _numbers(found, kind, model, rows, k, rivals, smoke)


def _estimators(smoke: bool) -> dict[str, Any]:
    trees = 5 if smoke else 100
    forest = {f"RF {trees} x depth 6": RandomForestClassifier(trees, max_depth=6, random_state=SEED)}
    network = make_pipeline(StandardScaler(), MLPClassifier(max_iter=2000, random_state=SEED))
    return forest if smoke else {**forest, "MLP": network}


def _numbers(
    of: Table, kind: str, model: Any, rows: pd.DataFrame, k: int, rivals: dict[str, Answered], smoke: bool
) -> Iterator[Number]:
    asked = bf.black_box(model.predict_proba, classes=model.classes_)
    ways = {"predictions only": asked} if kind == "MLP" else {"model read": model, "predictions only": asked}
    space = bf.Explainer(model, of.X).space
    said = {name: _said(space, model, rows, one) for name, one in rivals.items()}
    bars = {name: median(one.processor_seconds) for name, one in rivals.items()}
    if "DiCE genetic" in bars:
        bars["limit"] = bars["DiCE genetic"] / FASTER
    for way, given in ways.items():
        explainer = bf.Explainer(given, of.X)
        for words, swarm in {"polished": bf.Swarm(), "not polished": bf.Swarm(polish=False)}.items():
            for size, together in {"each row alone": 1, "all rows together": len(rows)}.items():
                small = replace(swarm, particles=10, iterations=5) if smoke else swarm
                ours = _swarm(explainer, rows, k, small, together)
                about = {"data": of.about, "model": kind, "rows": len(rows), "k": k, **_said(space, model, rows, ours)}
                name = f"{of.name}, {kind}, {way}, {words}, k={k}, {size}, a row"
                yield Number(name, ours.processor_seconds, "s", bars, {**about, "rivals": said})


def _swarm(explainer: bf.Explainer, rows: pd.DataFrame, k: int, swarm: bf.Swarm, together: int) -> Answered:
    """The swarm's answers, so many rows a call; what compiles is called before."""
    explainer.explain(rows.iloc[:1], target=1, k=k, solver=replace(swarm, iterations=2))
    out = Answered()
    for start in range(0, len(rows), together):
        block = rows.iloc[start : start + together]
        begin, used = time.perf_counter(), time.process_time()
        found = explainer.explain(block, target=1, k=k, solver=swarm, seed=SEED)
        each = found if k > 1 or len(block) > 1 else [found]
        points = [[one.point for one in each if one.row == n and one.found] for n in range(len(block))]
        out.answers += [pd.concat(some) if some else None for some in points]
        out.seconds += [(time.perf_counter() - begin) / len(block)] * len(block)
        out.processor_seconds += [(time.process_time() - used) / len(block)] * len(block)
    return out


def _said(space: bf.Space, model: Any, rows: pd.DataFrame, of: Answered) -> dict[str, Any]:
    """How many answers were given and valid, and the mean cost of a row's valid ones, over the rows that have one."""
    given, valid, costs = 0, 0, []
    for n, answers in enumerate(of.answers):
        if answers is None or not len(answers):
            costs.append(None)
            continue
        good = model.predict(answers) == 1
        cost = distance(space, space.encode(rows.iloc[[n]])[0], space.encode(answers), 1)[good]
        given, valid = given + len(good), valid + int(good.sum())
        costs.append(float(cost.mean()) if len(cost) else None)
    known = [cost for cost in costs if cost is not None]
    return {
        "given": given, "valid": valid, "cost": float(np.mean(known)) if known else None, "costs": costs,
        "wall_seconds": float(np.mean(of.seconds)), "processor_seconds": float(np.mean(of.processor_seconds)), **of.about,
    }  # fmt: skip
