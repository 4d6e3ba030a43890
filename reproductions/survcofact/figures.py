"""Figures 1 to 8: maps of the mean time over two columns, with the factual, the proven answer and the swarm's.

The circle is the ball of the paper, through the nearest training row that does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import butfor as bf
from reproductions.survcofact.rivals import nearest_row
from reproductions.survcofact.sets import Question, questions, survivors
from reproductions.survcofact.tables import COST, LIMIT, Line


def draw(path: Path, found: Sequence[Line], smoke: bool) -> None:
    """One page: the sets of two columns that have lines, two models, longer and shorter."""
    from matplotlib import pyplot
    from matplotlib.patches import Circle

    sets = [of for of in survivors(smoke) if of.X.shape[1] == 2 and sum(line["set"] == of.name for line in found) >= 4]
    asked = [
        next(q for q in questions(of, kind, smoke) if q.theta == theta)
        for of in sets for kind in ("cox", "forest") for theta in (1, -1)
    ]  # fmt: skip
    if not asked:
        return
    _, axes = pyplot.subplots(len(asked) // 2, 2, figsize=(13, 2.4 * len(asked)), layout="constrained", squeeze=False)
    for number, (ax, question) in enumerate(zip(axes.ravel(), asked, strict=True), 1):
        ask = question.explainer
        exact = ask.explain(question.x, target=question.target, cost=COST, time_limit=LIMIT)
        points = {"proven": exact, "swarm": _swarm(found, question)}
        bf.survival.map_of(ask, question.x, question.target, ("x0", "x1"), points, steps=30 if smoke else 200, ax=ax)
        ax.scatter(*question.of.X.T, s=6, c="white", edgecolors="black", linewidths=0.3, zorder=1)
        ax.add_patch(Circle(tuple(question.x[0]), nearest_row(question), fill=False, ls="--", zorder=2))
        ax.set_xlabel(question.of.columns[0])
        ax.set_ylabel(question.of.columns[1])
        way = "longer" if question.theta > 0 else "shorter"
        ax.set_title(
            f"{number}. {question.of.name}, {question.kind}: {way} by {question.r:.4g}", fontsize=10, loc="left", pad=36
        )
    pyplot.savefig(path, dpi=60, pil_kwargs={"optimize": True})
    pyplot.close("all")


def _swarm(found: Sequence[Line], question: Question) -> np.ndarray | None:
    """Where the swarm ended."""
    key = (question.of.name, question.kind, question.row, question.theta)
    (line,) = (line for line in found if (line["set"], line["model"], line["row"], line["theta"]) == key)
    return None if line["swarm point"] is None else np.array([line["swarm point"]])
