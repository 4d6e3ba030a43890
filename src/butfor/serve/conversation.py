"""The questions of a widget: messages that come in, threads that answer them, and messages that go out.

A message asks, `{"ask": name, "work": ..., "body": ...}`, or says that nobody waits any more, `{"stop": name}`. What goes out
names its question: `{"about": name, "event": {...}}`. The first event says that the question was heard, the last one that it
has ended. Those between them are the ones of `/api/v1`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from threading import Thread
from typing import Any

from butfor.explanation.explanation import Explanation
from butfor.serve.answering import DESK_WORK
from butfor.serve.desk import Desk
from butfor.serve.filled import Wanted, filled, shown
from butfor.serve.interrupts import ThreadInterrupts, in_words
from butfor.serve.plain import Json


def desk_html(desk: Desk, query: str) -> str:
    """The desk alone, for what a query says: a row, or rows to list."""
    wanted = Wanted.of(query, "")
    return filled("desk.html", wanted.language, shown(desk, wanted))


WIDGET_WORK: Mapping[str, Callable[[Desk, Any, str], Iterator[Json]]] = {
    **DESK_WORK,
    "page": lambda desk, body, who: iter([{"event": "page", "html": desk_html(desk, body)}]),
}
"""What is done at a desk in a notebook. There is no address, so another row is asked for by a message, too."""


@dataclass
class Conversation:
    """The questions of the views of a widget. `tell` sends a message, and is called on the thread of the event loop."""

    desk: Desk
    tell: Callable[[Json], None]
    _records: tuple[str, ...] = ()
    _open: dict[str, ThreadInterrupts] = field(default_factory=dict)

    @property
    def answers(self) -> tuple[Explanation, ...]:
        """The answers that were found last."""
        return tuple(map(self.desk.read, self._records))

    def hear(self, said: Json) -> None:
        """Take a message of a view. A question gets a thread, so that the kernel can hear that it need not go on."""
        if "stop" in said:
            if said["stop"] in self._open:
                self._open[said["stop"]].stop()
            return
        name = said["ask"]
        interrupts = self._open[name] = ThreadInterrupts()
        loop, context = asyncio.get_running_loop(), copy_context()

        def later(message: Json) -> None:
            loop.call_soon_threadsafe(self._told, message, context=context)

        self._told({"about": name, "event": {"event": "heard"}})
        Thread(target=self._answered, args=(said, interrupts, later), daemon=True).start()

    def _answered(self, said: Json, interrupts: ThreadInterrupts, later: Callable[[Json], Any]) -> None:
        """Answer a question. If the loop has ended meanwhile, nobody waits for what comes after it."""
        begin = partial(self._begun, said["work"], said["body"])
        with suppress(RuntimeError):
            for event in in_words(begin, interrupts):
                later({"about": said["ask"], "event": event})
            later({"about": said["ask"], "event": {"event": "end"}})

    def _begun(self, work: str, body: Any) -> Iterator[Json]:
        return WIDGET_WORK[work](self.desk, body, "")

    def _told(self, message: Json) -> None:
        event = message["event"]
        if event["event"] in ("answers", "menu"):
            self._records = tuple(one["record"] for one in event["answers"])
        if event["event"] == "end":
            self._open.pop(message["about"], None)
        self.tell(message)
