"""Common actions: who is served is counted with the estimator, and what is chosen is judged by brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.datasets import loans
from butfor.groups.cover import widest_cover
from butfor.groups.propose import MOST_PROPOSED, proposals, smaller
from butfor.space.feature import Feature
from tests.shorter import first

X, _ = loans.load()
MODEL = loans.pipeline().fit(*loans.load())
EXPLAINER = bf.Explainer(MODEL, X)
REJECTED = X[MODEL.predict(X) == "rejected"].iloc[:60]
RULES = [bf.fixed("sex", "age", "months"), bf.only_down("late_payments"), bf.at_most_changes(2)]
ACTIONS = bf.groups.Actions(EXPLAINER, REJECTED, target="approved", constraints=RULES)


def taken(rows: pd.DataFrame, changes: dict) -> pd.DataFrame:
    """The rows after an action, written with pandas."""
    out = rows.copy()
    for name, value in changes.items():
        if isinstance(value, str):
            out[name] = value
        else:
            ends = EXPLAINER.space[name]
            out[name] = (out[name] + value).clip(ends.low, ends.high)
    return out


def test_who_is_served_is_counted_by_the_estimator() -> None:
    frame = ACTIONS.to_frame()
    assert len(frame) == len(ACTIONS) == len(ACTIONS.tried) > 50
    some = np.random.default_rng(0).choice(len(ACTIONS), 40, replace=False)
    for a in some.tolist():
        action = ACTIONS.tried[a]
        after = taken(REJECTED, action.changes)
        keeps = after["late_payments"] <= REJECTED["late_payments"]
        changed = ((after != REJECTED) & ~(after.isna() & REJECTED.isna())).sum(axis=1)
        served = (MODEL.predict(after) == "approved") & keeps & (changed <= 2)
        assert frame["rows"].iloc[a] == served.sum(), action
    assert (frame["rows"] > 0).sum() > 20


def test_proposals_respect_what_nobody_may_change() -> None:
    touched = {name for action in ACTIONS.tried for name in action.changes}
    assert touched
    assert not touched & {"sex", "age", "months"}
    assert all(action.changes.get("late_payments", -1) < 0 for action in ACTIONS.tried)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("cost_at_most", [None, 0.12])
def test_the_few_that_serve_most_are_those_of_brute_force(count, cost_at_most) -> None:
    chosen = ACTIONS.most(count, cost_at_most=cost_at_most)
    trials = ACTIONS._trials
    serves = trials.serves & (trials.costs <= (cost_at_most or np.inf))
    useful = np.unique(serves, axis=1)
    best = max(useful[:, list(some)].any(axis=1).sum() for some in combinations(range(useful.shape[1]), count))
    assert chosen.served.sum() == best == chosen.bound
    assert "proven" in chosen.why
    assert (chosen.costs[chosen.serves] <= (cost_at_most or np.inf)).all()
    assert len(chosen.actions) <= count


def test_the_row_view_names_the_cheapest_action_that_serves() -> None:
    chosen = ACTIONS.most(3, cost_at_most=0.2)
    rows = chosen.rows()
    assert rows["row"].tolist() == REJECTED.index.tolist()
    assert rows["served"].tolist() == chosen.served.tolist()
    names = [str(action) for action in chosen.actions]
    for i, line in rows.iterrows():
        able = {names[a]: chosen.costs[i, a] for a in range(len(names)) if chosen.serves[i, a]}
        assert line["served"] == bool(able)
        if able:
            assert line["action"] == min(able, key=lambda name: able[name])
            after = taken(REJECTED.iloc[[i]], chosen.actions[names.index(line["action"])].changes)
            assert MODEL.predict(after)[0] == "approved"
    frame = chosen.to_frame()
    assert frame["cheapest"].sum() == chosen.served.sum()
    assert frame["rows"].tolist() == chosen.serves.sum(axis=0).tolist()
    assert str(frame["action"].iloc[0]) in repr(chosen)
    assert repr(chosen).endswith(chosen.why)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_the_shared_action_costs_least_of_those_tried(share) -> None:
    found = ACTIONS.shared(share)
    trials = ACTIONS._trials
    need = int(np.ceil(share * len(REJECTED)))
    totals = [
        np.sort(trials.costs[trials.serves[:, a], a])[:need].sum()
        for a in range(len(ACTIONS))
        if trials.serves[:, a].sum() >= need
    ]
    if totals:
        (mine,) = found.costs.T
        total = np.sort(mine[found.served])[:need].sum()
        assert found.served.sum() >= need
        assert 0 < found.bound <= total <= min(totals) + 1e-9
        (action,) = found.actions
        assert (MODEL.predict(taken(REJECTED[found.served], action.changes)) == "approved").all()
        for less in smaller(action, EXPLAINER.space):
            again = bf.groups.Actions(EXPLAINER, REJECTED, target="approved", constraints=RULES, actions=[less])
            ((line,),) = (again.to_frame().to_dict("records"),)
            assert line["rows"] < need or line["mean_cost"] * need >= total - 1e-9
    else:
        assert not found.actions
        assert f"none of the {len(ACTIONS)} actions tried serves {need} of 60 rows" in found.why
    own = EXPLAINER.explain(REJECTED, target="approved", constraints=RULES).costs
    assert found.bound == pytest.approx(np.sort(own)[:need].sum())


def test_own_actions_are_not_made_smaller() -> None:
    given = [{"income": 30_000, "late_payments": -4}, {"income": 30_000, "late_payments": -3}]
    actions = bf.groups.Actions(EXPLAINER, REJECTED, target="approved", constraints=RULES, actions=given)
    found = actions.shared(0.2)
    assert found.actions[0].changes in given
    assert "least of the 2 tried" in found.why


def test_a_shared_action_exists_for_some_share() -> None:
    assert len(ACTIONS.shared(0.2).actions) == 1


def small(seed: int) -> tuple[pd.DataFrame, RandomForestClassifier]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"c": rng.choice(["u", "v", "w"], 80), "n": rng.integers(0, 6, 80), "x": rng.normal(size=80).round(1)}
    )
    y = X["n"] + 2 * (X["c"] == "w") + X["x"] + rng.normal(0, 1, 80) > 4
    encoder = make_column_transformer((OneHotEncoder(), ["c"]), remainder="passthrough")
    return X, make_pipeline(encoder, RandomForestClassifier(9, max_depth=4, random_state=seed)).fit(X, y)


@pytest.mark.parametrize("seed", first(2, range(6)))
def test_own_actions_of_levels_and_numbers(seed) -> None:
    X, model = small(seed)
    rows = X[~model.predict(X)]
    given = [{"c": "w"}, {"n": 2}, {"c": "w", "n": 1}, {"x": 0.5, "n": 1}, {"c": "v", "x": -1.0}, {"n": 2}]
    actions = bf.groups.Actions(bf.Explainer(model, X), rows, target=True, actions=given)
    assert [action.changes for action in actions.tried] == given[:5]
    ends = {name: (X[name].min(), X[name].max()) for name in ("n", "x")}
    served = []
    for one in given[:5]:
        after = rows.copy()
        for name, value in one.items():
            after[name] = value if name == "c" else (after[name] + value).clip(*ends[name])
        served.append(model.predict(after))
    assert (actions._trials.serves == np.array(served).T).all()
    for count in (1, 2, 3):
        best = max(np.any([served[a] for a in some], axis=0).sum() for some in combinations(range(5), count))
        chosen = actions.most(count)
        assert (chosen.served.sum(), chosen.bound) == (best, best)


def test_the_cover_is_that_of_brute_force() -> None:
    """Random coverage tables: in some of them the greedy choice is not the best one, and the program must find it."""
    rng, improved = np.random.default_rng(5), 0
    for _ in range(150):
        covers = rng.random((rng.integers(1, 25), rng.integers(1, 9))) < rng.uniform(0.1, 0.6)
        prices, most = rng.random(covers.shape[1]), int(rng.integers(1, 4))
        every = [list(some) for size in range(1, most + 1) for some in combinations(range(covers.shape[1]), size)]
        best = max(covers[:, some].any(axis=1).sum() for some in every)
        found = widest_cover(covers, prices, most, 10.0)
        assert len(set(found.chosen)) == len(found.chosen) <= most
        assert covers[:, list(found.chosen)].any(axis=1).sum() == best == found.bound
        hurried = widest_cover(covers, prices, most, 1e-6)
        reached = covers[:, list(hurried.chosen)].any(axis=1).sum()
        assert reached <= best <= hurried.bound
        left, greedy = covers.copy(), 0
        for _ in range(most):
            a = left.sum(axis=0).argmax()
            greedy += left[:, a].sum()
            left[left[:, a]] = False
        improved += greedy < best
    assert improved > 3


def test_cheaper_actions_are_preferred_among_equals() -> None:
    covers = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=bool)
    assert widest_cover(covers, np.array([0.9, 0.1, 0.1]), 2, 1.0).chosen == (1, 2)
    assert widest_cover(covers, np.array([0.1, 0.9, 0.1]), 1, 1.0).chosen == (0,)
    late = np.array([[1, 0, 1], [1, 0, 1], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 1]], dtype=bool)
    late[2, 1] = True  # the second set covers what the first covers beyond the third, which is cheaper
    assert set(widest_cover(late, np.array([0.9, 0.5, 0.1]), 2, 1.0).chosen) == {1, 2}
    assert widest_cover(np.zeros((3, 2), dtype=bool), np.ones(2), 1, 1.0).chosen == ()


def test_what_an_action_does_to_a_row() -> None:
    space = EXPLAINER.space
    start = space.encode(REJECTED.iloc[:3])
    start[0, space.index("savings")] = np.nan
    start[1, space.index("late_payments")] = 1
    start[2, space.index("income")] = space["income"].high + 500
    action = bf.groups.Action((("savings", 10.0), ("late_payments", -2.0), ("income", 300.0)), (("job", "permanent"),))
    after = action.taken(start, space)
    assert np.isnan(after[0, space.index("savings")])
    assert after[1, space.index("late_payments")] == 0
    assert after[2, space.index("income")] == space["income"].high + 500
    assert after[0, space.index("income")] == start[0, space.index("income")] + 300
    assert (after[:, space.index("job")] == space["job"].levels.index("permanent")).all()
    assert str(action) == "savings +10 and late_payments -2 and income +300 and job becomes permanent"


def test_rows_without_any_answer_are_an_outcome() -> None:
    held = bf.groups.Actions(EXPLAINER, REJECTED, target="approved", constraints=bf.fixed(*X.columns))
    assert len(held) == 0
    assert not held.most(2).actions
    assert held.most(2).why == "none of the 0 actions tried serves any of 60 rows"
    assert not held.most(2).rows()["served"].any()
    assert held.shared().why == "proven: no action serves 60 of 60 rows, because 60 of them have no answer at all"
    assert repr(held.shared()) == held.shared().why
    assert not len(held.to_frame())


def test_rows_that_meet_the_target_are_left_out() -> None:
    given = [{"income": 3000}]
    both = bf.groups.Actions(EXPLAINER, X, target="approved", actions=given).most(1)
    alone = bf.groups.Actions(EXPLAINER, X[MODEL.predict(X) == "rejected"], target="approved", actions=given).most(1)
    assert both.labels == alone.labels
    assert (both.serves == alone.serves).all()


def test_other_kinds_of_tables() -> None:
    numbers = X[["income", "amount", "late_payments"]].astype(float)
    said = MODEL.predict(X)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    array = bf.groups.Actions(bf.Explainer(tree.fit(numbers.to_numpy(), said), numbers.to_numpy()), numbers[:50].to_numpy(),
                              target="approved")  # fmt: skip
    table = pl.from_pandas(numbers)
    polars = bf.groups.Actions(bf.Explainer(DecisionTreeClassifier(max_depth=4, random_state=0).fit(table, said), table),
                               table[:50], target="approved")  # fmt: skip
    assert isinstance(array.most(2).to_frame(), dict)
    assert isinstance(polars.most(2).rows(), pl.DataFrame)
    assert polars.to_frame()["rows"].to_list() == array.to_frame()["rows"]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([{}], bf.errors.InputTypeError, "the action {} was given"),
        (["income"], bf.errors.InputTypeError, "the action 'income' was given"),
        ([{"wage": 1}], bf.errors.UnknownColumnError, "no column 'wage'"),
        ([{"income": "much"}], bf.errors.InputTypeError, "What is added to 'income' must be a finite number"),
        ([{"income": np.inf}], bf.errors.InputError, "must be a finite number"),
        ([{"job": "king"}], bf.errors.InputError, "names 'king'"),
        ([], bf.errors.InputError, r"actions=\[\] was given"),
    ],
)  # fmt: skip
def test_actions_that_cannot_be_taken_are_refused(given, error, words) -> None:
    with pytest.raises(error, match=words):
        bf.groups.Actions(EXPLAINER, REJECTED, target="approved", actions=given)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ACTIONS.most(0), "count=0 was given"),
        (lambda: ACTIONS.most(2, cost_at_most="cheap"), "cost_at_most='cheap' was given"),
        (lambda: ACTIONS.shared(0.0), "share=0.0 was given"),
        (lambda: ACTIONS.shared(2), "share=2 was given"),
        (lambda: bf.groups.Actions(EXPLAINER, X[MODEL.predict(X) == "approved"], target="approved"), "every row meets"),
        (lambda: bf.groups.Actions(MODEL, REJECTED, target="approved"), "Pipeline was given"),
    ],
)  # fmt: skip
def test_bad_questions_are_refused(call, words) -> None:
    with pytest.raises(bf.ButforError, match=words):
        call()


def test_answers_of_very_many_columns_are_proposed_from_at_once() -> None:
    """All sizes of 40 amounts would be more combinations than a machine's whole number holds."""
    space = bf.Space(tuple(Feature(f"f{j}", 0.0, 10.0) for j in range(40)))
    start = np.full((6, 40), 5.0)
    points = start + np.arange(1.0, 7.0)[:, None] / 3
    found = proposals(space, start, points)
    assert len(found) == 4
    assert {len(action.amounts) for action in found} == {40}
    apart = start.copy()
    for i, row in enumerate(apart):
        row[6 * i : 6 * i + 6] += 1.0 + i
    many = proposals(space, start, apart)
    assert max(len(action.amounts) for action in many) == 36
    assert len(many) <= MOST_PROPOSED
