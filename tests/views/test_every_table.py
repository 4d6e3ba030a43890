"""Every table that is taken can be explained, written as a table, saved, loaded, checked and shown."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from decimal import Decimal
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.problem.spec import from_spec, to_spec
from butfor.records import tables
from butfor.space import frames, levels
from tests.shorter import unless
from tests.space.samples import ODD_TABLES, REFUSED_TABLES


class Moved:
    """A black box: the share of the columns that are not as in the first row."""

    def __init__(self, table: Any) -> None:
        self.first = [column[0] for column in self.columns(table)]

    @staticmethod
    def columns(table: Any) -> list[list[Any]]:
        return [frames.values(table, name, j) for j, name in enumerate(frames.names(table))]

    def __call__(self, table: Any) -> np.ndarray:
        pairs = zip(self.columns(table), self.first, strict=True)
        share = np.mean([[value != first for value in column] for column, first in pairs], axis=0)
        return np.column_stack([1 - share, share])


def types(table: Any, names: tuple[str, ...]) -> list[Any]:
    """The type of each column, with all that it says."""
    if isinstance(table, np.ndarray):
        return [table.dtype] * len(names)
    if isinstance(table, pd.DataFrame):
        return [table[name].dtype for name in names]
    if isinstance(table, pl.DataFrame):
        return [table.schema[name] for name in names]
    return [table.schema.field(name).type for name in names]


def same(table: Any, other: Any) -> None:
    """Assert that two tables are of one kind, with the same types, labels and values."""
    assert type(table) is type(other)
    if isinstance(table, pd.DataFrame):
        pd.testing.assert_frame_equal(table, other, check_exact=True)
    elif isinstance(table, np.ndarray):
        assert table.dtype == other.dtype
        assert repr(table.tolist()) == repr(other.tolist())
    else:
        assert table.schema == other.schema
        assert list(frames.listed(table).items()) == list(frames.listed(other).items())


OTHER_WIDTHS = {
    "pandas uint16", "pandas int64", "pandas UInt32", "pandas uint8[pyarrow]", "pandas float16", "pandas float64",
    "pandas Float64", "pandas double[pyarrow]", "pandas text as long ArrowDtype", "pandas Int64 with gaps",
    "pandas boolean with gaps", "pandas float64 with gaps", "pandas categories of Int64", "pandas categories of float32",
    "pandas categories of whole numbers", "pandas categories of whole intervals", "pandas categories of times",
    "pandas categories of weeks", "polars Int64", "polars UInt16", "polars Float64", "arrow int64", "arrow uint32",
    "arrow double", "arrow large_string", "arrow dictionary of large_string", "arrow dictionary of double",
    "arrow dictionary of timestamp[us]", "array float64", "array float16", "array int64",
}  # fmt: skip
"""Kinds that differ from another one in how many digits a value may have."""


@pytest.mark.shorter(4)
@pytest.mark.parametrize("kind", unless(OTHER_WIDTHS, ODD_TABLES))
def test_a_table_is_explained_saved_read_checked_and_shown(kind, tmp_path) -> None:
    table = ODD_TABLES[kind]()
    model = bf.black_box(Moved(table), classes=["as it was", "all moved"])
    rows = frames.take(table, [0, 1])
    few = bf.Swarm(particles=8, iterations=8, polish=False)  # how cheap the answers are does not matter here
    answers = bf.Explainer(model, table).explain(rows, target=bf.probability("all moved", at_least=1.0), solver=few)
    names = answers.space.names
    assert [change.name for change in answers[0].changes] == list(names), "all three columns change together"

    wide, long = answers.to_frame(), answers.to_frame("long")
    if isinstance(table, np.ndarray):
        assert wide[names[2]] == [one.columns()[2].after for one in answers]
    else:
        assert type(wide) is type(long) is type(table)
        assert types(wide, names) == types(answers.space.decode(answers.point_codes, rows), names)
        assert frames.values(wide, "odd", 0) == [one.columns()[2].after for one in answers]
    assert len(frames.listed(long)["change"]) == len(answers[0].changes) + len(answers[1].changes)
    assert frames.listed(answers[0].to_frame())["column"] == list(names)

    (tmp_path / "one.json").write_text(answers[0].to_json(), encoding="utf-8")
    (tmp_path / "all.json").write_text(answers.to_json(), encoding="utf-8")
    answers.to_jsonl(tmp_path / "all.jsonl")
    check_read_again(bf.load(tmp_path / "one.json"), answers[0])
    for file in ("all.json", "all.jsonl"):
        loaded = bf.load(tmp_path / file)
        assert loaded == answers
        same(loaded.table, answers.table)
        for one, other in zip(loaded, answers, strict=True):
            check_read_again(one, other)
        assert bf.check(loaded, model).passed
    check_shown(answers, tmp_path)


def check_read_again(read: bf.Explanation, answer: bf.Explanation) -> None:
    """Assert that what was read is what was written."""
    assert read == answer
    assert read.changes == answer.changes
    assert read.space == answer.space
    same(read.factual, answer.factual)
    same(read.point, answer.point)
    assert read.to_json() == answer.to_json()


def check_shown(answers: bf.Explanations, folder: Path) -> None:
    """Assert that every view shows the value that the odd column gets."""
    value = answers[0].columns()[2].text[1]
    assert set(value.split()) <= set(repr(answers[0]).split()), "long values are wrapped"
    assert value in answers[0].to_text("technical")
    assert escape(value) in answers[0].to_html()
    assert escape(value) in answers.to_html()
    after = answers[0].columns()[2].after
    assert str(after) in [line[4] for line in csv.reader(io.StringIO(answers.to_csv(form="long")))]
    answers.to_excel(folder / "long.xlsx", form="long")
    sheet = openpyxl.load_workbook(folder / "long.xlsx").active
    assert str(after) in [cell.value for cell in sheet["E"]]


@pytest.mark.parametrize("kind", REFUSED_TABLES)
def test_a_table_that_is_not_taken_is_refused_at_once(kind) -> None:
    """Not only when the answer, which may have taken an hour, is to be saved."""
    with pytest.raises(bf.errors.InputTypeError, match="must"):
        bf.Explainer(bf.black_box(lambda table: np.zeros(len(table))), REFUSED_TABLES[kind]())


def test_declared_levels_are_refused_if_they_could_not_be_saved() -> None:
    with pytest.raises(bf.errors.InputTypeError, match="complex"):
        bf.Explainer(
            bf.black_box(lambda table: np.zeros(len(table))),
            pd.DataFrame({"a": ["u", "v"]}),
            space={"a": bf.Categorical(["u", "v", 2j])},
        )


LEVELS: list[Any] = [
    "text", "", "NA", True, 3, 0.1 + 0.2, np.inf, -np.inf, Decimal("1.20"), b"\xff", dt.date(2024, 2, 29), dt.time(8, 30),
    dt.datetime(2024, 2, 29, 1, 2, 3, 4), dt.datetime(2024, 2, 29, tzinfo=dt.UTC), dt.timedelta(-1, 5, 7),
    np.datetime64("2024-02"), np.datetime64(1, "ns"), np.timedelta64(-3, "D"),
    pd.Timestamp(1), pd.Timestamp("2024-07-01", tz="Europe/Berlin"), pd.Timedelta(3, "ns"), pd.Timedelta("-2 days"),
    pd.Period("2024-02"), pd.Period("2024Q1"), pd.Period("2024-01-03", "W-WED"), pd.Period("2024-01-01 10:00", "h"),
    pd.Interval(0, 1), pd.Interval(-np.inf, 2.5, "left"), pd.Interval(pd.Timestamp(0), pd.Timestamp(1), "both"),
    ("a", 1, (dt.date(2024, 1, 1),)),
]  # fmt: skip


@pytest.mark.parametrize("level", LEVELS, ids=repr)
def test_a_level_is_read_again_as_what_it_is(level) -> None:
    assert levels.is_level(level)
    text = json.dumps(levels.written(level), allow_nan=False)
    again = levels.read(json.loads(text))
    assert type(again) is type(level)
    assert again == level
    assert hash(again) == hash(level)
    assert from_spec(json.loads(json.dumps(to_spec(level)))) == level


@pytest.mark.parametrize("odd", [1j, range(2), frozenset(), pd.NaT, Decimal("nan"), (1, 2j), object])
def test_what_is_no_level(odd) -> None:
    assert not levels.is_level(odd)
    assert to_spec(odd) == {"described": repr(odd)} or isinstance(odd, tuple)


@pytest.mark.shorter(2)
@pytest.mark.parametrize(
    "kind", ["pandas int8", "pandas bool", "pandas categories of months", "polars Enum", "arrow int8"]
)
def test_answers_that_are_not_found_are_rows_without_values(kind) -> None:
    table = ODD_TABLES[kind]()
    answers = bf.Explainer(bf.black_box(Moved(table), classes=["as it was", "all moved"]), table).explain(
        frames.take(table, [0, 1]),
        target=bf.probability("all moved", at_least=0.9),
        constraints=[bf.fixed("odd")],  # as it is in the first row
    )
    assert answers.found.tolist() == [False, False] or answers.found.tolist() == [False, True]
    wide = answers.to_frame()
    assert type(wide) is type(table)
    assert frames.values(wide, "odd", 0)[0] is None
    assert frames.values(wide, "row", 0) == [0, 1]


def test_whole_and_real_numbers_change_together_in_polars() -> None:
    rng = np.random.default_rng(0)
    X = pl.DataFrame({"years": rng.integers(0, 20, 200), "income": rng.normal(0, 3, 200)})
    y = ((X["years"] > 10) & (X["income"] > 0)).to_numpy()
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    answer = bf.Explainer(model, data=X).explain(X.filter((pl.col("years") < 10) & (pl.col("income") < 0))[:1]).only
    assert [type(change.change) for change in answer.changes] == [int, float]
    assert answer.to_frame().schema["change"] == pl.Float64
    assert answer.to_frame()["change"].to_list() == [change.change for change in answer.changes]


@pytest.mark.parametrize("library", [pl.DataFrame, pa.table], ids=["polars", "arrow"])
@pytest.mark.parametrize(
    ("column", "made"),
    [([1, None, 0.5], [1.0, None, 0.5]), (["a", 1, None], ["a", "1", None]), ([True, 2], ["True", "2"])],
)
def test_a_column_of_values_of_several_types(library, column, made) -> None:
    table = frames.like(library({"a": [1]}), {"b": column})
    assert frames.values(table, "b", 0) == made


def test_a_table_of_pyarrow_is_read_as_earlier_versions_wrote_it() -> None:
    columns = [{"name": "a", "type": "Int8"}, {"name": "b", "type": "Categorical"}, {"name": "c", "type": "String"}]
    again = tables.rebuild(
        {"kind": "pyarrow", "columns": columns}, [[1, None], ["u", "v"], ["x", None]], [0, 1], [[], []]
    )
    assert again.to_pydict() == {"a": [1, None], "b": ["u", "v"], "c": ["x", None]}
    assert again.schema.field("a").type == pa.int8()
