"""The swarm as a solver: valid answers, how far from the optimum they are, budgets, interruptions."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from butfor.errors import InputError, UnsupportedProblemError
from butfor.formulation.oracles import model_oracle
from butfor.problem.constraints.relations import AtMost
from butfor.problem.oracle import AbstractOracle, Response
from butfor.solvers.brute_force import BruteForce
from butfor.solvers.outcome import TOLERANCE, Status
from butfor.solvers.solver import Budget
from butfor.solvers.swarm.diverse import clusters, distinct
from butfor.solvers.swarm.polish import Answers
from butfor.solvers.swarm.run import SwarmRun as Search
from butfor.solvers.swarm.swarm import Swarm
from butfor.testing.problems import Kinds, random_problem
from butfor.testing.solver_contract import SolverContract

QUICK = Swarm(particles=20, iterations=15)


class Asks(AbstractOracle):
    """The evaluator of a problem, counted; it may be interrupted at a question."""

    def __init__(self, problem, stop: int = 10**9, error: type[BaseException] = KeyboardInterrupt) -> None:
        self.inner, self.count, self.stop, self.error = model_oracle(problem), 0, stop, error
        self.examples = self.inner.examples

    def ask(self, points, rows) -> Response:
        self.count += 1
        if self.count == self.stop:
            raise self.error
        return self.inner.ask(points, rows)

    def of_examples(self, row: int) -> Response:
        return self.inner.of_examples(row)

    def take(self, rows) -> AbstractOracle:
        return self


class TestSwarm(SolverContract):
    """What the contract asks of solvers that prove something is asked of this one in its own words."""

    solver = QUICK
    form = "ensemble"
    seeds = range(60)
    exact = False

    def problem(self, seed):
        return random_problem(seed, self.form, self.kinds, trees=1 + seed % 3)

    def test_agrees_with_the_judge(self) -> None:
        """Never cheaper than the optimum, nothing found where nothing is; and how far off: nearly always not at all."""
        gaps, missed, judge = [], 0, BruteForce()
        for seed, problem in self.problems(range(150)):
            truth = float(judge.solve(problem, Budget()).cost[0])
            found = self.solver.solve(problem, Budget())
            cost = float(found.cost[0])
            assert cost == truth or cost >= truth - TOLERANCE * (1 + abs(truth)), f"seed {seed}"
            assert found.bound[0] in (0.0, np.inf)
            assert np.isinf(truth) or found.bound[0] == 0.0, f"seed {seed}: it is not impossible"
            if np.isfinite(truth):
                missed += not np.isfinite(cost)
                gaps.append((cost - truth) / (truth or 1.0))
        known = np.array(gaps)[np.isfinite(gaps)]
        assert len(known) > 60
        assert missed <= 0.04 * len(gaps)
        assert (known <= 1e-4).mean() > 0.9
        assert known.mean() < 0.05

    def test_one_more_constraint_is_never_cheaper(self) -> None:
        """Of the optimum that is so; here it is enough that the constraint is kept."""
        for seed, problem in self.problems(range(40)):
            found = self.solver.solve(problem.with_relation(AtMost(1)), Budget())
            if found.found()[0]:
                assert problem.with_relation(AtMost(1)).admits(found.points[:1])[0], f"seed {seed}"

    def test_refusal_has_a_reason(self) -> None:
        _, problem = next(self.problems(range(5)))
        form = replace(problem.form(), constraints=frozenset({"candidates"}))
        assert "row_search" in self.solver.accepts(form).why
        assert "margin" in self.solver.accepts(replace(form, model="ensemble", constraints=frozenset({"margin"}))).why
        assert self.solver.accepts(replace(form, model="black box", constraints=frozenset()))


@pytest.mark.shorter(1)
@pytest.mark.parametrize("form", ["linear", "oblique tree", "tree"])
def test_valid_for_every_form_with_every_relation(form) -> None:
    found = 0
    for seed in range(60):
        try:
            problem = random_problem(seed, form, Kinds())
        except UnsupportedProblemError:
            continue
        if QUICK.accepts(problem.form()):
            outcome = QUICK.solve(problem, Budget())
            if outcome.found()[0]:
                found += 1
                point = outcome.points[:1]
                assert problem.admits(point)[0]
                assert model_oracle(problem).ask(point, np.zeros(1, dtype=np.intp)).met[0]
    assert found > 20


def test_a_domain_without_a_value_is_a_proof() -> None:
    problem = random_problem(3, "tree", Kinds(levels=False, missing=False, relations=()))
    nothing = np.zeros_like(problem.domain.stay)
    domain = replace(problem.domain, low=1.0 + nothing, high=0.0 * nothing, stay=nothing)
    problem = replace(problem, domain=domain)
    outcome = QUICK.solve(problem, Budget())
    assert outcome.status()[0] is Status.PROVEN_INFEASIBLE


@cache
def busy():
    """A problem that has an answer and takes more than a moment."""
    for seed in range(1000):
        problem = random_problem(seed, "ensemble", Kinds(features=6, relations=(), classes=2, bins=False), trees=6)
        found = QUICK.solve(problem, Budget())
        if found.notes["calls"][0] > 25 and 0 < found.cost[0] < np.inf:
            return problem
    raise AssertionError("none is busy")


@pytest.mark.parametrize("calls", [1, 2, 3, 7, 16, 20])
def test_calls_are_kept_exactly(calls) -> None:
    oracle = Asks(busy())
    outcome = replace(QUICK, calls=calls).solve(busy().with_witnesses(oracle=oracle), Budget())
    assert oracle.count == calls == outcome.notes["calls"][0]
    assert outcome.stopped[0]


def test_more_calls_are_never_worse() -> None:
    costs = [replace(QUICK, calls=calls).solve(busy(), Budget()).cost[0] for calls in (1, 4, 60)]
    assert costs == sorted(costs, reverse=True)


@pytest.mark.parametrize("stop", [2, 5, 17, 20])
def test_an_interruption_keeps_the_best(stop) -> None:
    """Wherever it comes: what is returned is valid, and as good as what that many questions find."""
    budget, oracle = Budget(), Asks(busy(), stop)
    outcome = QUICK.solve(busy().with_witnesses(oracle=oracle), budget)
    assert oracle.count == stop
    assert outcome.stopped[0]
    assert budget.spent(), "the rows after it are not begun"
    if outcome.found()[0]:
        assert model_oracle(busy()).ask(outcome.points[:1], np.zeros(1, dtype=np.intp)).met[0]


def test_an_interruption_before_the_first_answer_leaves_none() -> None:
    outcome = QUICK.solve(busy().with_witnesses(oracle=Asks(busy(), 1)), Budget())
    assert outcome.status()[0] is Status.NOT_FOUND


def test_an_error_of_the_model_is_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError):
        QUICK.solve(busy().with_witnesses(oracle=Asks(busy(), 3, ZeroDivisionError)), Budget())


@pytest.mark.shorter(1)
@pytest.mark.parametrize("choice", ["clusters", "own", "last"])
def test_several_answers_are_different_ones(choice) -> None:
    """None is on the way to another. A small tree has hardly more than two."""
    swarm, several = replace(QUICK, choice=choice), 0
    for seed, kind in product(range(20), ("tree", "linear")):
        problem = random_problem(seed, kind, Kinds(relations=()))
        outcome = swarm.solve(problem, Budget(), k=4)
        assert 1 <= len(outcome.row) <= 4
        if outcome.found()[0]:
            start, points = problem.factuals[0], outcome.points
            for i in range(len(points)):
                others = np.delete(points, i, axis=0)
                assert not problem.space.no_farther(start, others, points[i]).any(), f"seed {seed}"
            assert (np.diff(outcome.cost) >= 0).all()
            assert model_oracle(problem).ask(points, outcome.row).met.all()
            several += len(points) > 1
    assert several > 2


def test_polishing_says_what_it_saved() -> None:
    outcome = QUICK.solve(busy(), Budget())
    plain = replace(QUICK, polish=False).solve(busy(), Budget())
    assert outcome.notes["cost before polishing"][0] >= outcome.cost[0]
    assert plain.notes["cost before polishing"][0] >= plain.cost[0] >= outcome.cost[0]


def test_pull_returns_valid_points_only() -> None:
    """The paper's weighted sum would rather stay where it is than pay; what it passed by on the way is returned."""
    for seed in range(20):
        problem = random_problem(seed, "tree", Kinds(relations=()))
        outcome = replace(QUICK, pull=0.5).solve(problem, Budget())
        if outcome.found()[0]:
            assert model_oracle(problem).ask(outcome.points, outcome.row).met.all()


SETTINGS = [
    ({"particles": 1}, "particles=1"),
    ({"particles": 2.5}, "particles=2.5"),
    ({"iterations": -1}, "iterations=-1"),
    ({"calls": 0}, "calls=0"),
    ({"active": True}, "active=True"),
    ({"telling": "iv"}, "telling='iv'"),
    ({"choice": "best"}, "'clusters', 'random', 'own', 'last'"),
    ({"ball": 1.0}, "ball=1.0"),
    ({"pull": -1.0}, "pull=-1.0"),
    ({"box": -0.1}, "box=-0.1"),
    ({"box": {"age": np.nan}}, "box="),
    ({"weights": (1.0, 2.0)}, "weights="),
    ({"weights": ("a", 2.0, 3.0, 4.0)}, "weights=\\('a'"),
    ({"weights": (np.nan, 1.0, 1.0, 1.0)}, "weights=\\(nan"),
    ({"draws": ((0.0, 1.0),)}, "draws="),
    ({"draws": ((0.0, 1.0), (0.0, 1.0), (0.0, np.inf))}, "draws=.*inf"),
]


@pytest.mark.parametrize(("settings", "words"), SETTINGS, ids=[words for _, words in SETTINGS])
def test_settings_are_checked(settings, words) -> None:
    with pytest.raises(InputError, match=words):
        Swarm(**settings)


def test_weights_may_be_arrays_and_lists() -> None:
    given, drawn = [0.7, 1.0, 1.0, 0.0], [[0, 1], [0, 2], [1, 1]]
    swarm = Swarm(weights=np.array(given), draws=drawn)
    assert swarm == Swarm(weights=tuple(given), draws=tuple(map(tuple, drawn)))
    assert hash(swarm)
    assert repr(swarm) == "Swarm(weights=(0.7, 1.0, 1.0, 0.0), draws=((0.0, 1.0), (0.0, 2.0), (1.0, 1.0)))"
    assert repr(Swarm(weights=np.array(Swarm().weights))) == "Swarm()"


def chosen(search: Search) -> Answers:
    """What a search that is done selects first, before changes are taken back."""
    return search._more(Answers(search.cube, np.empty(0, np.intp), search.seen.points[:0], np.empty(0)))[0]


@pytest.mark.parametrize(("choice", "costs"), [("own", "cost"), ("last", "last_cost")])
def test_the_cheapest_are_chosen(choice, costs) -> None:
    """Of the particles' best points, or of their last ones; the rows that the swarm began with are among both."""
    search = Search(replace(QUICK, choice=choice, polish=False), busy(), Budget(), 3, 0)
    search.run()
    points = np.concatenate([search.seen.points, getattr(search.flock, costs.replace("cost", "points"))[0]])
    cost = np.concatenate([search.seen.cost, getattr(search.flock, costs)[0]])
    due = cost[distinct(points, cost)][:3]
    assert len(due) == (3 if choice == "own" else 1), "most particles end at one point"
    assert np.array_equal(chosen(search).cost, due)


def test_one_of_each_cluster_is_chosen() -> None:
    search = Search(replace(QUICK, polish=False), busy(), Budget(), 3, 0)
    search.run()
    found = chosen(search)
    points, cost = search._valid(0)
    label = clusters(search.cube.scaled(search.cube.encode(points, np.zeros(len(points), np.intp))), 3, 0)
    at = [int(np.flatnonzero((points == one).all(axis=1))[0]) for one in found.points]
    assert sorted(label[at]) == [0, 1, 2]
    assert [cost[label == label[i]].min() for i in at] == found.cost.tolist()


def test_fewer_answers_than_asked_are_said() -> None:
    problem = random_problem(3, "tree", Kinds(relations=()))
    found = QUICK.solve(problem, Budget(), k=500)
    assert 0 < len(found.row) < 500
    assert np.allclose(found.notes["coverage"], len(found.row) / 500)
