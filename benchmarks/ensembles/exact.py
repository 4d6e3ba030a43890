"""How long the optimum and its proof take, row by row, on one thread."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from typing import Any

import pandas as pd

import butfor as bf
from benchmarks.data import Table, table
from benchmarks.ensembles.models import ENSEMBLES, Ensemble, Question, ask
from benchmarks.ensembles.scale import Line, Scale, while_patient
from benchmarks.harness import Number, where


def measure(scale: Scale) -> Iterator[Line]:
    """Every ensemble on every table."""
    for name in scale.tables:
        found = table(name)
        if found is None:
            yield {"kind": "left out", "table": name, "why": "BUTFOR_DATA does not have its file", **where()}
            continue
        for ensemble in ENSEMBLES:
            if ensemble.fits(name):
                yield from _measured(found, ensemble, scale)


def _measured(of: Table, ensemble: Ensemble, scale: Scale) -> Iterator[Line]:
    about = {"table": of.name, "model": ensemble.name, "data": of.about}
    if not ensemble.there:
        yield {"kind": "left out", **about, "why": f"{ensemble.needs} is not installed", **where()}
        return
    question = ask(of, ensemble.make(scale.trees(ensemble.trees)), scale.rows)
    if question.leaves is None:
        yield {"kind": "left out", **about, "why": "its trees are not read yet", **where()}
        return
    lines = []
    for line in answers(question, scale):
        lines.append(line)
        yield {"kind": "row", **about, "limit": scale.limit, **line, **where()}
    yield {"kind": "summary", **summary(ensemble, lines, {**about, "leaves": question.leaves}, scale)}


def answers(question: Question, scale: Scale, **asked: Any) -> Iterator[Line]:
    """One line a row: cost, bound, status and the seconds of the whole path, the explainer being there and warm."""
    rows = [question.rows.iloc[[i]] for i in range(len(question.rows))]
    warm_up = question.warm_up if len(question.warm_up) else rows[0]
    question.explainer.explain(warm_up, time_limit=scale.limit / 10, **asked)
    for row in while_patient(rows, scale.patience):
        yield {"row": int(row.index[0]), **answer(question.explainer, row, scale.limit, **asked)}


def answer(explainer: bf.Explainer, row: pd.DataFrame, limit: float, **asked: Any) -> Line:
    """The certificate of one row in short, and its seconds."""
    begin = time.perf_counter()
    certificate = explainer.explain(row, time_limit=limit, **asked).certificate
    seconds = time.perf_counter() - begin
    return {
        "cost": certificate.cost,
        "bound": certificate.bound,
        "status": certificate.status.name,
        "solver": certificate.solver.split(":")[0],
        "seconds": seconds,
    }


def summary(ensemble: Ensemble, lines: list[Line], about: dict[str, Any], scale: Scale) -> Line:
    """The share proven, the waits, and the certified gap of the rest."""
    proven = [line["status"] == "PROVEN_OPTIMAL" for line in lines]
    gaps = [1 - line["bound"] / line["cost"] for line, done in zip(lines, proven, strict=True) if not done]
    waits = [line["seconds"] for line in lines]
    number = Number(
        f"{about['table']}, {ensemble.name}",
        waits,
        "s",
        {"wish": ensemble.wish} if ensemble.wish else {},
        {**about, "rows": len(lines), "proven": sum(proven) / len(lines)},
        budget=scale.budget,
    )
    worst = {"gap_median": median(gaps), "gap_most": max(gaps)} if gaps else {}
    return {**number.record(), **worst}


def small(scale: Scale, rows: int, limit: float) -> Scale:
    """The same with fewer rows and less time a row."""
    return replace(scale, rows=min(rows, scale.rows), limit=min(limit, scale.limit))
