"""Do one part: ask about its rows, and write its file. This is what every engine runs, in whichever process."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from butfor.arrays import IntArray
from butfor.errors import InputError, InputTypeError, LogError
from butfor.explanation.explanations import Explanations
from butfor.log import LOG
from butfor.portfolio.folder import TASK, Folder, put
from butfor.portfolio.lease import leased
from butfor.portfolio.manifest import Manifest, RowPart
from butfor.portfolio.results import RAISED, Piece, Raised, table_of
from butfor.portfolio.rows import Reader
from butfor.solvers.outcome import Status, Stopped
from butfor.space import frames
from butfor.space.arrow import from_arrow, pyarrow
from butfor.space.where import rows_where

SETTLED = {status.name for status in Status if status.settled}
"""The statuses that more time cannot change."""

OF_QUESTION = ("target", "cost", "constraints", "safety")
"""The arguments of `explain` that are its question."""


def question_in(options: Mapping[str, Any]) -> dict[str, Any]:
    """The question among some options. What was asked once is asked again without `safety`: its target holds that."""
    return {name: options[name] for name in OF_QUESTION if name in options}


class Explains(Protocol):
    """Whoever answers questions: an explainer."""

    def unmet(self, X: Any, target: Any = ..., **question: Any) -> IntArray:
        """The places of the rows that do not meet the target yet."""

    def explain(self, X: Any, target: Any = ..., **options: Any) -> Explanations:
        """The answers to some rows."""


class Ledger(Protocol):
    """Whoever keeps the answers before they are handed out: a log."""

    def append(self, answers: Explanations) -> object:
        """Keep answers, or raise an error."""


class Done(NamedTuple):
    """What became of a part.

    - `rows`: how many it has, of which so many are `proven`, and so many `raised` an error;
    - `seconds`: how long it took;
    - `held`: whether somebody else works on it, so that nothing was done.
    """

    number: int
    rows: int
    proven: int = 0
    raised: int = 0
    seconds: float = 0.0
    held: bool = False


class AskedRows(NamedTuple):
    """Rows that are asked about, with their numbers in the whole portfolio, and the ids of these numbers if there are any."""

    table: Any
    numbers: IntArray
    ids: dict[int, Any] | None


@dataclass(frozen=True, eq=False)
class PartTask:
    """What a process must know to do any part.

    - `explainer`, `options`: whoever answers, and the arguments of its `explain`;
    - `like`: a table of the kind that it takes;
    - `schema`: the columns of results;
    - `ledger`: where the answers are logged before their file is in its place.
    """

    explainer: Explains
    options: dict[str, Any]
    like: Any
    manifest: Manifest
    folder: Folder
    schema: Any
    ledger: Ledger | None = field(default=None, kw_only=True)

    @cached_property
    def parts(self) -> list[RowPart]:
        """All parts."""
        return self.manifest.parts

    @property
    def rows_in(self) -> int:
        """How many rows there are in all parts."""
        return self.manifest.rows

    def do(self, number: int) -> Done:
        """Do a part, unless somebody else does, or has done it since this call began."""
        part = self.parts[number]
        with leased(self.folder.lease(number)) as mine:
            if not mine:
                return Done(number, len(part), held=True)
            if self.is_done(number):
                return self.done(number)
            begin = time.perf_counter()
            table = self.results(part)
            self.write(part, table)
        return Done(number, len(part), *counted(table), seconds=time.perf_counter() - begin)

    def results(self, part: RowPart) -> Any:
        """The results of a part, as a table of pyarrow."""
        asked = self.rows(part)
        return table_of(self.asked(asked.table, asked.numbers), asked.ids, self.schema)

    def given_up(self, part: RowPart, why: str) -> Any:
        """The results of a part that no process survives: each of its rows says so, and a second pass may try again."""
        asked = self.rows(part)
        return table_of([Raised(row, why) for row in asked.numbers.tolist()], asked.ids, self.schema)

    def asked(self, table: Any, numbers: IntArray) -> list[Piece]:
        """The answers to rows with these numbers, which are logged."""
        pieces = [*explained(self.explainer, table, numbers, self.options, self.manifest.unmet)]
        for piece in pieces:
            if self.ledger is not None and isinstance(piece, Explanations):
                self.ledger.append(piece)
        return pieces

    def write(self, part: RowPart, table: Any) -> None:
        """Put the results of a part in their place."""
        goal = self.folder.part(part.number)
        put(goal, lambda beside: pyarrow("parquet").write_table(table, beside, compression="zstd"))

    def done(self, number: int) -> Done:
        """What became of a part whose file stands there."""
        table = pyarrow("parquet").read_table(self.folder.part(number), columns=["rank", "status"])
        return Done(number, len(self.parts[number]), *counted(table))

    def missing(self) -> list[int]:
        """The parts that are to be done: their file does not stand there, or is none. Those of most rows come first."""
        standing = {number for number in self.folder.standing() if self.is_done(number)}
        missing = [part for part in self.parts if part.number not in standing]
        return [part.number for part in sorted(missing, key=len, reverse=True)]

    def is_done(self, number: int) -> bool:
        """Whether the file of a part stands there, can be read, and has its columns. One that was cut off cannot be read."""
        arrow, path = pyarrow(), self.folder.part(number)
        if not path.exists():
            return False
        try:
            return bool(pyarrow("parquet").read_schema(path).names == self.schema.names)
        except (arrow.ArrowInvalid, OSError):
            LOG.warning("%s is damaged, and is made again", path)
            return False

    def rows(self, part: RowPart) -> AskedRows:
        """The rows of a part that are asked about, as the explainer takes them."""
        given = _reader(part.file.path, part.file.digest).rows(part.start, part.stop)
        table, column, numbers = from_arrow(given, self.like), self.manifest.id_column, part.numbers
        names = numbers.tolist() if column is None else given[column].to_pylist()
        if frames.row_labels(table) is not None:
            table = frames.relabelled(table, names)
        if self.manifest.where is not None:
            kept = rows_where(table, self.manifest.where)
            table, numbers, names = frames.take(table, kept), numbers[kept], [names[row] for row in kept]
        return AskedRows(table, numbers, None if column is None else dict(zip(numbers.tolist(), names, strict=True)))


def explained(
    explainer: Explains, table: Any, numbers: IntArray, options: dict[str, Any], unmet: bool = False
) -> Iterator[Piece]:
    """The answers to rows with these numbers. Where an error is raised, each half is asked about, down to the row.

    - `unmet`: only those that do not meet the target yet.
    """
    try:
        if unmet:
            its = explainer.unmet(table, **question_in(options))
            table, numbers = frames.take(table, its), numbers[its]
        if not len(numbers):
            return
        found = explainer.explain(table, **options)
    except LogError:
        raise
    except Exception as error:  # a row that raises is a row with its error, whatever the model does
        if len(numbers) == 1:
            yield Raised(int(numbers[0]), f"{type(error).__name__}: {error}")
            return
        half = len(numbers) // 2
        for its in (np.arange(half), np.arange(half, len(numbers))):
            yield from explained(explainer, frames.take(table, its), numbers[its], options, unmet)
        return
    if Stopped.INTERRUPTED in {one.stopped for one in found.certificates}:
        raise KeyboardInterrupt  # what is not whole is not kept
    yield replace(found, rows=numbers[found.rows])  # the places in its table stay


def counted(table: Any) -> tuple[int, int]:
    """How many rows of results are proven, and how many raised an error."""
    first = [
        status for status, rank in zip(table["status"].to_pylist(), table["rank"].to_pylist(), strict=True) if rank == 1
    ]
    return sum(status in SETTLED for status in first), first.count(RAISED)


@lru_cache(maxsize=1)
def _reader(path: str, digest: str) -> Reader:
    """The reader of a file, which goes on where it stands. The hash tells files of one name apart."""
    return Reader(path)


class Sent(NamedTuple):
    """A task that is sent to other processes: the file that holds it, and its hash."""

    path: str
    digest: str


def send(task: PartTask) -> Sent:
    """Write a task into its folder for other processes. It is of one call, and is removed at its end."""
    import cloudpickle

    try:
        data = cloudpickle.dumps(task)  # what a script or a notebook defined itself goes along
    except Exception as error:
        raise InputTypeError(
            f"the model cannot be sent to other processes ({type(error).__name__}: {error}).",
            "It must be possible to pickle it.",
            "Save it as a file of its library and give bf.Explainer the path, or say n_jobs=1.",
        ) from error
    digest = sha256(data).hexdigest()
    path = task.folder.home / f"{TASK}{digest[:16]}"
    put(path, lambda beside: _write(beside, data))
    return Sent(str(path), digest)


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def do(sent: Sent, number: int) -> Done:
    """Do a part of a task that was sent. One thread for each library: other processes use the other processors."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return _received(sent).do(number)


@lru_cache(maxsize=1)
def _received(sent: Sent) -> PartTask:
    """A task that was sent, read once in each process. Whoever changed the file is not trusted."""
    data = Path(sent.path).read_bytes()
    if sha256(data).hexdigest() != sent.digest:
        raise InputError(f"{sent.path} was changed since it was written.", "It is not read.")
    task: PartTask = pickle.loads(data)
    return task
