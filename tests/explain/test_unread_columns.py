"""Columns that a pipeline drops first of all: they may hold anything, and are handed back as they came."""

from __future__ import annotations

import datetime as dt
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.ensemble import IsolationForest, StackingClassifier, VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import butfor as bf

READ = ["income", "debt", "job"]
UNREAD = ["number", "day", "hour", "born", "files", "empty", "score"]


def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "number": [f"c{i}" for i in range(200)],
            "income": rng.normal(50, 15, 200).round(1),
            "day": pd.date_range("2020", periods=200),
            "hour": pd.date_range("2020", periods=200, freq="h", tz="Europe/Berlin"),
            "born": [dt.date(1970, 1, 1) + dt.timedelta(i) for i in range(200)],
            "debt": rng.gamma(2, 8, 200).round(1),
            "files": [[i] for i in range(200)],
            "job": rng.choice(["clerk", "nurse"], 200),
            "empty": np.nan,
            "score": rng.normal(size=200).round(2),
        }
    )


def later(X: pd.DataFrame, model: Any) -> pd.DataFrame:
    """A row that is not in the data, with columns that hold what was never seen."""
    row = X[model.predict(X) == "no"].iloc[[3]]
    return row.assign(number="new", day=pd.Timestamp("2031-05-05"), born=None, empty="a word", score=1e300)


def goes_well(X: pd.DataFrame) -> Any:
    return np.where(X["income"] - X["debt"] + 5 * (X["job"] == "nurse") > 35, "yes", "no")


def tree() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=4, random_state=0)


def named(last: Any) -> Pipeline:
    columns = [("numbers", StandardScaler(), ["income", "debt"]), ("texts", OneHotEncoder(), ["job"])]
    return make_pipeline(ColumnTransformer(columns), last)


def chosen(*columns: Any, **more: Any) -> Callable[[], Pipeline]:
    return lambda: make_pipeline(ColumnTransformer([(f"p{i}", *one) for i, one in enumerate(columns)], **more), tree())


NUMBERS = StandardScaler()
MODELS: dict[str, Callable[[], Any]] = {
    "names": lambda: named(tree()),
    "positions": chosen((OrdinalEncoder(), [7]), ("passthrough", [5, 1]), ("drop", [0])),
    "a mask": chosen((OrdinalEncoder(), ["job"]), (NUMBERS, [j in (1, 5) for j in range(10)])),
    "slices": chosen((NUMBERS, slice("income", "income")), ("passthrough", slice(5, 6)), (OrdinalEncoder(), ["job"])),
    "a selector": chosen((NUMBERS, make_column_selector("income|debt")), (OrdinalEncoder(), ["job"])),
    "a remainder": chosen((OrdinalEncoder(), ["job"]), ("drop", UNREAD), remainder="passthrough"),
    "a scaled remainder": chosen((OrdinalEncoder(), ["job"]), ("drop", UNREAD), remainder=StandardScaler()),
    "a ColumnTransformer in another": chosen(
        (ColumnTransformer([("inside", StandardScaler(), [0, 2])]), ["income", "day", "debt"]), (OrdinalEncoder(), ["job"])
    ),
    "a black box": lambda: named(SVC()),
    "a linear model": lambda: named(LogisticRegression()),
    "a union": lambda: make_pipeline(
        FeatureUnion([("a", named("passthrough")), ("b", ColumnTransformer([("c", "passthrough", ["debt"])]))]), tree()
    ),
    "a pipeline in a pipeline": lambda: Pipeline([("nothing", "passthrough"), ("all", named(tree()))]),
    "a search": lambda: GridSearchCV(named(tree()), {"decisiontreeclassifier__max_depth": [3, 4]}, cv=2),
    "a threshold": lambda: FixedThresholdClassifier(named(tree()), threshold=0.6, pos_label="yes"),
    "a tuned threshold": lambda: TunedThresholdClassifierCV(named(tree()), scoring="balanced_accuracy", cv=2),
    "a calibrated one": lambda: CalibratedClassifierCV(named(tree()), cv=2),
    "a vote": lambda: VotingClassifier([("a", named(tree())), ("b", named(DecisionTreeClassifier(max_depth=2)))]),
    "a stack": lambda: StackingClassifier([("a", named(tree()))], cv=2),
}  # fmt: skip


@pytest.mark.shorter(2)
@pytest.mark.parametrize("name", MODELS)
def test_they_hold_anything_and_stay_as_they_are(name) -> None:
    X = people()
    model = MODELS[name]().fit(X, goes_well(X))
    explainer = bf.Explainer(model, data=X)
    assert explainer.space.unread == tuple(one for one in X.columns if one in UNREAD)
    row = later(X, model)
    answer = explainer.explain(row, target="yes", seed=0).only
    assert model.predict(answer.point).tolist() == ["yes"]
    pd.testing.assert_frame_equal(answer.point[UNREAD], row[UNREAD])
    assert answer.point.columns.tolist() == X.columns.tolist()
    short = explainer.explain(row[["job", "income", "debt"]], target="yes", seed=0).only
    assert short.point.columns.tolist() == ["job", "income", "debt"]
    assert (short.cost, short.point_codes.tolist()) == (answer.cost, answer.point_codes.tolist())
    again = bf.Explanation.from_json(answer.to_json())
    assert again == answer
    assert bf.check(again, model).passed
    assert bf.check(answer, model).passed
    assert bf.check(bf.Explanation.from_json(short.to_json()), model).passed


@pytest.mark.parametrize("last", [tree(), LogisticRegression()], ids=["tree", "linear"])
def test_the_answers_are_those_without_these_columns(last) -> None:
    X = people()
    with_all = named(last).fit(X, goes_well(X))
    without = named(last).fit(X[READ], goes_well(X))
    rows = X[with_all.predict(X) == "no"].iloc[:4]
    whole = bf.Explainer(with_all, data=X).explain(rows, target="yes", k=2)
    few = bf.Explainer(without, data=X[READ]).explain(rows[READ], target="yes", k=2)
    np.testing.assert_allclose(whole.costs, few.costs, rtol=1e-12)
    pd.testing.assert_frame_equal(whole.points[READ], few.points, rtol=1e-12)


def polars_people() -> Any:
    X = people().drop(columns=["born", "hour"])
    return pl.from_pandas(X.astype({"job": object, "number": object})).with_columns(
        pl.col("day").cast(pl.Date), hour=pl.col("day").cast(pl.Datetime("ms", "UTC"))
    )


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_in_polars_and_in_pyarrow(kind) -> None:
    frame = polars_people()
    model = named(tree()).fit(frame, goes_well(people()))
    new = frame[[int(np.flatnonzero(model.predict(frame) == "no")[3])]].with_columns(
        pl.lit("new").alias("number"), pl.lit(None, pl.Date).alias("day")
    )
    data, row = (frame.to_arrow(), new.to_arrow()) if kind == "pyarrow" else (frame, new)
    explainer = bf.Explainer(model, data=data)
    answer = explainer.explain(row, target="yes").only
    names = explainer.space.unread
    assert {"number", "day", "hour"} <= set(names)
    assert answer.point.select(list(names)).equals(row.select(list(names)))
    short = explainer.explain(row.select(["debt", "job", "income"]), target="yes").only
    assert short.cost == answer.cost
    assert len(short.point.columns) == 3
    again = bf.Explanation.from_json(answer.to_json())
    assert bf.check(again, model).passed
    kept = again.point.to_pydict() if isinstance(again.point, pa.Table) else again.point.to_dict(as_series=False)
    assert kept["number"] == ["new"]


def test_in_an_array() -> None:
    X = people()
    whole = X[["number", "income", "debt"]].to_numpy()
    model = make_pipeline(ColumnTransformer([("a", StandardScaler(), [1, 2])]), tree()).fit(whole, goes_well(X))
    explainer = bf.Explainer(model, data=whole)
    row = whole[[np.flatnonzero(model.predict(whole) == "no")[0]]].copy()
    row[0, 0] = dt.date(2031, 1, 1)
    answer = explainer.explain(row, target="yes").only
    assert answer.point[0, 0] == dt.date(2031, 1, 1)
    assert bf.check(bf.Explanation.from_json(answer.to_json()), model).passed


def test_rows_from_requests_need_none_of_them_and_keep_what_they_bring() -> None:
    X = people()
    explainer = bf.Explainer(named(tree()).fit(X, goes_well(X)), data=X)
    read = {"income": 20.0, "debt": 30.0, "job": "clerk"}
    assert explainer.row(read).columns.tolist() == READ
    answer = explainer.explain({**read, "number": "c", "day": "2031-05-05", "files": [1, 2]}, target="yes").only
    (point,) = answer.point[["number", "day", "files"]].to_dict("records")
    assert point == {"number": "c", "day": pd.Timestamp("2031-05-05"), "files": [1, 2]}
    series = explainer.explain(later(X, explainer.model).iloc[0], target="yes").only
    assert series.point["number"].tolist() == ["new"]


def test_the_data_may_lack_them() -> None:
    X = people()
    model = named(tree()).fit(X, goes_well(X))
    explainer = bf.Explainer(model, data=X[READ])
    row = later(X, model)
    answer = explainer.explain(row, target="yes").only
    assert answer.point["number"].tolist() == ["new"]
    assert answer.cost == bf.Explainer(model, data=X).explain(row, target="yes").only.cost
    with pytest.raises(bf.errors.InputError, match="the question names 'score', which the data lacks"):
        explainer.explain(row, target="yes", constraints=["score <= 3"])


def test_answers_tell_what_they_hold() -> None:
    X = people()
    model = named(tree()).fit(X, goes_well(X))
    answers = bf.Explainer(model, data=X).explain(later(X, model), target="yes")
    assert (answers.only["number"].before, answers.only["number"].changed) == ("new", False)
    assert answers.to_frame()["number"].tolist() == ["new"]
    assert "2031-05-05" in answers.to_csv()
    assert "new" in answers.only.to_html()
    again = bf.Explanation.from_json(answers.to_json())
    kept = ["number", "day", "empty", "score"]
    pd.testing.assert_frame_equal(again.point[kept], later(X, model)[kept])
    assert "files" not in again.point.columns
    assert pickle.loads(pickle.dumps(answers)) == answers


def test_answers_of_several_calls_keep_the_columns_that_all_have() -> None:
    X = people()
    model = named(tree()).fit(X, goes_well(X))
    explainer, row = bf.Explainer(model, data=X), later(X, model)
    parts = [explainer.explain(one, target="yes") for one in (row, row.drop(columns=["day", "files"]))]
    assert bf.concat(parts).points.columns.tolist() == [name for name in X.columns if name not in ("day", "files")]
    frame = polars_people()
    explainer = bf.Explainer(named(tree()).fit(frame, goes_well(people())), data=frame)
    rows = frame.filter(pl.Series(explainer.model.predict(frame) == "no"))[:1]
    numbered = rows.with_columns(number=pl.lit(7))
    points = bf.concat([explainer.explain(one, target="yes") for one in (rows, numbered)]).points
    assert points.columns == [name for name in frame.columns if name != "number"]


def test_a_question_that_names_one_holds_it_to_the_rules() -> None:
    X = people()
    model = named(tree()).fit(X, goes_well(X))
    explainer = bf.Explainer(model, data=X)
    row = later(X, model).assign(score=0.5, number="c7")
    free = explainer.explain(row, target="yes").only
    bound = explainer.explain(row, target="yes", constraints=[bf.linear({"score": 1, "income": 0}, ">=", 1.5)]).only
    assert bound.point["score"].tolist() == [1.5]
    assert bound.cost > free.cost
    assert bf.check(bf.Explanation.from_json(bound.to_json()), model).passed
    implied = explainer.explain(row, target="yes", constraints=["if debt <= 10 then number == c8"]).only
    assert implied.certificate.status is bf.Status.PROVEN_OPTIMAL
    with pytest.raises(bf.errors.InputError, match="'number' holds 'new', which was not seen before"):
        explainer.explain(row.assign(number="new"), target="yes", constraints=["number != c3"])
    with pytest.raises(bf.errors.InputTypeError, match="the question names 'day': column 'day' is of type"):
        explainer.explain(row, target="yes", constraints=[bf.only_up("day")])
    still = explainer.explain(row.assign(number="new"), target="yes", constraints=["fixed number, day, income"]).only
    assert still.found


def test_rows_must_have_a_column_that_the_question_names() -> None:
    X = people()
    model = named(tree()).fit(X, goes_well(X))
    explainer, row = bf.Explainer(model, data=X), X[model.predict(X) == "no"].iloc[[3]].drop(columns="score")
    assert explainer.explain(row).found
    with pytest.raises(KeyError, match=r"the question names columns that the rows lack: score\."):
        explainer.explain(row, constraints=["score <= 2"])


def test_rules_and_declarations_that_name_one_hold_it() -> None:
    X = people()
    model = named(tree()).fit(X, goes_well(X))
    rules = bf.rules({"target": "yes", "constraints": ["score >= 0"]})
    assert "score" not in bf.Explainer(model, data=X, rules=rules).space.unread
    declared = bf.Explainer(model, data=X, space={"number": bf.Categorical([f"c{i}" for i in range(200)])})
    assert "number" not in declared.space.unread
    with pytest.raises(bf.errors.InputError, match="not seen before"):
        declared.explain(later(X, model), target="yes")
    words = bf.describe({"number": bf.Column("Number of the customer", levels={"c1": "the first"}), "day": "Day"})
    answer = bf.Explainer(model, data=X, words=words).explain(later(X, model), target="yes").only
    assert "Number of the customer" in answer.to_html()


def test_other_models_in_a_question_may_read_one() -> None:
    X = people()
    model = named(tree()).fit(X, goes_well(X))
    columns = [("numbers", StandardScaler(), ["income", "debt", "score"]), ("texts", OneHotEncoder(), ["job"])]
    other = make_pipeline(ColumnTransformer(columns), tree()).fit(X, goes_well(X))
    row = later(X, model).assign(score=0.5)
    explainer = bf.Explainer(model, data=X)
    answer = explainer.explain(row, target="yes", constraints=[bf.robust_to([other])]).only
    assert other.predict(answer.point).tolist() == ["yes"]
    assert "score" not in answer.space.unread
    assert "number" in answer.space.unread
    forest = make_pipeline(ColumnTransformer([columns[0]]), IsolationForest(random_state=0)).fit(X)
    plausible = explainer.explain(row, target="yes", constraints=[bf.plausible(forest)]).only
    assert forest.predict(plausible.point).tolist() == [1]


def test_a_column_that_some_member_reads_is_read() -> None:
    X = people()[READ]
    alone = make_pipeline(ColumnTransformer([("one", "passthrough", ["income"])]), tree())
    model = VotingClassifier([("all", named(tree())), ("one", alone)]).fit(X, goes_well(X))
    assert bf.Explainer(model, data=X).space.unread == ()


def test_the_end_of_a_stack_may_read_them() -> None:
    X = people()[["income", "debt"]]
    alone = make_pipeline(ColumnTransformer([("one", "passthrough", ["income"])]), tree())
    model = StackingClassifier([("one", alone)], tree(), cv=2, passthrough=True).fit(X, goes_well(people()))
    assert bf.Explainer(model, data=X).space.unread == ()


def test_dummies_are_read_if_one_of_their_columns_is() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"income": rng.normal(50, 15, 200)}).join(
        pd.get_dummies(pd.Series(rng.choice(["a", "b", "c"], 200)), prefix="job", dtype=int)
    )
    y = np.where(X["income"] + 20 * X["job_a"] > 55, "yes", "no")
    some = make_pipeline(ColumnTransformer([("a", "passthrough", ["income", "job_a", "job_b"])]), tree()).fit(X, y)
    assert bf.Explainer(some, data=X).space.unread == ()
    none = make_pipeline(ColumnTransformer([("a", "passthrough", ["income"])]), tree()).fit(X, y)
    explainer = bf.Explainer(none, data=X)
    assert explainer.space.names == ("income", "job")
    row = X[none.predict(X) == "no"].iloc[[0]]
    assert explainer.explain(row.assign(job_a=7), target="yes").only.point["job_a"].tolist() == [7]
    moved = explainer.explain(row.assign(job_a=1, job_b=0, job_c=0), target="yes", constraints=["job != a"]).only
    assert moved.point["job_a"].tolist() == [0]


def test_what_is_not_dropped_first_of_all_is_read_as_before() -> None:
    X = people()[["income", "debt", "day"]]
    model = make_pipeline(FunctionTransformer(lambda frame: frame[["income", "debt"]]), tree()).fit(
        X, goes_well(people())
    )
    with pytest.raises(bf.errors.InputTypeError, match="Turn dates and durations into numbers"):
        bf.Explainer(model, data=X)


def test_a_regressor() -> None:
    X = people()
    y = X["income"] - X["debt"]
    model = TransformedTargetRegressor(named(LinearRegression())).fit(X, y)
    row = later(X, named(tree()).fit(X, goes_well(X)))
    answer = bf.Explainer(model, data=X).explain(row, target=bf.value(at_least=60)).only
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
    assert answer.point["number"].tolist() == ["new"]


def test_a_table_of_numbers_for_a_black_box() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 4)), columns=["a", "b", "late", "d"])
    model = make_pipeline(ColumnTransformer([("a", StandardScaler(), ["a", "b", "d"])]), SVC()).fit(X, X["a"] > X["b"])
    row = X[model.predict(X) == 0].iloc[[0]].assign(late=1e9)
    answer = bf.Explainer(model, data=X).explain(row, target=True, seed=0).only
    assert answer.point["late"].tolist() == [1e9]


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (lambda row: row.drop(columns="debt"), KeyError, r"columns are missing: debt\..*reads.*income"),
        (lambda row: row.rename(columns={"debt": "dept"}), KeyError, "Rename 'dept' to 'debt'"),
        (lambda row: row.assign(job="pilot"), ValueError, "'job' holds 'pilot', which was not seen before"),
        (lambda row: row.assign(income="much"), ValueError, "'income' holds 'much'"),
        (lambda row: row.drop(columns=READ), KeyError, "columns are missing"),
    ],
)
def test_columns_that_are_read_are_held_to_the_rules(given, error, words) -> None:
    X = people()
    model = named(tree()).fit(X, goes_well(X))
    with pytest.raises(error, match=words):
        bf.Explainer(model, data=X).explain(given(later(X, model)), target="yes")


def test_records_from_before_hold_them_and_are_checked(monkeypatch) -> None:
    X = people()[["number", *READ]]
    model = named(tree()).fit(X, goes_well(X))
    monkeypatch.setattr("butfor.estimator.source.dropped_places", lambda estimator: frozenset())
    answer = bf.Explainer(model, data=X).explain(X[model.predict(X) == "no"].iloc[[0]], target="yes").only
    monkeypatch.undo()
    again = bf.Explanation.from_json(answer.to_json())
    assert again.space.unread == ()
    assert bf.check(again, model).passed


def test_answers_of_a_model_that_drops_one_are_no_answers_of_one_that_reads_it() -> None:
    X = people()[["score", *READ]]
    model = named(tree()).fit(X, goes_well(X))
    answer = bf.Explainer(model, data=X).explain(X[model.predict(X) == "no"].iloc[[0]], target="yes").only
    other = chosen((OrdinalEncoder(), ["job"]), remainder="passthrough")().fit(X, goes_well(X))
    checked = bf.check(bf.Explanation.from_json(answer.to_json()), other)
    assert not checked.passed
    assert "The model of the answers drops them" in str(checked)
