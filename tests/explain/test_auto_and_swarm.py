"""A hard question with little time: what is chosen by itself is no dearer than a swarm in its place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, IsolationForest, RandomForestClassifier

import butfor as bf
from butfor.explain.plan import plan
from butfor.explain.turns import Job, in_turns
from butfor.problem.form import Form
from butfor.problem.problem import Problem
from butfor.solvers.outcome import Outcome, Stopped, nothing_found
from butfor.solvers.solver import AbstractSolver, Budget, Support
from butfor.solvers.swarm.swarm import Swarm

rng = np.random.default_rng(5)
X = pd.DataFrame(rng.normal(size=(400, 8)), columns=list("abcdefgh"))
X = X.assign(n=rng.integers(0, 12, 400), m=rng.integers(0, 12, 400))
Y = (X.a + X.b * X.c - X.d * X.e + 0.2 * X.n - 0.1 * X.m > 1).astype(int)
RELATED = [
    bf.implies(bf.rises("n"), bf.rises("m", by=1)),
    bf.linear({"a": 1.0, "b": 1.0, "c": 1.0}, "<=", 2.0),
    bf.at_most_changes(3),
]


def related() -> tuple[Any, pd.DataFrame, list[Any]]:
    model = RandomForestClassifier(120, random_state=0).fit(X, Y)
    rows = X[(model.predict(X) == 0) & (X.a + X.b + X.c <= 2)]
    return model, rows, RELATED


def plausible() -> tuple[Any, pd.DataFrame, list[Any]]:
    model = GradientBoostingClassifier(n_estimators=150, max_depth=4, random_state=0).fit(X, Y)
    return model, X[model.predict(X) == 0], [bf.plausible(IsolationForest(n_estimators=30, random_state=0).fit(X))]


class CutShort(AbstractSolver):
    """An exact solver that was cut short: it found the dearest answers that it could, and has a bound."""

    name, does, row_by_row = "cut_short", "nothing in good time", True

    def __init__(self, dear: Outcome) -> None:
        self.dear = dear

    def accepts(self, form: Form) -> Support:
        return Support(True, "whatever it is")

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        found = nothing_found(problem, 1e-3, Stopped.TIME)
        at = [int(np.flatnonzero((self.factuals == row).all(axis=1))[0]) for row in problem.factuals]
        return Outcome(found.row, self.dear.points[at], self.dear.cost[at], found.bound, found.stopped)

    factuals = np.empty((0, 0))


@pytest.mark.long
@pytest.mark.parametrize("question", [related, plausible])
def test_a_bad_answer_is_searched_by_a_swarm_too(question: Any) -> None:
    """No clock decides: the swarm is given enough to end by itself, and so gives what it gives alone."""
    model, rows, constraints = question()
    explainer = bf.Explainer(model, data=X)
    case = explainer._asking.case(rows[:6], 1, None, constraints)
    (part,) = plan(case.question, case.referee, case.factuals, case.before)
    swarm = Swarm(particles=4, iterations=0, polish=False)
    alone = Swarm().solve(part.problem, Budget(), 1, 0)
    solver = CutShort(swarm.solve(part.problem, Budget(), 1, 0))
    solver.factuals = part.problem.factuals
    job = Job(part.rows, part.problem, solver, solver.credit("for a test"))
    found = in_turns([job], Budget(), 1, 0, True, lambda rows: None)
    assert (solver.dear.cost[solver.dear.found()] > alone.cost[solver.dear.found()]).any()
    assert (found.cost <= alone.cost).all()
    assert found.bound.tolist() == [1e-3] * len(found)
    cheaper = found.cost < solver.dear.cost
    assert all(credit.solver == "swarm" for credit in found.credit[cheaper])


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("question", [plausible, related])
@pytest.mark.parametrize("limit", [0.5, 2.0])
def test_auto_is_hardly_dearer_than_a_swarm_in_the_same_time(question: Any, limit: float) -> None:
    """The swarm has a share of the time, so a little is allowed for what it finds in the rest."""
    model, rows, constraints = question()
    explainer, rows = bf.Explainer(model, data=X), rows[:8]
    for solver in ("auto", "swarm"):  # compiles
        explainer.explain(rows[:2], target=1, constraints=constraints, solver=solver, time_limit=0.5, progress=False)
    costs = {
        solver: explainer.explain(
            rows, target=1, constraints=constraints, solver=solver, time_limit=limit, progress=False
        ).costs
        for solver in ("auto", "swarm")
    }
    assert np.isfinite(costs["auto"]).sum() >= np.isfinite(costs["swarm"]).sum()
    both = np.isfinite(costs["auto"]) & np.isfinite(costs["swarm"])
    print(limit, costs["auto"].round(3), costs["swarm"].round(3))
    assert costs["auto"][both].mean() <= 1.25 * costs["swarm"][both].mean()
