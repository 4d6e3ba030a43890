"""`python -m reproductions.robust.validity` writes results/table3.jsonl and .md: which answers survive random shifts.

Three answers to each row: the cheapest one, the cheapest one that is robust, and that of a plain gradient descent
(Wachter, Mittelstadt and Russell, 2018). Validity is the share of rows with a valid answer. Robustness is the share of
valid answers all of whose random neighbours in the ball are valid, too.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

import butfor as bf
from benchmarks.data import table
from benchmarks.harness import SEED, where
from reproductions.robust.__main__ import SETS, Line, scaled

RADII = (0.1, 0.2)
NEIGHBOURS = 1_000
RATES, STEPS, SMALL = (0.01, 0.1, 1.0), 300, 1e-4

Row = NDArray[np.float64]


def by_gradient(score: Callable[[Row], Row], row: Row) -> Row | None:
    """The cheapest valid row on the way of a descent on `max(0, 0.01 - score)^2 + rate |x - row|`; None if there is none."""
    best, least = None, np.inf
    for rate in RATES:
        x, seen = row.copy(), np.zeros(len(row))
        for step in range(1, STEPS + 1):
            near = np.clip(np.vstack([x, x + SMALL * np.eye(len(x)), x - SMALL * np.eye(len(x))]), 0, 1)
            scores = score(near)
            cost = float(np.abs(x - row).sum())
            if scores[0] > 0 and cost < least:
                best, least = x.copy(), cost
            slope = (scores[1 : len(x) + 1] - scores[len(x) + 1 :]) / (2 * SMALL)
            pull = -2 * max(0.0, 0.01 - float(scores[0])) * slope + 0.01 * rate * np.sign(x - row)
            seen += pull**2
            x = np.clip(x - 0.3 / np.sqrt(step) * pull / np.sqrt(seen / step + 1e-12), 0, 1)
    return best


def lines(name: str, asked: argparse.Namespace) -> Iterator[Line]:
    """One line per model, radius and method."""
    X, y = scaled(name)
    models = {"linear": LogisticRegression(), "network (10,)": MLPClassifier((10,), max_iter=3000, random_state=SEED)}
    for kind, model in models.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # networks stop early
            model.fit(X.to_numpy(), y)
        explainer = bf.Explainer(model, X.to_numpy(), space={f"x{j}": bf.Continuous(0, 1) for j in range(X.shape[1])})
        refused = np.flatnonzero(model.predict(X.to_numpy()) == 0)
        count = 2 if asked.smoke else min(asked.rows, len(refused))
        rows = X.to_numpy()[np.random.default_rng(SEED).choice(refused, count, replace=False)]

        def score(points: Row, model: Any = model) -> Row:
            return np.asarray(model.predict_proba(points)[:, 1] - 0.5)

        plain = [answer.point for answer in explainer.explain(rows, target=1, time_limit=asked.limit * count)]
        descended = [by_gradient(score, row) for row in rows]
        for radius in (0.02,) if asked.smoke else RADII:
            robust = bf.robust({f"x{j}": radius for j in range(X.shape[1])})
            firm = explainer.explain(rows, target=1, constraints=[robust], time_limit=asked.limit * count)
            methods = {"cheapest": plain, "gradient": descended, "robust": [answer.point for answer in firm]}
            for method, points in methods.items():
                about = {"set": name, "model": kind, "radius": radius, "method": method}
                yield about | judged(model, rows, points, radius) | where()


def judged(model: Any, rows: Row, points: list[Any], radius: float) -> Line:
    """Validity, robustness and mean cost of some answers."""
    rng, valid, robust, costs = np.random.default_rng(SEED), 0, 0, []
    for row, point in zip(rows, points, strict=True):
        if point is None or model.predict(np.reshape(point, (1, -1)))[0] != 1:
            continue
        shifts = rng.uniform(-radius, radius, (NEIGHBOURS, len(row)))
        valid += 1
        robust += bool((model.predict(np.reshape(point, (1, -1)) + shifts) == 1).all())
        costs.append(float(np.abs(np.ravel(point) - row).sum()))
    return {
        "rows": len(rows), "validity": valid / len(rows), "robustness": robust / max(valid, 1),
        "mean_cost": float(np.mean(costs)) if costs else None,
    }  # fmt: skip


def page(found: list[Line]) -> str:
    """The lines as a table."""
    head = "| data | model | radius | method | rows | validity | robustness | mean cost |\n" + "|---" * 8 + "|\n"
    return head + "".join(
        f"| {one['set']} | {one['model']} | {one['radius']} | {one['method']} | {one['rows']} | {one['validity']:.0%} "
        f"| {one['robustness']:.0%} | {one['mean_cost'] or float('nan'):.3g} |\n"
        for one in found
    )


def main() -> None:
    """All of it; every line is written as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="small and quick; its numbers mean nothing")
    parser.add_argument("--out", type=Path, help="the folder to write to (default: results; nowhere for --smoke)")
    parser.add_argument("--rows", type=int, default=20, help="rows per model")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds per row")
    asked = parser.parse_args()
    out = asked.out or (None if asked.smoke else Path(__file__).parent / "results")
    found: list[Line] = []
    for name in ("breast",) if asked.smoke else SETS:
        for one in lines(name, asked) if table(name) is not None else ():
            found.append(one)
            print({key: one[key] for key in ("set", "model", "radius", "method", "validity", "robustness")}, flush=True)
            if out:
                out.mkdir(parents=True, exist_ok=True)
                (out / "table3.jsonl").write_text("".join(json.dumps(line) + "\n" for line in found))
                (out / "table3.md").write_text(page(found))


if __name__ == "__main__":
    main()
