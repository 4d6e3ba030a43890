"""Processes: nobody waits for another's slow question, what is not heard any more stops, and what dies is replaced."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from butfor.serve import team
from butfor.serve.team import ProcessEndedError, QueueFullError, Team

COMMAND = [sys.executable, str(Path(__file__).with_name("worker.py"))]


def run(use: Callable[[Team], Awaitable[Any]], count: int = 1, waiting: int = 5) -> Any:
    async def used() -> Any:
        made = Team(COMMAND, {}, count, waiting)
        await made.start()
        try:
            return await use(made)
        finally:
            await made.close()

    return asyncio.run(used())


async def numbers(made: Team, **body: Any) -> list[dict[str, Any]]:
    async with aclosing(made.ask("count", body)) as events:
        return [event async for event in events]


def test_a_question_that_nobody_hears_any_more_stops_and_its_process_answers_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(team, "STOPPING_SECONDS", 60.0)

    async def use(made: Team) -> None:
        events = made.ask("count", {"count": 10_000, "pause": 0.05})
        first = await anext(events)
        await events.aclose()
        again = await numbers(made, count=2)
        assert [one["process"] for one in again] == [first["process"]] * 2

    run(use)


def test_a_process_that_does_not_stop_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team, "STOPPING_SECONDS", 0.2)

    async def use(made: Team) -> None:
        events = made.ask("count", {"count": 1000, "pause": 0.05, "deaf": True})
        first = await anext(events)
        await events.aclose()
        assert (await numbers(made, count=1))[0]["process"] != first["process"]

    run(use)


def test_a_process_that_dies_is_an_error_and_is_replaced() -> None:
    async def use(made: Team) -> None:
        with pytest.raises(ProcessEndedError):
            await numbers(made, count=3, dies=True)
        assert len(await numbers(made, count=3)) == 3

    run(use)


def test_a_process_that_died_while_it_had_nothing_to_do_is_replaced() -> None:
    async def use(made: Team) -> None:
        before = {one["process"] for _ in range(2) for one in await numbers(made, count=1)}
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        for worker in made._all:
            await worker.process.wait()
        after = [(await numbers(made, count=1))[0]["process"] for _ in range(2)]
        assert not before & set(after)

    run(use, count=2)


def test_a_fast_question_does_not_wait_for_a_slow_one() -> None:
    async def use(made: Team) -> None:
        slow = asyncio.create_task(numbers(made, count=20, pause=0.05))
        await asyncio.sleep(0.1)
        assert len(await numbers(made, count=3)) == 3
        assert not slow.done()
        assert len(await slow) == 20

    run(use, count=2)


def test_no_more_questions_wait_than_are_allowed() -> None:
    async def use(made: Team) -> None:
        tasks = [asyncio.create_task(numbers(made, count=5, pause=0.05)) for _ in range(2)]
        await asyncio.sleep(0.05)
        with pytest.raises(QueueFullError) as refused:
            await numbers(made, count=1)
        assert refused.value.seconds >= 1
        assert [len(one) for one in await asyncio.gather(*tasks)] == [5, 5]
        assert len(await numbers(made, count=1)) == 1

    run(use, waiting=1)
