"""`butfor portfolio`: what it prints, what it writes, and how it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import pandas as pd
import pytest
from typer.testing import CliRunner

from butfor.cli import app
from butfor.cli.portfolios import SOME_RAISED, UNFINISHED
from butfor.datasets import loans

X, Y = loans.load()
ASKED = ["--training", "loans.parquet", "--target", "approved", "-c", "fixed sex, age", "--n-jobs", "1"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("portfolio")
    joblib.dump(loans.pipeline().fit(X, Y), folder / "model.joblib")
    X.to_parquet(folder / "loans.parquet")
    X.head(60).to_parquet(folder / "rows.parquet")
    X.head(60).to_csv(folder / "rows.csv", index=False)
    bad = X.head(60).copy()
    bad["job"] = bad["job"].astype(object).where(bad.index != 7, "pilot")
    bad.to_parquet(folder / "bad.parquet")
    return folder


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> Any:
    monkeypatch.chdir(folder)
    return CliRunner().invoke(app, ["portfolio", *words])


def test_rows_go_into_a_folder_and_into_one_file(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(made, monkeypatch, "model.joblib", "rows.parquet", "--out", "out", *ASKED, "--progress", "log")
    assert done.exit_code == 0, done.output
    assert "60 of 60 rows are done" in done.stdout
    assert "butfor: 60 of 60 rows, " in done.stderr
    assert "rows/s, 100.0% proven, 0:00:00 left" in done.stderr
    assert run(made, monkeypatch, "status", "out").stdout == done.stdout
    again = run(
        made, monkeypatch, "retry", "model.joblib", "out", "--training", "loans.parquet", "--time-limit-per-row", "1"
    )
    assert again.stdout == done.stdout
    assert run(made, monkeypatch, "merge", "out", "all.csv").exit_code == 0
    assert len(pd.read_csv(made / "all.csv")) == 60


def test_csv_gives_the_same_answers(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("csv", "parquet"):
        done = run(made, monkeypatch, "model.joblib", f"rows.{name}", "--out", f"of-{name}", *ASKED)
        assert done.exit_code == 0, done.output
    found = [pd.read_parquet(made / f"of-{name}" / "parts")["cost"].tolist() for name in ("csv", "parquet")]
    assert found[0] == found[1]


def test_exit_codes(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = run(made, monkeypatch, "model.joblib", "bad.parquet", "--out", "bad", *ASKED)
    assert some.exit_code == SOME_RAISED
    assert "1  raised an error" in some.stdout
    ended = run(made, monkeypatch, "model.joblib", "rows.parquet", "--out", "ended", *ASKED, "--time-limit", "1e-9")
    assert ended.exit_code == UNFINISHED
    assert "The same call goes on with it." in ended.stderr


WRONG = {
    "another question": (
        ["model.joblib", "rows.parquet", "--out", "asked", *ASKED, "-k", "2"],
        "another options: k is 1",
    ),
    "no rows": (["model.joblib", "nothing.parquet", "--out", "new", *ASKED], "No such file"),
    "no portfolio": (["status", "rows.csv"], "is a file"),
    "progress": (["model.joblib", "rows.parquet", "--out", "new", *ASKED, "--progress", "logs"], "Did you mean 'log'"),
    "ending": (["merge", "asked", "all.txt"], "must end in .parquet or .csv"),
    "first": (
        ["retry", "model.joblib", "asked", "--training", "loans.parquet", "--time-limit-per-row", "0"],
        "positive",
    ),
}


@pytest.mark.shorter(2)
@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_question_is_told_so(case: str, made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(made, monkeypatch, "model.joblib", "rows.parquet", "--out", "asked", *ASKED)
    words, told = WRONG[case]
    done = run(made, monkeypatch, *words)
    assert done.exit_code == 2, done.output
    assert told in done.stderr
    assert not (made / "new").exists()
