"""`bf.Log`: every answer that was handed out, for those who must account for it."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Self

from butfor.errors import InputError, InputTypeError, MissingExtraError, suggests
from butfor.experimental import experimental
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.explanation.one_answer import as_batch
from butfor.ledger.age import Age, before, moment
from butfor.ledger.chain import Entry, entries_of, purge_entry
from butfor.ledger.exported import columns_of, write
from butfor.ledger.verified import Verified, chain_of, with_answers
from butfor.records.whole_file import path_of

TABLE_LIBRARIES = ("pandas", "polars")
"""The libraries whose tables `to_frame` gives: that of the first that is installed."""


@experimental
@suggests
class Log:
    """A log of answers: an entry for each, sealed under the one before.

    Choose it if you must account for answers: `explainer.explain(rows, log="answers.log")` hands out nothing that is not
    logged. An entry has the record of the answer, the fingerprint of the model, who asked what, and when. Its digest is that
    of all this and of the digest before: digest = H(digest before, entry). So `verify` finds an entry that was changed or
    removed. `purge` takes old records away, and that is an entry of its own.

    - `where`: the path of a file (SQLite), or the URL of a PostgreSQL data base: "postgresql://user@host/name";
    - `who`: who asks (default: the user of this process);
    - `make`: whether the log is made if it is not there. With False, that is an error.

    Several threads and processes may write at once, and several machines into PostgreSQL. A file is for one machine. It
    needs `pip install "butfor[log]"`.

    >>> import tempfile, butfor as bf
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> explainer = bf.Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X)
    >>> with tempfile.TemporaryDirectory() as folder, bf.Log(f"{folder}/answers.log", who="Ms Li") as log:
    ...     answers = explainer.explain(X[:3], target=2, log=log)
    ...     len(log), log.entry(2).who, log.entry(2).answer == answers[1], log.verify(explainer).passed
    (3, 'Ms Li', True, True)
    """

    def __init__(self, where: str | os.PathLike[str], *, who: str | None = None, make: bool = True) -> None:
        self._who = _user() if who is None else _name(who)
        try:
            home, self._tables = map(import_module, ("butfor.ledger.database", "butfor.ledger.tables"))
        except ImportError as error:
            raise MissingExtraError(
                f"a log of answers needs {error.name}.", "It is not installed.", 'Run: pip install "butfor[log]"'
            ) from None
        self._database = home.Database(where, make)

    def append(self, answers: Explanation | Explanations, *, who: str | None = None) -> tuple[Entry, ...]:
        """Log answers: all of them, or an error. When it returns, their entries are on the disk.

        `who` is who asked for them (default: the one for whom the log was opened).
        """
        if not isinstance(answers, Explanation | Explanations):
            raise InputTypeError(f"{type(answers).__name__} was given.", "The answers of an explainer are needed.")
        several = as_batch(answers) if isinstance(answers, Explanation) else answers
        name = self._who if who is None else _name(who)
        entries = [*entries_of(several, moment(datetime.now(UTC)), name)]
        with self._database.writing() as connection:
            return self._added(connection, entries)

    def _added(self, connection: Any, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """Write entries behind the last one."""
        number, digest = self._tables.head(connection)
        made = list[Entry]()
        for one in entries:
            made.append(one.after(number, digest))
            number, digest = made[-1].number, made[-1].digest
        if made:
            self._tables.add(connection, made)
        return tuple(made)

    def __iter__(self) -> Iterator[Entry]:
        """The entries, from the first on."""
        number = 0
        while found := self._some(number + 1):
            yield from found
            number = found[-1].number

    def __len__(self) -> int:
        return self._head[0]

    def __bool__(self) -> bool:
        return True

    @property
    def head(self) -> str:
        """The digest of the last entry. Note it elsewhere: `verify(head=...)` shows later that it is still in the chain."""
        return self._head[1]

    @property
    def _head(self) -> tuple[int, str]:
        with self._database.reading() as connection:
            found: tuple[int, str] = self._tables.head(connection)
            return found

    def entry(self, number: int) -> Entry:
        """One entry, by its number from 1."""
        found = self._some(number, 1)
        if not found or found[0].number != number:
            count = len(self)
            has = f"The log has the entries 1 to {count}." if count else "The log is empty."
            raise InputError(f"entry {number} was asked for.", has)
        return found[0]

    def last(self, count: int) -> list[Entry]:
        """So many entries at the end, oldest first."""
        return self._some(max(1, len(self) - count + 1), count)

    def _some(self, first: int, *count: int) -> list[Entry]:
        with self._database.reading() as connection:
            found: list[Entry] = self._tables.some(connection, first, *count)
            return found

    def verify(self, explainer: Any = None, *, bounds: bool = True, head: str | None = None) -> Verified:
        """Compute the chain again and, given the model, the answers. The result names the first entry that is false.

        - `explainer`: the explainer, or its model alone. Answers of other models are counted, and not checked. Black boxes
          cannot be told apart, so the answers of all of them are checked with this one: give each a log of its own;
        - `bounds`: whether claimed bounds are derived again, as in `bf.check`. That takes about as long as the answers took;
        - `head`: a digest that was noted before. An entry must have it, or the log is another one.
        """
        tables = self._tables
        with self._database.reading() as connection:
            if head is not None and not tables.has(connection, head):
                raise InputError(
                    f"head={head!r} was given.",
                    "No entry has this digest.",
                    "If it was noted from this log, the log was rewritten.",
                )
            about = tables.sound(connection), tables.notes_of_purges(connection), tables.head(connection)
            with tables.chain(connection) as rows:
                found = chain_of(rows, *about)
        return found if explainer is None or found.false else with_answers(found, self, explainer, bounds)

    def purge(self, older_than: Age) -> int:
        """Take away the records of older answers, and note that. All else in their entries stays, and so the chain holds.

        `older_than` is a number of days, weeks, months or years, such as "25months", or a timedelta. It returns how many
        records were taken away.
        """
        now = datetime.now(UTC)
        until = moment(before(now, older_than))
        with self._database.writing() as connection:
            count: int = self._tables.empty(connection, until)
            self._added(connection, [purge_entry(moment(now), self._who, until, count)] if count else [])
        return count

    def to_frame(self) -> Any:
        """The log as a table of pandas or polars: a line for each entry, with the main facts of its answer."""
        for name in TABLE_LIBRARIES:
            try:
                library = import_module(name)
            except ImportError:
                continue
            return library.DataFrame(columns_of(self))
        raise MissingExtraError("no library of tables is installed.", "", 'Run: pip install "butfor[frames]"')

    def export(self, path: str | os.PathLike[str]) -> None:
        """Write the log into a file, .parquet or .jsonl, completely or not at all."""
        write(self, path_of(path))

    def close(self) -> None:
        """Close its connections. A log that is used again opens new ones."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return _sent, (self._database.given, self._who)

    def __repr__(self) -> str:
        return f"<Log in {self._database.name} for {self._who}>"


def _sent(where: Any, who: str) -> Log:
    """A log that was sent to another process."""
    return Log(where, who=who)


def log_of(log: Any) -> AbstractContextManager[Log | None]:
    """What `log=` names: a log that is opened for the call, one that the user opened, or none."""
    return nullcontext(log) if log is None or isinstance(log, Log) else Log(log)


def logged(steps: Iterable[Explanations], log: Any) -> Iterator[Explanations]:
    """Answers as they come, each logged before it is handed out."""
    with log_of(log) as ledger:
        for answers in steps:
            if ledger is not None:
                ledger.append(answers)
            yield answers


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise InputError("the user of this process has no name.", "A log must know who asks.", "Give who=.") from None


def _name(who: Any) -> str:
    if not isinstance(who, str):
        raise InputTypeError(f"who={who!r} was given.", "It must be a text.")
    if not who.strip() or not who.isprintable():
        raise InputError(f"who={who!r} was given.", "It must be a name, in one line.")
    return who
