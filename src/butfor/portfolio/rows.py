"""The rows of a portfolio: files of Parquet, read a part at a time. Whatever else is given is written as such a file first."""

from __future__ import annotations

import glob
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import file_digest
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

from butfor.errors import InputError, InputTypeError, choice
from butfor.portfolio.folder import Folder, put
from butfor.space import frames
from butfor.space.arrow import held_by_parquet, pyarrow, to_arrow
from butfor.space.space import Space
from butfor.space.text_cells import MISSING_WORDS, with_levels

ROWS_READ = 20_000
"""The rows of a group in a file that is written here: so many are read at a time, too."""

BYTES_AT_ONCE = 1 << 20
"""The bytes of a column that are read at a time."""

ENDINGS = (".parquet", ".csv")
"""The files that hold rows."""


@dataclass(frozen=True)
class RowFile:
    """A file of Parquet: its path, how many rows it has, and a hash of what it holds."""

    path: str
    rows: int
    digest: str

    @classmethod
    def of(cls, path: Path) -> RowFile:
        """A file as it stands there now."""
        with path.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        return cls(str(path.absolute()), _opened(path).metadata.num_rows, digest)


def files_of(given: Any, folder: Folder, space: Space) -> tuple[RowFile, ...]:
    """The files that hold the rows. What is given otherwise is written into the folder, unless it stands there."""
    if given is None:
        if not folder.rows.exists():
            raise InputError("no rows were given.", "This folder holds none either.", "Give them again.")
        return (RowFile.of(folder.rows),)
    paths = _paths(given)
    if paths and paths[0].suffix.lower() == ".parquet":
        return tuple(RowFile.of(path) for path in paths)
    asked = folder.rows.with_name("asked.parquet")
    with held_by_parquet():
        put(asked, lambda beside: _write(_batches(given, paths, space), beside))
    found = RowFile.of(asked)
    if folder.manifest.exists():  # the rows that are there stay: the manifest tells whether these are the same
        asked.unlink()
    else:
        asked.replace(folder.rows)
    return (replace(found, path=str(folder.rows)),)


def _paths(given: Any) -> list[Path]:
    """The files that are named; none if rows themselves were given."""
    if isinstance(given, list | tuple) and given and all(isinstance(one, str | os.PathLike) for one in given):
        found = [Path(one) for one in given]
    elif isinstance(given, str | os.PathLike):
        found = _named(Path(given))
    else:
        return []
    kinds = sorted({path.suffix.lower() for path in found})
    if len(kinds) > 1 or kinds[0] not in ENDINGS:
        raise InputError(
            f"files that end in {', '.join(kinds)} were given as rows.",
            f"They must all end in {' or in '.join(ENDINGS)}.",
        )
    return found


def _named(path: Path) -> list[Path]:
    """The files of a path: itself, those in the folder, or those that a pattern matches. They are sorted by name."""
    if path.is_dir():
        found = sorted(one for ending in ENDINGS for one in path.rglob(f"*{ending}") if not one.name.startswith("."))
        if not found:
            raise InputError(f"{path} was given as rows.", f"No file in it ends in {' or '.join(ENDINGS)}.")
        return found
    if not path.exists() and glob.has_magic(str(path)):
        found = [Path(one) for one in sorted(glob.glob(str(path), recursive=True))]
        if not found:
            raise InputError(f"{path} was given as rows.", "No file has such a name.")
        return found
    with path.open("rb"):
        return [path]


def _opened(path: Path) -> Any:
    parquet = pyarrow("parquet")
    try:
        return parquet.ParquetFile(path)
    except pyarrow().ArrowInvalid as error:
        raise InputError(f"{path} is no file of Parquet:", f"{str(error).rstrip('.')}.") from None


def schema_in(files: Sequence[RowFile]) -> Any:
    """The columns of the rows and their types, which must be the same in all files that hold some."""
    files = [file for file in files if file.rows]
    if not files:
        raise InputError("no row was given to explain.", "At least one is needed.")
    first = _opened(Path(files[0].path)).schema_arrow
    for file in files[1:]:
        own = _opened(Path(file.path)).schema_arrow
        for name in {*first.names, *own.names}:
            found = [one.field(name).type if name in one.names else "nothing" for one in (first, own)]
            if found[0] != found[1]:
                raise InputError(
                    f"column {name!r} is {found[0]} in {files[0].path} and {found[1]} in {file.path}.",
                    "All files of rows must have the same columns and types.",
                )
    return first


def check_ids(files: Sequence[RowFile], schema: Any, id_column: str | None) -> None:
    """Refuse ids that are missing, or that two rows have."""
    if id_column is None:
        return
    if id_column not in schema.names:
        raise InputError(f"id_column={id_column!r} was given.", *choice("The columns are", id_column, schema.names))
    arrow, compute = pyarrow(), pyarrow("compute")
    parquet = pyarrow("parquet")
    tables = [parquet.read_table(file.path, columns=[id_column]) for file in files if file.rows]
    ids = arrow.concat_tables(tables)[id_column]
    if ids.null_count:
        raise InputError(f"{ids.null_count} rows have no value in the id column {id_column!r}.", "Each needs an id.")
    if compute.count_distinct(ids).as_py() < len(ids):
        counts = compute.value_counts(ids)
        often = next(one["values"] for one in counts.to_pylist() if one["counts"] > 1)
        raise InputError(
            f"the id {often!r} occurs more than once in {id_column!r}.", "Each row needs an id of its own."
        )


def _write(batches: Iterator[Any], path: Path) -> None:
    """Write tables of pyarrow into one file."""
    parquet = pyarrow("parquet")
    first = next(batches, None)
    if first is None:
        raise InputError("no row was given to explain.", "At least one is needed.")
    with parquet.ParquetWriter(path, first.schema) as writer:
        for number, batch in enumerate(chain([first], batches)):
            if batch.schema.names != first.schema.names:
                raise InputError(
                    f"table {number + 1} of the rows has the columns {batch.schema.names}.",
                    f"The first has {first.schema.names}.",
                )
            try:
                same = batch.cast(first.schema)
            except (pyarrow().ArrowInvalid, pyarrow().ArrowNotImplementedError) as error:
                raise InputError(
                    f"table {number + 1} of the rows has other types than the first: {error}.",
                    "All must have the same.",
                ) from None
            writer.write_table(same, row_group_size=ROWS_READ)


def _batches(given: Any, paths: Sequence[Path], space: Space) -> Iterator[Any]:
    """What is given as rows, as tables of pyarrow."""
    arrow = pyarrow()
    if paths:
        for path in paths:
            yield from _of_csv(path, space)
    elif hasattr(given, "collect_schema") and hasattr(given, "sink_parquet"):  # a LazyFrame of polars
        yield to_arrow(given.collect(engine="streaming"))
    elif hasattr(given, "to_batches") and hasattr(given, "scanner"):  # a dataset of pyarrow
        yield from (arrow.Table.from_batches([batch]) for batch in given.to_batches() if batch.num_rows)
    elif isinstance(given, Iterable) and not isinstance(given, Mapping) and _is_several(given):
        yield from (to_arrow(frames.as_table(one)) for one in given)
    else:
        yield to_arrow(frames.as_table(given))


def _is_several(given: Any) -> bool:
    """Whether an iterable is one of tables, and not a table."""
    if isinstance(given, Iterator):
        return True
    if isinstance(given, list | tuple) and given:
        try:
            return not isinstance(given[0], list | tuple | Mapping) and frames.height(frames.as_table(given[0])) >= 0
        except (InputTypeError, InputError, AttributeError):
            return False
    return False


def _of_csv(path: Path, space: Space) -> Iterator[Any]:
    """The tables in a file of CSV, which does not say what is text and what is missing.

    A cell that writes a level is that level.
    """
    arrow, csv = pyarrow(), pyarrow("csv")
    try:
        kinds = _kinds_of_cells(path, space)
        levels = {name: feature.levels or () for feature in space for name in feature.columns}
        texts = {name: levels.get(name, ()) for name, kind in kinds.items() if kind == arrow.string()}
        with csv.open_csv(path, convert_options=_cells(column_types=kinds)) as reader:
            tables = (arrow.Table.from_batches([batch]) for batch in reader)
            yield from (with_levels(table, table, texts) if texts else table for table in tables)
    except arrow.ArrowInvalid as error:
        raise InputError(
            f"{path} is not a table: {error}.", "It must be CSV, with the names of the columns first."
        ) from None


def _cells(**options: Any) -> Any:
    """How cells are read. Those of text are never missing here: their levels tell."""
    return pyarrow("csv").ConvertOptions(null_values=list(MISSING_WORDS), **options)


def _kinds_of_cells(path: Path, space: Space) -> dict[str, Any]:
    """The type of each column of a file. What the space does not tell is found in all of its rows.

    A number that is missing in all of them is one.
    """
    arrow, csv = pyarrow(), pyarrow("csv")
    with csv.open_csv(path) as reader:
        names = reader.schema.names
    told = _told_by(space)
    others = [name for name in names if name not in told]
    found = csv.read_csv(path, convert_options=_cells(include_columns=others)).schema if others else ()
    numbers = {name for feature in space if feature.levels is None for name in feature.columns} - {*space.unread}
    told |= {one.name: one.type for one in found}
    empty = {name for name in numbers & told.keys() if told[name] == arrow.null()}
    return {name: arrow.float64() if name in empty else told[name] for name in names}


def _told_by(space: Space) -> dict[str, Any]:
    """The types of cells that a space tells: text, and numbers that need not be whole."""
    arrow, kinds = pyarrow(), dict[str, Any]()
    for feature in space:
        if feature.levels is None and feature.step != 1:
            kinds[feature.name] = arrow.float64()
        elif feature.dummies is None and any(isinstance(level, str) for level in feature.levels or ()):
            kinds[feature.name] = arrow.string()
    return kinds


class Reader:
    """Reads rows of one file forwards, a batch at a time, whatever its groups are. Going back begins at the group anew."""

    def __init__(self, path: str) -> None:
        self._file = pyarrow("parquet").ParquetFile(path, pre_buffer=False, buffer_size=BYTES_AT_ONCE)
        about = self._file.metadata
        self._starts = [0, *accumulate(about.row_group(k).num_rows for k in range(about.num_row_groups))]
        self._group, self._begin = -1, 0
        self._batches: Iterator[Any] = iter(())
        self._batch: Any = None

    def rows(self, start: int, stop: int) -> Any:
        """The rows from `start` up to `stop`, as a table of pyarrow."""
        pieces = []
        while start < stop:
            self._go_to(start)
            some = self._batch.slice(start - self._begin, stop - start)
            pieces.append(some)
            start += some.num_rows
        return pyarrow().Table.from_batches(pieces)

    def _go_to(self, row: int) -> None:
        """Read until the batch with this row."""
        group = bisect_right(self._starts, row) - 1
        if group != self._group or row < self._begin:
            self._group, self._begin, self._batch = group, self._starts[group], None
            self._batches = self._file.iter_batches(batch_size=ROWS_READ, row_groups=[group])
        while self._batch is None or row >= self._begin + self._batch.num_rows:
            self._begin += 0 if self._batch is None else self._batch.num_rows
            self._batch = next(self._batches)
