"""Networks of ReLU units, explained to proven optimality: `python -m benchmarks.networks` writes results/networks.

One line a table and network: the median over rows that the network puts in the undesired class, at the default cost
(every number a share of its range, a changed category 1). Beside it stand the plain program (big-M over the box of the
data, through HiGHS) and, where RIVAL_PYTHON names a Python 3.12, DiCE on the same rows. `wish` is what was hoped for.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import butfor as bf
from benchmarks.baselines import distance
from benchmarks.data import Table, pipeline, table
from benchmarks.harness import SEED, Number, main
from benchmarks.rivals import Answered, dice, environment, named
from butfor.solvers.network.exact import NetworkSearch
from butfor.solvers.outcome import Stopped

ROWS, LIMIT = 20, 60.0
PLAIN_ROWS, PLAIN_LIMIT = 3, 10.0
"""The plain program takes long, so it is asked about fewer rows."""

RIVAL_ROWS, RIVAL_LIMIT = 3, 10.0
SOON = 0.1
"""After so many seconds, too, it is looked what is proven."""

SMALL = {(10,): 0.02, (50,): 0.02, (100,): 0.02, (10, 10, 10): 2.0, (50, 50): 2.0}
WISHES = {
    "ionosphere": {(10,): 0.1, (50,): 0.1, (100,): 0.5, (10, 10, 10): 2.0, (50, 50): 2.0},
    "german": {(64, 32): 60.0},
    "adult": {(64, 32): 60.0},
    "pima": SMALL,
    "banknote": SMALL,
    "breast": {(5,): 1.0, (4, 3): 1.0},
}
"""The networks of each table, by the units of their hidden layers, and the median seconds wished for.

Breast cancer is there for a quick run, and for machines without the other tables.
"""


def networks(name: str, smoke: bool) -> Iterator[Number]:
    """All networks of a table. None where it is absent."""
    python, _ = environment(None if smoke else named())
    found = scaled(name)
    for shape, wish in WISHES[name].items() if found is not None else ():
        yield _measured(found, shape, wish, python, smoke)


def scaled(name: str) -> Table | None:
    """A table by name. If all of its columns are numbers, they are real numbers from 0 to 1."""
    found = table(name)
    if found is None or not all(map(pd.api.types.is_numeric_dtype, found.X.dtypes)):
        return found
    X = pd.DataFrame(MinMaxScaler().fit_transform(found.X), columns=found.X.columns)
    return replace(found, X=X, about=f"{found.about}; scaled to [0, 1]")


def fitted(of: Table, shape: tuple[int, ...]) -> Any:
    """A network behind a scaler to [0, 1], and behind an encoder where there are text columns.

    On a large table it learns for few rounds.
    """
    network = MLPClassifier(shape, alpha=1e-3, max_iter=30 if len(of.X) > 10_000 else 3000, random_state=SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return pipeline(of.X, make_pipeline(MinMaxScaler(), network)).fit(of.X, of.y)


def _measured(of: Table, shape: tuple[int, ...], wish: float, python: Any, smoke: bool) -> Number:
    model = fitted(of, shape)
    real = all(map(pd.api.types.is_float_dtype, of.X.dtypes))
    explainer = bf.Explainer(model, data=of.X, space=dict.fromkeys(of.X, bf.Continuous()) if real else None)
    undesired = np.flatnonzero(model.predict(of.X) == 0)
    rows = of.X.iloc[np.random.default_rng(SEED).permutation(undesired)[: 2 if smoke else ROWS]]
    explainer.explain(rows.iloc[:1], target=1, time_limit=SOON)
    ours = [_asked(explainer, rows.iloc[[at]], LIMIT) for at in range(len(rows))]
    soon = [_asked(explainer, rows.iloc[[at]], SOON) for at in range(len(rows))]
    with mock.patch.object(NetworkSearch, "_branch", return_value=Stopped.EFFORT):
        unbranched = [_asked(explainer, rows.iloc[[at]], LIMIT) for at in range(len(rows))]
    few = range(min(len(rows), 1 if smoke else PLAIN_ROWS))
    plain = [_asked(explainer, rows.iloc[[at]], PLAIN_LIMIT, solver="milp") for at in few]
    some = rows.iloc[: 1 if smoke else RIVAL_ROWS]
    rivals: dict[str, Answered] = {}
    if python:
        said = dice(python, model, (of.X, of.y), some, 1, SEED, RIVAL_LIMIT, ("random", "genetic"))
        rivals = {f"DiCE {method}": one for method, one in said.items()}
    against = {"wish": wish, "plain program": median(one["seconds"] for one in plain)}
    against |= {name: median(one.seconds) for name, one in rivals.items()}
    about = {
        "data": of.about,
        "network": "-".join(map(str, shape)),
        "rows": len(rows),
        "processor_seconds": _spread([one["processor_seconds"] for one in ours]),
        "unbranched": {
            "gap": _spread([one["gap"] for one in unbranched]),
            "processor_seconds": _spread([one["processor_seconds"] for one in unbranched]),
        },
        "proven": sum(one["status"] == "PROVEN_OPTIMAL" for one in ours),
        "gap": _spread([one["gap"] for one in ours]),
        "gap_soon": _spread([one["gap"] for one in soon]),
        "answered_soon": int(sum(np.isfinite(one["cost"]) for one in soon)),
        "soon": SOON,
        "costs": [one["cost"] for one in ours],
        "plain": {"rows": len(plain), "limit": PLAIN_LIMIT, "worst": max(one["seconds"] for one in plain),
                  "proven": sum(one["status"] == "PROVEN_OPTIMAL" for one in plain),
                  "gap": _spread([one["gap"] for one in plain])},
        "rivals": {name: _dearer(explainer.space, model, some, one, ours) for name, one in rivals.items()},
    }  # fmt: skip
    return Number(
        f"{of.name}, {shape}", [one["seconds"] for one in ours], "s", against, about, budget=f"{LIMIT:g} s a row"
    )


def _asked(explainer: bf.Explainer, row: pd.DataFrame, limit: float, **settings: Any) -> dict[str, Any]:
    begin, used = time.perf_counter(), time.process_time()
    (answer,) = _listed(explainer.explain(row, target=1, time_limit=limit, **settings))
    seconds, processor = time.perf_counter() - begin, time.process_time() - used
    cost, bound = (answer.cost if answer.found else np.inf), max(answer.certificate.bound, 0.0)
    gap = 1.0 if not np.isfinite(cost) else (cost - bound) / cost if cost else 0.0
    return {
        "seconds": seconds,
        "processor_seconds": processor,
        "cost": cost,
        "gap": gap,
        "status": answer.certificate.status.name,
    }


def _listed(answers: Any) -> list[Any]:
    return list(answers) if isinstance(answers, bf.Explanations) else [answers]


def _spread(values: list[float]) -> dict[str, float]:
    return {"median": median(values), "most": max(values)}


def _dearer(
    space: bf.Space, model: Any, rows: pd.DataFrame, of: Answered, ours: list[dict[str, Any]]
) -> dict[str, Any]:
    """How many valid answers a rival gave, and what they cost, as a multiple of the optimum."""
    ratios = []
    for at, answers in enumerate(of.answers):
        if answers is None or not len(answers) or not ours[at]["cost"]:
            continue
        good = model.predict(answers) == 1
        cost = distance(space, space.encode(rows.iloc[[at]])[0], space.encode(answers), 1)[good]
        ratios += [float(cost.min()) / ours[at]["cost"]] if len(cost) else []
    return {
        "rows": len(rows), "valid": len(ratios), "times_the_optimum": _spread(ratios) if ratios else None,
        "worst": max(of.seconds), **of.about,
    }  # fmt: skip


if __name__ == "__main__":
    parts = ("breast",) if "--smoke" in sys.argv else WISHES
    main({f"networks/{name}": partial(networks, name) for name in parts}, __doc__ or "")
