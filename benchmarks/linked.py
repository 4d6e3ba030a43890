"""Adult with both of its columns on education: linked, at most 1.3 times as long as without, and all proven."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import butfor as bf
from benchmarks.data import adult_with_copies, education_implied, pipeline
from benchmarks.harness import SEED, Number, main, seconds

LIMIT = 1.3
"""How many times as long as without the link it may take."""

SECONDS = 30.0
"""How long a row may take under implications."""

KEPT = bf.fixed(
    "age", "race", "sex", "native_country", "marital_status", "relationship", "capital_gain", "capital_loss"
)  # fmt: skip
"""What is left is the education and the work, so that most answers change what is linked."""

LINK = bf.linked("education", "education_num")

EFFORT = bf.linear({"education_num": 4.0, "hours_per_week": 1.0}, "<=", 90.0)
"""A sum of a linked column and another one."""


def measure(smoke: bool) -> Iterator[Number]:
    """The same rows without and with the link in turns, and some of them under implications."""
    X, y, data = adult_with_copies(smoke)
    trees, count, few = (5, 3, 1) if smoke else (100, 200, 10)
    models = {
        "boosting of depth 3": GradientBoostingClassifier(n_estimators=trees, max_depth=3, random_state=SEED),
        "forest of depth 8": RandomForestClassifier(trees, max_depth=8, random_state=SEED),
    }
    for name, model in models.items():
        explainer = bf.Explainer(pipeline(X, model).fit(X, y), data=X)
        rows = X[explainer.model.predict(X) == "<=50K"].iloc[:count]
        about = {"data": data, "trees": trees, "rows": len(rows)}

        def took(chosen: pd.DataFrame, constraints: list[Any], **limits: Any) -> tuple[float, int]:
            """The seconds for some rows, and how many of them are proven."""
            found: list[Any] = []
            asked = {"constraints": [KEPT, *constraints], "conflicts": False, **limits}
            time = seconds(lambda: found.append(explainer.explain(chosen, ">50K", **asked)), 1)[0]  # noqa: B023
            settled = ("PROVEN_OPTIMAL", "PROVEN_INFEASIBLE")
            return time, sum(one.certificate.status.name in settled for one in found[-1])

        turns = [(took(rows, []), took(rows, [LINK])) for _ in range(1 if smoke else 5)]
        plain, linked = ([turn[k][0] for turn in turns] for k in (0, 1))
        bare = sorted(plain)[len(plain) // 2]
        yield Number(
            f"{name}, without the link", plain, "s", {}, {**about, "proven": min(turn[0][1] for turn in turns)}
        )
        against = {"without the link": bare, "limit": LIMIT * bare}
        yield Number(f"{name}, linked", linked, "s", against, {**about, "proven": min(turn[1][1] for turn in turns)})
        part = {**about, "rows": few}
        time, proven = took(rows.iloc[:few], [LINK])
        yield Number(f"{name}, linked, some rows", [time], "s", {}, {**part, "proven": proven})
        time, proven = took(rows.iloc[:few], [LINK, EFFORT])
        yield Number(f"{name}, linked, and a sum, some rows", [time], "s", {}, {**part, "proven": proven})
        time, proven = took(rows.iloc[:few], education_implied(X), time_limit_per_row=SECONDS)
        word, budget = f"{name}, two implications per level, some rows", f"{SECONDS:g} s per row"
        yield Number(word, [time], "s", {}, {**part, "proven": proven}, budget=budget)


if __name__ == "__main__":
    main({"linked": measure}, __doc__ or "")
