"""Answers are plain data: they index, slice, compare, pickle, become tables of the kind given, and never change."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.verdict.certificate import Certificate, from_dict

RNG = np.random.default_rng(0)
COLUMNS = {
    "age": RNG.integers(18, 80, 120),
    "rooms": RNG.integers(1, 7, 120),
    "income": RNG.normal(30.0, 9.0, 120).round(2),
}
ARRAY = np.column_stack([np.asarray(column, dtype=float) for column in COLUMNS.values()])
LABELS = np.where(ARRAY @ [0.2, -1.0, 1.0] > 36, "yes", "no")
TABLES: dict[str, Any] = {
    "pandas": pd.DataFrame(COLUMNS, index=[f"row {i}" for i in range(120)]),
    "polars": pl.DataFrame(COLUMNS),
    "pyarrow": pa.table(COLUMNS),
    "array": ARRAY,
}
MODEL = DecisionTreeClassifier(max_depth=5, random_state=0).fit(ARRAY, LABELS)
STUCK = [bf.fixed("x0", "x1"), bf.within("x2", 0.05)]


def some(table: Any, rows: slice) -> Any:
    return table.slice(rows.start, rows.stop - rows.start) if isinstance(table, pa.Table) else table[rows]


def listed(table: Any) -> dict[str, list[Any]]:
    """The columns of any table as lists."""
    if isinstance(table, pa.Table):
        return table.to_pydict()
    return table.to_dict(as_series=False) if isinstance(table, pl.DataFrame) else {n: list(table[n]) for n in table}


def constraints(kind: str) -> list[Any]:
    return STUCK if kind == "array" else [bf.fixed("age", "rooms"), bf.within("income", 0.05)]


@pytest.fixture(scope="module", params=TABLES)
def kind(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def explainer(kind) -> bf.Explainer:
    return bf.Explainer(MODEL, TABLES[kind])


@pytest.fixture(scope="module")
def answer(kind, explainer) -> bf.Explanation:
    return explainer.explain(some(TABLES[kind], slice(3, 4))).only


@pytest.fixture(scope="module")
def answers(kind, explainer) -> bf.Explanations:
    """Answers to ten rows, some of them impossible."""
    return explainer.explain(some(TABLES[kind], slice(0, 10)), constraints=constraints(kind))


@pytest.fixture(scope="module")
def plain() -> bf.Explanations:
    return bf.Explainer(MODEL, ARRAY).explain(ARRAY[:10], constraints=STUCK)


def test_a_point_is_of_the_kind_given_and_says_what_changed(kind, answer) -> None:
    assert type(answer.point) is type(TABLES[kind])
    assert answer.found
    assert answer.changes
    assert all(change.changed and change.before != change.after for change in answer.changes)
    assert len(answer.columns()) == len(answer.space) == 3
    assert MODEL.predict(np.asarray(answer.point)).tolist() == [answer.after]
    assert answer.before != answer.after
    if kind == "pandas":
        assert answer.point.index.tolist() == ["row 3"]


def test_changes_are_a_table_of_the_kind_given(kind, answer) -> None:
    table = answer.to_frame()
    assert isinstance(table, dict if kind == "array" else type(TABLES[kind]))
    columns = listed(table)
    assert list(columns) == ["column", "before", "after", "change"]
    assert columns["column"] == [change.name for change in answer.changes]
    assert columns["change"] == pytest.approx([change.change for change in answer.changes])
    assert [float(value) for value in columns["after"]] == [change.after for change in answer.changes]


def test_an_unfound_answer_has_no_changes(kind, answers) -> None:
    one = answers[int(np.flatnonzero(~answers.found)[0])]
    assert one.point is None
    assert one.after is None
    assert one.changes == ()
    assert one.cost == np.inf
    assert one.certificate.status is bf.Status.PROVEN_INFEASIBLE
    assert len(one.to_frame() if kind != "array" else one.to_frame()["column"]) == 0


def test_answers_compare_pickle_and_round_trip(answer, answers) -> None:
    assert pickle.loads(pickle.dumps(answer)) == answer
    assert pickle.loads(pickle.dumps(answers)) == answers
    assert bf.Explanation.from_json(answer.to_json()) == answer
    assert answer != answers[0]
    assert answer != "an answer"
    assert answers != list(answers)


def test_equality_looks_at_the_answer_and_not_at_the_clock(answer) -> None:
    assert replace(answer, certificate=replace(answer.certificate, seconds=99.0)) == answer
    assert replace(answer, cost=answer.cost + 1) != answer
    assert replace(answer, certificate=replace(answer.certificate, bound=0.0)) != answer
    assert replace(answer, question=replace(answer.question, target="no")) != answer
    with pytest.raises(TypeError, match="unhashable"):
        hash(answer)


def test_answers_never_change(answer, answers) -> None:
    with pytest.raises(FrozenInstanceError):
        answer.cost = 0.0
    for codes in (answer.factual_codes, answer.point_codes, answers.point_codes, answers.costs):
        with pytest.raises(ValueError, match="read-only"):
            codes[0] = 0.0


def test_one_answer_lends_its_attributes(kind, explainer, answer, answers) -> None:
    found = explainer.explain(some(TABLES[kind], slice(3, 4)))
    assert isinstance(found, bf.Explanations)
    assert found == answer
    assert answer.only is answer
    assert repr(found) == repr(answer)
    assert bf.Explanation.from_json(found.to_json()) == answer
    names = ("cost", "changes", "before", "after", "row", "rank")
    assert all(getattr(found, name) == getattr(answer, name) for name in names)
    assert listed_rows(found.point) == listed_rows(answer.point)
    assert found.certificate.why == answer.certificate.why
    for name in (*names, "point", "factual", "certificate"):
        with pytest.raises(bf.errors.InputError, match="these are 10 answers"):
            getattr(answers, name)


def listed_rows(table: Any) -> list[Any]:
    return np.asarray(table).tolist()


def test_the_arrays_given_stay_writable() -> None:
    rows = ARRAY[:2].copy()
    bf.Explainer(MODEL, ARRAY).explain(rows)
    rows[0, 0] = 1.0


def test_answers_index_like_a_sequence(plain) -> None:
    assert len(plain) == 10
    assert [one.row for one in plain] == list(range(10))
    assert plain[-1] == plain[9]
    assert plain[np.int64(2)] == plain[2]
    assert next(reversed(plain)) == plain[9]
    with pytest.raises(IndexError):
        plain[10]
    with pytest.raises(IndexError):
        plain[-11]


@pytest.mark.parametrize(
    ("index", "rows"),
    [
        (slice(2, 5), [2, 3, 4]),
        (slice(None, None, -3), [9, 6, 3, 0]),
        (slice(4, 4), []),
        ([7, 1, 1], [7, 1, 1]),
        (np.array([0, 9]), [0, 9]),
        (np.arange(10) % 2 == 1, [1, 3, 5, 7, 9]),
    ],
    ids=str,
)
def test_slices_masks_and_lists_choose_answers(plain, index, rows) -> None:
    chosen = plain[index]
    assert isinstance(chosen, bf.Explanations)
    assert [one.row for one in chosen] == rows
    assert all(one == plain[row] for one, row in zip(chosen, rows, strict=True))
    assert len(chosen.to_frame()["row"]) == len(rows)


def test_found_answers_are_a_mask_and_their_points_a_table(kind, answers) -> None:
    found = answers[answers.found]
    assert 0 < len(found) < len(answers)
    assert all(one.found for one in found)
    assert Counter(answers.statuses) == {
        bf.Status.PROVEN_OPTIMAL: len(found),
        bf.Status.PROVEN_INFEASIBLE: len(answers) - len(found),
    }
    assert type(answers.points) is type(TABLES[kind])
    assert MODEL.predict(np.asarray(answers.points)).tolist() == [one.after for one in found]


def test_many_answers_are_a_table_of_the_kind_given(kind, answers) -> None:
    table = answers.to_frame()
    assert isinstance(table, dict if kind == "array" else type(TABLES[kind]))
    names = ["x0", "x1", "x2"] if kind == "array" else list(COLUMNS)
    facts = ["row", "rank", "status", "cost", "bound", "changed", "before", "after"]
    facts += ["score", "score_before", "score_after", "score_needed"]
    columns = listed(table)
    assert list(columns) == [*facts, *names]
    for i, one in enumerate(answers):
        assert columns["row"][i] == one.label == answers.labels[i] == (f"row {i}" if kind == "pandas" else i)
        assert columns["score_before"][i] == one.score.before
        assert columns["status"][i] == one.certificate.status.name
        if one.found:
            assert columns["cost"][i] == one.cost
            assert columns["changed"][i] == len(one.changes)
        else:
            assert pd.isna(columns["cost"][i])
            assert pd.isna(columns[names[2]][i])


def test_a_column_called_like_a_fact_keeps_its_place() -> None:
    frame = pd.DataFrame(COLUMNS).rename(columns={"income": "cost"})
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(frame, LABELS)
    table = bf.Explainer(model, frame).explain(frame.head(3)).to_frame()
    assert "cost (column)" in table.columns


def test_several_answers_to_a_row_are_ranked() -> None:
    several = bf.Explainer(MODEL, ARRAY).explain(ARRAY[:3], k=3)
    assert several.rows.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert several.ranks.tolist() == [1, 2, 3] * 3
    for row in range(3):
        costs = several.costs[several.rows == row]
        assert (np.diff(costs) >= 0).all()
    assert several[4].rank == 2
    assert [one.rank for one in several[several.ranks == 2]] == [2, 2, 2]


@pytest.mark.parametrize(
    ("status", "cost", "bound", "gap", "excess"),
    [
        (bf.Status.PROVEN_OPTIMAL, 2.0, 2.0, 0.0, 0.0),
        (bf.Status.PROVEN_OPTIMAL, 0.0, 0.0, 0.0, 0.0),
        (bf.Status.WITHIN_GAP, 2.0, 0.5, 0.75, 3.0),
        (bf.Status.VALID, 2.0, 0.0, 1.0, np.inf),
        (bf.Status.PROVEN_INFEASIBLE, np.inf, np.inf, 0.0, 0.0),
        (bf.Status.NOT_FOUND, np.inf, 1.0, np.inf, np.inf),
    ],
)
def test_a_certificate_is_plain_data_and_knows_its_gap(status, cost, bound, gap, excess) -> None:
    one = Certificate(
        status, cost, bound, "why", "solver", (("a check", True),), ("fixed('a')",), 1.0, 3, "f", {"a": "1"}
    )
    assert (one.gap, one.excess) == (gap, excess)
    again = from_dict(one.to_dict())
    assert again == one
    assert again.gap == gap
    assert str(one) == f"{status.name}: why"


def test_an_answer_lies_no_farther_above_the_optimum_than_is_said() -> None:
    rows = ARRAY[:6]
    best, target = bf.Explainer(MODEL, ARRAY).explain(rows), None
    swarm = bf.Swarm(particles=2, iterations=0, polish=False)
    loose = bf.Explainer(MODEL, ARRAY).explain(rows, target, solver=swarm, compare="exact")
    told = [one.certificate for one in loose if one.certificate.status is bf.Status.WITHIN_GAP]
    optima = [b.cost for a, b in zip(loose, best, strict=True) if a.certificate.status is bf.Status.WITHIN_GAP]
    assert told
    for one, optimum in zip(told, optima, strict=True):
        share = float(one.why.partition("at most ")[2].partition("%")[0]) / 100
        assert one.cost <= optimum * (1 + share + 1e-3)
    assert f"at most {max(one.excess for one in told):.1%} above the optimum" in loose.summary
