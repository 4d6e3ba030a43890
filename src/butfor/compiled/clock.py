"""A clock that stands still while kernels are compiled or read from the cache.

A time limit is for searching. Compiling happens once per machine, and no row should lose its answer to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")

_lock = Lock()
_standing = 0
_stood_since = 0.0
_stood = 0.0


def now() -> float:
    """Seconds since some moment, without those in which the clock stood still."""
    with _lock:
        return (_stood_since if _standing else time.perf_counter()) - _stood


def stop() -> None:
    """Let the clock stand still. It may be stopped several times."""
    global _standing, _stood_since
    with _lock:
        if not _standing:
            _stood_since = time.perf_counter()
        _standing += 1


def go() -> None:
    """Let the clock go on, when this was called as often as `stop`."""
    global _standing, _stood
    with _lock:
        _standing -= 1
        if not _standing:
            _stood += time.perf_counter() - _stood_since


def standing_still(work: Callable[Given, Result]) -> Callable[Given, Result]:
    """The same work, during which the clock stands still."""

    @wraps(work)
    def unhurried(*args: Given.args, **named: Given.kwargs) -> Result:
        stop()
        try:
            return work(*args, **named)
        finally:
            go()

    return unhurried
