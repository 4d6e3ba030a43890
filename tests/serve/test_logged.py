"""What is shown is logged before, with who asked; if it cannot be logged, it is not shown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import butfor as bf
from butfor.errors import LogError
from butfor.serve.access import LOOPBACK, Keys
from butfor.serve.answering import DESK_WORK
from butfor.serve.app import application
from butfor.serve.desk import Desk
from butfor.serve.filled import Wanted
from butfor.serve.page import page
from tests.serve.conftest import HERE

TOKEN = "a-long-secret-of-anna-0123456789"


class Full:
    """A log that takes nothing."""

    def append(self, answers: Any, who: str | None = None) -> None:
        raise LogError("the disk is full.")


def test_every_answer_that_is_shown_is_in_the_log(desk: Desk, client: TestClient, tmp_path: Path) -> None:
    with bf.Log(tmp_path / "answers.log") as log:
        logged = replace(desk, log=log)
        shown = [one for event in DESK_WORK["explain"](logged, {"row": 3}, "anna") for one in event["answers"]]
        menu = [one for event in DESK_WORK["menu"](logged, {"row": 3}, "bert") for one in event["answers"]]
        entries = [*log]
        assert [one.who for one in entries] == ["anna"] * len(shown) + ["bert"] * len(menu)
        costs = [one.answer.cost for one in entries]
        assert costs == [one["cost"] for one in [*shown, *menu]]
        assert log.verify(desk.explainer).passed
        app = application(logged, client.team, LOOPBACK, Keys({TOKEN: "anna"}))  # type: ignore[attr-defined]
        asks = TestClient(app, base_url=HERE)
        assert asks.get("/api/v1/log").status_code == 401
        found = asks.get("/api/v1/log?last=2", headers={"authorization": f"Bearer {TOKEN}"}).json()
        assert found["total"] == len(entries)
        assert [one["digest"] for one in found["entries"]] == [entries[-1].digest, entries[-2].digest]
    assert client.get("/api/v1/log").status_code == 422  # this one keeps none


@pytest.mark.parametrize("work", ["explain", "menu"])
def test_what_cannot_be_logged_is_not_shown(work: str, desk: Desk) -> None:
    events = DESK_WORK[work](replace(desk, log=Full()), {"row": 3}, "anna")  # type: ignore[arg-type]
    with pytest.raises(LogError, match="disk is full"):
        next(events)


@pytest.mark.parametrize("work", ["explain", "menu"])
def test_by_option_it_is_shown_with_a_word_about_that(work: str, desk: Desk, caplog: Any) -> None:
    events = [*DESK_WORK[work](replace(desk, log=Full(), unlogged=True), {"row": 3}, "anna")]  # type: ignore[arg-type]
    assert {one["unlogged"] for one in events} == {"the disk is full."}
    assert "is not logged: the disk is full." in caplog.text
    assert events[-1]["answers"]
    assert {one["unlogged"] for one in DESK_WORK[work](desk, {"row": 3}, "anna")} == {""}


@pytest.mark.parametrize(("language", "words"), [("en", "it is not in the log"), ("de", "nicht im Protokoll")])
def test_the_page_without_a_script_says_what_is_not_logged(language: str, words: str, desk: Desk) -> None:
    full = replace(desk, log=Full(), unlogged=True)  # type: ignore[arg-type]

    class Here:
        """A team that answers in this process."""

        async def ask(self, work: str, body: Any) -> AsyncGenerator[Any]:
            for event in DESK_WORK[work](full, body["asked"], body["who"]):
                yield event

    asked = Wanted(row=3, ask=True, language=language)
    shown = asyncio.run(page(full, Here(), "", asked))  # type: ignore[arg-type]
    assert f"{words}: the disk is full." in shown
    assert 'class="answer' in shown


def test_nobody_can_ask_in_the_name_of_another(client: TestClient) -> None:
    for name in ("who", "meta"):
        assert client.post("/api/v1/explain", json={"row": 3, name: "bert"}).status_code == 422


@pytest.mark.parametrize("work", ["explain", "menu"])
def test_values_outside_the_data_are_said_in_the_reply_and_not_warned_of(work: str, desk: Desk) -> None:
    far = {**desk.rows(3, 1)["rows"][0]["values"], "income": 10**9}
    said = [
        event["outside"] for event in DESK_WORK[work](desk, {"row": far}, "") if "outside" in event
    ]  # nothing warns
    assert said
    assert all("outside the ranges of the data: income 1e+09" in words for words in said)
    assert all(not event.get("outside") for event in DESK_WORK[work](desk, {"row": 3}, ""))
