"""The row that is given, and the row that is handed out: what is certified is what is written."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.space import frames
from butfor.space import space as spaces

RNG = np.random.default_rng(0)
COUNTS = pd.DataFrame({"a": RNG.integers(0, 1001, 300), "b": RNG.integers(0, 10, 300)})
LARGE = ((COUNTS.a > 300) | COUNTS.a.between(20, 60)).astype(int)  # what 304 becomes in eight bits is large, too
TREE = DecisionTreeClassifier(random_state=0)
MIXED = pd.DataFrame(
    {
        "a": RNG.normal(size=200),
        "n": RNG.integers(0, 9, 200),
        "c": RNG.choice(list("uvw"), 200),
        "t": RNG.random(200) < 0.5,
    }
)
FOREST = make_pipeline(
    make_column_transformer((OneHotEncoder(), ["c"]), remainder="passthrough"),
    RandomForestClassifier(5, random_state=0),
).fit(MIXED, MIXED.a + (MIXED.c == "v") > 0.5)

NARROW = {
    "pandas": lambda kind: pd.DataFrame({"a": [100], "b": [3]}).astype(kind),
    "pandas, nullable": lambda kind: pd.DataFrame({"a": [100], "b": [3]}).astype(
        kind.replace("ui", "UI").replace("i", "I")
    ),
    "pandas, arrow": lambda kind: pd.DataFrame({"a": [100], "b": [3]}).astype(f"{kind}[pyarrow]"),
    "polars": lambda kind: pl.from_pandas(NARROW["pandas"](kind)),
    "arrow": lambda kind: pa.Table.from_pandas(NARROW["pandas"](kind)),
}


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16"])
@pytest.mark.parametrize("library", NARROW)
def test_a_row_of_a_narrow_type_gets_the_value_that_was_certified(library, kind) -> None:
    explainer = bf.Explainer(TREE.fit(COUNTS, LARGE), data=COUNTS)
    answer = explainer.explain(NARROW[library](kind), target=1, constraints=[bf.only_up("a")])
    (change,) = answer.changes
    assert frames.values(answer.point, "a", 0) == [change.after]
    assert change.after > 300
    assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL


@pytest.mark.parametrize("kind", ["int8", "uint8"])
def test_an_array_of_a_narrow_type(kind) -> None:
    rows = COUNTS.to_numpy()
    explainer = bf.Explainer(DecisionTreeClassifier(random_state=0).fit(rows, LARGE), data=rows)
    answer = explainer.explain(np.array([[100, 3]], kind), target=1, constraints=[bf.only_up("x0")])
    assert answer.point[0, 0] == answer.changes[0].after > 300


def test_a_row_whose_type_knows_its_own_category_only() -> None:
    X = pd.DataFrame({"c": pd.Categorical(RNG.choice(list("uvw"), 300)), "a": RNG.normal(size=300)})
    X.loc[RNG.random(300) < 0.3, "c"] = np.nan
    wanted = ((X.c == "v") | X.c.isna()).astype(int)
    model = HistGradientBoostingClassifier(max_iter=20, categorical_features="from_dtype").fit(X, wanted)
    row = pd.DataFrame({"c": pd.Categorical(["u"]), "a": [-1.0]})
    answer = bf.Explainer(model, data=X).explain(row, target=1, constraints=[bf.fixed("a")])
    assert answer.point["c"].tolist() == ["v"]
    assert answer.point["c"].cat.categories.tolist() == ["u", "v", "w"]


def test_the_row_that_is_written_is_judged(monkeypatch) -> None:
    """If writing wrapped a number, as it once did, the answer would not be shown."""
    honest = spaces.write

    def wraps(table: Any, columns: Any, levels: Any = None) -> Any:
        return honest(table, columns, levels).astype("uint8")

    explainer = bf.Explainer(TREE.fit(COUNTS, LARGE), data=COUNTS)
    monkeypatch.setattr(spaces, "write", wraps)
    answer = explainer.explain(pd.DataFrame({"a": [100], "b": [3]}), target=1, constraints=[bf.only_up("a")])
    assert not answer.only.found
    for words in ("all constraints hold", "the cost is as claimed", "the row holds these values"):
        assert (words, False) in answer.certificate.checks
        assert words in answer.certificate.why


@pytest.mark.parametrize("kind", ["float16", "float32"])
def test_arrays_of_small_floats_have_answers(kind) -> None:
    rows = RNG.normal(size=(200, 3)).astype(kind)
    model = RandomForestClassifier(5, random_state=0).fit(rows, rows.sum(axis=1) > 0)
    explainer = bf.Explainer(model, data=rows)
    for start in range(0, 40):
        assert explainer.explain(rows[[start]]).certificate.status is bf.Status.PROVEN_OPTIMAL


@pytest.mark.parametrize("end", [2.26, 0.1, 1.7])
def test_the_ends_of_a_range_hold_in_float32(end) -> None:
    X = pd.DataFrame({"c": RNG.uniform(-5, 5, 300), "d": RNG.uniform(-5, 5, 300)}).astype("float32")
    model = DecisionTreeClassifier(random_state=0).fit(X, X.c > end - 1)
    row = X[X.c < end - 1.5].iloc[[0]]
    for constraint in (bf.between("c", end, 4.4), bf.between("c", end, end + 1e-6)):
        answer = bf.Explainer(model, data=X).explain(row, constraints=[constraint])
        assert answer.point["c"].dtype == np.float32
        assert float(answer.point["c"].iloc[0]) >= end


def test_values_of_other_rows_stay_exactly_as_they_are() -> None:
    X = pd.DataFrame({"c": RNG.uniform(-5, 5, 300).astype("float32"), "d": RNG.uniform(-5, 5, 300)})
    model = DecisionTreeClassifier(random_state=0).fit(X, (X.c > 0) & (X.d > 0))
    rows = pd.DataFrame({"c": [0.1, -0.1], "d": [-1.0, 1.0]})  # float64, where the data has float32
    answers = bf.Explainer(model, data=X).explain(rows, target=True, constraints=[bf.within("d", 3)])
    assert answers.points["c"].iloc[0] == 0.1
    assert answers.points["c"].iloc[1] == np.float32(answers.points["c"].iloc[1])


@pytest.mark.parametrize(
    "data",
    [MIXED, MIXED.astype({"c": "category"}), pl.from_pandas(MIXED), pa.Table.from_pandas(MIXED)],
    ids=["pandas", "pandas category", "polars", "arrow"],
)
def test_one_row_may_be_a_dict(data) -> None:
    explainer = bf.Explainer(FOREST, data=data)
    answer = explainer.explain({"t": True, "c": "u", "a": -1, "n": 3, "id": "k7"})
    assert type(answer.point) is type(data)
    assert set(frames.names(answer.point)) == {"a", "n", "c", "t", "id"}
    assert frames.values(answer.factual, "c", 0) == ["u"]
    assert frames.values(answer.point, "id", 0) == ["k7"]
    assert answer.only == explainer.explain(frames.like(data, {"t": [True], "c": ["u"], "a": [-1.0], "n": [3]})).only


def test_a_dict_for_a_model_of_arrays() -> None:
    rows = COUNTS.to_numpy()
    explainer = bf.Explainer(DecisionTreeClassifier(random_state=0).fit(rows, LARGE), data=rows)
    assert explainer.explain({"x1": 3, "x0": 100}) == explainer.explain([[100, 3]])


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"a": "x", "n": 3, "c": "u", "t": True}, "like those of the data.*'x'"),
        ({"a": 1.0, "n": 3, "c": "zz", "t": True}, "'zz', which was not seen before"),
        ({"a": [1.0], "n": [3]}, "one value for each column"),
        ({"q": 1}, r"\['q'\].*The columns are"),
        ({}, "The columns are"),
    ],
)
def test_a_dict_that_is_no_row(row, words) -> None:
    with pytest.raises(bf.errors.InputError, match=words):
        bf.Explainer(FOREST, data=MIXED).explain(row)


def boosters() -> Any:
    for library, options in (("xgboost", {}), ("lightgbm", {"verbose": -1})):
        module = pytest.importorskip(library)
        make = module.XGBClassifier if library == "xgboost" else module.LGBMClassifier
        yield make(n_estimators=3, **options)
    yield RandomForestClassifier(5, random_state=0)


def test_a_column_that_the_model_does_not_know_comes_back_untouched() -> None:
    for model in boosters():
        explainer = bf.Explainer(model.fit(COUNTS, COUNTS.a > 500), data=COUNTS)
        row = COUNTS[COUNTS.a == COUNTS.a.max()].iloc[[0]].assign(id="k7")[["b", "id", "a"]]
        answer = explainer.explain(row)
        assert list(answer.point.columns) == ["b", "id", "a"]
        assert answer.point["id"].tolist() == ["k7"]
        with pytest.raises(bf.errors.InputError, match="array was given, but the data has named columns"):
            explainer.explain(row[["a", "b"]].to_numpy())


def test_columns_that_the_model_does_not_read_are_pointed_out_once() -> None:
    model = TREE.fit(COUNTS, LARGE)
    with pytest.warns(UserWarning, match="does not read these columns of the data: id, y.*target") as seen:
        bf.Explainer(model, data=COUNTS.assign(id=1, y=LARGE))
    assert len(seen) == 1
    assert seen[0].filename == __file__


def test_rows_unlike_the_data_are_pointed_out_once() -> None:
    explainer = bf.Explainer(TREE.fit(COUNTS, LARGE), data=COUNTS)
    rows = pd.DataFrame({"a": [5000, 10, -3], "b": [3, 3, 3]})
    with pytest.warns(UserWarning, match=r"2 of 3 rows .*: a 5000 \(\d+ to \d+\)\. ") as seen:
        explainer.explain(rows)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bf.Explainer(TREE, data=COUNTS, space={"a": bf.Integer(0, 1000)}).explain(rows)


@pytest.mark.parametrize("lost", [None, np.nan], ids=["None", "NaN"])
@pytest.mark.parametrize("given", ["frame", "dict", "several rows"])
def test_a_value_becomes_missing_as_it_is_in_the_data(lost, given) -> None:
    """An encoder tells None from NaN."""
    c = pd.Series(["a", "b", lost] * 10, dtype=object)
    X = pd.DataFrame({"c": c, "d": pd.Series(["u", "v"] * 15, dtype=object)})
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression()).fit(X, c.isna())
    explainer = bf.Explainer(model, X)
    rows: Any = {"frame": X.iloc[[0]], "dict": {"c": "a", "d": "u"}, "several rows": X.iloc[[0, 1, 3]]}[given]
    for answer in explainer.explain(rows, target=True, constraints=[bf.may_be_missing("c")]):
        assert answer.certificate.status is bf.Status.PROVEN_OPTIMAL
        assert (answer.point["c"].iloc[0] is None) == (lost is None)
        assert model.predict(answer.point)[0]
        again = bf.Explanation.from_json(answer.to_json())
        assert (again.point["c"].iloc[0] is None) == (lost is None)
    assert explainer.explain({"c": lost, "d": "u"}, target=True).only.cost == 0
