"""One row at a time: how long a user waits for an answer once the first was given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

import butfor as bf
from benchmarks.data import adult, adult_linear, adult_tree, hundred
from benchmarks.harness import Number, main, seconds

INTERACTIVE = 1.0
"""Seconds in which an answer does not interrupt a train of thought."""
PAPER = 0.130
"""Seconds an explanation that the paper reports for its (axis-aligned) tree."""


def waits(explainer: bf.Explainer, X: pd.DataFrame, rows: int, **asked: Any) -> list[float]:
    """The median wait for each of some rows."""
    explainer.explain(X.iloc[[0]], **asked)
    return [sorted(seconds(lambda i=i: explainer.explain(X.iloc[[i]], **asked), 3))[1] for i in range(rows)]


def measure(smoke: bool) -> Iterator[Number]:
    """A tree and a linear model on Adult (the latter a mixed-integer programme), and a linear model of 100 columns."""
    rows = 3 if smoke else 30
    X, y, data = adult(smoke)
    many, linear = hundred(300 if smoke else 5000)
    limit, about = {"limit": INTERACTIVE}, {"data": data}
    tree = bf.Explainer(adult_tree(X, y), data=X)
    yield Number("tree", waits(tree, X, rows), "s", {**limit, "paper": PAPER}, about)
    numbers = bf.Explainer(linear, data=many)
    yield Number("linear, 100 columns", waits(numbers, many, rows), "s", limit, {"data": "generated"})
    mixed = bf.Explainer(adult_linear(X, y), data=X)
    asked: dict[str, Any] = {"constraints": [bf.fixed("sex", "race"), bf.only_up("age"), bf.at_most_changes(3)]}
    yield Number("linear, categories, MILP", waits(mixed, X, rows, **asked), "s", limit, about)


if __name__ == "__main__":
    main({"latency": measure}, __doc__ or "")
