"""The knapsack of stumps answers as the general search does, and leaves to it what it cannot decide."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier

import butfor as bf
from butfor.problem.problem import Problem
from butfor.solvers.ensemble import separable
from butfor.solvers.ensemble.separable import SeparableTrees
from butfor.testing.problems import Kinds, random_problem, random_trees
from butfor.testing.solver_contract import SolverContract


class TestSeparableTrees(SolverContract):
    """Sums of random stumps, over whole numbers, levels, holes and limits on the number of changes."""

    solver = SeparableTrees()
    form = "trees"
    kinds = Kinds(costs=("l0", "l1", "l2", "table"), relations=("at most",))
    seeds = range(1500)

    def problem(self, seed: int) -> Problem:
        problem = random_problem(seed, self.form, self.kinds, trees=2)
        rng = np.random.default_rng(seed)
        return replace(problem, model=random_trees(rng, problem.space, problem.model.scores, trees=4, depth=1))


def table(rows: int, seed: int) -> tuple[pd.DataFrame, Any]:
    """Numbers, whole numbers, categories and holes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"n{j}": np.round(rng.normal(size=rows), 2) for j in range(4)})
    X["count"] = rng.integers(0, 9, rows)
    X["job"] = pd.Categorical(rng.choice(["nurse", "clerk", "cook", "pilot"], rows))
    X.loc[rng.random(rows) < 0.1, "n3"] = np.nan
    score = X["n0"] - X["n1"] + 0.3 * X["count"] + (X["job"] == "nurse") - 1.5 + X["n3"].fillna(1.0)
    return X, np.where(score + 0.3 * rng.normal(size=rows) > 0, "yes", "no")


MODELS = {
    "boosted stumps": (GradientBoostingClassifier(n_estimators=60, max_depth=1, random_state=0), "plain"),
    "a forest of stumps, with ties": (RandomForestClassifier(10, max_depth=1, max_features=2, random_state=0), "plain"),
    "histograms, categories and holes": (
        HistGradientBoostingClassifier(max_iter=40, max_depth=1, categorical_features="from_dtype"),
        "whole",
    ),
}
COSTS = [0.1 * bf.L0() + bf.L1(), bf.L1() + 0.5 * bf.L2(), bf.L0() + 0.01 * bf.L1()]


@pytest.mark.shorter(3)
@pytest.mark.parametrize("cost", COSTS, ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_it_agrees_with_the_general_search(name: str, cost: Any) -> None:
    model, kind = MODELS[name]
    X, y = table(200, 1)
    if kind == "plain":
        X = X.drop(columns=["job", "n3"])
    explainer = bf.Explainer(model.fit(X, y), data=X)
    assert explainer.reading.model.separable
    rows = X.head(60)
    own = explainer.explain(rows, cost=cost, solver=SeparableTrees())
    general = explainer.explain(rows, cost=cost, solver="ensemble_branch_bound")
    assert own.statuses == general.statuses
    np.testing.assert_allclose(own.costs, general.costs, rtol=0, atol=1e-6)
    assert all(passed for one in own.certificates if np.isfinite(one.cost) for _, passed in one.checks)


def test_several_classes() -> None:
    X, _ = table(240, 6)
    X = X.drop(columns=["job", "n3"])
    y = np.digitize(X["n0"] + 0.2 * X["count"] - X["n1"], [0.0, 1.5])
    explainer = bf.Explainer(GradientBoostingClassifier(n_estimators=20, max_depth=1, random_state=0).fit(X, y), data=X)
    own = explainer.explain(X.head(40), cost=COSTS[0], solver=SeparableTrees())
    general = explainer.explain(X.head(40), cost=COSTS[0])
    assert own.statuses == general.statuses
    np.testing.assert_allclose(own.costs, general.costs, atol=1e-6)


def test_few_changes_and_free_columns() -> None:
    X, y = table(200, 2)
    X = X.drop(columns=["job", "n3"])
    explainer = bf.Explainer(GradientBoostingClassifier(n_estimators=60, max_depth=1).fit(X, y), data=X)
    for rules in ([bf.at_most_changes(1)], [bf.fixed("n0", "n1")], [bf.only_up("count"), bf.at_most_changes(2)]):
        own = explainer.explain(X.head(40), constraints=rules, solver=SeparableTrees())
        general = explainer.explain(X.head(40), constraints=rules)
        assert own.statuses == general.statuses
        np.testing.assert_allclose(own.costs, general.costs, atol=1e-6)


def test_what_is_no_sum_over_columns_is_refused() -> None:
    X, y = table(200, 3)
    X = X.drop(columns=["job", "n3"])
    deep = bf.Explainer(GradientBoostingClassifier(n_estimators=10, max_depth=2).fit(X, y), data=X)
    assert not deep.reading.model.separable
    assert "ensemble_branch_bound" in deep.explain(X.head(1)).only.certificate.solver
    with pytest.raises(bf.errors.UnsupportedProblemError, match="one column each"):
        deep.explain(X.head(1), solver="separable_trees")


@pytest.mark.parametrize("limit", [None, 30.0])
def test_rows_left_to_the_general_search_are_credited_to_it(
    limit: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = table(200, 4)
    X = X.drop(columns=["job", "n3"])
    explainer = bf.Explainer(GradientBoostingClassifier(n_estimators=60, max_depth=1).fit(X, y), data=X)
    first = explainer.explain(X.head(20), cost=COSTS[0])
    assert {one.solver.split(":")[0] for one in first.certificates if one.cost > 0} == {"separable_trees"}
    monkeypatch.setattr(separable, "NODES_PER_ROW", 0)
    asked: list[int] = []
    solve = separable.EnsembleBranchBound.solve

    def counted(self: Any, problem: Any, *rest: Any) -> Any:
        asked.append(len(problem))
        return solve(self, problem, *rest)

    monkeypatch.setattr(separable.EnsembleBranchBound, "solve", counted)
    again = explainer.explain(X.head(20), cost=COSTS[0], time_limit=limit)
    assert 0 < sum(asked) == sum("ensemble_branch_bound" in one.solver for one in again.certificates)
    np.testing.assert_allclose(first.costs, again.costs, atol=1e-6)


def test_most_rows_are_answered_by_the_knapsack_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(300, 4)
    X = X.drop(columns=["job", "n3"])
    explainer = bf.Explainer(GradientBoostingClassifier(n_estimators=100, max_depth=1).fit(X, y), data=X)

    def never(*rest: Any) -> Any:
        raise AssertionError("the general search was asked")

    monkeypatch.setattr(separable.EnsembleBranchBound, "solve", never)
    answers = explainer.explain(X, cost=COSTS[0], solver=SeparableTrees())
    assert {status.name for status in answers.statuses} == {"PROVEN_OPTIMAL"}


def test_it_refuses_other_problems() -> None:
    X, y = table(100, 5)
    X = X.drop(columns=["job", "n3"])
    explainer = bf.Explainer(GradientBoostingClassifier(n_estimators=5, max_depth=1).fit(X, y), data=X)
    with pytest.raises(bf.errors.UnsupportedProblemError, match="a sum over features"):
        explainer.explain(X.head(1), cost=bf.LInf(), solver=SeparableTrees())
    with pytest.raises(bf.errors.UnsupportedProblemError, match="of the kinds linear"):
        explainer.explain(X.head(1), constraints=[bf.linear({"n0": 1.0, "n1": 1.0}, ">=", 0)], solver=SeparableTrees())
