"""Relations between columns: 60 rows of Adult, 25 s, under 32 implications or two sums, beside programs and no relation.

Where other work runs on the machine, compare the seconds of the processor.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import butfor as bf
from benchmarks.data import adult_with_copies, education_implied, pipeline
from benchmarks.harness import SEED, Number, main

LIMIT = 25.0
KEPT = ("age", "sex", "race", "capital_gain", "capital_loss")
"""What stays, so that answers are about education, hours and work."""

SUMS = ["hours_per_week >= 0.5*age", "hours_per_week <= 60 - 0.2*age + education_num"]


class Waited(NamedTuple):
    """How long all rows take together, how much of that the processor works, and how many rows are proven."""

    seconds: float
    processor: float
    proven: int


def waited(explainer: bf.Explainer, rows: pd.DataFrame, limit: float, relations: list[Any], solver: str) -> Waited:
    """Ask for all rows together, after one that compiles."""
    ask = partial(
        explainer.explain,
        target=">50K",
        constraints=[bf.fixed(*KEPT), *relations],
        solver=solver,
        time_limit=limit,
    )
    ask(rows.iloc[[0]])
    begin = time.perf_counter(), time.process_time()
    found = ask(rows)
    taken, worked = time.perf_counter() - begin[0], time.process_time() - begin[1]
    return Waited(taken, worked, sum(status is bf.Status.PROVEN_OPTIMAL for status in found.statuses))


def measure(smoke: bool) -> Iterator[Number]:
    """Sixty rows at once: with relations, without them, and with them by programs."""
    X, y, data = adult_with_copies(smoke)
    trees, limit, linked = (5, 2.0, education_implied(X)) if smoke else (100, LIMIT, education_implied(X))
    models = {
        "boosting of depth 3": GradientBoostingClassifier(n_estimators=trees, random_state=SEED),
        "forest of depth 6": RandomForestClassifier(max(trees // 2, 2), max_depth=6, random_state=SEED),
    }
    for name, made in models.items():
        model = pipeline(X, made).fit(X, y)
        explainer = bf.Explainer(model, data=X)
        rows = X[model.predict(X) == "<=50K"].sample(3 if smoke else 60, random_state=SEED)
        none = waited(explainer, rows, limit, [], "auto")
        for what, relations in {f"{len(linked)} implications": linked, f"{len(SUMS)} sums": SUMS}.items():
            ours = waited(explainer, rows, limit, relations, "auto")
            programs = waited(explainer, rows, limit, relations, "milp")
            yield Number(
                f"{len(rows)} rows, {what}, {name}",
                [ours.seconds],
                "s",
                {"limit": limit, "no relations": none.seconds, "programs": programs.seconds},
                {
                    "data": data,
                    "trees": trees,
                    "proven": ours.proven,
                    "proven by programs": programs.proven,
                    "seconds of the processor": round(ours.processor, 3),
                    "of the processor, no relations": round(none.processor, 3),
                },
                budget=f"{limit:g} s for all rows",
            )


if __name__ == "__main__":
    main({"relations": measure}, __doc__ or "")
