"""A progress bar for work that takes long. It is shown only on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS_BEFORE_A_BAR = 2.0
"""How long the work must take before the bar appears by itself."""


@contextmanager
def bar(total: int, show: bool | None, words: str = "explaining") -> Iterator[Callable[[int], None]]:
    """A function to call with the number of rows, or of other things, that were just done.

    The bar appears once the work takes longer than `SECONDS_BEFORE_A_BAR`.
    """
    if show is False or (show is None and not sys.stderr.isatty()):
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(words), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=Console(stderr=True, force_jupyter=False), transient=True)
    task = progress.add_task(words, total=total)
    begin = time.perf_counter()
    started = show is True
    if started:
        progress.start()

    def advance(count: int) -> None:
        nonlocal started
        progress.advance(task, count)
        if not started and time.perf_counter() - begin > SECONDS_BEFORE_A_BAR:
            started = True
            progress.start()

    try:
        yield advance
    finally:
        if started:
            progress.stop()
