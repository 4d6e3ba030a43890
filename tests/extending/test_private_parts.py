"""A relation, a cost and a judged constraint of one's own, each a single file, through the kit and through `explain`.

docs/contributing.md names the files that make such a thing public. Whatever else it needed would be missing here.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.problem.costs import L1, price
from butfor.problem.form import ConstraintKind, ValueKind
from butfor.problem.problem import Problem
from butfor.solvers.brute_force import BruteForce
from butfor.solvers.choose import SOLVERS
from butfor.solvers.ensemble.branch_bound import EnsembleBranchBound
from butfor.solvers.enumeration import Enumeration
from butfor.solvers.milp.milp import Milp
from butfor.solvers.solver import AbstractSolver, Budget
from butfor.solvers.tree.exact import TreeExact
from butfor.testing.problems import Kinds, random_problem
from butfor.testing.solver_contract import SolverContract
from tests.extending.at_least_together import AtLeastTogether
from tests.extending.jump import Jump
from tests.extending.no_worse_for import NoWorseFor

MODELS = ("tree", "ensemble", "linear", "mixed", "oblique tree", "network")
DECIDES = ("row_search", "enumeration", "swarm", "brute_force")
"""The solvers that ask any relation about points, and need no rows for it."""


def with_relation(problem: Problem) -> Problem:
    """The problem, with the demand that two columns change together (or the only one)."""
    names = problem.space.names[:3]
    return problem.with_relation(AtLeastTogether(names, min(2, len(names))))


def with_jumps(problem: Problem) -> Problem:
    """The problem, with prices that jump."""
    return replace(problem, prices=price(L1() + 0.5 * Jump(0.3), problem.space).in_coins)


class TestRelationEnumerated(SolverContract):
    solver = Enumeration()
    form = "ensemble"
    kinds = Kinds(continuous=False, relations=("at most", "linear", "implies"))
    seeds = range(160)

    def problem(self, seed: int) -> Problem:
        return with_relation(random_problem(seed, self.form, self.kinds, trees=1 + seed % 4))

    def test_refusal_has_a_reason(self) -> None:
        """It takes black boxes. What it refuses is too much to try."""
        for _, problem in self.problems(self.seeds[:5]):
            refused = self.solver.accepts(replace(problem.form(), combinations=1e9))
            assert not refused
            assert len(refused.why) > 10


class Jumping(SolverContract):
    kinds = Kinds(costs=("l1",))
    seeds = range(160)

    def problem(self, seed: int) -> Problem:
        return with_jumps(random_problem(seed, self.form, self.kinds, trees=1 if self.form == "tree" else 2 + seed % 3))


class TestJumpsInATree(Jumping):
    solver = TreeExact()
    form = "tree"


class TestJumpsInASumOfTrees(Jumping):
    solver = EnsembleBranchBound()
    form = "ensemble"


class TestJumpsInAProgram(Jumping):
    solver = Milp()
    form = "tree"


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
@pytest.mark.parametrize("form", MODELS)
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "continuous"])
def test_a_solver_that_knows_no_rows_for_a_relation_refuses_it(form: str, solver: AbstractSolver, whole: bool) -> None:
    kinds = Kinds(continuous=not whole, whole=whole, relations=(), levels=whole)
    for seed in range(3):
        asked = with_relation(random_problem(seed, form, kinds, trees=1 + (form == "ensemble"))).form()
        for also in (frozenset(), {ConstraintKind.ROBUST}, {ConstraintKind.APART}):
            told = solver.accepts(replace(asked, constraints=asked.constraints | also))
            assert len(told.why) > 10
            by_enumeration = solver.name == "far_apart" and bool(Enumeration().accepts(asked))
            assert not told or solver.name in DECIDES or by_enumeration
        if ValueKind.CONTINUOUS in asked.movable and solver.exact:
            assert not solver.accepts(asked)


@pytest.mark.parametrize("solver", [one for one in SOLVERS if one.exact], ids=lambda solver: solver.name)
@pytest.mark.parametrize("form", MODELS)
def test_no_proof_is_made_of_what_only_a_model_can_judge(form: str, solver: AbstractSolver) -> None:
    problem = random_problem(0, form, Kinds(continuous=False, relations=()), trees=1 + (form == "ensemble"))
    told = solver.accepts(problem.with_judged(NoWorseFor(None, 0.0)).form())
    assert not told
    assert len(told.why) > 10


@cache
def jumping(form: str) -> list[tuple[int, Problem, float]]:
    """Problems of one kind of model with prices that jump, by their seeds, and the least cost of each."""
    kinds, judge = Kinds(costs=("l1",), relations=(), continuous=form != "linear"), BruteForce()
    problems = {seed: with_jumps(random_problem(seed, form, kinds)) for seed in range(25)}
    return [
        (seed, problem, float(judge.solve(problem, Budget()).cost[0]))
        for seed, problem in problems.items()
        if judge.accepts(problem.form())
    ]


@pytest.mark.shorter(40)
@pytest.mark.parametrize("solver", [one for one in SOLVERS if one.exact], ids=lambda solver: solver.name)
@pytest.mark.parametrize("form", MODELS)
def test_a_solver_takes_a_jumping_price_only_if_it_is_right_about_it(form: str, solver: AbstractSolver) -> None:
    for seed, problem, least in jumping(form):
        if not solver.accepts(problem.form()):
            continue
        found = solver.solve(problem, Budget())
        assert found.cost[0] == pytest.approx(least, rel=2e-6, abs=2e-6), seed
        assert found.bound[0] <= least + 1e-9 * (1 + abs(least)) or np.isinf(least), seed


def table(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.integers(0, 6, 80) for name in "abc"})
    return X, (X.a + 2 * X.b - X.c + rng.normal(size=80) > 6).astype(int).to_numpy()


def cheapest(model: Any, X: pd.DataFrame, row: pd.DataFrame, allowed: Any, cost: Any) -> float:
    """The least cost over all combinations, by plain loops."""
    every = pd.DataFrame(list(product(*(range(X[name].min(), X[name].max() + 1) for name in X))), columns=X.columns)
    fine = (model.predict(every) == 1) & allowed(every)
    gaps = (every - row.iloc[0]).abs() / (X.max() - X.min())
    return float(np.where(fine, cost(gaps), np.inf).min())


@pytest.mark.parametrize("kind", [RandomForestClassifier, DecisionTreeClassifier, LogisticRegression])
def test_an_explained_row_keeps_a_private_relation(kind: Any) -> None:
    X, y = table()
    model = kind(**({} if kind is LogisticRegression else {"random_state": 0})).fit(X, y)
    rule = AtLeastTogether(("a", "b", "c"), 2)
    for at in np.flatnonzero(model.predict(X) == 0)[:5]:
        row = X.iloc[[at]]
        answer = bf.Explainer(model, X).explain(row, target=1, constraints=[rule]).only
        now = row.iloc[0]
        least = cheapest(
            model, X, row, lambda all_, now=now: (all_ != now).sum(axis=1) >= 2, lambda gaps: gaps.sum(axis=1)
        )
        assert answer.cost == pytest.approx(least, abs=1e-9)
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.certificate.solver.startswith("enumeration: ")
        assert len(answer.changes) >= 2


def test_an_impossible_private_relation_is_blamed_as_it_prints() -> None:
    X, y = table()
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    row = X[model.predict(X) == 0].iloc[[0]]
    rule = AtLeastTogether(("a", "b"), 2)
    answer = bf.Explainer(model, X).explain(row, target=1, constraints=[rule, bf.fixed("a")]).only
    assert answer.certificate.status is bf.Status.PROVEN_INFEASIBLE
    assert {repr(rule), "fixed('a')"} <= {*answer.certificate.conflict}


def test_an_explained_row_is_cheapest_by_a_private_cost() -> None:
    X, y = table()
    model = RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, y)
    cost = L1() + 0.5 * Jump(0.3)
    for at in np.flatnonzero(model.predict(X) == 0)[:5]:
        row = X.iloc[[at]]
        answer = bf.Explainer(model, X).explain(row, target=1, cost=cost).only
        least = cheapest(model, X, row, lambda _: True, lambda gaps: (gaps + 0.5 * (gaps > 0.3)).sum(axis=1))
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert answer.cost == pytest.approx(least, abs=1e-9)


def test_an_explained_row_keeps_a_private_judged_constraint_and_is_not_called_proven() -> None:
    X, y = table()
    model = RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, y)
    second = LinearRegression().fit(X, X.a - X.c)
    explainer = bf.Explainer(model, X)
    for at in np.flatnonzero(model.predict(X) == 0)[:3]:
        row = X.iloc[[at]]
        rule = NoWorseFor(second, float(second.predict(row)[0]) - 1e-9)
        answer = explainer.explain(row, target=1, constraints=[rule]).only
        least = cheapest(
            model, X, row, lambda all_, rule=rule: second.predict(all_) >= rule.least, lambda gaps: gaps.sum(axis=1)
        )
        assert answer.certificate.status is bf.Status.VALID
        assert second.predict(answer.point)[0] >= rule.least
        assert answer.cost >= least - 1e-9
        assert answer.cost <= 1.5 * least
