"""A HiGHS that lies: in one round or in all, about its bound or that there is nothing. No answer passes it on."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

import butfor as bf
from butfor.programs import program as programs
from butfor.programs.cost_claim import CostClaim
from butfor.programs.highs import Said
from butfor.solvers.combine import SetAnswer
from butfor.solvers.network.descent import Descent
from butfor.solvers.outcome import Status, Stopped
from butfor.solvers.solver import Budget

X, Y = make_classification(150, 3, n_informative=3, n_redundant=0, flip_y=0.1, random_state=2)
X = np.round(X * 2) / 2
GRID = np.array(
    list(itertools.product(*(np.arange(a, b + 0.25, 0.5) for a, b in zip(X.min(0), X.max(0), strict=True))))
)
NAMES = ("x0", "x1", "x2")
STEPS = {name: bf.Step(0.5) for name in NAMES}

LIES = {
    "nothing": lambda said: Said("infeasible", None, np.inf),
    "too high": lambda said: replace(said, bound=said.bound + 0.3),
    "optimal": lambda said: said if said.x is None else replace(said, status="optimal", bound=said.bound + 0.3),
}


class Liar:
    """HiGHS, whose words about programs with whole numbers are false from some round to another."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, lie: str, rounds: range) -> None:
        self.honest, self.lie, self.rounds, self.round = programs.read, LIES[lie], rounds, 0
        monkeypatch.setattr(programs, "read", self.read)

    def read(self, *given, mip: bool) -> Said:
        said = self.honest(*given, mip=mip)
        if not mip:
            return said
        self.round += 1
        return self.lie(said) if self.round - 1 in self.rounds else said


def judged(answer: bf.Explanation, truth: float) -> Status:
    """What an answer says of itself is true of the cheapest one."""
    certificate = answer.certificate
    assert certificate.bound <= truth + 1e-6
    if certificate.status is Status.PROVEN_OPTIMAL:
        assert answer.cost == pytest.approx(truth, abs=2e-6 * (1 + truth))
    if certificate.status is Status.PROVEN_INFEASIBLE:
        assert truth == np.inf
    return certificate.status


def explained(model: MLPClassifier | LogisticRegression, row: np.ndarray, **question) -> bf.Explanations:
    return bf.Explainer(model, X, space=STEPS).explain(row[None], target=1, time_limit=60.0, **question)


ROUNDS = {"first": range(1), "second": range(1, 2), "later": range(2, 99), "all": range(99)}


@pytest.mark.shorter(1)
@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("rounds", ROUNDS)
def test_in_rounds_of_tangents(monkeypatch, rounds: str, lie: str) -> None:
    """A quadratic cost of whole steps is approached from outside. All rows can be listed."""
    model = LogisticRegression().fit(X, Y)
    Q = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]])
    liar = Liar(monkeypatch, lie, ROUNDS[rounds])
    told = 0
    for row in X[model.predict(X) == 0][:3]:
        liar.round = 0
        (answer,) = explained(model, row, solver="milp", cost=bf.Quadratic(Q))
        moves = GRID[model.predict(GRID) == 1] - row
        status = judged(answer, float(np.einsum("ij,jk,ik->i", moves, Q, moves).min()))
        told += liar.round > liar.rounds.start
        assert status is not Status.PROVEN_INFEASIBLE
    assert told


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("rounds", ["second", "later"])
@pytest.mark.shorter(1)
def test_in_rounds_of_a_robust_network(monkeypatch, rounds: str, lie: str) -> None:
    """All rows and all neighbours can be listed. A lie may cost the answer its proof, and never makes a false one."""
    model = MLPClassifier((6,), solver="lbfgs", max_iter=2000, random_state=1).fit(X, Y)
    shifts = np.array(list(itertools.product([-0.5, 0.0, 0.5], [-1.0, -0.5, 0.0, 0.5, 1.0], [0.0])))
    near = (GRID[:, None] + shifts).reshape(-1, 3)
    robust = (model.predict(near) == 1).reshape(len(GRID), -1).all(axis=1)
    monkeypatch.setattr(Descent, "best_from", lambda *_: None)  # no answer is known that would refute a lie
    liar = Liar(monkeypatch, lie, ROUNDS[rounds])
    told = 0
    for row in X[model.predict(X) == 0][:2]:
        liar.round = 0
        (answer,) = explained(model, row, constraints=[bf.robust({"x0": 0.5, "x1": 1.0})])
        judged(answer, float((np.abs(GRID - row) / np.ptp(X, axis=0)).sum(axis=1)[robust].min(initial=np.inf)))
        told += liar.round > liar.rounds.start
    assert told


@pytest.mark.shorter(1)
@pytest.mark.parametrize("lie", LIES)
def test_about_a_network(monkeypatch, lie: str) -> None:
    model = MLPClassifier((6, 5), solver="lbfgs", max_iter=2000, random_state=1).fit(X, Y)
    Liar(monkeypatch, lie, range(99))
    for row in X[model.predict(X) == 0][:3]:
        for solver in ("auto", "milp"):
            (answer,) = explained(model, row, solver=solver)
            cost = (np.abs(GRID[model.predict(GRID) == 1] - row) / np.ptp(X, axis=0)).sum(axis=1).min()
            assert judged(answer, float(cost)) is not Status.PROVEN_INFEASIBLE


def test_a_claim_becomes_a_bound_of_our_own_and_says_what_ended_it() -> None:
    known = SetAnswer(np.zeros(1), 5.0, 1.0)
    for claim, bound, stopped in [
        (None, 1.0, Stopped.DONE),
        (CostClaim.of(4.0), 4.0, Stopped.DONE),
        (CostClaim.of(0.5), 1.0, Stopped.DONE),
        (CostClaim(5.0, lambda: 3.0), 3.0, Stopped.EFFORT),
        (CostClaim(5.0, lambda: 3.0, until=-np.inf), 3.0, Stopped.TIME),
        (CostClaim(np.inf, lambda: np.inf), 1.0, Stopped.EFFORT),  # the answer is there
    ]:
        found = replace(known, claim=claim).proven(Budget())
        assert (found.bound, found.stopped, found.claim) == (bound, stopped, None)


def test_ctrl_c_while_a_bound_is_derived_keeps_the_answer() -> None:
    def interrupted() -> float:
        raise KeyboardInterrupt

    budget = Budget()
    found = SetAnswer(np.zeros(1), 5.0, 1.0, claim=CostClaim(5.0, interrupted)).proven(budget)
    assert (found.cost, found.bound, found.stopped) == (5.0, 1.0, Stopped.INTERRUPTED)
    assert budget.spent()


def test_what_hundreds_of_parts_cost_at_least_is_derived_side_by_side() -> None:
    """One within the other, they were deeper than Python can call."""
    derived = list[int]()

    def part(number: int) -> CostClaim:
        return CostClaim(float(number), lambda: derived.append(number) or number - 0.5)

    whole = part(5000)
    for number in range(4999, 1999, -1):
        whole = whole.and_no_less(part(number))
    assert whole.reaches(2000)
    assert not whole.reaches(2001)
    assert whole.proven() == 1999.5
    assert whole.proven() == 1999.5
    assert sorted(derived) == list(range(2000, 5001))
