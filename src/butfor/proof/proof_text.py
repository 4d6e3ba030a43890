"""The text of a proof, and the name of its file."""

from __future__ import annotations

import hashlib
import json
import re
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


def file_name(label: Any, rank: int) -> str:
    """The name of the file of a proof. Labels that letters do not tell apart get a part of their hash."""
    plain = re.sub(r"[^A-Za-z0-9_.]+", "-", str(label))
    own = "" if plain == str(label) else f"-{sha256_of(str(label).encode())[:8]}"
    return f"row-{plain}{own}{f'-answer-{rank}' if rank > 1 else ''}.proof"


def signed(body: list[str]) -> list[str]:
    """The lines of a proof, with their footer."""
    return [*body, json.dumps({"steps": len(body) - 1, "sha256": sha256_of("\n".join(body).encode())})]


def sha256_of(content: bytes) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()
