"""`bf.Log`: what is in it is what was handed out, on both data bases."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import butfor as bf
from butfor.errors import LogError
from butfor.ledger import tables
from tests.ledger.asked import QUESTION, answers, by_hand, filled, seen
from tests.portfolio.asked import explainer, rows

SHARED_NAMES = ("schema", "butfor", "model", "data_fingerprint", "question", "space", "table")


@pytest.mark.shorter(1)
def test_an_entry_says_who_asked_what_of_which_model_and_when(where: str) -> None:
    begin = datetime.now(UTC)
    with bf.Log(where, who="Ms Li") as log:
        found = explainer().explain(rows(5), **QUESTION, meta={"case": "A17"}, log=log)
        receipt = log.append(found[1], who="Mr Yu")
        assert len(log) == 6
        assert [entry.answer for entry in log] == [*found, found[1]]
        assert receipt == (log.entry(6),)
        assert [entry.who for entry in log.last(2)] == ["Ms Li", "Mr Yu"]
        first = log.entry(1)
        assert (first.number, first.model) == (1, explainer().fingerprint)
        assert first.question == "True; L1(); fixed('age')"
        assert begin <= datetime.fromisoformat(first.at) <= datetime.now(UTC)
        assert first.at.endswith("+00:00")
        assert first.record == json.loads(found[0].to_json())
        assert first.record["meta"] == {"case": "A17"}
        assert log.head == receipt[0].digest
        assert log.verify(explainer()).passed


def test_of_improving_answers_those_are_logged_that_are_handed_out(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("butfor.explain.improving._out_of_time", lambda found: True)  # so it asks until the time is up
    with bf.Log(where) as log:
        steps = list(explainer().improving(rows(2), **QUESTION, time_limit=0.5, log=log))
        assert [entry.answer for entry in log] == [one for answers in steps for one in answers]
        assert len(log) == 2


def test_what_answers_share_is_there_once(where: str) -> None:
    filled(where)
    filled(where)
    assert len(seen(where, "SELECT * FROM butfor_shared")) == 1
    with bf.Log(where) as log:
        assert len(log) == 16


def test_a_path_names_a_log_and_the_next_call_goes_on_with_it(tmp_path: Path) -> None:
    for _ in range(2):
        explainer().explain(rows(2), **QUESTION, log=tmp_path / "answers.log")
    assert [path.name for path in tmp_path.iterdir()] == ["answers.log"], "no journal is left beside it"
    with bf.Log(tmp_path / "answers.log") as log:
        assert len(log) == 4
        assert log.verify(explainer().model).checked == 4


def test_texts_of_any_letters_come_back(where: str) -> None:
    table = rows(2)
    table.index = pd.Index(["ÄÖ\x00\n'\"\\", "小"])
    found = explainer().explain(table, **QUESTION, meta={"für": "\x00 \ud83d\ude00"})
    with bf.Log(where, who="Søren 小") as log:
        log.append(found)
        assert [entry.answer for entry in log] == [*found]
        assert log.entry(1).answer.label == table.index[0]
        assert log.verify().passed


def recomputed(lines: list[dict[str, Any]]) -> list[str]:
    """The digests of an export, by the rule of the documentation and by nothing of butfor."""

    def text(data: Any) -> str:
        return json.dumps(data, sort_keys=True, separators=(",", ":"))

    def digest(words: str) -> str:
        return sha256(words.encode()).hexdigest()

    found, previous = list[str](), "0" * 64
    for line in lines:
        record = line["record"]
        if record is not None:
            shared = {name: record[name] for name in SHARED_NAMES if name in record}
            own = {name: value for name, value in record.items() if name not in (*SHARED_NAMES, "hash")}
            of_shared = digest(text(shared) if line["kind"] == "answer" else "")
            assert line["content"] == digest(f"{line['salt']}\n{of_shared}\n{text(own)}")
        about = [line[name] for name in ("number", "kind", "at", "who", "model", "question", "content")]
        found.append(digest(text([previous, *about])))
        assert line["previous"] == previous
        previous = line["digest"]
    return found


def test_an_export_is_enough_to_compute_the_chain_again(where: str, tmp_path: Path) -> None:
    filled(where)
    with bf.Log(where) as log:
        log.purge("0 days")
        filled(where)
        log.export(tmp_path / "log.jsonl")
        log.export(tmp_path / "log.parquet")
        frame = log.to_frame()
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["number"] for line in lines] == [*range(1, 18)]
    assert recomputed(lines) == [line["digest"] for line in lines]
    table = pd.read_parquet(tmp_path / "log.parquet")
    assert table["digest"].tolist() == frame["digest"].tolist() == [line["digest"] for line in lines]
    assert table["kind"].tolist() == ["answer"] * 8 + ["purge"] + ["answer"] * 8
    assert table["record"].isna().tolist() == [True] * 8 + [False] * 9
    costs = [one.cost if one.found else None for one in answers()]
    assert table["cost"][9:].astype(object).where(table["cost"][9:].notna(), None).tolist() == costs
    assert [json.loads(record) for record in table["record"][9:]] == [line["record"] for line in lines[9:]]


def test_a_purge_takes_records_away_and_the_chain_holds(where: str) -> None:
    table = rows(3)
    table.index = pd.Index(["person-of-old-1", "person-of-old-2", "person-of-old-3"])
    with bf.Log(where, who="Ms Li") as log:
        log.append(explainer().explain(table, **QUESTION))
        assert log.purge("1 day") == 0
        assert len(log) == 3, "nothing is noted if nothing was purged"
        time.sleep(0.01)
        assert log.purge(timedelta(milliseconds=5)) == 3
        log.append(answers())
        assert log.purge("25months") == 0
        entry = log.entry(2)
        assert (entry.purged, entry.record, entry.who) == (True, None, "Ms Li")
        with pytest.raises(ValueError, match=r"entry 2 was purged\. It holds no answer\."):
            entry.answer  # noqa: B018
        assert log.entry(4).noted
        assert log.entry(4).record["purged"] == 3
        found = log.verify(explainer())
        assert (found.passed, found.entries, found.purged, found.checked) == (True, 12, 3, 8)
    left = seen(where, "SELECT salt, shared, own FROM butfor_entries WHERE number <= 3")
    assert [tuple(row) for row in left] == [(None, None, None)] * 3
    assert len(seen(where, "SELECT * FROM butfor_shared")) == 2, "what only purged records shared is gone"
    if "://" not in where:
        assert b"person-of-old" not in Path(where).read_bytes()


def test_several_writers_make_one_chain(where: str) -> None:
    bf.Log(where).close()

    def write(who: str) -> None:
        with bf.Log(where, who=who) as log:
            for k in range(6):
                log.append(answers()[k : k + 2])

    names = ["a", "b", "c", "d", "e"]
    with ThreadPoolExecutor(len(names)) as threads:
        list(threads.map(write, names))
    with bf.Log(where) as log:
        found = log.verify()
        assert (found.passed, found.entries) == (True, 60)
        assert sorted(entry.who for entry in log) == sorted(names * 12)
        assert all(one.who == other.who for one, other in zip([*log][::2], [*log][1::2], strict=True)), (
            "calls are whole"
        )


def test_a_log_is_made_once_by_whoever_comes_first(where: str) -> None:
    with ThreadPoolExecutor(6) as threads:
        made = [*threads.map(lambda _: bf.Log(where), range(6))]
    made[0].append(answers())
    assert {len(log) for log in made} == {8}
    for log in made:
        log.close()


WRITER = """
import sys
import butfor as bf
answers = bf.load(sys.argv[2])
with bf.Log(sys.argv[1], who=sys.argv[3]) as log:
    while True:
        print(log.append(answers)[-1].digest, flush=True)
"""


@pytest.mark.long
def test_what_was_logged_stays_if_writers_are_killed(where: str, tmp_path: Path) -> None:
    answers().to_jsonl(tmp_path / "answers.jsonl")
    command = [sys.executable, "-c", WRITER, where, str(tmp_path / "answers.jsonl")]
    running = [subprocess.Popen([*command, who], stdout=subprocess.PIPE, text=True) for who in ("a", "b")]
    told = [[one.stdout.readline().strip() for _ in range(5)] for one in running]
    for one in running:
        one.kill()
    told = [[*first, *one.communicate()[0].split()] for first, one in zip(told, running, strict=True)]
    with bf.Log(where) as log:
        found = log.verify()
        assert found.passed, found
        assert found.entries % 8 == 0, "a call is logged whole or not at all"
        known = {entry.digest for entry in log}
        assert {digest for some in told for digest in some if len(digest) == 64} <= known
        log.append(answers())
        assert log.verify().passed


def test_an_older_log_is_migrated_and_a_newer_one_is_refused(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(where)

    def second(connection: Any) -> None:
        connection.exec_driver_sql("ALTER TABLE butfor_entries ADD COLUMN note TEXT")

    with monkeypatch.context() as later:
        later.setattr("butfor.ledger.database.MIGRATIONS", (*tables.MIGRATIONS, second))
        for _ in range(2):
            bf.Log(where).close()
    assert [tuple(row) for row in seen(where, "SELECT version, number FROM butfor_log")] == [(2, 8)]
    assert seen(where, "SELECT count(*) FROM butfor_entries WHERE note IS NULL")[0][0] == 8
    with pytest.raises(LogError, match=r"is of version 2\. This butfor knows version 1\. Use a newer butfor\."):
        bf.Log(where)


def test_a_log_that_fails_hands_nothing_out(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(where)
    by_hand(where, "UPDATE butfor_log SET number = 5")  # the next number is there already
    returned = []
    with pytest.raises(OSError, match=r"the log .* cannot be used"):
        returned += explainer().explain(rows(2), **QUESTION, log=where)
    assert not returned
    by_hand(where, "UPDATE butfor_log SET number = 8")
    with bf.Log(where) as log:
        assert log.verify().passed
        assert len(log) == 8


def test_a_log_can_be_sent_to_other_processes(where: str) -> None:
    with bf.Log(where, who="Ms Li") as log, pickle.loads(pickle.dumps(log)) as again:
        again.append(answers())
        assert log.entry(8).who == "Ms Li"
        assert repr(log) == repr(again)
