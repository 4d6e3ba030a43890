"""Sums of trees under L-infinity, against the program. The contract of solvers compares them with enumeration."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer

import butfor as bf
from butfor.solvers.brute_force import BruteForce
from butfor.solvers.ensemble import admissible_box
from butfor.solvers.ensemble.largest_move import LargestMove
from butfor.solvers.outcome import Status
from butfor.solvers.solver import Budget
from butfor.testing.problems import Kinds, random_problem


@pytest.mark.parametrize("kind", [RandomForestClassifier, GradientBoostingClassifier])
def test_it_agrees_with_the_program_and_says_how_far_an_impossible_question_gets(kind) -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :4]
    model = kind(n_estimators=8, max_depth=3, random_state=0).fit(X, y)
    explainer, rows = bf.Explainer(model, X), X[model.predict(X) == 0].iloc[:4]
    ours = explainer.explain(rows, target=1, cost="LInf")
    assert {one.certificate.solver.split(":")[0] for one in ours} == {"largest_move"}
    theirs = explainer.explain(rows, target=1, cost="LInf", solver="milp")
    assert [one.cost for one in ours] == pytest.approx([one.cost for one in theirs], rel=1e-6)
    fixed = [bf.fixed(*X.columns[1:])]
    stuck = [one for one in explainer.explain(rows, target=1, cost="LInf", constraints=fixed) if not one.found]
    assert stuck
    assert all("no admissible row gets above" in one.certificate.why for one in stuck)


def test_time_and_rows_outside() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :5]
    model = RandomForestClassifier(10, max_depth=4, random_state=0).fit(X, y)
    explainer, row = bf.Explainer(model, X), X[model.predict(X) == 0].iloc[[0]]
    best = explainer.explain(row, target=1, cost="LInf").only
    hurried = explainer.explain(row, target=1, cost="LInf", time_limit=1e-9).only
    assert hurried.certificate.bound <= best.cost * (1 + 1e-6)
    with pytest.warns(UserWarning, match="outside"):
        found = explainer.explain(row + (X.max() - X.min()), target=1, cost="LInf").only
    assert found.certificate.status in (Status.PROVEN_OPTIMAL, Status.PROVEN_INFEASIBLE)


@pytest.mark.parametrize("encode", ["ordinal", "onehot"])
def test_numbers_that_are_read_by_their_bins(encode: str) -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :3]
    bins = KBinsDiscretizer(5, encode=encode, strategy="uniform")
    model = make_pipeline(bins, RandomForestClassifier(8, max_depth=3, random_state=0)).fit(X, y)
    explainer, rows = bf.Explainer(model, X), X[model.predict(X) == 0].iloc[:4]
    ours = explainer.explain(rows, target=1, cost="LInf")
    assert {one.certificate.solver.split(":")[0] for one in ours} == {"largest_move"}
    theirs = explainer.explain(rows, target=1, cost="LInf", solver="milp")
    assert [one.cost for one in ours] == pytest.approx([one.cost for one in theirs], rel=1e-6)


@pytest.mark.parametrize("high", [1 - 0.9, 0.1])
def test_an_end_that_means_a_point_of_the_grid_is_a_value(high: float) -> None:
    """1 - 0.9 is less than 0.1, and a row may go there. No point of the grid above 0 is so small."""
    X = np.round(np.random.default_rng(0).integers(0, 11, size=(300, 2)) * 0.1, 1)
    y = (X[:, 0] > 0.05) + 0.01 * (X[:, 1] > 0.5)
    model = GradientBoostingRegressor(n_estimators=5, learning_rate=0.9, max_depth=2, random_state=0).fit(X, y)
    explainer, row = bf.Explainer(model, X), X[X[:, 0] == 0][:1]
    rules = [bf.between("x0", 0.0, high), bf.step("x0", 0.1)]
    found = explainer.explain(row, target=bf.value(at_least=0.9), cost="LInf", constraints=rules).only
    assert found.certificate.solver.startswith("largest_move")
    assert found.cost == high


def test_many_levels_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admissible_box, "MOST_CHAINED", 1)
    every, proven = BruteForce(), 0
    for seed in range(150):
        problem = random_problem(seed, "ensemble", Kinds(continuous=False, relations=(), costs=("linf",)), trees=3)
        if not LargestMove().accepts(problem.form()) or not problem.domain.levels:
            continue
        found, judged = LargestMove().solve(problem, Budget()), every.solve(problem, Budget())
        assert found.cost[0] == pytest.approx(judged.cost[0]), f"seed {seed}"
        proven += found.status()[0] is Status.PROVEN_OPTIMAL
    assert proven > 20


@pytest.mark.parametrize("shift", [0.0, 1e4])
def test_an_answer_of_float32_is_the_nearest_that_the_column_can_hold(shift: float) -> None:
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(shift, 10, (300, 3)), columns=list("abc")).astype(np.float32)
    model = RandomForestClassifier(8, max_depth=4, random_state=0).fit(X, X.sum(axis=1) > 3 * shift)
    rows = X[~model.predict(X)].iloc[:4]
    for one in bf.Explainer(model, X).explain(rows, target=True, cost="LInf"):
        assert one.certificate.solver.startswith("largest_move")
        assert one.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert set(one.point.dtypes) == {np.dtype(np.float32)}
        assert model.predict(one.point)[0]
