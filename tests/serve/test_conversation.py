"""The Python side of a widget: messages in and out, interrupts, and errors in words, without a notebook."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import butfor as bf
from butfor.serve import conversation
from butfor.serve.answering import DESK_WORK
from butfor.serve.conversation import Conversation
from butfor.serve.desk import Desk
from butfor.serve.plain import Json
from tests.serve.conftest import SCRIPT

ROW = 3


class Heard:
    """What a view hears, in order."""

    def __init__(self, desk: Desk) -> None:
        self.told = list[Json]()
        self.conversation = Conversation(desk, self._tell)
        self._thread = threading.get_ident()

    def _tell(self, message: Json) -> None:
        assert threading.get_ident() == self._thread, "a kernel sends from one thread"
        self.told.append(message)

    def ask(self, work: str, body: Any, name: str = "a") -> None:
        self.conversation.hear({"ask": name, "work": work, "body": body})

    def about(self, name: str = "a") -> list[Json]:
        return [one["event"] for one in self.told if one["about"] == name]

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not holds():
                await asyncio.sleep(0.001)

    async def events(self, work: str, body: Any) -> list[Json]:
        """The events of a question, without what frames them."""
        name = f"question {len(self.told)}"
        self.ask(work, body, name)
        await self.until(lambda: self.about(name)[-1] == {"event": "end"})
        assert self.about(name)[0] == {"event": "heard"}
        return self.about(name)[1:-1]


def talk(desk: Desk, use: Callable[[Heard], Awaitable[Any]]) -> Any:
    async def used() -> Any:
        return await use(Heard(desk))

    return asyncio.run(used())


def test_a_question_may_ask_for_more_than_the_target(desk: Desk) -> None:
    body = {"row": ROW, "target": "approved", "safety": 0.1}
    found = [one["answers"][0] for one in DESK_WORK["explain"](desk, body, "") if "answers" in one][-1]
    assert found["score"]["threshold"] == pytest.approx(0.6)
    assert found["status"] == "PROVEN_OPTIMAL"


def test_a_widget_answers_as_the_interface_does(desk: Desk) -> None:
    body = {"row": ROW, "columns": {"amount": {"direction": "down"}}, "card": True, "region": True}

    async def use(heard: Heard) -> None:
        events = await heard.events("explain", body)
        others = [*DESK_WORK["explain"](desk, body, "")]
        assert [one["event"] for one in events] == [one["event"] for one in others]
        mine, other = (one[0]["answers"][0] for one in (events, others))
        same = [name for name in mine if name not in ("html", "record", "why")]
        assert {name: mine[name] for name in same} == {name: other[name] for name in same}
        (answer,) = heard.conversation.answers
        assert answer.cost == mine["cost"]
        assert bf.check(answer, desk.explainer.model).passed

    talk(desk, use)


@pytest.mark.parametrize(
    ("work", "body", "told"),
    [
        ("explain", {"row": ROW, "columns": {"amount": {"range": [9, 3]}}}, "swap the ends"),
        ("explain", {"row": 300}, "300 rows"),
        ("score", {"row": {"age": 30}}, "lacks"),
        ("score", [], "no row"),
        ("render", {"answer": 3}, "no answer"),
        ("nothing", {}, "nothing"),
    ],
)
def test_what_is_wrong_is_told_in_words(work: str, body: Any, told: str, desk: Desk) -> None:
    async def use(heard: Heard) -> None:
        (event,) = await heard.events(work, body)
        assert event["event"] == "error"
        assert told in " ".join(event["error"].values())
        assert (await heard.events("score", {"row": ROW}))[-1]["event"] == "score"  # it goes on

    talk(desk, use)


def test_another_row_comes_as_html_in_which_names_are_escaped(desk: Desk) -> None:
    async def use(heard: Heard) -> None:
        (event,) = await heard.events("page", "row=5&language=de")
        assert "Was darf sich ändern?" in event["html"]
        assert 'data-row="5"' in event["html"]
        assert SCRIPT not in event["html"]
        (event,) = await heard.events("page", "where=nonsense+%3D%3D+1")
        assert "nonsense" in event["html"]

    talk(desk, use)


COUNTING: set[str] = set()
"""The slow questions that are being worked on, by what they hold."""


def slow(desk: Desk, body: Any, who: str) -> Iterator[Json]:
    """Counts until it is interrupted, and then says what it has found."""
    found = 0
    yield {"event": "begun"}
    try:
        while True:
            found += 1
            COUNTING.add(body)
            time.sleep(0.001)
    except KeyboardInterrupt:
        yield {"event": "answers", "answers": [], "found": found}
    yield {"event": "too late"}


def test_an_interrupted_question_ends_with_what_it_has_found(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "WIDGET_WORK", {**conversation.WIDGET_WORK, "slow": slow})

    async def use(heard: Heard) -> None:
        heard.ask("slow", "first")
        heard.ask("slow", "second", "b")
        await heard.until(lambda: {"first", "second"} <= COUNTING)  # before, there is nothing to be found
        await heard.until(lambda: len(heard.about()) == len(heard.about("b")) == 2)
        heard.conversation.hear({"stop": "a"})
        heard.conversation.hear({"stop": "a"})  # once is enough, and twice does no harm
        await heard.until(lambda: heard.about()[-1]["event"] == "end")
        assert [one["event"] for one in heard.about()] == ["heard", "begun", "answers", "end"]
        assert heard.about()[2]["found"] > 0
        assert len(heard.about("b")) == 2  # the other one goes on
        heard.conversation.hear({"stop": "b"})
        await heard.until(lambda: heard.about("b")[-1]["event"] == "end")
        heard.conversation.hear({"stop": "b"})  # it has ended

    talk(desk, use)


def test_interrupts_at_any_moment_leave_no_question_open(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def quick(desk: Desk, body: Any, who: str) -> Iterator[Json]:
        for number in range(50):
            yield {"event": "number", "number": number}

    monkeypatch.setattr(conversation, "WIDGET_WORK", {"quick": quick})

    async def use(heard: Heard) -> None:
        for trial in range(200):
            heard.ask("quick", None, str(trial))
            await asyncio.sleep(trial % 10 * 1e-4)
            heard.conversation.hear({"stop": str(trial)})
        names = [str(trial) for trial in range(200)]
        await heard.until(lambda: all(heard.about(name)[-1]["event"] == "end" for name in names))
        numbers = [[one["number"] for one in heard.about(name) if "number" in one] for name in names]
        assert all(found == [*range(len(found))] for found in numbers)

    talk(desk, use)


def test_a_real_search_is_interrupted(desk: Desk) -> None:
    async def use(heard: Heard) -> None:
        heard.ask("explain", {"row": ROW, "k": 10, "seconds": 60, "cost": "L2+0.1*L0"})
        await heard.until(lambda: len(heard.about()) > 0)
        begin = time.monotonic()
        heard.conversation.hear({"stop": "a"})
        await heard.until(lambda: heard.about()[-1]["event"] == "end")
        assert time.monotonic() - begin < 10
        assert "error" not in {one["event"] for one in heard.about()}

    talk(desk, use)


def test_what_a_widget_shows_is_in_its_log(desk: Desk, tmp_path: Path) -> None:
    async def use(heard: Heard) -> None:
        events = await heard.events("explain", {"row": ROW})
        assert len(heard.conversation.desk.log or ()) == len(events)

    with bf.Log(tmp_path / "answers.log", who="Ms Li") as log:
        talk(replace(desk, log=log), use)
        assert {one.who for one in log} == {"Ms Li"}
