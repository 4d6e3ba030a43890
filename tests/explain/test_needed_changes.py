"""Nothing is handed out with a change that can simply be undone."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import butfor as bf
from butfor.explain.needed import taken_back
from butfor.explain.plan import plan
from butfor.explain.turns import Job
from butfor.solvers.choose import choose
from butfor.solvers.outcome import answers_of
from butfor.verdict.case import Case
from tests.shorter import diagonal


@cache
def data() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("abcde"))
    X = X.assign(n=rng.integers(0, 9, 300), m=rng.integers(0, 9, 300))
    return X, (X.a + X.b * X.c + 0.3 * X.n - 0.1 * X.m > 1).astype(int)


MODELS = {
    "boosting": GradientBoostingClassifier(n_estimators=60, max_depth=4, random_state=0),
    "forest": RandomForestClassifier(40, random_state=0),
    "neighbours": KNeighborsClassifier(),
    "support vectors": SVC(),
}


@cache
def explainer(kind: str) -> tuple[Any, bf.Explainer, pd.DataFrame]:
    X, y = data()
    model = MODELS[kind].fit(X, y)
    return model, bf.Explainer(model, data=X), X[model.predict(X) == 0][:8]


def undone(one: bf.Explanation, names: tuple[str, ...]) -> pd.DataFrame:
    return one.point.assign(**{name: one.factual[name].to_numpy() for name in names})


@pytest.mark.shorter(1)
@pytest.mark.parametrize(("asked", "kind"), diagonal(product(["auto", "swarm"], [1e-3, 0.2], [1, 3]), MODELS))
def test_no_single_change_can_be_undone(asked: tuple[str, float, int], kind: str) -> None:
    solver, limit, k = asked
    model, explains, rows = explainer(kind)
    answers = explains.explain(rows, target=1, k=k, solver=solver, time_limit=limit, progress=False)
    for one in answers:
        if one.found:
            assert not any(model.predict(undone(one, (change.name,)))[0] == 1 for change in one.changes)


TIED = [bf.implies(bf.rises("n"), bf.rises("m", by=1)), bf.linear({"a": 1.0, "b": 1.0}, "<=", 1.0)]


def kept(one: bf.Explanation, row: pd.DataFrame) -> bool:
    n, m = (float(row[name].iloc[0] - one.factual[name].iloc[0]) for name in "nm")
    return (n <= 0 or m >= 1) and float(row.a.iloc[0] + row.b.iloc[0]) <= 1.0


@pytest.mark.parametrize("kind", ["boosting", "forest"])
@pytest.mark.parametrize("limit", [1e-3, 0.2])
def test_no_linked_pair_can_be_undone(kind: str, limit: float) -> None:
    model, explains, rows = explainer(kind)
    rows = rows[rows.a + rows.b <= 0.9]
    answers = explains.explain(rows, target=1, constraints=TIED, solver="swarm", time_limit=limit, progress=False)
    assert any(one.found for one in answers)
    for one in answers:
        changed = [change.name for change in one.changes] if one.found else []
        pairs = [pair for pair in combinations(changed, 2) if set(pair) in ({"n", "m"}, {"a", "b"})]
        for names in [*((name,) for name in changed), *pairs]:
            row = undone(one, names)
            assert not (model.predict(row)[0] == 1 and kept(one, row)), names


def cleaned(
    kind: str,
    row: np.ndarray,
    point: np.ndarray,
    constraints: Any = (),
    cost: Any = None,
    bound: float = 0.0,
    until: float = np.inf,
) -> Any:
    """What is left of one answer."""
    _, explains, _ = explainer(kind)
    start = pd.DataFrame([row], columns=list(data()[0].columns)).astype({"n": int, "m": int})
    case = explains._asking.case(start, 1, cost, constraints)
    part = next(plan(case.question, case.referee, case.factuals, case.before))
    job = Job(part.rows, part.problem, *choose(part.problem.form()))
    paid = part.problem.prices.total(case.factuals, point[None])  # in coins
    claimed = answers_of(np.zeros(1, dtype=np.intp), point[None], paid, np.array([bound]))
    return taken_back(claimed, [job], case, until), claimed


@cache
def answer_with_more() -> tuple[np.ndarray, np.ndarray]:
    """A row, and an answer in which more is changed than needed: the columns d and m are moved as well."""
    model, _explains, rows = explainer("forest")
    for row in rows.to_numpy():
        point = row.copy()
        point[[0, 1, 2, 5]] = [2.0, 1.5, 1.5, 8]
        point[[3, 6]] += [0.01, 0]
        if model.predict(pd.DataFrame([point], columns=rows.columns))[0] == 1:
            return row, point
    raise AssertionError


def test_what_is_not_needed_is_taken_back_again_and_again() -> None:
    row, point = answer_with_more()
    found, claimed = cleaned("forest", row, point)
    assert found.cost[0] < claimed.cost[0]
    left = np.flatnonzero(found.points[0] != row)
    assert 0 < len(left) < (point != row).sum()
    for j in left:
        without = found.points[0].copy()
        without[j] = row[j]
        assert explainer("forest")[0].predict(pd.DataFrame([without], columns=data()[0].columns))[0] == 0


def test_the_estimator_is_not_asked_about_what_the_model_surely_refuses(monkeypatch) -> None:
    row, point = answer_with_more()
    told = list[bool]()
    together = Case.met_together

    def noted(case: Case, rows: np.ndarray, points: np.ndarray) -> np.ndarray:
        met = together(case, rows, points)
        told.extend(met.tolist())
        return met

    monkeypatch.setattr(Case, "met_together", noted)
    found, _ = cleaned("forest", row, point)
    assert told
    assert all(told), "no sum of this forest is close to a tie"
    assert (found.points[0] != row).sum() > 0, "what is left was tried, and refused without it"


def test_a_proven_optimum_with_a_price_for_each_change_is_not_tried() -> None:
    row, point = answer_with_more()
    _model, _explains, _ = explainer("forest")
    _, claimed = cleaned("forest", row, point)
    found, _ = cleaned("forest", row, point, bound=float(claimed.cost[0]))
    assert (found.points == claimed.points).all()


def test_a_change_that_costs_nothing_is_taken_back_from_an_optimum() -> None:
    """The largest move is what an answer costs. So smaller moves beside it are free, and may still be needless."""
    row, point = answer_with_more()
    _, claimed = cleaned("forest", row, point, cost="linf")
    found, _ = cleaned("forest", row, point, cost="linf", bound=float(claimed.cost[0]))
    assert found.cost[0] == claimed.cost[0]
    assert (found.points[0] != row).sum() < (point != row).sum()


def test_a_few_rows_are_asked_about_when_the_time_is_over() -> None:
    row, point = answer_with_more()
    in_time, _ = cleaned("forest", row, point)
    late, _ = cleaned("forest", row, point, until=-np.inf)
    assert (late.points == in_time.points).all()


class Counted(LogisticRegression):
    """A model that knows how many rows it was asked about."""

    rows = 0

    def decision_function(self, X: Any) -> Any:
        Counted.rows += len(X)
        return super().decision_function(X)


@pytest.mark.long
@pytest.mark.parametrize(("cost", "whole"), [("l2", False), ("linf", False), ("linf", True)])
@pytest.mark.parametrize("count", [15, 40])
def test_each_move_of_an_optimum_of_a_linear_model_is_needed(cost: str, whole: bool, count: int) -> None:
    """It moves most columns. Where sums tell that each move is needed, nobody is asked about each."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(-9, 10, (300, 30)), columns=[f"x{j}" for j in range(30)])
    X = X if whole else X + rng.normal(size=X.shape)
    model = Counted(max_iter=1000).fit(X, X.to_numpy() @ rng.normal(size=30) > 0)
    explains, before = bf.Explainer(model, data=X), Counted.rows
    answers = explains.explain(X[:count], cost=cost)
    asked, changes = Counted.rows - before, [(one, change) for one in answers for change in one.changes]
    assert len(changes) > 10 * count
    assert whole or asked < len(changes) / 5
    for one, change in changes:
        assert model.predict(undone(one, (change.name,))) == model.predict(one.factual)
