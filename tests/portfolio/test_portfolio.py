"""A portfolio gives the answers of `explain`, whatever the rows come in, and goes on where it was."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import butfor as bf
from tests.portfolio.asked import explainer, rows, same, table


def test_the_answers_are_those_of_explain(tmp_path: Path) -> None:
    made = explainer().portfolio(rows(), tmp_path / "out", rows_per_part=25, n_jobs=1)
    asked = explainer().explain(rows())
    found = list(made)
    assert [one.row for one in found] == list(range(60))
    for one, other in zip(found, asked, strict=True):
        assert (one.cost, one.certificate.status, one.changes) == (other.cost, other.certificate.status, other.changes)
        assert one.point is None or one.point.equals(other.point)
    assert made.reached.complete
    assert bf.check(found[7], explainer().model).passed


def test_results_have_a_line_per_answer_with_the_types_of_the_rows(tmp_path: Path) -> None:
    made = explainer().portfolio(rows(), tmp_path / "out", rows_per_part=25, n_jobs=1, k=2)
    found = pl.read_parquet(made.results)
    asked = explainer().explain(rows(), k=2)  # of 60 rows at once
    assert found.height == len(asked)
    assert found["rank"].to_list() == asked.ranks.tolist()
    assert found.schema["age"] == pl.Int64
    assert found.schema["job"] == pl.String
    assert found.schema["before"] == pl.Boolean
    np.testing.assert_array_equal(found["cost"].to_numpy(), asked.costs)
    changed = [[change.name for change in one.changes] for one in asked]
    assert found["changed"].to_list() == changed
    both = pd.read_parquet(tmp_path / "out" / "parts")
    assert both["cost"].tolist() == asked.costs.tolist()


FORMS = ["pandas", "polars", "arrow", "lazy", "dataset", "tables", "parquet", "folder", "pattern", "list", "csv"]


@pytest.mark.shorter(2)
@pytest.mark.parametrize("form", FORMS)
def test_rows_may_come_in_any_form(form: str, tmp_path: Path) -> None:
    given = given_as(form, tmp_path)
    made = explainer().portfolio(given, tmp_path / "out", rows_per_part=20, n_jobs=1)
    asked = explainer().explain(rows())
    assert [one.cost for one in made] == asked.costs.tolist()
    again = given_as(form, tmp_path)
    assert explainer().portfolio(again, tmp_path / "out", rows_per_part=20, n_jobs=1).reached.complete


def given_as(form: str, folder: Path) -> Any:
    whole = rows()
    halves = [whole[:40], whole[40:]]
    if form == "pandas":
        return whole
    if form == "polars":
        return pl.from_pandas(whole)
    if form == "lazy":
        return pl.from_pandas(whole).lazy()
    if form == "arrow":
        return pa.Table.from_pandas(whole, preserve_index=False)
    if form == "dataset":
        return ds.dataset(pa.Table.from_pandas(whole, preserve_index=False))
    if form == "tables":
        return (one for one in halves)
    place = folder / "given"
    place.mkdir(exist_ok=True)
    if form == "csv":
        whole.to_csv(place / "rows.csv", index=False)
        return place / "rows.csv"
    for number, one in enumerate(halves):
        one.to_parquet(place / f"{number}.parquet", row_group_size=7)
    if form == "parquet":
        whole.to_parquet(place / "whole.parquet")
        return str(place / "whole.parquet")
    if form == "folder":
        return place
    return f"{place}/*.parquet" if form == "pattern" else [place / "0.parquet", place / "1.parquet"]


def test_arrays_and_regressors(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3)).round(2)
    from sklearn.tree import DecisionTreeRegressor

    model = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, X[:, 0] + X[:, 1])
    own = bf.Explainer(model, X)
    made = own.portfolio(X, tmp_path / "out", bf.value(at_least=1.0), n_jobs=1, rows_per_part=30)
    assert [one.cost for one in made] == own.explain(X, bf.value(at_least=1.0)).costs.tolist()


def test_a_second_call_does_what_is_missing_and_nothing_twice(tmp_path: Path) -> None:
    explainer().portfolio(rows(), tmp_path / "whole", rows_per_part=10, n_jobs=1)
    shutil.copytree(tmp_path / "whole", tmp_path / "part")
    kept = tmp_path / "part" / "parts" / "part-00000001.parquet"
    before = kept.stat().st_mtime_ns
    for number in (0, 2, 5):
        (tmp_path / "part" / "parts" / f"part-{number:08d}.parquet").unlink()
    assert bf.load(tmp_path / "part").reached.done == 30
    made = explainer().portfolio(rows(), tmp_path / "part", rows_per_part=10, n_jobs=1)
    assert made.reached.complete
    assert kept.stat().st_mtime_ns == before
    assert same(tmp_path / "whole", tmp_path / "part")


def test_the_folder_goes_on_without_its_rows_being_given_again(tmp_path: Path) -> None:
    explainer().portfolio(rows(), tmp_path / "out", rows_per_part=10, n_jobs=1)
    (tmp_path / "out" / "parts" / "part-00000003.parquet").unlink()
    assert explainer().portfolio(None, tmp_path / "out", rows_per_part=10, n_jobs=1).reached.complete


def test_a_time_limit_ends_between_parts(tmp_path: Path) -> None:
    made = explainer().portfolio(rows(), tmp_path / "out", rows_per_part=5, n_jobs=1, time_limit=1e-9)
    assert made.reached.done == 0
    assert explainer().portfolio(rows(), tmp_path / "out", rows_per_part=5, n_jobs=1).reached.complete


def test_what_a_killed_process_left_is_swept_away(tmp_path: Path) -> None:
    explainer().portfolio(rows(), tmp_path / "out", n_jobs=1)
    left, young = (tmp_path / "out" / "parts" / f".part-0.{name}" for name in ("left", "young"))
    for path in (left, young):
        path.write_bytes(b"half")
    os.utime(left, (0, 0))
    assert len(pd.read_parquet(tmp_path / "out" / "parts")) == 60, "readers see nothing of it"
    explainer().portfolio(rows(), tmp_path / "out", n_jobs=1)
    assert not left.exists()
    assert young.exists()


@pytest.mark.shorter(1)
@pytest.mark.parametrize("harm", ["cut", "emptied"])
def test_a_part_that_was_damaged_is_made_again(harm: str, tmp_path: Path) -> None:
    explainer().portfolio(rows(), tmp_path / "whole", rows_per_part=10, n_jobs=1)
    made = explainer().portfolio(rows(), tmp_path / "out", rows_per_part=10, n_jobs=1)
    path = tmp_path / "out" / "parts" / "part-00000002.parquet"
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] if harm == "cut" else b"")
    with pytest.raises(bf.errors.InputError, match="damaged"):
        list(made)
    explainer().portfolio(rows(), tmp_path / "out", rows_per_part=10, n_jobs=1)
    assert same(tmp_path / "whole", tmp_path / "out")


def test_a_record_that_was_changed_by_hand_is_told(tmp_path: Path) -> None:
    made = explainer().portfolio(rows(), tmp_path / "out", n_jobs=1)
    path = tmp_path / "out" / "parts" / "part-00000000.parquet"
    found = pq.read_table(path)
    records = [text.replace('"rank":1', '"rank":2', 1) for text in found["record"].to_pylist()]
    records[5] = json.dumps({**json.loads(records[5]), "cost": 0.001}, separators=(",", ":"))
    pq.write_table(found.set_column(found.column_names.index("record"), "record", pa.array(records)), path)
    with pytest.raises(bf.errors.InputError, match="changed since it was written"):
        list(made)


def test_a_row_that_raises_is_a_row_with_its_error(tmp_path: Path) -> None:
    bad = rows()
    bad.loc[13, "job"] = "pilot"
    bad.loc[37, "income"] = np.inf
    made = explainer().portfolio(bad, tmp_path / "out", rows_per_part=20, n_jobs=1)
    assert made.reached.raised == 2
    errors = made.errors()
    assert errors["row"].to_pylist() == [13, 37]
    assert "'pilot', which was not seen before" in errors["error"][0].as_py()
    good = explainer().explain(rows())
    found = pl.read_parquet(made.results)
    costs = [cost for row, cost in enumerate(good.costs.tolist()) if row not in (13, 37)]
    assert found.filter(pl.col("status") != "ERROR")["cost"].to_list() == costs
    with pytest.raises(bf.errors.InputError, match="row 13 raised an error"):
        made.of(13)


def test_ids_name_the_rows(tmp_path: Path) -> None:
    named = rows().assign(id=[f"case {n}" for n in range(60)])
    made = explainer().portfolio(named, tmp_path / "out", id_column="id", rows_per_part=20, n_jobs=1)
    one = made.of("case 42")
    assert one.cost == explainer().explain(rows().iloc[[42]]).cost
    assert one.labels == ["case 42"]
    assert pl.read_parquet(made.results)["id"].to_list() == named["id"].tolist()
    with pytest.raises(bf.errors.InputError, match="no answer here"):
        made.of("case 99")


@pytest.mark.shorter(1)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_condition_chooses_rows_which_keep_their_numbers_and_ids(n_jobs: int, tmp_path: Path) -> None:
    given = rows().assign(case=[f"c{k}" for k in range(60)])
    chosen = given[(given["job"] == "nurse") & (given["age"] > 30)]
    assert 5 < len(chosen) < 25
    made = explainer().portfolio(
        given, tmp_path / "out", rows_per_part=4, id_column="case", where="job == 'nurse' and age > 30", n_jobs=n_jobs
    )
    found = pl.read_parquet(made.results)
    assert (found["row"].to_list(), found["id"].to_list()) == (chosen.index.tolist(), chosen["case"].tolist())
    assert found["cost"].to_list() == explainer().explain(chosen.drop(columns="case")).costs.tolist()
    reached = made.reached  # some parts have no such row
    assert reached.complete
    assert (sum(reached.statuses.values()), reached.left_out) == (len(chosen), 60 - len(chosen))
    assert f"{60 - len(chosen)}  left out, as was asked" in repr(reached)
    with pytest.raises(bf.errors.InputError, match="no answer here"):
        made.of("c1" if "c1" not in set(chosen["case"]) else "c0")


@pytest.mark.shorter(1)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_only_rows_that_do_not_meet_the_target_are_asked_about(n_jobs: int, tmp_path: Path) -> None:
    bad = rows()
    bad.loc[13, "job"] = "pilot"
    fine = rows().drop(index=13)
    needy = fine.index[explainer().unmet(fine, True)].tolist()
    assert needy == fine.index[~explainer().model.predict(fine)].tolist()
    assert 5 < len(needy) < 55

    def asked(**more: Any) -> Any:
        return explainer().portfolio(bad, tmp_path / "out", True, rows_per_part=4, n_jobs=n_jobs, **more)

    made = asked(unmet=True)
    found = pl.read_parquet(made.results)
    assert found.filter(pl.col("status") != "ERROR")["row"].to_list() == needy
    assert found.filter(pl.col("status") == "ERROR")["row"].to_list() == [13]
    assert (
        found.filter(pl.col("row") != 13)["cost"].to_list()
        == explainer().explain(rows().loc[needy], True).costs.tolist()
    )
    assert made.reached.complete
    assert made.reached.left_out == 60 - len(needy) - 1
    with pytest.raises(bf.errors.InputError, match="another unmet"):
        asked()


@pytest.mark.long
def test_a_second_pass_takes_the_rows_that_a_condition_chose(tmp_path: Path) -> None:
    def asked(where: str | None = "age > 50", **more: Any) -> Any:
        return explainer().portfolio(
            rows(),
            tmp_path / "out",
            True,
            solver=bf.Swarm(particles=5, iterations=5),
            rows_per_part=10,
            where=where,
            unmet=True,
            n_jobs=1,
            **more,
        )

    first = asked(safety=0.1)
    kept = rows()[(rows()["age"] > 50) & (explainer().model.predict_proba(rows())[:, 1] < 0.6)].index.tolist()
    assert [one.row for one in first] == kept
    again = explainer().retry(tmp_path / "out", time_limit_per_row=5.0, solver="auto", n_jobs=1)
    assert [one.row for one in again] == kept
    assert again.reached.proven == len(kept) > first.reached.proven - 1
    assert {one.question.target for one in again} == {"True with probability at least 0.6"}
    for where in ("age > 51", None):
        with pytest.raises(bf.errors.InputError, match="another where"):
            asked(where, safety=0.1)


@pytest.mark.parametrize(
    ("where", "told"),
    [("wage > 3", "wage"), ("age >", "no condition"), ("age > 'x'", "not of one kind"), ("age + 1", "comparison")],
)
def test_a_wrong_condition_is_an_error_before_any_work(where: str, told: str, tmp_path: Path) -> None:
    with pytest.raises((bf.errors.InputError, bf.errors.UnknownColumnError), match=told):
        explainer().portfolio(rows(), tmp_path / "out", where=where, n_jobs=1)
    assert not (tmp_path / "out").exists()


def test_impossible_rows_say_what_stands_in_the_way(tmp_path: Path) -> None:
    made = explainer().portfolio(rows(), tmp_path / "out", constraints=["fixed age, income, job, debt"], n_jobs=1)
    found = pl.read_parquet(made.results)
    assert set(found["status"].to_list()) == {"PROVEN_INFEASIBLE"}
    assert found["cost"].is_null().all()
    assert len(found["conflict"][0]) > 0


@pytest.mark.long
def test_groups_and_checks_read_a_portfolio_part_by_part(tmp_path: Path) -> None:
    bad = rows()
    bad.loc[13, "job"] = "pilot"
    made = explainer().portfolio(bad, tmp_path / "out", rows_per_part=20, n_jobs=1)
    asked = explainer().explain(rows().drop(index=13))
    for counted in (bf.groups.statuses, bf.groups.changes, bf.groups.costs):
        pd.testing.assert_frame_equal(counted(made, "job"), counted(asked, "job"))
    every = bf.check(made, explainer().model)
    assert every.passed
    assert len(every.results) == len(made) == 59
    some = bf.check(made, explainer().model, sample=10)
    assert some.passed
    assert len(some.results) == 10
    assert "a sample of 59" in repr(some)


def test_a_report_sums_up_all_rows_and_lists_the_first_part(tmp_path: Path) -> None:
    made = explainer().portfolio(rows(), tmp_path / "out", rows_per_part=20, n_jobs=1)
    made.report(tmp_path / "page.html", by="job")
    explainer().explain(rows()).report(tmp_path / "all.html", by="job")
    ours, all_ = ((tmp_path / name).read_text() for name in ("page.html", "all.html"))
    assert "The first 20 of 60 rows are listed" in ours
    start, end = "<h2>Summary</h2>", "<h2>Rows</h2>"
    assert ours[ours.index(start) : ours.index(end)] == all_[all_.index(start) : all_.index(end)]


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_merged_into_one_file(ending: str, tmp_path: Path) -> None:
    made = explainer().portfolio(rows(), tmp_path / "out", rows_per_part=7, n_jobs=1)
    made.merge(tmp_path / f"all.{ending}")
    found = pl.read_parquet(tmp_path / "all.parquet") if ending == "parquet" else pl.read_csv(tmp_path / "all.csv")
    assert found["row"].to_list() == list(range(60))
    assert found["cost"].to_list() == pytest.approx(explainer().explain(rows()).costs.tolist())


def test_results_of_tables_for_engines_that_hold_the_rows() -> None:
    tables = [pl.from_pandas(rows()[:30]), pl.from_pandas(rows()[30:])]
    found = list(explainer().map_frames(tables))
    assert all(isinstance(one, pl.DataFrame) for one in found)
    assert pl.concat(found)["cost"].to_list() == explainer().explain(rows()).costs.tolist()


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "rows": ({"rows": rows(59)}, "another rows: 60 rows in 1 files, and here are 59"),
    "values": ({"rows": rows().assign(age=30)}, "another rows: as many rows, but others"),
    "target": ({"target": True}, "another question: target is"),
    "constraints": ({"constraints": ["fixed age"]}, "another question: constraints is"),
    "cost": ({"cost": "L2"}, "another question: cost is"),
    "k": ({"k": 2}, "another options: k is 1, and here it is 2"),
    "parts": ({"rows_per_part": 9}, "another rows_per_part: 20, and here is 9"),
    "id": ({"id_column": "age"}, "occurs more than once"),
}


@pytest.mark.shorter(1)
@pytest.mark.parametrize("what", WRONG)
def test_a_folder_of_something_else_is_refused(what: str, tmp_path: Path) -> None:
    asked = {"rows": rows(), "rows_per_part": 20, "n_jobs": 1}
    made = explainer().portfolio(out=tmp_path / "out", **asked)
    before = list(made)
    other, words = WRONG[what]
    with pytest.raises(bf.errors.InputError, match=words):
        explainer().portfolio(out=tmp_path / "out", **{**asked, **other})
    assert list(bf.load(tmp_path / "out")) == before
    assert explainer().portfolio(out=tmp_path / "out", **asked).reached.complete


def test_a_folder_of_another_model_is_refused(tmp_path: Path) -> None:
    X, y = table()
    numbers = X[["age", "income", "debt"]]
    for depth, words in ((2, ""), (3, "another model")):
        own = bf.Explainer(DecisionTreeClassifier(max_depth=depth, random_state=0).fit(numbers, y), numbers)
        if words:
            with pytest.raises(bf.errors.InputError, match=words):
                own.portfolio(numbers, tmp_path / "out", n_jobs=1)
        else:
            own.portfolio(numbers, tmp_path / "out", n_jobs=1)


def wrong_rows(tmp_path: Path) -> dict[str, tuple[dict[str, Any], str]]:
    (tmp_path / "a file").write_text("text")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("text")
    (tmp_path / "none").mkdir()
    (tmp_path / "cut.parquet").write_bytes(b"PAR1")
    rows(5).to_parquet(tmp_path / "1.parquet")
    rows(5).assign(age=1.5).to_parquet(tmp_path / "2.parquet")
    named = rows().assign(id=[*range(59), 3])
    lost = rows().assign(id=[*range(59), None])
    return {
        "no rows": ({"rows": rows(0)}, "no row was given"),
        "no column": ({"rows": rows().drop(columns="debt")}, "debt"),
        "no tables": ({"rows": iter(())}, "no row was given"),
        "no such file": ({"rows": tmp_path / "nothing.parquet"}, "No such file"),
        "no table": ({"rows": tmp_path / "cut.parquet"}, "no file of Parquet"),
        "ending": ({"rows": tmp_path / "a file"}, "must all end in"),
        "empty folder": ({"rows": tmp_path / "none"}, "No file in it ends in"),
        "pattern": ({"rows": f"{tmp_path}/*.nothing"}, "No file has such a name"),
        "schemas": ({"rows": [tmp_path / "1.parquet", tmp_path / "2.parquet"]}, "'age' is int64 in .* and double in"),
        "tables differ": (
            {"rows": iter([rows(3), rows(3).drop(columns="age")])},
            "table 2 of the rows has the columns",
        ),
        "ids twice": ({"rows": named, "id_column": "id"}, "the id 3 occurs more than once"),
        "ids missing": ({"rows": lost, "id_column": "id"}, "1 rows have no value in the id column"),
        "id unknown": ({"id_column": "agee"}, "Did you mean 'age'"),
        "a file": ({"out": tmp_path / "a file"}, "is a file"),
        "full": ({"out": tmp_path / "full"}, "holds other files, such as mine.txt"),
        "parts": ({"rows_per_part": 0}, "rows_per_part=0 was given"),
        "processes": ({"n_jobs": 0}, "n_jobs=0 was given"),
        "target": ({"target": "rich"}, "rich"),
        "two engines": ({"n_jobs": 2, "client": object()}, "client and n_jobs were given"),
    }


WAYS = [
    "no rows", "no column", "no tables", "no such file", "no table", "ending", "empty folder", "pattern", "schemas",
    "tables differ", "ids twice", "ids missing", "id unknown", "a file", "full", "parts", "processes", "target", "two engines",
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_wrong_input_is_an_error_before_any_work(way: str, tmp_path: Path) -> None:
    listed = wrong_rows(tmp_path)
    assert list(listed) == WAYS
    given, words = listed[way]
    before = sorted(path.name for path in tmp_path.iterdir())
    with pytest.raises((bf.errors.ButforError, OSError), match=words):
        explainer().portfolio(**{"rows": rows(), "out": tmp_path / "out", "n_jobs": None, **given})
    assert sorted(path.name for path in tmp_path.iterdir()) == before  # nothing is left behind


UNHELD = {
    "mixed": pd.Series(["a", 1, 2.5, "a"] * 10, dtype=object),
    "intervals": pd.Series(pd.cut(np.arange(40.0), 4)),
    "Arrow's own": pd.Series(pd.arrays.ArrowExtensionArray(pa.array(["a", "b"] * 20).dictionary_encode())),
}


@pytest.mark.parametrize("kind", UNHELD)
def test_what_parquet_cannot_hold_is_said_in_words(kind: str, tmp_path: Path) -> None:
    """It is an error of a portfolio and of `to_parquet`; `explain` answers."""
    mixed = pd.DataFrame({"c": UNHELD[kind], "x": np.arange(40.0)})
    by_number = bf.black_box(lambda held: held["x"].to_numpy() > 20, classes=[False, True])
    own = bf.Explainer(by_number, mixed)
    with pytest.raises(TypeError, match="a file of Parquet cannot hold these rows"):
        own.portfolio(mixed, tmp_path / "out", n_jobs=1)
    assert not list(tmp_path.iterdir())
    answers = own.explain(mixed.iloc[:2], solver="swarm")
    assert answers.found.all()
    if kind != "Arrow's own":  # that can be written, and only pandas cannot read it again
        with pytest.raises(TypeError, match="a file of Parquet cannot hold these rows"):
            answers.to_parquet(tmp_path / "answers.parquet")


def test_a_folder_that_is_none_is_no_portfolio(tmp_path: Path) -> None:
    with pytest.raises(bf.errors.InputError, match="is no portfolio"):
        bf.load(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(bf.errors.InputError, match="is not JSON"):
        bf.load(tmp_path)
    (tmp_path / "manifest.json").write_text('{"schema": "butfor.portfolio/9"}')
    with pytest.raises(bf.errors.InputError, match=r"portfolio/9"):
        bf.load(tmp_path)


def test_a_linear_model_in_float32(tmp_path: Path) -> None:
    X, y = table()
    numbers = X[["age", "income", "debt"]].astype("float32")
    own = bf.Explainer(LogisticRegression(max_iter=1000).fit(numbers, y), numbers)
    made = own.portfolio(numbers[:50], tmp_path / "out", n_jobs=1, rows_per_part=25)
    for one, other in zip(made, own.explain(numbers[:50]), strict=True):
        assert one.cost == other.cost
        assert one.point is None or one.point.reset_index(drop=True).equals(other.point.reset_index(drop=True))


def test_parts_of_most_rows_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from butfor.portfolio.part import PartTask

    for name, count in (("a", 7), ("b", 3), ("c", 10)):
        rows(count).to_parquet(tmp_path / f"{name}.parquet")
    order, do = list[int](), PartTask.do
    monkeypatch.setattr(PartTask, "do", lambda task, number: (order.append(number), do(task, number))[1])
    explainer().portfolio(tmp_path / "*.parquet", tmp_path / "out", rows_per_part=5, n_jobs=1)
    assert order == [0, 3, 4, 2, 1]
