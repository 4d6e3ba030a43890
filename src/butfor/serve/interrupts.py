"""How a question is interrupted: at once while it is worked on, and after an event that is being handed on.

What is interrupted is a search, as by Ctrl-C in a shell. It ends with what it has found.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Lock, get_ident
from types import FrameType

from butfor.errors import ButforError
from butfor.serve.plain import Json, refused


@dataclass
class QuestionInterrupts:
    """QuestionInterrupts of a process, which come to its main thread as signals."""

    working: bool = False
    came: bool = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        if self.working:
            self.working = False
            raise KeyboardInterrupt

    def events(self, events: Iterator[Json]) -> Iterator[Json]:
        """The events of a question, until it is interrupted."""
        while not self.came and (event := self._next(events)) is not None:
            yield event

    def _next(self, events: Iterator[Json]) -> Json | None:
        try:
            self.working = True
            return next(events, None)
        except KeyboardInterrupt:
            return None
        finally:
            self.working = False


@dataclass
class ThreadInterrupts(QuestionInterrupts):
    """QuestionInterrupts of one question in a thread, which come from another thread."""

    lock: Lock = field(default_factory=Lock)
    thread: int = 0

    def stop(self) -> None:
        """End the question: at once if it is worked on, else before its next event."""
        with self.lock:
            if self.working and not self.came:
                _raise_in(self.thread, KeyboardInterrupt)
            self.came = True

    def _next(self, events: Iterator[Json]) -> Json | None:
        self.thread = get_ident()
        try:
            with self.lock:
                self.working = not self.came
            try:
                return next(events, None) if self.working else None
            finally:
                with self.lock:
                    self.working = False
                for _ in range(2):
                    pass  # an interrupt that was sent while it worked comes here at the latest: a loop looks for it
        except KeyboardInterrupt:
            return None


def _raise_in(thread: int, kind: type[BaseException]) -> None:
    """Let an exception come up in another thread, before its next step in Python."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))


def in_words(begin: Callable[[], Iterator[Json]], interrupts: QuestionInterrupts) -> Iterator[Json]:
    """The events of a question until it is interrupted, with what goes wrong as the last of them."""
    try:
        yield from interrupts.events(begin())
    except ButforError as error:
        yield {"event": "error", "error": refused(error)}
    except Exception as error:
        yield {"event": "error", "error": {"kind": "Failure", "given": f"{type(error).__name__}: {error}"}}
