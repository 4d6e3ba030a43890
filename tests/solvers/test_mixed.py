"""Sums of trees and a linear model, against brute force, and cell by cell where numbers are continuous."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import VotingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

import butfor as bf
from butfor.model.questions import evaluate
from butfor.problem.problem import Problem
from butfor.solvers.ensemble import limits
from butfor.solvers.milp.milp import Milp
from butfor.solvers.mixed.branch_bound import MixedBranchBound
from butfor.solvers.outcome import Status
from butfor.testing.problems import Kinds, random_problem
from butfor.testing.solver_contract import SolverContract
from tests.solvers.continuous_oracle import cheapest, supported

COSTS = ("l1", "l2", "l0", "mix", "table")


class Mixtures(SolverContract):
    """One to three trees, and a linear model."""

    form = "mixed"

    def problem(self, seed: int) -> Problem:
        return random_problem(seed, self.form, self.kinds, trees=1 + seed % 3)


class CellByCell(Mixtures):
    """In cells of which no tree tells two rows apart, the model is linear."""

    def judge(self, problem: Problem) -> float | None:
        if not supported(replace(problem, model=self.at(problem.model, problem.factuals)[0])):
            return None
        cells = problem.model.cells
        return min(
            (self._inside(problem, chosen) for chosen in product(*(range(cell.count + 1) for cell in cells))),
            default=np.inf,
        )

    @staticmethod
    def at(model, row):
        """The linear model around a row, and the scores that are added to it."""
        return model.linear, evaluate(model.trees, row)[0]

    def _inside(self, problem: Problem, chosen: tuple[int, ...]) -> float:
        """The cheapest row with these cells."""
        domain, row = problem.domain, np.zeros((1, len(chosen)))
        for j, (cell, k) in enumerate(zip(problem.model.cells, chosen, strict=True)):
            if k == cell.count:
                domain, row[0, j] = domain.all_missing(j), np.nan
                continue
            domain = domain.without_missing(j)
            if cell.levels:
                domain = domain.at_levels(j, np.arange(cell.levels) == k)
                row[0, j] = k
            else:
                low, high = problem.domain.within(j, cell.lower()[None, [k]], cell.upper()[None, [k]])
                stay = domain.stay.copy()
                stay[0, j] &= cell.index(problem.factuals[0, [j]])[0] == k
                domain = replace(domain.narrowed(j, low[0, 0], high[0, 0]), stay=stay)
                row[0, j] = cell.upper()[k] if np.isfinite(cell.upper()[k]) else cell.lower()[k] + 1.0
        linear, scores = self.at(problem.model, np.where(np.isinf(row), 0.0, row))
        parts = tuple(replace(part, b=part.b - part.A @ scores) for part in problem.score_sets)
        return cheapest(replace(problem, model=linear, domain=domain, score_sets=parts))


class TestMixedBranchBound(Mixtures):
    solver = MixedBranchBound()
    kinds = Kinds(continuous=False, costs=COSTS)
    seeds = range(500)


class TestContinuousMixtures(CellByCell):
    solver = MixedBranchBound()
    kinds = Kinds(costs=COSTS, relations=("at most",))
    seeds = range(20_000, 20_400)


class TestWideCells(TestContinuousMixtures):
    """With few cells of their own, numbers are left to be found inside."""

    seeds = range(30_000, 30_400)

    @pytest.fixture(autouse=True)
    def coarse(self, monkeypatch):
        monkeypatch.setattr(limits, "FEW_VALUES", 1)


def test_scores_may_be_as_large_as_they_like() -> None:
    """A threshold far below 0 is one all the same: the same model in another unit gets the same answers."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.uniform(-1, 1, 300), "b": rng.uniform(-1, 1, 300), "k": rng.integers(0, 5, 300)})
    y = -2 + X.a + np.sin(3 * X.b) + 0.3 * X.k
    costs = []
    for unit in (1.0, 2.0**54):
        model = VotingRegressor(
            [("tree", DecisionTreeRegressor(max_depth=4, random_state=0)), ("line", LinearRegression())]
        )
        explainer = bf.Explainer(model.fit(X, y * unit), data=X)
        target = bf.value(at_least=explainer.model.predict(X.iloc[[11]])[0] + 0.5 * unit)
        answer = explainer.explain(X.iloc[[11]], target=target).only
        assert answer.certificate.status is Status.PROVEN_OPTIMAL
        costs.append(answer.cost)
    assert costs[1] == pytest.approx(costs[0], rel=2e-6)


class TestMilpOnMixtures(Mixtures):
    solver = Milp()
    kinds = Kinds(continuous=False)
    seeds = range(40_000, 40_200)


class TestMilpOnContinuousMixtures(CellByCell):
    solver = Milp()
    kinds = Kinds(costs=("l1", "l0", "linf", "table"), relations=("at most", "linear"))
    seeds = range(50_000, 50_150)


class LeavesOfLines(CellByCell):
    """One to three trees with lines in their leaves."""

    form = "linear leaves"
    solver = Milp()

    @staticmethod
    def at(model, row):
        chosen = model.added(np.repeat(row, model.lines.scores, axis=0), np.eye(model.lines.scores)).T
        lines = model.lines
        steps = tuple(chosen @ step for step in lines.steps)
        around = replace(lines, intercept=chosen @ lines.intercept, slope=chosen @ lines.slope, steps=steps)
        return replace(around, cancelled_slope=np.zeros((1, 1))), evaluate(model.trees, row)[0]


class TestMilpOnLeavesOfLines(LeavesOfLines):
    kinds = Kinds(costs=("l1", "l0", "linf", "table"), relations=("at most", "linear"))
    seeds = range(60_000, 60_150)


class TestMilpOnLeavesOfLinesOfWholeNumbers(LeavesOfLines):
    kinds = Kinds(continuous=False)
    seeds = range(70_000, 70_200)

    def judge(self, problem: Problem) -> float | None:
        return SolverContract.judge(self, problem)
