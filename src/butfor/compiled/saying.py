"""What a user hears of compiling: one line on stderr and in the log, once for each search."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from butfor.compiled.searches import SEARCHES
from butfor.log import LOG

_said: set[str] = set()
_silent = 0


@contextmanager
def silence(wanted: bool) -> Iterator[None]:
    """Write nothing on stderr meanwhile, if `wanted`. The log is written all the same."""
    global _silent
    _silent += wanted
    try:
        yield
    finally:
        _silent -= wanted


def say_compiling(search: str) -> None:
    """Say that the kernels of a search are compiled."""
    words, seconds, _ = SEARCHES[search]
    if words:
        _say(f"butfor compiles its search for {words}, once: about {seconds} s, longer if the machine is busy")


def say_unkept() -> None:
    """Say that what is compiled cannot be kept."""
    _say(
        "butfor cannot keep what it compiles, because no directory for it can be written: every process compiles anew. "
        "Set NUMBA_CACHE_DIR to a directory that can be written."
    )


def _say(line: str) -> None:
    if line in _said:
        return
    _said.add(line)
    LOG.info(line)
    if not _silent and sys.stderr is not None and not getattr(sys.stderr, "closed", False):
        print(line, file=sys.stderr, flush=True)
