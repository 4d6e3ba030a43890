"""The data base of a log: transactions in which it is read and written, and its errors in words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from butfor.errors import LogError, MissingExtraError
from butfor.ledger.address import file_uri, shown, url_of
from butfor.ledger.tables import HEAD_ROW, MIGRATIONS

SECONDS_WAITED = 60
"""Seconds that a writer waits for another one."""

MAKING = 0x627574
"""The lock of PostgreSQL that is held by whoever makes or migrates the tables."""

WRITES = "butfor_writes"
"""The mark of connections that write."""

FULL = ("is full.", "Nothing was written to it.", "Make room on its disk.")
NOT_WRITABLE = ("cannot be written.", "It is read-only for this user.", "Let somebody write who may.")
DAMAGED = ("is damaged.", "", "Restore it from a copy.")
TOLD = {
    "SQLITE_FULL": FULL, "53100": FULL,
    "SQLITE_READONLY": NOT_WRITABLE, "SQLITE_PERM": NOT_WRITABLE, "25006": NOT_WRITABLE, "42501": NOT_WRITABLE,
    "SQLITE_CORRUPT": DAMAGED,
    "SQLITE_NOTADB": ("is not a data base.", "A log is a file of SQLite.", "Give the name of another file."),
    "SQLITE_CANTOPEN": ("cannot be opened.", "This user may not read or make it.", ""),
    "SQLITE_BUSY": (f"is held by another process since {SECONDS_WAITED} seconds.", "", "Look who writes into it."),
}  # fmt: skip
"""Errors of SQLite and PostgreSQL, by their names and numbers, in words."""


class Database:
    """The data base of a log. It is opened again in each process that it is sent to.

    - `given`: a path or a URL;
    - `make`: whether the log is made if it is not there.
    """

    def __init__(self, given: Any, make: bool) -> None:
        self._url, self._make = url_of(given), make
        self.name = shown(self._url)
        self._sqlite = self._url.get_backend_name() == "sqlite"
        self.given = self.name if self._sqlite else given  # a path that holds in every process
        self._engine, self._process = self._opened(), os.getpid()
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _opened(self) -> Any:
        try:
            # of SQLite a connection for each call: none stays open for a child process, or while the file is copied
            own = {"creator": self._connected, "poolclass": sa.NullPool} if self._sqlite else {"pool_pre_ping": True}
            engine = sa.create_engine(self._url, **own, hide_parameters=True)
        except (ImportError, sa.exc.NoSuchModuleError) as error:
            raise MissingExtraError(
                f"the driver of {self.name} is not installed ({error}).", "", 'Run: pip install "butfor[log]"'
            ) from None
        if self._sqlite:
            sa.event.listen(engine, "begin", _begin)
        return engine

    def _connected(self) -> sqlite3.Connection:
        path = Path(self._url.database)
        uri, fresh = file_uri(path, self._make), not path.exists() or not path.stat().st_size
        made = sqlite3.connect(uri, uri=True, timeout=SECONDS_WAITED, isolation_level=None, check_same_thread=False)
        try:
            if fresh:
                with suppress(sqlite3.OperationalError):  # somebody else makes it just now
                    made.execute("PRAGMA journal_mode=WAL")
            made.execute("PRAGMA synchronous=FULL")  # what was written is on the disk before an answer is handed out
            made.execute("PRAGMA secure_delete=ON")  # what was purged is overwritten
        except BaseException:
            made.close()
            raise
        return made

    def _prepare(self) -> None:
        """Make the tables, or bring them to this version."""
        with self._connection() as connection:
            version = self._version(connection)
        if version is None and not self._make:
            raise LogError(f"{self.name} holds no log of answers.", "", "explain(..., log=) makes one.")
        if version is not None and version > len(MIGRATIONS):
            raise LogError(
                f"the log {self.name} is of version {version}.",
                f"This butfor knows version {len(MIGRATIONS)}.",
                "Use a newer butfor.",
            )
        if version == len(MIGRATIONS):
            return
        with self._connection(**{WRITES: True}) as connection:
            if not self._sqlite:
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MAKING)))
            for migrate in MIGRATIONS[self._version(connection) or 0 :]:
                migrate(connection)
            connection.execute(HEAD_ROW.update().values(version=len(MIGRATIONS)))

    def _version(self, connection: Any) -> int | None:
        """The version of the tables; None if there are none. A file with other tables is refused."""
        names = sa.inspect(connection).get_table_names()
        if HEAD_ROW.name in names:
            return int(connection.execute(sa.select(HEAD_ROW.c.version)).scalar_one())
        if names and self._sqlite:
            raise LogError(
                f"{self.name} holds other tables, such as {names[0]}.",
                "A log needs a file of its own.",
                "Give another name.",
            )
        return None

    def reading(self) -> AbstractContextManager[Any]:
        """A transaction that sees the log as it is now, whatever others write."""
        return self._connection(**({} if self._sqlite else {"isolation_level": "REPEATABLE READ"}))

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """A transaction that holds the head of the log. The next writer waits until it is at its end."""
        with self._connection(**{WRITES: True}) as connection:
            connection.execute(HEAD_ROW.update().values(id=HEAD_ROW.c.id))
            yield connection

    @contextmanager
    def _connection(self, **options: Any) -> Iterator[Any]:
        if self._process != os.getpid():  # after a fork, connections are the parent's
            self._engine.dispose(close=False)
            self._process = os.getpid()
        try:
            with self._engine.connect().execution_options(**options) as connection, connection.begin():
                yield connection
        except sa.exc.SQLAlchemyError as error:
            raise self._told(error) from None

    def _told(self, error: Any) -> LogError:
        """An error in words."""
        own = getattr(error, "orig", None) or error
        code = getattr(own, "sqlite_errorname", None) or getattr(own, "sqlstate", None) or ""
        words = next((words for name, words in TOLD.items() if code.startswith(name)), None)
        if words is None:
            first = str(own).strip().partition("\n")[0]
            return LogError(f"the log {self.name} cannot be used: {first.rstrip('.')}.")
        said, needed, remedy = words
        return LogError(f"the log {self.name} {said}", needed, remedy)

    def close(self) -> None:
        """Close its connections."""
        self._engine.dispose()


def _begin(connection: Any) -> None:
    """Begin a transaction of SQLite. One that writes waits for the others at its begin, and not when it has read."""
    connection.exec_driver_sql("BEGIN IMMEDIATE" if WRITES in connection.get_execution_options() else "BEGIN")
