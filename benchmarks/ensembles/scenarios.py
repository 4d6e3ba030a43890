"""Tables and models of the sizes that treecf publishes its own times for, and Adult as numbers.

The tables are generated after its descriptions; the models are XGBoost's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.data import Table, folder, read
from benchmarks.ensembles.models import xgboost
from benchmarks.ensembles.scale import Scale
from benchmarks.harness import SEED

SIZES = ((50, 3, 20), (100, 5, 20), (200, 5, 12), (300, 6, 50))
"""Trees, depth and columns: three of the sizes on which it measures its proofs, and its wide one."""


def sizes(scale: Scale) -> Iterator[tuple[Table, str, Any]]:
    """A table, the name of a model, and the model, not fitted."""
    rows = 20_000 // scale.shrink
    made = [(credit(6000 // scale.shrink), 120, 4)]
    made += [(sloped(rows, columns), trees, depth) for trees, depth, columns in SIZES]
    for table, trees, depth in made:
        yield table, f"XGBoost {scale.trees(trees)} x depth {depth}", xgboost(scale.trees(trees), depth)


def credit(rows: int) -> Table:
    """Eight columns of a lender: some whole, some skewed, and a noisy rule of risk."""
    rng = np.random.default_rng(SEED)
    loans = 1 + rng.poisson(4, rows)
    late = np.where(rng.random(rows) < 0.4, rng.exponential(6, rows).astype(int), 0)
    X = pd.DataFrame(
        {
            "income": np.exp(rng.normal(8.3, 0.5, rows)).round(-1),
            "utilisation": rng.beta(2, 3, rows).round(3),
            "loans": loans,
            "open_loans": rng.binomial(loans, 0.6),
            "days_late": late,
            "days_late_lately": rng.binomial(late, 0.3),
            "months_on_time": rng.exponential(14, rows).round(),
            "age": rng.integers(21, 75, rows),
        },
        dtype=np.float64,
    )
    risk = 2.2 * X["utilisation"] + 0.35 * X["days_late_lately"] + 0.15 * X["days_late"]
    risk -= 0.9 * np.log(X["income"]) + 0.02 * X["months_on_time"] + 0.015 * X["age"]
    y = (risk + rng.logistic(0, 0.8, rows) < risk.median()).astype(int)
    return Table("credit-like", X, y, f"generated like a lender's table, {rows} rows x 8; undesired: the risky half")


def sloped(rows: int, columns: int) -> Table:
    """Normal columns of unlike spreads, and a noisy linear rule."""
    rng = np.random.default_rng(SEED)
    X = rng.normal(0, rng.uniform(0.1, 100, columns), (rows, columns))
    y = X @ rng.normal(size=columns) > rng.logistic(0, 2, rows)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(columns)])
    about = f"generated: normal columns, a noisy linear rule, {rows} rows x {columns}"
    return Table(f"{columns} columns", frame, pd.Series(y.astype(int)), about)


def adult_numbers() -> Table | None:
    """Adult with every text column as the numbers of its levels; nothing where its file is absent."""
    if not (folder() / "adult.csv.gz").exists():
        return None
    X, target, dropped = read("adult.csv.gz")
    X = X.apply(lambda column: column if pd.api.types.is_numeric_dtype(column) else pd.factorize(column, sort=True)[0])
    about = f"adult.csv.gz, {len(X)} rows x {X.shape[1]}, texts as numbers of their levels; {dropped} rows left out"
    return Table("adult as numbers", X.astype(np.float64), (target == ">50K").astype(int), about)
