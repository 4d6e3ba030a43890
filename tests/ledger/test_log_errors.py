"""What is wrong with a log is said in words, and nothing is handed out or half-written."""

from __future__ import annotations

import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

import butfor as bf
from butfor.errors import InputError, InputTypeError, LogError, MissingExtraError
from butfor.ledger import database
from butfor.ledger.age import before
from tests.ledger.asked import QUESTION, answers, by_hand, filled
from tests.ledger.server import told
from tests.portfolio.asked import explainer, rows

NOBODY = 65534


def test_what_is_no_data_base(tmp_path: Path) -> None:
    path = tmp_path / "answers.log"
    path.write_text("these are the answers\n" * 100)
    with pytest.raises(LogError, match=r"answers\.log is not a data base\. A log is a file of SQLite"):
        explainer().explain(rows(1), **QUESTION, log=path)
    assert path.read_text() == "these are the answers\n" * 100


def test_a_data_base_of_something_else(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE birds (name TEXT)")
    other.close()
    known = (tmp_path / "other.db").read_bytes()
    with pytest.raises(LogError, match=r"holds other tables, such as birds\. A log needs a file of its own"):
        bf.Log(tmp_path / "other.db")
    assert (tmp_path / "other.db").read_bytes() == known


def test_places_in_which_no_log_can_be(tmp_path: Path) -> None:
    with pytest.raises(LogError, match=r"is a folder\. A log is a file\."):
        bf.Log(tmp_path)
    with pytest.raises(OSError, match=r"There is no folder .*absent\. Make it first"):
        bf.Log(tmp_path / "absent" / "answers.log")
    with pytest.raises(LogError, match=r"there is no log .*absent\.log\."):
        bf.Log(tmp_path / "absent.log", make=False)
    assert not [*tmp_path.iterdir()]
    (tmp_path / "empty.log").touch()
    with pytest.raises(LogError, match=r"holds no log of answers\."):
        bf.Log(tmp_path / "empty.log", make=False)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ("mysql://host/name", InputError, r"begins with 'mysql'\. The data bases are sqlite, postgresql\."),
        ("postgres://host/name", InputError, r"Did you mean 'postgresql'\?"),
        ("postgresql://host", InputError, "'postgresql://host' names no data base"),
        ("postgresql://user:secret@host:port/name", InputError, "the URL of a log cannot be read"),
        ("sqlite://", InputError, "names no data base"),
        (7, InputTypeError, r"int was given as a log\. A path such as 'answers\.log' is needed, or a URL"),
        ("", InputError, "the path '' was given"),
    ],
)
def test_what_names_no_log(given: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        explainer().explain(rows(1), **QUESTION, log=given)


def test_a_url_of_a_file(tmp_path: Path) -> None:
    filled(f"sqlite:///{tmp_path}/answers.log")
    with bf.Log(tmp_path / "answers.log") as log:
        assert len(log) == 8


def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="the log postgresql://user:\\*\\*\\*@/name") as raised:
        bf.Log(f"postgresql://user:secret@/name?host={tmp_path}")
    assert "secret" not in f"{raised.value!r} {raised.value}"


def test_a_data_base_that_is_not_there(server: str) -> None:
    with pytest.raises(LogError, match='database "absent" does not exist'):
        bf.Log(server.format("absent"))


def test_a_server_that_is_read_only(server: str) -> None:
    told(server.format("postgres"), "CREATE DATABASE audited")
    where = server.format("audited")
    filled(where)
    told(where, "ALTER DATABASE audited SET default_transaction_read_only = on")
    is_read_only(where)


def test_the_rights_that_the_page_names_are_enough_and_no_more(server: str) -> None:
    told(server.format("postgres"), "CREATE DATABASE guarded")
    told(server.format("postgres"), "CREATE ROLE desk LOGIN")
    where = server.format("guarded")
    filled(where)
    page = Path(__file__).parents[2].joinpath("docs", "how-to", "log.md").read_text(encoding="utf-8")
    grants = page.partition("```sql\n")[2].partition("```")[0].split(";")[:-1]
    assert len(grants) == 2
    for words in grants:
        told(where, words)
    desk = where.replace("butfor@", "desk@")
    with bf.Log(desk) as log:
        explainer().explain(rows(2), **QUESTION, log=log)
        assert log.verify().entries == 10
        with pytest.raises(LogError, match="cannot be written"):
            log.purge("0 days")
    for words in ("UPDATE butfor_entries SET who = 'me'", "DELETE FROM butfor_entries", "DELETE FROM butfor_shared"):
        with pytest.raises(sa.exc.ProgrammingError, match="permission denied"):
            by_hand(desk, words)


def is_read_only(where: str | Path) -> None:
    with bf.Log(where, who="an auditor") as log:
        assert log.verify(explainer()).passed
        assert log.entry(2).answer == answers()[1]
        with pytest.raises(LogError, match=r"cannot be written\. It is read-only for this user\."):
            explainer().explain(rows(1), **QUESTION, log=log)
        with pytest.raises(LogError, match="cannot be written"):
            log.purge("0 days")
        assert len(log) == 8


@pytest.mark.skipif(not hasattr(os, "setresuid"), reason="another user is needed, or one who is not root")
@pytest.mark.parametrize("folder_too", [True, False])
def test_a_file_that_is_read_only(folder_too: bool) -> None:
    folder = Path(tempfile.mkdtemp())
    filled(str(folder / "answers.log"))
    (folder / "answers.log").chmod(0o444)
    folder.chmod(0o555 if folder_too else 0o777)
    root = os.getuid() == 0  # for whom nothing is read-only
    try:
        if root:
            os.setresuid(NOBODY, NOBODY, 0)
        is_read_only(folder / "answers.log")
    finally:
        if root:
            os.setresuid(0, 0, 0)
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = str(tmp_path / "answers.log")
    filled(where)
    opened = database.Database._connected

    def small(self: database.Database) -> sqlite3.Connection:
        made = opened(self)
        made.execute("PRAGMA max_page_count = 20")
        return made

    monkeypatch.setattr(database.Database, "_connected", small)
    with bf.Log(where) as log:
        many = explainer().explain(rows(60), **QUESTION)
        with pytest.raises(LogError, match=r"is full\. Nothing was written to it\. Make room on its disk\."):
            log.append(many)
        assert len(log) == 8
        assert log.verify().passed


def test_a_damaged_file(tmp_path: Path) -> None:
    where = tmp_path / "answers.log"
    filled(str(where))
    filled(str(where))
    data = bytearray(where.read_bytes())
    data[4096 * 3 :] = b"\xff" * len(data[4096 * 3 :])
    where.write_bytes(data)
    with pytest.raises(LogError, match=r"is damaged|cannot be used"), bf.Log(where) as log:
        log.verify()


def test_a_log_that_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = str(tmp_path / "answers.log")
    filled(where)
    monkeypatch.setattr(database, "SECONDS_WAITED", 0.05)
    holds = sqlite3.connect(where, isolation_level=None)
    holds.execute("BEGIN IMMEDIATE")
    with bf.Log(where) as log:
        assert log.verify().passed, "who reads waits for nobody"
        with pytest.raises(LogError, match="is held by another process"):
            log.append(answers())
        holds.execute("ROLLBACK")
        log.append(answers())
    holds.close()


def test_who_and_what_are_checked(tmp_path: Path) -> None:
    for who, error in (("", InputError), ("a\nb", InputError), (7, InputTypeError)):
        with pytest.raises(error, match="who="):
            bf.Log(tmp_path / "answers.log", who=who)  # type: ignore[arg-type]
    assert not [*tmp_path.iterdir()]
    with bf.Log(tmp_path / "answers.log") as log:
        with pytest.raises(InputTypeError, match=r"str was given\. The answers of an explainer are needed"):
            log.append("an answer")  # type: ignore[arg-type]
        with pytest.raises(InputError, match=r"entry 1 was asked for\. The log is empty"):
            log.entry(1)
        log.append(answers())
        for number in (0, 9):
            with pytest.raises(InputError, match=r"The log has the entries 1 to 8\."):
                log.entry(number)
        with pytest.raises(InputError, match=r"must end in \.parquet, \.jsonl"):
            log.export(tmp_path / "log.csv")


def test_a_library_that_is_not_installed() -> None:
    code = """
import sys
import butfor as bf
for absent in ("sqlalchemy", "psycopg"):
    sys.modules[absent] = None
    try:
        bf.Log("postgresql://user@host/name")
    except ImportError as error:
        print(type(error).__name__, error)
    del sys.modules[absent]
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    for line, words in zip(
        lines, ("a log of answers needs sqlalchemy", "postgresql://user@host/name is not"), strict=True
    ):
        assert line.startswith(f"{MissingExtraError.__name__} ")
        assert words in line
        assert line.endswith('Run: pip install "butfor[log]"')


def test_an_error_is_one_of_the_system_and_survives_processes() -> None:
    error = pickle.loads(pickle.dumps(LogError("it is full.", "Room is needed.", "Make some.")))
    assert isinstance(error, OSError)
    assert str(error) == error.strerror == "it is full. Room is needed. Make some."
    assert (error.errno, error.filename) == (None, None)


@pytest.mark.parametrize(
    ("age", "then"),
    [
        ("25months", datetime(2024, 2, 29, 12, tzinfo=UTC)),
        ("1 month", datetime(2026, 2, 28, 12, tzinfo=UTC)),
        ("3months", datetime(2025, 12, 31, 12, tzinfo=UTC)),
        ("2 Years", datetime(2024, 3, 31, 12, tzinfo=UTC)),
        ("10 days", datetime(2026, 3, 21, 12, tzinfo=UTC)),
        ("2weeks", datetime(2026, 3, 17, 12, tzinfo=UTC)),
        (timedelta(hours=13), datetime(2026, 3, 30, 23, tzinfo=UTC)),
    ],
)
def test_ages_are_those_of_the_calendar(age: str | timedelta, then: datetime) -> None:
    assert before(datetime(2026, 3, 31, 12, tzinfo=UTC), age) == then


@pytest.mark.parametrize(
    "age",
    ["", "months", "25", "-1 days", "1.5 years", "25 moons", "999999 years", timedelta(-1), timedelta(800_000)],
)
def test_what_is_no_age(age: str | timedelta) -> None:
    with pytest.raises(InputError, match="older_than="):
        before(datetime.now(UTC), age)
