"""A portfolio with a log: what stands in the folder is in the log, whichever process did it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import butfor as bf
from butfor.errors import LogError
from tests.portfolio.asked import explainer, rows
from tests.shorter import first

ASKED: dict[str, Any] = {"target": True, "constraints": ["fixed age"], "rows_per_part": 15, "progress": False}


@pytest.mark.parametrize("n_jobs", first(1, [1, 2]))
def test_what_is_in_the_folder_is_in_the_log(tmp_path: Path, n_jobs: int) -> None:
    with bf.Log(tmp_path / "answers.log", who="the night") as log:
        made = explainer().portfolio(rows(60), tmp_path / "out", **ASKED, n_jobs=n_jobs, log=log)
        logged = sorted((entry.answer for entry in log), key=lambda one: one.row)
        assert logged == [*made]
        assert {entry.who for entry in log} == {"the night"}
        assert log.verify(explainer()).passed
        explainer().portfolio(rows(60), tmp_path / "out", **ASKED, n_jobs=n_jobs, log=log)
        assert len(log) == 60, "nothing was done twice"


@pytest.mark.shorter(1)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_cannot_be_logged_does_not_come_into_the_folder(tmp_path: Path, n_jobs: int) -> None:
    with bf.Log(tmp_path / "answers.log") as log:
        (tmp_path / "answers.log").unlink()
        (tmp_path / "answers.log").write_text("no data base" * 1000)
        with pytest.raises(LogError, match="is not a data base"):
            explainer().portfolio(rows(60), tmp_path / "out", **ASKED, n_jobs=n_jobs, log=log)
    assert not [*(tmp_path / "out" / "parts").glob("part-*")]
    assert bf.load(tmp_path / "out").reached.done == 0


def test_a_wrong_log_is_an_error_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="There is no folder"):
        explainer().portfolio(rows(5), tmp_path / "out", **ASKED, n_jobs=1, log=tmp_path / "absent" / "answers.log")
    assert not (tmp_path / "out").exists()


def test_a_second_pass_is_logged(tmp_path: Path) -> None:
    quick = bf.Swarm(particles=6, iterations=3, polish=False)  # it proves nothing
    explainer().portfolio(rows(15), tmp_path / "out", **ASKED, solver=quick, n_jobs=1)
    explainer().retry(
        tmp_path / "out", time_limit_per_row=1, solver="auto", n_jobs=1, progress=False, log=tmp_path / "answers.log"
    )
    with bf.Log(tmp_path / "answers.log") as log:
        assert [entry.answer.certificate.status.settled for entry in log] == [True] * len(log)
        assert len(log) > 0


def test_frames_are_logged_and_no_probe(tmp_path: Path) -> None:
    where = tmp_path / "answers.log"
    [*explainer().map_frames([rows(3)], target=True, log=where)]
    with bf.Log(where) as log:
        assert [entry.answer.row for entry in log] == [0, 1, 2]
    where.write_text("no data base" * 1000)
    with pytest.raises(LogError, match="is not a data base"):
        next(explainer().map_frames([rows(3)], target=True, log=where))
