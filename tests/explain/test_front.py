"""Cost against radius agrees with single questions, and what is known is passed on between radii."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.solvers.outcome import Status

MODELS = {
    "linear": LogisticRegression(),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": RandomForestClassifier(8, max_depth=3, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=10, max_depth=2, random_state=0),
}
RADII = [0.0, 0.01, 0.03, 0.06, 0.1, 5.0]


@pytest.mark.parametrize("name", MODELS)
def test_the_front_is_what_single_questions_answer(name: str) -> None:
    X, y = make_classification(200, 4, random_state=0)
    X = pd.DataFrame(X, columns=list("abcd"))
    model = MODELS[name].fit(X, y)
    explainer = bf.Explainer(model, X)
    for row in range(4):
        one = X[model.predict(X) == 0].iloc[[row]]
        front = explainer.pareto(one, target=1, radii=RADII, constraints=["fixed d"])
        for radius, cost, bound, status in zip(RADII, front.costs, front.bounds, front.statuses, strict=True):
            rules = [bf.fixed("d"), bf.robust(radius)] if radius else [bf.fixed("d")]
            single = explainer.explain(one, target=1, constraints=rules).only
            assert cost == pytest.approx(single.cost, abs=2e-6) if single.found else cost == np.inf
            assert status is single.certificate.status
            assert bound <= cost
        assert (np.diff(front.costs[np.isfinite(front.costs)]) >= -1e-12).all()
        assert front.statuses[-1] is Status.PROVEN_INFEASIBLE or name == "linear"


def test_what_is_known_is_passed_on() -> None:
    X, y = make_classification(300, 6, n_redundant=0, random_state=1)
    X = pd.DataFrame(X, columns=list("abcdef"))
    model = RandomForestClassifier(40, max_depth=4, random_state=0).fit(X, y)
    front = bf.Explainer(model, X).pareto(X[model.predict(X) == 0].iloc[[0]], target=1, time_limit=1.0)
    assert (front.bounds[:-1] <= front.bounds[1:]).all()
    assert (front.costs[:-1] <= front.costs[1:]).all()
    assert (front.bounds <= front.costs).all()


def test_the_front_as_table_text_and_picture() -> None:
    X, y = make_classification(100, 4, random_state=0)
    X = pd.DataFrame(X, columns=list("abcd"))
    model = MODELS["tree"].fit(X, y)
    explainer, row = bf.Explainer(model, X), X[model.predict(X) == 0].iloc[[0]]
    front = explainer.pareto(row, target=1, radii=[0.02, 0, 5.0, 0.02])
    table = front.to_frame()
    assert list(table["radius"]) == [0, 0.02, 5.0]
    assert list(table["status"]) == [status.name for status in front.statuses]
    assert "proven infeasible" in repr(front)
    ax = front.plot()
    assert ax.get_ylabel() == "cost"
    plt.close(ax.figure)
    for radii in ([], [-0.1], [np.nan], ["x"], None, 0.1, "0.1"):
        with pytest.raises((ValueError, TypeError), match=r"radii|Radii"):
            explainer.pareto(row, target=1, radii=radii)
