"""Files that are written completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

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


def write_together(folder: str | os.PathLike[str], texts: Mapping[str, str]) -> list[Path]:
    """Write new files into a folder: all of them or none. The folder is made if it is not there.

    They are written into a folder beside it first. A file that is there already is refused, and stays as it is.
    """
    home = path_of(folder, "folder")
    if home.exists() and not home.is_dir():
        raise InputError(f"{home} is a file.", "The name of a folder is needed.")
    home.mkdir(parents=True, exist_ok=True)
    beside = Path(mkdtemp(prefix=f".{home.name}.", dir=home))
    goals = {name: home / name for name in texts}
    done: list[Path] = []
    try:
        _refuse_taken(home, texts)
        for name, text in texts.items():
            (beside / name).write_text(text, encoding="utf-8", newline="\n")
        _refuse_taken(home, texts)  # somebody may have been faster
        for name, goal in goals.items():
            (beside / name).rename(goal)
            done.append(goal)
    except BaseException:
        for path in done:
            path.unlink(missing_ok=True)
        raise
    finally:
        rmtree(beside, ignore_errors=True)
    return done


def _refuse_taken(home: Path, names: Iterable[str]) -> None:
    there = [name for name in names if (home / name).exists()]
    if there:
        more = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise InputError(
            f"{home} holds {there[0]}{more} already.", "No file is written over.", "Name another folder, or move them."
        )


def path_of(path: str | os.PathLike[str], of: str = "file") -> Path:
    """The path of a file, or of a folder. Anything else, and a path without a name, is refused."""
    if not isinstance(path, str | os.PathLike):
        raise InputTypeError(f"{type(path).__name__} was given as a path.", "It must be a text or a pathlib.Path.")
    found = Path(path)
    if not found.name:
        raise InputError(f"the path {str(path)!r} was given.", f"The name of a {of} is needed.")
    return found


def new_folder(path: str | os.PathLike[str]) -> Path:
    """The path of a folder to be made. One that holds something already is refused."""
    goal = path_of(path, "folder").absolute()
    if goal.exists() and not goal.is_dir():
        raise InputError(f"{goal} is a file.", "The name of a folder is needed.")
    if goal.is_dir() and any(goal.iterdir()):
        raise InputError(
            f"{goal} is there already, and not empty.", "No file is written over.", "Name another folder, or move it."
        )
    return goal


@contextmanager
def whole_folder(path: str | os.PathLike[str]) -> Iterator[tuple[Path, Path]]:
    """A folder to write into, and the one that it becomes at the end: whole, or not at all.

    A place where none can be made is refused before anything else is done.
    """
    goal = new_folder(path)
    try:
        goal.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(mkdtemp(prefix=f".{goal.name}.", dir=goal.parent))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(goal)) from None
    try:
        yield beside, goal
        beside.chmod(0o777 & ~_umask())
        beside.replace(goal)
    finally:
        rmtree(beside, ignore_errors=True)


def _umask() -> int:
    """The rights that new files do not get. It can only be read by setting it."""
    found = os.umask(0o077)
    os.umask(found)
    return found
