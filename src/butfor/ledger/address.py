"""Where a log is: a file of SQLite, or a data base of PostgreSQL by its URL."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from butfor.errors import InputError, InputTypeError, LogError, choice
from butfor.records.whole_file import path_of

DRIVERS = {"sqlite": "sqlite+pysqlite", "postgresql": "postgresql+psycopg"}
"""The data bases that hold logs, and their drivers."""

LOG_NEEDED = "A path such as 'answers.log' is needed, or a URL such as 'postgresql://user@host/name'."


def url_of(given: Any) -> Any:
    """The URL of a log that is given by a path or a URL."""
    if isinstance(given, str) and "://" in given:
        return _known(given)
    if not isinstance(given, str | os.PathLike):
        raise InputTypeError(f"{type(given).__name__} was given as a log.", LOG_NEEDED)
    return sa.URL.create(DRIVERS["sqlite"], database=str(path_of(given).absolute()))


def _known(given: str) -> Any:
    scheme = given.partition("://")[0].partition("+")[0]
    if scheme not in DRIVERS:
        raise InputError(f"the URL of a log begins with {scheme!r}.", *choice("The data bases are", scheme, DRIVERS))
    try:
        url = sa.make_url(given)
    except (sa.exc.ArgumentError, ValueError):
        raise InputError("the URL of a log cannot be read.", LOG_NEEDED) from None
    if not url.database:
        raise InputError(f"the URL {shown(url)!r} names no data base.", LOG_NEEDED)
    if scheme == "sqlite":
        return url_of(Path(url.database))
    return url if "+" in url.drivername else url.set(drivername=DRIVERS[scheme])


def shown(url: Any) -> str:
    """The path or the URL of a log, without its password."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    return str(url.set(drivername=url.get_backend_name()).render_as_string(hide_password=True))


def file_uri(path: Path, make: bool) -> str:
    """How SQLite is told to open a file.

    A file in a folder in which nothing may be written has no journal beside it: it is read as it stands.
    """
    if not path.parent.is_dir():
        raise LogError(f"the log {path} cannot be made.", f"There is no folder {path.parent}.", "Make it first.")
    if path.is_dir():
        raise LogError(f"{path} is a folder.", "A log is a file.", "Give the name of one in it.")
    if not make and not path.exists():
        raise LogError(
            f"there is no log {path}.", "", "explain(..., log=) makes one, and so does `butfor explain --log`."
        )
    alone = not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()
    return f"{path.as_uri()}?mode={'rwc' if make else 'rw'}{'&immutable=1' if alone and path.exists() else ''}"
