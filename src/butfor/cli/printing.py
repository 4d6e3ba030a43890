"""What commands print."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from butfor.log import on_terminal


def printed(renderable: Any) -> None:
    """Print in colours and in full width on a terminal, as plain text elsewhere."""
    from butfor.views import text

    if not on_terminal(sys.stdout):
        typer.echo(text.plain(renderable))
        return
    from rich.console import Console

    Console(highlight=False).print(renderable)


@contextmanager
def warned_in_lines() -> Iterator[None]:
    """Warnings, such as about another version, are printed as lines."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield
    for message in dict.fromkeys(str(one.message) for one in warned):
        typer.echo(f"butfor: warning: {message}", err=True)
