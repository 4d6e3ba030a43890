"""A menu lists what a count of all points lists: which sets of columns suffice, and at what cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

import butfor as bf
from butfor.explanation.menu import Standing
from tests.explain.several.small_worlds import MODELS, world
from tests.shorter import first

COSTS = {"L1": bf.L1(), "L1 + L0": bf.L1() + 0.1 * bf.L0()}


@pytest.mark.shorter(1)
@pytest.mark.parametrize("kind", sorted(MODELS))
@pytest.mark.parametrize("seed", first(2, range(6)))
def test_a_menu_agrees_with_a_count_of_all_points(kind, seed) -> None:
    here, cost = world(kind, seed), list(COSTS.values())[seed % 2]
    menu = here.explainer.menu(here.row, 1, most=3, cost=cost)
    least = {one: here.cheapest(here.within(one) & here.met, cost) for one in here.sets(3)}
    parts = {one: min((least[part] for part in least if set(part) < set(one)), default=np.inf) for one in least}
    offered = {one for one in least if least[one] < parts[one] - 1e-6}
    lines = {line.columns: line for line in menu.lines}
    assert set(lines) == set(least)
    assert {one for one in lines if lines[one].standing is Standing.OFFERED} == offered
    assert {one for one in lines if lines[one].standing is Standing.IMPOSSIBLE} == {
        one for one in least if least[one] == np.inf
    }
    for one, line in lines.items():
        assert line.cost == pytest.approx(least[one])
        assert line.bound <= least[one] + 1e-6
    assert [option.cost for option in menu] == pytest.approx(sorted(least[one] for one in offered))
    for option, line in zip(menu, menu.lines, strict=False):
        assert {change.name for change in option.changes} == set(line.columns)
        assert option.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert all(passed for _, passed in option.certificate.checks)
        assert bf.check(option, here.explainer.model).passed


@pytest.mark.parametrize("kind", ["forest", "boosting"])
@pytest.mark.parametrize("seed", first(2, range(4)))
def test_what_an_impossible_set_reaches_is_never_beaten(kind, seed) -> None:
    here = world(kind, seed)
    menu = here.explainer.menu(here.row, bf.probability(1, 0.6), most=2)
    told = [line for line in menu.impossible if not np.isnan(line.reached)]
    assert told or not menu.impossible
    for line in told:
        assert here.probability[here.within(line.columns)].max() <= line.reached + 1e-9
        assert line.reached < line.needed


@pytest.mark.parametrize("seed", first(2, range(6)))
def test_constraints_hold_in_a_menu(seed) -> None:
    here = world("forest", seed)
    menu = here.explainer.menu(here.row, 1, most=2, constraints=[bf.fixed("a"), "b <= 2"])
    allowed = here.within(("b", "c", "level")) & (here.points["b"] <= 2) & here.met
    least = min(here.cheapest(here.within(one) & allowed, bf.L1()) for one in here.sets(2))
    assert min([option.cost for option in menu], default=np.inf) == pytest.approx(least)
    assert all("a" not in line.columns for line in menu.lines)
    assert max(len(line.columns) for line in menu.lines) == 2


def test_a_row_that_meets_the_target_needs_nothing() -> None:
    here = world("tree", 0)
    menu = here.explainer.menu(here.row, 0)
    assert [option.changes for option in menu] == [()]
    assert "nothing" in repr(menu)


def test_no_row_can_be_helped() -> None:
    here = world("forest", 0)
    menu = here.explainer.menu(here.row, 1, constraints=[bf.fixed("a", "b", "c", "level")])
    assert len(menu) == 0
    assert len(menu.impossible) == len(menu.lines) == 1
    assert "no ways" in repr(menu)
    menu.plot()


def test_time_that_is_up_is_said() -> None:
    here = world("forest", 2)
    menu = here.explainer.menu(here.row, 1, time_limit=1e-9)
    assert len(menu.lines) == len(here.sets(3))
    for line in menu.lines:
        least = here.cheapest(here.within(line.columns) & here.met, bf.L1())
        assert line.bound <= least + 1e-6
        assert line.standing is not Standing.IMPOSSIBLE or least == np.inf


def test_of_a_black_box_nothing_is_called_no_cheaper_that_is_not_proven() -> None:
    X, y = make_classification(200, 4, random_state=0)
    model = RandomForestClassifier(10, max_depth=4, random_state=0).fit(X, y)
    box = bf.Explainer(bf.black_box(model.predict, classes=model.classes_), X)
    menu = box.menu(X[model.predict(X) == 0][:1], 1, most=2, time_limit=2.0)
    costs = {line.columns: line.cost for line in menu.lines}
    assert {line.standing for line in menu.lines} >= {Standing.OFFERED, Standing.OPEN}
    for line in menu.lines:
        if line.standing is Standing.NO_CHEAPER:
            assert line.bound >= line.cost - 1e-6 * (1 + line.cost)
        if line.standing is Standing.OFFERED:
            assert all(line.cost < cost for one, cost in costs.items() if set(one) < set(line.columns))


@pytest.mark.shorter(1)
@pytest.mark.parametrize("most", [0, -1, 1.5, "2", True])
def test_a_menu_of_so_many_columns_makes_no_sense(most) -> None:
    here = world("tree", 0)
    with pytest.raises(bf.errors.InputError, match="most="):
        here.explainer.menu(here.row, 1, most=most)


def test_bad_rows_and_columns() -> None:
    here = world("tree", 0)
    with pytest.raises(bf.errors.InputError, match="one row"):
        here.explainer.menu(here.points.iloc[:2], 1)
    with pytest.raises(bf.errors.UnknownColumnError, match="salary"):
        here.explainer.menu(here.row, 1, constraints=[bf.fixed("salary")])


def test_too_many_sets_are_refused() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 60))
    explainer = bf.Explainer(MODELS["tree"](0).fit(X, X[:, 0] > 0), X)
    with pytest.raises(bf.errors.InputError, match=r"36,051 sets.*Lower most"):
        explainer.menu(X[:1], True)


def test_views() -> None:
    here = world("boosting", 3)
    menu = here.explainer.menu(here.row, 1)
    frame = menu.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == len(menu.lines)
    assert frame["changes"].iloc[0] in repr(menu)
    assert frame["score"].iloc[0] == here.explainer.model.predict_proba(menu[0].point)[0, 1]
    assert menu._repr_html_().count("<tr>") == 1 + len(menu)
    ax = menu.plot()
    assert len(ax.get_yticks()) >= len(menu)
    assert str(len(menu)) in menu.alt_text
    ours = bf.Explainer(here.explainer.model, here.points).menu(here.row.iloc[0].to_dict(), 1)
    assert [one.cost for one in ours] == [one.cost for one in menu]
    assert isinstance(bf.Menu, type)


def test_polars_in_polars_out() -> None:
    rng = np.random.default_rng(0)
    X = pl.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80)})
    tree = MODELS["tree"](0).fit(X, (X["a"] + X["b"] > 0).to_numpy())
    menu = bf.Explainer(tree, X).menu(X[:1], "other")
    assert isinstance(menu.to_frame(), pl.DataFrame)


def test_everything_is_told_in_the_user_s_words() -> None:
    here = world("forest", 1)
    words = bf.describe(
        columns={"a": "Alter", "b": bf.Column("Bonus", unit="EUR"), "c": "Credit", "level": "Stufe"},
        prediction=bf.Column(levels={0: "refused", 1: "granted"}),
    )
    explainer = bf.Explainer(here.explainer.model, here.points, words=words)
    menu = explainer.menu(here.row, 1)
    assert repr(menu).startswith("refused → granted")
    changed = {change.label for option in menu for change in option.changes}
    assert changed
    assert changed <= {"Alter", "Bonus", "Credit", "Stufe"}
    assert changed <= {label.get_text() for label in menu.plot().get_xticklabels()}
    assert "refused now" in repr(explainer.ladder(here.row, [bf.probability(1, 0.5)]))
    assert "refused" in repr(explainer.trade_off(here.row, 1, against="changes"))
    assert "refused → granted" in repr(explainer.best(menu, ["cost"]))
