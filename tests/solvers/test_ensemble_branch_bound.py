"""Branch and bound on middle-sized ensembles: against the other solver, interrupted anywhere, on any number of threads."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import butfor as bf
from butfor.model.trees import Trees
from butfor.problem.problem import Problem
from butfor.solvers.ensemble import effort
from butfor.solvers.ensemble import search as ensemble_search
from butfor.solvers.ensemble.branch_bound import EnsembleBranchBound
from butfor.solvers.ensemble.leaves import all_leaves
from butfor.solvers.milp.milp import Milp
from butfor.solvers.solver import Budget
from butfor.testing.problems import Kinds, random_problem, random_trees
from butfor.testing.solver_contract import brute_force_cost
from tests.shorter import first

KINDS = Kinds(features=5, relations=("at most",), costs=("l1", "l2", "l0", "mix", "table"))


@dataclass(frozen=True)
class Rounds(Budget):
    """A budget of so many questions whether it is spent: an interruption that does not hang on the clock."""

    most: int = 0
    asked: list[int] = field(default_factory=lambda: [0])

    def spent(self) -> bool:
        self.asked[0] += 1
        return self.asked[0] > self.most or super().spent()

    def at_most(self, seconds: float) -> Budget:
        return self


def middle_sized(seed: int) -> Problem:
    return random_problem(seed, "ensemble", KINDS, trees=12 + seed % 8)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("seeds", [range(100_000, 100_080), range(100_080, 100_400)], ids=str)
def test_agrees_with_the_mixed_integer_program(seeds: range) -> None:
    compared = 0
    for seed in seeds:
        problem = middle_sized(seed)
        if not EnsembleBranchBound().accepts(problem.form()) or not Milp().accepts(problem.form()):
            continue
        ours, theirs = EnsembleBranchBound().solve(problem, Budget()), Milp().solve(problem, Budget())
        if np.isinf(theirs.cost[0]):
            assert np.isinf(ours.cost[0]), f"seed {seed}"
            assert ours.bound[0] == np.inf
        else:
            assert ours.cost[0] == pytest.approx(theirs.cost[0], rel=2e-6, abs=2e-6), f"seed {seed}"
            assert ours.bound[0] == pytest.approx(ours.cost[0], rel=2e-6, abs=2e-6)
        compared += 1
    assert compared >= len(seeds) / 2


@pytest.mark.shorter(1)
@pytest.mark.parametrize("seeds", first(1, [range(100), range(100, 300)]))
@pytest.mark.parametrize("depth", [1, 2])
def test_trees_on_one_feature_are_added_up(depth: int, seeds: range) -> None:
    judged = 0
    for seed in seeds:
        problem = random_problem(seed, "ensemble", Kinds(), trees=2)
        assert isinstance(problem.model, Trees)
        stumps = random_trees(np.random.default_rng(seed), problem.space, problem.model.scores, 9, depth)
        problem = replace(problem, model=stumps)
        _, leaves = all_leaves(stumps, problem.space, problem.demands.margin)
        truth = brute_force_cost(problem) if EnsembleBranchBound().accepts(problem.form()) else None
        if truth is None:
            continue
        found = EnsembleBranchBound().solve(problem, Budget())
        assert found.cost[0] == pytest.approx(truth, rel=2e-6, abs=2e-6), f"seed {seed}"
        asking = np.diff(leaves.entry[leaves.tree]) > 0
        assert depth > 1 or asking.sum() <= len(problem.space), "a tree a feature"
        judged += 1
    assert judged > 0.5 * len(seeds)


@pytest.fixture(scope="module")
def forest():
    """A forest of some size, the rows that it puts in class 0, and the proven costs of the cheapest way into class 1."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :8]
    model = RandomForestClassifier(25, max_depth=4, random_state=0).fit(X, y)
    rows = X[model.predict(X) == 0][:6]
    explainer = bf.Explainer(model, data=X)
    answers = explainer.explain(rows, target=1)
    assert set(answers.statuses) == {bf.Status.PROVEN_OPTIMAL}
    return explainer, rows, answers.costs


def test_bounds_hold_wherever_it_is_interrupted(forest, monkeypatch) -> None:
    explainer, rows, optimum = forest
    partly = 0
    for most in (1, 2, 4, 7, 12, 20, 40):
        monkeypatch.setattr("butfor.explain.arguments.Budget", lambda *a, most=most, **k: Rounds(most=most))
        for row, best in zip(rows, optimum, strict=True):
            answer = explainer.explain(row[None], target=1)
            certificate = answer.certificate
            assert certificate.bound <= best * (1 + 2e-6) + 2e-6
            if answer.found:
                assert answer.cost >= best * (1 - 2e-6) - 2e-6
            partly += certificate.status in (bf.Status.WITHIN_GAP, bf.Status.NOT_FOUND)
    assert partly > 10, "hardly anything was interrupted"


def test_the_time_is_looked_at_after_each_row_that_is_polished(forest, monkeypatch) -> None:
    """A row of a large forest takes a tenth of a second, and hundreds may be polished."""
    explainer, rows, _ = forest
    tried, most, improve = [0], [0], ensemble_search.LeafSearch._try

    class Watched(Budget):
        def spent(self) -> bool:
            tried[0] = 0
            return super().spent()

        def at_most(self, seconds: float) -> Budget:
            return self

    def counted(*arguments):
        tried[0] += 1
        most[0] = max(most[0], tried[0])
        return improve(*arguments)

    monkeypatch.setattr("butfor.explain.arguments.Budget", lambda *a, **k: Watched())
    monkeypatch.setattr(ensemble_search.LeafSearch, "_try", counted)
    assert explainer.explain(rows, target=1).found.all()
    assert most[0] <= 2


def test_a_gap_is_said_in_words(forest, monkeypatch) -> None:
    explainer, rows, _ = forest
    monkeypatch.setattr("butfor.explain.arguments.Budget", lambda *a, **k: Rounds(most=3))
    gaps = [answer for answer in explainer.explain(rows, target=1) if answer.certificate.status is bf.Status.WITHIN_GAP]
    assert gaps
    assert all(0 < answer.certificate.gap < 1 for answer in gaps)
    assert all("%" in answer.certificate.why for answer in gaps)


def test_control_c_keeps_what_was_found(forest, monkeypatch) -> None:
    explainer, rows, optimum = forest
    calls = iter(range(10**9))
    ascend = ensemble_search.ascend

    def interrupted(*arguments):
        if next(calls) == 4:
            raise KeyboardInterrupt
        return ascend(*arguments)

    monkeypatch.setattr(ensemble_search, "ascend", interrupted)
    hardest = int(np.argmax(optimum))
    answer = explainer.explain(rows[[hardest]], target=1)
    assert answer.found
    assert answer.certificate.bound <= optimum[hardest] * (1 + 2e-6)
    assert answer.cost >= optimum[hardest] * (1 - 2e-6)


def test_bounds_that_are_raised_beside_branching_change_no_answer(forest, monkeypatch) -> None:
    """They are raised at every node, and for ever. Nothing is left to boxes, and little to the root."""
    explainer, rows, optimum = forest
    problems = [problem for problem in map(middle_sized, range(40)) if EnsembleBranchBound().accepts(problem.form())]
    before = [EnsembleBranchBound().solve(problem, Budget()) for problem in problems]
    for name, value in {
        "LONG_START": 0,
        "MIDDLE_START": 0,
        "SHORT_START": 0,
        "ROOT_BURSTS": 2,
        "BRANCH_SHARE": 0,
        "AGAIN_GAIN": -1,
    }.items():
        monkeypatch.setattr(effort, name, value)
    raised, times = ensemble_search.LeafSearch._raised, []

    def counted(search, root, bound, looks):
        times.append(looks)
        return raised(search, root, bound, 1)

    monkeypatch.setattr(ensemble_search.LeafSearch, "_raised", counted)
    for problem, known in zip(problems, before, strict=True):
        again = EnsembleBranchBound().solve(problem, Budget())
        assert again.cost == pytest.approx(known.cost, rel=2e-6, abs=2e-6)
        assert again.bound == pytest.approx(known.bound, rel=2e-6, abs=2e-6)
    assert explainer.explain(rows, target=1).costs == pytest.approx(optimum, rel=2e-6)
    assert len(times) > 100


@pytest.mark.shorter(2)
@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1])
def test_the_number_of_threads_changes_nothing(forest, n_jobs) -> None:
    explainer, rows, optimum = forest
    answers = explainer.explain(rows, target=1, n_jobs=n_jobs)
    assert np.array_equal(answers.costs, optimum)
    assert answers.rows.tolist() == list(range(len(rows)))


def test_several_classes_and_curved_targets() -> None:
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=60, max_depth=2, random_state=0).fit(X, y)
    explainer = bf.Explainer(model, data=X)
    plain = explainer.explain(X[[0, 60, 120]], target=1)
    sure = explainer.explain(X[[0, 60, 120]], target=bf.probability(1, 0.9))
    assert plain.statuses == sure.statuses == [bf.Status.PROVEN_OPTIMAL] * 3
    assert all(model.predict_proba(answer.point)[0, 1] >= 0.9 for answer in sure)
    assert all(dear.cost >= cheap.cost for dear, cheap in zip(sure, plain, strict=True))


def test_several_answers_differ_in_what_they_change(forest) -> None:
    explainer, rows, optimum = forest
    answers = explainer.explain(rows[[0]], target=1, k=3)
    assert [answer.cost for answer in answers] == sorted(answer.cost for answer in answers)
    assert answers[0].cost == pytest.approx(optimum[0])
    changed = [frozenset(change.name for change in answer.changes) for answer in answers]
    assert not any(a <= b for a, b in pairwise(changed))
