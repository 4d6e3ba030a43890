"""How far a portfolio is: a bar on a terminal or in a notebook, or lines for systems that keep a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from butfor.portfolio.part import Done
from butfor.views.progress import bar

LINE_EVERY = 10.0
"""Seconds between two lines of a log."""

Progress = bool | Literal["log"] | None
"""A bar: always, never, or where somebody reads it (None). Or lines of text ("log")."""


@dataclass
class Tally:
    """What is done so far. What stood there before this call does not count for its speed."""

    rows: int
    before: int
    done: int = 0
    proven: int = 0
    raised: int = 0
    begin: float = field(default_factory=time.perf_counter)

    def add(self, done: Done) -> None:
        """Add a part."""
        self.done += done.rows
        self.proven += done.proven
        self.raised += done.raised

    def __str__(self) -> str:
        seconds = time.perf_counter() - self.begin
        if not self.done:
            return "begun"
        speed = self.done / seconds
        left = (self.rows - self.before - self.done) / speed
        told = f"{speed:,.0f} rows/s, {self.proven / self.done:.1%} proven, {_clock(left)} left"
        return told + (f", {self.raised} raised an error" if self.raised else "")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


@contextmanager
def told(tally: Tally, progress: Progress) -> Iterator[Callable[[Done], None]]:
    """A function to call with each part that was done, which shows how far all is."""
    if progress == "log":
        yield _logged(tally)
        return
    with bar(tally.rows, progress, "explaining", lambda: str(tally)) as advance:
        advance(tally.before)

        def show(done: Done) -> None:
            tally.add(done)
            advance(done.rows)

        yield show


def _logged(tally: Tally) -> Callable[[Done], None]:
    last = -LINE_EVERY

    def show(done: Done) -> None:
        nonlocal last
        tally.add(done)
        reached = tally.before + tally.done
        if time.perf_counter() - last >= LINE_EVERY or reached == tally.rows:
            last = time.perf_counter()
            print(f"butfor: {reached:,} of {tally.rows:,} rows, {tally}", file=sys.stderr, flush=True)

    return show
