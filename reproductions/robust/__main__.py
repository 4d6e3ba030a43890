"""`python -m reproductions.robust` writes results/table1.jsonl and .md: seconds for a proven robust answer.

The columns are scaled to [0, 1], changes are measured by their sum, and an answer must stay valid in a box of shifts
(table 1), or with `--norm l2` in a round ball (table 2). "s" are seconds of the whole call with its certificate, for which
the model predicts 10,000 neighbours (200 of each in one call for all rows). "Search s" are those of the solver.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from benchmarks.data import table
from benchmarks.harness import SEED, where
from reproductions.robust.paper import SECONDS as OF_PAPER
from reproductions.robust.rounds import rounds_counted
from reproductions.robust.searching import seconds_searched

SETS = ("banknote", "pima", "ionosphere")
RADII = (0.01, 0.05)
ROWS, SECONDS = 20, 60.0
QUICK = 5.0
"""Rows that take no more seconds than this are asked about in one call, too."""
TREES = (5, 10, 20, 50, 100)
NETWORKS = ((10,), (10, 10, 10), (50,), (100,))
TABLES = {"linf": "table1", "l2": "table2", "l1": "l1"}
"""The file for each norm. The paper has no table for the last one."""

Line = dict[str, Any]


def models(smoke: bool) -> dict[str, Any]:
    """The models of the table by name, not yet fitted."""
    linear = LogisticRegression(penalty="elasticnet", solver="saga", l1_ratio=0.5, max_iter=5000, random_state=SEED)
    found: dict[str, Any] = {"linear": linear}
    for depth in (3,) if smoke else (3, 5, 10):
        found[f"tree, depth {depth}"] = DecisionTreeClassifier(max_depth=depth, random_state=SEED)
    for count in (5,) if smoke else TREES:
        found[f"forest, {count} trees"] = RandomForestClassifier(count, max_depth=3, random_state=SEED)
    for count in (5,) if smoke else TREES:
        boosting = GradientBoostingClassifier(n_estimators=count, max_depth=2, random_state=SEED)
        found[f"boosting, {count} trees"] = boosting
    for hidden in ((5,),) if smoke else NETWORKS:
        found[f"network {hidden}"] = MLPClassifier(hidden, max_iter=3000, random_state=SEED)
    return found


def scaled(name: str) -> tuple[pd.DataFrame, Any]:
    """A table with all columns between 0 and 1, and whether the outcome is the desired one."""
    found = table(name)
    assert found is not None
    X = found.X.astype(float)
    return (X - X.min()) / (X.max() - X.min()).replace(0, 1), np.asarray(found.y)


def line(explainer: bf.Explainer, rows: pd.DataFrame, radius: float, norm: Any, limit: float) -> Line:
    """What the rows took, each on its own. Quick ones are asked about in one call, too."""
    seconds, searched, proven, gaps, rounds = list[float](), list[float](), 0, [], []
    robust = bf.robust(radius, norm=norm)
    for row in range(len(rows)):
        begin = time.perf_counter()
        with rounds_counted() as counted, seconds_searched() as taken:
            answer = explainer.explain(rows.iloc[[row]], target=1, constraints=[robust], time_limit=limit).only
        seconds.append(time.perf_counter() - begin)
        searched.append(sum(taken))
        rounds.append(counted.count)
        proven += answer.certificate.status.name in ("PROVEN_OPTIMAL", "PROVEN_INFEASIBLE")
        if answer.found:
            gaps.append((answer.cost - answer.certificate.bound) / max(answer.cost, 1e-12))
    together = search_together = None
    if sum(seconds) < QUICK:
        begin = time.perf_counter()
        with seconds_searched() as taken:
            explainer.explain(rows, target=1, constraints=[robust])
        together = (time.perf_counter() - begin) / len(rows)
        search_together = sum(taken) / len(rows)
    return {
        "rows": len(rows), "median_seconds": float(np.median(seconds)), "mean_seconds": float(np.mean(seconds)),
        "max_seconds": max(seconds),
        "search_seconds": float(np.median(searched)), "together_seconds": together,
        "search_together_seconds": search_together, "median_rounds": float(np.median(rounds)),
        "max_rounds": max(rounds), "proven": proven, "answered": len(gaps), "largest_gap": max(gaps, default=None),
    }  # fmt: skip


def lines(name: str, asked: argparse.Namespace) -> Iterator[Line]:
    """One line per model and radius."""
    X, y = scaled(name)
    space = {column: bf.Continuous(0, 1) for column in X}
    limit = 20.0 if asked.smoke else asked.limit
    for kind, model in models(asked.smoke).items():
        if asked.model and kind not in asked.model:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer versions read the penalty from the ratio; networks stop early
            model.fit(X, y)
        explainer = bf.Explainer(model, X, space=space)
        refused = np.flatnonzero(model.predict(X) == 0)
        count = 2 if asked.smoke else min(asked.rows, len(refused))
        rows = X.iloc[np.random.default_rng(SEED).choice(refused, count, replace=False)]
        # once, to compile
        explainer.explain(
            rows.iloc[[0]], target=1, constraints=[bf.robust(RADII[0], norm=asked.norm)], time_limit=limit
        )
        for radius in RADII:
            about = {"set": name, "model": kind, "radius": radius, "norm": asked.norm, "limit": limit}
            load = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None
            yield about | line(explainer, rows, radius, asked.norm, limit) | {"load_before": load, **where()}


def page(found: list[Line]) -> str:
    """The lines as a table, beside what the paper reports."""
    titles = (
        "data", "model", "radius", "rows", "median s", "mean s", "max s", "search s", "s a row, in one call",
        "search s a row", "rounds", "most rounds", "stopped", "largest gap", "load", "the paper: mean s", "stopped of 20",
    )  # fmt: skip
    head = f"| {' | '.join(titles)} |\n" + "|---" * len(titles) + "|\n"
    return head + "".join(f"| {' | '.join(_cells(one))} |\n" for one in found)


def _cells(one: Line) -> list[str]:
    seconds = ("median", "mean", "max", "search", "together", "search_together")
    return [
        one["set"], one["model"], f"{one['radius']}", f"{one['rows']}",
        *(_short(one.get(f"{name}_seconds")) for name in seconds),
        f"{one['median_rounds']:.0f}", f"{one['max_rounds']}", f"{one['rows'] - one['proven']}",
        f"{one['largest_gap'] or 0:.2%}", f"{one['load_before']}", *_of_paper(one),
    ]  # fmt: skip


def _about(one: Line) -> tuple[Any, ...]:
    """What a line is about. A newer one about the same takes its place."""
    return one["set"], one["model"], one["radius"]


def _place(one: Line) -> tuple[int, int, float]:
    """Where the paper has a line; what it has not comes first."""
    sets, kinds = [*SETS], [*models(smoke=False)]
    places = [known.index(name) if name in known else -1 for known, name in ((sets, one["set"]), (kinds, one["model"]))]
    return places[0], places[1], one["radius"]


def _of_paper(one: Line) -> tuple[str, str]:
    """The mean seconds and the stopped rows of the paper, if it has the line."""
    known = OF_PAPER.get((one["norm"], one["model"], one["radius"]))
    if known is None or one["set"] not in SETS:
        return "", ""
    mean, stopped = known[SETS.index(one["set"])]
    return _short(mean), f"{stopped}"


def _short(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.3g}"


def main() -> None:
    """All of it; every line is written as soon as it is known, in the place of an older one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="small and quick; its numbers mean nothing")
    parser.add_argument("--out", type=Path, help="the folder to write to (default: results; nowhere for --smoke)")
    parser.add_argument("--set", action="append", choices=SETS, help="only this data set (may be repeated)")
    parser.add_argument("--model", action="append", help='only this model, such as "forest, 100 trees"')
    parser.add_argument("--rows", type=int, default=ROWS, help="rows per model and radius")
    parser.add_argument("--norm", default="linf", choices=TABLES, help="of the ball: linf is table 1, l2 is table 2")
    parser.add_argument("--limit", type=float, default=SECONDS, help="seconds per row")
    asked = parser.parse_args()
    out = asked.out or (None if asked.smoke else Path(__file__).parent / "results")
    lines_file = out and out / f"{TABLES[asked.norm]}.jsonl"
    known = lines_file.read_text().splitlines() if lines_file and lines_file.exists() else []
    found = {_about(one): one for one in map(json.loads, known)}
    for name in ("breast",) if asked.smoke else SETS:
        if (asked.set and name not in asked.set) or table(name) is None:
            continue
        for one in lines(name, asked):
            found[_about(one)] = one
            told = ("set", "model", "radius", "median_seconds", "max_seconds", "proven", "rows", "largest_gap")
            print({key: one[key] for key in told}, flush=True)
            if lines_file:
                lines_file.parent.mkdir(parents=True, exist_ok=True)
                lines_file.write_text("".join(json.dumps(one) + "\n" for one in found.values()))
                lines_file.with_suffix(".md").write_text(page(sorted(found.values(), key=_place)))


if __name__ == "__main__":
    main()
