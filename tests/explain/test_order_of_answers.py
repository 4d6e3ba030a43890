"""Several answers come in the order of their cost, whatever cut the search short, and none of them says the same."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.explain.different import in_order
from butfor.solvers.outcome import Outcome, answers_of
from butfor.space.space import same


@cache
def boosted() -> tuple[Any, bf.Explainer, pd.DataFrame]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 6)), columns=list("abcdef")).assign(n=rng.integers(0, 9, 300))
    y = (X.a + X.b * X.c + 0.2 * X.n > 1).astype(int)
    model = GradientBoostingClassifier(n_estimators=80, max_depth=4, random_state=0).fit(X, y)
    return model, bf.Explainer(model, data=X), X[model.predict(X) == 0][:10]


def check_order(answers: bf.Explanations) -> None:
    by_row = dict[int, list[bf.Explanation]]()
    for one in answers:
        by_row.setdefault(one.row, []).append(one)
    for its in by_row.values():
        assert [one.rank for one in its] == list(range(1, len(its) + 1))
        costs = [one.cost for one in its]
        assert costs == sorted(costs)
        assert all(one.certificate.bound <= one.cost for one in its)
        assert its[0].certificate.bound <= its[-1].cost
        points = [one.point_codes for one in its if one.found]
        assert len(np.unique(np.nan_to_num(points, nan=np.inf), axis=0)) == len(points)


@pytest.mark.shorter(2)
@pytest.mark.parametrize("different", [None, "columns", 0.1])
@pytest.mark.parametrize("solver", ["auto", "swarm"])
@pytest.mark.parametrize("limit", [0.02, 0.3])
def test_answers_come_in_the_order_of_their_cost(solver: str, limit: float, different: Any) -> None:
    model, explainer, rows = boosted()
    answers = explainer.explain(
        rows, target=1, k=4, solver=solver, time_limit=limit, different=different, progress=False
    )
    check_order(answers)
    assert all(model.predict(one.point)[0] == 1 for one in answers if one.found)


@pytest.mark.parametrize("limit", [0.02, 0.3])
def test_none_changes_all_columns_of_a_cheaper_one(limit: float) -> None:
    _, explainer, rows = boosted()
    answers = explainer.explain(rows, target=1, k=4, time_limit=limit, different="columns", progress=False)
    sets = dict[int, list[set[str]]]()
    for one in answers:
        earlier = sets.setdefault(one.row, [])
        changed = {change.name for change in one.changes}
        assert not any(other <= changed for other in earlier)
        earlier.append(changed)


def outcome(points: list[list[float]], cost: list[float], bound: list[float]) -> Outcome:
    return answers_of(np.zeros(len(cost), dtype=np.intp), np.array(points), np.array(cost), np.array(bound))


def test_a_cheaper_answer_that_was_found_later_is_the_first() -> None:
    """Its bound is that of the row, and the dearer one that changes all of its columns is no other answer."""
    _, explainer, _ = boosted()
    start = np.zeros((1, 7))
    found = outcome(
        [[1, 1, 0, 0, 0, 0, 0], [0.5, 0, 0, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0]], [0.9, 0.4, 0.95], [0.1, 0.3, 0.3]
    )
    one_by_one = in_order(found, start, explainer.space, None, np.array([0]))
    assert one_by_one.cost.tolist() == [0.4, 0.95]
    assert one_by_one.bound.tolist() == [0.1, 0.1]
    at_once = in_order(found, start, explainer.space, None, np.array([], dtype=np.intp))
    assert at_once.cost.tolist() == [0.4, 0.95]


def test_a_refuted_bound_proves_nothing() -> None:
    _, explainer, _ = boosted()
    found = outcome([[1, 1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0]], [0.9, 0.4], [0.8, 0.0])
    ordered = in_order(found, np.zeros((1, 7)), explainer.space, None, np.array([0]))
    assert ordered.bound.tolist() == [0.0, 0.0]


def test_proven_leaves_stay_all() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=list("abc"))
    tree = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, (X.a * X.b > 0).astype(int))
    answers = bf.Explainer(tree, data=X).explain(X[:5], target="other", k=4)
    check_order(answers)
    assert len(answers) == 20
    assert set(answers.statuses) == {bf.Status.PROVEN_OPTIMAL}
    assert not any(same(one.point_codes, one.factual_codes).all() for one in answers)
