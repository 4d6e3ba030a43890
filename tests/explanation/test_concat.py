"""Answers of several calls put together, and answers in a file of Parquet."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from butfor.datasets import loans

X, Y = loans.load()
X = X.head(300)
EXPLAINER = bf.Explainer(loans.pipeline().fit(X, Y[:300]), X)
ASKED = {"target": "approved", "constraints": [bf.fixed("age")]}


def of_arrays() -> tuple[bf.Explainer, np.ndarray]:
    rows = X[["age", "income"]].to_numpy(dtype=float)
    return bf.Explainer(DecisionTreeClassifier(max_depth=3).fit(rows, rows[:, 1] > 30_000), rows), rows


def test_together_they_are_the_answers_of_one_call() -> None:
    parts = [EXPLAINER.explain(X[a:b], **ASKED) for a, b in ((200, 203), (203, 210))]
    whole = EXPLAINER.explain(X[200:210], **ASKED)
    assert bf.concat(parts) == whole
    assert bf.concat([*parts[0], parts[1]]) == whole
    assert bf.concat(parts).labels == list(range(200, 210))
    pd.testing.assert_frame_equal(bf.concat(parts).to_frame(), whole.to_frame())
    assert bf.concat([whole[:0], whole]) == whole
    assert bf.concat([whole[5:], whole[:2]]).rows.tolist() == [5, 6, 7, 8, 9, 0, 1]


def test_several_answers_to_a_row_stay_together() -> None:
    parts = [EXPLAINER.explain(X[a : a + 2], k=2, **ASKED) for a in (204, 206)]
    whole = bf.concat(parts)
    assert whole == EXPLAINER.explain(X[204:208], k=2, **ASKED)
    assert bf.Explanations.from_jsonl(whole.to_jsonl()) == whole


@pytest.mark.parametrize("kind", ["array", "polars", "loaded"])
def test_tables_of_every_kind_are_put_together(kind, tmp_path) -> None:
    if kind == "array":
        explainer, rows = of_arrays()
        parts = [explainer.explain(rows[k : k + 2], True) for k in (0, 2)]
        assert bf.concat(parts) == explainer.explain(rows[:4], True)
        return
    table = pl.from_pandas(X)
    explainer = bf.Explainer(EXPLAINER.model, X) if kind == "loaded" else bf.Explainer(EXPLAINER.model, table)
    parts = [explainer.explain((X if kind == "loaded" else table)[k : k + 2], **ASKED) for k in (204, 206)]
    if kind == "loaded":
        for number, part in enumerate(parts):
            part.to_jsonl(tmp_path / f"{number}.jsonl")
        parts = [bf.load(tmp_path / f"{number}.jsonl") for number in range(2)]
    assert [one.cost for one in bf.concat(parts)] == [one.cost for one in EXPLAINER.explain(X[204:208], **ASKED)]


def test_what_does_not_belong_together_is_refused() -> None:
    one = EXPLAINER.explain(X[200:203], **ASKED)
    with pytest.raises(ValueError, match="different questions"):
        bf.concat([one, EXPLAINER.explain(X[200:203], "approved")])
    other = bf.Explainer(loans.pipeline().set_params(tree__max_depth=2).fit(X, Y[:300]), X)
    with pytest.raises(ValueError, match="different models"):
        bf.concat([one, other.explain(X[200:203], **ASKED)])
    with pytest.raises(TypeError, match="given together"):
        bf.concat([one, EXPLAINER.explain(pl.from_pandas(X)[200:203], **ASKED)])
    with pytest.raises(ValueError, match="At least one is needed"):
        bf.concat([])
    with pytest.raises(ValueError, match=r"bf.concat\(\[a, b\]\)"):
        bf.concat(one)
    with pytest.raises(TypeError, match="something else than answers"):
        bf.concat([one, "answers"])


@pytest.mark.parametrize("kind", ["pandas", "labels", "polars", "array"])
def test_parquet_holds_the_answers_and_what_people_filter_by(kind, tmp_path) -> None:
    explainer, rows = (EXPLAINER, X[200:210]) if kind != "array" else of_arrays()
    if kind == "labels":
        rows = rows.rename(index=lambda k: f"case {k}")
    if kind == "polars":
        explainer, rows = bf.Explainer(EXPLAINER.model, pl.from_pandas(X)), pl.from_pandas(rows)
    answers = explainer.explain(rows[:10], True) if kind == "array" else explainer.explain(rows, k=2, **ASKED)
    answers.to_parquet(tmp_path / "a.parquet")
    assert bf.load(tmp_path / "a.parquet") == answers
    assert bf.load(tmp_path / "a.parquet").labels == answers.labels
    table = pl.read_parquet(tmp_path / "a.parquet")
    assert table["status"].to_list() == [status.name for status in answers.statuses]
    assert table["cost"].fill_null(np.inf).to_list() == answers.costs.tolist()
    if kind in ("pandas", "labels"):
        assert table["id"].to_list() == answers.labels


@pytest.mark.parametrize("chosen", [[4, 0, 3], [2, 1], [5]])
def test_parquet_keeps_any_order_of_answers(tmp_path, chosen) -> None:
    """The lines are in the order of the rows, and what is read is in that of the answers."""
    answers = EXPLAINER.explain(X[200:206], **ASKED, k=2)[chosen]
    answers.to_parquet(tmp_path / "a.parquet")
    assert bf.load(tmp_path / "a.parquet") == answers
    assert pd.read_parquet(tmp_path / "a.parquet")["row"].tolist() == sorted(answers.rows.tolist())


def test_other_parquet_is_refused(tmp_path) -> None:
    X.to_parquet(tmp_path / "rows.parquet")
    (tmp_path / "torn.parquet").write_bytes(b"PAR1")
    for name, said in (("rows", "holds no answers"), ("torn", "no file of Parquet")):
        with pytest.raises(ValueError, match=said):
            bf.load(tmp_path / f"{name}.parquet")
    with pytest.raises(FileNotFoundError):
        bf.load(tmp_path / "none.parquet")
    with pytest.raises(ValueError, match="no answer to write"):
        EXPLAINER.explain(X[200:203], **ASKED)[:0].to_parquet(tmp_path / "none.parquet")
    assert not (tmp_path / "none.parquet").exists()
