"""A second pass: rows that are not proven are asked about again, with more time, and the better of both answers is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from butfor.errors import InputError
from butfor.explanation.explanations import Explanations
from butfor.portfolio.begin import have_done
from butfor.portfolio.engines import Engines
from butfor.portfolio.folder import Folder, put
from butfor.portfolio.manifest import RowPart, read_manifest
from butfor.portfolio.part import SETTLED, Ledger, PartTask, question_in
from butfor.portfolio.portfolio import Portfolio
from butfor.portfolio.progress import Progress
from butfor.portfolio.results import Piece, Raised, pass_in, pieces_of, table_of
from butfor.portfolio.rows import RowFile
from butfor.portfolio.settings import meant
from butfor.problem.spec import from_spec
from butfor.space import frames
from butfor.space.arrow import pyarrow, sample_of

First = Literal["smallest gap", "largest gap"]
"""Which parts come first."""


@dataclass(frozen=True, eq=False)
class SecondPass(PartTask):
    """A task over the rows that are not proven. `number` says which pass it is."""

    number: int = 1
    first: First = "smallest gap"

    def results(self, part: RowPart) -> Any:
        """The results of a part: those that stand there, in which the open rows have the better of two answers."""
        table = pyarrow("parquet").read_table(self.folder.part(part.number))
        rows, numbers, ids = self.rows(part)
        open_ = np.array(sorted(_open_rows(table)), dtype=np.intp)
        found = self.asked(frames.take(rows, np.searchsorted(numbers, open_)), open_)
        pieces = [*_better([*_all(table)], found)]
        return table_of(pieces, ids, self.schema, self.number)

    def given_up(self, part: RowPart, why: str) -> Any:
        """The results that stand there, which this pass could not better."""
        standing = pyarrow("parquet").read_table(self.folder.part(part.number))
        return table_of([*_all(standing)], self.rows(part).ids, self.schema, self.number)

    def is_done(self, number: int) -> bool:
        """Whether no row of a part is to be asked about in this pass."""
        return self._gap(number) is None

    def missing(self) -> list[int]:
        """The parts with rows that are not proven, and were not asked about in this pass, in the order of their gaps."""
        gaps = {number: gap for number in self.folder.standing() if (gap := self._gap(number)) is not None}
        return sorted(gaps, key=lambda number: (gaps[number] * (1 if self.first == "smallest gap" else -1), number))

    @cached_property
    def rows_in(self) -> int:
        """How many rows there are in parts that this pass is about."""
        return sum(len(self.parts[number]) for number in self.missing())

    def _gap(self, number: int) -> float | None:
        """The smallest or the largest gap of the open rows of a part; None if it is not to be done."""
        table = pyarrow("parquet").read_table(self.folder.part(number), columns=["row", "rank", "status", "gap"])
        if pass_in(table) >= self.number or not _open_rows(table):
            return None
        gaps = [gap for gap, open_ in zip(table["gap"].to_pylist(), _open(table), strict=True) if open_]
        gaps = [np.inf if gap is None else gap for gap in gaps]
        return float(min(gaps) if self.first == "smallest gap" else max(gaps))


def _open(table: Any) -> list[bool]:
    """Which lines of results are first answers that are not proven."""
    pairs = zip(table["rank"].to_pylist(), table["status"].to_pylist(), strict=True)
    return [rank == 1 and status not in SETTLED for rank, status in pairs]


def _open_rows(table: Any) -> list[int]:
    return [row for row, open_ in zip(table["row"].to_pylist(), _open(table), strict=True) if open_]


def _all(table: Any) -> Iterator[Piece]:
    """The answers in results, and the rows that raised an error."""
    yield from pieces_of(table)
    for row, error in zip(table["row"].to_pylist(), table["error"].to_pylist(), strict=True):
        if error is not None:
            yield Raised(row, error)


def _better(before: list[Piece], found: list[Piece]) -> Iterator[Piece]:
    """Of each row the better of two: what is proven, then the lower cost, then the higher bound. Errors come last."""
    known = _by_row(before)
    for row, fresh in _by_row(found).items():
        if _worth(fresh) > _worth(known[row]):
            known[row] = fresh
    kept: dict[int, tuple[Piece, list[int]]] = {}
    for row in sorted(known):
        piece, places = known[row]
        kept.setdefault(id(piece), (piece, []))[1].extend(places)
    for piece, places in kept.values():
        yield piece[np.array(places)] if isinstance(piece, Explanations) else piece


Known = tuple[Piece, list[int]]
"""The answers to one row: in which piece, and at which places of it."""


def _by_row(pieces: list[Piece]) -> dict[int, Known]:
    found: dict[int, Known] = {}
    for piece in pieces:
        if isinstance(piece, Raised):
            found[piece.row] = (piece, [])
            continue
        for place, row in enumerate(piece.rows.tolist()):
            found.setdefault(row, (piece, []))[1].append(place)
    return found


def _worth(known: Known) -> tuple[bool, bool, float, float]:
    piece, places = known
    if isinstance(piece, Raised):
        return False, False, -np.inf, -np.inf
    first = piece.certificates[places[0]]
    return True, first.status.settled, -float(piece.costs[places[0]]), first.bound


def pass_of(folder: Folder, options: Mapping[str, Any]) -> int:
    """The number of the pass with these options: the last one, if it has them, or a new one."""
    asked = json.loads(json.dumps(dict(options), default=repr))
    numbers = [int(path.stem) for path in folder.passes.glob("*.json")]
    last = max(numbers, default=0)
    if last and json.loads((folder.passes / f"{last:04d}.json").read_text()) == asked:
        return last
    put(folder.passes / f"{last + 1:04d}.json", lambda beside: _write(beside, json.dumps(asked, indent=1)))
    return last + 1


def _write(path: Any, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def check_first(first: Any) -> First:
    """Which parts come first, as the user wrote it."""
    for known in get_args(First):
        if first == known:
            return known  # type: ignore[no-any-return]
    raise InputError(f"first={first!r} was given.", "It must be 'smallest gap' or 'largest gap'.")


def once_more(
    explainer: Any,
    out: Any,
    *,
    time_limit_per_row: float,
    first: Any,
    solver: Any,
    engines: Engines,
    time_limit: float,
    progress: Progress,
    ledger: Ledger | None = None,
) -> Portfolio:
    """Ask again about the rows of a folder that are not proven, with more time, and keep the better of both."""
    engines.check()
    folder = Folder.at(out)
    manifest, order = read_manifest(folder), check_first(first)
    for name, words in (("fingerprint", "model"), ("data_fingerprint", "data")):
        if manifest.about[name] != getattr(explainer, name):
            raise InputError(f"{folder.home} holds answers of another {words}.", "", "Use the Explainer of its model.")
    files = tuple(RowFile.of(Path(file.path)) for file in manifest.files)
    manifest.check_same(replace(manifest, files=files), folder)
    asked, search = manifest.about["question"]["spec"], manifest.about["search"]
    options = {
        **{name: _meant(value, from_spec) for name, value in question_in(asked).items()},
        **{name: _meant(value, meant) for name, value in search.items() if name != "solver"},
        "solver": _meant(search["solver"], meant) if solver is None else solver,
        "time_limit_per_row": time_limit_per_row, "meta": manifest.about.get("meta", {}), "progress": False,
    }  # fmt: skip
    standing = folder.standing()
    if not standing:
        raise InputError(f"{folder.home} holds no answers yet.", "There is nothing to ask again.")
    schema = pyarrow("parquet").read_schema(folder.part(standing[0])).remove_metadata()
    number = pass_of(folder, {"time_limit_per_row": time_limit_per_row, "first": order, "solver": solver})
    have_done(
        SecondPass(
            explainer,
            options,
            sample_of(explainer.reading.data),
            manifest,
            folder,
            schema,
            number,
            order,
            ledger=ledger,
        ),
        engines,
        time_limit,
        progress,
    )
    return Portfolio(folder, manifest)


def _meant(data: Any, read: Callable[[Any], Any]) -> Any:
    """A part of a question or of a search, from its data."""
    try:
        return read(data)
    except LookupError as described:
        raise InputError(
            f"the folder does not hold {described.args[0]} as data.", "So its question cannot be asked again from it."
        ) from None
