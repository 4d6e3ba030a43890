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

QUOTIENT = "diversity / proximity"
"""The quotient of the two means: what the paper prints as normalised diversity."""

BY_ROW = ("coverage", "proximity", "sparsity")
Line = dict[str, Any]

COLUMNS = {
    "coverage": "coverage",
    "proximity": "proximity",
    "categorical_proximity": "categorical proximity",
    "sparsity": "sparsity",
    "diversity": "diversity",
    "diversity / proximity": "diversity / proximity",
    "normalised_diversity": "normalised diversity (eq. 15)",
    "standardised_diversity": "standardised diversity",
    "contradiction": "contradiction",
    "neighbour_distance": "neighbour distance",
    "outlier_factor": "outlier factor",
    "isolation": "isolation",
    "seconds": "seconds a row",
}


def lines(of: DataSet, smoke: bool, python: Path | None, seeds: int, known: Sequence[Line]) -> Iterator[Line]:
    """A line a method and seed, for the chosen model and for the forest, which the paper chose everywhere.

    And one for each row and seed of the swarm against the proven optimum of the forest. `known` lines are left out.
    """
    chosen, k = case(of, smoke), 2 if smoke else ANSWERS
    forest = chosen if chosen.kind == "random forest" else case(of, smoke, "random forest")
    rivals = min(seeds, RIVAL_SEEDS)
    for one in dict.fromkeys((forest, chosen)):
        have = {
            (line["method"], line["seed"]) for line in known if line["kind"] == "method" and line["model"] == one.kind
        }
        judge = bf.measure.Judge(one.model, of.X, target=1)

        def wanted(method: str, seed: int, have: set[tuple[str, int]] = have) -> bool:
            return (method, seed) not in have

        yield from (_measured(one, judge, made, k) for made in of_swarms(one, k, seeds, smoke, wanted))
        yield from (_measured(one, judge, made, k) for made in of_plain(one, k, rivals, wanted))
        if python:
            yield from (_measured(one, judge, made, k) for made in of_dice(one, k, rivals, python, wanted))
    if not any(line["kind"] == "gap" for line in known):
        yield from ({**_about(forest), **line, **where()} for line in gaps(forest, seeds, smoke))


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
        **{name: _number(table[name].mean()) for name in MEASURES},
        QUOTIENT: _number(table["diversity"].mean() / (table["proximity"].mean() or np.nan)),
        "by_row": by_row, **one.found.about,
        **where(),
    }  # fmt: skip


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def page(found: Sequence[Line]) -> str:
    """A table a set, and one of the forests."""
    methods, gaps = ([line for line in found if line["kind"] == kind] for kind in ("method", "gap"))
    cases = dict.fromkeys((line["set"], line["model"]) for line in methods)
    parts = [_of_set([line for line in methods if (line["set"], line["model"]) == one]) for one in cases]
    return "\n".join(["# Table II, again\n", *parts, _on_answered(methods), _of_forests(gaps)])


def _of_set(found: Sequence[Line]) -> str:
    first = found[0]
    accuracy = ", ".join(f"{name} {value:.3f}" for name, value in first["accuracy"].items())
    said = f"{first['about']}. Model: {first['model']} ({accuracy}). Rows {', '.join(map(str, first['rows']))}.\n"
    rows = [_row("method", "seeds", *COLUMNS.values()), "|" + "---|" * (len(COLUMNS) + 2)]
    for method in dict.fromkeys(line["method"] for line in found):
        its = [line for line in found if line["method"] == method]
        rows.append(_row(method, len(its), *(_spread([line[name] for line in its]) for name in COLUMNS)))
    for method, numbers in first["paper"].items():
        cells = [f"{numbers[name]:.4g}" if name in numbers else "" for name in COLUMNS]
        rows.append(_row(f"*the paper's {method}*", "", *cells))
    return "\n".join([f"## {first['set']}, {first['model']}\n", said, *rows, "", _between(found), ""])


def _between(found: Sequence[Line]) -> str:
    """The paper's claim about its diversity, for ours: it lies between the least and the greatest of the other methods."""
    mean = {
        method: np.nanmean(
            [np.nan if line[QUOTIENT] is None else line[QUOTIENT] for line in found if line["method"] == method]
        )
        for method in dict.fromkeys(line["method"] for line in found if line[QUOTIENT] is not None)
    }
    others = [value for method, value in mean.items() if not method.startswith("swarm")]
    ours = {method: value for method, value in mean.items() if method.startswith("swarm")}
    if not others or not ours:
        return ""
    outside = [method for method, value in ours.items() if not min(others) <= value <= max(others)]
    told = f"Diversity / proximity of the other methods lies between {min(others):.3g} and {max(others):.3g}"
    return f"{told}; outside of that: {'; '.join(outside)}." if outside else f"{told}, and so do all swarms."


def _on_answered(found: Sequence[Line]) -> str:
    """Methods that leave rows without an answer, beside the swarm on the rows and seeds that they answer."""
    rows = [
        _row(
            "set",
            "model",
            "method",
            "rows answered",
            *(f"{name}, {who}" for name in BY_ROW[1:] for who in ("its", "ours")),
        )
    ]
    rows.append("|" + "---|" * 8)
    for name, model, method in dict.fromkeys((line["set"], line["model"], line["method"]) for line in found):
        of_case = [line for line in found if (line["set"], line["model"]) == (name, model)]
        its = [line for line in of_case if line["method"] == method]
        ours = [line for line in of_case if line["method"] == SHOWN]
        known = np.array([[value is not None for value in line["by_row"]["sparsity"]] for line in its])
        if known.all() or not known.any() or not ours:
            continue
        cells = []
        for measure in BY_ROW[1:]:
            given = np.array([line["by_row"][measure] for line in its], dtype=np.float64)
            mine = np.array([line["by_row"][measure] for line in ours], dtype=np.float64).mean(axis=0)
            cells += [f"{given[known].mean():.4g}", f"{np.broadcast_to(mine, known.shape)[known].mean():.4g}"]
        rows.append(_row(name, model, method, f"{known.sum()} of {known.size}", *cells))
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
