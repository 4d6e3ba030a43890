"""JSON: what is written is read back the same, and what contradicts itself or follows another schema is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.problem.spec import from_spec
from butfor.records.reading import each
from butfor.records.reading import single as load
from butfor.records.schema import SCHEMA, ContradictionError
from butfor.space import frames
from tests.views.answers import SPACE, drawn, made, question

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "json.md"


def to_data(answer: bf.Explanation) -> dict[str, Any]:
    """The record of an answer without its hash."""
    data: dict[str, Any] = json.loads(answer.to_json())
    del data["hash"]
    return data


def from_data(data: Any) -> bf.Explanation:
    return load(json.dumps(data))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_any_answer_is_read_back_the_same(seed) -> None:
    answer = drawn(seed)
    again = load(answer.to_json())
    assert again == answer
    assert again.certificate == answer.certificate
    assert (again.row, again.rank, again.model, again.created) == (
        answer.row, answer.rank, answer.model, answer.created
    )  # fmt: skip
    assert again.question.spec == answer.question.spec
    assert repr(from_spec(again.question.spec["cost"])) == answer.question.cost
    assert tuple(repr(from_spec(one)) for one in again.question.spec["constraints"]) == answer.question.constraints
    pd.testing.assert_frame_equal(again.factual, answer.factual)
    assert again.to_json() == answer.to_json()


@pytest.mark.parametrize("there", ["python", "pyarrow"])
@pytest.mark.parametrize("here", ["python", "pyarrow"])
def test_text_is_read_back_whether_or_not_pyarrow_stores_it(here: str, there: str) -> None:
    X = pd.DataFrame({"job": ["nurse", "clerk", "nurse", "clerk"]})
    with pd.option_context("mode.string_storage", here):
        table = X.astype({"job": "str"})
        model = make_pipeline(OrdinalEncoder(), DecisionTreeClassifier(random_state=0)).fit(table, [1, 0, 1, 0])
        answer = bf.Explainer(model, data=table).explain(table.iloc[[1]], target=1)
        written = answer.to_json()
    with pd.option_context("mode.string_storage", there):
        again = load(written)
        assert again.to_json() == written
        assert bf.check(again, model).passed
        assert (again.point["job"].tolist(), again.point["job"].dtype) == (
            ["nurse"],
            X.astype({"job": "str"})["job"].dtype,
        )


QUESTIONS = {
    "L1": (bf.classes("yes"), bf.L1({"income": 2.0}, scale="mad"), []),
    "L2": (bf.other(), bf.L2(scale={"income": 10.0}), [bf.fixed("job")]),
    "LInf": (bf.class_costs({"yes": 0.5, 3: 1.0}), bf.LInf(), [bf.only_up("income")]),
    "L0": (bf.probability("yes", at_least=0.8), bf.L0({"job": 2.0}), [bf.only_down("income")]),
    "mix": (bf.value(at_least=1.0), bf.L1() + 0.5 * bf.L0(), [bf.between("income", 0, 10), bf.within("income", 0.1)]),
    "Gower": (bf.value(at_most=1.0), bf.Gower(), [bf.step("income", 5.0, anchor=1.0), bf.whole("income")]),
    "MAD": (bf.relative_change(-0.2), bf.MAD(), [bf.allowed("job", ["pilot"]), bf.at_most_changes(2)]),
    "Table": (bf.classes(1, 2), bf.Table({"job": {("clerk & co", "pilot"): 2.0, "pilot": 1.0}}), [bf.margin(0.1)]),
    "Quadratic": (
        bf.classes(True),
        bf.Quadratic(np.eye(1), ("income",)),
        [bf.moves("job", {"pilot": ["clerk & co"]}), bf.may_be_missing("job")],
    ),
    "relations": (
        bf.classes("yes"),
        bf.L1(),
        [bf.linear({"income": 1.0}, "<=", 5.0), bf.implies(bf.becomes("job", "pilot"), bf.rises("income", by=2))],
    ),
}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_every_kind_of_question_is_held_as_data(kind) -> None:
    target, cost, constraints = QUESTIONS[kind]
    spec = load(made(asked=question(target, cost, constraints)).to_json()).question.spec
    assert repr(from_spec(spec["target"])) == repr(target)
    assert repr(from_spec(spec["cost"])) == repr(cost)
    assert [repr(from_spec(one)) for one in spec["constraints"]] == list(map(repr, constraints))


def test_what_cannot_be_data_is_described() -> None:
    cost = bf.Table({"income": lambda before, after: abs(after - before)})
    answer = made(asked=question(bf.other(), cost, [bf.candidates(pd.DataFrame({"income": [1]}))]))
    spec = load(answer.to_json()).question.spec
    for part in (spec["cost"], spec["constraints"][0]):
        with pytest.raises(LookupError):
            from_spec(part)


PLAIN = {"whole": [3, 4], "real": [0.1 + 0.2, 1.0], "text": ["é", "e"], "flag": [True, False], "gone": [None, 1.0]}
FRAME = pd.DataFrame(PLAIN, index=["r", "s"]).astype({"gone": "float64"})
KINDS: dict[str, Any] = {
    "pandas": FRAME,
    "pandas narrow": FRAME.astype({"whole": "int8", "real": "float32", "text": "category"}),
    "pandas nullable": FRAME.astype({"whole": "Int64", "flag": "boolean"}),
    "polars": pl.DataFrame(PLAIN),
    "polars narrow": pl.DataFrame(PLAIN, schema_overrides={"gone": pl.Float32, "whole": pl.Int8}),
    "polars enum": pl.DataFrame(PLAIN, schema_overrides={"text": pl.Enum(["é", "e"])}),
    "pyarrow": pa.table(PLAIN),
    "array": np.array([[3.0, 0.1 + 0.2, np.nan], [1.0, 1.0, 1.0]]),
    "array of float32": np.array([[3.0, 0.5, np.nan], [1.0, 1.0, 1.0]], dtype=np.float32),
    "array of whole numbers": np.array([[3, 4], [1, 2]]),
    "array of objects": np.array([[3, "é", None, np.nan], [1, "e", 1.5, 2.5]], dtype=object),
}
"""Tables of two rows, of which the first is kept."""


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_every_kind_come_back_as_that_kind(kind) -> None:
    space = bf.Explainer(lambda table: np.zeros(len(table)), KINDS[kind]).space
    row = frames.take(KINDS[kind], [0])
    codes = space.encode(row)[0]
    answer = replace(made(space=SPACE), space=space, factual=row, factual_codes=codes, point_codes=codes, point=row)
    again = load(answer.to_json()).factual
    assert type(again) is type(row)
    if isinstance(row, np.ndarray):
        assert again.dtype == row.dtype
        assert repr(again.tolist()) == repr(row.tolist())
    elif isinstance(row, pd.DataFrame):
        pd.testing.assert_frame_equal(again, row)
    else:
        assert again.equals(row)


def test_numbers_are_read_back_exactly() -> None:
    answer = made((0.1 + 0.2, 5e-324, 0.0), (1e16 + 2, 1 / 3, 2.0))
    again = load(answer.to_json())
    assert again.factual_codes.tolist() == [0.1 + 0.2, 5e-324, 0.0]
    assert again.point_codes.tolist() == [1e16 + 2, 1 / 3, 2.0]


def test_there_is_nothing_but_json_in_it() -> None:
    def refuse(token: str) -> None:
        raise AssertionError(token)

    impossible = made((20_000.0, np.nan, np.nan), None, bf.Status.PROVEN_INFEASIBLE)
    data = json.loads(impossible.to_json(), parse_constant=refuse)
    assert data["cost"] is None
    assert data["bound"] is None
    assert load(impossible.to_json()).certificate.bound == np.inf


def test_many_answers_are_a_list() -> None:
    several = [made(), made(after=None, status=bf.Status.NOT_FOUND, row=1)]
    texts = [replace(one, created=several[0].created).to_json() for one in several]
    assert list(bf.Explanations.from_json(f"[{', '.join(texts)}]")) == several
    assert list(bf.Explanations.from_json(texts[0])) == several[:1]


def test_answers_of_several_calls_are_read_one_by_one(tmp_path) -> None:
    several = [made(), made(row=1, model="Tree")]
    (tmp_path / "several.json").write_text(f"[{', '.join(one.to_json() for one in several)}]", encoding="utf-8")
    assert each(tmp_path / "several.json") == several
    (tmp_path / "none.json").write_text("[]", encoding="utf-8")
    assert each(tmp_path / "none.json") == []


def test_indentation_is_a_matter_of_taste() -> None:
    assert "\n" not in made().to_json(indent=None)
    assert load(made().to_json(indent=None)) == made()


@pytest.mark.parametrize("schema", ["butfor.explanation/3", "butfor.explanation/0", None, 1, "explanation"])
def test_another_schema_is_refused(schema) -> None:
    with pytest.raises(bf.errors.InputError, match=SCHEMA):
        from_data({**to_data(made()), "schema": schema})


@pytest.mark.parametrize("text", ["", "{", "nonsense", '{"schema": NaN}', "[1, 2", "3", "null", '"text"', "[[]]"])
def test_what_is_no_answer_is_refused(text) -> None:
    with pytest.raises(bf.errors.InputError):
        bf.Explanations.from_json(text)


@pytest.mark.parametrize("key", [key for key in to_data(made()) if key not in ("butfor", "schema")])
def test_what_is_left_out_is_named(key) -> None:
    data = to_data(made())
    del data[key]
    if key in ("changes", "gap", "coin"):  # it follows from the rest
        assert from_data(data) == made()
    else:
        with pytest.raises(bf.errors.InputError, match=key):
            from_data(data)


def test_names_of_a_later_version_are_passed_over() -> None:
    data = to_data(made())
    data["note"] = "of my own"
    data["checks"][0]["more"] = [1]
    assert from_data(data) == made()


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("cost",), "cheap"),
        (("factual",), [1.0]),
        (("factual",), ["a", "b", "c"]),
        (("space",), []),
        (("space", 0, "low"), {"unknown": 1}),
        (("status",), "SURE"),
        (("checks",), None),
        (("question",), []),
        (("table", "kind"), "spreadsheet"),
        (("table", "columns"), [{}]),
        (("table", "columns", 0, "type"), "no such type"),
        (("point", "job"), 17.0),
    ],
)
def test_a_broken_answer_is_an_input_error(place, value) -> None:
    data = to_data(made())
    part: Any = data
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    with pytest.raises(bf.ButforError):
        from_data(data)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("changes", 0, "after"), 22_501),
        (("changes", 0, "text", 1), "22501"),
        (("changes",), []),
        (("point", "income"), 22_501.0),
        (("point", "salary"), 22_501.0),
        (("factual", 0), 20_001.0),
        (("gap",), 0.5),
        (("bound",), 1.0),
        (("space", 0, "kind"), "continuous"),
    ],
)
def test_what_is_said_twice_must_agree(place, value) -> None:
    data = to_data(made())
    part: Any = data
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    with pytest.raises(ContradictionError, match="contradicts itself"):
        from_data(data)


def test_every_name_of_the_schema_is_documented() -> None:
    page = DOCS.read_text(encoding="utf-8")
    data = to_data(made())
    names = {*data, *data["changes"][0], *data["question"], *data["table"]}
    names |= {*data["space"][0], *data["question"]["spec"], *data["table"]["columns"][0]}
    assert not [name for name in sorted(names) if f"`{name}`" not in page]
    assert SCHEMA in page
