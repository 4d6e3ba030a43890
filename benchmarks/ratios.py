"""German Credit with the credit per month of its duration: as a column that follows, and as a step of the pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import butfor as bf
from benchmarks.data import folder, pipeline, read
from benchmarks.harness import SEED, Number, main, seconds
from butfor.datasets import loans

SECONDS = 10.0
"""How long a row may take."""


def table(smoke: bool) -> tuple[pd.DataFrame, Any, str, str]:
    """Applications, what became of them, what it is, and what is wanted."""
    if smoke or not (folder() / "german_credit.csv").exists():
        X, y = loans.load()
        return (
            X.drop(columns="savings").rename(columns={"months": "duration_months", "amount": "credit_amount"}),
            y,
            "loans",
            "approved",
        )
    X, y, _ = read("german_credit.csv")
    return X, y, f"German Credit, {len(X)} rows", "good"


def per_month(X: pd.DataFrame) -> pd.DataFrame:
    """The table with the credit per month behind it."""
    return X.assign(per_month=X["credit_amount"] / X["duration_months"])


def measure(smoke: bool) -> Iterator[Number]:
    """The same rows without the ratio, with it as a column that follows, and with a step that makes it."""
    X, y, data, wanted = table(smoke)
    trees, count = (5, 2) if smoke else (100, 6)
    models = {
        "boosting of depth 3": GradientBoostingClassifier(n_estimators=trees, max_depth=3, random_state=SEED),
        "forest of depth 6": RandomForestClassifier(trees, max_depth=6, random_state=SEED),
    }
    after = FunctionTransformer(per_month)
    with_ratio = per_month(X)
    for name, model in models.items():
        kinds = {
            "without a ratio": (X, pipeline(X, model), []),
            "a column that follows": (
                with_ratio, pipeline(with_ratio, model), [bf.computed("per_month", "credit_amount / duration_months")]
            ),
            "a step that makes it": (X, make_pipeline(after, pipeline(with_ratio, model)), []),
        }  # fmt: skip
        bare = dict[str, float]()
        for kind, (given, estimator, constraints) in kinds.items():
            fitted = estimator.fit(given, y)
            explainer = bf.Explainer(fitted, data=given)
            rows, found = given[fitted.predict(given) != wanted].iloc[:count], list[Any]()
            kept = [bf.fixed("age"), *constraints]

            def ask() -> None:
                asked = {"constraints": kept, "conflicts": False, "time_limit_per_row": SECONDS}  # noqa: B023
                found.append(explainer.explain(rows, wanted, **asked))  # noqa: B023

            time, settled = seconds(ask, 1)[0], ("PROVEN_OPTIMAL", "PROVEN_INFEASIBLE")
            proven = sum(one.certificate.status.name in settled for one in found[-1])
            about = {"data": data, "trees": trees, "rows": len(rows), "proven": proven}
            against = {"limit": SECONDS * len(rows), **bare}
            yield Number(f"{name}, {kind}", [time], "s", against, about, budget=f"{SECONDS:g} s per row")
            bare = bare or {kind: time}


if __name__ == "__main__":
    main({"ratios": measure}, __doc__ or "")
