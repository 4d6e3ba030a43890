"""`butfor log`: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

import butfor as bf
from butfor.cli import app
from butfor.datasets import loans

X, Y = loans.load()
ASKED = ["--target", "approved", "-c", "fixed sex, age", "--row", "206,208,211"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("log")
    joblib.dump(loans.pipeline().fit(X, Y), folder / "model.joblib")
    joblib.dump(loans.pipeline().fit(X.head(300), Y[:300]), folder / "other.joblib")
    X.to_csv(folder / "loans.csv", index=False)
    return folder


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> Any:
    monkeypatch.chdir(folder)
    return CliRunner().invoke(app, words)


@pytest.fixture
def log(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    where = str(tmp_path / "answers.log")
    done = run(made, monkeypatch, "explain", "model.joblib", "loans.csv", *ASKED, "--log", where)
    assert done.exit_code == 0, done.output
    return where


def test_answers_are_logged_as_they_are_counted_in_the_file(
    made: Path, log: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run(made, monkeypatch, "log", "list", log)
    assert done.exit_code == 0
    head, *lines, last = done.stdout.splitlines()
    assert head.split() == ["number", "at", "who", "model", "question", "row", "status", "cost"]
    assert "206" in lines[0]
    assert "PROVEN_OPTIMAL" in lines[0]
    assert last == "3 of 3 entries; times are UTC"
    assert (
        run(made, monkeypatch, "log", "list", log, "--last", "1").stdout.splitlines()[-1].startswith("1 of 3 entries")
    )


def test_an_entry_is_shown_with_its_answer(made: Path, log: str, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(made, monkeypatch, "log", "show", log, "1")
    assert done.exit_code == 0
    assert "number    1\n" in done.stdout
    assert "rejected → approved" in done.stdout
    told = run(made, monkeypatch, "log", "show", log, "1", "--json")
    answer = bf.Explanation.from_json(told.stdout)
    assert answer.row == 206
    absent = run(made, monkeypatch, "log", "show", log, "4")
    assert (absent.exit_code, absent.stderr) == (
        2,
        "butfor: entry 4 was asked for. The log has the entries 1 to 3.\n",
    )


def test_a_log_is_verified(made: Path, log: str, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(made, monkeypatch, "log", "verify", log, "model.joblib")
    assert done.exit_code == 0
    assert done.stdout.startswith("3 entries hold\n3 of 3 answers hold\nhead ")
    head = done.stdout.split()[-1]
    assert run(made, monkeypatch, "log", "verify", log, "--head", head).exit_code == 0
    assert run(made, monkeypatch, "log", "verify", log, "--head", "0" * 64).exit_code == 2
    assert run(made, monkeypatch, "log", "verify", log, "other.joblib").exit_code == 2
    engine = sa.create_engine(f"sqlite:///{log}", poolclass=sa.NullPool)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE butfor_entries SET who = 'me' WHERE number = 2")
    false = run(made, monkeypatch, "log", "verify", log, "model.joblib")
    assert false.exit_code == 1
    assert false.stdout.startswith("FAILED - entry 2 was changed")


def test_a_log_is_exported_and_purged(made: Path, log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("log.parquet", "log.jsonl"):
        assert run(made, monkeypatch, "log", "export", log, str(tmp_path / name)).exit_code == 0
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    table = pd.read_parquet(tmp_path / "log.parquet")
    assert table["row"].tolist() == [line["record"]["row"] for line in lines] == [206, 208, 211]
    assert run(made, monkeypatch, "log", "purge", log, "--older-than", "25months").stdout == "0 records were purged.\n"
    done = run(made, monkeypatch, "log", "purge", log, "--older-than", "0days", "--who", "Ms Li")
    assert done.stdout == "3 records were purged.\n"
    assert "its record was purged" in run(made, monkeypatch, "log", "show", log, "2").stdout
    assert "who       Ms Li" in run(made, monkeypatch, "log", "show", log, "4").stdout
    found = run(made, monkeypatch, "log", "verify", log, "model.joblib")
    assert found.stdout.startswith("4 entries hold (3 without their records, which were purged)\n0 of 0 answers hold")


def test_a_log_that_is_not_there_is_not_made(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for words in (("list",), ("verify",), ("show", "1"), ("purge", "--older-than", "1day")):
        done = run(made, monkeypatch, "log", words[0], str(tmp_path / "absent.log"), *words[1:])
        assert done.exit_code == 2
        assert done.stderr.startswith(f"butfor: there is no log {tmp_path}")
    wrong = str(tmp_path / "absent" / "answers.log")
    done = run(made, monkeypatch, "explain", "model.joblib", "loans.csv", *ASKED, "--log", wrong)
    assert (done.exit_code, done.stdout) == (2, "")
    assert not [*tmp_path.iterdir()]
