"""Tables 1 to 4: the proven answer beside the swarm's and the best of random points."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import butfor as bf
from benchmarks.harness import where
from reproductions.survcofact.rivals import best_of_random, nearest_row, nearest_under_cox, swarm, swept
from reproductions.survcofact.sets import Question, questions, survivors

LIMIT = 60.0
"""Seconds for a proof; then the certified gap is reported."""

RANDOM = 1_000_000
COST = bf.L2(scale="none")
Line = dict[str, Any]


def lines(smoke: bool, sets: Sequence[str] = ()) -> Iterator[Line]:
    """A line a question; of all sets, or of those named."""
    for of in survivors(smoke):
        if sets and of.name not in sets:
            continue
        for kind in ("cox", "forest"):
            for question in questions(of, kind, smoke):
                yield {**_asked(question, smoke), **where()}


def _asked(question: Question, smoke: bool) -> Line:
    question.explainer.explain(question.x, target=question.target, cost=COST, time_limit=1.0)
    begin = time.perf_counter()
    answer = question.explainer.explain(question.x, target=question.target, cost=COST, time_limit=LIMIT)
    seconds = time.perf_counter() - begin
    begin = time.perf_counter()
    searched = question.explainer.explain(question.x, target=question.target, cost=COST, solver=swarm(smoke))
    swarm_seconds = time.perf_counter() - begin
    gain = question.theta * (question.means(answer.point) - question.means(question.x))[0]
    line = {
        "set": question.of.name,
        "about": question.of.about,
        "model": question.kind,
        "row": question.row,
        "theta": question.theta,
        "r": question.r,
        "status": answer.certificate.status.name,
        "distance": float(np.sqrt(answer.cost)),
        "bound": float(np.sqrt(max(answer.certificate.bound, 0.0))),
        "seconds": seconds,
        "beyond r": float(gain - question.r),
        "swarm": float(np.sqrt(searched.cost)) if searched.found else None,
        "swarm seconds": swarm_seconds,
        "point": answer.point[0].tolist(),
        "swarm point": searched.point[0].tolist() if searched.found else None,
    }
    if question.kind == "cox":
        verified = nearest_under_cox(question)
        line["off"] = float(np.linalg.norm(answer.point - verified))
        line["swarm off"] = float(np.linalg.norm(searched.point - verified)) if searched.found else None
    else:
        radius = nearest_row(question)
        line["nearest row"] = radius
        line["random"] = best_of_random(question, 2000 if smoke else RANDOM, radius)
        line["A"] = None if line["swarm"] is None else line["random"] - line["swarm"]
        if question.x.shape[1] <= 3:
            line["sweep"] = swept(question, line["distance"])
        line["gap"] = 1 - line["bound"] / line["distance"]
    return line


def page(found: Sequence[Line]) -> str:
    """Both kinds of tables."""
    cox = [line for line in found if line["model"] == "cox"]
    forest = [line for line in found if line["model"] == "forest"]
    parts = [
        "# Tables 1 and 3: the Cox model\n",
        "`off` is the distance to the nearest point found without butfor, `beyond r` what the mean exceeds r by.\n",
        _table(cox, ("distance", "swarm", "off", "swarm off", "beyond r", "seconds", "swarm seconds")),
        "\n# Tables 2 and 4: a forest of 250 trees\n",
        "Distances. `A` is the paper's: random minus swarm. `sweep`: all cells, without butfor (two or three columns). No answer",
        "is nearer than `bound`; `gap` = 1 - bound / distance.\n",
        _table(
            forest,
            (
                "nearest row",
                "random",
                "swarm",
                "A",
                "sweep",
                "distance",
                "bound",
                "gap",
                "status",
                "seconds",
                "swarm seconds",
            ),
        ),
    ]
    return "\n".join(parts) + "\n"


def _table(found: Sequence[Line], columns: tuple[str, ...]) -> str:
    head = ("set", "row", "theta", "r", *columns)
    rows = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    rows += ["| " + " | ".join(_word(line.get(name)) for name in head) + " |" for line in found]
    return "\n".join(rows)


def _word(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.1e}" if 0 < abs(value) < 1e-3 else f"{value:.5g}"
    return "" if value is None else str(value).replace("_", " ").lower() if str(value).isupper() else str(value)
