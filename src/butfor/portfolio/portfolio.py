"""A portfolio that was made, or is being made: its answers, read when they are asked for."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from butfor.arrays import IntArray
from butfor.errors import InputError
from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations
from butfor.explanation.render import rendered
from butfor.portfolio.folder import Folder, put
from butfor.portfolio.lease import held
from butfor.portfolio.manifest import Manifest, read_manifest
from butfor.portfolio.part import SETTLED
from butfor.portfolio.results import ID, RAISED, pieces_of
from butfor.portfolio.results import read as read_parquet
from butfor.portfolio.rows import ENDINGS
from butfor.records.reading import load as load_file
from butfor.records.whole_file import path_of
from butfor.space.arrow import pyarrow

Kept = TypeVar("Kept")
"""What the answers in a file of text are read as."""


@dataclass(frozen=True)
class HowFar:
    """How far a portfolio is.

    - `rows`, `done`: how many rows there are, and how many of them are done;
    - `parts`, `working`: how many parts there are, and on how many somebody works;
    - `statuses`: how many rows have which status;
    - `left_out`: how many rows of the parts that are done were not asked about: they do not meet the condition (`where`), or
      they meet the target already (`unmet`).
    """

    rows: int
    done: int
    parts: int
    working: int
    statuses: dict[str, int]
    left_out: int = 0

    @property
    def complete(self) -> bool:
        """Whether every row is done."""
        return self.done == self.rows

    @property
    def raised(self) -> int:
        """How many rows raised an error."""
        return self.statuses.get(RAISED, 0)

    @property
    def proven(self) -> int:
        """How many rows are proven."""
        return sum(count for name, count in self.statuses.items() if name in SETTLED)

    def __repr__(self) -> str:
        share = self.done / self.rows
        lines = [f"{self.done:,} of {self.rows:,} rows are done ({share:.1%}), in {self.parts:,} parts"]
        lines += [f"  {count:>10,}  {WORDS.get(name, name)}" for name, count in self.statuses.items() if count]
        lines += [f"  {self.left_out:>10,}  left out, as was asked"] if self.left_out else []
        lines += (
            [f"{self.working} {'part is' if self.working == 1 else 'parts are'} being done"] if self.working else []
        )
        return "\n".join(lines)


WORDS = {
    "PROVEN_OPTIMAL": "proven optimal", "PROVEN_INFEASIBLE": "proven impossible", "WITHIN_GAP": "within a known gap",
    "VALID": "valid, with nothing proven", "NOT_FOUND": "without an answer", RAISED: "raised an error",
}  # fmt: skip
"""The statuses of rows in words, in the order in which they are listed."""


@dataclass(frozen=True, eq=False)
class Portfolio:
    """The answers in the folder of a portfolio. They are read part by part, when they are asked for.

    `portfolio.of(id)` are the answers to one row, and a loop over the portfolio gives one answer after the other. To look at
    all of them, give their files to a library that reads many files of Parquet: `polars.scan_parquet(portfolio.results)`.
    """

    folder: Folder
    manifest: Manifest

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Portfolio:
        """The portfolio in a folder."""
        folder = Folder.at(path)
        return cls(folder, read_manifest(folder))

    @property
    def results(self) -> str:
        """A pattern that names the files of results, as polars, DuckDB and Dask take it."""
        return str(self.folder.parts / "*.parquet")

    @property
    def reached(self) -> HowFar:
        """How far the portfolio is."""
        parts, statuses, done = self.manifest.parts, Counter[str](), 0
        for number in self.folder.standing():
            table = self._read(number, ["rank", "status"])
            done += len(parts[number])
            pairs = zip(table["rank"].to_pylist(), table["status"].to_pylist(), strict=True)
            statuses.update(status for rank, status in pairs if rank == 1)
        working = sum(held(self.folder.lease(part.number)) for part in parts) if self.folder.leases.is_dir() else 0
        left_out = done - statuses.total()
        return HowFar(self.manifest.rows, done, len(parts), working, {name: statuses[name] for name in WORDS}, left_out)

    def parts(self) -> Iterator[Explanations]:
        """The answers, part by part. Rows that raised an error have none."""
        for number in self.folder.standing():
            yield from pieces_of(self._read(number))

    def some(self, at: IntArray) -> Iterator[Explanations]:
        """Some of the answers: those at these places, counted over all parts in their order.

        Answers of one part and one call come together.
        """
        begin = 0
        for number in self.folder.standing():
            end = begin + self._count(number)
            if ((at >= begin) & (at < end)).any():
                for piece in pieces_of(self._read(number)):
                    its = at[(at >= begin) & (at < begin + len(piece))] - begin
                    if len(its):
                        yield piece if len(its) == len(piece) else piece[its]
                    begin += len(piece)
            begin = end

    def __len__(self) -> int:
        return sum(map(self._count, self.folder.standing()))

    def _count(self, number: int) -> int:
        """How many answers a part holds."""
        return int(self._read(number, ["error"])["error"].null_count)

    def errors(self) -> Any:
        """The rows that raised an error, and the errors, as a table of pyarrow."""
        names = [*([] if self.manifest.id_column is None else [ID]), "row", "status", "error"]
        tables = [self._read(number, names) for number in self.folder.standing()]
        compute = pyarrow("compute")
        whole = pyarrow().concat_tables(tables)
        return whole.filter(compute.equal(whole["status"], RAISED)).drop_columns(["status"])

    def of(self, row: Any) -> Explanations:
        """The answers to one row: its id, or its number where there are no ids."""
        column = "row" if self.manifest.id_column is None else ID
        compute = pyarrow("compute")
        for number in self._perhaps(row):
            table = self._read(number)
            its = table.filter(compute.equal(table[column], row))
            if its.num_rows:
                if its["error"][0].is_valid:
                    raise InputError(f"row {row!r} raised an error: {its['error'][0]}.", "It has no answer.")
                at = its["row"][0].as_py()
                piece = next(piece for piece in pieces_of(table) if at in piece.rows)
                return piece[np.flatnonzero(piece.rows == at)]
        raise InputError(f"row {row!r} was asked for.", "It has no answer here (yet).")

    def _perhaps(self, row: Any) -> list[int]:
        """The parts that may hold a row."""
        standing = self.folder.standing()
        if self.manifest.id_column is not None:
            return standing
        return [part.number for part in self.manifest.parts if part.number in standing and row in part.numbers]

    @property
    def summary(self) -> str:
        """How far the portfolio is, and what became of the rows, in one line."""
        first, *rest = repr(self.reached).splitlines()
        return f"{first}: {', '.join(' '.join(line.split()) for line in rest)}"

    def report(
        self, path: str | os.PathLike[str], title: str = "", by: str | None = None, *, language: str = "en"
    ) -> None:
        """Write a page about the portfolio. All rows are summed up, and those of the first part are listed.

        See `Explanations.report`.
        """
        rendered(self, "page written", path, title, by, language)

    def merge(self, path: str | os.PathLike[str]) -> None:
        """Write all results into one file of Parquet or CSV, in the order of the rows, completely or not at all."""
        goal, numbers = path_of(path), self.folder.standing()
        if goal.suffix.lower() not in ENDINGS:
            raise InputError(f"{goal} was given.", f"The name of the file must end in {' or '.join(ENDINGS)}.")
        if not numbers:
            raise InputError("no part is done.", "There is nothing to merge.")
        put(goal, lambda beside: self._merge(beside, goal.suffix.lower(), numbers))

    def _merge(self, path: Path, ending: str, numbers: Sequence[int]) -> None:
        first = self._read(numbers[0]).replace_schema_metadata()
        flat = _flat if ending == ".csv" else lambda table: table
        schema = flat(first).schema
        make: Callable[..., Any] = pyarrow("csv").CSVWriter if ending == ".csv" else pyarrow("parquet").ParquetWriter
        with make(path, schema) as writer:
            for number in numbers:
                writer.write_table(flat(self._read(number).replace_schema_metadata()))

    def __iter__(self) -> Iterator[Explanation]:
        return (answer for part in self.parts() for answer in part)

    def __repr__(self) -> str:
        return f"<Portfolio in {self.folder.home}>\n{self.reached}"

    def _read(self, number: int, columns: Sequence[str] | None = None) -> Any:
        """The results of a part, or some of their columns."""
        path = self.folder.part(number)
        try:
            return pyarrow("parquet").ParquetFile(path).read(columns)
        except pyarrow().ArrowInvalid as error:
            raise InputError(
                f"{path} is damaged: {error}.",
                "It was cut off or changed.",
                "Call explainer.portfolio again: it is remade.",
            ) from None


def _flat(table: Any) -> Any:
    """The table with lists as texts, which CSV can hold."""
    arrow = pyarrow()
    for at, field in enumerate(table.schema):
        if arrow.types.is_list(field.type):
            cells = [None if one is None else "; ".join(one) for one in table[field.name].to_pylist()]
            table = table.set_column(at, field.name, arrow.array(cells, arrow.string()))
    return table


def load(path: str | os.PathLike[str]) -> Explanation | Explanations | Portfolio:
    """The answers in a file that `to_json`, `to_jsonl` or `to_parquet` wrote, or in the folder of a portfolio.

    One record gives an `Explanation`. A list of records of one call, a batch of JSON lines, or Parquet gives `Explanations`. The
    answers of a portfolio are read when they are asked for.

    >>> import tempfile, butfor as bf
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> answers = bf.Explainer(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), data=X).explain(X[:3])
    >>> with tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
    ...     answers.to_jsonl(file.name)
    ...     load(file.name) == answers
    True
    """
    return kept(path, load_file)


def kept(path: str | os.PathLike[str], read_text: Callable[[Path], Kept]) -> Kept | Explanations | Portfolio:
    """The answers in a folder or a file of any kind. `read_text` reads those in a file of text."""
    found = path_of(path)
    if found.is_dir():
        return Portfolio.at(found)
    return read_parquet(found) if found.suffix.lower() == ".parquet" else read_text(found)
