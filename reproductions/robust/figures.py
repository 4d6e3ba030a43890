"""`python -m reproductions.robust.figures` draws figures 7, 9, 10, 11 and 12 of the paper, from our own numbers.

- Figure 7: what it costs, and saves, to stay in one leaf of a tree (`bf.margin`), beside the exact answers (`bf.robust`).
- Figure 9: the seconds that propose a row, beside those that judge it.
- Figure 10: the rows that the rounds come to, for a deep tree and a shallow one, in two columns of Iris.
- Figure 11: the cost of the row of each round, and the radius in which it is robust.
- Figure 12: cost and seconds against the radius.

All but figure 10 are about Diabetes, with columns scaled to [0, 1]. It writes figure7.png and so on, and figures.jsonl.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from matplotlib.ticker import NullFormatter
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from benchmarks.harness import SEED, arguments, where, write
from reproductions.robust.__main__ import Line, scaled
from reproductions.robust.pictures import BLUE, GREEN, GREY, ORANGE, RADIUS, ROW, two_columns, wanted
from reproductions.robust.rounds import Round, rounds_watched

ROWS = 20
RADII = (0.0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1)
TREE = DecisionTreeClassifier(max_depth=10, random_state=SEED)
BOOSTING = GradientBoostingClassifier(n_estimators=100, max_depth=2, random_state=SEED)
SECONDS = 60.0

CONVERGING: Mapping[str, Any] = {
    "tree, depth 10": TREE,
    "forest, 50 trees": RandomForestClassifier(50, max_depth=3, random_state=SEED),
    "boosting, 100 trees": BOOSTING,
    "network (50,)": MLPClassifier((50,), max_iter=3000, random_state=SEED),
}
"""The models of figure 11."""


def fitted(model: Any, smoke: bool) -> tuple[bf.Explainer, pd.DataFrame]:
    """An explainer of a model of Diabetes, and some of the rows that it refuses."""
    X, y = scaled("breast" if smoke else "pima")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networks stop early
        model.fit(X, y)
    refused = np.flatnonzero(model.predict(X) == 0)
    rows = X.iloc[np.random.default_rng(SEED).choice(refused, 2 if smoke else ROWS, replace=False)]
    return bf.Explainer(model, X, space={column: bf.Continuous(0, 1) for column in X}), rows


def asked(explainer: bf.Explainer, row: pd.DataFrame, rule: Any) -> tuple[bf.Explanation, float]:
    """The answer to a row, and the seconds it took with its certificate."""
    begin = time.perf_counter()
    answer = explainer.explain(row, target=1, constraints=[rule], time_limit=SECONDS).only
    return answer, time.perf_counter() - begin


def against_radius(smoke: bool) -> Iterator[Line]:
    """Figures 7 and 12: costs and seconds of a tree, in one leaf and exactly. Costs are of rows that both can answer."""
    explainer, rows = fitted(TREE, smoke)
    ways = {"one leaf": bf.margin, "boxes": bf.robust, "round balls": lambda radius: bf.robust(radius, norm="l2")}
    for way in ways.values():  # once, to compile
        asked(explainer, rows.iloc[[0]], way(RADII[1]))
    for radius in RADII[:3] if smoke else RADII:
        found = {
            name: [asked(explainer, rows.iloc[[i]], way(radius)) for i in range(len(rows))]
            for name, way in ways.items()
        }
        answered = np.all([[answer.found for answer, _ in one] for one in found.values()], axis=0)
        for name, one in found.items():
            yield {
                "figure": "7, 12", "model": "tree, depth 10", "method": name, "radius": radius, "rows": len(rows),
                "compared": int(answered.sum()), "proven": sum("PROVEN" in answer.certificate.status.name for answer, _ in one),
                "mean_cost": float(np.mean([answer.cost for answer, _ in one], where=answered)),
                "mean_seconds": float(np.mean([seconds for _, seconds in one])), **where(),
            }  # fmt: skip


def watched(
    explainer: bf.Explainer, row: pd.DataFrame, rule: Any, target: int = 1
) -> tuple[bf.Explanation, list[Round]]:
    """The answer to a row, and the rounds that led to it."""
    with rounds_watched() as rounds:
        answer = explainer.explain(row, target=target, constraints=[rule], time_limit=SECONDS).only
    return answer, rounds


def by_part(smoke: bool) -> Iterator[Line]:
    """Figure 9: for each row, the seconds of each round, of 100 boosted trees and boxes."""
    explainer, rows = fitted(BOOSTING, smoke)
    watched(explainer, rows.iloc[[0]], bf.robust(RADIUS))  # once, to compile
    for number in range(len(rows)):
        _, rounds = watched(explainer, rows.iloc[[number]], bf.robust(RADIUS))
        yield {
            "figure": "9", "model": "boosting, 100 trees", "radius": RADIUS, "row": number,
            "proposing": [one.proposing for one in rounds], "judging": [one.judging for one in rounds], **where(),
        }  # fmt: skip


def converging(smoke: bool) -> Iterator[Line]:
    """Figure 11: for one row of each model, what each round proposes in round balls, and how robust that is."""
    for name, model in list(CONVERGING.items())[: 1 if smoke else None]:
        explainer, rows = fitted(model, smoke)
        row, rule = rows.iloc[[0]], bf.robust(RADIUS, norm="l2")
        answer, rounds = watched(explainer, row, rule)
        points = [one.point for one in rounds if one.point is not None]
        yield {
            "figure": "11", "model": name, "radius": RADIUS, "status": answer.certificate.status.name, "cost": answer.cost,
            "costs": [float(np.abs(point - row.to_numpy()).sum()) for point in points],
            "radii": [_radius(explainer, point, rows) for point in points], **where(),
        }  # fmt: skip


def _radius(explainer: bf.Explainer, point: Any, like: pd.DataFrame) -> float:
    """The radius of the round ball in which a row is accepted; 0 if it is refused itself, as it lies on a boundary."""
    row = pd.DataFrame([point], columns=like.columns)
    if explainer.model.predict(row)[0] != 1:
        return 0.0
    return explainer.robustness(row, 1, norm="l2", time_limit=SECONDS).radius


def draw_leaf(found: list[Line]) -> Figure:
    """Figure 7: cost and seconds of staying in one leaf, beside the exact answers."""
    return _against_radius(
        found, {"one leaf": "one leaf (heuristic)", "boxes": "exact, boxes", "round balls": "exact, round balls"}
    )


def draw_front(found: list[Line]) -> Figure:
    """Figure 12: the front of cost and radius, and the seconds."""
    return _against_radius(found, {"boxes": "boxes"})


def _against_radius(found: list[Line], labels: Mapping[str, str]) -> Figure:
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.2))
    for ax, key in zip(axes, ("mean_cost", "mean_seconds"), strict=True):
        for name, label in labels.items():
            lines = [one for one in found if one["method"] == name]
            ax.plot(
                [one["radius"] for one in lines], [one[key] for one in lines], marker="o", markersize=3, label=label
            )
        ax.set(xlabel="radius", ylabel=key.replace("_", " "))
    axes[1].set_yscale("log")
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    return figure


def draw_parts(found: list[Line]) -> Figure:
    """Figure 9: proposing and judging, over all rows, and by round for the two rows with most rounds."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2))
    left.scatter([sum(one["proposing"]) for one in found], [sum(one["judging"]) for one in found], s=14, color=BLUE)
    left.set(
        xlabel="seconds that propose (master)", ylabel="seconds that judge (adversary)", xscale="log", yscale="log"
    )
    for one, style in zip(sorted(found, key=lambda one: -len(one["proposing"]))[:2], ("-", "--"), strict=True):
        across = range(1, 1 + len(one["proposing"]))
        right.plot(across, one["proposing"], style, color=BLUE, marker="o", label=f"row {one['row']}, propose")
        right.plot(across, one["judging"], style, color=ORANGE, marker="o", label=f"row {one['row']}, judge")
    left.xaxis.set_minor_formatter(NullFormatter())
    right.set(xlabel="round", ylabel="seconds", yscale="log")
    right.legend(fontsize=7)
    figure.tight_layout()
    return figure


def draw_rounds() -> tuple[Figure, list[Line]]:
    """Figure 10: the balls around the rows of the rounds of two trees, that of the answer thick, and the lines about them."""
    figure, axes = plt.subplots(1, 2, figsize=(7.4, 3.8), layout="constrained")
    records, across = [], np.linspace(0, 1, 401)
    for ax, depth in zip(axes, (10, 3), strict=True):
        explainer = two_columns(DecisionTreeClassifier(max_depth=depth, random_state=SEED))
        asked_for, rule = wanted(explainer), bf.robust(RADIUS, norm="l2")
        answer, rounds = watched(explainer, ROW, rule, asked_for)
        points = [one.point for one in rounds if one.point is not None]
        grid = pd.DataFrame(np.array(np.meshgrid(across, across)).reshape(2, -1).T, columns=ROW.columns)
        met = (explainer.model.predict(grid) == asked_for).reshape(len(across), -1)
        ax.contourf(across, across, met, levels=[-0.5, 0.5, 1.5], colors=[GREY, GREEN])
        ax.plot(*ROW.iloc[0], "ko", markersize=4)
        for point in points:
            ax.add_patch(Circle((point[0], point[1]), RADIUS, fill=False, edgecolor=ORANGE, linewidth=0.6))
        ax.add_patch(Circle(tuple(answer.point.iloc[0]), RADIUS, fill=False, edgecolor=ORANGE, linewidth=1.8))
        ax.set(xlim=(0.3, 0.95), ylim=(0.05, 0.7), aspect="equal", xticks=[], yticks=[])
        ax.set_title(f"depth {depth}: rounds that propose a row: {len(points)}", fontsize=10)
        found = [point.tolist() for point in points]
        records.append({"figure": "10", "depth": depth, "radius": RADIUS, "points": found, **where()})
    return figure, records


def draw_converging(found: list[Line]) -> Figure:
    """Figure 11: cost (solid) and radius (dashed) of the row of each round."""
    figure, axes = plt.subplots(1, len(found), figsize=(3.2 * len(found), 3.0), squeeze=False)
    for ax, one in zip(axes[0], found, strict=True):
        across = range(1, 1 + len(one["costs"]))
        ax.plot(across, one["costs"], color=BLUE, marker="o", markersize=3)
        beside = ax.twinx()
        beside.plot(across, one["radii"], "--", color=ORANGE, marker="o", markersize=3)
        beside.axhline(one["radius"], color="0.6", linewidth=0.8, linestyle=":")
        ax.set(xlabel="round", title=one["model"])
        ax.set_ylabel("cost", color=BLUE)
        beside.set_ylabel("radius", color=ORANGE)
    figure.tight_layout()
    return figure


def main() -> None:
    """All figures, and the lines that they are drawn from."""
    given = arguments(__doc__ or "")
    out = given.out or (None if given.smoke else Path(__file__).parent / "results")
    by_radius, parts = list(against_radius(given.smoke)), list(by_part(given.smoke))
    converged = list(converging(given.smoke))
    rounds, records = draw_rounds()
    for one in [*by_radius, *parts, *records, *converged]:
        print({key: value for key, value in one.items() if key not in where()})
    if out:
        write([*by_radius, *parts, *records, *converged], out / "figures.jsonl")
        pictures = {
            7: draw_leaf(by_radius),
            9: draw_parts(parts),
            10: rounds,
            11: draw_converging(converged),
            12: draw_front(by_radius),
        }
        for number, figure in pictures.items():
            figure.savefig(out / f"figure{number}.png", dpi=120)


if __name__ == "__main__":
    main()
