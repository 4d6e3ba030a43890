"""Two searches for the same answer take turns."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor, VotingClassifier, VotingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import butfor as bf
from butfor.solvers.combine import SetAnswer
from butfor.solvers.in_turns import in_turns
from butfor.solvers.outcome import Stopped
from butfor.solvers.solver import Budget


class Told:
    """A search that says one thing after the other, and notes what it was given."""

    def __init__(self, *says: SetAnswer) -> None:
        self.says, self.uppers, self.limited = list(says), list[float](), list[bool]()

    def __call__(self, upper: float, budget: Budget) -> SetAnswer:
        self.uppers.append(upper)
        self.limited.append(budget.limited)
        return self.says.pop(0)


def found(cost: float, bound: float, stopped: Stopped = Stopped.TIME) -> SetAnswer:
    return SetAnswer(np.array([cost]) if np.isfinite(cost) else None, cost, bound, stopped)


def test_the_best_answer_and_the_best_bound_are_of_either() -> None:
    one = Told(found(5.0, 1.0), found(4.0, 2.0))
    other = Told(found(np.inf, 3.0), found(np.inf, np.inf, Stopped.DONE))
    answer = in_turns([one, other], 9.0, Budget())
    assert (answer.cost, answer.bound, answer.stopped) == (4.0, 4.0, Stopped.DONE)
    assert answer.point is not None
    assert answer.point.tolist() == [4.0]
    assert (one.uppers, other.uppers) == ([9.0, 5.0], [5.0, 4.0])
    assert all([*one.limited, *other.limited])


def test_nothing_cheaper_than_what_was_known_is_told_as_that() -> None:
    answer = in_turns([Told(found(np.inf, np.inf, Stopped.DONE))], 3.0, Budget())
    assert (answer.point, answer.cost, answer.bound, answer.stopped) == (None, np.inf, np.inf, Stopped.DONE)


def test_one_that_gives_up_leaves_all_the_time_to_the_other() -> None:
    one = Told(found(5.0, 1.0), found(4.0, 4.0, Stopped.DONE))
    other = Told(found(np.inf, 2.0, Stopped.EFFORT))
    answer = in_turns([one, other], np.inf, Budget())
    assert (answer.cost, answer.bound, answer.stopped) == (4.0, 4.0, Stopped.DONE)
    assert (one.limited, other.limited) == ([True, False], [True])


def test_one_that_ends_without_a_proof_leaves_it_to_the_other() -> None:
    """It may say that it is done, where rounding keeps it from more."""
    one, other = Told(found(5.0, 1.0, Stopped.DONE)), Told(found(np.inf, 5.0, Stopped.DONE))
    answer = in_turns([one, other], np.inf, Budget())
    assert (answer.cost, answer.bound, answer.stopped) == (5.0, 5.0, Stopped.DONE)


def test_if_both_give_up_the_better_of_what_they_know_is_told() -> None:
    both = Told(found(5.0, 1.0, Stopped.EFFORT)), Told(found(np.inf, 2.0, Stopped.EFFORT))
    answer = in_turns(both, np.inf, Budget())
    assert (answer.cost, answer.bound, answer.stopped) == (5.0, 2.0, Stopped.EFFORT)


def test_ctrl_c_keeps_what_was_found() -> None:
    budget = Budget()

    def interrupted(upper: float, turn: Budget) -> SetAnswer:
        turn.interrupt()
        return found(5.0, 1.0, Stopped.INTERRUPTED)

    answer = in_turns([interrupted, Told()], np.inf, budget)
    assert (answer.cost, answer.bound, answer.stopped) == (5.0, 1.0, Stopped.INTERRUPTED)


@pytest.mark.parametrize("kind", ["mean", "soft votes"])
def test_few_trees_beside_many_numbers_are_proven_by_a_program(kind: str) -> None:
    """Messages alone do not prove these rows in 15 s."""
    (X, y), forest = (
        load_breast_cancer(return_X_y=True, as_frame=True),
        {"n_estimators": 5, "max_depth": 3, "random_state": 0},
    )
    if kind == "mean":
        model = VotingRegressor([("line", LinearRegression()), ("trees", RandomForestRegressor(**forest))]).fit(X, y)
        said = model.predict(X)
        target, asked = bf.value(at_least=np.quantile(said, 0.7)), X[said < np.quantile(said, 0.4)].iloc[2:4]
    else:
        X = X.iloc[:, :10]
        line = make_pipeline(StandardScaler(), LogisticRegression())
        model = VotingClassifier([("line", line), ("trees", RandomForestClassifier(**forest))], voting="soft").fit(X, y)
        target, asked = bf.classes(1), X[model.predict(X) == 0].iloc[1:2]
    answers = bf.Explainer(model, data=X).explain(asked, target=target)
    for answer in answers:
        assert answer.certificate.status.name == "PROVEN_OPTIMAL"
        assert "milp" in answer.certificate.solver
