"""The ensembles that are measured, the rows that are asked about, and the explainer of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import Pipeline

import butfor as bf
from benchmarks.data import Table, pipeline
from benchmarks.harness import SEED
from butfor.model.trees import Trees


@dataclass(frozen=True)
class Ensemble:
    """An ensemble to measure: how it is made from a number of trees, on which tables, and the median wait aimed at."""

    name: str
    make: Callable[[int], Any]
    trees: int
    wish: float | None = None
    tables: tuple[str, ...] = ()
    needs: str = "sklearn"

    def fits(self, table: str) -> bool:
        """Whether it is measured on a table."""
        return not self.tables or table in self.tables

    @property
    def there(self) -> bool:
        """Whether its library is installed."""
        return find_spec(self.needs) is not None


def absent(*modules: str) -> str:
    """Which of some modules are not installed, as a reason to leave out what needs them; empty if all are."""
    missing = [name for name in modules if find_spec(name) is None]
    return f"{' and '.join(missing)} not installed" if missing else ""


def forest(trees: int, depth: int | None = 5, **more: Any) -> RandomForestClassifier:
    """A random forest of scikit-learn."""
    return RandomForestClassifier(trees, max_depth=depth, random_state=SEED, **more)


def boosting(trees: int, depth: int | None = 3, **more: Any) -> GradientBoostingClassifier:
    """Gradient boosting of scikit-learn."""
    return GradientBoostingClassifier(n_estimators=trees, max_depth=depth, random_state=SEED, **more)


def xgboost(trees: int, depth: int) -> Any:
    """Gradient boosting of XGBoost."""
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=trees, max_depth=depth, random_state=SEED, n_jobs=1)


def lightgbm(trees: int, leaves: int, depth: int = -1) -> Any:
    """Gradient boosting of LightGBM, with so many leaves a tree at most."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(
        n_estimators=trees, max_depth=depth, num_leaves=leaves, random_state=SEED, n_jobs=1, verbose=-1
    )


FOREST = Ensemble("RF 100 x depth 5", forest, 100, wish=0.5)
ENSEMBLES = (
    FOREST,
    Ensemble("GB 100 x depth 3", boosting, 100, wish=0.05),
    Ensemble("XGBoost 100 x depth 3", lambda trees: xgboost(trees, 3), 100, wish=0.05, needs="xgboost"),
    Ensemble("LightGBM 100 x depth 3", lambda trees: lightgbm(trees, 8, 3), 100, wish=0.05, needs="lightgbm"),
    Ensemble("RF 100 x full depth", lambda trees: forest(trees, None), 100, tables=("pima", "german")),
    Ensemble("XGBoost 500 x depth 6", lambda trees: xgboost(trees, 6), 500, tables=("adult",), needs="xgboost"),
)


@dataclass(frozen=True, eq=False)
class Question:
    """A fitted ensemble, its explainer, the rows asked about and one more to warm up on."""

    table: Table
    model: Pipeline
    explainer: bf.Explainer
    rows: pd.DataFrame
    warm_up: pd.DataFrame

    @property
    def leaves(self) -> int | None:
        """How many leaves the trees have; nothing if the explainer could not read them."""
        read = self.explainer.reading.model
        return int((read.feature < 0).sum()) if isinstance(read, Trees) else None


def ask(table: Table, estimator: Any, rows: int, space: Mapping[str, Any] | None = None) -> Question:
    """Fit an estimator and draw rows that it predicts to be in the undesired class."""
    model = pipeline(table.X, estimator).fit(table.X, table.y)
    undesired = np.flatnonzero(model.predict(table.X) == 0)
    drawn = np.random.default_rng(SEED).permutation(undesired)
    explainer = bf.Explainer(model, data=table.X, space=space)
    return Question(table, model, explainer, table.X.iloc[drawn[:rows]], table.X.iloc[drawn[rows : rows + 1]])
