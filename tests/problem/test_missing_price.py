"""What it costs that a value becomes missing or known: in every solver, in the search, as text, and refused early."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.problem.costs import price
from butfor.problem.spec import from_spec, to_spec
from butfor.solvers.brute_force import BruteForce
from butfor.solvers.choose import EXACT_SOLVERS
from butfor.solvers.solver import Budget
from butfor.solvers.swarm.pricing import Pricing
from butfor.testing.problems import Kinds, random_problem, random_row
from tests.shorter import first

FORMS = ("linear", "tree", "ensemble", "mixed", "oblique tree", "oblique forest", "network")


@pytest.mark.shorter(1)
@pytest.mark.parametrize("cost", ["lost and found", "largest, lost and found"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seeds", first(1, [range(12), range(12, 200)]), ids=str)
def test_every_solver_finds_what_costs_least(form, cost, seeds) -> None:
    """Numbers on grids and levels, many of which are missing or may become so; each combination is tried."""
    asked = 0
    for seed in seeds:
        problem = random_problem(seed, form, Kinds(continuous=False, costs=(cost,), features=3), trees=2)
        problem = with_vanishing(problem)
        if not BruteForce().accepts(problem.form()):
            continue
        truth = float(BruteForce().solve(problem, Budget()).cost[0])
        for solver in EXACT_SOLVERS:
            if solver.accepts(problem.form()):
                found = solver.solve(problem, Budget())
                assert found.cost[0] == pytest.approx(truth, abs=1e-6), (seed, solver.name)
                assert found.bound[0] <= truth + 1e-6, (seed, solver.name)
                asked += 1
    assert asked


def with_vanishing(problem):
    """The problem in which every value may become missing that the space allows."""
    able = np.array([feature.missing for feature in problem.space.features])
    domain = replace(problem.domain, missing=problem.domain.missing | able)
    return replace(problem, domain=domain)


def test_the_search_prices_as_the_sum_does() -> None:
    for seed in range(40):
        problem = random_problem(seed, "tree", Kinds(costs=("lost and found",)))
        points = np.array([random_row(np.random.default_rng([seed, k]), problem.space) for k in range(20)])
        rows = np.zeros(20, dtype=np.intp)
        assert np.allclose(Pricing(problem)(points, rows), problem.prices.total(problem.factuals[rows], points))


def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"debt": rng.integers(0, 40, 300).astype(float), "income": rng.integers(10, 60, 300).astype(float)}
    )
    X["age"] = rng.integers(18, 70, 300)
    X["home"] = rng.choice(["own", "rent", None], 300)
    X.loc[rng.random(300) < 0.3, "debt"] = np.nan
    y = X["debt"].isna() | (X["income"] > 2 * X["debt"])
    return X, y.to_numpy()


def numbers() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = table()
    return X[["debt", "income", "age"]], y


def test_prices_say_how_a_number_and_a_level_change() -> None:
    X, y = table()
    codes = X[["debt", "income"]].assign(home=X["home"].map({"own": 1.0, "rent": 2.0}))
    tree = DecisionTreeClassifier().fit(codes, y)
    space = bf.Explainer(tree, codes, space={"home": bf.Categorical([1.0, 2.0])}).space
    cost = bf.L1(weights={"debt": 2.0}) + 0.25 * bf.L0() + 2 * bf.Missing(lost={"debt": 3.0, "home": 5.0}, found=0.5)
    prices = price(cost, space)
    debt, home = space.index("debt"), space.index("home")
    nothing = np.array([[np.nan]])
    number = np.array([[10.0]])
    assert prices.separable(debt, number, nothing)[0, 0] == 6.0
    assert prices.separable(debt, nothing, number)[0, 0] == 1.0
    assert prices.separable(debt, nothing, nothing)[0, 0] == 0.0
    assert prices.separable(home, np.zeros((1, 1)), nothing)[0, 0] == 10.0
    assert prices.separable(home, nothing, np.zeros((1, 1)))[0, 0] == 1.0
    assert prices.separable(home, np.zeros((1, 1)), np.ones((1, 1)))[0, 0] == 1.25


@pytest.mark.parametrize("solver", ["auto", bf.Swarm(particles=30, iterations=60)], ids=["exact", "swarm"])
def test_a_cheap_price_is_taken_and_a_dear_one_is_not(solver) -> None:
    X, y = numbers()
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    row = X[(~forest.predict(X)) & X["debt"].notna()].iloc[[0]]
    possible = [bf.may_be_missing("debt"), bf.fixed("age")]
    explainer = bf.Explainer(forest, X)
    cheap, dear = (
        explainer.explain(row, target=True, constraints=possible, solver=solver, cost=bf.L1() + bf.Missing(lost=by))
        for by in (0.001, 50.0)
    )
    assert np.isnan(cheap.point["debt"].iloc[0])
    assert cheap.cost == pytest.approx(0.001)
    assert not np.isnan(dear.point["debt"].iloc[0])
    assert "becomes missing costs 0.001" in cheap.to_html()


def test_text_says_the_same() -> None:
    X, y = numbers()
    explainer = bf.Explainer(DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y), X)
    row = X[X["debt"].notna() & ~y].iloc[[0]]
    for text, cost in {
        "L1 + Missing(lost=0.01)": bf.L1() + bf.Missing(lost=0.01),
        "L1+2*missing(lost debt=0.5, found=1e+2)": bf.L1() + 2 * bf.Missing(lost={"debt": 0.5}, found=100.0),
    }.items():
        asked = {"target": True, "constraints": [bf.may_be_missing("debt")]}
        one, two = (explainer.explain(row, cost=either, **asked) for either in (text, cost))
        assert (one.cost, repr(one.question.cost)) == (two.cost, repr(two.question.cost))
        assert from_spec(to_spec(cost)) == cost


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (bf.Missing(), "needs lost=, found=, or both"),
        (bf.Missing(lost=-1.0), "must be finite and not negative"),
        (bf.Missing(found={"debt": np.nan}), "must be finite and not negative"),
        (bf.Missing(found=np.inf), "must be finite and not negative"),
        (bf.Missing(lost={"dept": 1.0}), "Did you mean 'debt'"),
        ("L1+Missing(lost)", "is no price of what becomes missing"),
        ("L1+Missing(lost=x)", "is no price of what becomes missing"),
        ("L1+Missing(lost=1, lost debt=2)", "stands beside one for a named column"),
    ],
)
def test_what_is_refused(given, words) -> None:
    X, y = numbers()
    explainer = bf.Explainer(DecisionTreeClassifier(max_depth=4).fit(X, y), X)
    with pytest.raises(bf.ButforError, match=words):
        explainer.explain(X.iloc[[0]], cost=given)


def test_a_column_without_missing_values_has_no_such_price() -> None:
    X, y = numbers()
    known = X.fillna(0)
    explainer = bf.Explainer(LogisticRegression(max_iter=999).fit(known, y), known)
    with pytest.raises(bf.errors.InputError, match="No column takes missing values"):
        explainer.explain(known.iloc[[0]], cost=bf.L1() + bf.Missing(lost=1.0))
    filled = make_column_transformer((SimpleImputer(), ["debt"]), remainder="passthrough")
    explainer = bf.Explainer(make_pipeline(filled, LogisticRegression(max_iter=999)).fit(X, y), X)
    with pytest.raises(
        bf.errors.InputError, match=r"for 'age'.*takes no missing values there.*that may be missing are debt"
    ):
        explainer.explain(X.iloc[[0]], cost=bf.L1() + bf.Missing(found={"age": 1.0}))
