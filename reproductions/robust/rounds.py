"""The rounds of the cutting loop: how many there were, and what each of them proposed, and how long that took."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from butfor.solvers.robust import exact


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


@dataclass
class Round:
    """One round of a cutting loop.

    - `point`: the cheapest row that may be robust by what is known (none: no row is left);
    - `proposing`: the seconds that this took, as the paper's master problem does;
    - `judging`: the seconds until it was judged and something was learned, as the paper's adversarial problem does.
    """

    point: NDArray[np.float64] | None
    proposing: float
    judging: float = 0.0


@contextmanager
def rounds_watched() -> Iterator[list[Round]]:
    """The rounds of what is asked inside. It is one row and one set of scores."""
    rounds, start = list[Round](), exact._search

    def search(*args: Any) -> Any:
        made: Any = start(*args)
        propose, learn = made.cheapest_left, made.learn

        def proposed(*given: Any) -> Any:
            begin = time.perf_counter()
            found = propose(*given)
            rounds.append(Round(found.point, time.perf_counter() - begin))
            return found

        def learned(*given: Any) -> Any:
            begin = time.perf_counter()
            try:
                return learn(*given)
            finally:
                rounds[-1].judging = time.perf_counter() - begin

        made.cheapest_left, made.learn = proposed, learned
        return made

    with patch.object(exact, "_search", search):
        yield rounds
