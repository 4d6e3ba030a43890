"""Columns that belong together, from the estimator to the certificate: against all rows that there can be."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.solvers.outcome import Status
from tests.shorter import first

ROWS = 400
COLUMNS = ["level", "number", "a", "b"]


def table(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Whole numbers. `number` follows from `level`, and not all pairs of `a` and `b` exist."""
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 5, ROWS)
    a = rng.integers(0, 4, ROWS)
    data = pd.DataFrame(
        {
            "level": level,
            "number": np.array([9, 2, 5, 5, 7])[level],
            "a": a,
            "b": (a * 2 + rng.integers(0, 3, ROWS)) % 6,
        }
    )
    score = data.number + 2 * data.a - data.b + rng.normal(0, 1.0, ROWS)
    y = np.digitize(score, np.quantile(score, [1 / 3, 2 / 3]))
    return data, np.asarray(y)


def pairs(data: pd.DataFrame, *names: str) -> set[tuple[int, ...]]:
    return set(map(tuple, data[list(names)].to_numpy().tolist()))


def cheapest(model, data, row, target, allowed) -> float:
    """The cheapest of all rows that are allowed, by L1 over ranges: the estimator is asked about each."""
    values = [range(int(data[name].min()), int(data[name].max()) + 1) for name in data]
    every = np.array([one for one in product(*values) if allowed(dict(zip(data, one, strict=True)))])
    fine = every[model.predict(pd.DataFrame(every, columns=data.columns)) == target]
    width = (data.max() - data.min()).to_numpy()
    return float((np.abs(fine - row.to_numpy()) / width).sum(axis=1).min(initial=np.inf))


MODELS = {
    "tree": lambda: DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": lambda: RandomForestClassifier(8, max_depth=4, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=8, max_depth=3, random_state=0),
    "bins": lambda: HistGradientBoostingClassifier(max_iter=5, max_depth=3, random_state=0),
    "linear": lambda: LogisticRegression(max_iter=2000),
    "network": lambda: MLPClassifier((5,), max_iter=300, random_state=0),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("seed", first(1, range(6)))
def test_the_cheapest_row_of_all(kind, seed) -> None:
    data, y = table(seed)
    model = MODELS[kind]().fit(data, y)
    explainer, links, both = bf.Explainer(model, data), pairs(data, "level", "number"), pairs(data, "a", "b")
    rng = np.random.default_rng(seed)
    judged = 0
    for at in rng.choice(ROWS, 5, replace=False):
        row = data.iloc[[at]]
        target = int(rng.choice(np.setdiff1d(model.classes_, model.predict(row))))
        answer = explainer.explain(row, target, constraints=[bf.linked("level", "number"), bf.combinations("a", "b")])
        best = cheapest(
            model, data, data.iloc[at], target,
            lambda one: (one["level"], one["number"]) in links and (one["a"], one["b"]) in both,
        )  # fmt: skip
        certificate = answer.only.certificate
        assert certificate.status in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)
        assert answer.only.cost == pytest.approx(best)
        assert "merged_columns, by " in certificate.solver
        judged += bool(np.isfinite(best))
    assert judged


def test_a_row_keeps_what_it_has_itself() -> None:
    """Its own pair is in no row of the data. It may stay, and every other one must exist."""
    data, y = table(1)
    model = RandomForestClassifier(8, max_depth=4, random_state=0).fit(data, y)
    links = pairs(data, "level", "number")
    odd = pd.DataFrame({"level": [0], "number": [3], "a": [0], "b": [0]})
    answer = bf.Explainer(model, data).explain(odd, 2, constraints=[bf.linked("level", "number")]).only
    best = cheapest(model, data, odd.iloc[0], 2, lambda one: (one["level"], one["number"]) in links | {(0, 3)})
    assert answer.certificate.status is Status.PROVEN_OPTIMAL
    assert answer.cost == pytest.approx(best)
