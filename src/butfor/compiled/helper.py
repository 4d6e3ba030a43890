"""Another process that compiles a share of a search's kernels, while this one compiles the others.

Threads cannot do that: numba compiles one function at a time in a process.
The process writes into the cache, where this one finds what it needs.
If anything goes wrong there, this process compiles everything itself.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import subprocess
import sys
import time

import numba

from butfor.compiled.searches import SEARCHES, module_of_examples
from butfor.log import LOG

SECONDS_BETWEEN_LOOKS = 0.05
"""How often it is looked whether another process has done its work."""

PATIENCE = 120.0
"""How many seconds to wait for another process at most."""

ALONE = "BUTFOR_COMPILE_ALONE"
"""An environment variable: if it is set, no other process is begun."""

_helpers: dict[str, list[tuple[tuple[str, ...], subprocess.Popen[bytes]]]] = {}
_began: dict[str, float] = {}


def begin(search: str) -> None:
    """Let other processes compile all shares of a search but the first, if there are processors for them."""
    if search in _helpers:
        return
    _helpers[search], _began[search] = [], time.monotonic()
    for kernels in SEARCHES[search].shares[1:] if _welcome() else ():
        try:
            _helpers[search].append((kernels, start(search, kernels)))
        except OSError as error:
            LOG.debug("no process was begun to help to compile: %s", error)


def is_at_work_on(search: str, name: str) -> bool:
    """Whether another process may still bring the kernel with this name."""
    in_time = time.monotonic() < _began.get(search, -PATIENCE) + PATIENCE
    return in_time and any(name in kernels and process.poll() is None for kernels, process in _helpers.get(search, ()))


def start(search: str, kernels: tuple[str, ...]) -> subprocess.Popen[bytes]:
    """A process that compiles these kernels of a search into the same cache."""
    environment = {**os.environ, ALONE: "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    if numba.config.CACHE_DIR:
        environment["NUMBA_CACHE_DIR"] = numba.config.CACHE_DIR
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "butfor.compiled.ahead", module_of_examples(), search, *kernels],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # Windows would show one
    )
    atexit.register(_end, process)
    return process


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _welcome() -> bool:
    """Whether a process may be begun: a program that has several of its own, or none for Python, is left alone."""
    alone = ALONE in os.environ or multiprocessing.parent_process() is not None
    return not alone and processors() > 1 and bool(sys.executable) and not getattr(sys, "frozen", False)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        process.wait()
