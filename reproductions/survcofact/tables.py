"""Tables 1 to 4: the proven answer beside the swarm's and the best of random points."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import butfor as bf
from benchmarks.harness import where
from reproductions.survcofact.rivals import as_written, best_of_random, nearest_row, nearest_under_cox, swarm, swept
from reproductions.survcofact.sets import Question, questions, survivors

LIMIT = 60.0
"""Seconds for a proof; then the certified gap is reported."""

RANDOM = 1_000_000
MOST_TIMES = 500
"""Times of a forest up to which the swarm as written is run: its penalty asks the forest about each point, and that takes as
long as there are times (a second for 2,000 points at 1,000 times)."""

COST = bf.L2(scale="none")
Line = dict[str, Any]


def lines(smoke: bool, sets: Sequence[str] = (), known: Sequence[Line] = ()) -> Iterator[Line]:
    """A line a question that has none; of all sets, or of those named."""
    have = {(line["set"], line["model"], line["row"], line["theta"]) for line in known}
    for of in survivors(smoke):
        if sets and of.name not in sets:
            continue
        for kind in ("cox", "forest"):
            for question in questions(of, kind, smoke):
                if (of.name, kind, question.row, question.theta) in have:
                    continue
                yield {**_asked(question, smoke), **where()}


def _asked(question: Question, smoke: bool) -> Line:
    question.explainer.explain(question.x, target=question.target, cost=COST, time_limit=1.0)
    begin = time.perf_counter()
    answer = question.explainer.explain(question.x, target=question.target, cost=COST, time_limit=LIMIT)
    seconds = time.perf_counter() - begin
    searched, swarm_seconds = _by(question, swarm(smoke))
    quick = question.kind == "cox" or smoke or len(question.of.X) <= MOST_TIMES
    written, written_seconds = _by(question, as_written(smoke)) if quick else (None, None)
    written = written if written is not None and written.found else None
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
        "beyond r": _gain(question, answer) - question.r,
        "swarm": float(np.sqrt(searched.cost)) if searched.found else None,
        "swarm seconds": swarm_seconds,
        "as written": float(np.sqrt(written.cost)) if written else None,
        "as written seconds": written_seconds,
        "r_opt": _gain(question, written) if written else None,
        "point": answer.point[0].tolist(),
        "swarm point": searched.point[0].tolist() if searched.found else None,
    }
    if question.kind == "cox":
        verified = nearest_under_cox(question)
        line["off"] = float(np.linalg.norm(answer.point - verified))
        line["swarm off"] = float(np.linalg.norm(searched.point - verified)) if searched.found else None
        line["as written off"] = float(np.linalg.norm(written.point - verified)) if written else None
    else:
        radius = nearest_row(question)
        line["nearest row"] = radius
        line["random"] = best_of_random(question, 2000 if smoke else RANDOM, radius)
        line["A"] = None if line["as written"] is None else line["random"] - line["as written"]
        if question.x.shape[1] <= 3:
            line["sweep"] = swept(question, line["distance"])
        line["gap"] = 1 - line["bound"] / line["distance"]
    return line


def _by(question: Question, solver: bf.Swarm) -> tuple[bf.Explanation, float]:
    """What a swarm gives, and its seconds."""
    begin = time.perf_counter()
    found = question.explainer.explain(question.x, target=question.target, cost=COST, solver=solver)
    return found.only, time.perf_counter() - begin


def _gain(question: Question, answer: bf.Explanation) -> float:
    """By how much the mean moves in the direction that is wanted."""
    return float(question.theta * (question.means(answer.point) - question.means(question.x))[0])


def page(found: Sequence[Line]) -> str:
    """Both kinds of tables."""
    cox = [line for line in found if line["model"] == "cox"]
    forest = [line for line in found if line["model"] == "forest"]
    parts = [
        "# Tables 1 and 3: the Cox model\n",
        "`off` is the distance to the nearest point found without butfor, `beyond r` what the mean of the proven answer",
        "exceeds r by, and `r_opt` what that of the swarm as written moves by.\n",
        _table(
            cox,
            (
                "r_opt",
                "distance",
                "swarm",
                "as written",
                "off",
                "swarm off",
                "as written off",
                "beyond r",
                "seconds",
                "swarm seconds",
                "as written seconds",
            ),
        ),
        "\n# Tables 2 and 4: a forest of 250 trees\n",
        "Distances. `A` is the paper's: random minus the swarm as written. `sweep`: all cells, without butfor (two or three",
        "columns). No answer is nearer than `bound`; `gap` = 1 - bound / distance.\n",
        _table(
            forest,
            (
                "r_opt",
                "nearest row",
                "random",
                "swarm",
                "as written",
                "A",
                "sweep",
                "distance",
                "bound",
                "gap",
                "status",
                "seconds",
                "swarm seconds",
                "as written seconds",
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
