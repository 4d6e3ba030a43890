"""Rounds of the cutting set, as the log tells of them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


class Rounds(logging.Handler):
    """Counts rounds."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += record.funcName == "tell_round"


@contextmanager
def rounds_counted() -> Iterator[Rounds]:
    """Counts the rounds of what is asked inside."""
    log, rounds = logging.getLogger("butfor"), Rounds()
    level, passed_on = log.level, log.propagate
    log.addHandler(rounds)
    log.setLevel(logging.DEBUG)
    log.propagate = False
    try:
        yield rounds
    finally:
        log.removeHandler(rounds)
        log.setLevel(level)
        log.propagate = passed_on
