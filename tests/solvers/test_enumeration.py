"""Few combinations are all asked about: what is found is proven, for any model."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import butfor as bf
from butfor.solvers import enumeration
from butfor.solvers.enumeration import Enumeration


def table(rng: np.random.Generator, rows: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    X = pd.DataFrame(
        {
            "a": rng.integers(0, 7, rows),
            "b": rng.integers(-2, 3, rows),
            "job": pd.Categorical(rng.choice(list("xyz"), rows)),
        }
    )
    noise = rng.normal(size=rows)
    return X, (X.a + 2 * X.b + 3 * (X.job == "x") + noise > 4).astype(int).to_numpy()


def numbers(X: pd.DataFrame) -> np.ndarray:
    return np.column_stack([X.a, X.b, X.job.cat.codes])


def cheapest(predict, X: pd.DataFrame, row: pd.DataFrame, wanted: int) -> float:
    """The least cost over all combinations, by plain loops."""
    levels = X.job.cat.categories
    every = pd.DataFrame(
        list(product(range(X.a.min(), X.a.max() + 1), range(X.b.min(), X.b.max() + 1), levels)), columns=X.columns
    ).astype({"job": X.job.dtype})
    cost = abs(every.a - row.a.iloc[0]) / np.ptp(X.a) + abs(every.b - row.b.iloc[0]) / np.ptp(X.b)
    cost += every.job.astype(str) != str(row.job.iloc[0])
    return float(np.where(predict(every) == wanted, cost, np.inf).min())


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", [SVC, KNeighborsClassifier])
def test_a_black_box_is_proven(seed, kind) -> None:
    X, y = table(np.random.default_rng(seed))
    model = kind().fit(numbers(X), y)
    row = X[y == 0].iloc[[0]]
    answer = bf.Explainer(lambda rows: model.predict(numbers(rows)), X).explain(row, target=1)[0]
    least = cheapest(lambda rows: model.predict(numbers(rows)), X, row, 1)
    assert answer.certificate.solver.startswith("enumeration: ")
    if np.isinf(least):
        assert answer.certificate.status.name == "PROVEN_INFEASIBLE"
    else:
        assert answer.certificate.status.name == "PROVEN_OPTIMAL"
        assert answer.cost == pytest.approx(least, abs=1e-9)


def test_a_price_that_is_a_function_is_proven_for_a_forest() -> None:
    X, y = table(np.random.default_rng(1))
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X[["a", "b"]], y)
    explainer = bf.Explainer(forest, X[["a", "b"]])
    row = X[["a", "b"]][forest.predict(X[["a", "b"]]) == 0].iloc[[0]]
    price = bf.Table({"a": lambda before, after: 0.1 * (after - before) ** 2})
    answer, judge = (explainer.explain(row, target=1, cost=price, solver=one)[0] for one in ("auto", "brute_force"))
    assert answer.certificate.status.name == "PROVEN_OPTIMAL"
    assert answer.cost == pytest.approx(judge.cost, abs=1e-9)


def test_when_time_ends_all_that_was_not_asked_about_bounds_the_cost(monkeypatch) -> None:
    monkeypatch.setattr(enumeration, "ASKED_AT_ONCE", 5)
    X, _ = table(np.random.default_rng(2))

    def never(rows: pd.DataFrame) -> np.ndarray:
        return np.zeros(len(rows), dtype=int)

    answer = bf.Explainer(never, X).explain(
        X.iloc[[0]], target=bf.value(at_least=1), solver="enumeration", time_limit=1e-9
    )[0]
    assert answer.certificate.status.name == "NOT_FOUND"
    assert 0 < answer.certificate.bound < np.inf
    proven = bf.Explainer(never, X).explain(X.iloc[[0]], target=bf.value(at_least=1))[0]
    assert proven.certificate.status.name == "PROVEN_INFEASIBLE"


def test_what_it_does_not_take() -> None:
    X, y = table(np.random.default_rng(3))
    free = X[["a", "b"]].astype(float) + 0.25
    model = SVC().fit(free, y)
    explainer = bf.Explainer(model, free)
    (support,) = (support for solver, support in explainer.solvers(target=1) if solver.name == Enumeration.name)
    assert not support
    assert "interval" in support.why
    many = pd.DataFrame({name: np.arange(60) for name in "abcd"})
    wide = bf.Explainer(SVC().fit(many, y), many)
    (support,) = (support for solver, support in wide.solvers(target=1) if solver.name == Enumeration.name)
    assert not support
    assert "combinations" in support.why
    few = wide.explain(
        many.iloc[[0]], target=1 - int(wide.model.predict(many.iloc[[0]])[0]), constraints=[bf.fixed("a", "b")]
    )[0]
    assert few.certificate.status.name.startswith("PROVEN")
