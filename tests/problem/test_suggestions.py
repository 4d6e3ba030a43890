"""What holds in every row of a table is suggested: planted rules are found, and chance is not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import butfor as bf
from butfor.datasets import loans


def table(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    """Independent columns."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=rows),
            "b": rng.normal(size=rows),
            "count": rng.integers(0, 9, rows) + 1,
            "job": rng.choice(["clerk", "nurse", "driver"], rows),
            "city": rng.choice([f"city {k}" for k in range(8)], rows),
        }
    )


def told(data: object) -> list[str]:
    return [repr(one) for one in bf.suggest(data)]


@pytest.mark.parametrize("seed", range(8))
def test_chance_is_not_suggested(seed: int) -> None:
    assert told(table(seed=seed)) == []


def test_what_was_planted_is_found() -> None:
    data = table()
    data["sum"] = data["a"] + data["b"] - data["count"]
    data["most"] = np.maximum(data["a"], data["b"]) + 0.1
    data["region"] = data["city"].str[-1].astype(int) // 3 * 10
    data["paid"] = data["count"] - 1
    data = pd.get_dummies(data, columns=["job"], prefix="", prefix_sep="", dtype=int)
    found = told(data)
    assert "linear({'a': 1.0, 'most': -1.0}, '<=', 0.0)" in found
    assert "linear({'b': 1.0, 'most': -1.0}, '<=', 0.0)" in found
    assert "linear({'a': 1.0, 'b': 1.0, 'count': -1.0, 'sum': -1.0}, '==', 0.0)" in found
    assert "linked('count', 'paid')" in found
    assert "linked('city', 'region')" in found
    assert "combinations('clerk', 'driver', 'nurse')" in found


def test_two_dummies_are_a_group_too() -> None:
    data = table().assign(woman=lambda X: (X["a"] > 0).astype(int), man=lambda X: (X["a"] <= 0).astype(int))
    assert told(data) == ["combinations('woman', 'man')"]
    assert "declare bf.one_hot('woman', 'man')" in bf.suggest(data).why[0]


def test_dummies_that_a_space_knows_need_no_suggestion() -> None:
    data = pd.get_dummies(table().assign(region=lambda X: X["city"].str[-1].astype(int) // 3), columns=["city"])
    assert told(data) == ["linked('city', 'region')"]


def test_a_level_that_leaves_others_out_implies_them() -> None:
    data = table(2000)
    data.loc[data["job"] == "nurse", "city"] = "city 0"
    assert "implies(allowed('job', ['nurse']), allowed('city', ['city 0']))" in told(data)


def test_a_single_row_that_breaks_a_rule_takes_it_off_the_list() -> None:
    data = table()
    data["most"] = np.maximum(data["a"], data["b"])
    assert sum("'most'" in one for one in told(data)) == 2
    data.loc[7, "most"] = data.loc[7, "a"] - 1e-6
    assert not any("'a'" in one and "'most'" in one for one in told(data))


@pytest.mark.long
def test_every_suggestion_holds_for_each_row_of_the_data() -> None:
    X, y = loans.load()
    X = X.assign(schooling=X["education"].map({"none": 8, "school": 10, "college": 13, "master": 18}))
    found = bf.suggest(X)
    assert len(found) >= 2
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder
    from sklearn.tree import DecisionTreeClassifier

    texts = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    model = make_pipeline(
        make_column_transformer((OrdinalEncoder(), texts), remainder="passthrough"),
        DecisionTreeClassifier(max_depth=4, random_state=0),
    ).fit(X, y)
    explainer = bf.Explainer(model, data=X)
    rows = X[model.predict(X) == "rejected"].iloc[:5]
    answers = explainer.explain(rows, target="approved", constraints=found)
    assert all(answer.found for answer in answers)
    years = {"none": 8, "school": 10, "college": 13, "master": 18}
    assert all(years[point["education"]] == point["schooling"] for point in answers.points.to_dict("records"))


def test_they_are_kept_in_a_file_and_taken_one_by_one(tmp_path: Path) -> None:
    data = table()
    data["most"] = np.maximum(data["a"], data["b"])
    found = bf.suggest(data)
    path = tmp_path / "rules.json"
    path.write_text(found.to_json(), encoding="utf-8")
    again = bf.Suggestions.from_json(path.read_text(encoding="utf-8"))
    assert again == found
    assert len(json.loads(found.to_json())) == len(found) == 2
    assert repr(found[0]) in repr(found)
    assert len(found[:1]) == 1
    assert found[np.int64(1)] == found.constraints[1]
    assert repr(bf.suggest(table())) == "nothing holds in every row that chance would have broken"


def test_other_libraries_and_missing_values() -> None:
    data = table()
    data["most"] = np.maximum(data["a"], data["b"])
    assert told(pl.from_pandas(data)) == told(data)
    data.loc[3, "most"] = np.nan
    assert not any("'most'" in one for one in told(data))


def test_bad_tables_end_in_words() -> None:
    with pytest.raises(bf.ButforError, match="0 rows"):
        bf.suggest(table().iloc[:0])
    with pytest.raises(TypeError):
        bf.suggest(None)


@pytest.mark.parametrize(
    "text",
    ["{", "3", "[3]", '[{"constraint": 3, "why": ""}]', '[{"why": ""}]', '[{"constraint": {"kind": "no"}, "why": ""}]'],
)
def test_other_texts_are_no_suggestions(text: str) -> None:
    with pytest.raises(bf.errors.InputError, match="no suggestions"):
        bf.Suggestions.from_json(text)
