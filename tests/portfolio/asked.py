"""Explainers and rows that tests of portfolios ask about, and how two folders are compared."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.portfolio.results import SHARED_FACTS

OF_TIME = ("seconds", "record")
"""The columns of results that are not the same twice."""


@cache
def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 300),
            "income": rng.normal(50, 20, 300).round(1),
            "job": rng.choice(["clerk", "nurse", "none"], 300),
            "debt": rng.exponential(5, 300).round(2),
        }
    )
    return X, ((X.income - 3 * X.debt + (X.job == "nurse") * 10) > 35).to_numpy()


@cache
def explainer() -> bf.Explainer:
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    X, y = table()
    encode = ColumnTransformer([("job", OneHotEncoder(), ["job"])], remainder="passthrough")
    return bf.Explainer(make_pipeline(encode, DecisionTreeClassifier(max_depth=5, random_state=0)).fit(X, y), X)


def rows(count: int = 60) -> pd.DataFrame:
    return table()[0].head(count).reset_index(drop=True)


def same(one: Path, other: Path) -> bool:
    """Whether two folders hold the same parts, to the last bit, but for times."""
    names = [sorted(path.name for path in (folder / "parts").glob("part-*.parquet")) for folder in (one, other)]
    return names[0] == names[1] and all(_plain(one / "parts" / n) == _plain(other / "parts" / n) for n in names[0])


def _plain(path: Path) -> tuple[Any, Any]:
    """The results in a file without times, and its records without times and the hashes over them."""
    found = pq.read_table(path)
    shared = json.loads(found.schema.metadata[SHARED_FACTS])
    texts = [*shared["headers"], *(record for record in found["record"].to_pylist() if record is not None)]
    records = [_timeless(json.loads(text)) for text in texts]
    return found.drop_columns(list(OF_TIME)).replace_schema_metadata(), (records, shared["of"])


def _timeless(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _timeless(value) for name, value in data.items() if name not in ("seconds", "created", "hash")}
    return data
