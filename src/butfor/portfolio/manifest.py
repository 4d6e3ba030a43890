"""The manifest of a portfolio: what it is about, written once. A folder of something else is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from platform import python_version
from typing import Any

import numpy as np

from butfor.arrays import IntArray
from butfor.errors import InputError
from butfor.portfolio.folder import Folder, put
from butfor.portfolio.rows import RowFile

PORTFOLIO_SCHEMA = "butfor.portfolio/1"

ROWS_PER_PART = 200
"""The rows of a part, unless the user says how many."""

FIRST = {
    "fingerprint": "model",
    "data_fingerprint": "data",
    "question": "question",
    "columns": "space",
    "search": "options",
}
"""What a call must have in common with the manifest, and how that is called."""


@dataclass(frozen=True)
class RowPart:
    """Some rows that are done together: a stretch of one file.

    - `first`: the number of its first row in the whole portfolio;
    - `file`, `start`, `stop`: which file, and which rows of it.
    """

    number: int
    first: int
    file: RowFile
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def numbers(self) -> IntArray:
        """The numbers of its rows in the whole portfolio."""
        return np.arange(self.first, self.first + len(self))


@dataclass(frozen=True)
class Manifest:
    """What a portfolio is about.

    - `about`: the model, its data, the question, the columns and the options, as plain data;
    - `files`: the rows;
    - `id_column`: the column of the rows that names them, if there is one;
    - `rows_per_part`: into how many rows at a time they are split. A part does not reach into another file;
    - `created`, `versions`: when it was made, and by which versions. A later call may be of others;
    - `where`: the condition of the rows that are asked about, if not all are;
    - `unmet`: whether only those are asked about that do not meet the target yet.
    """

    about: dict[str, Any]
    files: tuple[RowFile, ...]
    id_column: str | None
    rows_per_part: int
    created: str
    versions: dict[str, str]
    where: str | None = None
    unmet: bool = False

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(file.rows for file in self.files)

    @property
    def parts(self) -> list[RowPart]:
        """All parts, in order."""
        return list(self._parts())

    def _parts(self) -> Iterator[RowPart]:
        number = before = 0
        for file in self.files:
            for start in range(0, file.rows, self.rows_per_part):
                stop = min(start + self.rows_per_part, file.rows)
                yield RowPart(number, before + start, file, start, stop)
                number += 1
            before += file.rows

    def write(self, folder: Folder) -> None:
        """Write it into its folder."""
        text = json.dumps({"schema": PORTFOLIO_SCHEMA, **asdict(self)}, ensure_ascii=False, indent=1)
        put(folder.manifest, lambda beside: _write(beside, text))

    def check_same(self, asked: Manifest, folder: Folder) -> None:
        """Refuse a call that asks something else than this folder holds."""
        for name, words in FIRST.items():
            if self.about.get(name) != asked.about.get(name):
                raise _another(folder, words, _difference(self.about.get(name), asked.about.get(name)))
        if [(file.rows, file.digest) for file in self.files] != [(file.rows, file.digest) for file in asked.files]:
            told = f"{self.rows:,} rows in {len(self.files)} files, and here are {asked.rows:,} in {len(asked.files)}"
            raise _another(folder, "rows", told if self.rows != asked.rows else "as many rows, but others")
        for name in ("id_column", "where", "unmet", "rows_per_part"):
            if getattr(self, name) != getattr(asked, name):
                raise _another(folder, name, f"{getattr(self, name)!r}, and here is {getattr(asked, name)!r}")


def read_manifest(folder: Folder) -> Manifest:
    """The manifest in a folder."""
    try:
        data = json.loads(folder.manifest.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{folder.home} is no portfolio.", "It holds no manifest.json.") from None
    except ValueError as error:
        raise InputError(f"{folder.manifest} is not JSON: {error}.", "It was changed by hand, or cut off.") from None
    if not isinstance(data, dict) or data.get("schema") != PORTFOLIO_SCHEMA:
        found = data.get("schema") if isinstance(data, dict) else None
        raise InputError(
            f"{folder.manifest} has the schema {found!r}.", f"This version of butfor reads {PORTFOLIO_SCHEMA!r}."
        )
    files = tuple(RowFile(**file) for file in data["files"])
    return Manifest(**{name: value for name, value in data.items() if name not in ("schema", "files")}, files=files)


def versions_here() -> dict[str, str]:
    """The versions that processes must have in common."""
    return {"butfor": version("butfor"), "python": python_version()}


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _another(folder: Folder, words: str, told: str) -> InputError:
    return InputError(
        f"{folder.home} holds answers with another {words}: {told}.",
        "A folder holds one portfolio.",
        "Give another folder, or remove this one.",
    )


def _difference(there: Any, here: Any) -> str:
    """The first place where two descriptions differ, in words."""
    if isinstance(there, Mapping) and isinstance(here, Mapping):
        name = next(name for name in {**there, **here} if there.get(name) != here.get(name))
        return f"{name} is {_short(there.get(name))}, and here it is {_short(here.get(name))}"
    return f"{_short(there)}, and here it is {_short(here)}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 100 else f"{text[:97]}..."
