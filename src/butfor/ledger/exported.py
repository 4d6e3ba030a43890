"""A log as a table, and as files that other programs read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from butfor.errors import InputError, choice
from butfor.ledger.chain import Entry
from butfor.portfolio.folder import put
from butfor.records.parted import canonical
from butfor.records.whole_file import write_whole
from butfor.space.arrow import pyarrow

EXPORTED_AS = (".parquet", ".jsonl")

ENTRIES_TOGETHER = 5000
"""So many entries become a group of a Parquet file."""

SAID_FIRST = ("number", "kind", "at", "who", "model", "question")
"""What a line says first: what an entry says of its answer."""

SAID_LAST = ("salt", "content", "previous", "digest")
"""What it says last: what is needed to compute the chain again."""

FACTS_TOLD = ("row", "label", "rank", "status", "cost", "before", "after", "changed")
"""The facts of a record that have columns of their own."""


def write(entries: Iterable[Entry], path: Path) -> None:
    """Write entries into a file of Parquet or JSON lines, completely or not at all."""
    if path.suffix.lower() not in EXPORTED_AS:
        raise InputError(f"{path} was given.", *choice("The name of the file must end in", path.suffix, EXPORTED_AS))
    if path.suffix.lower() == ".jsonl":
        write_whole(path, map(_line, entries))
    else:
        put(path, lambda beside: _parquet(iter(entries), beside))


def _line(one: Entry) -> str:
    """An entry as a line of JSON, with the record as an object."""
    said = {name: getattr(one, name) for name in (*SAID_FIRST, *SAID_LAST)}
    return canonical({**said, "record": one.record}) + "\n"


def _parquet(entries: Iterator[Entry], path: Path) -> None:
    arrow = pyarrow()
    text = arrow.string()
    kinds = dict.fromkeys((*SAID_FIRST, *FACTS_TOLD, "record", *SAID_LAST), text) | {
        "number": arrow.int64(), "row": arrow.int64(), "rank": arrow.int64(), "cost": arrow.float64(),
        "changed": arrow.list_(text),
    }  # fmt: skip
    schema = arrow.schema([*kinds.items()])
    with pyarrow("parquet").ParquetWriter(path, schema, compression="zstd") as writer:
        while some := [*islice(entries, ENTRIES_TOGETHER)]:
            writer.write_table(arrow.table(columns_of(some), schema=schema))


def columns_of(entries: Iterable[Entry]) -> dict[str, list[Any]]:
    """Entries in columns. Of a record that was purged, nothing is said."""
    columns: dict[str, list[Any]] = {name: [] for name in (*SAID_FIRST, *FACTS_TOLD, "record", *SAID_LAST)}
    for one in entries:
        record = one.record
        said = {**_facts(record or {}), "record": None if record is None else canonical(record)}
        for name, column in columns.items():
            column.append(said[name] if name in said else getattr(one, name))
    return columns


def _facts(record: dict[str, Any]) -> dict[str, Any]:
    """The facts of a record that have columns of their own. What has any type is text there."""
    facts = {name: record.get(name) for name in FACTS_TOLD}
    facts |= {name: None if facts[name] is None else str(facts[name]) for name in ("label", "before", "after")}
    return facts | {"changed": [one["column"] for one in record["changes"]] if "changes" in record else None}
