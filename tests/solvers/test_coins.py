"""The currency of a cost does not matter: prices times a constant give answers, bounds and proofs times that constant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.problem.costs import price, typical_changes
from butfor.problem.problem import Problem
from butfor.solvers.choose import SOLVERS
from butfor.solvers.outcome import Outcome, statuses_of
from butfor.solvers.solver import AbstractSolver, Budget
from butfor.space.infer import infer
from butfor.testing.problems import Kinds, random_problem
from tests.shorter import diagonal, first

FACTORS = (1e-12, 1e-7, 1e-3, 3.0, 1e5, 1e12)
ROUNDING = 1e-9
"""How far a bound may lie above an answer, as a share of it: the rounding of sums."""


def in_currency(problem: Problem, factor: float) -> tuple[Problem, float]:
    """The problem with all prices times a factor, in coins, and that coin."""
    prices = replace(problem.prices, coin=1 / factor).in_coins.with_coin(*typical_changes(problem.space))
    sets = tuple(replace(one, offset=factor * one.offset / prices.coin) for one in problem.score_sets)
    return replace(problem, prices=prices.in_coins, score_sets=sets), prices.coin


def asked(solver: AbstractSolver, problem: Problem, factor: float) -> tuple[Outcome, float]:
    """The outcome in the prices of the factor, and their coin."""
    one, coin = in_currency(problem, factor)
    return solver.solve(one, Budget(), seed=0).times(coin), coin


FORMS = ["linear", "tree", "trees", "oblique tree", "network", "mixed"]


@pytest.mark.shorter(12)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solver", [one for one in SOLVERS if one.exact], ids=lambda solver: solver.name)
@pytest.mark.parametrize("seeds", first(1, [range(8), range(8, 25)]), ids=str)
def test_prices_times_a_constant(solver: AbstractSolver, form: str, seeds: range) -> None:
    judged = 0
    for seed in seeds:
        try:
            problem = random_problem(seed, form, Kinds(), trees=3)
        except bf.errors.UnsupportedProblemError:
            continue
        if not solver.accepts(problem.form()):
            continue
        first, coin = asked(solver, problem, 1.0)
        (status,) = statuses_of(first.cost, first.bound, coin)[:1]
        for factor in FACTORS[seed % 2 :: 2]:
            judged += 1
            again, coin = asked(solver, problem, factor)
            message = f"seed {seed}, factor {factor}: {first.cost[0]} {first.bound[0]} {again.cost[0]} {again.bound[0]}"
            assert statuses_of(again.cost, again.bound, coin)[0] is status, message
            np.testing.assert_allclose(
                again.cost[0], factor * first.cost[0], rtol=1e-6, atol=1e-6 * coin, err_msg=message
            )
            for one, other in ((again.bound[0], factor * first.cost[0]), (factor * first.bound[0], again.cost[0])):
                assert one <= other * (1 + ROUNDING) + 1e-12 * coin, message
    if not judged:
        pytest.skip(f"{solver.name} takes no {form}")


@pytest.mark.shorter(2)
@pytest.mark.parametrize("form", ["linear", "tree", "trees", "oblique tree"])
@pytest.mark.parametrize("seeds", first(1, [range(20), range(20, 60)]), ids=str)
def test_a_power_of_two_changes_no_digit(form: str, seeds: range) -> None:
    for seed in seeds:
        problem = random_problem(seed, form, Kinds(), trees=3)
        solver = next(one for one in SOLVERS if one.accepts(problem.form()))
        first, again = asked(solver, problem, 1.0)[0], asked(solver, problem, 2.0**-40)[0]
        np.testing.assert_array_equal(first.points, again.points)
        np.testing.assert_array_equal(first.cost, 2.0**40 * again.cost)
        np.testing.assert_array_equal(first.bound, 2.0**40 * again.bound)


def table(rng: np.random.Generator) -> pd.DataFrame:
    """Columns of several units, one of them with a sentinel."""
    X = pd.DataFrame({
        "ratio": rng.normal(0.01, 0.005, 200),
        "income": rng.normal(40_000, 9_000, 200).round(),
        "years": rng.integers(0, 30, 200),
    })  # fmt: skip
    X.loc[0, "income"] = 999_999_999.0
    return X


MODELS = {
    "tree": DecisionTreeClassifier(max_depth=5, random_state=0),
    "forest": RandomForestClassifier(10, max_depth=4, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=20, random_state=0),
    "line": make_pipeline(StandardScaler(), LogisticRegression()),
    "network": make_pipeline(StandardScaler(), MLPClassifier((6,), max_iter=60, random_state=0)),
    "black box": make_pipeline(StandardScaler(), SVC(random_state=0)),
}
COSTS = {
    "ranges": bf.L1(),
    "own units": bf.L1(scale="none"),
    "fixed and squared": 0.1 * bf.L0() + bf.L2(),
    "a callable": bf.Table({"years": lambda before, after: np.abs(after - before) ** 1.5})
    + bf.L1(weights={"years": 0.0}),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:row")
@pytest.mark.parametrize(("name", "cost"), diagonal(MODELS, reversed(COSTS)))
@pytest.mark.shorter(1)
def test_answers_in_another_currency(name: str, cost: str) -> None:
    rng = np.random.default_rng(0)
    X = table(rng)
    model = MODELS[name].fit(X, (100 * X.ratio + X.income / 40_000 + X.years / 15 > 3).astype(int))
    explainer = bf.Explainer(model, data=X)
    rows = X[1:][model.predict(X[1:]) == 0][:3]
    limits = {"solver": bf.Swarm(20, 10)} if name == "black box" else {}
    first = explainer.explain(rows, target=1, cost=COSTS[cost], progress=False, **limits)
    for factor in (1e-9, 2.0**-30, 1e9):
        again = explainer.explain(rows, target=1, cost=factor * COSTS[cost], progress=False, **limits)
        for one, other in zip(first, again, strict=True):
            assert one.certificate.status is other.certificate.status
            assert other.certificate.bound <= factor * one.cost * (1 + ROUNDING)
            assert factor * one.certificate.bound <= other.cost * (1 + ROUNDING)
            if name != "black box" or factor == 2.0**-30:
                assert other.cost == pytest.approx(factor * one.cost, rel=1e-6)


def test_a_sentinel_does_not_set_the_coin() -> None:
    X = table(np.random.default_rng(0))
    space = infer(X)
    assert price(bf.L1(), space).coin < 1e-4  # a usual change of income is a tiny share of its range
    assert price(bf.L1(), infer(X[1:])).coin > 0.2
    assert price(bf.L1(scale="none"), space).coin < 0.1  # a usual change of ratio
    assert price(1e-9 * bf.L0(), space).coin == pytest.approx(1e-9, rel=0.5)
    assert price(bf.L1(weights=dict.fromkeys(X, 0.0)), space).coin == 1.0  # nothing has a price


def test_the_bound_of_small_prices_lies_below_cheaper_answers() -> None:
    rng = np.random.default_rng(0)
    X = 1e-6 * pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    model = RandomForestClassifier(20, random_state=0).fit(X, X.a + 1e6 * X.b * X.c > 0)
    explainer = bf.Explainer(model, data=X)
    small, large = (explainer.explain(X[:40], cost=factor * bf.L1(scale="none"), progress=False) for factor in (1, 1e6))
    for one, other in zip(small, large, strict=True):
        assert one.certificate.status.name == other.certificate.status.name == "PROVEN_OPTIMAL"
        assert one.certificate.bound <= other.cost / 1e6 * (1 + ROUNDING)
        assert one.cost == pytest.approx(other.cost / 1e6, rel=1e-6)


@pytest.mark.long
def test_the_pull_and_the_notes_of_a_swarm_are_in_the_users_prices() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 3)), columns=list("abc"))
    model = SVC().fit(X, X.a + X.b > 0)
    explainer, rows = bf.Explainer(model, data=X), X[(X.a + X.b < -1)][:4]
    first, again = (
        explainer.explain(
            rows, cost=factor * bf.L1(), solver=bf.Swarm(pull=factor * 20.0, iterations=10), progress=False
        )
        for factor in (1.0, 2.0**-20)
    )
    for one, other in zip(first, again, strict=True):
        assert other.cost == 2.0**-20 * one.cost
        name = "cost before polishing"
        assert other.certificate.notes[name] == 2.0**-20 * one.certificate.notes[name] >= other.cost
