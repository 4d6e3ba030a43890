"""Compile everything ahead, in as many processes as there are processors."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from butfor.compiled import helper, mark
from butfor.compiled.cache import kept_in
from butfor.compiled.searches import SEARCHES, module_of_examples
from butfor.errors import InputError
from butfor.views.progress import bar


def warm(progress: bool | None = None) -> Path:
    """Compile all loops now. Then the first explanation of a process comes at once.

    Choose it when an image or a machine is set up. It takes 40 seconds on two processors that are idle. What is compiled
    already is not compiled again.

    - `progress`: whether to show a bar (default: on a terminal, when the work takes long).

    Returns the directory where compiled code is kept.
    """
    place = kept_in()
    if place is None:
        raise InputError(
            "there is no directory in which compiled code can be kept: none can be written.",
            "Set NUMBA_CACHE_DIR to a directory that can be written.",
        )
    if mark.is_set(place):
        return place
    shares = [(search, kernels) for search, known in SEARCHES.items() for kernels in known.shares]
    with bar(len(shares), progress, "compiling") as advance:
        _run(shares, advance)
    mark.set_mark(place)
    return place


def _run(shares: list[tuple[str, tuple[str, ...]]], advance: Callable[[int], None]) -> None:
    """Run a process for each share, as many at once as there are processors."""
    waiting, running = list(shares), dict[str, subprocess.Popen[bytes]]()
    try:
        while waiting or running:
            while waiting and len(running) < helper.processors():
                search, kernels = waiting.pop(0)
                running[f"{search} {' '.join(kernels)}"] = helper.start(search, kernels)
            time.sleep(helper.SECONDS_BETWEEN_LOOKS)
            advance(0)  # the bar appears before the first share is done
            for words in [words for words, process in running.items() if process.poll() is not None]:
                code = running.pop(words).returncode
                if code:
                    raise InputError(
                        f"compiling {words} failed with exit code {code}.",
                        f"`python -m butfor.compiled.ahead {module_of_examples()} {words}` shows why.",
                    )
                advance(1)
    finally:
        for process in running.values():
            process.terminate()
