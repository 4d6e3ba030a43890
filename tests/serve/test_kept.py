"""Idempotency keys: a question is worked on once, also while it is worked on, and an error is not kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import httpx2
import pytest

from butfor.serve import kept
from butfor.serve.access import LOOPBACK, Keys
from butfor.serve.app import application
from butfor.serve.desk import Desk
from butfor.serve.plain import Json
from butfor.serve.team import ProcessEndedError, Team
from tests.serve.conftest import HERE

ERROR: Json = {"event": "error", "error": {"kind": "InputError", "given": "it is wrong."}}


class SlowTeam(Team):
    """A team that takes a moment, and counts what it is asked. Its first answer may be an error, or none."""

    def __init__(self, first: Json | type[Exception] | None = None) -> None:
        super().__init__([], {}, 1, 0)
        self.count, self.first = 0, first

    async def ask(self, work: str, body: Any) -> AsyncGenerator[Json]:
        self.count += 1
        answer, self.first = self.first or {"event": "answers", "answers": [], "number": self.count}, None
        await asyncio.sleep(0.05)
        if isinstance(answer, type):
            raise answer
        yield answer


def replies(desk: Desk, team: Team, *asked: dict[str, Any], then: tuple[dict[str, Any], ...] = ()) -> list[Any]:
    """The replies to questions that are asked at once, and to others after them: the arguments of each."""

    async def ask() -> list[Any]:
        app: Any = application(desk, team, LOOPBACK, Keys())
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=HERE) as client:
            found = await asyncio.gather(*(client.post("/api/v1/explain", **one) for one in asked))
            return [*found, *[await client.post("/api/v1/explain", **one) for one in then]]

    return asyncio.run(ask())


def question(row: int = 3, key: str = "a", **headers: str) -> dict[str, Any]:
    return {"json": {"row": row}, "headers": {"idempotency-key": key, **headers}}


def test_a_question_that_is_asked_again_while_it_is_worked_on_is_worked_on_once(desk: Desk) -> None:
    team = SlowTeam()
    found = replies(desk, team, question(), question(), question(), then=(question(),))
    assert [one.json() for one in found] == [{"answers": [], "number": 1}] * 4
    assert team.count == 1


def test_other_keys_and_no_key_are_questions_of_their_own(desk: Desk) -> None:
    team = SlowTeam()
    found = replies(desk, team, question(), question(key="b"), {"json": {"row": 3}}, {"json": {"row": 3}})
    assert sorted(one.json()["number"] for one in found) == [1, 2, 3, 4]


def test_another_question_with_the_key_is_refused_while_the_first_is_worked_on(desk: Desk) -> None:
    team = SlowTeam()
    first, other = replies(desk, team, question(), question(row=4))
    assert (first.status_code, other.status_code, team.count) == (200, 409, 1)


@pytest.mark.parametrize(("first", "status"), [(ERROR, 422), (ProcessEndedError, 503)])
def test_an_error_is_for_all_who_wait_and_is_not_kept(first: Json | type[Exception], status: int, desk: Desk) -> None:
    team = SlowTeam(first)
    found = replies(desk, team, question(), question(), then=(question(), question()))
    assert [one.status_code for one in found] == [status, status, 200, 200]
    assert team.count == 2


def test_a_stream_does_not_use_the_key(desk: Desk) -> None:
    team = SlowTeam()
    stream = question(accept="text/event-stream")
    found = replies(desk, team, stream, then=(question(), stream))
    assert [one.status_code for one in found] == [200] * 3
    assert found[1].json()["number"] == 2
    assert '"number": 3' in found[2].text


def test_the_oldest_replies_are_given_up(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "REPLIES_KEPT", 2)
    team = SlowTeam()
    asked = [question(key=key) for key in "abcca"]
    assert [one.json()["number"] for one in replies(desk, team, then=tuple(asked))] == [1, 2, 3, 3, 4]
