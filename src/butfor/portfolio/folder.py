"""The folder of a portfolio: where its files stand, and how they get there: completely or not at all."""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from butfor.errors import InputError
from butfor.records.whole_file import path_of

PART_FILE = "part-{:08d}.parquet"
"""The name of the file of a part."""

TASK = ".task-"
"""How the names begin of what is sent to other processes."""

A_MINUTE, A_WEEK = 60.0, 7 * 86400.0

PART_NUMBER = re.compile(r"part-(\d{8,})\.parquet")


@dataclass(frozen=True)
class Folder:
    """The folder of a portfolio.

    ```text
    manifest.json            what it is about, written once
    parts/part-00000017.parquet    the answers to the rows of a part
    rows/rows.parquet        the rows, unless they were Parquet files already
    leases/                  who works on which part just now
    ```
    """

    home: Path

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Folder:
        """The folder of this name. It need not be there."""
        home = path_of(path, "folder")
        if home.exists() and not home.is_dir():
            raise InputError(f"{home} is a file.", "A portfolio is a folder.", "Give another name.")
        return cls(home.absolute())

    @property
    def manifest(self) -> Path:
        """What the portfolio is about."""
        return self.home / "manifest.json"

    @property
    def parts(self) -> Path:
        """The files of answers."""
        return self.home / "parts"

    @property
    def rows(self) -> Path:
        """The rows, if they were not files of Parquet."""
        return self.home / "rows" / "rows.parquet"

    @property
    def leases(self) -> Path:
        """Who works on which part."""
        return self.home / "leases"

    @property
    def passes(self) -> Path:
        """What the second passes ask, one after the other."""
        return self.home / "passes"

    def part(self, number: int) -> Path:
        """The file of a part."""
        return self.parts / PART_FILE.format(number)

    def lease(self, number: int) -> Path:
        """The lease of a part."""
        return self.leases / f"part-{number:08d}"

    def standing(self) -> list[int]:
        """The parts whose file stands there, in order."""
        names = os.listdir(self.parts) if self.parts.is_dir() else []
        return sorted(int(found[1]) for name in names if (found := PART_NUMBER.fullmatch(name)))

    def sweep(self) -> None:
        """Remove what a killed process left half-written. What somebody may be writing just now is younger."""
        for left in (*self.home.glob(".*"), *self.parts.glob(".*")):
            kept = A_WEEK if left.name.startswith(TASK) else A_MINUTE
            with suppress(FileNotFoundError):
                if time.time() - left.stat().st_mtime > kept:
                    left.unlink()

    def make(self) -> None:
        """Make the folder and what is in it."""
        for one in (self.home, self.parts, self.leases, self.passes, self.rows.parent):
            one.mkdir(parents=True, exist_ok=True)


def put(goal: Path, write: Callable[[Path], None]) -> None:
    """Write a file under another name, wait until it is on the disk, and put it in its place.

    So a full disk, or an end in the middle, leaves what was there before. Whoever reads finds all of it or nothing.
    """
    beside = goal.with_name(f".{goal.name}.{uuid.uuid4().hex[:12]}")
    try:
        write(beside)
        _on_disk(beside)
        beside.replace(goal)
        _on_disk(goal.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(goal)) from None
    finally:
        beside.unlink(missing_ok=True)


def _on_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if os.name == "nt" and path.is_dir():  # Windows opens no folders
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
