"""Several answers to one row: a menu of at most 2 columns in 1 s, of 3 in 10 s, on Adult with boosting of 100 x depth 3."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier

import butfor as bf
from benchmarks.data import adult, pipeline
from benchmarks.harness import SEED, Number, main, seconds

MENU_LIMITS = {1: 1.0, 2: 1.0, 3: 10.0}
"""Seconds for a menu of at most so many columns."""

GOALS = (0.5, 0.6, 0.7, 0.8)

Ask = Callable[[pd.DataFrame], Any]
"""Makes several answers to one row."""


def waits(ask: Ask, rows: pd.DataFrame) -> list[float]:
    """How long each row waits, after one more that compiles."""
    ask(rows.iloc[[0]])
    return [seconds(lambda i=i: ask(rows.iloc[[i]]), 1)[0] for i in range(len(rows))]  # type: ignore[misc]


def measure(smoke: bool) -> Iterator[Number]:
    """Menus of 1 to 3 columns, a ladder of four goals, and both trade-offs, for rows that are refused."""
    X, y, data = adult(smoke)
    trees = 5 if smoke else 100
    model = pipeline(X, GradientBoostingClassifier(n_estimators=trees, max_depth=3, random_state=SEED)).fit(X, y)
    explainer, about = bf.Explainer(model, data=X), {"data": data, "trees": trees}
    rows = X[model.predict(X) == "<=50K"].iloc[: 2 if smoke else 20]
    for most, limit in MENU_LIMITS.items():
        samples = waits(lambda row, most=most: explainer.menu(row, ">50K", most=most), rows)  # type: ignore[misc]
        yield Number(f"menu of at most {most}", samples, "s", {"limit": limit}, about)
    goals = [bf.probability(">50K", p) for p in GOALS]
    others: dict[str, Ask] = {
        "ladder of 4 goals": lambda row: explainer.ladder(row, goals),
        "cost against changes": lambda row: explainer.trade_off(row, ">50K", against="changes"),
        "cost against score, 20 questions": lambda row: explainer.trade_off(row, goals[0], against="score"),
    }
    for name, ask in others.items():
        yield Number(name, waits(ask, rows), "s", {}, about)


if __name__ == "__main__":
    main({"menus": measure}, __doc__ or "")
