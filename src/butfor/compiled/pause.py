"""Python looks for no garbage while a kernel is compiled.

Compiling makes a million objects, most of which stay. Looking through them again and again takes a seventh of the time.
"""

from __future__ import annotations

import gc
from typing import Any

from numba.core import event

from butfor.compiled.cache import KernelCache, NoCache


class Pause(event.Listener):  # type: ignore[misc]
    """From when the first kernel begins to compile until the last one ends."""

    def __init__(self) -> None:
        self.compiling, self.was_on = 0, False

    def on_start(self, event: Any) -> None:
        """A function begins to compile."""
        if _is_ours(event):
            if not self.compiling:
                self.was_on = gc.isenabled()
                gc.disable()
            self.compiling += 1

    def on_end(self, event: Any) -> None:
        """It is compiled, or has failed."""
        if _is_ours(event):
            self.compiling -= 1
            if not self.compiling and self.was_on:
                gc.enable()


def _is_ours(event: Any) -> bool:
    return isinstance(event.data["dispatcher"]._cache, KernelCache | NoCache)


def pause_while_compiling() -> None:
    """From now on, look for no garbage while a kernel is compiled."""
    event.register("numba:compile", Pause())
