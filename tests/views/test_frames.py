"""Answers as tables: wide and long, with the user's own labels, as CSV and Excel, and read again from a file."""

from __future__ import annotations

import csv
import io
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from tests.applicant import EXPLAINER, POSSIBLE, ROW, STUCK, X

ROWS = X.iloc[[206, 12, 300, 5]].set_axis(["anna", "=2+3", "carl", "dora"])
ANSWERS = EXPLAINER.explain(ROWS, target="approved", constraints=POSSIBLE)
RNG = np.random.default_rng(0)


def test_a_long_frame_has_a_row_per_change() -> None:
    frame = ANSWERS.to_frame(form="long")
    assert isinstance(frame, pd.DataFrame)
    expected = [(one.label, c.name, str(c.before), str(c.after), c.change) for one in ANSWERS for c in one.changes]
    found = [
        (row, column, before, after, change if change == change else None)
        for row, column, before, after, change in frame[["row", "column", "before", "after", "change"]].itertuples(
            index=False
        )
    ]
    assert found == expected
    by_row = frame.groupby("row")
    for one in ANSWERS:
        if one.changes:
            own = by_row.get_group(one.label)
            assert own["cost"].sum() == pytest.approx(one.cost)
            assert own["share"].sum() == pytest.approx(1.0)
            assert set(own["score_after"]) == {one.score.after}


def test_rows_are_called_as_the_user_calls_them() -> None:
    assert ANSWERS.labels == ["anna", "=2+3", "carl", "dora"]
    assert ANSWERS.to_frame()["row"].tolist() == ANSWERS.labels
    assert ANSWERS[2].label == "carl"
    assert ANSWERS[1:3].labels == ["=2+3", "carl"]
    for view in (repr(ANSWERS), ANSWERS.to_html(), ANSWERS._repr_html_(), repr(bf.check(ANSWERS, EXPLAINER.model))):
        assert "anna" in view
    assert "labelled" not in ANSWERS.to_html()


def test_polars_and_arrays() -> None:
    table = {f"c{j}": RNG.normal(size=60) for j in range(3)}
    labels = np.where(table["c0"] > 0, "yes", "no")
    frame = pl.DataFrame(table)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(frame.to_numpy(), labels)
    answers = bf.Explainer(model, frame).explain(frame[:5])
    assert isinstance(answers.to_frame("long"), pl.DataFrame)
    assert answers.to_frame("long")["row"].to_list() == [0, 1, 2, 3, 4]
    plain = bf.Explainer(model, frame.to_numpy()).explain(frame.to_numpy()[:5])
    assert plain.to_frame("long")["row"] == [0, 1, 2, 3, 4]


def test_no_answer_found_gives_an_empty_long_frame() -> None:
    none = EXPLAINER.explain(ROW, target="approved", constraints=STUCK)
    assert len(none.to_frame("long")) == 0
    assert none.to_frame()["status"].tolist() == ["PROVEN_INFEASIBLE"]
    assert none.to_csv(form="long").count("\n") == 1


@pytest.mark.parametrize("cost", [bf.LInf(), bf.Table({"income": lambda before, after: abs(after - before)})])
def test_costs_that_do_not_add_up_or_are_not_known(cost) -> None:
    answers = EXPLAINER.explain(ROW, target="approved", cost=cost)
    frame = answers.to_frame("long")
    if isinstance(cost, bf.LInf):
        assert frame["cost"].sum() == pytest.approx(answers.cost)
    else:
        assert frame["cost"].isna().all()


@pytest.mark.parametrize("form", ["wide", "long"])
def test_csv(form, tmp_path) -> None:
    text = ANSWERS.to_csv(form=form)
    lines = list(csv.reader(io.StringIO(text)))
    frame = ANSWERS.to_frame(form)
    assert lines[0] == list(frame.columns)
    assert len(lines) == len(frame) + 1
    assert [line[0] for line in lines[1:]] == frame["row"].tolist()
    assert ANSWERS.to_csv(tmp_path / "answers.csv", form=form) is None
    assert (tmp_path / "answers.csv").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("form", ["wide", "long"])
def test_excel_holds_no_formula(form, tmp_path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    ANSWERS.to_excel(tmp_path / "answers.xlsx", form=form)
    sheet = openpyxl.load_workbook(tmp_path / "answers.xlsx").active
    frame = ANSWERS.to_frame(form)
    assert [cell.value for cell in sheet[1]] == list(frame.columns)
    assert sheet.max_row == len(frame) + 1
    assert {cell.value for cell in sheet["A"][1:]} == set(frame["row"])
    assert not [cell for line in sheet.iter_rows() for cell in line if cell.data_type == "f"]
    assert [path.name for path in tmp_path.iterdir()] == ["answers.xlsx"]


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(bf.errors.InputError, match="'wide'"):
        ANSWERS.to_frame("broad")


def test_answers_are_loaded_whichever_way_they_were_written(tmp_path) -> None:
    (tmp_path / "one.json").write_text(ANSWERS[0].to_json(), encoding="utf-8")
    (tmp_path / "all.json").write_text(ANSWERS.to_json(), encoding="utf-8")
    ANSWERS.to_jsonl(tmp_path / "all.jsonl")
    assert bf.load(tmp_path / "one.json") == ANSWERS[0]
    assert isinstance(bf.load(tmp_path / "one.json"), bf.Explanation)
    assert bf.load(tmp_path / "all.json") == ANSWERS
    assert bf.load(str(tmp_path / "all.jsonl")) == ANSWERS
    with pytest.raises(bf.errors.InputError, match="is no portfolio"):
        bf.load(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(bf.errors.InputError, match="not text"):
        bf.load(tmp_path / "binary")
    with pytest.raises(FileNotFoundError):
        bf.load(tmp_path / "nothing.json")


@pytest.mark.slow
def test_ten_thousand_answers_become_a_long_frame_in_a_second() -> None:
    rows = RNG.normal(size=(10_000, 8))
    labels = np.where(rows @ RNG.normal(size=8) > 0, "yes", "no")
    table = pd.DataFrame(rows, columns=[f"c{j}" for j in range(8)])
    answers = bf.Explainer(DecisionTreeClassifier(max_depth=6, random_state=0).fit(table, labels), table).explain(table)
    start = time.perf_counter()
    frame = answers.to_frame("long")
    assert time.perf_counter() - start < 1.0
    assert frame["row"].nunique() == 10_000
