"""A file that is written completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from butfor.errors import InputError, InputTypeError


def write_whole(path: str | os.PathLike[str], parts: Iterable[str]) -> None:
    """Write text, part by part, beside the file, and put it in its place at the end.

    So a full disk, an error or Ctrl-C leaves what was there before.
    """
    goal = path_of(path)
    if goal.exists() and not goal.is_file():
        raise InputError(f"{goal} is a folder or a device.", "The name of a file is needed.")
    beside = goal.with_name(f".{goal.name}.{os.getpid()}")
    try:
        with beside.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(parts)
        beside.replace(goal)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(goal)) from None
    finally:
        beside.unlink(missing_ok=True)


def path_of(path: str | os.PathLike[str]) -> Path:
    """The path of a file. Anything else, and a path without a name, is refused."""
    if not isinstance(path, str | os.PathLike):
        raise InputTypeError(f"{type(path).__name__} was given as a path.", "It must be a text or a pathlib.Path.")
    found = Path(path)
    if not found.name:
        raise InputError(f"the path {str(path)!r} was given.", "The name of a file is needed.")
    return found
