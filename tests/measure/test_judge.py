"""The judge: what it counts as valid, how sets of several methods are put side by side, and every form of answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.datasets import loans
from butfor.importers.libraries.sklearn_isolation import PathLengths
from butfor.measure.judge import MEASURES

X, _ = loans.load()
MODEL = loans.pipeline().fit(*loans.load())
SAID = MODEL.predict(X)
ROWS = X[SAID == "rejected"].iloc[:4].reset_index(drop=True)
GOOD = X[SAID == "approved"]
BAD = X[SAID == "rejected"]
RULES = [bf.fixed("sex", "age"), bf.only_down("late_payments")]


@pytest.fixture(scope="module")
def judge() -> Any:
    return bf.measure.Judge(MODEL, X, target="approved", constraints=RULES)


@pytest.fixture(scope="module")
def ours() -> Any:
    return bf.Explainer(MODEL, X).explain(ROWS, target="approved", constraints=RULES, k=2)


def same(one: dict[str, float], other: dict[str, float], *but: str) -> None:
    for name in MEASURES:
        if name not in but:
            assert one[name] == pytest.approx(other[name], nan_ok=True), name


def test_own_answers_are_valid_and_keep_the_rules(judge, ours) -> None:
    found = judge.measures(ours, ROWS, k=2)
    assert list(found) == list(MEASURES)
    assert (found["validity"], found["coverage"], found["violations"]) == (1.0, 1.0, 0.0)
    assert found["seconds"] == pytest.approx(sum(c.seconds for c in ours.certificates) / len(ROWS))


def test_the_functions_say_the_same(judge, ours) -> None:
    found = judge.measures(ours, ROWS)
    sets = [ours[ours.rows == row].points for row in range(len(ROWS))]
    for measure in (
        bf.measure.proximity,
        bf.measure.categorical_proximity,
        bf.measure.sparsity,
        bf.measure.contradiction,
        bf.measure.normalised_diversity,
    ):
        each = [measure(ROWS.iloc[[row]], set_, judge.space) for row, set_ in enumerate(sets)]
        assert found[measure.__name__] == pytest.approx(np.mean(each))
    for measure in (bf.measure.diversity, bf.measure.standardised_diversity):
        assert found[measure.__name__] == pytest.approx(np.mean([measure(set_, judge.space) for set_ in sets]))
    near = bf.measure.Plausibility(X, judge.space)
    for name in ("neighbour_distance", "outlier_factor", "isolation"):
        assert found[name] == pytest.approx(np.mean([getattr(near, name)(set_).mean() for set_ in sets]))


def test_every_form_of_answers_is_the_same(judge, ours) -> None:
    tables = [ours[ours.rows == row].points for row in range(len(ROWS))]
    single = [[one for one in ours if one.row == row] for row in range(len(ROWS))]
    found = judge.measures(ours, ROWS)
    for form in (
        tables,
        tuple(tables),
        [ours[ours.rows == 0].points, *tables[1:]],
        [pl.from_pandas(table) for table in tables],
        [pa.Table.from_pandas(table) for table in tables],
        [table.astype(object).assign(note="x") for table in tables],
    ):
        same(judge.measures(form, ROWS), found, "seconds")
    first = [one[0] for one in single]
    same(judge.measures(first, ROWS), judge.measures([table.iloc[[0]] for table in tables], ROWS), "seconds")
    same(judge.measures(first, ROWS), judge.measures(ours[ours.ranks == 1].points, ROWS), "seconds")
    one_row = judge.measures(tables[0], ROWS.iloc[[0]])
    same(one_row, judge.measures([tables[0]], ROWS.iloc[[0]]))
    same(one_row, judge.measures([bf.Explainer(MODEL, X).explain(ROWS.iloc[[0]], target="approved", constraints=RULES, k=2)],
                                 ROWS.iloc[[0]]), "seconds")  # fmt: skip
    alone = bf.Explainer(MODEL, X).explain(ROWS.iloc[[0]], target="approved", constraints=RULES)
    same(judge.measures(alone, ROWS.iloc[[0]]), judge.measures(tables[0].iloc[[0]], ROWS.iloc[[0]]), "seconds")


def test_validity_and_coverage_by_hand(judge) -> None:
    set_ = pd.concat([GOOD.iloc[[0, 1, 1]], BAD.iloc[[5]]])
    found = judge.measures(set_, ROWS.iloc[[0]], k=5)
    assert found["validity"] == 3 / 4
    assert found["coverage"] == 2 / 5
    same(found, judge.measures(GOOD.iloc[[0, 1]], ROWS.iloc[[0]], k=5), "validity")
    assert judge.measures(set_, ROWS.iloc[[0]])["coverage"] == 2 / 4


def test_only_valid_answers_are_measured(judge) -> None:
    found = judge.measures(BAD.iloc[[1, 2]], ROWS.iloc[[0]])
    assert (found["validity"], found["coverage"]) == (0.0, 0.0)
    assert all(np.isnan(found[name]) for name in MEASURES if name not in ("validity", "coverage"))


def test_nothing_found_is_an_outcome(judge) -> None:
    lost = ROWS.iloc[[0]].astype(object)
    lost[:] = None
    for nothing in ([None, None], [X.iloc[:0], pd.DataFrame()], [lost, None], pd.concat([lost, lost])):
        found = judge.measures(nothing, ROWS.iloc[:2], k=3)
        assert found["coverage"] == 0.0
        assert np.isnan(found["validity"])
        assert np.isnan(found["proximity"])
    half = judge.measures([GOOD.iloc[[0]], None], ROWS.iloc[:2])
    assert (half["validity"], half["coverage"]) == (1.0, 0.5)
    assert half["sparsity"] == bf.measure.sparsity(ROWS.iloc[[0]], GOOD.iloc[[0]], judge.space)


def test_unfound_answers_of_ours_are_an_outcome(judge) -> None:
    none = bf.Explainer(MODEL, X).explain(ROWS, target="approved", constraints=[bf.fixed(*X.columns)])
    assert judge.measures(none, ROWS)["coverage"] == 0.0
    assert judge.measures(list(none), ROWS)["coverage"] == 0.0
    assert judge.measures(none, ROWS)["seconds"] >= 0


def test_rows_of_missing_values_are_left_out_of_one_table(judge) -> None:
    table = GOOD.iloc[:4].reset_index(drop=True).astype(object)
    table.iloc[2] = np.nan
    found = judge.frame({"a": table}, ROWS, by="factual")
    assert found["answers"].tolist() == [1, 1, 0, 1]
    assert found["coverage"].tolist() == [1, 1, 0, 1]


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({}, 0.0),
        ({"age": 99}, 1.0),  # fixed
        ({"late_payments": 30}, 1.0),  # only down, and out of its range
        ({"income": 10_000_000}, 1.0),  # out of its range
        ({"income": 30_000.5}, 1.0),  # between its steps
    ],
)
def test_violations_by_hand(judge, ours, change, broken) -> None:
    loose = bf.measure.Judge(lambda rows: np.ones(len(rows)), X, constraints=RULES, target=1)
    point = ours[0].point.assign(**change)
    assert loose.measures(point, ROWS.iloc[[0]])["violations"] == broken
    both = pd.concat([ours[0].point, point])
    assert loose.measures(both, ROWS.iloc[[0]])["violations"] == (broken / 2 if change else 0.0)


def test_what_follows_by_itself_breaks_no_rule() -> None:
    led = [bf.follows("savings", 0.5, "income"), bf.fixed("savings"), bf.at_most_changes(1)]
    table = pd.DataFrame(np.random.default_rng(0).integers(0, 9, (200, 2)), columns=["income", "savings"])
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(table, table["income"] + table["savings"] > 9)
    space = {"savings": bf.Continuous()}
    rows = table[~model.predict(table)].iloc[:6]
    answers = bf.Explainer(model, table, space=space).explain(rows, True, constraints=led)
    moved = [one for one in answers if one.found and one.consequences]
    assert moved
    judge = bf.measure.Judge(model, table, target=True, constraints=led, space=space)
    assert judge.measures(answers, rows)["violations"] == 0.0
    richer = moved[0].point.assign(savings=moved[0].point["savings"] + 0.5)
    row = rows.iloc[[moved[0].row]]
    assert judge.measures(richer, row)["violations"] == 1.0, "more than follows"


def test_constraints_that_a_model_judges_are_measured() -> None:
    forest = IsolationForest(n_estimators=20, random_state=0).fit(P)
    explainer = bf.Explainer(TREE, P)
    row = P[TREE.predict(P) == 0][:1]
    near = explainer.explain(row, target=1)
    more = float(PathLengths(forest).predict(near.point)[0]) + 0.2
    for rule in (bf.plausible(forest, path_length=more), bf.margin(0.05), bf.candidates(P)):
        judge = bf.measure.Judge(TREE, P, target=1, constraints=[rule])
        assert judge.measures(explainer.explain(row, target=1, constraints=[rule]), row)["violations"] == 0.0
        assert judge.measures(near, row)["violations"] == 1.0


def test_a_margin_from_a_black_box_is_refused() -> None:
    black = MLPClassifier((3,), activation="tanh", solver="lbfgs", max_iter=2000, random_state=0).fit(
        P, TREE.predict(P)
    )
    judge = bf.measure.Judge(black, P, target=1, constraints=bf.margin(0.1))
    with pytest.raises(bf.errors.UnsupportedProblemError, match="margin was asked for, but the model is a black box"):
        judge.measures(P[black.predict(P) == 1][:2], P[black.predict(P) == 0][:1])


P = np.random.default_rng(1).normal(size=(150, 3)).round(3)
TREE = DecisionTreeClassifier(max_depth=4, random_state=0).fit(P, P[:, 0] + P[:, 1] > 0.5)


def test_the_table_is_of_the_kind_of_the_data(ours) -> None:
    methods = {"a": P[:2], "b": [P[:4], None]}
    found = bf.measure.Judge(TREE, P).frame(methods, P[4:6])
    assert list(found) == ["method", "answers", *MEASURES]
    assert found["answers"] == [2, 4]
    frame = pl.DataFrame(P, schema=["x", "y", "z"])
    judge = bf.measure.Judge(DecisionTreeClassifier(max_depth=4, random_state=0).fit(frame, TREE.predict(P)), frame)
    table = judge.frame({"a": frame[:2], "b": [frame[:4], None]}, frame[4:6])
    assert isinstance(table, pl.DataFrame)
    for name in MEASURES:
        assert table[name].to_list() == pytest.approx(found[name], nan_ok=True)


def test_by_factual_averages_to_by_method(judge, ours) -> None:
    methods = {
        "ours": ours,
        "real": [GOOD.sample(2, random_state=i) for i in range(len(ROWS))],
        "none": [None] * len(ROWS),
    }
    whole = judge.frame(methods, ROWS, seconds={"real": 2.0, "none": [1.0, 2.0, 3.0, 4.0]})
    each = judge.frame(methods, ROWS, seconds={"real": 2.0, "none": [1.0, 2.0, 3.0, 4.0]}, by="factual")
    assert each["factual"].tolist() == [0, 1, 2, 3] * 3
    means = each.groupby("method", sort=False)[list(MEASURES)].mean()
    assert means.index.tolist() == whole["method"].tolist() == list(methods)
    assert means.to_numpy() == pytest.approx(whole[list(MEASURES)].to_numpy(), nan_ok=True)
    assert whole["seconds"].tolist()[1:] == [0.5, 2.5]
    assert whole["coverage"].tolist() == [1.0, 1.0, 0.0]


def test_the_nearer_method_is_nearer(judge, ours) -> None:
    table = judge.frame({"ours": ours, "real": [GOOD.sample(2, random_state=i) for i in range(4)]}, ROWS).set_index(
        "method"
    )
    for name in ("proximity", "sparsity", "violations"):
        assert table.loc["ours", name] < table.loc["real", name]


def test_the_kind_of_table_of_the_answers_does_not_matter_to_the_model() -> None:
    frame = pd.DataFrame(P, columns=["x", "y", "z"]).assign(c=pd.Categorical(["a", "b"] * 75))
    model = boosted(frame)
    judge = bf.measure.Judge(model, frame, target=1)
    good = frame[model.predict(frame) == 1].iloc[:3]
    objects = good.astype(object)
    same(judge.measures(objects, frame.iloc[[0]]), judge.measures(good, frame.iloc[[0]]))


def boosted(frame: pd.DataFrame) -> Any:
    """A model of a categorical column, which insists on its type."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    y = (frame["x"] + (frame["c"] == "a") > 0.4).astype(int)
    return HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype", random_state=0).fit(frame, y)


def test_values_are_targets_too() -> None:
    line = LinearRegression().fit(P, P @ [1.0, 2.0, 0.0])
    judge = bf.measure.Judge(line, P, target=bf.relative_change(0.1))
    up = P[:1] + np.array([5.0, 0.0, 0.0])
    assert judge.measures(np.vstack([up, P[:1]]), P[:1])["validity"] == 0.5


def test_missing_values_that_the_model_does_not_take_may_stand_in_the_data() -> None:
    flowers = P.copy()
    model = LogisticRegression().fit(flowers, flowers[:, 0] > 0)
    judge = bf.measure.Judge(model, flowers)
    near = bf.measure.Plausibility(np.vstack([flowers, [[np.nan, 0.0, 0.0]]]), judge.space)
    assert np.isfinite(near.neighbour_distance(flowers[:3])).all()


def test_a_declared_space_is_used() -> None:
    frame = pd.DataFrame(P, columns=["x", "y", "z"])
    model = DecisionTreeClassifier(max_depth=3).fit(frame, P[:, 0] > 0)
    judge = bf.measure.Judge(model, frame, target=True, space={"z": bf.Continuous(-9, 9)})
    point = frame[model.predict(frame)].iloc[[0]].assign(z=8.0)
    assert judge.measures(point, frame.iloc[[0]])["violations"] == 0.0
    assert bf.measure.Judge(model, frame, target=True).measures(point, frame.iloc[[0]])["violations"] == 1.0
