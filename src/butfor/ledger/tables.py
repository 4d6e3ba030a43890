"""The tables of a log, what is read from them and written into them, and how those of an earlier version become these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from butfor.ledger.chain import ANSWERED, NO_ENTRY, NOTED, Entry, EntryRow, digest_of, text_digest

LOG_TABLES = sa.MetaData()

NUMBERED = sa.BigInteger().with_variant(sa.Integer, "sqlite")  # which there is the place of the row itself

HEAD_ROW = sa.Table(
    "butfor_log",
    LOG_TABLES,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("number", NUMBERED, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
)
"""One row: the version of the tables, and the last entry. Who writes holds it."""

SHARED_TEXTS = sa.Table(
    "butfor_shared",
    LOG_TABLES,
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("text", sa.Text, nullable=False),
)
"""What records share, once."""

ENTRIES = sa.Table(
    "butfor_entries",
    LOG_TABLES,
    sa.Column("number", NUMBERED, primary_key=True, autoincrement=False),
    *(sa.Column(name, sa.Text, nullable=False) for name in ("kind", "at", "who", "model", "question")),
    *(sa.Column(name, sa.Text, nullable=False) for name in ("content", "previous", "digest")),
    *(sa.Column(name, sa.Text) for name in ("salt", "shared", "own")),
    sa.Index("butfor_entries_at", "at"),
)
"""The entries. `shared` is the digest of the text. The last three are empty in an entry that was purged."""

IN_ORDER = ENTRIES.select().order_by(ENTRIES.c.number)

ENTRIES_READ = 2000
"""So many entries are read at once."""


def _first(connection: Any) -> None:
    """The tables of version 1."""
    LOG_TABLES.create_all(connection)
    connection.execute(HEAD_ROW.insert().values(id=1, version=0, number=0, digest=NO_ENTRY))


MIGRATIONS: tuple[Callable[[Any], None], ...] = (_first,)
"""What makes each version of the one before, from nothing on. One that was released is not changed again."""


def head(connection: Any) -> tuple[int, str]:
    """The number and the digest of the last entry."""
    number, digest = connection.execute(sa.select(HEAD_ROW.c.number, HEAD_ROW.c.digest)).one()
    return number, digest


def add(connection: Any, entries: Sequence[Entry]) -> None:
    """Write entries that have their places. The last one becomes the head."""
    texts = {text_digest(one.shared): one.shared for one in entries}
    known = _texts(connection, texts)
    if fresh := [{"digest": digest, "text": text} for digest, text in texts.items() if digest not in known]:
        connection.execute(SHARED_TEXTS.insert(), fresh)
    connection.execute(ENTRIES.insert(), [{**vars(one), "shared": text_digest(one.shared)} for one in entries])
    connection.execute(HEAD_ROW.update().values(number=entries[-1].number, digest=entries[-1].digest))


def some(connection: Any, first: int, count: int = ENTRIES_READ) -> list[Entry]:
    """So many entries, from a number on."""
    wanted = IN_ORDER.where(ENTRIES.c.number >= first).limit(count)
    return _with_texts(connection, connection.execute(wanted).all())


def notes_of_purges(connection: Any) -> list[Entry]:
    """The entries that note a purge."""
    return _with_texts(connection, connection.execute(IN_ORDER.where(ENTRIES.c.kind == NOTED)).all())


def _with_texts(connection: Any, rows: Sequence[Any]) -> list[Entry]:
    """Entries, with the texts of which the rows have digests."""
    texts = _texts(connection, {row.shared for row in rows} - {None})
    return [Entry(**{**row._mapping, "shared": texts.get(row.shared)}) for row in rows]


def _texts(connection: Any, digests: Iterable[str]) -> dict[str, str]:
    """The texts of digests, as far as they are there."""
    return dict(connection.execute(SHARED_TEXTS.select().where(SHARED_TEXTS.c.digest.in_(digests))).all())


@contextmanager
def chain(connection: Any) -> Iterator[Iterator[EntryRow]]:
    """All rows of entries in their order, which are not held in memory together."""
    with connection.execute(IN_ORDER.execution_options(yield_per=ENTRIES_READ)) as found:
        yield (EntryRow._make(row) for rows in found.partitions() for row in rows)


def sound(connection: Any) -> set[str]:
    """The digests of the texts that records share, of those that have them."""
    with connection.execute(SHARED_TEXTS.select().execution_options(yield_per=ENTRIES_READ)) as rows:
        return {row.digest for row in rows if digest_of(row.text) == row.digest}


def has(connection: Any, digest: str) -> bool:
    """Whether an entry has this digest."""
    return connection.execute(sa.select(ENTRIES.c.number).where(ENTRIES.c.digest == digest)).first() is not None


def empty(connection: Any, until: str) -> int:
    """Take the records of answers from before a time away, and the texts that no other record shares. Returns how many."""
    old = (ENTRIES.c.kind == ANSWERED) & (ENTRIES.c.at < until) & ENTRIES.c.own.is_not(None)
    count: int = connection.execute(ENTRIES.update().where(old).values(salt=None, shared=None, own=None)).rowcount
    used = sa.select(ENTRIES.c.shared).where(ENTRIES.c.shared.is_not(None))
    connection.execute(SHARED_TEXTS.delete().where(SHARED_TEXTS.c.digest.not_in(used)))
    return count
