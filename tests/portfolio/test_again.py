"""A second pass asks again about what is not proven, keeps the better of two answers, and goes on where it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

import butfor as bf
from butfor.portfolio.again import SecondPass
from butfor.portfolio.manifest import read_manifest
from butfor.portfolio.part import PartTask
from butfor.portfolio.results import pass_in
from tests.portfolio.asked import explainer, rows

QUICK = bf.Swarm(particles=6, iterations=3, polish=False)
"""It proves nothing, and its answers are seldom the best."""


@pytest.fixture
def found(tmp_path: Path) -> Path:
    """The folder of a portfolio in which only rows that need no change are proven."""
    explainer().portfolio(rows(), tmp_path / "out", True, solver=QUICK, rows_per_part=10, n_jobs=1)
    return tmp_path / "out"


def costs(folder: Path) -> np.ndarray[Any, Any]:
    return pl.read_parquet(f"{folder}/parts/*.parquet").sort("row")["cost"].to_numpy()


def passes(folder: Path) -> list[int]:
    return [pass_in(pq.read_table(path)) for path in sorted((folder / "parts").iterdir())]


@pytest.mark.long
def test_what_is_not_proven_is_proven_and_costs_no_more(found: Path) -> None:
    before, best = costs(found), explainer().explain(rows(), True).costs
    assert (before > best + 1e-9).any(), "there is something to better"
    made = explainer().retry(found, time_limit_per_row=10, solver="auto", n_jobs=1)
    assert made.reached.proven == made.reached.rows == 60
    np.testing.assert_array_equal(costs(found), best)
    assert [
        one.row for part in made.parts() for one in part if one.certificate.status is not bf.Status.PROVEN_OPTIMAL
    ] == []
    for row in (3, 17, 59):
        one = made.of(row)
        assert one.cost == best[row]
        assert bf.check(one.only, explainer().model).passed


def test_the_solver_is_the_same_with_its_settings(found: Path) -> None:
    explainer().retry(found, time_limit_per_row=10, n_jobs=1)
    asked = explainer().explain(rows(), True, solver=QUICK)
    np.testing.assert_array_equal(costs(found), asked.costs)
    told = {one.certificate.solver for one in bf.load(found).of(3)}
    assert told == {asked[3].certificate.solver} != {explainer().explain(rows(1), True).only.certificate.solver}


def test_a_solver_with_a_function_must_be_given_again(tmp_path: Path) -> None:
    def telling(*_: Any) -> float:
        return 1.0

    solver = bf.Swarm(particles=6, iterations=3, telling=telling)
    explainer().portfolio(rows(5), tmp_path / "out", True, solver=solver, n_jobs=1)
    with pytest.raises(bf.errors.InputError, match=r"does not hold .*telling.* as data"):
        explainer().retry(tmp_path / "out", time_limit_per_row=1, n_jobs=1)
    explainer().retry(tmp_path / "out", time_limit_per_row=1, solver=solver, n_jobs=1)
    assert explainer().retry(tmp_path / "out", time_limit_per_row=10, solver="auto", n_jobs=1).reached.proven == 5


def test_a_worse_answer_is_not_kept(found: Path) -> None:
    explainer().retry(found, time_limit_per_row=10, solver="auto", n_jobs=1)
    best, stamps = costs(found), [path.stat().st_mtime_ns for path in sorted((found / "parts").iterdir())]
    explainer().retry(found, time_limit_per_row=10, solver=QUICK, n_jobs=1)
    np.testing.assert_array_equal(costs(found), best)
    assert [path.stat().st_mtime_ns for path in sorted((found / "parts").iterdir())] == stamps, "all was proven"


def test_a_pass_goes_on_and_another_one_begins_anew(found: Path) -> None:
    asked = {"time_limit_per_row": 10.0, "solver": bf.Swarm(particles=8, iterations=3, polish=False), "n_jobs": 1}
    explainer().retry(found, **asked, time_limit=1e-9)
    assert passes(found) == [0] * 6
    before = costs(found)
    explainer().retry(found, **asked)
    assert passes(found) == [1] * 6
    assert (costs(found) <= before).all()
    stamps = [path.stat().st_mtime_ns for path in sorted((found / "parts").iterdir())]
    explainer().retry(found, **asked)
    assert [path.stat().st_mtime_ns for path in sorted((found / "parts").iterdir())] == stamps
    explainer().retry(found, **{**asked, "time_limit_per_row": 20.0})
    assert passes(found) == [2] * 6


def test_rows_that_raised_are_asked_again(tmp_path: Path) -> None:
    bad = rows()
    bad.loc[13, "job"] = "pilot"
    explainer().portfolio(bad, tmp_path / "out", True, rows_per_part=20, n_jobs=1)
    made = explainer().retry(tmp_path / "out", time_limit_per_row=10, n_jobs=1)
    assert made.errors()["row"].to_pylist() == [13]
    assert passes(tmp_path / "out") == [1, 0, 0]
    assert made.reached.proven == 59


def second_pass(found: Path, first: Any = "smallest gap") -> SecondPass:
    folder = bf.load(found).folder
    schema = pq.read_schema(folder.part(0)).remove_metadata()
    return SecondPass(explainer(), {}, rows(1), read_manifest(folder), folder, schema, 1, first)


def test_a_part_that_no_process_survives_keeps_its_answers(found: Path) -> None:
    task, before = second_pass(found), pq.read_table(found / "parts" / "part-00000000.parquet")
    assert not task.is_done(0)
    task.write(task.parts[0], task.given_up(task.parts[0], "it was killed"))
    assert pq.read_table(found / "parts" / "part-00000000.parquet").equals(before)
    assert passes(found) == [1, 0, 0, 0, 0, 0]
    assert task.is_done(0)


def test_a_part_that_stands_there_by_now_is_not_done_again(found: Path) -> None:
    stamps = [path.stat().st_mtime_ns for path in sorted((found / "parts").iterdir())]
    task = second_pass(found)
    first = PartTask(explainer(), {}, rows(1), task.manifest, task.folder, task.schema)
    assert first.do(0) == first.done(0)
    assert [path.stat().st_mtime_ns for path in sorted((found / "parts").iterdir())] == stamps


def test_what_was_noted_is_noted_again(tmp_path: Path) -> None:
    asked = {"solver": QUICK, "rows_per_part": 10, "n_jobs": 1, "meta": {"case": "4711"}}
    explainer().portfolio(rows(20), tmp_path / "out", True, **asked)
    explainer().retry(tmp_path / "out", time_limit_per_row=10, solver="auto", n_jobs=1)
    assert {one.meta["case"] for one in bf.load(tmp_path / "out")} == {"4711"}
    assert passes(tmp_path / "out") == [1, 1]


def test_the_order_is_that_of_the_gaps(found: Path) -> None:
    table = pl.read_parquet(found / "parts" / "part-00000004.parquet")
    near = table.with_columns(gap=pl.lit(0.01), status=pl.lit("WITHIN_GAP"))
    far = near.with_columns(gap=pl.lit(0.9))
    for number, one in ((4, near), (1, far)):
        pq.write_table(one.to_arrow(), found / "parts" / f"part-{number:08d}.parquet")
    for first, ends in (("smallest gap", (4, 1)), ("largest gap", (1, 4))):
        order = [number for number in second_pass(found, first).missing() if number in ends]
        assert tuple(order) == ends


WRONG = {
    "first": ({"first": "gap"}, "must be 'smallest gap' or 'largest gap'"),
    "seconds": ({"time_limit_per_row": -1}, "must be a positive number of seconds"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input(case: str, found: Path) -> None:
    given, words = WRONG[case]
    with pytest.raises(bf.errors.InputError, match=words):
        explainer().retry(found, **{"time_limit_per_row": 1, "n_jobs": 1, **given})
    assert not list((found / "passes").iterdir())


def test_an_empty_or_another_folder_is_refused(found: Path, tmp_path: Path) -> None:
    with pytest.raises(bf.errors.InputError, match="is no portfolio"):
        explainer().retry(tmp_path / "nothing", time_limit_per_row=1)
    for path in (found / "parts").iterdir():
        path.unlink()
    with pytest.raises(bf.errors.InputError, match="holds no answers yet"):
        explainer().retry(found, time_limit_per_row=1)
