"""Regions: the widest box around a row in which a forest predicts the same, beside treecf's two kinds of region.

Asked about are the cheapest answers to undesired rows, and desired rows themselves. A side is settled if it is proven
that it cannot be moved out further. Both sides take every number as continuous, within the range of the data.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.data import Table, table
from benchmarks.ensembles.models import FOREST, Question, ask
from benchmarks.ensembles.scale import Line, Scale, while_patient
from benchmarks.ensembles.scenarios import credit
from benchmarks.ensembles.treecf import continuous, rival
from benchmarks.harness import SEED, where

NAMES = ("breast", "banknote", "pima", "ionosphere")
MODES = ("fast", "maximal")


def measure(scale: Scale) -> Iterator[Line]:
    """Every table of numbers."""
    if find_spec("treecf") is None:
        yield {"kind": "left out", "why": "treecf not installed: regions are ours alone", **where()}
    for found in (credit(6000 // scale.shrink), *(table(name) for name in NAMES if name in scale.tables)):
        if found is not None:
            yield from _measured(found, scale)


def _measured(found: Table, scale: Scale) -> Iterator[Line]:
    question = ask(found, FOREST.make(scale.trees(FOREST.trees)), scale.rows, continuous(found.X))
    about = {"table": found.name, "model": FOREST.name, "data": found.about, "leaves": question.leaves}
    about |= {"seed": SEED, "limit": scale.limit, "budget": scale.budget}
    theirs = rival(question) if find_spec("treecf") else None
    question.explainer.region(_desired(question, 1), target=1)  # warms up
    for kind, rows in (("answer", _answers(question, scale)), ("desired row", _desired(question, scale.rows))):
        for row in while_patient(range(len(rows)), scale.patience):
            point = rows.iloc[[row]]
            line = {"kind": "region", **about, "of": kind, "row": row}
            yield {**line, "rival": "butfor", **_ours(question, point, scale.limit), **where()}
            if theirs is not None and row < scale.rival_rows:
                for mode in MODES:
                    told = _theirs(theirs, question, point, mode)
                    yield {**line, "rival": f"treecf {mode}", **told, "treecf": version("treecf"), **where()}


def _answers(question: Question, scale: Scale) -> pd.DataFrame:
    """The points of the answers that are found."""
    answers = question.explainer.explain(question.rows, target=1, time_limit=scale.limit)
    return pd.concat([one.point for one in answers if one.found])


def _desired(question: Question, rows: int) -> pd.DataFrame:
    X = question.table.X
    found = X[question.model.predict(X) == 1]
    return found.iloc[np.random.default_rng(SEED).permutation(len(found))[:rows]]


def _ours(question: Question, point: pd.DataFrame, limit: float) -> Line:
    begin = time.perf_counter()
    region = question.explainer.region(point, target=1, time_limit=limit)
    seconds = time.perf_counter() - begin
    settled = 1.0 if region.widest else None
    return {"seconds": seconds, "settled": settled, **_size(question, region.low, region.high)}


def _theirs(explainer: Any, question: Question, point: pd.DataFrame, mode: str) -> Line:
    """treecf's region around the same point. It is asked from the point itself, which its constraints do not look at."""
    import treecf

    x, target = point.to_numpy(dtype=float)[0], treecf.Target.raw(range=(0.5, 1.0))
    begin = time.perf_counter()
    try:
        region = explainer.recourse_region(x, x, target, mode=mode)
    except treecf.TreecfError as error:
        return {"seconds": time.perf_counter() - begin, "settled": None, "refused": str(error)[:200]}
    seconds = time.perf_counter() - begin
    sides = [side for pair in region.maximal.values() for side in pair]
    settled = float(np.mean(sides)) if sides else 0.0
    return {"seconds": seconds, "settled": settled, **_size(question, region.lo, region.hi)}


def _size(question: Question, low: Any, high: Any) -> Line:
    """How wide a region is: the mean of its widths, and the logarithm of its volume, both in ranges of the data."""
    X = question.table.X
    wide = (np.minimum(high, X.max()) - np.maximum(low, X.min())) / (X.max() - X.min())
    return {"width": float(wide.mean()), "log10_volume": float(np.log10(np.maximum(wide, 1e-16)).sum())}
