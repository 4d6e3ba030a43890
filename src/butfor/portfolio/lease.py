"""Leases: who works on which part. They save work, and nothing depends on them: a part that is done twice is the same.

A lease is a file that is made only if it is not there. Whoever holds it touches it. It has expired if nobody did so for a
while, or if its owner was a process of this machine that has ended.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

EXPIRES = 60.0
"""A lease that was not touched for so many seconds is nobody's."""


@contextmanager
def leased(path: Path) -> Iterator[bool]:
    """Hold a lease, if it is to be had. It is given back at the end."""
    if not _taken(path):
        yield False
        return
    ended = threading.Event()
    threading.Thread(target=_touched, args=(path, ended), daemon=True).start()
    try:
        yield True
    finally:
        ended.set()
        path.unlink(missing_ok=True)


def held(path: Path) -> bool:
    """Whether somebody works on it."""
    try:
        age, text = time.time() - path.stat().st_mtime, path.read_text()
    except FileNotFoundError:
        return False
    # an empty one is being written, or its owner died while it wrote
    return age < EXPIRES and not (text and _gone(json.loads(text)))


def _taken(path: Path) -> bool:
    """Make the lease, in place of one that has expired. Of several who try, one succeeds."""
    if path.exists():
        if held(path):
            return False
        aside = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}")
        try:
            path.rename(aside)
        except FileNotFoundError:  # somebody else was first
            return False
        aside.unlink(missing_ok=True)
    try:
        with path.open("x") as file:
            json.dump({"host": socket.gethostname(), "process": os.getpid()}, file)
    except FileExistsError:
        return False
    return True


def _touched(path: Path, ended: threading.Event) -> None:
    while not ended.wait(EXPIRES / 4):
        try:
            os.utime(path)
        except OSError:  # it was taken away: the part will be done twice, which costs time alone
            return


def _gone(owner: dict[str, object]) -> bool:
    """Whether the owner was a process of this machine that has ended."""
    process = owner.get("process")
    if owner.get("host") != socket.gethostname() or not isinstance(process, int) or os.name == "nt":
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return _ended(process)


def _ended(process: int) -> bool:
    """Whether a process has ended and nobody has asked yet how (on systems that tell)."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False
