"""Answers that keep apart from earlier ones: brute force agrees, on every kind of model."""

from __future__ import annotations

import numpy as np
import pytest

from butfor.neighbours.ball import Ball, BallNorm
from butfor.problem.constraints.relations import Apart
from butfor.problem.form import Form
from butfor.problem.problem import Problem
from butfor.solvers.choose import EXACT_SOLVERS, PROVING
from butfor.solvers.ensemble.branch_bound import EnsembleBranchBound
from butfor.solvers.outcome import Outcome, Stopped
from butfor.solvers.parted.far import FarApart
from butfor.solvers.robust import cutting
from butfor.solvers.robust.exact import RobustExact, _RowInBall
from butfor.solvers.solver import AbstractSolver, Budget, Support
from butfor.testing.problems import Kinds, random_problem
from butfor.testing.solver_contract import SolverContract
from tests.conftest import QuickClock
from tests.solvers.further import with_earlier


class Apartness(SolverContract):
    """Problems in which the cheapest answers were given before."""

    solver = FarApart(EXACT_SOLVERS)
    kinds = Kinds(continuous=False, costs=("l1", "l2", "l0", "mix", "table"), relations=("at most", "linear"))
    seeds = range(300)
    trees = 1

    def problem(self, seed: int) -> Problem:
        return with_earlier(random_problem(seed, self.form, self.kinds, self.trees), seed)


class TestFarApartOnTrees(Apartness):
    form = "trees"


class TestFarApartOnSums(Apartness):
    form = "trees"
    trees = 3
    kinds = Kinds(continuous=False, costs=("l1", "l2", "l0", "mix"), relations=("at most",))


@pytest.mark.long
class TestFarApartOnLinear(Apartness):
    form = "linear"


class Slow(AbstractSolver):
    """The search for sums of trees, which takes a second for each part, and remembers the parts."""

    name = "slow"

    def __init__(self, clock: QuickClock) -> None:
        self.clock, self.parts = clock, list[bytes]()

    def accepts(self, form: Form) -> Support:
        return EnsembleBranchBound().accepts(form)

    def solve(self, problem: Problem, budget: Budget, k: int = 1, seed: int = 0) -> Outcome:
        domain = problem.domain
        self.parts.append(
            b"".join(some.tobytes() for some in (domain.low, domain.high, domain.stay, *domain.levels.values()))
        )
        self.clock.sleep(1.0)
        return EnsembleBranchBound().solve(problem, Budget())


def in_turns(far: FarApart, problem: Problem, seconds: float) -> tuple[Outcome, list[float]]:
    """What is found after as many turns as it takes, and the bounds after each."""
    found = far.solve(problem, Budget(seconds))
    bounds = [float(found.bound[0])]
    while found.stopped[0] == Stopped.TIME:
        assert len(bounds) < 30, "it does not end"
        (left,), seconds = found.rest, 1.5 * seconds
        found = left.go_on(Budget(seconds))
        bounds.append(float(found.bound[0]))
    assert found.rest[0] is None
    return found, bounds


def check_turns(whole: Outcome, found: Outcome, bounds: list[float]) -> None:
    assert found.status() == whole.status()
    assert found.cost == pytest.approx(whole.cost, rel=1e-6)
    assert bounds == sorted(bounds), "what was proven is forgotten"
    assert bounds[-1] == pytest.approx(whole.bound[0], rel=1e-6)


def test_no_part_is_solved_again_in_the_next_turn(quick_clock: QuickClock) -> None:
    turns = 0
    for seed in range(40):
        problem = with_earlier(random_problem(seed, "trees", TestFarApartOnSums.kinds, 3), seed)
        slow = Slow(quick_clock)
        far = FarApart((slow,))
        if far.accepts(problem.form()):
            found, bounds = in_turns(far, problem, 2.5)
            assert len(set(slow.parts)) == len(slow.parts), f"seed {seed}"
            check_turns(far.solve(problem, Budget()), found, bounds)
            turns += len(bounds) - 1
    assert turns > 10


@pytest.mark.long
@pytest.mark.parametrize("seeds", [range(12), range(12, 30)])
def test_a_robust_search_of_a_part_goes_on_where_it_was(seeds: range, quick_clock: QuickClock, monkeypatch) -> None:
    gone_on, go_on, tell = 0, _RowInBall.go_on, cutting.tell_round

    def counted(row: _RowInBall, budget: Budget) -> Outcome:
        nonlocal gone_on
        gone_on += bool(row.cut_short)
        return go_on(row, budget)

    def told(*facts: float) -> None:
        quick_clock.sleep(1.0)
        tell(*facts)

    monkeypatch.setattr(_RowInBall, "go_on", counted)
    monkeypatch.setattr(cutting, "tell_round", told)
    kinds = Kinds(whole=False, levels=False, missing=False, bins=False, relations=(), costs=("l1",))
    far = FarApart((RobustExact(PROVING),))
    for seed in seeds:
        problem = random_problem(seed, "trees", kinds, 3)
        none = np.zeros(len(problem.space))
        problem = problem.with_demands(ball=Ball(BallNorm.LINF, none + 0.1, none, none))
        first = far.inner[0].solve(problem, Budget())
        if first.found()[0]:
            problem = problem.with_relation(Apart(tuple(first.points[0].tolist()), 0.1))
            check_turns(far.solve(problem, Budget()), *in_turns(far, problem, 1.5))
    assert gone_on > len(seeds) / 6


def test_far_and_not_dominated_in_one_picture() -> None:
    problem = random_problem(0, "linear", Kinds(continuous=True, whole=False, levels=False, missing=False))
    space, start = problem.space, problem.factuals
    ahead = start + 0.2 * np.array([feature.range for feature in space])
    rule = Apart(tuple(ahead[0].tolist()), 0.1)
    steps = {0.0: True, 0.15: False, 0.2: False, 0.35: False, -0.2: True}
    for share, holds in steps.items():
        point = start + share * np.array([feature.range for feature in space])
        assert rule.holds_between(space, start, point)[0] == holds
