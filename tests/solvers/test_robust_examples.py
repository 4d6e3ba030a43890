"""The two examples of Maragno et al., "Finding regions of counterfactual explanations via robust optimization" (2024)."""

from __future__ import annotations

import logging
from itertools import pairwise, product

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import butfor as bf

NORMS = ("linf", "l2", "l1")


def linear(*slopes: float) -> LogisticRegression:
    """A model that accepts the rows with `slopes x > 0`."""
    model = LogisticRegression().fit([[-1.0, 0.0], [1.0, 1.0]], [0, 1])
    model.coef_, model.intercept_ = np.array([slopes]), np.zeros(1)
    return model


@pytest.mark.parametrize("norm", NORMS)
def test_a_robust_answer_need_not_survive_another_model(norm) -> None:
    """Example 2.1: however little the hyperplane is turned, some answer that is robust to shifts is refused."""
    radius = 0.1
    for turned in (0.5, 0.1, 0.001):
        far = 2 * radius / turned
        model, other = linear(1.0, 0.0), linear(1.0, -turned)
        row = np.array([[-1.0, far]])
        explainer = bf.Explainer(model, row, space={"x0": bf.Continuous(-1, 1), "x1": bf.Continuous(0, far)})
        firm = explainer.explain(row, target=1, constraints=[bf.robust({"x0": radius, "x1": radius}, norm=norm)]).only
        assert firm.certificate.status.name == "PROVEN_OPTIMAL"
        assert firm.point == pytest.approx(np.array([[radius, far]]), rel=1e-6)
        assert other.predict(firm.point).tolist() == [0]
        assert explainer.agreement(firm, [other]).tolist() == [0.0]
        both = explainer.explain(row, target=1, constraints=[bf.robust_to([other])]).only
        assert both.found
        assert model.predict(both.point) == other.predict(both.point) == [1]
        assert both.cost > firm.cost


def by_textbook(model: DecisionTreeClassifier, radius: float, rounds: int) -> list[float]:
    """The values of the second column that the textbook's loop comes to, if its adversary takes ever smaller steps.

    Every row in the refused region has the same score, so all shifts that fail are equally bad.
    """
    shifts, seen = [0.0], []
    for turn in range(rounds):
        x = min(1.0, -max(shifts))  # the value nearest to 1 that is accepted under all shifts
        seen.append(x)
        shift = -x + 2.0 ** -(turn + 2)
        assert shift <= radius
        assert model.predict([[0.0, x + shift]]).tolist() == [0]
        shifts.append(shift)
    return seen


def test_the_textbooks_loop_does_not_end_where_ours_does(caplog: pytest.LogCaptureFixture) -> None:
    """Example 2.2: rows are accepted if the second column is at most 0, the row is (0, 1), and the radius is 1."""
    radius = 1.0
    table = np.array([[0.0, -2.0], [0.0, 2.0]])
    model = DecisionTreeClassifier(random_state=0).fit(table, [1, 0])
    rows = by_textbook(model, radius, 20)
    assert all(later < earlier for earlier, later in pairwise(rows))
    assert min(rows) > -0.5, "and only values below -1 are robust"
    assert model.predict([[0.0, rows[-1] + radius]]).tolist() == [0]

    forest = RandomForestClassifier(5, bootstrap=False, random_state=0).fit(table, [1, 0])
    space = {"x0": bf.Continuous(-2, 2), "x1": bf.Continuous(-2, 2)}
    for found, norm in product((model, forest), NORMS):
        caplog.clear()
        with caplog.at_level(logging.DEBUG, logger="butfor"):
            explainer = bf.Explainer(found, table, space=space)
            asked = bf.robust({"x0": radius, "x1": radius}, norm=norm)
            answer = explainer.explain([[0.0, 1.0]], target=1, constraints=[asked]).only
        assert answer.certificate.status.name == "PROVEN_OPTIMAL"
        assert answer.point == pytest.approx(np.array([[0.0, -radius]]), abs=1e-6)
        rounds = sum(record.funcName == "tell_round" for record in caplog.records)
        assert int(found is forest) <= rounds <= 3
