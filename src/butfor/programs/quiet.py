"""HiGHS, made so that it prints nothing, and run beside the user's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from threading import Event, Thread
from typing import Any

HEARS_EVERY = 0.1
"""How many seconds pass at most until Ctrl-C is heard, if it reaches another thread first."""


def quiet_highs() -> Any:
    """HiGHS without a program."""
    solver = _quiet_class()()
    solver.silent()  # also where nothing is enabled when it is made
    return solver


@cache
def _quiet_class() -> Any:
    """Version 1.16 greets on the standard output when its callbacks are first enabled, unless it is silent before."""
    import highspy

    class QuietHighs(highspy.Highs):  # type: ignore[misc]
        def enableCallbacks(self) -> None:
            self.silent()
            super().enableCallbacks()

    return QuietHighs


def work(solver: Any, enough: Event | None = None) -> None:
    """Let HiGHS work. At Ctrl-C, `enough` is set, and HiGHS is waited for."""
    aside(solver.run, enough)


def aside(task: Callable[[], Any], enough: Event | None = None) -> None:
    """Let HiGHS work in a thread of its own. At Ctrl-C, `enough` is set, and the task is waited for.

    The first program that HiGHS solves in a thread settles how many processors it may use there, and it refuses any
    other number from then on. So ours never share a thread with the user's.
    """
    ended, raised = Event(), list[Exception]()

    def run() -> None:
        try:
            task()
        except Exception as error:
            raised.append(error)
        finally:
            ended.set()

    Thread(target=run, daemon=True).start()
    try:
        while not ended.wait(HEARS_EVERY):
            pass
    except KeyboardInterrupt:
        if enough:
            enough.set()
        ended.wait()
        raise
    if raised:
        raise raised[0]
