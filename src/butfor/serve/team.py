"""Processes that answer questions, one at a time each, so that nobody who asks waits for a slow question of another.

A process reads questions from its input, a line each, and writes events. It ends when its input ends. An interrupt makes
it stop at what it has found. One that does not stop, or that dies, is replaced.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from butfor.compiled.one_thread import ONE_THREAD
from butfor.serve.interrupts import QuestionInterrupts, in_words
from butfor.serve.plain import Json

STOPPING_SECONDS = 2.0
"""How many seconds a process has to stop when it is interrupted."""

LONGEST_LINE = 64 * 1024 * 1024
"""How many bytes an event may have."""


class QueueFullError(Exception):
    """So many questions wait that one more is refused. `seconds` says when to come again."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds


class ProcessEndedError(Exception):
    """A process ended while it worked."""


@dataclass
class Team:
    """So many processes of one command, and how many questions may wait for them."""

    command: Sequence[str]
    opening: Json
    count: int
    waiting: int
    _idle: asyncio.Queue[_Answerer] = field(default_factory=asyncio.Queue)
    _all: set[_Answerer] = field(default_factory=set)
    _asked: int = 0

    async def start(self) -> None:
        """Start the processes, and wait until the first of them has read the model."""
        for _ in range(self.count):
            await self._begin()
        first = await self._idle.get()
        self._idle.put_nowait(first)
        await first.ready()

    async def _begin(self) -> None:
        worker = await _Answerer.started(self.command, self.opening)
        self._all.add(worker)
        self._idle.put_nowait(worker)

    async def ask(self, work: str, body: Any) -> AsyncGenerator[Json]:
        """The events of a question. Whoever closes the iterator interrupts it."""
        if self._asked >= self.count + self.waiting:
            raise QueueFullError(1 + self._asked // self.count)
        self._asked += 1
        try:
            worker = await self._living()
        except BaseException:
            self._asked -= 1
            raise
        try:
            await worker.tell({"work": work, "body": body})
            while (event := await worker.hear())["event"] != "end":
                yield event
        finally:
            self._asked -= 1
            await asyncio.shield(self._back(worker))

    async def _living(self) -> _Answerer:
        """A process that has nothing to do. One that has died meanwhile is replaced."""
        while (worker := await self._idle.get()).process.returncode is not None:
            await self._replace(worker)
        return worker

    async def _back(self, worker: _Answerer) -> None:
        """Take a process back. It is stopped first if it works, and replaced if it does not stop."""
        if await worker.stop():
            self._idle.put_nowait(worker)
        else:
            await self._replace(worker)

    async def _replace(self, worker: _Answerer) -> None:
        self._all.discard(worker)
        await worker.kill()
        await self._begin()

    @property
    def state(self) -> Json:
        """How many processes there are, and how many questions they have."""
        return {"workers": self.count, "asked": self._asked}

    async def close(self) -> None:
        """End all processes."""
        for worker in self._all:
            await worker.kill()


@dataclass(eq=False)
class _Answerer:
    """One process, and whether it works."""

    process: asyncio.subprocess.Process
    busy: bool = False
    is_ready: bool = False

    @classmethod
    async def started(cls, command: Sequence[str], opening: Json) -> _Answerer:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,  # Ctrl-C is for the server, who ends its processes
        )
        worker = cls(process)
        with suppress(ProcessEndedError):
            await worker._write(opening)
        return worker

    async def ready(self) -> None:
        """Wait until it has read the model."""
        if not self.is_ready:
            await self._read()
            self.is_ready = True

    async def tell(self, words: Json) -> None:
        await self.ready()
        self.busy = True
        await self._write(words)

    async def hear(self) -> Json:
        event = await self._read()
        self.busy = event["event"] != "end"
        return event

    async def stop(self) -> bool:
        """Whether it is idle, after an interrupt if need be."""
        if not self.busy:
            return self.process.returncode is None
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGINT)
        try:
            async with asyncio.timeout(STOPPING_SECONDS):
                while (await self.hear())["event"] != "end":
                    pass
            return True
        except (TimeoutError, ProcessEndedError):
            return False

    async def kill(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()

    async def _write(self, words: Json) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(words).encode() + b"\n")
            await self.process.stdin.drain()
        except (ConnectionError, BrokenPipeError) as error:
            raise ProcessEndedError from error

    async def _read(self) -> Json:
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        if not line.endswith(b"\n"):
            raise ProcessEndedError
        event: Json = json.loads(line)
        return event


def work(begun: Callable[[Json], Callable[[str, Any], Iterator[Json]]]) -> None:
    """Answer the questions that come in, in a process of a team. What else is printed goes to the error output.

    `begun` is given what the process is to open, and returns what gives the events of a question.
    """
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    interrupts = QuestionInterrupts()
    signal.signal(signal.SIGINT, interrupts)

    def tell(event: Json) -> None:
        replies.write(json.dumps(event).encode() + b"\n")
        replies.flush()

    answered = begun(json.loads(sys.stdin.readline()))
    tell({"event": "ready"})
    for line in sys.stdin:
        asked, interrupts.came = json.loads(line), False
        for event in in_words(partial(answered, asked["work"], asked["body"]), interrupts):
            tell(event)
        tell({"event": "end"})
