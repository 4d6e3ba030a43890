"""Each rung of a ladder costs what a count of all points says, and the goals must be the rungs of one ladder."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

import butfor as bf
from tests.explain.several.small_worlds import MODELS, world
from tests.shorter import first

STEPS = (0.3, 0.5, 0.7, 0.9)


@pytest.mark.shorter(4)
@pytest.mark.parametrize("kind", sorted(MODELS))
@pytest.mark.parametrize("seed", first(2, range(5)))
def test_each_rung_agrees_with_a_count(kind, seed) -> None:
    here = world(kind, seed)
    ladder = here.explainer.ladder(here.row, [bf.probability(1, p) for p in STEPS])
    least = [here.cheapest(here.probability >= p, bf.L1()) for p in STEPS]
    assert [rung.cost for rung in ladder] == pytest.approx(least)
    assert all(rung.certificate.status.name.startswith("PROVEN") for rung in ladder)
    now = here.explainer.model.predict_proba(here.row)[0, 1]
    assert ladder.met == tuple(now >= p for p in STEPS)
    ahead = [k for k in range(4) if now < STEPS[k] and np.isfinite(least[k])]
    assert ladder.next == (ladder.names[ahead[0]] if ahead else None)


def regressor() -> tuple[bf.Explainer, pd.DataFrame, np.ndarray]:
    here = world("tree", 3)
    X = here.points[["a", "b", "c"]].drop_duplicates(ignore_index=True)
    y = X["a"] + 2.0 * X["b"] - X["c"]
    model = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
    return bf.Explainer(model, X), X, model.predict(X)


def test_grades_are_intervals_of_values() -> None:
    explainer, X, value = regressor()
    at = int(np.flatnonzero((value > 0.45) & (value < 2.95))[0])
    row = X.iloc[[at]]
    grades = {"C": (-3.0, 0.45), "B": (0.45, 2.95), "A": (2.95, 6.0), "A+": (50.0, 60.0)}
    ladder = explainer.ladder(row, {name: bf.value(*ends) for name, ends in grades.items()})
    cost = (np.abs(X - X.iloc[at]) / (X.max() - X.min())).sum(axis=1).to_numpy()
    for name, (low, high) in grades.items():
        assert ladder[name].cost == pytest.approx(cost[(value >= low) & (value <= high)].min(initial=np.inf))
    place = next(k for k, (low, high) in enumerate(grades.values()) if low <= value[at] <= high)
    assert ladder.met == tuple(k == place for k in range(4))
    assert ladder.next == "A"
    assert not ladder["A+"].found


def test_classes_are_grades_too() -> None:
    here = world("forest", 1)
    ladder = here.explainer.ladder(here.row, {"no": 0, "yes": 1})
    assert ladder.met == (True, False)
    assert ladder.next == "yes"


def test_constraints_and_costs_hold() -> None:
    here = world("boosting", 2)
    ladder = here.explainer.ladder(here.row, [bf.probability(1, 0.4)], cost=bf.L0(), constraints=[bf.fixed("a")])
    allowed = here.within(("b", "c", "level")) & (here.probability >= 0.4)
    assert ladder[0].cost == pytest.approx(here.cheapest(allowed, bf.L0()))


@pytest.mark.parametrize(
    ("goals", "words"),
    [
        ([], "no goal"),
        ([bf.probability(1, 0.7), bf.probability(1, 0.5)], "must increase"),
        ([bf.probability(1, 0.5), bf.probability(1, 0.5)], "given twice"),
        ([bf.probability(1, 0.5), bf.probability(0, 0.6)], "about one class"),
        ([bf.probability(1, 0.5), 1], "of one kind"),
        (["other"], "of one kind"),
        ([7], "not a class"),
        ([bf.value(1.0)], "classifier"),
    ],
)
def test_goals_that_are_no_ladder(goals, words) -> None:
    here = world("tree", 0)
    with pytest.raises(bf.errors.InputError, match=words):
        here.explainer.ladder(here.row, goals)


def test_values_must_move_one_way() -> None:
    explainer, X, _ = regressor()
    explainer.ladder(X[:1], [bf.value(at_most=3.0), bf.value(at_most=2.0)])
    for goals in ([(0, 1), (2, 3), (1, 2)], [(0, 3), (1, 2)]):
        with pytest.raises(bf.errors.InputError, match="must increase, or decrease"):
            explainer.ladder(X[:1], [bf.value(*ends) for ends in goals])


def test_what_is_not_a_list_of_goals() -> None:
    here = world("tree", 0)
    with pytest.raises(bf.errors.InputTypeError, match="list of targets"):
        here.explainer.ladder(here.row, bf.probability(1, 0.5))
    with pytest.raises(bf.errors.InputError, match="one row"):
        here.explainer.ladder(here.points.iloc[:2], [1])


def test_views() -> None:
    here = world("boosting", 3)
    ladder = here.explainer.ladder(here.row, {"likely": bf.probability(1, 0.5), "never": bf.probability(1, 1.0)})
    frame = ladder.to_frame()
    assert list(frame["goal"]) == ["likely", "never"]
    assert frame["cost"].iloc[0] == ladder["likely"].cost
    assert frame["score"].iloc[0] == here.explainer.model.predict_proba(ladder["likely"].point)[0, 1]
    assert "likely" in repr(ladder)
    assert "proven impossible" in repr(ladder)
    assert ladder._repr_html_().count("<tr>") == 3
    assert [label.get_text() for label in ladder.plot().get_yticklabels()] == ["likely", "never"]
    assert "never: proven impossible" in ladder.alt_text
    stuck = here.explainer.ladder(here.row, [bf.probability(1, 1.0)])
    assert stuck.next is None
    assert "no further goal has an answer" in repr(stuck)
    stuck.plot()
    assert "the last goal is met" in repr(here.explainer.ladder(here.row, [0]))
