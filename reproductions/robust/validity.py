"""`python -m reproductions.robust.validity` writes results/table3.jsonl and .md: which answers of networks are robust.

Three answers to each row: the cheapest one, the cheapest one that is robust in a round ball, and that of a descent which
tries to be robust. Validity is the share of rows with an answer that the model accepts. Robustness is the share with one
whose whole ball is proven to be accepted. Broken are those of which a refused neighbour in the ball is known. What is
neither could not be judged in time.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neural_network import MLPClassifier

import butfor as bf
from benchmarks.data import table
from benchmarks.harness import SEED, where
from reproductions.robust.__main__ import Line, scaled
from reproductions.robust.descent import Row, Score, by_descent

RADII = (0.1, 0.2)
MODELS = (("banknote", (50,)), ("pima", (50,)), ("ionosphere", (10,)), ("ionosphere", (50,)))

ROUNDED = 1e-6
"""A ball that is smaller by so small a share is still as large as it was asked for."""

PAPER: Mapping[tuple[str, str, float], str] = {
    ("banknote", "network (50,)", 0.1): "80 / 100 % beside 100 / 100 %",
    ("banknote", "network (50,)", 0.2): "0 / 100 % beside 100 / 100 %",
    ("pima", "network (50,)", 0.1): "60 / 100 % beside 100 / 100 %",
    ("pima", "network (50,)", 0.2): "0 / 100 % beside 80 / 100 %",
    ("ionosphere", "network (10,)", 0.1): "70 / 90 % beside 100 / 100 %",
    ("ionosphere", "network (10,)", 0.2): "40 / 90 % beside 100 / 100 %",
    ("ionosphere", "network (50,)", 0.1): "50 / 100 % beside 100 / 100 %",
    ("ionosphere", "network (50,)", 0.2): "30 / 100 % beside 100 / 100 %",
}
"""Robustness and validity of the paper's rival, and of its own method."""


def lines(name: str, hidden: tuple[int, ...], asked: argparse.Namespace) -> Iterator[Line]:
    """One line per radius and method."""
    X, y = scaled(name)
    points = X.to_numpy()
    model = MLPClassifier(hidden, max_iter=3000, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networks stop early
        model.fit(points, y)
    explainer = bf.Explainer(model, points, space={f"x{j}": bf.Continuous(0, 1) for j in range(points.shape[1])})
    refused = np.flatnonzero(model.predict(points) == 0)
    count = 2 if asked.smoke else min(asked.rows, len(refused))
    rows = points[np.random.default_rng(SEED).choice(refused, count, replace=False)]
    for radius in (0.02,) if asked.smoke else RADII:
        robust = [bf.robust(radius, norm="l2")]
        answers: dict[str, list[tuple[Row | None, float, bool]]] = {
            "cheapest": [_explained(explainer, row, [], asked.limit) for row in rows],
            "descent": [_descended(model, row, radius) for row in rows],
            "robust": [_explained(explainer, row, robust, asked.limit) for row in rows],
        }
        for method, found in answers.items():
            about = {
                "set": name,
                "model": f"network {hidden}",
                "radius": radius,
                "method": method,
                "limit": asked.limit,
            }
            yield about | judged(explainer, rows, found, radius, asked.limit) | where()


def _explained(explainer: bf.Explainer, row: Row, rules: list[Any], limit: float) -> tuple[Row | None, float, bool]:
    """An answer of butfor, the seconds it took, and whether it is proven optimal."""
    begin = time.perf_counter()
    answer = explainer.explain(row[None], target=1, constraints=rules, time_limit=limit).only
    proven = answer.certificate.status.name == "PROVEN_OPTIMAL"
    return (np.ravel(answer.point) if answer.found else None), time.perf_counter() - begin, proven


def _descended(model: Any, row: Row, radius: float) -> tuple[Row | None, float, bool]:
    begin = time.perf_counter()
    point = by_descent(Score(model), row, radius)
    return point, time.perf_counter() - begin, False


def judged(
    explainer: bf.Explainer, rows: Row, found: list[tuple[Row | None, float, bool]], radius: float, limit: float
) -> Line:
    """Validity, robustness and costs of some answers, by the model and by the exact search for the worst neighbour."""
    valid, robust, broken, costs = 0, 0, 0, []
    for row, (point, _, _) in zip(rows, found, strict=True):
        if point is None or explainer.model.predict(point[None])[0] != 1:
            continue
        valid += 1
        costs.append(float(np.abs(point - row).sum()))
        around = explainer.robustness(point[None], 1, norm="l2", time_limit=limit)
        robust += around.radius >= radius * (1 - ROUNDED)
        near = np.inf if around.worst is None else np.linalg.norm(np.ravel(around.worst) - point)
        broken += around.radius < radius * (1 - ROUNDED) and near <= radius
    return {
        "rows": len(rows), "validity": valid / len(rows), "robustness": robust / len(rows), "broken": broken / len(rows),
        "mean_cost": float(np.mean(costs)) if costs else None, "proven": sum(proven for _, _, proven in found),
        "median_seconds": float(np.median([seconds for _, seconds, _ in found])),
    }  # fmt: skip


def page(found: list[Line]) -> str:
    """The lines as a table, beside what the paper reports."""
    titles = (
        "data", "model", "radius", "method", "rows", "robustness", "validity", "broken", "mean cost", "proven", "median s",
        "the paper: rival beside its own",
    )  # fmt: skip
    head = f"| {' | '.join(titles)} |\n" + "|---" * len(titles) + "|\n"
    return head + "".join(
        f"| {one['set']} | {one['model']} | {one['radius']} | {one['method']} | {one['rows']} | {one['robustness']:.0%} "
        f"| {one['validity']:.0%} | {one['broken']:.0%} | {one['mean_cost'] or float('nan'):.3g} | {one['proven']} "
        f"| {one['median_seconds']:.3g} | {_paper(one)} |\n"
        for one in found
    )


def _paper(one: Line) -> str:
    return PAPER.get((one["set"], one["model"], one["radius"]), "") if one["method"] == "robust" else ""


def main() -> None:
    """All of it; every line is written as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="small and quick; its numbers mean nothing")
    parser.add_argument("--out", type=Path, help="the folder to write to (default: results; nowhere for --smoke)")
    parser.add_argument("--rows", type=int, default=10, help="rows per model")
    parser.add_argument(
        "--limit", type=float, default=60.0, help="seconds per row, for the answer and for the judge each"
    )
    asked = parser.parse_args()
    out = asked.out or (None if asked.smoke else Path(__file__).parent / "results")
    found: list[Line] = []
    for name, hidden in (("breast", (5,)),) if asked.smoke else MODELS:
        for one in lines(name, hidden, asked) if table(name) is not None else ():
            found.append(one)
            print({key: one[key] for key in ("set", "model", "radius", "method", "robustness", "validity")}, flush=True)
            if out:
                out.mkdir(parents=True, exist_ok=True)
                (out / "table3.jsonl").write_text("".join(json.dumps(line) + "\n" for line in found))
                (out / "table3.md").write_text(page(found))


if __name__ == "__main__":
    main()
