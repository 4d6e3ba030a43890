"""Figures 1 to 8: maps of the mean time over two columns, with the factual, the proven answer and the swarm's."""

from __future__ import annotations

from pathlib import Path

import butfor as bf
from reproductions.survcofact.rivals import swarm
from reproductions.survcofact.sets import questions, survivors
from reproductions.survcofact.tables import COST, LIMIT


def draw(path: Path, smoke: bool) -> None:
    """One page: two sets, two models, longer and shorter."""
    from matplotlib import pyplot

    chosen = [of for of in survivors(smoke) if of.X.shape[1] == 2]
    asked = [
        next(q for q in questions(of, kind, smoke) if q.theta == theta)
        for of in chosen for kind in ("cox", "forest") for theta in (1, -1)
    ]  # fmt: skip
    _, axes = pyplot.subplots(len(asked) // 2, 2, figsize=(13, 2.4 * len(asked)), layout="constrained", squeeze=False)
    for ax, question in zip(axes.ravel(), asked, strict=True):
        ask = question.explainer
        exact = ask.explain(question.x, target=question.target, cost=COST, time_limit=LIMIT)
        found = ask.explain(question.x, target=question.target, cost=COST, solver=swarm(smoke))
        points = {"proven": exact, "swarm": found}
        bf.survival.map_of(ask, question.x, question.target, ("x0", "x1"), points, steps=30 if smoke else 200, ax=ax)
        ax.set_xlabel(question.of.columns[0])
        ax.set_ylabel(question.of.columns[1])
        way = "longer" if question.theta > 0 else "shorter"
        ax.set_title(f"{question.of.name}, {question.kind}: {way} by {question.r:.4g}", fontsize=10, loc="left")
    pyplot.savefig(path, dpi=80)
    pyplot.close("all")
