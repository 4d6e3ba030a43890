"""The text of a proof, and the name of its file."""

from __future__ import annotations

import hashlib
import json
import re
from itertools import chain, count
from pathlib import Path
from typing import Any

HOW_TO_VERIFY = """How to verify these proofs

    python {checker} .

Python 3.8 or newer is enough: the checker is one file that you can read, and it needs no library, no network, and
nothing of butfor, which made the proofs. The dot is this folder; name a proof to check that one alone. For each proof it
prints what was asked, column by column, and what is claimed, from what it checked, and VERIFIED, or the first line that
is false. At the end it says what this rests on, and how many proofs are verified.

    *.proof         one proof for each row: the row, the claim, and the steps
    *-near.proof    that a robust answer keeps what is wanted in its whole box
    question-*      what the rows share: the columns, the target, recorded rows
    model-*         the model: its own file, a copy of scikit-learn's arrays, or what butfor read of it
    {checker}  the checker, SHA-256 {sha256}
"""


LONGEST_LABEL = 100
"""So many letters of a label stand in the name of a file."""


def stem_of(label: Any, rank: int) -> str:
    """How the name of the file of a proof begins. Labels that letters do not tell apart get a part of their hash."""
    plain = re.sub(r"[^A-Za-z0-9_.]+", "-", str(label))[:LONGEST_LABEL]
    own = "" if plain == str(label) else f"-{sha256_of(str(label).encode())[:8]}"
    return f"row-{plain}{own}{f'-answer-{rank}' if rank > 1 else ''}"


def free_file(folder: Path, stem: str, head: str, given: set[str]) -> Path:
    """The file of a proof: one that was not given to another row, and in which no proof of another question lies.

    given: the names so far, in small letters, as some disks tell no others apart. This one is added.
    """
    by_head = f"{stem}-{sha256_of(head.encode())[:8]}"
    for name in chain([stem, by_head], (f"{by_head}-{k}" for k in count(2))):
        file = folder / f"{name}.proof"
        if name.lower() not in given and (not file.exists() or head_in(file) == head):
            break
    given.add(name.lower())
    return file


def head_in(file: Path) -> str:
    """The first line of a file."""
    with file.open(encoding="utf-8", errors="replace") as lines:
        return lines.readline().rstrip("\n")


def files_named(folder: Path, stem: str) -> list[Path]:
    """The files in a folder that may be the proof of a row, as `free_file` names them."""
    name = re.compile(re.escape(stem) + r"(-[0-9a-f]{8}(-[0-9]+)?)?\.proof")
    return sorted(
        (file for file in folder.iterdir() if name.fullmatch(file.name)), key=lambda file: (len(file.name), file.name)
    )


def signed(body: list[str]) -> list[str]:
    """The lines of a proof, with their footer."""
    return [*body, json.dumps({"steps": len(body) - 1, "sha256": sha256_of("\n".join(body).encode())})]


def sha256_of(content: bytes) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()
