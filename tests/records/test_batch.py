"""A batch of answers as JSON lines: what is written is read back the same, and what is wrong is told with its line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
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
from sklearn.datasets import load_diabetes
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.explanation.one_answer import as_batch
from butfor.records import whole_file, writing
from butfor.records.schema import SCHEMA, ContradictionError, sealed
from butfor.records.tables import kind_of
from tests.applicant import EXPLAINER, POSSIBLE, STUCK, X
from tests.records.test_json import KINDS
from tests.views.answers import drawn

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reference" / "batches.md"
ANSWERS = EXPLAINER.explain(X.iloc[200:208], target="approved", constraints=POSSIBLE)
TEXT = str(ANSWERS.to_jsonl())
FLOWERS = np.random.default_rng(0).random((60, 3))
KIND = FLOWERS[:, 0] > 0.6


def again(answers: bf.Explanations) -> bf.Explanations:
    """The answers, written and read. All their views must be the same."""
    text = answers.to_jsonl()
    assert text is not None
    read = bf.Explanations.from_jsonl(text)
    assert read == answers
    assert repr(read) == repr(answers)
    assert read.to_html() == answers.to_html()
    assert read.to_json() == answers.to_json()
    assert [repr(one) for one in read] == [repr(one) for one in answers]
    assert [one.question.spec for one in read] == [one.question.spec for one in answers]
    assert read.to_jsonl() == text
    assert read.to_csv() == answers.to_csv()
    assert read.to_csv(form="long") == answers.to_csv(form="long")
    return read


def labelled() -> Any:
    return X.iloc[200:206].set_axis([f"case {i}" for i in range(6)])


def dated() -> Any:
    return X.iloc[200:206].set_axis(pd.date_range("2020-01-01", periods=6))


def with_missing() -> Any:
    rows = X.iloc[200:206].copy()
    rows["job"] = rows["job"].astype(object)
    rows.iloc[0, rows.columns.get_loc("job")] = np.nan
    rows.iloc[1, rows.columns.get_loc("job")] = None
    return rows


def regressed() -> bf.Explanations:
    patients, disease = load_diabetes(return_X_y=True, as_frame=True)
    return bf.Explainer(Ridge().fit(patients, disease), patients).explain(
        patients.head(4), target=bf.relative_change(-0.1)
    )


def flowers(model: Any = None, **question: Any) -> bf.Explanations:
    model = DecisionTreeClassifier(max_depth=3, random_state=0) if model is None else model
    return bf.Explainer(model.fit(FLOWERS, KIND), FLOWERS).explain(FLOWERS[:5], **question)


CASES: dict[str, Callable[[], bf.Explanations]] = {
    "pandas": lambda: ANSWERS,
    "one answer": lambda: ANSWERS[:1],
    "some of many": lambda: ANSWERS[[5, 2]],
    "impossible": lambda: EXPLAINER.explain(X.iloc[200:208], target="approved", constraints=STUCK),
    "several each": lambda: EXPLAINER.explain(X.iloc[200:204], target="approved", constraints=POSSIBLE, k=3),
    "out of time": lambda: EXPLAINER.explain(X.iloc[200:204], target="approved", time_limit=1e-9),
    "probability": lambda: EXPLAINER.explain(X.iloc[200:204], target=bf.probability("approved", at_least=0.8)),
    "labels": lambda: EXPLAINER.explain(labelled(), target="approved"),
    "dates as labels": lambda: EXPLAINER.explain(dated(), target="approved"),
    "polars": lambda: bf.Explainer(EXPLAINER.model, pl.from_pandas(X)).explain(
        pl.from_pandas(X)[200:206], target="approved"
    ),
    "array": flowers,
    "array of float32": lambda: bf.Explainer(
        DecisionTreeClassifier(max_depth=3).fit(FLOWERS.astype("float32"), KIND), FLOWERS.astype("float32")
    ).explain(FLOWERS[:5].astype("float32")),
    "judged": lambda: flowers(
        constraints=[bf.plausible(IsolationForest(n_estimators=5, random_state=0).fit(FLOWERS)), bf.margin(0.01)]
    ),
    "candidates": lambda: flowers(constraints=[bf.candidates(FLOWERS[:40])]),
    "a price that is a function": lambda: flowers(cost=bf.Table({"x0": lambda a, b: abs(b - a)})),
    "searched": lambda: flowers(LogisticRegression(), solver=bf.Swarm(particles=8, iterations=5)),
    "regressor": regressed,
}


@pytest.mark.shorter(2)
@pytest.mark.parametrize("case", CASES)
def test_a_batch_is_read_back_the_same(case) -> None:
    answers = CASES[case]()
    read = again(answers)
    for one, other in zip(read, answers, strict=True):
        assert one.certificate == other.certificate
        assert (one.row, one.rank, one.model, one.created) == (other.row, other.rank, other.model, other.created)
        assert one.sealed is True


def test_missing_values_of_objects_are_told_apart() -> None:
    explainer = bf.Explainer(lambda table: table["income"] > 30_000, X.assign(job=X["job"].astype(object)))
    rows = with_missing()
    space = bf.Space(tuple(replace(one, missing=True) if one.name == "job" else one for one in explainer.space))
    made = explainer.explain(X.iloc[200:202].assign(job=["permanent", "permanent"]), time_limit=1e-9)
    made = replace(made, space=space, table=rows, factual_codes=space.encode(rows))
    found = again(made).table["job"].tolist()
    assert found[0] != found[0]
    assert found[1] is None


@pytest.mark.parametrize("kind", KINDS)
def test_tables_of_every_kind_come_back_as_that_kind(kind) -> None:
    table = KINDS[kind]
    explainer = bf.Explainer(lambda rows: np.zeros(len(rows)), table)
    names = explainer.space.names
    made = explainer.explain(table, target=bf.value(at_least=-1.0))
    read = again(made).table
    assert type(read) is type(table)
    assert kind_of(read, names) == kind_of(table, names)
    if isinstance(table, np.ndarray):
        assert repr(read.tolist()) == repr(table.tolist())
    if isinstance(table, pd.DataFrame):
        pd.testing.assert_frame_equal(read, table)
    elif isinstance(table, pl.DataFrame | pa.Table):
        assert read.equals(table)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_any_answer_is_read_back_the_same(seed) -> None:
    one = drawn(seed)
    read = bf.Explanations.from_jsonl(str(as_batch(one).to_jsonl()))
    assert read.only == one
    assert read.to_json() == one.to_json()


def test_a_file_is_smaller_than_its_records(tmp_path) -> None:
    many = EXPLAINER.explain(X.head(200), target="approved", constraints=POSSIBLE)
    assert many.to_jsonl(tmp_path / "answers.jsonl") is None
    assert bf.Explanations.from_jsonl(str(tmp_path / "answers.jsonl")) == many
    assert (tmp_path / "answers.jsonl").stat().st_size < len(many.to_json()) / 15
    assert os.listdir(tmp_path) == ["answers.jsonl"]


def test_no_answers_are_a_batch_too() -> None:
    assert len(again_empty := bf.Explanations.from_jsonl(str(ANSWERS[:0].to_jsonl()))) == 0
    assert again_empty == ANSWERS[:0]
    assert str(again_empty.points) == str(ANSWERS[:0].points)


def test_from_json_takes_answers_in_every_form() -> None:
    for text in (ANSWERS.to_json(), ANSWERS.to_json(indent=None), TEXT):
        read = bf.Explanations.from_json(text)
        assert read == ANSWERS
        assert read.to_json() == ANSWERS.to_json()
        assert read.to_jsonl() == TEXT
    assert bf.Explanations.from_json(ANSWERS[:1].to_json()) == ANSWERS[:1]


def test_only_the_answers_of_one_call_belong_together() -> None:
    other = EXPLAINER.explain(X.iloc[200:201], target="rejected")
    with pytest.raises(bf.errors.InputError, match="answer 2 has another question than the first"):
        bf.Explanations.from_json(f"[{ANSWERS[0].to_json()}, {other.only.to_json()}]")
    with pytest.raises(bf.errors.InputError, match="no answer"):
        bf.Explanations.from_json("[]")


@pytest.mark.parametrize("text", [ANSWERS.to_json(), TEXT], ids=["list", "batch"])
def test_a_single_answer_is_no_batch(text) -> None:
    with pytest.raises(bf.errors.InputError, match=r"bf\.Explanations\.from_json"):
        bf.Explanation.from_json(text)


def test_a_list_is_written_as_json_would() -> None:
    whole = [json.loads(one.to_json()) for one in ANSWERS[:3]]
    for indent in (None, 0, 2, 3):
        assert ANSWERS[:3].to_json(indent=indent) == json.dumps(whole, ensure_ascii=False, indent=indent)


LINES = TEXT.splitlines(keepends=True)
OTHER = str(EXPLAINER.explain(X.iloc[200:208], target="rejected").to_jsonl()).splitlines(keepends=True)
SPOILT: dict[str, tuple[str, str]] = {
    "last line cut off": (TEXT[:-30], "line 9: it is cut off"),
    "last lines missing": ("".join(LINES[:6]), "has 5 answers, and line 1 says that there are 8"),
    "header cut off": (LINES[0][:-30], "line 1: it is cut off"),
    "header alone": (LINES[0], "has 0 answers, and line 1 says that there are 8"),
    "a line missing": ("".join(LINES[:3] + LINES[4:]), "line 4: it was changed"),
    "a line twice": ("".join([*LINES[:4], LINES[3], *LINES[5:]]), "line 5: it was changed"),
    "lines in another order": ("".join([*LINES[:3], LINES[4], LINES[3], *LINES[5:]]), "line 4: it was changed"),
    "a line of another batch": ("".join([*LINES[:4], OTHER[4], *LINES[5:]]), "line 5: it was changed"),
    "two batches": (TEXT + TEXT, "line 10: it is the header of another batch"),
    "header of another batch": ("".join([OTHER[0], *LINES[1:]]), "line 2: it was changed"),
    "no JSON in a line": ("".join([*LINES[:4], "nonsense\n", *LINES[5:]]), "line 5: the text is not JSON"),
    "NaN": ("".join([*LINES[:4], '{"row": NaN}\n', *LINES[5:]]), "line 5: the text contains NaN"),
    "a list in a line": ("".join([*LINES[:4], "[1]\n", *LINES[5:]]), "line 5: it holds [1]"),
    "a line in a line": ("".join([*LINES[:4], "{}\n", *LINES[5:]]), "line 5: the answer has no row"),
    "a newer schema": (TEXT.replace(SCHEMA, "butfor.explanation/3"), "'butfor.explanation/3' was given"),
    "a record": (ANSWERS[:1].to_json(indent=None), "line 1: the answer has no answers"),
    "no schema": ("{}", "schema None was given"),
    "nothing": ("", "no batch of JSON lines"),
    "no JSON": ("this\nand that", "no batch of JSON lines"),
    "deep": ("{" * 5 + "[" * 100_000, "line 1"),
}


@pytest.mark.parametrize("case", SPOILT)
def test_what_is_no_whole_batch_is_told_with_its_line(case) -> None:
    text, said = SPOILT[case]
    with pytest.raises(bf.errors.InputError) as refusal:
        bf.Explanations.from_jsonl(text)
    assert said in str(refusal.value)


@pytest.mark.parametrize("case", SPOILT)
def test_a_file_that_is_no_whole_batch_is_told_so(case, tmp_path) -> None:
    text, _ = SPOILT[case]
    (tmp_path / "answers.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(bf.errors.InputError):
        bf.Explanations.from_jsonl(tmp_path / "answers.jsonl")


def test_blank_lines_at_the_end_and_other_spacing_do_no_harm() -> None:
    spaced = "\r\n".join(json.dumps(json.loads(line), indent=None, sort_keys=True) for line in LINES)
    assert bf.Explanations.from_jsonl(spaced + "\n\n \n") == ANSWERS


def test_names_of_a_later_version_are_passed_over() -> None:
    header = sealed({**json.loads(LINES[0]), "note": "of my own"})
    lines = [json.dumps(header)]
    for number, text in enumerate(LINES[1:], 2):
        line = {**json.loads(text), "more": [1]}
        lines.append(json.dumps(sealed(line, header=header["hash"], line=number)))
    assert bf.Explanations.from_jsonl("\n".join(lines)) == ANSWERS


@pytest.mark.parametrize("source", [3, None, b"{}", ["{}"]])
def test_a_source_of_another_type_is_refused(source) -> None:
    with pytest.raises(bf.errors.InputTypeError, match="as a path"):
        bf.Explanations.from_jsonl(source)


def test_files_that_cannot_be_read_are_told(tmp_path) -> None:
    with pytest.raises(bf.errors.InputError, match="is a folder"):
        bf.Explanations.from_jsonl(tmp_path)
    with pytest.raises(FileNotFoundError):
        bf.Explanations.from_jsonl(tmp_path / "nowhere.jsonl")
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(bf.errors.InputError, match="UTF-8"):
        bf.Explanations.from_jsonl(tmp_path / "binary.jsonl")
    (tmp_path / "marked.jsonl").write_text(TEXT, encoding="utf-8-sig")
    assert bf.Explanations.from_jsonl(tmp_path / "marked.jsonl") == ANSWERS


def test_paths_that_cannot_be_written_are_told(tmp_path) -> None:
    for path in (tmp_path, "", "/"):
        with pytest.raises(bf.errors.InputError, match="The name of a file is needed"):
            ANSWERS.to_jsonl(path)
    with pytest.raises(bf.errors.InputTypeError, match="as a path"):
        ANSWERS.to_jsonl(3)
    with pytest.raises(FileNotFoundError, match=r"nowhere.*answers\.jsonl"):
        ANSWERS.to_jsonl(tmp_path / "nowhere" / "answers.jsonl")


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), OSError(28, "No space left on device"), MemoryError()])
def test_a_write_that_is_stopped_leaves_the_old_file(stop, tmp_path, monkeypatch) -> None:
    path = tmp_path / "answers.jsonl"
    ANSWERS[:2].to_jsonl(path)
    before = path.read_bytes()

    def stopped(answers: Any) -> Any:
        yield from LINES[:4]
        raise stop

    monkeypatch.setattr(writing, "lines_of", stopped)
    with pytest.raises(type(stop)):
        ANSWERS.to_jsonl(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["answers.jsonl"]


def test_a_file_is_written_line_by_line(tmp_path, monkeypatch) -> None:
    made: list[int] = []

    def counted(path: Any, parts: Any) -> None:
        made.extend(len(part) for part in parts)

    monkeypatch.setattr(writing, "write_whole", counted)
    ANSWERS.to_jsonl(tmp_path / "answers.jsonl")
    assert len(made) == 1 + len(ANSWERS)
    assert whole_file.path_of("a/b.jsonl") == Path("a/b.jsonl")


def test_every_name_of_the_schema_is_documented() -> None:
    page = DOCS.read_text(encoding="utf-8") + DOCS.with_name("json.md").read_text(encoding="utf-8")
    header = json.loads(LINES[0])
    names = {*header, *header["shared"], *header["table"]} | {name for text in LINES[1:] for name in json.loads(text)}
    assert not [name for name in sorted(names) if f"`{name}`" not in page]
    assert SCHEMA in page
    with pytest.raises(ContradictionError):
        bf.Explanations.from_jsonl(TEXT[:-30])
