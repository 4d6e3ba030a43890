"""A progress bar for work that takes long, on a terminal or in a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from html import escape
from importlib import import_module
from typing import Any

from butfor.log import on_terminal

SECONDS_BEFORE_A_BAR = 2.0
"""How long the work must take before the bar appears by itself."""


Shown = Callable[[int], None]
"""Shows how many rows are done."""


@contextmanager
def bar(
    total: int, show: bool | None, words: str = "explaining", note: Callable[[], str] = lambda: ""
) -> Iterator[Shown]:
    """A function to call with the number of rows, or of other things, that were just done.

    The bar appears once the work takes longer than `SECONDS_BEFORE_A_BAR`. Beside it stands the `note` of that moment.
    """
    notebook = display_of_a_notebook()
    if show is False or (show is None and notebook is None and not on_terminal(sys.stderr)):
        yield lambda count: None
        return
    begin, done = time.perf_counter(), 0
    wait = 0.0 if show else SECONDS_BEFORE_A_BAR
    with ExitStack() as stack:
        drawn: Shown | None = None

        def advance(count: int) -> None:
            nonlocal done, drawn
            done += count
            if drawn is None and time.perf_counter() - begin >= wait:
                where = partial(_in_notebook, display=notebook) if notebook else _on_terminal
                shown = where(total, words, note)
                drawn = stack.enter_context(shown)
            if drawn is not None:
                drawn(done)

        advance(0)
        yield advance


@contextmanager
def _on_terminal(total: int, words: str, note: Callable[[], str]) -> Iterator[Shown]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    told = TextColumn("{task.fields[note]}") if note() else TimeRemainingColumn()
    columns = (TextColumn(words), BarColumn(), MofNCompleteColumn(), told)
    with Progress(*columns, console=Console(stderr=True, force_jupyter=False), transient=True) as progress:
        task = progress.add_task(words, total=total, note=note())
        yield lambda done: progress.update(task, completed=done, note=note())


@contextmanager
def _in_notebook(total: int, words: str, note: Callable[[], str], display: Callable[..., Any]) -> Iterator[Shown]:
    """A bar that every notebook draws, without widgets. It leaves nothing behind."""

    def drawn(done: int) -> dict[str, str]:
        text = f"{words} {done}/{total} {note()}".rstrip()
        return {"text/plain": text, "text/html": f'<progress value="{done}" max="{total}"></progress> {escape(text)}'}

    handle = display(drawn(0), raw=True, display_id=True)
    try:
        yield lambda done: handle.update(drawn(done), raw=True)
    finally:
        handle.update({"text/plain": "", "text/html": ""}, raw=True)


def display_of_a_notebook() -> Callable[..., Any] | None:
    """IPython's `display`, if this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    display: Callable[..., Any] = import_module("IPython.display").display
    return display
