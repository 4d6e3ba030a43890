"""Table II: a line a method and seed, by one judge; and the page of means and spreads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import butfor as bf
from benchmarks.harness import where
from butfor.measure.judge import MEASURES
from reproductions.mdpso.forest import gaps
from reproductions.mdpso.methods import Measured, of_dice, of_plain, of_swarms
from reproductions.mdpso.sets import ANSWERS, Case, DataSet, case

SEEDS, RIVAL_SEEDS = 10, 3
SHOWN = "swarm, cheapest, model read"
"""The swarm that is shown beside methods which leave rows without an answer."""

BY_ROW = ("coverage", "proximity", "sparsity")
Line = dict[str, Any]

COLUMNS = {
    "coverage": "coverage",
    "proximity": "proximity",
    "categorical_proximity": "categorical proximity",
    "sparsity": "sparsity",
    "diversity": "diversity",
    "normalised_diversity": "normalised diversity",
    "contradiction": "contradiction",
    "neighbour_distance": "neighbour distance",
    "outlier_factor": "outlier factor",
    "isolation": "isolation",
    "seconds": "seconds a row",
}


def lines(of: DataSet, smoke: bool, python: Path | None) -> Iterator[Line]:
    """A line a method and seed, and one for each row and seed of the swarm against the proven optimum of a forest."""
    chosen, k, few = case(of, smoke), 2 if smoke else ANSWERS, 2 if smoke else None
    judge = bf.measure.Judge(chosen.model, of.X, target=1)
    yield from (_measured(chosen, judge, one, k) for one in of_swarms(chosen, k, few or SEEDS, smoke))
    yield from (_measured(chosen, judge, one, k) for one in of_plain(chosen, k, few or RIVAL_SEEDS))
    forest = chosen if chosen.kind == "random forest" else case(of, smoke, "random forest")
    yield from ({**_about(forest), **line, **where()} for line in gaps(forest, few or SEEDS, smoke))
    if python:
        yield from (_measured(chosen, judge, one, k) for one in of_dice(chosen, k, few or RIVAL_SEEDS, python))


def _about(case: Case) -> Line:
    return {
        "set": case.of.name,
        "about": case.of.about,
        "paper": case.of.paper,
        "model": case.kind,
        "accuracy": case.accuracy,
        "rows": case.rows.index.tolist(),
    }


def _measured(case: Case, judge: bf.measure.Judge, one: Measured, k: int) -> Line:
    """The means over the rows, as `Judge.measures` has them, and each row's own of those that are compared row by row."""
    seconds = {one.method: one.found.seconds}
    table = judge.frame({one.method: one.found.answers}, case.rows, k=k, seconds=seconds, by="factual")
    by_row = {name: [_number(value) for value in table[name]] for name in BY_ROW}
    return {
        "kind": "method", "method": one.method, "seed": one.seed, "k": k, **_about(case),
        **{name: _number(table[name].mean()) for name in MEASURES}, "by_row": by_row, **one.found.about,
        **where(),
    }  # fmt: skip


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def page(found: Sequence[Line]) -> str:
    """A table a set, and one of the forests."""
    methods, gaps = ([line for line in found if line["kind"] == kind] for kind in ("method", "gap"))
    names = dict.fromkeys(line["set"] for line in methods)
    parts = [_of_set([line for line in methods if line["set"] == name]) for name in names]
    return "\n".join(["# Table II, again\n", *parts, _on_answered(methods), _of_forests(gaps)])


def _of_set(found: Sequence[Line]) -> str:
    first = found[0]
    accuracy = ", ".join(f"{name} {value:.3f}" for name, value in first["accuracy"].items())
    said = f"{first['about']}. Model: {first['model']} ({accuracy}). Rows {', '.join(map(str, first['rows']))}.\n"
    rows = [_row("method", "seeds", *COLUMNS.values()), "|" + "---|" * (len(COLUMNS) + 2)]
    for method in dict.fromkeys(line["method"] for line in found):
        its = [line for line in found if line["method"] == method]
        rows.append(_row(method, len(its), *(_spread([line[name] for line in its]) for name in COLUMNS)))
    paper = [f"{first['paper'][name]:.4g}" if name in first["paper"] else "" for name in COLUMNS]
    rows.append(_row("*the paper's MD-PSO*", "", *paper))
    return "\n".join([f"## {first['set']}\n", said, *rows, ""])


def _on_answered(found: Sequence[Line]) -> str:
    """Methods that leave rows without an answer, beside the swarm on the rows and seeds that they answer."""
    rows = [
        _row("set", "method", "rows answered", *(f"{name}, {who}" for name in BY_ROW[1:] for who in ("its", "ours")))
    ]
    rows.append("|" + "---|" * 7)
    for name, method in dict.fromkeys((line["set"], line["method"]) for line in found):
        its = [line for line in found if (line["set"], line["method"]) == (name, method)]
        ours = [line for line in found if (line["set"], line["method"]) == (name, SHOWN)]
        known = np.array([[value is not None for value in line["by_row"]["sparsity"]] for line in its])
        if known.all() or not known.any():
            continue
        cells = []
        for measure in BY_ROW[1:]:
            given = np.array([line["by_row"][measure] for line in its], dtype=np.float64)
            mine = np.array([line["by_row"][measure] for line in ours], dtype=np.float64).mean(axis=0)
            cells += [f"{given[known].mean():.4g}", f"{np.broadcast_to(mine, known.shape)[known].mean():.4g}"]
        rows.append(_row(name, method, f"{known.sum()} of {known.size}", *cells))
    title = f"## Where a method answers some rows only, beside *{SHOWN}* on those rows\n"
    return "\n".join([title, *rows, ""])


def _of_forests(found: Sequence[Line]) -> str:
    rows = [
        _row("set", "rows proven", "swarm", "mean gap", "median gap", "worst gap", "optimal", "seconds a row"),
        "|" + "---|" * 8,
    ]
    for name, method in dict.fromkeys((line["set"], line["method"]) for line in found):
        its = [line for line in found if (line["set"], line["method"]) == (name, method)]
        gap = np.array([line["gap"] for line in its if line["proven"]], dtype=np.float64)
        proven = {line["row"] for line in its if line["proven"]}
        of = {line["row"] for line in its}
        if not len(gap):
            rows.append(_row(name, f"0 of {len(of)}", method, "", "", "", "", ""))
            continue
        seconds = np.mean([line["seconds"] for line in its])
        shown = (gap.mean(), np.median(gap), gap.max(), (gap < 1e-6).mean())
        rows.append(_row(name, f"{len(proven)} of {len(of)}", method, *(f"{x:.1%}" for x in shown), f"{seconds:.2f}"))
    return "\n".join(["## A random forest: how far from the proven optimum\n", *rows, ""])


def _row(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def _spread(values: Sequence[float | None]) -> str:
    """The mean of the seeds that have a value, and their standard deviation."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    spread = f" ± {np.std(known, ddof=1):.2g}" if len(known) > 1 else ""
    return f"{np.mean(known):.4g}{spread}"
