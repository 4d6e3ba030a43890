"""How the time of a call is shared: answers first, then proofs, and no row uses up the time of others."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import butfor as bf
from butfor.explain import turns
from butfor.explain.solve import Search, confirm
from butfor.problem.problem import Problem
from butfor.solvers.combine import row_by_row
from butfor.solvers.ensemble.branch_bound import EnsembleBranchBound
from butfor.solvers.outcome import (
    NOBODY,
    Outcome,
    Stopped,
    answers_of,
    better_of,
    better_of_several,
    joined,
    nothing_found,
    objects,
    one_answer,
)
from butfor.solvers.solver import Budget, Rest

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :6]
FOREST = RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, Y)
EXPLAINER = bf.Explainer(FOREST, X)
ROWS = X[FOREST.predict(X) == 0].iloc[:6]


@pytest.fixture
def greedy(monkeypatch, quick_clock):
    """A search that uses up all of its time on one row, and tells what it was given for which rows."""
    solve, given = EnsembleBranchBound.solve, []
    hard = float(ROWS.iloc[0, 0])

    def slow(self, problem, budget, k=1, seed=0):
        given.append((problem.factuals[:, 0].tolist(), budget.left()))
        if hard in problem.factuals[:, 0]:
            quick_clock.sleep(min(budget.left(), 5.0) + 0.001)
            return nothing_found(problem, stopped=Stopped.TIME)
        return solve(self, problem, budget, k, seed)

    monkeypatch.setattr(EnsembleBranchBound, "solve", slow)
    return given


def test_one_hard_row_does_not_eat_the_time_of_all(greedy) -> None:
    EXPLAINER.explain(ROWS.iloc[1:], time_limit=60)  # compiles
    greedy.clear()
    answers = EXPLAINER.explain(ROWS, time_limit=6.0)
    assert all(status is bf.Status.PROVEN_OPTIMAL for status in answers.statuses[1:])
    first, last = greedy[0], greedy[-1]
    assert first[1] <= 6.0 * turns.FIRST_SHARE / 6
    assert first[0] == last[0] == [ROWS.iloc[0, 0]]  # what is left goes to the row that is open
    assert max(left for row, left in greedy[1:] if row == first[0]) > 1.0


@dataclass(eq=False)
class Waiting(Rest):
    """A search for a row that uses up its time, and remembers how much that was each time."""

    problem: Problem
    times: list[float] = field(default_factory=list)

    def go_on(self, budget: Budget) -> Outcome:
        self.times.append(budget.left())
        time.sleep(max(budget.left(), 0.0))
        return replace(nothing_found(self.problem, stopped=Stopped.TIME), rest=objects([self]))


@pytest.mark.long
def test_searches_that_go_on_in_one_turn_have_the_same_time(monkeypatch) -> None:
    """With two threads a turn has two rows. What one left over began its search only when the other had used up the time."""
    searches: list[Waiting] = []

    def begun(self, problem, budget, k=1, seed=0):
        def search(one):
            searches.append(Waiting(one))
            return replace(nothing_found(one, stopped=Stopped.TIME), rest=objects([searches[-1]]))

        return row_by_row(problem, budget, search)

    monkeypatch.setattr(EnsembleBranchBound, "solve", begun)
    EXPLAINER.explain(ROWS.iloc[:2], time_limit=2.0, n_jobs=2, solver="ensemble_branch_bound")
    first, second = searches
    assert first.times
    assert len(first.times) == len(second.times)
    assert np.allclose(first.times, second.times, atol=0.1)


def test_a_row_that_the_exact_search_leaves_open_is_searched_by_a_swarm(greedy) -> None:
    answers = EXPLAINER.explain(ROWS, time_limit=4.0)
    hard = answers[0].certificate
    assert hard.status is bf.Status.VALID
    assert hard.solver.startswith("swarm: ensemble_branch_bound found no better answer")
    assert answers[0].point is not None
    named = EXPLAINER.explain(ROWS.iloc[:1], time_limit=0.5, solver="ensemble_branch_bound").only
    assert named.certificate.status is bf.Status.NOT_FOUND


@pytest.mark.long
def test_rows_that_the_first_share_did_not_reach_are_begun_later(monkeypatch, quick_clock) -> None:
    solve = EnsembleBranchBound.solve

    def late(self, problem, budget, k=1, seed=0):
        quick_clock.sleep(0.1)  # longer than its share: the rows at the end are not reached
        return solve(self, problem, Budget(), k, seed)

    rows = X[FOREST.predict(X) == 0].iloc[:40]
    EXPLAINER.explain(rows, time_limit=60)  # compiles
    monkeypatch.setattr(EnsembleBranchBound, "solve", late)
    answers = EXPLAINER.explain(rows, time_limit=8.0, solver="ensemble_branch_bound")
    assert {status.name for status in answers.statuses} == {"PROVEN_OPTIMAL"}
    short = EXPLAINER.explain(rows, time_limit=1.0, solver="ensemble_branch_bound")
    left = [one.certificate for one in short if one.certificate.status is bf.Status.NOT_FOUND]
    assert left
    assert {certificate.stopped for certificate in left} == {Stopped.TIME}
    assert short.cut_short


def test_a_limit_per_row(greedy) -> None:
    begin = time.perf_counter()
    answers = EXPLAINER.explain(ROWS, time_limit_per_row=0.6)
    assert time.perf_counter() - begin < 6 * 0.6 + 5.0
    assert all(answers.found)
    assert max(left for rows, left in greedy if rows == [ROWS.iloc[0, 0]]) <= 0.6


def test_both_limits_hold(greedy) -> None:
    EXPLAINER.explain(ROWS, time_limit=2.0, time_limit_per_row=0.3)
    assert max(left for rows, left in greedy if rows == [ROWS.iloc[0, 0]]) <= 0.3


@pytest.mark.parametrize("limit", [1e-9, 1e-3, 1e6])
@pytest.mark.parametrize("name", ["time_limit", "time_limit_per_row"])
def test_limits_of_any_size(name, limit) -> None:
    answers = EXPLAINER.explain(ROWS, **{name: limit})
    assert len(answers) == len(ROWS)
    assert limit < 1 or all(status is bf.Status.PROVEN_OPTIMAL for status in answers.statuses)


@pytest.mark.parametrize("limit", [0, -1.0, float("nan"), "10", True])
@pytest.mark.parametrize("name", ["time_limit", "time_limit_per_row"])
def test_limits_that_make_no_sense(name, limit) -> None:
    with pytest.raises((bf.errors.InputError, bf.errors.InputTypeError), match=name):
        EXPLAINER.explain(ROWS, **{name: limit})


def test_first_answers_come_before_second_ones(monkeypatch) -> None:
    solve, asked = EnsembleBranchBound.solve, []

    def told(self, problem, budget, k=1, seed=0):
        asked.extend((row, len(problem.relations)) for row in problem.factuals[:, 0].tolist())
        return solve(self, problem, budget, k, seed)

    monkeypatch.setattr(EnsembleBranchBound, "solve", told)
    answers = EXPLAINER.explain(ROWS, k=3, time_limit=60)
    assert [relations for _, relations in asked] == sorted(relations for _, relations in asked)
    assert np.bincount(answers.rows).tolist() == [3] * len(ROWS)
    for row in range(len(ROWS)):
        costs = answers.costs[answers.rows == row]
        assert (np.diff(costs) >= -1e-9).all()


def test_ctrl_c_in_a_later_round_keeps_what_was_found(monkeypatch) -> None:
    solve, calls = EnsembleBranchBound.solve, []

    def stopping(self, problem, budget, k=1, seed=0):
        calls.append(1)
        if len(calls) > len(ROWS) + 1:
            raise KeyboardInterrupt
        found = solve(self, problem, budget, k, seed)
        return nothing_found(problem, stopped=Stopped.TIME) if len(calls) == 1 else found

    monkeypatch.setattr(EnsembleBranchBound, "solve", stopping)
    answers = EXPLAINER.explain(ROWS, k=2, time_limit=60)
    assert all(answers.found[answers.ranks == 1])
    second = [answers.certificates[int(i)] for i in np.flatnonzero(answers.ranks == 2)]
    assert {one.status for one in second} <= {bf.Status.VALID}  # they were found at once


def problem_of(rows: int):
    from butfor.testing.problems import Kinds, random_problem

    return random_problem(0, "linear", Kinds()).take(np.zeros(rows, dtype=np.intp))


def test_the_better_of_two_outcomes() -> None:
    problem = problem_of(3)
    known = answers_of(np.arange(3), problem.factuals, np.array([3.0, 2.0, np.inf]), np.array([1.0, 2.0, 0.5]))
    found = answers_of(np.array([0, 2]), problem.factuals[:2], np.array([2.5, 4.0]), np.array([0.5, 0.0]))
    both = better_of(known, found)
    assert both.row.tolist() == [0, 1, 2]
    assert both.cost.tolist() == [2.5, 2.0, 4.0]
    assert both.bound.tolist() == [1.0, 2.0, 0.5]


def test_the_better_of_two_outcomes_with_several_answers() -> None:
    """Of each row, all answers are of one outcome: no repeat takes away what was found."""
    problem = problem_of(4)
    points = problem.factuals[:1]

    def several(rows: list[int], costs: list[float], bounds: list[float]) -> Outcome:
        return answers_of(np.array(rows), np.repeat(points, len(rows), axis=0), np.array(costs), np.array(bounds))

    known = several([0, 0, 1, 2, 3], [1.0, 2.0, 5.0, np.inf, 4.0], [0.5, 0.0, 1.0, 0.0, 3.0])
    found = several([0, 1, 1, 2, 3, 3], [3.0, 4.0, 6.0, 7.0, 4.0, 9.0], [0.2, 0.0, 0.0, 2.0, 0.0, 0.0])
    both = better_of_several(known, found)
    assert both.row.tolist() == [0, 0, 1, 1, 2, 3, 3]
    assert both.cost.tolist() == [1.0, 2.0, 4.0, 6.0, 7.0, 4.0, 9.0]
    assert both.bound.tolist() == [0.5, 0.0, 1.0, 0.0, 2.0, 3.0, 0.0]


def test_time_that_is_up_takes_no_answers_back() -> None:
    from butfor.explain.turns import Job, Turn
    from butfor.solvers.choose import choose
    from butfor.testing.problems import Kinds, random_problem

    problem = random_problem(0, "tree", Kinds()).take(np.zeros(3000, dtype=np.intp))
    job = Job(np.arange(3000), problem, *choose(problem.form()))
    turn = Turn(job, job.nothing(Budget()))
    turn.take(Budget(), np.inf, 3, 0)
    before = turn.outcome
    assert before.found().all()
    late = Budget()
    late.interrupt()
    turn.take(late, np.inf, 3, 0)
    assert turn.outcome.row.tolist() == before.row.tolist()
    assert turn.outcome.cost.tolist() == before.cost.tolist()
    assert turn.outcome.bound.tolist() == before.bound.tolist()


def test_an_answer_below_a_bound_refutes_it() -> None:
    problem = problem_of(1)
    impossible = nothing_found(problem, np.inf)
    found = answers_of(np.arange(1), problem.factuals, np.array([1.0]), np.array([0.0]))
    assert better_of(impossible, found).bound.tolist() == [0.0]


def test_one_line_says_how_many_rows_are_proven_and_what_to_do(greedy, caplog) -> None:
    with caplog.at_level("INFO", logger="butfor"):
        answers = EXPLAINER.explain(ROWS, time_limit=0.6, solver="ensemble_branch_bound")
    lost = sum(status is bf.Status.NOT_FOUND for status in answers.statuses)
    assert lost >= 1
    assert f"{lost} without an answer; more time would help (time_limit)" in answers.summary
    assert answers.summary in caplog.messages
    assert "".join(answers.summary.split()) in "".join(repr(answers).split())
    proven = EXPLAINER.explain(ROWS.iloc[1:3])
    assert proven.summary.startswith("2 rows: 2 proven optimal; 2 of 2 answers lie within 0.01 of the threshold")
    assert proven.summary not in repr(proven)


def test_a_refused_answer_leaves_no_row_without_one_when_the_time_is_over() -> None:
    """The estimator rounds otherwise at the point that was found, and no time is left to look for another one."""
    case = EXPLAINER._asking.case(ROWS.iloc[:2], 1)
    refused = [
        one_answer(row, 0.01, 0.01, Stopped.TIME).renumbered(np.array([i])) for i, row in enumerate(case.factuals)
    ]
    found, verdict = confirm(joined(refused).credited(NOBODY), case, Search(), Budget(0.0))
    assert verdict.passed.all()
    assert (found.cost > 0.01).all()
    assert np.isfinite(found.cost).all()
    assert found.bound.tolist() == [0.01, 0.01]
    assert found.stopped.tolist() == [Stopped.TIME, Stopped.TIME]
