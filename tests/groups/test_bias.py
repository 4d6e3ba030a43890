"""The bias check and the levers, judged by trying every value with the estimator itself."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from tests.shorter import diagonal

MODELS = {
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "forest": RandomForestClassifier(7, max_depth=3, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=10, random_state=0),
    "linear": LogisticRegression(),
}
LEVELS = {"sex": ["f", "m"], "race": ["a", "b", "c"]}


def problem(name: str, seed: int):
    """Random rows of two columns of levels and two of small whole numbers, and a model of them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "sex": rng.choice(LEVELS["sex"], 120),
            "race": rng.choice(LEVELS["race"], 120),
            "age": rng.integers(0, 7, 120),
            "work": rng.integers(0, 5, 120),
        }
    )
    noise = rng.normal(0, 0.7, 120)
    y = (X["work"] - 2 + 0.9 * (X["sex"] == "m") - 0.5 * X["age"] * (X["race"] == "b") + noise > 0.3).map(
        {True: "yes", False: "no"}
    )
    encoder = make_column_transformer((OneHotEncoder(), ["sex", "race"]), remainder="passthrough")
    model = make_pipeline(encoder, MODELS[name]).fit(X, y)
    return X, model


def values(X: pd.DataFrame, name: str) -> list:
    return LEVELS.get(name) or list(range(int(X[name].min()), int(X[name].max()) + 1))


def flipping(X: pd.DataFrame, model, rows: pd.DataFrame, names: list[str]) -> list[list[tuple]]:
    """All values of some columns that flip the decision about each row."""
    every = list(product(*(values(X, name) for name in names)))
    tried = rows.loc[rows.index.repeat(len(every))]
    for j, name in enumerate(names):
        tried[name] = [one[j] for one in every] * len(rows)
    flips = model.predict(tried).reshape(len(rows), -1) != model.predict(rows)[:, None]
    return [[one for one, flip in zip(every, line, strict=True) if flip] for line in flips]


PROTECTED = [["sex"], ["race"], ["age"], ["sex", "race"], ["sex", "age"]]


@pytest.mark.shorter(2)
@pytest.mark.parametrize(("name", "protected"), diagonal(MODELS, PROTECTED))
def test_flips_are_those_of_brute_force(name, protected) -> None:
    flipped = 0
    for seed in range(3):
        X, model = problem(name, seed)
        rows = X.iloc[:40]
        found = bf.groups.flips(bf.Explainer(model, X), rows, protected)
        assert found["before"].tolist() == model.predict(rows).tolist()
        for able, (_, line) in zip(flipping(X, model, rows, protected), found.iterrows(), strict=True):
            assert line["flips"] == ("yes" if able else "no")
            if able:
                assert tuple(line[f"{one} would be"] for one in protected) in able
                assert line["after"] != line["before"]
        flipped += (found["flips"] == "yes").sum()
    assert flipped


def test_the_nearest_number_is_shown() -> None:
    X, model = problem("forest", 1)
    found = bf.groups.flips(bf.Explainer(model, X), X.iloc[:60], "age")
    flips = found[found["flips"] == "yes"]
    assert len(flips)
    for i, line in flips.iterrows():
        able = [age for (age,) in flipping(X, model, X.iloc[[i]], ["age"])[0]]
        assert abs(line["age would be"] - line["age"]) == min(abs(age - line["age"]) for age in able)


def test_black_boxes_are_settled_level_by_level() -> None:
    X, model = problem("boosting", 2)
    rows = X.iloc[:40]
    read = bf.groups.flips(bf.Explainer(model, X), rows, ["sex", "race"])
    box = bf.groups.flips(bf.Explainer(lambda table: model.predict(table), X), rows, ["sex", "race"])
    assert box["flips"].tolist() == read["flips"].tolist()
    assert "open" not in set(box["flips"])


def test_what_nothing_proves_is_open() -> None:
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["x", "z"])
    explainer = bf.Explainer(lambda rows: (rows["x"] > 0).to_numpy(), table)
    found = bf.groups.flips(explainer, table.iloc[:5], "z")
    assert found["flips"].tolist() == ["open"] * 5
    assert found["after"].isna().all()


def test_a_target_of_ones_own() -> None:
    X, model = problem("tree", 0)
    found = bf.groups.flips(bf.Explainer(model, X), X, "sex", target="yes")
    assert ((found["before"] == "yes") == (found["flips"] == "already met")).all()
    line = LinearRegression().fit(X[["age", "work"]], X["age"] * 2.0 + X["work"])
    worth = bf.groups.flips(
        bf.Explainer(line, X[["age", "work"]]), X[["age", "work"]], "work", target=bf.value(at_least=11.5)
    )
    reachable = X["age"] * 2.0 + X["work"].max() >= 11.5
    assert ((worth["flips"] == "no") == ~reachable).all()


def test_of_rules_only_the_target_counts() -> None:
    X, model = problem("linear", 0)
    plain = bf.groups.flips(bf.Explainer(model, X), X, "sex")
    sure = model.predict_proba(X.assign(sex=X["sex"].map({"f": "m", "m": "f"}))).max(axis=1)
    assert ((plain["flips"] == "yes") & (sure < 0.6)).any(), "the test needs decisions that hardly flip"
    for rules in ({"safety": 0.1}, {"constraints": ["fixed sex"]}, {"columns": {"sex": {"price": 9.0}}}):
        found = bf.groups.flips(bf.Explainer(model, X, rules=bf.rules(rules)), X, "sex")
        assert found.equals(plain), rules
    wanted = bf.groups.flips(bf.Explainer(model, X, rules=bf.rules({"target": "yes", "safety": 0.1})), X, "sex")
    assert wanted.equals(bf.groups.flips(bf.Explainer(model, X), X, "sex", target="yes"))


def test_tables_of_other_kinds() -> None:
    X, model = problem("tree", 0)
    numbers = X[["age", "work"]].to_numpy(dtype=float)
    tree = DecisionTreeClassifier(random_state=0).fit(numbers, model.predict(X))
    found = bf.groups.flips(bf.Explainer(tree, numbers), numbers[:10], "x1")
    assert list(found) == ["row", "before", "flips", "after", "x1", "x1 would be"]
    table = pl.DataFrame({"age": numbers[:, 0], "work": numbers[:, 1]})
    tree = DecisionTreeClassifier(random_state=0).fit(table, model.predict(X))
    assert bf.groups.flips(bf.Explainer(tree, table), table[:10], "work")["flips"].to_list() == found["flips"]


@pytest.mark.parametrize(
    ("protected", "error", "words"),
    [
        ("gender", bf.errors.UnknownColumnError, "the model reads no column 'gender', so it alone flips no decision"),
        ("same", bf.errors.InputError, "the protected column 'same' has a single value in the data"),
        ([], bf.errors.InputError, "no protected column was named"),
        (3, bf.errors.UnknownColumnError, "the model reads no column '3'"),
    ],
)
def test_bad_input_is_refused(protected, error, words) -> None:
    X = pd.DataFrame({"x": [0.0, 1.0] * 10, "same": ["a"] * 20})
    encoder = make_column_transformer((OneHotEncoder(), ["same"]), remainder="passthrough")
    explainer = bf.Explainer(make_pipeline(encoder, DecisionTreeClassifier()).fit(X, X["x"] > 0), X)
    with pytest.raises(error, match=words):
        bf.groups.flips(explainer, X, protected)
    with pytest.raises(bf.errors.InputError, match="no row was given to explain"):
        bf.groups.flips(explainer, X.iloc[:0], "x")


@pytest.mark.shorter(2)
@pytest.mark.parametrize("name", MODELS)
def test_levers_are_those_of_brute_force(name) -> None:
    X, model = problem(name, 3)
    rows = X.iloc[:40]
    rejected = rows[model.predict(rows) == "no"]
    found = bf.groups.levers(bf.Explainer(model, X), rows, target="yes", constraints=bf.fixed("sex"))
    free = ["race", "age", "work"]
    assert len(found) == 6
    for chosen in [(one,) for one in free] + list(combinations(free, 2)):
        second = found["with_column"] == chosen[1] if len(chosen) > 1 else found["with_column"].isna()
        (line,) = found[(found["column"] == chosen[0]) & second].to_dict("records")
        able = [bool(values) for values in flipping(X, model, rejected, list(chosen))]
        assert (line["rows"], line["open"]) == (sum(able), 0)
        assert line["share"] == sum(able) / len(rejected)


def test_levers_of_rows_that_need_none_are_refused() -> None:
    X, model = problem("tree", 3)
    with pytest.raises(bf.errors.InputError, match="every row meets the target already"):
        bf.groups.levers(bf.Explainer(model, X), X[model.predict(X) == "yes"], target="yes")


@pytest.mark.long
def test_levers_nobody_had_time_for_are_open() -> None:
    X, model = problem("forest", 3)
    rejected = X[model.predict(X) == "no"]
    found = bf.groups.levers(bf.Explainer(model, X), rejected, target="yes", time_limit=1e-9)
    assert (found["rows"] + found["open"] <= len(rejected)).all()
    assert found["open"].sum() > 0


def test_columns_that_are_called_by_numbers() -> None:
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)))
    explainer = bf.Explainer(DecisionTreeClassifier(max_depth=3).fit(table, table[0] > 0), table)
    found = bf.groups.flips(explainer, table.iloc[:4], 0)
    assert found["flips"].tolist() == ["yes"] * 4
    assert bf.groups.flips(explainer, table.iloc[:4], [1])["flips"].tolist() == ["no"] * 4
    by_value = bf.groups.statuses(explainer(table.iloc[:4]), by=1)
    assert sorted(set(by_value["group"])) == sorted(table[1].iloc[:4])
